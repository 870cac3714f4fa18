# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is told of a course: events for a while, and what lasts as long as it lasts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import kinds
from ..detect.bank import Kind
from ..detect.scan import Event
from ..findings import Finding, sort_findings
from ..motion.motion import BIN, BIN_NS
from ..motion.source import Streams
from .conclusion import Conclusion
from .course import Course

SHOWN_NS = 3_000_000_000  # for which the finding of an event stands
NAMES = {Kind.PAYLOAD: "payload_changed", Kind.RELEASED: "payload_changed",
         Kind.RETURNED: "payload_changed", Kind.ZEROED: "zero_moved.wrench",
         Kind.OFFSET: "zero_or_contact", Kind.POURS: "payload_walks", Kind.LOST: "estimate_lost"}
RENAMED = {"sensor_filter1": "wrench_filtered", "sensor_filter2": "wrench_filtered"}
MILD = ("sensor_frame.replaced", "robot_wrong.residual")  # as asked for; it only doubts a little
MISSING = {"no_wrench": "no wrench received on '{topic}'",
           "no_frame": "the wrench on '{topic}' names no frame; set wrench.sensor_frame",
           "no_motion": "no motion: neither joint states with a robot description on '{topic}' nor "
                        "transforms of the sensor",
           "no_joints": "{text}", "joints_missing": "no joint states of {names}",
           "sensor_frame.unknown": "{text}"}


class Watch:
    """Counts events, and makes findings of all there is; is_of_joints: these measure the load."""

    def __init__(self, is_of_joints: bool) -> None:
        self._names = NAMES | ({Kind.OFFSET: "zero_moved.joints"} if is_of_joints else {})
        self._counts: Counter[str] = Counter()
        self._events: dict[str, tuple[int, dict[str, float]]] = {}
        self._reset = ""

    def note(self, events: Sequence[Event]) -> None:
        """Take note of what the scan found."""
        for event in events:
            if name := self._names.get(event.kind):
                self._counts[name] += 1
                self._events[name] = event.number * BIN_NS, {
                    "change": event.change, "count": self._counts[name]}

    def note_reset(self, reason: str) -> None:
        """Take note that all samples were dropped."""
        self._reset = reason

    def findings(self, streams: Streams, course: Course, said: Conclusion | None
                 ) -> tuple[Finding, ...]:
        """Everything that deserves attention, errors first."""
        out = {finding.name: finding for finding in self._all(streams, course, said)}
        return sort_findings(out.values())

    def _all(self, streams: Streams, course: Course, said: Conclusion | None) -> Iterator[Finding]:
        for name, numbers in streams.findings():
            yield finding_of(name, numbers)
        if self._reset:
            yield kinds.made("reset", why=self._reset)
        for name, (stamp, values) in self._events.items():
            if course.ready * BIN_NS - stamp < SHOWN_NS:
                yield finding_of(name, values)
        if course.scan.onset is not None:
            yield kinds.made("contact", seconds=BIN * (course.ready - course.scan.onset),
                             count=len(course.history.marks.contacts))
        for kind, given in said.findings if said else ():
            yield finding_of(kind, given)


def why_missing(streams: Streams) -> str:
    """Why there can be no estimate, in a sentence; empty: all that is needed is there."""
    missing = streams.missing()
    return "" if missing is None else MISSING[missing[0]].format(**missing[1])


def finding_of(kind: str, numbers: Mapping[str, float | str]) -> Finding:
    """A finding of a kind; numbers that its sentence needs and that are missing are left empty."""
    given: dict[str, Any] = {"why": "", "where": "", "seconds": 0.0, **numbers}
    level = "info" if kind in MILD else ""
    return kinds.made(RENAMED.get(kind, kind), level, **given)
