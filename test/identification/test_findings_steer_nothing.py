# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Findings are words for people: with other names for all of them, every estimate is the same."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from disturbed import OTHER, between, clean, identify, pushed, scraping, two
from synthetic import BODY, SECOND, START, Recording

from inertial_id_ros import findings
from inertial_id_ros.estimate import Estimate, Outcome
from inertial_id_ros.findings import Finding

OPPOSITE = -np.eye(3)
TURNED = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def read_as(samples: Recording, axes: np.ndarray) -> Recording:
    """The same, read along other axes."""
    return samples.changed("add_wrench", lambda stamp, frame, force, torque: (
        stamp, frame, (axes @ force).tolist(), (axes @ torque).tolist()))


def later(samples: Recording, by: float) -> Recording:
    """The same, with stamps of the wrench that are late by so much [s]."""
    return samples.changed("add_wrench", lambda stamp, *rest: (stamp + int(by * SECOND), *rest))


SCENARIOS: dict[str, Callable[[], Recording]] = {
    "contact": lambda: pushed(clean(10.0, "fast"), between(4.0, 7.0, scraping)),
    "clocks differ": lambda: later(clean(8.0, "fast"), 0.3),
    "wrong sign": lambda: read_as(clean(6.0, "fast"), OPPOSITE),
    "wrong axes": lambda: read_as(clean(9.0, "fast"), TURNED),
    "another payload": lambda: two(BODY, OTHER, 4.0),
    "another zero": lambda: pushed(clean(9.0, "fast"), between(4.0, 9.0, np.full(6, 3.0))),
}


def outcomes(samples: Recording) -> list[Outcome]:
    """What the identifier says twice a second; solves on the way as the node does."""
    made, due, said = identify(), START + SECOND // 2, list[Outcome]()
    for stamp, method, arguments in samples.messages:
        getattr(made, method)(*arguments)
        if stamp >= due:
            made.advance()
            said.append(made.solve())
            due += SECOND // 2
    made.finish()
    return [*said, made.solve()]


def digits(outcome: Outcome) -> tuple[Any, ...]:
    """All of an outcome but the time that it took, to the last digit."""
    if not isinstance(outcome, Estimate):
        return outcome.stamp_ns, outcome.reason, outcome.findings
    return (outcome.stamp_ns, outcome.stale, outcome.phi.tobytes(), outcome.verdict,
            outcome.phi_covariance.tobytes(), outcome.bias.tobytes(), outcome.alignment.tobytes(),
            outcome.samples, sorted(outcome.findings))


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_other_names_change_no_digit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = SCENARIOS[name]()
    before = [digits(outcome) for outcome in outcomes(samples)]
    monkeypatch.setattr(findings, "Finding", lambda name, level, text: Finding(
        f"other_{name}", level, text))
    monkeypatch.setattr(findings, "DOUBTS", {f"other_{n}": d for n, d in findings.DOUBTS.items()})
    assert [digits(outcome) for outcome in outcomes(samples)] == before
    assert len(before) > 8


def test_no_stage_can_ask_the_log_for_a_name() -> None:
    """Nothing but setting and clearing is there, and what lies below the node compares no name."""
    public = {name for name in vars(findings.FindingLog) if not name.startswith("_")}
    assert public == {"set", "set_or_clear", "count", "lower", "error", "clear", "clear_all", "all"}
    assert not hasattr(findings.FindingLog, "__contains__")
    for room in ("detection", "identification", "kinematics", "regression", "signals"):
        for file in (ROOT / "inertial_id_ros" / room).rglob("*.py"):
            for loop in ast.walk(ast.parse(file.read_text())):
                if isinstance(loop, ast.comprehension) and "findings" in ast.unparse(loop.iter):
                    names = {n.attr for n in ast.walk(loop) if isinstance(n, ast.Attribute)}
                    assert "name" not in names, f"{file}: {ast.unparse(loop.iter)}"
