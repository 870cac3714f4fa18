# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`pmd`: the optimum over point masses of all rows, by active sets that prove it from below."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from problems import BOX, estimator, hard_case, random_case, stacked
from scipy.optimize import nnls

from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.estimators import pmd
from inertial_id_ros.estimators.reference_body import reference_body
from inertial_id_ros.inertia import Array, is_consistent, point_columns

ROUNDS, GAP = 300, 1e-9


class Optimum(NamedTuple):
    """Masses (n,), biases (k,), the objective there, and a lower bound of it anywhere."""

    masses: Array
    bias: Array
    objective: float
    bound: float


def least_sum_of_squares(stacks: list[Array], columns: Array, weight: float) -> Optimum:
    """``min sum_i |F_i [b; P m; -1]|^2 + weight |m|^2,  m >= 0``; args as below."""
    masses, point = _reweighted(stacks, columns, [1.0] * len(stacks), weight)
    value = sum(float(np.sum((f @ point) ** 2)) for f in stacks) + weight * float(masses @ masses)
    return Optimum(masses, point[:-11], value, value)


def least_sum_of_norms(stacks: list[Array], columns: Array, weight: float) -> Optimum:
    """``min sum_i |F_i [b; P m; -1]| + weight |m|,  m >= 0``.

    Args:
        stacks: F_i (rows, k + 11), columns ``[B (k) | A (10) | y]``; columns: P (10, n).
    """
    norms = [float(np.linalg.norm(f[:, -1])) for f in stacks]
    norms = [max(t, 1e-3 * sum(norms)) for t in norms]
    size, best = 1.0, Optimum(np.empty(0), np.empty(0), np.inf, -np.inf)
    for _ in range(ROUNDS):
        masses, point = _reweighted(stacks, columns, norms, weight / size)
        residuals = [f @ point for f in stacks]
        found = [float(np.linalg.norm(r)) + 1e-300 for r in residuals]
        found_size = float(np.linalg.norm(masses))
        shrink = min(1.0, size / found_size, *(t / f for t, f in zip(norms, found, strict=True)))
        bound = shrink * sum(float(-r @ f[:, -1]) / t
                             for r, f, t in zip(residuals, stacks, norms, strict=True))
        value = sum(found) + weight * found_size
        if value < best.objective:
            best = Optimum(masses, point[:-11], value, best.bound)
        best = best._replace(bound=max(bound, best.bound))
        if best.objective - best.bound <= GAP * best.objective:
            break
        norms, size = [max(f, 1e-9 * value) for f in found], found_size
    return best


def _reweighted(stacks: list[Array], columns: Array, norms: list[float],
                weight: float) -> tuple[Array, Array]:
    """Masses (n,) and point [b; P m; -1] that minimise ``sum |F_i ...|^2 / t_i + weight |m|^2``."""
    upper = np.linalg.qr(np.concatenate([f / np.sqrt(t) for f, t in zip(stacks, norms,
                                                                        strict=True)]), mode="r")
    k, n = upper.shape[1] - 11, columns.shape[1]
    masses, _ = nnls(np.concatenate([upper[k:k + 10, k:-1] @ columns, np.sqrt(weight) * np.eye(n)]),
                     np.concatenate([upper[k:k + 10, -1], np.zeros(n)]), maxiter=100 * n)
    bias = np.linalg.solve(upper[:k, :k], upper[:k, -1] - upper[:k, k:-1] @ (columns @ masses))
    return masses, np.concatenate([bias, columns @ masses, [-1.0]])


REFEREE = {"norm": least_sum_of_norms, "squared": least_sum_of_squares}


@pytest.mark.slow
@pytest.mark.parametrize("make", [random_case, hard_case])
@pytest.mark.parametrize("form", ["norm", "squared"])
def test_pmd_reaches_the_optimum_of_all_rows(form, make, monkeypatch):
    """That of active sets on all rows, which prove it from below; 50 problems each."""
    kept, gaps = {}, []
    monkeypatch.setattr(pmd, "POINTS", 24)
    for seed in range(50):
        rows, problem, shape = (*make(seed), BOX)[:3]
        weighting = ("noise", "dynamism")[(seed // 2) % 2]
        weight = (0.1, 1.0, 1e-2)[seed % 3]
        key = weighting, weight
        if key not in kept:
            kept[key] = estimator("pmd", pmd__form=form, estimator__weighting=weighting)
        monkeypatch.setattr(pmd, "LAMBDA", weight)
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
    assert len(gaps) >= 46 and np.median(gaps) < 1e-8


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
