# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a recording, as the node would have done it at that time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...estimate import Estimate, Outcome
from ...findings import Finding, sort_findings
from ...identify.make import make_identifier
from ...kinds import withdraw_doubted
from ...motion.description import read_description
from ...settings import Settings, iter_settings
from ..recordings.recording import Recording
from ..recordings.source import Source, opened
from ..report.prediction import prediction_of
from ..report.results import Identification, Snapshot
from .driver_payload import DriverPayload

UNUSED = 1.0  # s of a recording; more than that is worth a note


def identify_recording(source: Source, settings: Settings,
                       progress: Callable[[float, float], None] = lambda reached, whole: None
                       ) -> Identification:
    """Identify the payload of a recording.

    Args:
        progress: called now and then with the recorded time reached, and the whole [s].

    Raises:
        RecordingError, InvalidData: the recording cannot be read, or lacks something.
        InertialIdError: a setting, or what it names, cannot be used.
    """
    with opened(source, settings) as recording:
        if not isinstance(recording, Recording):
            from .at_rest import identify_poses

            return identify_poses(recording, settings)
        if source.whole:
            settings = settings.replace({"buffer.window": longest_window(recording.duration)})
        return _Run(recording, settings).result(progress)


class _Run:
    """One pass over a recording (raises InertialIdError)."""

    def __init__(self, recording: Recording, settings: Settings) -> None:
        self._recording, self._settings = recording, settings
        self._identifier = make_identifier(settings)
        self._driver = DriverPayload(self._identifier)
        self._history: list[Snapshot] = []
        self._origin: int | None = None  # stamp of the start [ns]

    def result(self, progress: Callable[[float, float], None]) -> Identification:
        """Read and process everything; what came out."""
        self._read(progress)
        identifier, recording, findings = self._identifier, self._recording, self._findings()
        outcomes = [item.outcome for item in self._history]
        outcome = outcomes[-1] if outcomes else withdraw_doubted(identifier.outcome, findings)
        notes = list(recording.notes)
        window, duration = self._settings.buffer.window, recording.duration
        if isinstance(outcome, Estimate) and window < duration - UNUSED:
            offer = ("--window all uses the whole recording"
                     if window < longest_window(duration) else "the most allowed")
            notes.append(f"only the last {window:g} s of {duration:.0f} s are used "
                         f"(buffer.window); {offer}")
        return Identification(outcome, tuple(self._history), findings, duration, recording.counts,
                              tuple(notes), identifier.beliefs.tool,
                              prediction_of(identifier, outcomes, self._origin or 0))

    def _read(self, progress: Callable[[float, float], None]) -> None:
        identifier, file = self._identifier, self._settings.robot_description.file
        described = read_description(Path(file).expanduser()) if file else (
            self._recording.description)
        if described:
            identifier.set_robot_description(described)
        for edge in self._recording.fixed:
            identifier.add_static_transform(*edge)
        for part in self._recording.parts:
            if self._origin is None and part.samples:
                self._origin = min(int(some.stamps[0]) for some in part.samples)
            self._keep(identifier.add_arrays(part.samples))
            self._driver.update(part.payload)
            progress(part.seconds, self._recording.duration)
        self._keep(identifier.finish())

    def _keep(self, outcomes: list[Outcome]) -> None:
        if outcomes:
            findings = self._findings()
            self._history += [
                Snapshot(max(1e-9 * (outcome.stamp_ns - (self._origin or 0)), 0.0),
                         withdraw_doubted(outcome, findings), findings) for outcome in outcomes]

    def _findings(self) -> tuple[Finding, ...]:
        return sort_findings((*self._recording.findings(), *self._driver.findings(),
                              *self._identifier.findings()))


def longest_window(duration: float) -> float:
    """The window [s] for a whole recording of this length [s], or the longest that is allowed."""
    spec = next(spec for name, _, spec in iter_settings(Settings()) if name == "buffer.window")
    return float(min(max(np.ceil(duration) + 1.0, spec.low), spec.high))
