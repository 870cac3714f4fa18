# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is removed from the wrench at present, as one thread hands it to another."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np

from ...inertia import PARAMETERS, Array
from ...kinematics.causal.transform_chain import TransformChain
from ...kinematics.joint_motion import RobotFrame
from ...regression.alignment import CLOCK_OFFSET
from ...regression.row_layout import BIASES, NUISANCE_VALUES
from ...signals.sensor_filter import NO_FILTER, SensorFilter


class Mode(IntEnum):
    """What the compensated wrench is without."""

    SILENT = 0  # nothing is published
    TOOL = 1  # bias and tool
    PAYLOAD = 2  # bias and all that the sensor carries


@dataclass(frozen=True, eq=False)
class Load:
    """What acts on the sensor beside contact.

    Attributes:
        phi: (10,) of all that the sensor carries; bias: reading at zero load (6,), sign of the
            topic [N, N m]; alignment: values (n,) of the nuisance states.
    """

    phi: Array
    bias: Array
    alignment: Array

    def mixed(self, other: Load, share: float) -> Load:
        """This load with a share of another one."""
        return Load(*((1.0 - share) * a + share * b for a, b in zip(
            (self.phi, self.bias, self.alignment), (other.phi, other.bias, other.alignment),
            strict=True)))


NO_LOAD = Load(np.zeros(PARAMETERS), np.zeros(BIASES), np.zeros(NUISANCE_VALUES))


@dataclass(frozen=True, eq=False)
class LoadInUse:
    """What to remove, or why nothing is published.

    Attributes:
        mode: of the compensated wrench; reason: why, in one sentence.
        load: to remove; meaningless while silent.
        frame_id: sensor frame; any_frame: whether messages that name another one are used, too.
        estimate_ns: stamp of the estimate; 0 without one.
        removed: phi (10,) of what the driver removes itself; weight_only: whether that is its
            weight only.
        noise: standard deviations (6,) of one sample [N, N m].
        source: of the motion; None: not known yet.
        epoch: another number where nothing that was removed before is true any more.
        target: (6, 6) from the wrench in the sensor frame to that in `target_frame`; None: the
            wrench stays in the frame of the topic.
        sensor: low-pass that the sensor applies to its readings.
        conversion: (6, 6) from the wrench of the topic to that in the sensor frame; None: it is
            given in it.
    """

    mode: Mode
    reason: str
    load: Load = NO_LOAD
    frame_id: str = ""
    any_frame: bool = False
    estimate_ns: int = 0
    removed: Array = field(default_factory=lambda: NO_LOAD.phi)
    weight_only: bool = False
    noise: Array = field(default_factory=lambda: NO_LOAD.bias)
    source: RobotFrame | TransformChain | None = None
    epoch: int = 0
    target: Array | None = None
    target_frame: str = ""
    conversion: Array | None = None
    sensor: SensorFilter = NO_FILTER

    @property
    def early_ns(self) -> int:
        """By how much the stamps of the wrench are early [ns]."""
        return round(float(self.load.alignment[CLOCK_OFFSET.values][0]) * 1e9)

    def silenced(self, reason: str) -> LoadInUse:
        """The same, but nothing is published."""
        return replace(self, mode=Mode.SILENT, reason=reason)
