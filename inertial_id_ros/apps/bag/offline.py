# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a recording as the node would have done it, or from poses at rest."""

from collections.abc import Sequence
from pathlib import Path

from scipy.spatial.transform import Rotation

from ...estimate import Estimate, Outcome
from ...identify.beliefs import Basis, named_beliefs
from ...identify.identifier import BATCH, Identifier
from ...identify.rests import estimate_at_rest
from ...io.inputs import Edges, Wrenches, split_by_time
from ...kinds import Finding, made, sort_findings, withdraw_doubted
from ...motion.robot import read_description
from ...settings import Settings
from ..recordings import Recording, StatedPayload, bags, tables
from ..report.results import Identification, Snapshot, prediction_at_rest, prediction_of

UNUSED = 1.0  # s of a recording; more than that is worth a note


def identify_recording(path: Path, settings: Settings, columns: tables.Columns | None = None,
                       recorded_stamps: bool = False) -> Identification:
    """Identify the payload of a bag, perhaps by the times of recording, or of a table with its
    columns (raises RecordingError, InvalidData: it cannot be read, or lacks something;
    InertialIdError: a setting, or what it names, cannot be used)."""
    recording = tables.read_motion(path, columns or tables.Columns(), settings) if (
        tables.is_table(path)) else bags.read_bag(path, settings, recorded_stamps)
    return (_identify_rests if recording.rests else _identify)(recording, settings)


def _identify_rests(recording: Recording, settings: Settings) -> Identification:
    """What poses at rest tell (raises InertialIdError)."""
    (poses,), (load,) = recording.of_kind(Edges), recording.of_kind(Wrenches)
    turn, sign = Rotation.from_quat(poses.rows[:, 3:]).as_matrix(), settings.wrench.sign
    basis = Basis(settings, named_beliefs(settings), load.frame_id)
    said = estimate_at_rest(int(load.stamps[0]), turn, sign * load.rows, basis)
    findings = sort_findings(made(*given) for given in said.findings)
    outcome, tool = withdraw_doubted(said.outcome, findings), basis.beliefs.tool
    notes = recording.notes
    if settings.buffer.window != Settings().buffer.window:
        notes += ("buffer.window (--window) is not used: poses have no time, all count",)
    return Identification(outcome, (Snapshot(0.0, outcome, findings),), findings,
                          recording.duration, recording.counts, notes, tool,
                          prediction_at_rest(outcome, tool, turn, load.rows, sign))


def _identify(recording: Recording, settings: Settings) -> Identification:
    """What one pass over a recording finds (raises InertialIdError)."""
    identifier = Identifier(settings)
    history, origin = list[Snapshot](), 0  # stamp of the start [ns]

    def found() -> tuple[Finding, ...]:
        return sort_findings((*recording.findings, *identifier.findings()))

    def keep(outcomes: Sequence[Outcome]) -> None:
        findings = found() if outcomes else ()
        history.extend(Snapshot(max(1e-9 * (outcome.stamp_ns - origin), 0.0),
                                withdraw_doubted(outcome, findings), findings)
                       for outcome in outcomes)

    file = settings.robot_description.file
    if described := read_description(Path(file).expanduser()) if file else recording.description:
        identifier.set_robot_description(described)
    for edge in recording.fixed:
        pose = edge.rows[-1].tolist()
        identifier.add_static_transform(edge.parent, edge.child, pose[:3], pose[3:])
    for part in recording.parts:
        samples = [some for some in part if not isinstance(some, StatedPayload)]
        origin = origin or min((int(some.stamps[0]) for some in samples), default=0)
        for some in part:
            if isinstance(some, StatedPayload):
                identifier.by_driver = some
        for batch in split_by_time(samples, BATCH):
            keep(identifier.add_arrays(batch))
    keep(identifier.finish())
    findings, outcomes = found(), [item.outcome for item in history]
    outcome = outcomes[-1] if outcomes else withdraw_doubted(identifier.outcome, findings)
    window, notes = settings.buffer.window, recording.notes
    if isinstance(outcome, Estimate) and window < recording.duration - UNUSED:
        notes += (f"only the last {window:g} s of {recording.duration:.0f} s are used (--window)",)
    return Identification(
        outcome, tuple(history), findings, recording.duration, recording.counts, notes,
        identifier.beliefs.tool, prediction_of(identifier, outcomes, origin))
