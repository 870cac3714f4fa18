# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The robot benchmark on small cases: free robots."""

from __future__ import annotations

import pytest

from benchmarks.robot import __main__ as command_line
from benchmarks.robot import humanoid

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(3))
def test_a_free_robot_is_identified_from_its_base_rows(seed: int) -> None:
    """Links that exist cost less than 5 % of force residual (Ayusawa and Nakamura 2010: 40 %)."""
    found = humanoid.run(seed, joints=12, samples=400)
    assert found.links == 13
    assert found.consistent == found.links and 1.0 <= found.residual < 1.05


def test_tables_that_do_not_exist_are_named(monkeypatch: pytest.MonkeyPatch,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["robot", "dog"])
    assert command_line.main() == 2
    assert capsys.readouterr().err.startswith("error: there is no table 'dog'; there are: ")
