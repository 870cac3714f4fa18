# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a recording, as the node would have done it at that time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...errors import InertialIdError
from ...estimate import Estimate, Outcome
from ...estimators import create
from ...identify.beliefs import Basis, named_beliefs, stated_by_driver
from ...identify.estimate import estimate
from ...identify.identifier import make_identifier
from ...io.files import user_path
from ...kinds import Finding, finding_of, made, sort_findings, withdraw_doubted
from ...model.history import History
from ...motion.description import read_description
from ...motion.motion import BIN, BIN_NS, Motion
from ...settings import Settings
from ..recordings import PosesAtRest, Recording, StatedPayload
from ..recordings.bags import open_recording
from ..recordings.tables import Columns, is_table, read_motion
from ..report.results import Identification, Snapshot, prediction_of

UNUSED = 1.0  # s of a recording; more than that is worth a note
HELD, EVERY = 90, 100  # bins for which a pose at rest is held; after which the next one follows
START = 170_000_000_000  # bin of the first one


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
    path = user_path(path)
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


def identify_poses(poses: PosesAtRest, settings: Settings) -> Identification:
    """The payload by the weight that a sensor read in poses at rest.

    The poses become a history that holds each for a while, so that all that is known of sensors and
    set-ups counts as for any motion.

    Raises:
        InertialIdError: a setting cannot be used.
    """
    n = len(poses.wrench)
    seconds = BIN * EVERY * (n + 1)
    settings = settings.replace({"buffer.window": seconds})
    number = START + (np.arange(n)[:, None] * EVERY + np.arange(HELD)).ravel()
    still = np.zeros((n * HELD, 3))
    history = History(seconds)
    history.append(
        Motion(number, np.repeat(poses.rotation, HELD, axis=0), still, still, still, still,
               np.empty((n * HELD, 0, 3, 3)), np.empty((n * HELD, 0, 6))),
        number * BIN_NS + BIN_NS // 2, settings.wrench.sign * np.repeat(poses.wrench, HELD, axis=0))
    beliefs = named_beliefs(settings)
    said = estimate(history.window(history.end, seconds), history.end,
                    Basis(settings, beliefs, create(settings), poses.frame))
    findings = tuple(finding_of(*given) for given in said.findings)
    outcome = withdraw_doubted(said.outcome, findings)
    return Identification(outcome, (Snapshot(0.0, outcome, findings),), findings, 0.0,
                          {"poses at rest": n}, ("each row is taken for a pose at rest, as there "
                                                 "is no time, or rows are far apart",),
                          beliefs.tool)
