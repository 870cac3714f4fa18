# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a recording, as the node would have done it at that time."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from ...errors import InertialIdError
from ...estimate import Estimate, Outcome
from ...identify.beliefs import stated_by_driver
from ...identify.identifier import make_identifier
from ...kinds import Finding, made, sort_findings, withdraw_doubted
from ...motion.description import read_description
from ...settings import Settings
from ..recordings import Columns, Recording, StatedPayload, open_recording
from ..report.prediction import prediction_of
from ..report.results import Identification, Snapshot

UNUSED = 1.0  # s of a recording; more than that is worth a note
Progress = Callable[[float, float], None]


def identify_recording(path: Path, settings: Settings, columns: Columns | None = None,
                       episode: int = 0, recorded_stamps: bool = False,
                       asked: Collection[str] = (), progress: Progress = lambda reached, all_: None
                       ) -> Identification:
    """Identify the payload of a recording.

    Args:
        path: of a bag or a table; columns, episode: of a table.
        recorded_stamps: use the times of recording in place of the header stamps.
        asked: names of the settings that the user gave for this very recording.
        progress: called now and then with the recorded time reached, and the whole [s].

    Raises:
        RecordingError, InvalidData: the recording cannot be read, or lacks something.
        InertialIdError: a setting, or what it names, cannot be used.
    """
    with open_recording(path, settings, columns, episode, asked, recorded_stamps) as recording:
        if not isinstance(recording, Recording):
            from .at_rest import identify_poses

            return identify_poses(recording, settings)
        return _Run(recording, settings).result(progress)


class _Run:
    """One pass over a recording (raises InertialIdError)."""

    def __init__(self, recording: Recording, settings: Settings) -> None:
        self._recording, self._settings = recording, settings
        self._identifier = make_identifier(settings)
        self._history: list[Snapshot] = []
        self._origin: int | None = None  # stamp of the start [ns]
        driver = settings.precompensated
        self._stated: StatedPayload | None = None
        self._not_added = "" if driver.source in ("settings", "none") else (
            f"none was stated on {driver.topic or 'the topic of the joint states'}")

    def result(self, progress: Progress) -> Identification:
        """Read and process everything; what came out."""
        identifier, recording = self._identifier, self._recording
        file = self._settings.robot_description.file
        described = read_description(Path(file).expanduser()) if file else recording.description
        if described:
            identifier.set_robot_description(described)
        for edge in recording.fixed:
            identifier.add_static_transform(*edge)
        for part in recording.parts:
            if self._origin is None and part.samples:
                self._origin = min(int(some.stamps[0]) for some in part.samples)
            self._keep(identifier.add_arrays(part.samples))
            self._update_payload(part.payload)
            progress(part.seconds, recording.duration)
        self._keep(identifier.finish())
        findings, outcomes = self._findings(), [item.outcome for item in self._history]
        outcome = outcomes[-1] if outcomes else withdraw_doubted(identifier.outcome, findings)
        return Identification(
            outcome, tuple(self._history), findings, recording.duration, recording.counts,
            (*recording.notes, *self._unused(outcome)), identifier.beliefs.tool,
            prediction_of(identifier, outcomes, self._origin or 0))

    def _keep(self, outcomes: list[Outcome]) -> None:
        if outcomes:
            findings = self._findings()
            self._history += [
                Snapshot(max(1e-9 * (outcome.stamp_ns - (self._origin or 0)), 0.0),
                         withdraw_doubted(outcome, findings), findings) for outcome in outcomes]

    def _update_payload(self, payload: StatedPayload | None) -> None:
        """Believe what the driver states that it compensates, once its frame is known; None: it
        stated nothing new."""
        self._stated = stated = payload or self._stated
        if stated is None or (payload is None and not self._not_added):
            return
        identifier, self._not_added = self._identifier, ""
        try:
            phi = stated_by_driver(stated.values, stated.frame, self._settings, identifier.streams)
        except InertialIdError as error:
            self._not_added = str(error)
        else:
            identifier.believe(replace(identifier.beliefs, compensated=phi))

    def _findings(self) -> tuple[Finding, ...]:
        driver = [made("payload_not_added", why=self._not_added)] if self._not_added else []
        return sort_findings((*self._recording.findings(), *driver, *self._identifier.findings()))

    def _unused(self, outcome: Outcome) -> tuple[str, ...]:
        """A note where an estimate uses the end of the recording alone."""
        window, duration = self._settings.buffer.window, self._recording.duration
        return (f"only the last {window:g} s of {duration:.0f} s are used (--window)",) if (
            isinstance(outcome, Estimate) and window < duration - UNUSED) else ()
