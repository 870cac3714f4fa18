# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`lmi`: the optimum of all rows under physical consistency."""

from __future__ import annotations

import numpy as np
import pytest
from estimator_cases import (
    BOX,
    estimator,
    hard_case,
    inside_box,
    random_case,
    stacked,
)
from problems import Rows, compress, make_rows, motion
from scipy.spatial.transform import Rotation

from inertial_id_ros.errors import InvalidShape, NotEnoughData
from inertial_id_ros.estimators.reference_body import (
    MASS,
    margin_matrix,
    reference_body,
    regularise,
    smat,
    svec,
)
from inertial_id_ros.inertia import is_consistent, phi_from_points, pseudo_inertia, transform_phi
from inertial_id_ros.model.problem import Problem


def problem_of_all_rows(rows, problem, weighting, shape):
    """Upper triangular (11, 11) ``[A | y]`` in the coordinates of a reference body: all rows,
    whitened, without the biases; and the weak prior."""
    body = reference_body(shape)
    stacks = stacked(rows, problem, weighting, 1.0 / problem.noise)
    whole = np.linalg.qr(np.vstack(stacks), mode="r")
    k = whole.shape[1] - 11
    upper = whole[k:, k:]
    data = regularise(Problem(upper[:10, :10], upper[:10, -1]), shape)
    prior = np.hstack([data.prior_rows, (data.prior_rows @ data.compact)[:, None]])
    return np.linalg.qr(np.vstack([np.hstack([upper[:, :10] @ body.to_phi, upper[:, 10:]]), prior]),
                        mode="r")


def constraints(body, shape, support, max_mass):
    """Rows (k, 10) and limits (k,) of ``rows @ x >= limits``, each of them of size one."""
    rows, limits = [], []
    if max_mass > 0.0:
        rows.append(-np.eye(10)[MASS] / max_mass)
        limits.append(-1.0)
    if support == "box":
        lower, upper = shape.bounds
        half = (upper - lower) / 2.0
        for k in range(3):
            rows += [(body.to_phi[1 + k] - lower[k] * body.to_phi[0]) / half[k],
                     (upper[k] * body.to_phi[0] - body.to_phi[1 + k]) / half[k]]
    if support == "ellipsoid":
        rows.append([np.trace(pseudo_inertia(e) @ shape.ellipsoid) for e in body.to_phi.T])
    return np.array(rows).reshape(-1, 10), np.pad(limits, (0, len(rows) - len(limits)))


def lower_bound(upper, x, margin, rows, limits):
    """A lower bound of ``|R x - t|^2`` over all bodies, by weak duality at multipliers fitted to x.

    With Z >= 0 and l >= 0 and c = margin' svec(Z) + rows' l, no body is lower than
    ``f(x) - <Z, S(x)> - l (rows x - limits) - |R^-T (gradient - c)|^2 / 4``, however Z, l arise.
    """
    matrix, target = upper[:10, :10], upper[:10, -1]
    residual = matrix @ x - target
    value = float(residual @ residual + upper[10, -1] ** 2)
    _, vectors = np.linalg.eigh(smat(margin @ x))
    slack = rows @ x - limits
    best = -np.inf
    for rank in range(5):
        basis = vectors[:, :rank]
        outer = [np.outer(basis[:, i], basis[:, j]) for i in range(rank) for j in range(i, rank)]
        for held in (slack < 1e-6 * x[MASS], slack < 1e-3 * x[MASS], slack < -np.inf):
            columns = [margin.T @ svec(m + m.T) for m in outer] + list(rows[held])
            whitened = np.linalg.solve(matrix.T, np.array(columns).reshape(-1, 10).T)
            found = np.linalg.lstsq(whitened, 2.0 * residual, rcond=None)[0]
            z = sum((c * (m + m.T) for c, m in zip(found, outer, strict=False)), np.zeros((4, 4)))
            values, axes = np.linalg.eigh(z)
            z = axes * np.maximum(values, 0.0) @ axes.T
            multipliers = np.zeros(len(rows))
            multipliers[held] = np.maximum(found[len(outer):], 0.0)
            pull = margin.T @ svec(z) + rows.T @ multipliers
            off = 2.0 * residual - np.linalg.solve(matrix.T, pull)
            best = max(best, value - svec(z) @ margin @ x - multipliers @ slack - off @ off / 4.0)
    return value, best


