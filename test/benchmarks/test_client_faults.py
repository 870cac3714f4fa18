# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The campaign against the client sees what must not be handed out."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("inertial_id_ros.msg")
from benchmarks.faults.clients import Count, is_possible  # noqa: E402
from benchmarks.faults.stand_in import LIES, mass_of, message, sampled_at, tell_lie  # noqa: E402
from inertial_id_ros.ros.payload_client import why_unusable  # noqa: E402


def test_a_payload_that_is_too_old_is_counted_with_its_excess() -> None:
    mass = mass_of(12345.25)
    assert sampled_at(mass) == pytest.approx(12345.25, abs=1e-6)
    count = Count().with_payload(mass, True, 12346.2, 1.0)
    assert (count.payloads, count.too_old) == (1, 0)
    count = count.with_payload(mass, True, 12347.25, 1.0)
    assert (count.payloads, count.too_old, count.impossible) == (2, 1, 0)
    assert count.worst == pytest.approx(1.0, abs=1e-5)
    assert (count + count).payloads == 4 and (count + count).worst == count.worst


@pytest.mark.parametrize("lie", LIES)
def test_each_lie_about_fields_makes_a_message_that_must_not_be_used(lie: str) -> None:
    """Those about what messages follow each other leave the single one as it is."""
    m = message(7, 100.0, 0.05)
    assert why_unusable(m, "inertia") == ""
    tell_lie(m, lie, np.random.default_rng(1))
    in_time = ("number stands", "numbers jump about", "held sample called new", "silent")
    assert (why_unusable(m, "inertia") == "") == (lie in in_time)


def test_impossible_bodies_are_told_from_possible_ones() -> None:
    good, spread = np.diag([0.01, 0.02, 0.025]), np.eye(10)
    assert is_possible(1.0, good, spread)
    assert not is_possible(float("nan"), good, spread)
    assert not is_possible(-1.0, good, spread)
    assert not is_possible(1.0, np.diag([0.01, 0.01, 0.03]), spread)
    assert not is_possible(1.0, good, -spread)
