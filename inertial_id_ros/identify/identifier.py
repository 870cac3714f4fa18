# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification in one object: samples in, estimates, findings and the load to remove out."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InertialIdError, InvalidSetting, NotEnoughData
from ..estimate import Estimate, NoEstimate, Outcome
from ..io.inputs import Samples, StatedPayload, split_by_time
from ..kinds import Finding, made, sort_findings, with_findings
from ..motion.frames import place_of
from ..motion.motion import BIN_NS, SECOND
from ..motion.source import Streams
from ..settings import Settings, iter_settings
from .beliefs import Basis, Beliefs, compensated_by_driver, named_beliefs, tare_of
from .course import Course
from .estimate import Conclusion
from .torque_streams import TorqueStreams

BATCH = 2000  # samples that settle at once


class Identifier:
    """See the module.

    Args:
        settings: of all groups but those of topics and services; None: the defaults.
        beliefs: None: those that the settings name.

    Attributes:
        streams: the inputs; course: what follows from them; waiting: samples for `add_arrays`, or
            whatever else needs them; added: newest stamp [ns] of each stream of arrays.
        by_driver: payload that the driver says it compensates. It is believed, and None again,
            after the next samples with which its frame is known; until then a finding says why not.

    Raises:
        InertialIdError: a setting, the shape, the tool, the robot file or the estimator cannot be
            used.
    """

    def __init__(self, settings: Settings | None = None, beliefs: Beliefs | None = None) -> None:
        settings = settings or Settings()
        self.streams = (TorqueStreams if settings.load.robot else Streams)(settings)
        self.waiting: list[Samples] = []
        self.added: dict[tuple[str, ...], int] = {}
        self._finished, self._reset = False, ""  # why all samples were dropped
        self.by_driver: StatedPayload | None = None
        driver = settings.precompensated
        self._not_added = "" if driver.source in ("settings", "none") else (
            f"none was stated on '{driver.topic}'")
        self._begin(Basis(settings, beliefs or named_beliefs(settings)))

    def _begin(self, basis: Basis) -> None:
        """Forget what was measured."""
        streams, self._restarts = self.streams, self.streams.restarts
        self.course = Course(basis, streams.newest,
                             streams.load if isinstance(streams, TorqueStreams) else None)
        self._last: Outcome | None = None  # that was due

    @property
    def settings(self) -> Settings:
        """In use."""
        return self.course.basis.settings

    @property
    def beliefs(self) -> Beliefs:
        """What was said."""
        return self.course.basis.beliefs

    def set_robot_description(self, urdf: str) -> None:
        """Use the robot of this URDF text, in which the frame of the wrench is a link (raises
        InvalidModel, and then the one before stays in use)."""
        self.streams.set_robot_description(urdf)

    def add_static_transform(self, parent: str, child: str, translation: ArrayLike,
                             quaternion: ArrayLike) -> None:
        """Add a fixed pose of a frame in its parent: translation (3,) [m], quaternion x, y, z, w
        (raises InvalidData)."""
        self.streams.frames.fix(parent, child, place_of(translation, quaternion))

    def add_arrays(self, batches: Sequence[Samples]) -> list[Outcome]:
        """Add samples of several streams, those of a stream in the order of time, after those that
        wait.

        Returns:
            The outcomes that became due at `estimator.rate`, in order of time.
        """
        out: list[Outcome] = []
        batches, self.waiting = [*self.waiting, *batches], []
        for part in split_by_time(batches, BATCH):
            for samples in part:
                self.streams.add(samples)
            out += self._advance()
        if self.by_driver is not None:
            try:
                stated = self.beliefs.with_stated(self.by_driver, self.settings, self.streams)
                self.by_driver, self._not_added = None, ""
                if not np.array_equal(stated.compensated, self.beliefs.compensated):
                    self.believe(stated)
            except InertialIdError as error:
                self._not_added = str(error)
        return out

    def _update(self) -> None:
        """Add the samples that wait."""
        if self.waiting:
            self.add_arrays(())

    def finish(self) -> list[Outcome]:
        """Let the last samples settle, as no more will follow: they are then used in full. Returns
        what became due by that."""
        self._update()
        self._finished = True
        out, course = self._advance(), self.course
        if course.ready:
            self._last = self._stated(course.conclusion(course.ready))
            out.append(self._last)
        return out

    def _advance(self) -> list[Outcome]:
        """Let the samples so far settle in the history, and judge it; outcomes that are due."""
        motion, stamps, rows, faults = self.streams.advance(self._finished)
        frame, basis, beliefs = self.streams.frame, self.course.basis, self.beliefs
        if frame != basis.frame:
            if (tare := beliefs.tare) is not None and tare.frame_id != frame:
                beliefs = replace(beliefs, tare=replace(tare, refuted=(
                    f"it is of frame '{tare.frame_id}', the wrench of '{frame}'")))
            self.course.believe(replace(basis, frame=frame, beliefs=beliefs))
        if self.streams.restarts != self._restarts:
            self._begin(self.course.basis)
        self.course.append(motion, stamps, self.streams.sign * rows, faults)
        out = [self._stated(said) for said in self.course.advance()]
        self._last = out[-1] if out else self._last
        return out

    def _stated(self, said: Conclusion) -> Outcome:
        """The outcome of a conclusion, with all findings and without what these put in doubt."""
        is_outdated = said.explained is not None and said.explained.is_outdated
        return self._held(with_findings(said.outcome, self.findings(said)), (
            "the newest samples do not fit the others" if is_outdated else ""))

    def _held(self, outcome: Outcome, why: str = "", newest: int = 0) -> Outcome:
        """An outcome, stale for this reason, by suspect samples, or by a much newer one [ns]."""
        if newest - outcome.stamp_ns > SECOND + self.course.period * BIN_NS:
            why = "no new samples"
        if self.course.scan.onset is not None:
            why = "the wrench does not fit the payload now"
        return outcome.as_stale(why) if why and isinstance(outcome, Estimate) else outcome

    @property
    def outcome(self) -> Outcome:
        """The newest outcome that was due, stale where nothing fresh follows from the samples
        since; nothing is computed."""
        missing, newest = self.streams.missing(), self.streams.newest
        if missing or self._last is None:
            return NoEstimate(newest, self.streams.frame, missing or "too few samples yet")
        return self._held(self._last, newest=newest)

    def solve(self) -> Outcome:
        """The estimate of the last `buffer.window` seconds of the samples so far: physically
        consistent, or a `NoEstimate` that says why there is none.

        Nobody else reads what is computed for it: whoever asks, and how often, changes nothing.
        """
        self._update()
        course, newest = self.course, self.streams.newest
        if self.streams.missing() or not course.ready:
            return self.outcome
        return self._held(self._stated(course.conclusion(course.ready)), newest=newest)

    def findings(self, said: Conclusion | None = None) -> tuple[Finding, ...]:
        """Everything about the samples so far that deserves attention, errors first; said: what
        they concern, the newest conclusion if None."""
        self._update()
        said, tare = said or self.course.newest, self.beliefs.tare
        given = [*self.streams.findings(), *self.course.findings()]
        given += [(name, {"why": why}) for name, why in (
            ("reset", self._reset), ("payload_not_added", self._not_added),
            ("tare_not_used", tare.refuted if tare else "")) if why]
        found = [made(*one) for one in (*given, *(said.findings if said else ()))]
        return sort_findings({one.name: one for one in found}.values())

    def believe(self, beliefs: Beliefs, settings: Settings | None = None) -> None:
        """Estimates from now on are by other beliefs, and settings; where the driver compensates
        another payload, what was measured before counts no more (raises InvalidData: the estimator
        needs a shape, and these have none)."""
        self._update()
        before = self.beliefs.compensated
        self.course.believe(replace(self.course.basis, beliefs=beliefs,
                                    settings=settings or self.settings))
        if not np.array_equal(before, beliefs.compensated):
            self._begin(self.course.basis)

    def set_settings(self, settings: Settings) -> None:
        """Go on with other settings.

        Raises:
            InvalidSetting: one may not change any more; InertialIdError: the estimator cannot be
                made, or needs a shape and has none.
        """
        for (name, value, spec), (_, before, _) in zip(
                iter_settings(settings), iter_settings(self.settings), strict=True):
            if value != before and not spec.runtime:
                raise InvalidSetting(f"{name} can only be set when an Identifier is made")
        is_set = settings.precompensated.source == "settings"
        compensated = compensated_by_driver(settings) if is_set else self.beliefs.compensated
        self.believe(replace(self.beliefs, compensated=compensated), settings)

    def tare(self) -> str:
        """Use the mean wrench of the last second, at rest and without payload, as the bias; says
        what was stored.

        Raises:
            NotEnoughData: too few samples, the sensor is not at rest, or joints measure the load.
        """
        if self.settings.load.robot:
            raise NotEnoughData("joint torques have no bias to tare; identify the robot without "
                                "payload anew (identify_robot)")
        self._update()
        tare = tare_of(self.course.history, self.settings, self.streams.frame)
        self.believe(replace(self.beliefs, tare=tare))
        force, torque = (", ".join(f"{v:.{digits}f}" for v in part) for digits, part in (
            (3, tare.reading[:3]), (4, tare.reading[3:])))
        return f"bias set to force [{force}] N, torque [{torque}] N m"

    def untare(self) -> str:
        """Drop the tare: the bias is estimated from the samples alone again. Says whether there was
        one."""
        had = self.beliefs.tare is not None
        self.believe(replace(self.beliefs, tare=None))
        return "the tare is dropped" if had else "there was no tare"

    def reset(self, reason: str = "reset was called") -> None:
        """Forget all samples; robot description, fixed transforms, tool and bias stay."""
        self.waiting, self.added, self._reset = [], {}, reason
        self.streams = self.streams.emptied()
        self._begin(self.course.basis)
