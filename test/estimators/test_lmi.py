# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`lmi` and `manifold`: the optimum over bodies on all rows, proved by duality; with
``lmi.support: ellipsoids`` all mass in a union of ellipsoids (Wensing et al. 2017, Corollary 2),
against point masses that fill it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from problems import (
    BOX,
    Data,
    compress,
    create,
    estimator,
    hard_case,
    make_rows,
    motion,
    poses,
    random_case,
    random_phi,
    stacked,
)
from scipy.optimize import nnls

from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.estimators.reference_body import (
    MARGIN,
    MASS,
    WEAK_PRIOR_SD,
    reference_body,
    regularise,
    smat,
    svec,
)
from inertial_id_ros.geometry.shape import Shape, join_shapes, shape_from_primitive
from inertial_id_ros.inertia import Array, is_consistent, point_columns, pseudo_inertia
from inertial_id_ros.model.problem import Problem
from inertial_id_ros.settings import Settings


def problem_of_all_rows(rows, problem, weighting, shape):
    """Upper triangular (11, 11) ``[A | y]`` in the coordinates of a reference body: all rows,
    whitened, without the biases; and the weak prior."""
    body = reference_body(shape)
    stacks = stacked(rows, problem, weighting, 1.0 / problem.noise)
    whole = np.linalg.qr(np.vstack(stacks), mode="r")
    k = whole.shape[1] - 11
    upper = whole[k:, k:]
    data = regularise(Problem(upper[:10, :10], upper[:10, -1]), shape)
    prior = np.hstack([np.eye(10), data.compact[:, None]])[:MASS] / (
        WEAK_PRIOR_SD * data.mass_scale)
    return np.linalg.qr(np.vstack([np.hstack([upper[:, :10] @ body.to_phi, upper[:, 10:]]), prior]),
                        mode="r")


def constraints(body, shape, support):
    """Rows (k, 10) of ``rows @ x >= 0``, each of them of size one."""
    rows = []
    if support == "box":
        lower, upper = shape.bounds
        half = (upper - lower) / 2.0
        for k in range(3):
            rows += [(body.to_phi[1 + k] - lower[k] * body.to_phi[0]) / half[k],
                     (upper[k] * body.to_phi[0] - body.to_phi[1 + k]) / half[k]]
    if support == "ellipsoid":
        rows.append([np.trace(pseudo_inertia(e) @ shape.ellipsoid) for e in body.to_phi.T])
    return np.array(rows).reshape(-1, 10)


