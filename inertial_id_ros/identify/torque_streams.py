# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint states with efforts, and what they say of the payload of an identified robot bin by bin."""

from collections.abc import Iterator

import numpy as np

from ..io.inputs import JointStates, Samples
from ..motion.frames import chain_of
from ..motion.motion import BIN_NS, NO_MOTION, Array, IntArray, Motion
from ..motion.source import Numbers, Streams, counted
from ..motion.track import Fault, Track
from ..robot.robot_file import IdentifiedRobot, TorqueLoad, load_robot
from ..samples.ring import Ring
from ..samples.wrenches import CLIPPED
from ..settings import Settings


class TorqueStreams(Streams):
    """As `Streams`; readings are rows of a `TorqueLoad` in the middle of each bin.

    Attributes:
        load: of the robot description; None: there is none yet.
    """

    load: TorqueLoad | None

    def __init__(self, settings: Settings, robot: IdentifiedRobot | None = None) -> None:
        super().__init__(settings)
        self.robot = robot or load_robot(settings.load.robot)
        self.sign, self.load, self._why = 1.0, None, ""  # the last efforts could not be used
        self._efforts = Track(Ring(len(self.robot.joints)), are_positions=False)
        self._limits = np.full(len(self.robot.joints), np.inf)
        self._readings: Array = np.empty((0, 0))  # of this step

    def emptied(self) -> "TorqueStreams":
        """As `Streams.emptied`."""
        out = TorqueStreams(self.settings, self.robot)
        out.set_robot_description(self.urdf)
        return out

    def set_robot_description(self, urdf: str) -> None:
        """Take another description.

        Raises:
            InvalidModel: it is none, or that of another robot. UnknownFrame: it lacks the frame.
        """
        if urdf == self.urdf:
            return
        chain, load = chain_of(urdf, self.frame), TorqueLoad(self.robot, urdf, self.frame)
        super().set_robot_description(urdf)
        self.load, self.chain = load, chain
        if self.robot.currents is None:
            self._limits = CLIPPED * load.model.effort_limits
        self.joints.use({name: not slides for name, slides in zip(
            load.model.joint_names, load.model.slides.tolist(), strict=True)})
        self.restarts += 1

    def _resolve(self) -> None:
        """The chain is known with the description."""

    def add(self, samples: Samples) -> None:
        """Add joint states with efforts [N m or N]; wrenches and transforms count for nothing."""
        if not isinstance(samples, JointStates):
            return
        super().add(samples)
        stamps, names, _, efforts, _ = samples
        absent = [name for name in self.robot.joints if name not in names]
        if len(absent) == len(self.robot.joints):
            return  # of something else, such as a gripper
        if absent or efforts is None or efforts.shape[1] < len(names):
            self._why = f": they are without joint '{absent[0]}'" if absent else (
                ": they are without efforts")
            self.counts["incomplete"] += len(stamps)
            return
        rows = efforts[:, [list(names).index(name) for name in self.robot.joints]]
        clipped = (np.abs(rows) > self._limits).any(1)
        self.counts["clipped"] += int(clipped.sum())
        gain = 1.0 if self.robot.currents is None else self.robot.currents.gain
        self._efforts.ring.push(stamps[~clipped] - round(1e9 * self.robot.delay),
                                gain * rows[~clipped])

    def advance(self, finished: bool = False) -> tuple[Motion, IntArray, Array, list[Fault]]:
        """As `Streams.advance`; readings are rows (m, width) of the load."""
        motion, *_, faults = super().advance(finished)
        return motion, motion.number * BIN_NS + BIN_NS // 2, self._readings, faults

    def _motion(self, finished: bool) -> Motion:
        """The motion in bins in which efforts are known."""
        if self.load is None or self.chain is None or self.joints.lacking():
            self._readings = np.empty((0, 0))
            return NO_MOTION
        names, (number, *signal) = self.joints.advance(finished, self._efforts)
        columns = [names.index(name) for name in self.robot.joints]
        q, dq, ddq = (part[:, columns] for part in signal)
        self._readings = self.load.rows(q, dq, ddq, signal[0][:, len(names):])
        return self.chain.motion(number, self.robot.joints, q, dq, ddq)

    def _rings(self) -> list[Ring]:
        return [*super()._rings(), self._efforts.ring]

    def missing(self) -> str:
        """As `Streams.missing`."""
        if self.load is None:
            return "no robot description was received yet"
        lacking = self.joints.lacking()
        if lacking and len(lacking) < len(self.robot.joints):
            return self.joints.missing()
        if len(self._efforts.ring):
            return ""
        return ("no joint states with positions and efforts of all joints received on "
                f"'{self.settings.joint_states.topic}'{self._why}")

    def findings(self) -> Iterator[tuple[str, Numbers]]:
        """As `Streams.findings`, and those of efforts."""
        yield from super().findings()
        yield from counted("samples_invalid.joints", self._efforts.ring.counts["invalid"])
        yield from counted("samples_saturated.joints", self.counts["clipped"])
        yield from counted("joint_states_incomplete.joints", self.counts["incomplete"])
