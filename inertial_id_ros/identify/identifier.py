# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification in one object: samples in, estimates, findings and the load to remove out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import InvalidShape, NotEnoughData
from ..estimate import Estimate, NoEstimate, Outcome
from ..io.inputs import Samples, split_by_time
from ..kinds import Finding, made, sort_findings, with_findings
from ..motion.frames import place_of
from ..motion.motion import BIN_NS, SECOND
from ..motion.source import Streams
from ..settings import Settings
from .beliefs import Beliefs, basis_of, compensated_by_driver, named_beliefs, tare_of
from .course import Course
from .estimate import Conclusion
from .torque_streams import TorqueStreams

BATCH = 2000  # samples that settle at once
NO_BIAS = ("joint torques have no bias to tare; identify the robot without payload anew "
           "(identify_robot)")


class Identifier:
    """See the module.

    Args:
        settings: of all groups but those of topics and services.

    Attributes:
        streams: the inputs; course: what follows from them.

    Raises:
        InertialIdError: the estimator cannot be made, or the robot file not be used.
    """

    def __init__(self, settings: Settings, beliefs: Beliefs | None = None) -> None:
        self._measures_joints = settings.load.source == "joint_torque"
        self.streams = (TorqueStreams if self._measures_joints else Streams)(settings)
        self._basis = basis_of(settings, beliefs or Beliefs())
        self._finished, self._reset = False, ""  # why all samples were dropped
        self._begin()

    def _begin(self) -> None:
        """Forget what was measured."""
        streams = self.streams
        self.course = Course(self._basis, streams.newest,
                             streams if isinstance(streams, TorqueStreams) else None)
        self._restarts = streams.restarts
        self._last: Outcome | None = None  # that was due

    @property
    def settings(self) -> Settings:
        """In use."""
        return self._basis.settings

    @property
    def beliefs(self) -> Beliefs:
        """What was said."""
        return self._basis.beliefs

    def set_robot_description(self, urdf: str) -> None:
        """Take another robot description (raises InvalidModel)."""
        self.streams.set_robot_description(urdf)

    def add_static_transform(self, parent: str, child: str, translation: Sequence[float],
                             quaternion: Sequence[float]) -> None:
        """A frame stays in its parent: translation (3,) [m], quaternion x, y, z, w."""
        self.streams.frames.fix(parent.lstrip("/"), child.lstrip("/"),
                                place_of(translation, quaternion))

    def add_arrays(self, batches: Sequence[Samples]) -> list[Outcome]:
        """Add samples of several streams, those of a stream in the order of time.

        Returns:
            The outcomes that became due at `estimator.rate`, in order of time.
        """
        out: list[Outcome] = []
        for part in list(split_by_time(list(batches), BATCH)) or [[]]:
            for samples in part:
                self.streams.add(samples)
            out += self._advance()
        return out

    def finish(self) -> list[Outcome]:
        """No sample will follow: the last ones are used in full. What became due by that."""
        self._finished = True
        out, course = self._advance(), self.course
        return [*out, self._due(course.conclusion(course.ready))] if course.ready else out

    def _advance(self) -> list[Outcome]:
        """Let the samples so far settle in the history, and judge it; outcomes that are due."""
        motion, stamps, rows = self.streams.advance(self._finished)
        if self.streams.restarts != self._restarts:
            self._begin()
        if self.streams.frame != self._basis.frame:
            self._basis = self.course.basis = replace(self._basis, frame=self.streams.frame)
        self.course.append(motion, stamps, self.streams.sign * rows, self.streams.take_faults())
        return [self._due(said) for said in self.course.advance()]

    def _due(self, said: Conclusion) -> Outcome:
        """The outcome of a conclusion that is due; it never uses older samples than the one
        before."""
        last, outcome = self._last, with_findings(said.outcome, self._findings(said))
        if isinstance(last, Estimate) and isinstance(outcome, Estimate) and (
                outcome.stamp_ns <= last.stamp_ns):
            outcome = self._as_stale(replace(last, findings=outcome.findings))
        elif said.is_outdated:
            outcome = self._as_stale(outcome, said)
        self._last = outcome
        return outcome

    def _as_stale(self, outcome: Outcome, said: Conclusion | None = None) -> Outcome:
        if not isinstance(outcome, Estimate):
            return outcome
        if said is not None and said.is_outdated:
            return outcome.as_stale("the newest samples do not fit the others")
        return outcome.as_stale("no new samples" if self.course.scan.onset is None else
                                "the wrench does not fit the payload now")

    @property
    def outcome(self) -> Outcome:
        """The newest outcome that was due, stale where nothing fresh follows from the samples
        since; nothing is computed."""
        missing, newest = self.streams.missing(), self.streams.newest
        if missing or self._last is None:
            return NoEstimate(newest, self.streams.frame, missing or "too few samples yet")
        is_old = newest - self._last.stamp_ns > SECOND + self.course.period * BIN_NS
        is_suspect = self.course.scan.onset is not None
        return self._as_stale(self._last) if is_old or is_suspect else self._last

    def solve(self) -> Outcome:
        """The estimate of the samples so far: physically consistent, or why there is none.

        Nobody else reads what is computed for it: whoever asks changes nothing.
        """
        course = self.course
        if self.streams.missing() or not course.ready:
            return self.outcome
        said = course.conclusion(course.ready)
        outcome = with_findings(said.outcome, self._findings(said))
        if self._last is not None and outcome.stamp_ns < self._last.stamp_ns:
            return self.outcome
        is_suspect = course.scan.onset is not None
        return self._as_stale(outcome, said) if said.is_outdated or is_suspect else outcome

    def findings(self) -> tuple[Finding, ...]:
        """Everything about the samples so far that deserves attention, errors first."""
        return self._findings(self.course.newest)

    def _findings(self, said: Conclusion | None) -> tuple[Finding, ...]:
        given = [*self.streams.findings(), *self.course.findings()]
        if self._reset:
            given.append(("reset", {"why": self._reset}))
        found = [made(*one) for one in (*given, *(said.findings if said else ()))]
        return sort_findings({one.name: one for one in found}.values())

    def believe(self, beliefs: Beliefs) -> None:
        """Estimates from now on are by other beliefs; where the driver compensates another
        payload, what was measured before counts no more."""
        before, after = self.beliefs.compensated, beliefs.compensated
        self._basis = replace(self._basis, beliefs=beliefs)
        self.course.believe(self._basis)
        if before is not after and (before is None or after is None
                                    or not np.array_equal(before, after)):
            self._begin()

    def set_settings(self, settings: Settings) -> None:
        """Go on with other settings; topics, frames and files stay as they were.

        Raises:
            InertialIdError: the estimator cannot be made, or needs a shape and has none.
        """
        basis = basis_of(settings, self.beliefs, self.streams.frame)
        compensated = self.beliefs.compensated
        if basis.estimator.needs_shape and self.beliefs.shape is None:
            raise InvalidShape(f"estimator.method '{settings.estimator.method}' needs the shape of "
                               "the object, and none is given: call set_shape first")
        if settings.precompensated.source == "settings":
            compensated = compensated_by_driver(settings)
        self._basis = basis
        self.believe(replace(self.beliefs, compensated=compensated))

    def tare(self) -> str:
        """Use the mean wrench of the last second, at rest, as the zero.

        Raises:
            NotEnoughData: too few samples, the sensor is not at rest, or joints measure the load.
        """
        if self._measures_joints:
            raise NotEnoughData(NO_BIAS)
        tare = tare_of(self.course.history, self.settings, self.streams.frame)
        self.believe(replace(self.beliefs, tare=tare))
        return tare.describe()

    def untare(self) -> str:
        """Drop the tare; says whether there was one (raises NotEnoughData where joints measure)."""
        if self._measures_joints:
            raise NotEnoughData(NO_BIAS)
        had = self.beliefs.tare is not None
        self.believe(replace(self.beliefs, tare=None))
        return "the tare is dropped" if had else "there was no tare"

    def reset(self, reason: str) -> None:
        """Forget all samples; what was said stays."""
        self._reset = reason
        self.streams = self.streams.emptied()
        self._begin()


def make_identifier(settings: Settings) -> Identifier:
    """A fresh identifier, with the shape and the tool that the settings name.

    Raises:
        InertialIdError: a setting, the shape, the tool or the estimator cannot be used.
    """
    return Identifier(settings, named_beliefs(settings))