def lower_bound(upper, x, rows):
    """A lower bound of ``|R x - t|^2`` over all bodies, by weak duality at multipliers fitted to x.

    With Z >= 0 and l >= 0 and c = margin' svec(Z) + rows' l, no body is lower than
    ``f(x) - <Z, S(x)> - l rows x - |R^-T (gradient - c)|^2 / 4``, however Z, l arise.
    """
    margin = MARGIN
    matrix, target = upper[:10, :10], upper[:10, -1]
    residual = matrix @ x - target
    value = float(residual @ residual + upper[10, -1] ** 2)
    _, vectors = np.linalg.eigh(smat(margin @ x))
    slack = rows @ x
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
def test_no_body_is_much_better_than_that_of_lmi_in_a_hundred_problems_each(make):
    """Weak duality on all rows proves it, also where constraints of the shape hold."""
    kept, solved, active, linear = {}, 0, 0, 0
    for seed in range(100):
        rows, problem, shape = (*make(seed), BOX)[:3]
        weighting = ("noise", "dynamism")[(seed // 2) % 2]
        support = ("none", "box", "ellipsoid")[seed % 3]
        told = None if support == "none" and seed % 4 else shape
        key = weighting, support
        if key not in kept:
            kept[key] = estimator("lmi", estimator__weighting=weighting, lmi__support=support)
        try:
            phi = kept[key].solve(problem, told).phi
        except NotEnoughData as error:
            assert "no load shows" in str(error)
            continue
        solved += 1
        assert is_consistent(phi)
        body = reference_body(told)
        x = body.from_phi @ phi
        limits, margin = constraints(body, told, support), smat(MARGIN @ x)
        assert np.all(limits @ x >= -1e-9 * x[MASS]), seed
        assert np.linalg.eigvalsh(margin)[0] >= -1e-9 * x[MASS], seed
        value, least = lower_bound(problem_of_all_rows(rows, problem, weighting, told), x, limits)
        assert value <= least + 1e-6 * (1.0 + value), (seed, value, least)
        active += np.linalg.eigvalsh(margin)[0] < 1e-6 * x[MASS]
        linear += bool(np.any(limits @ x < 1e-6 * x[MASS]))
    assert solved >= 96 and active >= 33 and linear >= 6, (solved, active, linear)


PARTS = {"sphere": ([0.05], [-0.1, 0.0, 0.1]), "box": ([0.04, 0.1, 0.06], [0.08, 0.02, 0.1])}


def at(center: list[float]) -> Array:
    """The transform (4, 4) to a place without turning."""
    pose = np.eye(4)
    pose[:3, 3] = center
    return pose


def parts() -> list[Shape]:
    return [shape_from_primitive(kind, size, at(center))
            for kind, (size, center) in PARTS.items()]


def points_of(form: Array, count: int, rng: np.random.Generator) -> Array:
    """Points (2 count, 3) on and in an ellipsoid ``[x; 1]' Q [x; 1] >= 0``."""
    center = np.linalg.solve(-form[:3, :3], form[:3, 3])
    size = form[3, 3] - center @ form[:3, :3] @ center
    root = np.linalg.cholesky(np.linalg.inv(-form[:3, :3]) * size)
    ball = rng.normal(size=(count, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    return np.concatenate([ball @ root.T, 0.5 * ball @ root.T]) + center


def bodies(count: int) -> list[tuple[np.random.Generator, Array]]:
    """Three point masses, part of them outside of both ellipsoids, and the generator of each."""
    out = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        place = rng.uniform(-0.15, 0.15, (3, 3)) + [0.0, 0.0, 0.1]
        out.append((rng, point_columns(place) @ np.full(3, 0.4)))
    return out


@pytest.mark.slow
def test_the_optimum_is_that_of_point_masses_that_fill_the_union() -> None:
    """From inside: point masses never fit better, and the more they are the nearer they come. One
    ellipsoid alone fits worse."""
    shape = join_shapes(parts())
    for rng, phi in bodies(3):
        marginal = (problem := compress(make_rows(rng, phi, motion(rng, 300)))).problems["noise"]

        def misfit(found: Array, marginal=marginal) -> float:
            return float(np.linalg.norm(marginal.matrix @ found - marginal.target))

        found = estimator("lmi", lmi__support="ellipsoids").solve(problem, shape).phi
        assert is_consistent(found)
        excess = []
        for count in (50, 500, 5000):
            columns = point_columns(np.concatenate([points_of(form, count, rng)
                                                    for form in shape.ellipsoids]))
            best = nnls(marginal.matrix @ columns, marginal.target, maxiter=20_000)[1]
            excess.append(best / misfit(found) - 1.0)
        assert -1e-4 < excess[2] < 5e-3 and excess[2] < excess[0]
        for one in parts():
            alone = estimator("lmi", lmi__support="ellipsoids").solve(problem, one).phi
            assert misfit(alone) >= misfit(found) * (1.0 - 1e-6)


def varied(rng: np.random.Generator) -> Data:
    """A recording of one to eight point masses: slow or fast, short or long, still or turning."""
    phi = random_phi(rng, points=int(rng.integers(1, 9)), size=10.0 ** rng.uniform(-2.0, -0.5),
                     offset=rng.uniform(0.0, 0.2))
    if rng.random() < 0.1:
        moving = poses(rng, int(rng.integers(1, 6)))
    else:
        moving = motion(rng, int(rng.integers(20, 400)), rng.uniform(0.5, 5.0),
                        10.0 ** rng.uniform(-1.0, 0.5))
    noise = np.repeat([0.1, 0.005], 3) * 10.0 ** rng.uniform(-1.0, 0.5)
    return compress(make_rows(rng, phi, moving, noise))


def active(rng: np.random.Generator, count: int) -> Iterator[Data]:
    """Problems whose unconstrained optimum is no body."""
    wls = create(Settings(), "wls")
    while count:
        problem = varied(rng)
        if not is_consistent(wls.solve(problem, None).phi):
            count -= 1
            yield problem


def sum_of_squares(marginal: Problem, phi: np.ndarray) -> float:
    """What both estimators minimise: the data, and the weak prior that fills what they leave."""
    data = regularise(marginal, None)
    x = reference_body(None).from_phi @ phi
    return float(np.sum((data.matrix @ x - data.target) ** 2)) + marginal.residual ** 2


@pytest.mark.slow
def test_reaches_the_lmi_optimum_where_the_constraint_is_active(rng: np.random.Generator) -> None:
    """On 60 problems the objective is at most 1e-6 (relative) above the one that `lmi` finds."""
    lmi, manifold = create(Settings(), "lmi"), create(Settings(), "manifold")
    for problem in active(rng, 60):
        marginal = problem.problems["noise"]
        wanted = sum_of_squares(marginal, lmi.solve(problem, None).phi)
        found = manifold.solve(problem, None).phi
        assert sum_of_squares(marginal, found) <= wanted * (1.0 + 1e-6)
        # Not below the optimum either: that would mean less than the margin.
        least = np.linalg.eigvalsh(smat(reference_body(None).from_phi @ found))[0]
        assert least >= 0.99e-6 * found[0]
