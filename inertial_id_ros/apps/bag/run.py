# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A pass over a recording: the node's pipeline, driven by the recorded time.

Messages are pushed in the order of their log times, and the pipeline is advanced and solved on the
cadence of the node's timers in recorded time, so that the estimate over time is what the node would
have published.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ...doubts import withdraw_doubted
from ...errors import UnknownFrame
from ...estimate import Estimate, Outcome
from ...findings import Finding, sort_findings
from ...identification.make_identifier import AnyIdentifier
from ...io.cdr import DECODERS
from ...io.files import user_path
from ...io.messages import stamp_ns
from ...io.sample_blocks import Block
from ...kinematics.robot_description import read_description
from ...settings import Settings, iter_settings
from ...signals.input_topics import (
    DYNAMIC_JOINT_STATES,
    FRANKA_STATE,
    PAYLOAD_STATES,
    STATIC_TRANSFORMS,
    TRANSFORMS,
    WRENCH,
)
from ...signals.message_adapter import MessageAdapter
from ..report.results import Identification, Snapshot, Trace
from .message_batch import MessageBatch
from .reader import BagReader, Message, RawMessage
from .topics import Selection

ADVANCE_PERIOD = 1.0  # s of recorded time between two calls of advance; no influence on results
_STATE_PERIOD_NS = 100_000_000  # between two looks at the driver's payload
_UNUSED = 1.0  # s of a recording; more than that is worth a note
_LONGEST_SILENCE = 10.0  # s of a gap without messages through which the timers keep ticking


