# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is handed out: findings, and outcomes with them, without what is in doubt, fresh or stale.

The finding of an event stands for a while, that of a cause as long as it lasts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..detect.bank import Kind
from ..detect.scan import Event
from ..estimate import Estimate, NoEstimate, Outcome
from ..kinds import Finding, finding_of, made, sort_findings, with_findings
from ..motion.motion import BIN, BIN_NS
from ..motion.source import Streams
from .course import Course
from .estimate import Conclusion

OLD_NS = 1_000_000_000  # beyond the time from one estimate to the next
SHOWN_NS = 3_000_000_000  # for which the finding of an event stands
NAMES = {Kind.PAYLOAD: "payload_changed", Kind.RELEASED: "payload_changed",
         Kind.RETURNED: "payload_changed", Kind.ZEROED: "zero_moved.wrench",
         Kind.OFFSET: "zero_or_contact", Kind.POURS: "payload_walks", Kind.LOST: "estimate_lost"}
MISSING = {"no_wrench": "no wrench received on '{topic}'",
           "no_frame": "the wrench on '{topic}' names no frame; set wrench.sensor_frame",
           "no_motion": "no motion: neither joint states with a robot description on '{topic}' nor "
                        "transforms of the sensor",
           "no_joints": "{text}", "joints_missing": "no joint states of {names}",
           "sensor_frame.unknown": "{text}"}


class Answers:
    """Findings and outcomes of successive courses; each restart begins a new one.

    A due outcome never uses older samples than the one before.

    Args:
        is_of_joints: True if these measure the load.
    """

    def __init__(self, is_of_joints: bool) -> None:
        self._names = NAMES | ({Kind.OFFSET: "zero_moved.joints"} if is_of_joints else {})
        self._counts: Counter[str] = Counter()
        self._events: dict[str, tuple[int, float]] = {}  # bin, and change of the mass [kg]
        self.reset = ""  # why all samples were dropped; empty: they were not

    def begin(self, streams: Streams, course: Course) -> None:
        """From now on they are those of another course."""
        self._streams, self._course = streams, course
        self._last: Outcome | None = None

    def note(self, events: Sequence[Event]) -> None:
        """Take note of what the scan found."""
        for event in events:
            if name := self._names.get(event.kind):
                self._counts[name] += 1
                self._events[name] = event.number, event.change

    def findings(self, said: Conclusion | None) -> tuple[Finding, ...]:
        """Everything that deserves attention, errors first."""
        return sort_findings({one.name: one for one in self._all_findings(said)}.values())

    def _all_findings(self, said: Conclusion | None) -> Iterator[Finding]:
        course = self._course
        for name, numbers in self._streams.findings():
            yield finding_of(name, numbers)
        if self.reset:
            yield made("reset", why=self.reset)
        for name, (number, change) in self._events.items():
            if (course.ready - number) * BIN_NS < SHOWN_NS:
                yield finding_of(name, {"change": change, "count": self._counts[name]})
        if course.scan.onset is not None:
            yield made("contact", seconds=BIN * (course.ready - course.scan.onset),
                       count=len(course.history.marks.contacts))
        for kind, given in said.findings if said else ():
            yield finding_of(kind, given)

    def due(self, said: Conclusion) -> Outcome:
        """The outcome of a conclusion that is due."""
        last, outcome = self._last, with_findings(said.outcome, self.findings(said))
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
        missing = self._streams.missing()
        if missing is not None or self._last is None:
            reason = MISSING[missing[0]].format(**missing[1]) if missing else "too few samples yet"
            return NoEstimate(self._streams.newest, self._streams.frame, reason)
        age = self._streams.newest - self._last.stamp_ns
        is_old = age > OLD_NS + self._course.period * BIN_NS
        return self._as_stale(self._last) if is_old or self._is_suspect else self._last

    def now(self) -> Outcome:
        """The outcome of the samples so far. What is computed for it changes nothing else."""
        course = self._course
        if self._streams.missing() is not None or not course.ready:
            return self.newest
        said = course.conclusion(course.ready)
        outcome = with_findings(said.outcome, self.findings(said))
        if self._last is not None and outcome.stamp_ns < self._last.stamp_ns:
            return self.newest
        return self._as_stale(outcome, said) if said.is_outdated or self._is_suspect else outcome

    @property
    def _is_suspect(self) -> bool:
        return self._course.scan.onset is not None

    def _as_stale(self, outcome: Outcome, said: Conclusion | None = None) -> Outcome:
        if not isinstance(outcome, Estimate):
            return outcome
        if said is not None and said.is_outdated:
            return outcome.as_stale("the newest samples do not fit the others")
        return outcome.as_stale("the wrench does not fit the payload now" if self._is_suspect
                                else "no new samples")
