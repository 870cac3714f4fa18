# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a finding puts in doubt is not handed on, whichever way it is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import ROOT
from test_troubleshooting import kinds, recorded

from inertial_id_ros.apps.bag.identify_bag import _status
from inertial_id_ros.apps.report.diagnosis import FAULTS, GOOD, diagnose
from inertial_id_ros.apps.report.results import Identification, Snapshot, Trace
from inertial_id_ros.cli import OK
from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.estimate import IDENTIFIED, UNOBSERVED, Estimate, NoEstimate, Outcome
from inertial_id_ros.export.payload import payload_from_estimate
from inertial_id_ros.findings import (
    DOUBTS,
    EVERYTHING,
    HARMLESS,
    NOTHING,
    Doubt,
    Finding,
    doubt_list,
    doubt_of,
    withdraw_doubted,
)
from inertial_id_ros.identification.accuracy_goal import AccuracyGoal
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.ros.apply.gates import gates_of_payload
from inertial_id_ros.settings import Settings
from inertial_id_ros.targets.registry import load_target
from inertial_id_ros.targets.target import closed_gates, payload_of

GROUPS = {Doubt.MASS: slice(0, 1), Doubt.COM: slice(1, 4), Doubt.INERTIA: slice(4, 10)}
NAMES = sorted(recorded())
TARGET = load_target("admittance_controller")


def known_estimate() -> Estimate:
    """An estimate of which everything is identified."""
    phi = phi_from_body(1.4, np.array([0.0, 0.01, 0.1]), 0.01 * np.eye(3))
    return Estimate(
        1_000_000_000, "sensor", phi, 1e-10 * np.eye(10), np.zeros(6), "density", "noise",
        np.ones(10), (IDENTIFIED,) * 10, np.zeros(6), np.zeros(6), np.zeros(6), 100, 5.0, 10.0,
        1e-3, 0.01)


def identification(outcome: Outcome, *findings: Finding) -> Identification:
    """A run that ended with this outcome and these findings."""
    return Identification(outcome, (Snapshot(5.0, outcome, findings),), findings, 5.0, {},
                          frozenset(), Trace(), (), None, None)


def test_each_finding_is_said_to_put_something_or_nothing_in_doubt() -> None:
    assert kinds({*DOUBTS}) | HARMLESS == kinds(recorded())
    assert not DOUBTS.keys() & HARMLESS
    assert NOTHING not in DOUBTS.values()


@pytest.mark.parametrize("level", ["warning", "error"])
@pytest.mark.parametrize("name", NAMES)
def test_what_a_finding_puts_in_doubt_is_neither_valid_nor_identified(
        name: str, level: str) -> None:
    finding = Finding(name, level, "this is wrong")
    outcome = withdraw_doubted(known_estimate(), [finding])
    doubt = doubt_of(finding)
    if Doubt.FRAME in doubt:
        assert isinstance(outcome, NoEstimate) and outcome.reason == "this is wrong"
        return
    assert isinstance(outcome, Estimate)
    for part, members in GROUPS.items():
        assert set(outcome.verdict[members]) == {UNOBSERVED if part in doubt else IDENTIFIED}


@pytest.mark.parametrize("name", [
    n for n in NAMES if doubt_of(Finding(n, "error", "")) & (EVERYTHING ^ Doubt.INERTIA)])
def test_a_doubt_closes_gates_export_goal_exit_status_and_report(name: str) -> None:
    finding = Finding(name, "warning", "this is wrong")
    outcome = withdraw_doubted(known_estimate(), [finding])
    assert AccuracyGoal().describe_missing(outcome) == "this is wrong"
    assert _status(outcome) != OK
    assert diagnose(identification(outcome, finding), None, None).tone != GOOD
    with pytest.raises(NotEnoughData, match="this is wrong"):
        payload_from_estimate(outcome)
    if isinstance(outcome, Estimate):
        assert closed_gates(gates_of_payload(payload_of(outcome), Settings(), TARGET, ""))


@pytest.mark.parametrize("name", [n for n in NAMES if doubt_of(Finding(n, "error", ""))])
def test_each_doubt_has_its_own_advice_in_the_report(name: str) -> None:
    finding = Finding(name, "error", "this is wrong")
    outcome = withdraw_doubted(known_estimate(), [finding])
    found = diagnose(identification(outcome, finding), None, None)
    own = [fault.mend for fault in FAULTS if finding.is_one_of(fault.names)]
    assert own and own[0] in found.mends and found.reasons[0] == "This is wrong."


def test_without_a_doubt_all_of_these_are_open() -> None:
    harmless = [Finding(name, "warning", "this is noted") for name in sorted(HARMLESS)]
    outcome = withdraw_doubted(known_estimate(), harmless)
    assert isinstance(outcome, Estimate) and set(outcome.verdict) == {IDENTIFIED}
    assert AccuracyGoal().describe_missing(outcome) == "" and _status(outcome) == OK
    assert not closed_gates(gates_of_payload(payload_of(outcome), Settings(), TARGET, ""))
    assert diagnose(identification(outcome), None, None).tone == GOOD
    payload_from_estimate(outcome)


@pytest.mark.parametrize("name", NAMES)
def test_a_finding_for_information_puts_nothing_in_doubt(name: str) -> None:
    finding = Finding(name, "info", "this was so")
    assert doubt_of(finding) == NOTHING
    outcome = withdraw_doubted(known_estimate(), [finding])
    assert isinstance(outcome, Estimate) and set(outcome.verdict) == {IDENTIFIED}


def test_the_contract_has_the_list_of_doubts() -> None:
    assert doubt_list() in (ROOT / "docs" / "contract.md").read_text()