@pytest.mark.slow
@pytest.mark.parametrize("make", [random_case, hard_case])
def test_no_body_is_much_better_than_that_of_lmi_in_three_hundred_problems_each(make):
    """Weak duality on all rows proves it, also where constraints of shape and mass hold."""
    margin, kept, solved, active, linear = margin_matrix(1e-6), {}, 0, 0, 0
    for seed in range(300):
        rows, problem, shape = (*make(seed), BOX)[:3]
        weighting = ("noise", "dynamism")[(seed // 2) % 2]
        support = ("none", "box", "ellipsoid")[seed % 3]
        bound = (0.0, 0.5)[seed % 7 == 0]
        told = None if support == "none" and seed % 4 else shape
        key = weighting, support, bound
        if key not in kept:
            kept[key] = estimator("lmi", estimator__weighting=weighting, lmi__support=support,
                                  estimator__max_mass=bound)
        try:
            phi = kept[key].solve(problem, told).phi
        except NotEnoughData as error:
            assert "no load shows" in str(error)
            continue
        solved += 1
        assert is_consistent(phi)
        body = reference_body(told)
        x = body.from_phi @ phi
        limits = constraints(body, told, support, bound)
        assert np.all(limits[0] @ x >= limits[1] - 1e-9 * x[MASS]), seed
        assert np.linalg.eigvalsh(smat(margin @ x))[0] >= -1e-9 * x[MASS], seed
        value, least = lower_bound(problem_of_all_rows(rows, problem, weighting, told), x, margin,
                                   *limits)
        assert value <= least + 1e-6 * (1.0 + value), (seed, value, least)
        active += np.linalg.eigvalsh(smat(margin @ x))[0] < 1e-6 * x[MASS]
        linear += bool(np.any(limits[0] @ x < limits[1] + 1e-6 * x[MASS]))
    assert solved >= 290 and active >= 100 and linear >= 20, (solved, active, linear)


def test_lmi_does_not_depend_on_the_axes_of_the_sensor():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        moving = motion(rng, 200, 3.0, 1.0)
        turn = Rotation.random(random_state=rng)
        rows = make_rows(rng, inside_box(rng, 3), moving)
        turned = make_rows(rng, np.zeros(10), tuple(turn.apply(v) for v in moving), noise=0.0)
        wrench = np.hstack([turn.apply(rows.wrench[:, :3]), turn.apply(rows.wrench[:, 3:])])
        turned = Rows(turned.full, turned.static, wrench, rows.weight)
        here = estimator("lmi").solve(compress(rows), None)
        there = estimator("lmi").solve(compress(turned), None)
        want = transform_phi(here.phi, turn.as_matrix(), np.zeros(3))
        sd = np.sqrt(np.diag(np.linalg.inv(compress(turned).problems["noise"].information)))
        assert np.all(np.abs(there.phi - want) <= 1e-3 * sd + 1e-9)


def test_lmi_keeps_the_mass_where_the_shape_is():
    rng = np.random.default_rng(6)
    lower, upper = BOX.bounds
    for seed in range(20):
        rng = np.random.default_rng(seed)
        outside = phi_from_points(BOX.points[:20] + [0.0, 0.1, 0.0], np.full(20, 0.05))
        problem = compress(make_rows(rng, outside, motion(rng, 100, 1.0, 0.5)))
        got = estimator("lmi", lmi__support="box").solve(problem, BOX).phi
        com = got[1:4] / got[0]
        assert np.all(com >= lower - 1e-6) and np.all(com <= upper + 1e-6)
        got = estimator("lmi", lmi__support="ellipsoid").solve(problem, BOX).phi
        assert np.trace(pseudo_inertia(got) @ BOX.ellipsoid) >= -1e-6 * got[0]
        # which implies the centre-of-mass ellipsoid (eq. 22)
        point = np.r_[got[1:4] / got[0], 1.0]
        assert point @ BOX.ellipsoid @ point >= -1e-6
    for support in ("box", "ellipsoids"):
        with pytest.raises(InvalidShape, match=r"lmi\.support"):
            estimator("lmi", lmi__support=support).solve(problem, None)