class OfflineRun:
    """State of one pass over a recording."""

    def __init__(self, recording: BagReader, selection: Selection, pipeline: AnyIdentifier,
                 settings: Settings, keep_trace: bool, recorded_stamps: bool) -> None:
        self._recording = recording
        self._selection = selection
        self._pipeline = pipeline
        self._settings = settings
        self._trace = Trace() if keep_trace else None
        self._history: list[Snapshot] = []
        self._counts = dict.fromkeys(selection.topics, 0)
        self._description = ""
        self._frames: set[str] = set()
        self._parents: dict[str, str] = {}  # of the frames in transforms
        self._start = recording.start
        self._end = recording.start
        self._solve_period = round(1e9 / settings.estimator.rate)
        self._advance_period = min(round(ADVANCE_PERIOD * 1e9), self._solve_period)
        self._next_solve = self._start + self._solve_period
        self._next_advance = self._start + self._advance_period
        self._states = {selection.name_of(PAYLOAD_STATES), selection.name_of(FRANKA_STATE)}
        self._next_state = self._start  # when the driver's payload is looked at again
        self.ticked = False
        self._batch = MessageBatch(selection, recorded_stamps)
        self._now = self._start  # log time of the message that is handed over
        self._adapter = MessageAdapter(pipeline, settings, self._use_new_description)

    @property
    def types(self) -> dict[str, str]:
        """Types of the topics to read, by name."""
        return dict(self._selection.types)

    def seconds(self, time_ns: int) -> float:
        """Time since the start of the recording [s] of a log time [ns]."""
        return (time_ns - self._start) * 1e-9

    def preload(self) -> None:
        """Add robot description and static transforms first: live, they are latched, and there at
        once."""
        file = self._settings.robot_description.file
        if file:
            self._use_description(read_description(user_path(file)))
        for message in self._recording.messages(self._selection.latched_types, DECODERS):
            if (self._selection.topics[message.topic] is STATIC_TRANSFORMS
                    or not self._description):
                self._add(message)

    def push(self, message: RawMessage) -> None:
        """Take the next message, after all timers that are due before it was recorded."""
        now = message.log_time
        if message.topic in self._states:  # many a second, and all the same
            if now < self._next_state:
                return
            self._next_state = now + _STATE_PERIOD_NS
        self._tick(now)
        self._end = now
        self._counts[message.topic] += 1
        if not self._batch.accepts(message):
            self._forward()
            self._add(self._decode(message))
            return
        if self._batch.add(message):
            self._forward()
            self._advance()

    def _tick(self, now: int) -> None:
        """Run the timers that are due before a message of this time [ns]."""
        if min(self._next_advance, self._next_solve) <= now:
            self._forward()
            self._run_due_timers(now)

    def _forward(self) -> None:
        """Give the pipeline the batch: all at once if it can take that, else one by one."""
        messages = self._batch.take()
        block = self._batch.as_block(messages)
        if block is not None and self._pipeline.take_block(block):
            self._record_block(block, messages)
            return
        for message in messages:
            self._add(self._decode(message))

    def _decode(self, raw: RawMessage) -> Message:
        """The message of serialised data, whose type its topic tells."""
        return self._batch.decode(self._recording, raw, self._selection.topics[raw.topic].type)

    def _add(self, message: Message) -> None:
        """Add a message to the pipeline, and keep what report and plot show of it."""
        self._now = message.log_time
        topic, content = self._selection.topics[message.topic], message.content
        if not self._adapter.add(topic, content):
            return
        if topic in (TRANSFORMS, STATIC_TRANSFORMS):
            for edge in content:
                self._add_frames(edge.parent, edge.child)
        elif topic is WRENCH:
            self._keep_wrench(content.stamp_ns, content.force + content.torque)
        elif topic is DYNAMIC_JOINT_STATES and self._trace is not None:
            wrench = self._adapter.wrench_of(content)
            if wrench is not None:
                self._keep_wrench(stamp_ns(content.header.stamp), wrench)

    def _record_block(self, block: Block, messages: list[RawMessage]) -> None:
        """Keep the frames and wrenches of a block, as `_add` does for single messages."""
        for edges in block.transforms:
            self._add_frames(edges.parent, edges.child)
        if block.wrenches is not None and self._trace is not None:
            wrench_topic = self._selection.name_of(WRENCH)
            self._now = next(m.log_time for m in messages if m.topic == wrench_topic)
            for stamp, row in zip(block.wrenches.stamps.tolist(), block.wrenches.rows.tolist(),
                                  strict=True):
                self._keep_wrench(stamp, tuple(row))

    def _run_due_timers(self, now: int) -> None:
        """Run all timers that are due by now, but in a long silence only those at its beginning."""
        silence = round(_LONGEST_SILENCE * 1e9)
        if now - self._end > silence:
            self._run_timers_until(self._end + silence)
            self._next_solve += _whole_periods(now - self._next_solve, self._solve_period)
            self._next_advance += _whole_periods(now - self._next_advance, self._advance_period)
        self._run_timers_until(now)

    def _run_timers_until(self, now: int) -> None:
        """Advance and solve at every tick up to a recorded time [ns]."""
        while min(self._next_advance, self._next_solve) <= now:
            due = min(self._next_advance, self._next_solve)
            self._advance()
            if self._next_advance == due:
                self._next_advance += self._advance_period
            if self._next_solve == due:
                self._solve(due)
                self._next_solve += self._solve_period
            self.ticked = True

    def _advance(self) -> None:
        self._keep(self._pipeline.advance())

    def _keep(self, settled: Any) -> None:
        """Put compensated wrenches into the trace."""
        if self._trace is not None and len(settled.stamps_ns):
            self._trace.settled_stamps.append(np.asarray(settled.stamps_ns))
            self._trace.compensated.append(np.asarray(settled.wrench))

    def result(self) -> Identification:
        """Process what is left, and put the result together."""
        self._finish()
        outcome = self._history[-1].outcome
        return Identification(outcome, tuple(self._history), self._findings(),
                              self._recording.duration, self._counts,
                              frozenset(self._frames | link_names(self._description)),
                              self._trace or Trace(),
                              self._notes(outcome),
                              self._pipeline.tool, self._pipeline.shape)

    def _finish(self) -> None:
        """Process what is left, and solve once more."""
        self._forward()
        self._keep(self._pipeline.finish())
        self._solve(self._end)

    def _solve(self, now: int) -> None:
        """Solve, at a recorded time [ns]."""
        outcome = withdraw_doubted(self._pipeline.solve(), self._selection.findings)
        if self._trace is None:
            self._history.append(Snapshot(self.seconds(now), outcome))
            return
        self._history.append(Snapshot(self.seconds(now), outcome, self._pipeline.findings()))
        self._keep_pose(self._trace, outcome.frame_id)

    def _keep_pose(self, trace: Trace, sensor: str) -> None:
        """Put the present rotation of the sensor into the trace, where it is known."""
        gravity = self._settings.gravity.frame or root_above(
            sensor, self._parents | link_parents(self._description))
        try:
            rotation, _, stamp = self._pipeline.lookup(gravity, sensor)
        except UnknownFrame:
            return
        if stamp is not None:
            trace.poses.append((stamp, rotation))

    def _add_frames(self, parent: str, child: str) -> None:
        self._frames.update((parent, child))
        self._parents[child] = parent

    def _findings(self) -> tuple[Finding, ...]:
        """Those of the recording and of the pipeline, errors first."""
        return sort_findings((*self._selection.findings, *self._pipeline.findings()))

    def _notes(self, outcome: Outcome) -> tuple[str, ...]:
        """Choices that were made, and how much of the recording is in the estimate."""
        notes = [*self._recording.notes, *self._selection.notes]
        window, duration = self._settings.buffer.window, self._recording.duration
        if isinstance(outcome, Estimate) and window < duration - _UNUSED:
            offer = ("--window all uses the whole recording"
                     if window < longest_window(duration) else "the most allowed")
            notes.append(f"only the last {window:g} s of {duration:.0f} s are used "
                         f"(buffer.window); {offer}")
        return tuple(notes)

    def _keep_wrench(self, stamp: int, wrench: tuple[float, ...]) -> None:
        """Put a measured wrench into the trace."""
        if self._trace is not None:
            if not self._trace.stamps:
                # Stamps and log times may come from different clocks.
                self._trace.origin = stamp - (self._now - self._start)
            self._trace.stamps.append(stamp)
            self._trace.measured.append(wrench)

    def _use_new_description(self, urdf: str) -> None:
        if urdf != self._description:
            self._use_description(urdf)

    def _use_description(self, urdf: str) -> None:
        self._description = urdf
        self._pipeline.set_robot_description(urdf)


