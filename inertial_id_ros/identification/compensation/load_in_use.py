# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is removed from the wrench at present, as one thread hands it to another.

`TargetFrame` gives the wrench in another frame that is fixed to the sensor, about its origin.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np

from ...inertia import PARAMETERS, Array, skew
from ...kinematics.causal.transform_chain import TransformChain
from ...kinematics.joint_motion import RobotFrame
from ...kinematics.transform_tree import Pose
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


def wrench_matrix(pose: Pose) -> Array:
    """Matrix (6, 6) from a wrench in a frame to that in another one, about its origin.

    Args:
        pose: of the other frame in the first one.
    """
    out = np.zeros((6, 6))
    turn = pose.rotation.T
    out[:3, :3] = out[3:, 3:] = turn
    out[3:, :3] = -turn @ skew(pose.translation)
    return out


class TargetFrame:
    """The matrix of a frame, the same object as long as its pose is the same."""

    def __init__(self) -> None:
        self._pose: Pose | None = None
        self._matrix: Array = np.eye(6)

    def matrix(self, pose: Pose) -> Array:
        """Matrix (6, 6) for the pose of the target in the sensor frame."""
        if self._pose is None or not _is_same(pose, self._pose):
            self._pose, self._matrix = pose, wrench_matrix(pose)
        return self._matrix


def _is_same(a: Pose, b: Pose) -> bool:
    """Whether two poses differ by no more than rounding, and noise of moving transforms."""
    return (np.allclose(a.rotation, b.rotation, rtol=0.0, atol=1e-3)
            and np.allclose(a.translation, b.translation, rtol=0.0, atol=1e-4))
