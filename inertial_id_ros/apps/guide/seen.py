# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What was seen of a set-up within a few seconds, before anything is judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...findings import Finding
from ...inertia import Array

_ENOUGH = 5  # samples of which a rate can be told


@dataclass(frozen=True, eq=False)
class Stream:
    """The samples of one topic.

    Attributes:
        topic: its full name; publishers: names of the nodes that publish it.
        arrivals: (n,) times of arrival by the clock of ROS [ns]; stamps: (n,) of the samples [ns].
        rows: (n, k) numbers of the samples, k may be 0.
        names: of the k columns, or the frame of a wrench as the only one.
    """

    topic: str
    publishers: tuple[str, ...] = ()
    arrivals: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    stamps: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    rows: Array = field(default_factory=lambda: np.empty((0, 0)))
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.arrivals)

    @cached_property
    def rate(self) -> float:
        """Samples a second [Hz], by their arrival; 0 where too few came."""
        if len(self) < _ENOUGH:
            return 0.0
        return float((len(self) - 1) / max((self.arrivals[-1] - self.arrivals[0]) * 1e-9, 1e-9))

    @cached_property
    def lag(self) -> float:
        """Median time from the stamp to the arrival [s]; NaN without samples."""
        if not len(self):
            return float("nan")
        return float(np.median(self.arrivals - self.stamps)) * 1e-9


@dataclass(frozen=True)
class Controller:
    """A controller that takes trajectories.

    Attributes:
        name: of its action, without /follow_joint_trajectory.
        joints: that it moves; empty: it does not tell.
        positions: where it believes each of them to be [rad or m]; empty: it does not tell.
    """

    name: str
    joints: tuple[str, ...] = ()
    positions: tuple[float, ...] = ()


@dataclass(frozen=True)
class Driver:
    """What the robot's driver tells of itself; None: it does not tell.

    Attributes:
        payload: mass that is configured on the robot [kg].
        stopped: why the robot may not move, in words; empty: it may.
        speed: share of the programmed speed at which it moves.
    """

    payload: float | None = None
    stopped: str | None = None
    speed: float | None = None


@dataclass(frozen=True, eq=False)
class Seen:
    """Everything that the check looks at.

    Attributes:
        seconds: how long it was listened.
        wrench, joints, transforms: the streams; rows of joints are positions by `names`.
        chain: joints that move the frame of the wrench, root to tip; empty: not known.
        beyond: joints of the description that move something behind that frame.
        missing: why the motion of the sensor is not known, in words; empty: it is.
        has_description: whether a robot description was received.
        is_simulated: whether time comes from /clock.
        findings: of the node.
        controllers: that take trajectories; wrench_topics: other topics of wrenches.
    """

    seconds: float
    wrench: Stream
    joints: Stream
    transforms: Stream
    chain: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    missing: str = ""
    has_description: bool = True
    is_simulated: bool = False
    findings: tuple[Finding, ...] = ()
    controllers: tuple[Controller, ...] = ()
    wrench_topics: tuple[str, ...] = ()
    driver: Driver = Driver()
