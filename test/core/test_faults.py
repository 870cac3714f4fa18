# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Faults of the inputs of a moving arm: named in time, never fresh and wrong."""

from __future__ import annotations

import pytest

from benchmarks.referee import faults, runs

# The fault that each checks: samples, clocks, motion, what is carried, set-up.
NAMES = ("motion missing", "clock jumps back", "sensor saturated", "second wrench, zeros",
         "joints frozen for 5 s", "joints stamped behind", "contact", "payload changed",
         "sensor zeroed", "wrong sign")
LATEST, WRONG = 1.0, 1.0  # s


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_fault_is_named_in_time_and_no_new_estimate_is_wrong(name: str) -> None:
    found = runs.fault(name, 3)
    assert found["wrong_s"] <= WRONG
    assert found["named_s"] <= LATEST + (2.0 if faults.FAULTS[name].setup else 0.0)
