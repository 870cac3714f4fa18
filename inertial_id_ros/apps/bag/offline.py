# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a recording, as the node would have done it at that time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from ...errors import InertialIdError
from ...estimate import Estimate, Outcome
from ...identify.beliefs import stated_by_driver
from ...identify.identifier import make_identifier
from ...kinds import Finding, made, sort_findings, withdraw_doubted
from ...motion.description import read_description
from ...settings import Settings
from ..recordings import Recording, StatedPayload
from ..recordings.bags import open_recording
from ..recordings.tables import Columns, is_table, read_motion
from ..report.results import Identification, Snapshot, prediction_of
from .at_rest import identify_poses

UNUSED = 1.0  # s of a recording; more than that is worth a note


def identify_recording(path: Path, settings: Settings, columns: Columns | None = None,
                       episode: int = 0, recorded_stamps: bool = False,
                       asked: Collection[str] = ()) -> Identification:
    """Identify the payload of a recording.

    Args:
        path: of a bag or a table; columns, episode: of a table.
        recorded_stamps: use the times of recording in place of the header stamps.
        asked: names of the settings that the user gave for this very recording.

    Raises:
        RecordingError, InvalidData: the recording cannot be read, or lacks something.
        InertialIdError: a setting, or what it names, cannot be used.
    """
    if not is_table(path):
        with open_recording(path, settings, asked, recorded_stamps) as recording:
            return _Run(recording, settings).result()
    table = read_motion(path, columns or Columns(), settings, episode)
    return _Run(table, settings).result() if isinstance(table, Recording) else (
        identify_poses(table, settings))


class _Run:
    """One pass over a recording (raises InertialIdError)."""

    def __init__(self, recording: Recording, settings: Settings) -> None:
        self._recording, self._settings = recording, settings
        self._identifier = make_identifier(settings)
        self._history: list[Snapshot] = []
        self._origin = 0  # stamp of the start [ns]
        driver = settings.precompensated
        self._stated: StatedPayload | None = None
        self._not_added = "" if driver.source in ("settings", "none") else (
            f"none was stated on {driver.topic or 'the topic of the joint states'}")

    def result(self) -> Identification:
        """Read and process everything; what came out."""
        identifier, recording = self._identifier, self._recording
        file = self._settings.robot_description.file
        described = read_description(Path(file).expanduser()) if file else recording.description
        if described:
            identifier.set_robot_description(described)
        for edge in recording.fixed:
            identifier.add_static_transform(*edge)
        for part in recording.parts:
            if not self._origin and part.samples:
                self._origin = min(int(some.stamps[0]) for some in part.samples)
            self._keep(identifier.add_arrays(part.samples))
            self._update_payload(part.payload)
        self._keep(identifier.finish())
        findings, outcomes = self._findings(), [item.outcome for item in self._history]
        outcome = outcomes[-1] if outcomes else withdraw_doubted(identifier.outcome, findings)
        window, notes = self._settings.buffer.window, recording.notes
        if isinstance(outcome, Estimate) and window < recording.duration - UNUSED:
            notes += (f"only the last {window:g} s of {recording.duration:.0f} s are used "
                      "(--window)",)
        return Identification(
            outcome, tuple(self._history), findings, recording.duration, recording.counts, notes,
            identifier.beliefs.tool, prediction_of(identifier, outcomes, self._origin))

    def _keep(self, outcomes: list[Outcome]) -> None:
        findings = self._findings() if outcomes else ()
        self._history += [Snapshot(max(1e-9 * (outcome.stamp_ns - self._origin), 0.0),
                                   withdraw_doubted(outcome, findings), findings)
                          for outcome in outcomes]

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
