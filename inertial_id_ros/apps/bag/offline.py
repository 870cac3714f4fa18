# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a recording: selects its topics, and runs the node's pipeline over it.

A pass drives the node's pipeline by the recorded time. Messages are pushed in the order of their
log times, and the pipeline is solved at the ticks of the node in recorded time, so that the
estimate over time is what the node would have published."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import RecordingError, UnknownFrame
from ...estimate import Estimate, Outcome
from ...findings import Finding, sort_findings
from ...identification.make_identifier import AnyIdentifier, identifier_from_settings
from ...inertia import Array
from ...io import cdr, cdr_columns
from ...io.cdr import DECODERS
from ...io.files import user_path
from ...io.messages import DynamicJointStates, stamp_ns
from ...kinds import withdraw_doubted
from ...kinematics.robot_description import read_description
from ...settings import Settings, iter_settings
from ...signals.inbox import Ticks
from ...signals.message_adapter import (
    DYNAMIC_JOINT_STATES,
    FRANKA_STATE,
    PAYLOAD_STATES,
    STATIC_TRANSFORMS,
    WRENCH,
    InputTopic,
    MessageAdapter,
)
from ...signals.precompensation import (
    NOT_ADDED,
    STATED_BY,
    describe_not_added,
    may_be_not_added,
    stated_mass,
)
from ..report.results import Identification, Snapshot, Trace
from .black_box import BlackBox, read_black_box
from .reader import BagReader, Message, RawMessage, RecordedTopic
from .topics import Selection, require_motion, select_topics

ADVANCE_PERIOD = 1.0  # s of recorded time between two rounds, where those of a node are not known
_MOST_WAITING = 2000  # messages
_STATE_PERIOD_NS = 100_000_000  # between two looks at the driver's payload
_UNUSED = 1.0  # s of a recording; more than that is worth a note
_LONGEST_SILENCE = 10.0  # s of a gap without messages through which the timers keep ticking


