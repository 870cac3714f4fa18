# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a finding puts in doubt is not passed on, whichever way it is asked for."""

from string import Formatter

import pytest
from robot_graph import in_sensor

from inertial_id_ros import export as exported
from inertial_id_ros import kinds
from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.estimate import IDENTIFIED, UNOBSERVED, Estimate, NoEstimate
from inertial_id_ros.kinds import KINDS, LEVELS, Doubt, Finding, doubt_of, made, withdraw_doubted

GROUPS = {Doubt.MASS: slice(0, 1), Doubt.COM: slice(1, 4), Doubt.INERTIA: slice(4, 10)}
NEEDED = Doubt.MASS | Doubt.COM | Doubt.FRAME


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", KINDS)
def test_what_a_finding_puts_in_doubt_is_neither_valid_nor_identified(
        name: str, level: str) -> None:
    finding = Finding(name, level, "this is wrong")
    outcome = withdraw_doubted(in_sensor(), [finding])
    doubt = doubt_of(finding)
    assert doubt == (Doubt(0) if level == "info" else KINDS[name].doubt)
    if Doubt.FRAME in doubt:
        assert isinstance(outcome, NoEstimate) and outcome.reason == "this is wrong"
        return
    assert isinstance(outcome, Estimate)
    for part, members in GROUPS.items():
        assert set(outcome.verdict[members]) == {UNOBSERVED if part in doubt else IDENTIFIED}


@pytest.mark.parametrize("name", [n for n in KINDS if KINDS[n].doubt & NEEDED])
def test_a_doubt_closes_apply_and_export(name: str) -> None:
    outcome = withdraw_doubted(in_sensor(), [Finding(name, "warning", "this is wrong")])
    with pytest.raises(NotEnoughData, match="this is wrong"):
        exported.payload_of(outcome.to_json())
    if isinstance(outcome, Estimate):
        assert not (outcome.is_known("mass") and outcome.is_known("com"))
        assert exported.estimate_of(outcome.to_json()).doubted


def test_without_a_doubt_apply_and_export_are_open() -> None:
    harmless = [Finding(name, "warning", "this is noted")
                for name, kind in KINDS.items() if not kind.doubt]
    outcome = withdraw_doubted(in_sensor(), harmless)
    assert isinstance(outcome, Estimate) and set(outcome.verdict) == {IDENTIFIED}
    payload = exported.estimate_of(outcome.to_json())
    assert payload.is_known("mass") and payload.is_known("com") and not payload.doubted
    exported.payload_of(outcome.to_json())


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_has_a_remedy_and_a_sentence_that_can_be_written_from_its_numbers(name: str
                                                                                 ) -> None:
    assert KINDS[name].level in LEVELS and len(KINDS) <= 50
    assert KINDS[name].remedy or KINDS[name].level == "info"
    fields = {field for _, field, _, _ in Formatter().parse(KINDS[name].text) if field}
    finding = made(f"{name}.wrench", **{f: f if f in ("why", "where") else 1.0
                                        for f in fields - {"about"}})
    assert finding.kind == name and finding.level == KINDS[name].level
    assert "{" not in finding.text


@pytest.mark.parametrize("word", kinds.WHY)
def test_what_a_reason_says_is_made_of_its_numbers(word: str) -> None:
    """A robot that fits but roughly is no wrong one."""
    name, why = (word, "") if word.partition(".")[0] in KINDS else ("wrong_units.wrench", word)
    numbers = {field: 1.0 for _, field, _, _ in Formatter().parse(kinds.WHY[word]) if field}
    finding = made(name, {**numbers, "why": why})
    assert kinds.WHY[word].format(**numbers) in finding.text
    assert bool(doubt_of(finding)) == (word != "robot_wrong.residual")
