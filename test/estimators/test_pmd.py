# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`pmd`: the optimum over point masses of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from estimator_cases import BOX, estimator, hard_case, random_case, stacked
from problems import NOISE, compress, make_rows, motion
from reference.point_masses import least_sum_of_norms, least_sum_of_squares
from scipy.optimize import nnls

from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.estimators.reference_body import reference_body
from inertial_id_ros.inertia import is_consistent, phi_from_points, point_columns
from inertial_id_ros.settings.groups import PmdSettings

REFEREE = {"norm": least_sum_of_norms, "squared": least_sum_of_squares}


@pytest.mark.slow
@pytest.mark.parametrize("make", [random_case, hard_case])
@pytest.mark.parametrize("form", ["norm", "squared"])
def test_pmd_reaches_the_optimum_of_all_rows(form, make, monkeypatch):
    """That of active sets on all rows, which prove it from below; 150 problems each."""
    kept, gaps = {}, []
    monkeypatch.setattr(PmdSettings, "points", 24)
    for seed in range(150):
        rows, problem, shape = (*make(seed), BOX)[:3]
        weighting = ("noise", "dynamism")[(seed // 2) % 2]
        weight = (0.1, 1.0, 1e-2)[seed % 3]
        key = weighting, weight
        if key not in kept:
            kept[key] = estimator("pmd", pmd__form=form, estimator__weighting=weighting)
        monkeypatch.setattr(PmdSettings, "regularization", weight)
        try:
            got = kept[key].solve(problem, shape)
        except NotEnoughData as error:
            assert "no load shows" in str(error)
            continue
        assert is_consistent(got.phi)
        columns = point_columns(shape.spread(24))
        unit = np.mean(problem.noise[:3]) / problem.noise
        stacks = stacked(rows, problem, weighting, unit)
        best = REFEREE[form](stacks, columns, weight)
        body = reference_body(shape)
        want = body.make_consistent(columns @ best.masses)
        value, wanted = (objective_of(phi, stacks, columns, weight, form, body)
                         for phi in (got.phi, want))
        # A body of few points gets a millionth of its mass elsewhere, which a precise sensor sees.
        gaps.append((value - best.bound - max(wanted - best.objective, 0.0)) / value)
        assert gaps[-1] <= 1e-6, (seed, value, wanted, best.objective, best.bound)
        information = problem.problems[weighting].matrix
        off = np.linalg.norm(information @ (got.phi - want)) / np.linalg.norm(information @ want)
        assert off <= 1e-4, (seed, off)
    assert len(gaps) >= 140 and np.median(gaps) < 1e-8


def objective_of(phi, stacks, columns, weight, form, body):
    """Objective at phi (10,) on all rows, least over the biases and the masses that make phi."""
    strong, count = 1e5, stacks[0].shape[1] - 11
    masses, _ = nnls(np.vstack([strong * body.from_phi @ columns, np.eye(columns.shape[1])]),
                     np.r_[strong * body.from_phi @ phi, np.zeros(columns.shape[1])])
    power = 1 if form == "norm" else 2
    sizes, rest = np.ones(len(stacks)), [s[:, -1] - s[:, count:-1] @ phi for s in stacks]
    for _ in range(200 if count else 1):  # reweighted least squares
        scaled = [s[:, :count] / np.sqrt(z) for s, z in zip(stacks, sizes, strict=True)]
        bias = np.linalg.lstsq(np.vstack(scaled), np.concatenate(
            [r / np.sqrt(z) for r, z in zip(rest, sizes, strict=True)]), rcond=None)[0]
        norms = [np.linalg.norm(r - s[:, :count] @ bias)
                 for r, s in zip(rest, stacks, strict=True)]
        sizes = np.maximum(norms, 1e-12) if form == "norm" else sizes
    return sum(n ** power for n in norms) + weight * np.linalg.norm(masses) ** power


def test_pmd_with_a_single_active_point_still_has_extent(monkeypatch):
    rng = np.random.default_rng(9)
    corner = BOX.spread(8)[3]
    rows = make_rows(rng, phi_from_points(corner[None], [0.8]), motion(rng, 200, 5.0, 2.0),
                     noise=NOISE * 1e-3)
    monkeypatch.setattr(PmdSettings, "regularization", 1e-4)
    monkeypatch.setattr(PmdSettings, "points", 8)
    got = estimator("pmd").solve(compress(rows), BOX)
    assert is_consistent(got.phi)
    np.testing.assert_allclose(got.phi[:4], phi_from_points(corner[None], [0.8])[:4], rtol=1e-3)
