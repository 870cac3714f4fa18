# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Conclusions as they are handed out: with findings, without what is in doubt, fresh or stale."""

from __future__ import annotations

from dataclasses import replace

from .. import kinds
from ..estimate import Estimate, NoEstimate, Outcome
from ..motion.motion import BIN_NS
from ..motion.source import Streams
from .conclusion import Conclusion
from .course import Course
from .watch import Watch, why_missing

OLD_NS = 1_000_000_000  # beyond the time from one estimate to the next


class Answers:
    """Those of one course. A due one never uses older samples than the one before."""

    def __init__(self, streams: Streams, course: Course, watch: Watch) -> None:
        self._streams, self._course, self._watch = streams, course, watch
        self._last: Outcome | None = None
        self._asked: tuple[int, Conclusion] | None = None

    def due(self, said: Conclusion) -> Outcome:
        """The outcome of a conclusion that is due."""
        last, outcome = self._last, self._withdrawn(said)
        if isinstance(last, Estimate) and isinstance(outcome, Estimate) and (
                outcome.stamp_ns <= last.stamp_ns):
            outcome = self._as_stale(replace(last, findings=outcome.findings))
        elif said.is_outdated:
            outcome = self._as_stale(outcome, said)
        self._last = outcome
        return outcome

    @property
    def newest(self) -> Outcome:
        """The newest due outcome, stale where nothing fresh follows from the samples since."""
        reason = why_missing(self._streams) or ("" if self._last else "too few samples yet")
        if reason or self._last is None:
            return NoEstimate(self._streams.newest, self._streams.frame, reason)
        age = self._streams.newest - self._last.stamp_ns
        is_old = age > OLD_NS + self._course.period * BIN_NS
        return self._as_stale(self._last) if is_old or self._course.is_suspect else self._last

    def now(self) -> Outcome:
        """The outcome of the samples so far. What is computed for it changes nothing else."""
        course = self._course
        if self._streams.missing() is not None or not course.has_begun:
            return self.newest
        if self._asked is None or self._asked[0] != course.ready:
            self._asked = course.ready, course.conclusion(course.ready)
        said = self._asked[1]
        outcome = self._withdrawn(said)
        if self._last is not None and outcome.stamp_ns < self._last.stamp_ns:
            return self.newest
        is_stale = said.is_outdated or course.is_suspect
        return self._as_stale(outcome, said) if is_stale else outcome

    def forget_asked(self) -> None:
        """The basis is another one."""
        self._asked = None

    def _withdrawn(self, said: Conclusion) -> Outcome:
        """An outcome with the findings of now, without what they put in doubt."""
        findings = self._watch.findings(self._streams, self._course, said)
        named = replace(said.outcome, findings=tuple(f.text for f in findings))
        return kinds.withdraw_doubted(named, findings)

    def _as_stale(self, outcome: Outcome, said: Conclusion | None = None) -> Outcome:
        if not isinstance(outcome, Estimate):
            return outcome
        if said is not None and said.is_outdated:
            return outcome.as_stale("the newest samples do not fit the others")
        return outcome.as_stale("the wrench does not fit the payload now"
                                if self._course.is_suspect else "no new samples")
