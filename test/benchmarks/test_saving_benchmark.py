# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The state is whole after a kill and on a full disk; the benchmark would see where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("rclpy")
from benchmarks.faults import saving  # noqa: E402
from inertial_id_ros.identification import state as state_module  # noqa: E402


def write_in_place(path: Path, text: str) -> None:
    """As a program writes that does not care."""
    with open(path, "w") as file:
        for k in range(0, len(text), 100):
            file.write(text[k:k + 100])
            file.flush()


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_one_of_two_states() -> None:
    row = saving.kill_at_random(20, seed=1)
    assert row.broken == 0 and row.old + row.new == 20


@pytest.mark.slow
def test_a_disk_that_is_full_at_any_byte_leaves_the_state_that_is_answered() -> None:
    row = saving.tally("full", saving.small_files())
    assert row.broken == 0 and row.old > 10 and row.new >= 1


@pytest.mark.slow
def test_the_benchmark_sees_a_state_that_is_written_in_place(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_module, "write_atomically", write_in_place)
    assert saving.tally("full", saving.small_files()).broken > 5