class OfflineRun:
    """State of one pass over a recording."""

    def __init__(self, recording: BagReader, selection: Selection, pipeline: AnyIdentifier,
                 settings: Settings, keep_trace: bool, recorded_stamps: bool,
                 round_period: float = 0.0, end_ns: int = 0) -> None:
        self._recording = recording
        self._selection = selection
        self._pipeline = pipeline
        self._settings = settings
        self._trace = Trace() if keep_trace else None
        self._history: list[Snapshot] = []
        self._counts = dict.fromkeys(selection.topics, 0)
        self._description = ""
        self._recorded_stamps = recorded_stamps
        # Of the topics whose messages the pipeline takes serialised, by name.
        self._kinds = {} if recorded_stamps else {
            name: topic.kind for name, topic in selection.topics.items() if topic.kind is not None}
        self._waiting: list[tuple[int, bytes]] = []  # serialised, to be handed over
        self._handed_over = 0  # that wait in the pipeline
        self._wrenches: list[RawMessage | Message] = []  # for the trace
        self._start = recording.start
        self._end, self._end_of_node = recording.start, end_ns
        self._ticks = Ticks(self._start, round((round_period or ADVANCE_PERIOD) * 1e9),
                            round(1e9 / settings.estimator.rate))
        self._states = {selection.name_of(PAYLOAD_STATES), selection.name_of(FRANKA_STATE)}
        self._next_state = self._start  # when the driver's payload is looked at again
        self.ticked = False
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
        once. In a recording of a node, they are where it used them."""
        file = self._settings.robot_description.file
        if file:
            self._use_description(read_description(user_path(file)))
        if self._end_of_node:
            return
        for message in self._recording.messages(self._selection.latched_types, DECODERS):
            if (self._selection.topics[message.topic] is STATIC_TRANSFORMS
                    or not self._description):
                self._add(message)

    def push(self, message: RawMessage) -> None:
        """Take the next message, after all timers that are due before it was recorded."""
        topic, now, data = message
        if topic in self._states:  # many a second, and all the same
            if now < self._next_state:
                return
            self._next_state = now + _STATE_PERIOD_NS
        if now >= self._ticks.next_ns:
            self._tick(now)
        self._end = now
        self._counts[topic] += 1
        if topic in self._kinds:
            kind = self._kinds[topic]
            self._waiting.append((kind, data))
            if self._trace is not None and kind == WRENCH.kind:
                self._wrenches.append(message)
        else:
            self._hand_over()
            self._decode(message)
            self._handed_over = self._pipeline.waiting
        if len(self._waiting) + self._handed_over >= _MOST_WAITING:
            self._advance()

    def _tick(self, now: int) -> None:
        """Process and solve as is due before a message of this time [ns]; in a long silence only at
        its beginning."""
        silence = round(_LONGEST_SILENCE * 1e9)
        if now - self._end > silence:
            self._run_ticks_until(self._end + silence)
            self._ticks.skip_to(now - 1)
        self._run_ticks_until(now)

    def _decode(self, raw: RawMessage) -> None:
        """Give a message to the pipeline decoded: its topic allows nothing else, or the times of
        recording replace stamps."""
        topic = self._selection.topics[raw.topic]
        message = self._recording.decode(raw, topic.type, DECODERS)
        if self._recorded_stamps:
            message = message._replace(content=_restamp(message.content, raw.log_time))
        self._add(message)

    def _add(self, message: Message) -> None:
        """Add a decoded message to the pipeline, and keep what report and plot show of it."""
        topic = self._selection.topics[message.topic]
        if (self._adapter.add(topic, message.content) and self._trace is not None
                and topic in (WRENCH, DYNAMIC_JOINT_STATES)):
            self._wrenches.append(message)

    def _run_ticks_until(self, now: int) -> None:
        """Advance and solve at every tick up to a recorded time [ns]."""
        for tick in self._ticks.until(now):
            self._advance()
            if tick.solves or self._is_forgotten:
                self._solve(tick.time_ns)
            self.ticked = True

    @property
    def _is_forgotten(self) -> bool:
        """Whether what the last estimate came of was forgotten, which a node shows at once."""
        return (bool(self._history) and isinstance(self._history[-1].outcome, Estimate)
                and not self._pipeline.has_estimate)

    def _hand_over(self) -> None:
        """Give the pipeline the messages that it takes serialised, in one call: there are many."""
        if self._waiting:
            self._pipeline.add_all_serialized(self._waiting)
            self._waiting = []

    def _advance(self) -> None:
        self._hand_over()
        self._handed_over = 0
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
        if self._trace is not None:
            self._keep_wrenches(self._trace)
        return Identification(outcome, tuple(self._history), self._findings(),
                              self._recording.duration, self._counts,
                              frozenset(self._pipeline.frames),
                              self._trace or Trace(),
                              self._notes(outcome),
                              self._pipeline.tool, self._pipeline.shape)

    def _finish(self) -> None:
        """Process what is left, and solve once more; end with the last tick of a node."""
        if self._end_of_node:
            self._tick(self._end_of_node)
            if self._history:
                return
        self._hand_over()
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
        try:
            rotation, _, stamp = self._pipeline.lookup(self._pipeline.gravity_frame, sensor)
        except UnknownFrame:
            return
        if stamp is not None:
            trace.poses.append((stamp, rotation))

    def _keep_wrenches(self, trace: Trace) -> None:
        """Put the measured wrenches into the trace."""
        if not self._wrenches:
            return
        trace.stamps, trace.measured, first = self._read_wrenches()
        if len(trace.stamps):
            # Stamps and log times may come from different clocks.
            trace.origin = int(trace.stamps[0]) - (first - self._start)

    def _read_wrenches(self) -> tuple[np.ndarray, Array, int]:
        """Stamps (n,) [ns] and values (n, 6) [N, N m] of the wrenches, and when the first of them
        was recorded [ns]; without those that are damaged."""
        try:
            (wrenches,) = cdr_columns.wrenches([message.data for message in self._wrenches
                                                if isinstance(message, RawMessage)])
            return wrenches.stamps, wrenches.rows, self._wrenches[0].log_time
        except (ValueError, IndexError):
            pass
        found = [(message.log_time, *wrench) for message in self._wrenches
                 if (wrench := self._wrench_of(message)) is not None]
        return (np.array([stamp for _, stamp, _ in found], dtype=np.int64),
                np.array([wrench for *_, wrench in found]).reshape(-1, 6),
                found[0][0] if found else self._start)

    def _wrench_of(self, message: RawMessage | Message) -> tuple[int, tuple[float, ...]] | None:
        """Stamp [ns] and wrench (6,) of a message; None where it has none."""
        try:
            content = (cdr.wrench(message.data) if isinstance(message, RawMessage)
                       else message.content)
        except ValueError:
            return None
        if isinstance(content, cdr.Wrench):
            return content.stamp_ns, content.force + content.torque
        wrench = self._adapter.wrench_of(content)
        return None if wrench is None else (stamp_ns(content.header.stamp), wrench)

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


def _restamp(content: Any, stamp_ns: int) -> Any:
    """The content of a decoded message with another stamp; where it has none, as it is."""
    if isinstance(content, list):  # of transforms
        return [edge._replace(stamp_ns=stamp_ns) for edge in content]
    if hasattr(content, "stamp_ns"):
        return content._replace(stamp_ns=stamp_ns)
    if hasattr(content, "header"):
        stamp = dataclasses.replace(content.header.stamp, sec=stamp_ns // 10**9,
                                    nanosec=stamp_ns % 10**9)
        return dataclasses.replace(content, header=dataclasses.replace(content.header, stamp=stamp))
    return content


_FIRST = 20  # messages that are looked at: the first may still hold NaN


def find_stated_payload(recording: BagReader, settings: Settings) -> tuple[Finding, ...]:
    """At most one warning: that a driver states a payload, which it may remove from the wrench, and
    that the settings do not add it. Only the first messages of each topic are read."""
    if not may_be_not_added(settings):
        return ()
    for kind, source in STATED_BY.items():
        for topic in recording.topics:
            if topic.type == kind.type and topic.count:
                mass = _first_mass(recording, topic, kind, settings)
                if mass > 0.0:
                    return (Finding(NOT_ADDED, "warning",
                                    describe_not_added(topic.name, source, mass)),)
    return ()


def _first_mass(recording: BagReader, topic: RecordedTopic, kind: InputTopic,
                settings: Settings) -> float:
    """Mass [kg] that the first messages state; 0 where they state none, or cannot be decoded."""
    states = DynamicJointStates(settings.dynamic_joint_states)
    try:
        masses = (stated_mass(kind, message.content, states)
                  for message in islice(recording.messages({topic.name: topic.type}), _FIRST))
        return next((mass for mass in masses if mass > 0.0), 0.0)
    except RecordingError:  # the type is not defined in the file
        return 0.0


Progress = Callable[[float], AbstractContextManager[Callable[[float], None] | None]]


def identify_recording(path: Path, settings: Settings, asked: frozenset[str] = frozenset(),
                       progress: Progress = lambda _: nullcontext(), keep_trace: bool = False,
                       whole: bool = False, recorded_stamps: bool = False,
                       box: BlackBox | None = None) -> Identification:
    """Identify the payload of a recording.

    Args:
        path: of a rosbag2 folder or file.
        asked: names of the settings that the user gave.
        progress: gives, for the length of the recording [s], the context that shows its progress.
        keep_trace: keep the wrenches for a plot.
        whole: make buffer.window as long as the recording.
        recorded_stamps: use the times of recording in place of the header stamps.
        box: the black box that the recording is: begin with its state, in the rounds of its node.

    Raises:
        RecordingError: the recording cannot be read, or lacks a topic.
        UnknownFrame: the sensor or gravity frame is neither in TF nor in the robot description.
        InertialIdError: a setting, or what it names, cannot be used.
    """
    changed = bool(asked) or whole or recorded_stamps
    with BagReader(path) as recording:
        if whole:
            settings = settings.replace({"buffer.window": longest_window(recording.duration)})
        selection = select_topics(recording.topics, settings, asked)
        require_motion(selection, settings)
        selection = selection.with_findings(find_stated_payload(recording, settings))
        identifier = identifier_from_settings(settings)
        if box is not None:
            identifier.restore(box.state)
        with progress(recording.duration) as on_progress:
            result = identify(recording, selection, identifier, settings, on_progress, keep_trace,
                              recorded_stamps, *((box.round_period, box.end_ns) if box else ()))
    _check_frames(result, settings)
    return result if box is None else replace(
        result, notes=(*box.notes(changed), *result.notes))


def _check_frames(result: Identification, settings: Settings) -> None:
    """Check that the frames exist, where a run ended without an estimate.

    Raises:
        UnknownFrame: the sensor or gravity frame is neither in TF nor in the robot description.
    """
    outcome = result.outcome
    if isinstance(outcome, Estimate):
        return
    wanted = {"sensor": settings.wrench.sensor_frame or outcome.frame_id,
              "gravity": settings.gravity.frame}
    for role, name in wanted.items():
        name = name.lstrip("/")
        if name and name not in result.frames:
            known = ", ".join(sorted(result.frames)) or "none"
            raise UnknownFrame(f"{role} frame '{name}' is neither in the recorded transforms nor "
                               f"in the robot description; known frames: {known}")


def identify(recording: BagReader, selection: Selection, pipeline: AnyIdentifier,
             settings: Settings, on_progress: Callable[[float], None] | None = None,
             keep_trace: bool = False, recorded_stamps: bool = False,
             round_period: float = 0.0, end_ns: int = 0) -> Identification:
    """Run the pipeline over a recording.

    Args:
        selection: topics to read.
        pipeline: a fresh identifier.
        on_progress: called now and then with the recorded time reached [s].
        keep_trace: keep the wrenches for a plot.
        recorded_stamps: use the times of recording in place of the header stamps.
        round_period, end_ns: recorded time from one round of the node to the next [s], and at which
            it ended [ns]; 0: not known.

    Raises:
        RecordingError: the recording is damaged.
        InvalidModel: the robot description cannot be used.
    """
    run = OfflineRun(recording, selection, pipeline, settings, keep_trace, recorded_stamps,
                     round_period, end_ns)
    run.preload()
    for message in recording.raw_of(run.types):
        run.push(message)
        if on_progress and run.ticked:
            on_progress(run.seconds(message.log_time))
            run.ticked = False
    return run.result()


def page_of_black_box(path: bytes) -> bytes:
    """The report of the black box in a folder, as `identify_bag --report` writes it; for a process
    of its own.

    Raises:
        RecordingError: the folder is no black box, or is damaged.
        InertialIdError: what `identify_recording` raises.
    """
    from ..report.page import ReportOrigin
    from ..report.payload_page import payload_page

    folder = Path(path.decode())
    box = read_black_box(folder)
    if box is None:
        raise RecordingError(f"{folder} is no black box")
    settings = Settings().replace(dict(box.settings))
    result = identify_recording(folder, settings, keep_trace=True, box=box)
    command = shlex.join(["identify_bag", str(folder), "--report", "."])
    return payload_page(result, settings, ReportOrigin(folder.name, str(folder), command)).encode()
