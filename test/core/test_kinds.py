# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The table of findings: one sentence each, from numbers."""

from string import Formatter

import pytest

from inertial_id_ros.findings import LEVELS, NOTHING
from inertial_id_ros.kinds import KINDS, doubt_of, finding_of, made


def test_there_are_few_kinds_and_each_has_a_remedy() -> None:
    assert len(KINDS) <= 50
    assert all(kind.level in LEVELS and kind.remedy for kind in KINDS.values())


@pytest.mark.parametrize("name", KINDS)
def test_each_sentence_can_be_written_from_its_numbers(name: str) -> None:
    fields = {field for _, field, _, _ in Formatter().parse(KINDS[name].text) if field}
    finding = made(f"{name}.wrench", **{f: f if f in ("why", "where") else 1.0
                                        for f in fields - {"about"}})
    assert finding.kind == name and finding.level == KINDS[name].level
    assert "{" not in finding.text


def test_a_robot_that_fits_but_roughly_is_no_wrong_one() -> None:
    finding = finding_of("robot_wrong.residual", {"why": " exactly"})
    assert finding.kind == "robot_wrong" and doubt_of(finding) == NOTHING
