# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint states with efforts, and what they say of the payload of an identified robot bin by bin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..motion.motion import BIN_NS, NO_MOTION, Array, IntArray, Motion
from ..motion.robot import chain_of
from ..motion.source import Numbers, Streams, counted
from ..motion.track import Signal, joined_signals
from ..robot.robot_file import IdentifiedRobot, TorqueLoad, load_robot
from ..samples.ring import Ring
from ..settings import Settings

IMPOSSIBLE, CLIPPED = 1e6, 0.999  # N m: uninitialised memory; share of the largest torque
NEAR_NS = 60_000_000  # between samples of efforts: farther apart lies a hole
KEPT_NS = 1_000_000_000


class TorqueStreams(Streams):
    """As `Streams`; readings are rows of a `TorqueLoad` in the middle of each bin.

    Attributes:
        load: of the robot description; None: there is none yet.
    """

    def __init__(self, settings: Settings, robot: IdentifiedRobot | None = None) -> None:
        super().__init__(settings)
        self.robot, self.sign = robot or load_robot(settings.load.robot), 1.0
        self.load: TorqueLoad | None = None
        self._efforts = Ring(len(self.robot.joints))
        self._limits = np.full(len(self.robot.joints), IMPOSSIBLE)
        self._late = round(1e9 * self.robot.delay)
        self._ahead: Signal | None = None  # bins whose efforts are not all there
        self._now: Signal | None = None  # bins of this step
        self._why = ""  # the last efforts could not be used

    def emptied(self) -> TorqueStreams:
        """As `Streams.emptied`."""
        out = TorqueStreams(self.settings, self.robot)
        if self.urdf:
            out.set_robot_description(self.urdf)
        return out

    def set_robot_description(self, urdf: str) -> None:
        """Take another description.

        Raises:
            InvalidModel: it is none, or that of another robot. UnknownFrame: it lacks the frame.
        """
        if urdf == self.urdf:
            return
        load, chain = TorqueLoad(self.robot, urdf, self.frame), chain_of(urdf, self.frame)
        super().set_robot_description(urdf)
        self.load, self.chain = load, chain
        if self.robot.currents is None:
            limits = load.model.effort_limits
            self._limits = np.where(limits > 0.0, CLIPPED * limits, IMPOSSIBLE)
        self.joints.use({name: not slides for name, slides in zip(
            load.model.joint_names, load.model.slides.tolist(), strict=True)})
        self._ahead = None
        self.restarts += 1

    def _resolve(self) -> None:
        """The chain is known with the description."""

    def add_wrenches(self, stamps: IntArray, frame: str, wrench: Array) -> None:
        """A wrench counts for nothing, and so do transforms."""

    def add_transforms(self, stamps: IntArray, parent: str, child: str, poses: Array) -> None:
        """See `add_wrenches`."""

    def add_joint_states(self, stamps: IntArray, names: Sequence[str], positions: Array,
                         efforts: Array | None = None) -> None:
        """As `Streams.add_joint_states`, with efforts (m, k) [N m or N]."""
        super().add_joint_states(stamps, names, positions)
        absent = [name for name in self.robot.joints if name not in names]
        if len(absent) == len(self.robot.joints):
            return  # of something else, such as a gripper
        if absent or efforts is None or efforts.shape[1] < len(names):
            self._why = f"they are without joint '{absent[0]}'" if absent else (
                "they are without efforts")
            self.counts["incomplete"] += len(stamps)
            return
        stamps = np.asarray(stamps)
        rows = efforts[:, [list(names).index(name) for name in self.robot.joints]]
        good = (np.abs(rows) < IMPOSSIBLE).all(1) & (stamps > 0)  # no number is not less
        clipped = good & (np.abs(rows) >= self._limits).any(1)
        self.counts["invalid"] += int((~good).sum())
        self.counts["clipped"] += int(clipped.sum())
        gain = 1.0 if self.robot.currents is None else self.robot.currents.gain
        self._efforts.push(stamps[good & ~clipped], gain * rows[good & ~clipped])

    def advance(self, finished: bool = False) -> tuple[Motion, IntArray, Array]:
        """As `Streams.advance`; readings are rows (m, width) of the load."""
        restarts, self._now = self.restarts, None
        motion, stamps, _ = super().advance(finished)
        if self.restarts != restarts:
            self._ahead = None
        if self.load is None or self._now is None or not len(self._now.number):
            return motion, stamps[:0], np.empty((0, 0 if self.load is None else self.load.width))
        torque, known = self._torques(self._now.number)
        number, q, dq, ddq = (part[known] for part in self._now)
        return motion, number * BIN_NS + BIN_NS // 2, self.load.rows(q, dq, ddq, torque[known])

    def _motion(self, finished: bool) -> Motion:
        """The motion in bins around which all efforts are there."""
        if self.load is None or self.chain is None or self.joints.lacking():
            return NO_MOTION
        signal = self.joints.advance(finished)
        columns = [self.joints.order.index(name) for name in self.robot.joints]
        signal = Signal(signal.number, *(part[:, columns] for part in signal[1:]))
        if self._ahead is not None:
            signal = joined_signals([self._ahead, signal])
        closed = self._efforts.closed - self._late - NEAR_NS
        ready = signal.number < (2**62 if finished else closed // BIN_NS)
        self._now, self._ahead = signal.part(ready), signal.part(~ready)
        return self.chain.motion(self._now.number, self.robot.joints, *self._now[1:])

    def _torques(self, number: IntArray) -> tuple[Array, np.ndarray]:
        """Torques (n, j) in the middle of bins, between the means of those that have samples; where
        they are known (n,)."""
        ring, first = self._efforts, (int(number[0]) - 10) * BIN_NS
        part = ring.between(first + self._late, (int(number[-1]) + 11) * BIN_NS + self._late)
        stamps, rows = ring.stamps[part] - self._late - first, ring.rows[part]
        if not len(stamps):
            return np.zeros((len(number), rows.shape[1])), np.zeros(len(number), bool)
        begin = np.flatnonzero(np.diff(stamps // BIN_NS, prepend=-1))
        count = np.diff(np.append(begin, len(stamps)))
        at = np.add.reduceat(stamps, begin) // count
        mean = np.add.reduceat(rows, begin) / count[:, None]
        centre = number * BIN_NS + BIN_NS // 2 - first
        after = np.searchsorted(at, centre).clip(0, len(at) - 1)
        before = np.maximum(after - 1, 0)
        ring.drop(int(number[0]) * BIN_NS - KEPT_NS)
        return np.stack([np.interp(centre, at, column) for column in mean.T], 1), (
            at[before] <= centre) & (centre <= at[after]) & (at[after] - at[before] < NEAR_NS)

    # ---- what is wrong --------------------------------------------------------------------------

    def missing(self) -> tuple[str, Numbers] | None:
        """As `Streams.missing`."""
        if self.load is None:
            return "no_joints", {"text": "no robot description was received yet"}
        lacking = self.joints.lacking()
        if lacking and len(lacking) < len(self.robot.joints):
            return self.joints.missing()
        if len(self._efforts):
            return None
        why = "usable joint states" if self._why else (
            "joint states with positions and efforts of all joints received")
        return "no_joints", {"text": f"no {why} on '{self.settings.joint_states.topic}'"
                                     + (f": {self._why}" if self._why else "")}

    def findings(self) -> Iterator[tuple[str, Numbers]]:
        """As `Streams.findings`, and those of efforts."""
        yield from super().findings()
        yield from counted("samples_invalid.joints", self.counts["invalid"],
                           "an effort is no number")
        yield from counted("samples_saturated.joints", self.counts["clipped"])
        yield from counted("joint_states_incomplete.joints", self.counts["incomplete"], self._why)
