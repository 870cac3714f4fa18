# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings that disagree with the payload, or have no effect, are named."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import BODY, identifier, recording, texts

from inertial_id_ros.detection.consistency_checks import check_noise_model, check_residual
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.findings import FindingLog


def test_a_bound_on_the_mass_that_acts_is_named() -> None:
    for bound, said in ((1.0, True), (3.0, False)):
        made = identifier(estimator__method="density", estimator__max_mass=bound)
        recording(4.0).feed(made, 0.1)
        outcome = made.solve()
        assert isinstance(outcome, Estimate)
        assert ("mass_at_bound" in texts(made)) == said
    assert outcome.report[0] == pytest.approx(BODY.report[0], rel=1e-3)


def test_the_blend_says_that_it_does_not_know_the_alignment() -> None:
    for weighting in ("noise", "dynamism"):
        made = identifier(estimator__method="lmi", estimator__weighting=weighting)
        recording(4.0).feed(made, 0.1)
        made.solve()
        assert ("blend_without_alignment" in texts(made)) == (weighting == "dynamism")


@pytest.mark.parametrize(("ratio", "name", "level"), [
    (1.9, None, None), (2.1, "residual_large.raised", "info"), (4.9, "residual_large.raised",
                                                                "info"),
    (5.1, "residual_large", "warning")])
def test_a_residual_is_named_by_how_far_it_is_above_the_errors(
        ratio: float, name: str | None, level: str | None) -> None:
    """And in place of what was said of the one before."""
    log, noise = FindingLog(), np.array([0.1] * 3 + [0.005] * 3)
    for before in (10.0, 3.0):
        check_residual(before * noise, noise, log)
        rms = noise.copy()
        rms[4] *= ratio
        assert check_residual(rms, noise, log) == (ratio > 5.0)
        assert [(f.name, f.level) for f in log.all()] == ([(name, level)] if name else [])


@pytest.mark.parametrize(("mass", "said"), [(5e-7, False), (4e-3, False), (2e-2, True)])
def test_a_noise_model_is_doubted_only_where_the_change_matters(mass: float, said: bool) -> None:
    """Each change is far beyond its standard deviation; 0.05 kg are allowed."""
    log, change = FindingLog(), np.zeros(10)
    change[0] = mass
    allowed = np.array([0.05, *3 * [5e-3], *6 * [0.0]])
    check_noise_model(change, (0.1 * mass * np.ones(10)) ** 2, allowed, log)
    assert [f.name for f in log.all()] == ["noise_model_doubted"] * said
    assert not said or "mass by 0.02 kg" in log.all()[0].text


def test_the_parameter_that_matters_is_named() -> None:
    log, change = FindingLog(), np.zeros(10)
    change[:2], change[4] = (1e-3, 3e-3), 1.0
    check_noise_model(change, np.full(10, 1e-12), np.array([0.05, *3 * [5e-3], *6 * [0.0]]), log)
    assert "(centre of mass by 0.003 m)" in log.all()[0].text
