# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A body that was weighed tells wrong units and gains, which wrench and motion cannot."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import BODY, NOISE, Recording, identifier, recording, texts

from inertial_id_ros.estimate import Estimate

NAME = "reference_contradicted"


def scaled(factor: float) -> Recording:
    """Wrenches of another unit."""
    def change(stamp: int, frame: str, force: list[float],
               torque: list[float]) -> tuple[int, str, list[float], list[float]]:
        return stamp, frame, [factor * x for x in force], [factor * x for x in torque]
    return recording(6.0, noise=NOISE, rng=np.random.default_rng(3)).changed("add_wrench", change)


@pytest.mark.parametrize(("factor", "words"), [
    (1.0 / 9.81, "as with forces in kgf"), (0.8, "times as much; the units")])
def test_wrong_units_gain_or_sign_contradict_a_weighed_body(factor: float, words: str) -> None:
    made = identifier(load__reference_mass=float(BODY.masses.sum()), wrench__gain_error=0.0)
    scaled(factor).feed(made)
    outcome = made.solve()
    assert not outcome.valid and words in texts(made)[NAME] and words in outcome.reason


def test_a_body_that_was_weighed_right_needs_no_word() -> None:
    made = identifier(load__reference_mass=float(BODY.masses.sum()))
    scaled(1.0).feed(made)
    assert isinstance(made.solve(), Estimate) and NAME not in texts(made)


def test_without_a_weighed_body_nothing_is_compared() -> None:
    made = identifier()
    scaled(1.0 / 9.81).feed(made)
    assert isinstance(made.solve(), Estimate) and NAME not in texts(made)
