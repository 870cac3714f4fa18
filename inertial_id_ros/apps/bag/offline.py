# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a recording: selects its topics, and runs the node's pipeline over it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path

from ...errors import RecordingError, UnknownFrame
from ...estimate import Estimate
from ...findings import Finding
from ...identification.make_identifier import AnyIdentifier, identifier_from_settings
from ...io.dynamic_joint_state import DynamicJointStates
from ...settings import Settings
from ...signals.input_topics import InputTopic
from ...signals.precompensation import (
    NOT_ADDED,
    STATED_BY,
    describe_not_added,
    may_be_not_added,
    stated_mass,
)
from ..report.results import Identification
from .black_box.files import BlackBox
from .reader import BagReader, RecordedTopic
from .run import OfflineRun, longest_window
from .topics import Selection, require_motion, select_topics

_FIRST = 20  # messages that are looked at: the first may still hold NaN


def find_stated_payload(recording: BagReader, settings: Settings) -> tuple[Finding, ...]:
    """The warning on a payload that a driver states in the recording; empty where none does, or
    where the settings tell what the driver removes."""
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