def longest_window(duration: float) -> float:
    """The window [s] for a whole recording of this length [s], or the longest that is allowed."""
    spec = next(spec for name, _, spec in iter_settings(Settings()) if name == "buffer.window")
    return float(min(max(np.ceil(duration) + 1.0, spec.low), spec.high))


def link_names(urdf: str) -> set[str]:
    """Names of the links in a URDF that was already accepted; none if it is empty."""
    if not urdf:
        return set()
    try:
        return {link.get("name", "") for link in ElementTree.fromstring(urdf).iter("link")}
    except ElementTree.ParseError:
        return set()


@lru_cache(maxsize=4)
def link_parents(urdf: str) -> dict[str, str]:
    """Parents of the links in a URDF that was already accepted; none if it is empty."""
    joints = ElementTree.fromstring(urdf).iter("joint") if urdf else ()
    links = [(j.find("child"), j.find("parent")) for j in joints]
    return {child.get("link", ""): parent.get("link", "") for child, parent in links
            if child is not None and parent is not None}


def root_above(frame: str, parents: Mapping[str, str]) -> str:
    """The topmost frame above another."""
    for _ in range(len(parents)):  # more steps than that go in a circle
        frame = parents.get(frame, frame)
    return frame


def _whole_periods(gap: int, period: int) -> int:
    """The largest multiple of period that is not above the gap; at least 0."""
    return max(0, gap // period) * period
