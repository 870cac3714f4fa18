# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How long a cable that may be there widens the intervals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from inertial_id_ros.findings import FindingLog
from inertial_id_ros.identification.wrench import cable_watch
from inertial_id_ros.identification.wrench.cable_watch import CableWatch
from inertial_id_ros.regression.uncertainty.cable import CERTAIN, Cable, Places
from inertial_id_ros.settings import Settings

PLACES = Places(np.eye(3)[None], np.zeros((1, 3)), np.zeros(3))


def likely(problem: Any, last: Cable | None) -> Cable:
    """A cable of which there is some doubt."""
    return Cable(np.r_[0.0, 0.0, 1.0, 2.0, np.zeros(4)], PLACES, np.ones((1, 6)),
                 1e-2 * np.eye(10), np.zeros(10), np.zeros(1), np.ones(1), CERTAIN - 1.0)


def window(first: int, last: int) -> Any:
    """A window between two bins, as far as it matters here."""
    return SimpleNamespace(first=first, last=last, factors={}, cross_channel=None)


def test_a_likely_cable_is_forgotten_with_the_last_row_that_made_it_so(
        monkeypatch: pytest.MonkeyPatch) -> None:
    unexplained = 0.5  # N
    problems: Any = SimpleNamespace(
        unexplained_force=lambda window, problem: unexplained,
        cable_input=lambda window: object())
    monkeypatch.setattr(cable_watch, "find_cable", likely)
    monkeypatch.setattr(CableWatch, "_is_turned", lambda self, cable: False)
    watch, log, problem = CableWatch(problems), FindingLog(), SimpleNamespace()
    watch.configure(Settings())
    assert not watch.report(log).any()
    assert watch.search(window(0, 500), problem) is None  # type: ignore[arg-type]
    assert watch.report(log).any() and "cable" not in log
    unexplained = 0.0
    watch.search(window(400, 900), problem)  # type: ignore[arg-type]
    assert watch.report(log).any()  # some of the rows are still there
    watch.search(window(501, 1300), problem)  # type: ignore[arg-type]
    assert not watch.report(log).any()
