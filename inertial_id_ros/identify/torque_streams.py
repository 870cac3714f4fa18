# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint states with efforts, and what they say of the payload of an identified robot bin by bin."""

from collections.abc import Iterator

import numpy as np

from ..io.inputs import JointStates, Samples
from ..motion.motion import BIN_NS, NO_MOTION, Array, IntArray, Motion
from ..motion.source import Numbers, Streams, counted
from ..robot.robot_file import IdentifiedRobot, TorqueLoad, load_robot
from ..samples.wrenches import CLIPPED
from ..settings import Settings


class TorqueStreams(Streams):
    """As `Streams`; readings are rows of a `TorqueLoad` in the middle of each bin.

    Attributes:
        load: of the robot description; None: there is none yet.
    """

    def __init__(self, settings: Settings, robot: IdentifiedRobot | None = None) -> None:
        super().__init__(settings)
        self.robot = robot or load_robot(settings.load.robot)
        self.load: TorqueLoad | None = None
        self.sign = 1.0
        self._efforts = tuple(f"effort of {name}" for name in self.robot.joints)
        self._limits = np.full(len(self._efforts), np.inf)

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
        load = TorqueLoad(self.robot, urdf, self.frame)
        super().set_robot_description(urdf)
        self.load, self.chain = load, load.chain
        if self.robot.currents is None:
            self._limits = CLIPPED * load.model.effort_limits
        self.joints.use(dict(zip(self.robot.joints, (~load.model.slides).tolist(), strict=True))
                        | dict.fromkeys(self._efforts))
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
            self.counts["incomplete"] += len(stamps)
            return
        rows = efforts[:, [list(names).index(name) for name in self.robot.joints]]
        clipped = (np.abs(rows) > self._limits).any(1)
        self.counts["clipped"] += int(clipped.sum())
        gain = 1.0 if self.robot.currents is None else self.robot.currents.gain
        self.joints.add(stamps[~clipped] - round(1e9 * self.robot.delay), self._efforts,
                        gain * rows[~clipped])

    def _settled(self, finished: bool) -> tuple[Motion, IntArray, Array]:
        """Readings are those of bins in which efforts and positions are known."""
        if self.load is None or self.joints.lacking():
            return NO_MOTION, NO_MOTION.number, np.empty((0, 0))
        names, (number, *signal) = self.joints.advance(finished)
        (q, torque), (dq, _), (ddq, _) = (
            [part[:, [names.index(name) for name in some]]
             for some in (self.robot.joints, self._efforts)] for part in signal)
        return (self.load.chain.motion(number, self.robot.joints, q, dq, ddq),
                number * BIN_NS + BIN_NS // 2, self.load.rows(q, dq, ddq, torque))

    def missing(self) -> str:
        """As `Streams.missing`."""
        return self.joints.missing() if self.load else "no robot description was received yet"

    def findings(self) -> Iterator[tuple[str, Numbers]]:
        """As `Streams.findings`, and those of efforts."""
        yield from super().findings()
        yield from counted("samples_saturated.joints", self.counts["clipped"])
        yield from counted("joint_states_incomplete.joints", self.counts["incomplete"])
