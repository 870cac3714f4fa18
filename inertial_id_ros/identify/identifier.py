# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification in one object: samples in, estimates, findings and the load to remove out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..compensation.latch import LoadInUse
from ..errors import InvalidShape, NotEnoughData
from ..estimate import Outcome
from ..estimators import create
from ..findings import Finding
from ..geometry.mesh import package_roots
from ..geometry.shape import Shape, shape_from_settings
from ..io.sample_blocks import Edges, JointStates, Samples, Wrenches, split_by_time
from ..model.history import History
from ..model.tool import Tool, load_tool
from ..motion.frames import place_of
from ..motion.motion import Array
from ..motion.source import Streams
from ..robot.robot_file import load_robot
from ..settings import Settings
from .answers import Answers
from .beliefs import Basis, Beliefs, compensated_by_driver, tare_of
from .course import Course
from .torque_streams import TorqueStreams

BATCH = 2000  # samples that settle at once


class Identifier:
    """See the module.

    Args:
        settings: of all groups but those of topics and services; streams: empty ones.

    Attributes:
        streams: the inputs.
    """

    def __init__(self, settings: Settings, beliefs: Beliefs | None = None,
                 streams: Streams | None = None) -> None:
        self.streams = streams or Streams(settings)
        self._basis = Basis(settings, beliefs or Beliefs(), create(settings))
        self._answers, self._finished = Answers(self._joints is not None), False
        self._begin()

    def _begin(self) -> None:
        """Forget what was measured."""
        joints, torques = self._joints, None
        if joints is not None and joints.load is not None and joints.chain is not None:
            torques = joints.load, joints.chain
        self._course = Course(self._basis, self.streams.newest, torques)
        self._restarts = self.streams.restarts
        self._answers.begin(self.streams, self._course)

    @property
    def _joints(self) -> TorqueStreams | None:
        """The streams where joints measure the load; None: a sensor in the wrist does."""
        return self.streams if isinstance(self.streams, TorqueStreams) else None

    @property
    def settings(self) -> Settings:
        """In use."""
        return self._basis.settings

    @property
    def beliefs(self) -> Beliefs:
        """What was said."""
        return self._basis.beliefs

    # ---- samples --------------------------------------------------------------------------------

    def set_robot_description(self, urdf: str) -> None:
        """Take another robot description (raises InvalidModel)."""
        self.streams.set_robot_description(urdf)

    def add_static_transform(self, parent: str, child: str, translation: Sequence[float],
                             quaternion: Sequence[float]) -> None:
        """A frame stays in its parent: translation (3,) [m], quaternion x, y, z, w."""
        self.streams.add_static_transform(parent.lstrip("/"), child.lstrip("/"),
                                          place_of(translation, quaternion))

    def add_arrays(self, batches: Sequence[Samples]) -> list[Outcome]:
        """Add samples of several streams, those of a stream in the order of time.

        Returns:
            The outcomes that became due at `estimator.rate`, in order of time.
        """
        out: list[Outcome] = []
        for part in list(split_by_time(list(batches), BATCH)) or [[]]:
            for samples in part:
                self._add(samples)
            out += self._advance()
        return out

    def _add(self, samples: Samples) -> None:
        if isinstance(samples, Wrenches):
            self.streams.add_wrenches(samples.stamps, samples.frame_id.lstrip("/"), samples.rows)
        elif isinstance(samples, JointStates):
            self.streams.add_joint_states(samples.stamps, samples.names, samples.positions,
                                          samples.efforts)
        elif isinstance(samples, Edges):
            self.streams.add_transforms(samples.stamps, samples.parent.lstrip("/"),
                                        samples.child.lstrip("/"), samples.rows)

    def finish(self) -> list[Outcome]:
        """No sample will follow: the last ones are used in full. What became due by that."""
        self._finished = True
        out = self._advance()
        if not self._course.has_begun:
            return out
        return [*out, self._answers.due(self._course.conclusion(self._course.ready))]

    def _advance(self) -> list[Outcome]:
        """Let the samples so far settle in the history, and judge it; outcomes that are due."""
        motion, stamps, rows = self.streams.advance(self._finished)
        if self.streams.restarts != self._restarts:
            self._begin()
        if self.streams.frame != self._basis.frame:
            self._basis = self._course.basis = replace(self._basis, frame=self.streams.frame)
        self._course.append(motion, stamps, self.streams.sign * rows, self.streams.take_faults())
        out: list[Outcome] = []
        while (step := self._course.step()) is not None:
            events, due = step
            self._answers.note(events)
            if due is not None:
                out.append(self._answers.due(due))
        return out

    # ---- answers --------------------------------------------------------------------------------

    @property
    def outcome(self) -> Outcome:
        """The newest outcome that was due, stale where nothing fresh follows from the samples
        since; nothing is computed."""
        return self._answers.newest

    def solve(self) -> Outcome:
        """The estimate of the samples so far: physically consistent, or why there is none.

        Nobody else reads what is computed for it: whoever asks changes nothing.
        """
        return self._answers.now()

    def findings(self) -> tuple[Finding, ...]:
        """Everything about the samples so far that deserves attention, errors first."""
        return self._answers.findings(self._course.newest)

    def load_in_use(self) -> LoadInUse:
        """The load that may be removed from the wrench."""
        return self._course.load

    @property
    def history(self) -> History:
        """What was measured in the last two minutes."""
        return self._course.history

    # ---- commands -------------------------------------------------------------------------------

    def believe(self, beliefs: Beliefs) -> None:
        """Estimates from now on are by other beliefs; where the driver compensates another
        payload, what was measured before counts no more."""
        before = self.beliefs.compensated
        self._basis = replace(self._basis, beliefs=beliefs)
        self._course.believe(self._basis)
        if not _are_equal(before, beliefs.compensated):
            self._begin()

    def set_settings(self, settings: Settings) -> None:
        """Go on with other settings; topics, frames and files stay as they were.

        Raises:
            InertialIdError: the estimator cannot be made, or needs a shape and has none.
        """
        estimator, compensated = create(settings), self.beliefs.compensated
        if estimator.needs_shape and self.beliefs.shape is None:
            raise InvalidShape(f"estimator.method '{estimator.name}' needs the shape of the "
                               "object, and none is given: call set_shape first")
        if settings.precompensated.source == "settings":
            compensated = compensated_by_driver(settings)
        self._basis = replace(self._basis, settings=settings, estimator=estimator)
        self.believe(replace(self.beliefs, compensated=compensated))

    def tare(self) -> str:
        """Use the mean wrench of the last second, at rest, as the zero.

        Raises:
            NotEnoughData: too few samples, the sensor is not at rest, or joints measure the load.
        """
        self._require_zero()
        tare = tare_of(self._course.history, self.settings, self.streams.frame)
        self.believe(replace(self.beliefs, tare=tare))
        return tare.describe()

    def untare(self) -> str:
        """Drop the tare; says whether there was one (raises NotEnoughData where joints measure)."""
        self._require_zero()
        had = self.beliefs.tare is not None
        self.believe(replace(self.beliefs, tare=None))
        return "the tare is dropped" if had else "there was no tare"

    def _require_zero(self) -> None:
        if self._joints is not None:
            raise NotEnoughData("joint torques have no bias to tare; identify the robot without "
                                "payload anew (identify_robot)")

    def set_tool(self, tool: Tool | None) -> None:
        """Estimate the object apart from a tool from now on; None: all that is carried."""
        self.believe(replace(self.beliefs, tool=tool))

    def set_shape(self, shape: Shape | None) -> None:
        """Use another shape from now on; None forgets it."""
        self.believe(replace(self.beliefs, shape=shape))

    def reset(self, reason: str) -> None:
        """Forget all samples; what was said stays."""
        self._answers.note_reset(reason)
        self.streams = self.streams.emptied()
        self._begin()


def _are_equal(one: Array | None, other: Array | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def make_identifier(settings: Settings) -> Identifier:
    """A fresh identifier, with the shape and the tool that the settings name.

    Raises:
        InertialIdError: a setting, the shape, the tool or the estimator cannot be used.
    """
    tool = load_tool(settings.tool.file) if settings.tool.file else None
    beliefs = Beliefs(tool=tool, shape=required_shape(settings))
    if settings.load.source == "joint_torque":
        return Identifier(settings, beliefs, TorqueStreams(settings, load_robot(
            settings.load.robot)))
    return Identifier(settings, replace(beliefs, compensated=compensated_by_driver(settings)))


def required_shape(settings: Settings) -> Shape | None:
    """The shape that the settings name; None where they name none and none is needed.

    Raises:
        InvalidShape: it cannot be used, or the estimator needs one.
    """
    if create(settings).needs_shape and settings.shape.type == "none":
        raise InvalidShape(f"estimator.method '{settings.estimator.method}' needs the shape of the "
                           "object; set shape.type")
    return shape_from_settings(settings.shape, package_roots())
