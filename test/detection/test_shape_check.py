# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A shape that cannot hold what was measured is named at any size, and does not decide."""

from __future__ import annotations

import re

import numpy as np
import pytest
from old_problems import compress
from problems import box, make_rows, motion
from synthetic import BODY, identifier, recording, texts

from inertial_id_ros.detection.shape_check import COM_FINDING, INERTIA_FINDING, check_shape
from inertial_id_ros.errors import InvalidShape
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.estimators import create
from inertial_id_ros.findings import FindingLog
from inertial_id_ros.geometry.shape import Shape
from inertial_id_ros.identification.estimator_problem import solve_for
from inertial_id_ros.inertia import Array, phi_from_body, point_columns
from inertial_id_ros.regression.problem import Marginal
from inertial_id_ros.settings import Settings

SIZE = (0.2, 0.1, 0.1)


def _data(com: Array | list[float], seconds: float = 3.0) -> Marginal:
    rng = np.random.default_rng(0)
    phi = phi_from_body(1.0, np.asarray(com), 1e-3 * np.eye(3))
    rows = make_rows(rng, phi, motion(rng, int(100 * seconds), seconds, 1.0))
    return compress(rows).marginal("noise")


def _check(com: list[float], shape: Shape | None, method: str = "density",
           seconds: float = 3.0) -> tuple[Shape | None, dict[str, str]]:
    log = FindingLog()
    used = check_shape(shape, Settings().shape, _data(com, seconds), create(Settings(), method),
                       log)
    return used, {f.name: f.text for f in log.all()}


@pytest.mark.parametrize("com", [[0.0, 0.0, 0.1], [0.09, 0.04, 0.14], [0.0, 0.0, 0.1499]])
def test_inside_the_shape_nothing_is_said(com: list[float]) -> None:
    """The box reaches to z = 0.15."""
    shape = box(SIZE, (0.0, 0.0, 0.1))
    used, said = _check(com, shape, seconds=40.0)
    assert used is shape and not said


@pytest.mark.parametrize(("com", "distance"), [
    ([0.0, 0.0, 0.21], 0.06), ([-0.13, 0.02, 0.1], 0.03), ([0.0, 0.056, 0.1], 0.006),
    ([0.0, 0.0, 0.151], 0.001)])
def test_a_centre_of_mass_outside_is_named_at_any_size(com: list[float], distance: float) -> None:
    """Where it is so far outside that the shape says nothing about the object, it is not used."""
    shape = box(SIZE, (0.0, 0.0, 0.1))
    used, said = _check(com, shape, seconds=40.0)
    assert used is (None if distance > 0.05 else shape)
    found = re.search(r"lies (\S+) mm outside of the shape 'box'", said[COM_FINDING])
    assert found and float(found[1]) == pytest.approx(1e3 * distance, abs=0.2)
    assert "correct its size or its pose" in said[COM_FINDING]
    assert ("is not used" if used is None else "follows the data") in said[COM_FINDING]


def test_a_shape_called_exact_is_not_used_when_it_is_contradicted() -> None:
    exact = Settings().replace({"shape.error": 0.0})
    log, shape = FindingLog(), box(SIZE, (0.0, 0.0, 0.1))
    data = _data([0.0, 0.0, 0.152], 40.0)
    assert check_shape(shape, exact.shape, data, create(exact, "density"), log) is None
    assert "is not used" in {f.name: f.text for f in log.all()}[COM_FINDING]


def test_an_estimator_that_needs_the_shape_refuses() -> None:
    with pytest.raises(InvalidShape, match=r"centre of mass \[0\.\d+, .*outside of the shape"):
        _check([0.0, 0.0, 0.21], box(SIZE, (0.0, 0.0, 0.1)), "entropic")


CONFINED = [{"estimator.method": "pmd", "pmd.points": 136},
            {"estimator.method": "lmi", "lmi.support": "box"}]


@pytest.mark.parametrize("changes", CONFINED)
@pytest.mark.parametrize("outside", [0.001, 0.005, 0.01, 0.03])
def test_a_region_that_holds_all_mass_is_moved_until_it_can(changes: dict[str, object],
                                                          outside: float) -> None:
    truth = phi_from_body(1.0, np.array([0.0, 0.0, 0.15 + outside]), 1e-3 * np.eye(3))
    rng = np.random.default_rng(1)
    problem = compress(make_rows(rng, truth, motion(rng, 4000, 40.0, 1.0)))
    settings, told = Settings().replace(changes), box(SIZE, (0.0, 0.0, 0.1))
    estimator, log = create(settings), FindingLog()
    used = check_shape(told, settings.shape, problem.marginal("noise"), estimator, log)
    assert used is not None and used is not told
    assert used is check_shape(told, settings.shape, problem.marginal("noise"), estimator, log)
    com, sd = [0.0, 0.0, 0.15 + outside], np.sqrt(np.diag(problem.marginal(
        "noise").unconstrained_fit[1]))
    assert (used.hull[:, :3] @ com + used.hull[:, 3]).max() < 0.0
    np.testing.assert_allclose(used.lengths, told.lengths, atol=0.05)  # not large beyond need
    right, wrong = (solve_for(estimator, problem, "noise", shape).phi - truth
                    for shape in (used, told))
    assert (np.abs(right) < 4.0 * sd)[:4].all(), right / sd
    assert np.abs(wrong / sd)[:4].max() > 4.0  # what it would be


def test_a_centre_of_mass_that_is_hardly_known_is_no_reason() -> None:
    shape = box(SIZE, (0.0, 0.0, 0.1))
    assert _check([0.0, 0.0, 0.21], shape, seconds=0.05) == (shape, {})


def test_beyond_the_reach_the_setting_is_named() -> None:
    used, said = _check([0.0, 0.3, 0.5], None)
    assert used is None and "shape.max_reach is 0.5 m: raise it" in said[COM_FINDING]
    assert not _check([0.0, 0.3, 0.3], None)[1]
    assert not _check([0.0, 0.3, 0.5], None, "lmi")[1]  # has no region


def test_with_a_misplaced_box_the_estimate_is_that_without_and_the_finding_goes_away() -> None:
    shape = {"shape__type": "box", "shape__size": SIZE}
    results = []
    for extra in ({**shape, "shape__center": (0.0, 0.0, 0.5)}, {}):
        made = identifier(estimator__method="density", **extra)
        recording(5.0).feed(made, 0.1)
        outcome = made.solve()
        assert isinstance(outcome, Estimate)
        assert (COM_FINDING in texts(made)) == bool(extra)
        assert any("outside of the shape" in text for text in outcome.findings) == bool(extra)
        results.append(outcome)
    np.testing.assert_array_equal(results[0].phi, results[1].phi)
    np.testing.assert_allclose(results[0].report[:4], BODY.report[:4], atol=1e-3)
    made.set_shape(box((0.3, 0.3, 0.3), (0.0, 0.0, 0.1)))
    assert isinstance(made.solve(), Estimate) and COM_FINDING not in texts(made)


def test_settings_that_need_a_shape_are_refused_while_none_is_there() -> None:
    made = identifier(estimator__method="density")
    for change in ({"estimator.method": "pmd"},
                   {"estimator.method": "lmi", "lmi.support": "box"}):
        with pytest.raises(InvalidShape, match="needs the shape .* set_shape"):
            made.check_settings(made.settings.replace(change))
        made.check_settings(made.settings.replace({**change, "estimator.method": "density"}))
    made.set_shape(box())
    made.check_settings(made.settings.replace({"estimator.method": "pmd"}))
    waiting = identifier(estimator__method="pmd")  # for set_shape; other settings may change
    waiting.check_settings(waiting.settings.replace({"estimator.rate": 5.0}))


# ---- inertia -------------------------------------------------------------------------------------


def _of_points(points: Array, masses: Array, seconds: float, seed: int) -> Marginal:
    phi = sum(m * point for m, point in zip(masses, point_columns(points).T, strict=True))
    rng = np.random.default_rng(seed)
    return compress(make_rows(rng, phi, motion(rng, int(100 * seconds), seconds, 1.0))).marginal(
        "noise")


def _judge(data: Marginal, shape: Shape, method: str = "density"
           ) -> tuple[Shape | None, dict[str, str]]:
    log = FindingLog()
    used = check_shape(shape, Settings().shape, data, create(Settings(), method), log)
    return used, {f.name: f.text for f in log.all()}


CORNERS = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.05, 0.05) for z in (0.05, 0.15)])


@pytest.mark.parametrize("seed", range(20))
def test_true_shapes_hold_whatever_lies_in_them(seed: int) -> None:
    """Even all of the mass in a few corners, where the bound is reached."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        data = _of_points(CORNERS, rng.dirichlet(np.ones(8)), 4.0, seed)
    else:
        inside = np.array(SIZE) * rng.uniform(-0.5, 0.5, (50, 3)) + [0.0, 0.0, 0.1]
        data = _of_points(inside, rng.dirichlet(np.full(50, 0.3)), 4.0, seed)
    shape = box(SIZE, (0.0, 0.0, 0.1))
    assert _judge(data, shape) == (shape, {})


@pytest.mark.parametrize(("length", "left_out"), [(0.1, False), (0.06, True)])
@pytest.mark.parametrize("axis", range(3))
def test_a_shape_that_is_too_short_is_named(axis: int, length: float, left_out: bool) -> None:
    """It holds the centre of mass in its middle. Beyond three standard deviations it is left out.
    """
    size = 0.2 * np.ones(3)
    size[axis] = length
    points = np.array([0.0, 0.0, 0.1]) + 0.1 * np.concatenate([np.eye(3), -np.eye(3)])
    masses = np.full(6, 0.15)
    masses[[axis, axis + 3]] = 0.6
    data = _of_points(points, masses, 6.0, 1)
    shape = box(tuple(size), (0.0, 0.0, 0.1))
    used, said = _judge(data, shape)
    assert used is (None if left_out else shape) and COM_FINDING not in said
    assert "shape.size" in said[INERTIA_FINDING]
    assert ("is not used" in said[INERTIA_FINDING]) == left_out
    direction = re.search(r"along \[(.*?)\]", said[INERTIA_FINDING])
    assert direction and np.argmax(np.abs([float(v) for v in direction[1].split(",")])) == axis
    if left_out:
        with pytest.raises(InvalidShape, match="inertia is too large"):
            _judge(data, shape, "entropic")
    else:
        grown, _ = _judge(data, shape, "pmd")
        assert grown is not None and grown.lengths[axis] > 0.16
        np.testing.assert_allclose(grown.unit_phi, box(tuple(grown.lengths), (
            0.0, 0.0, 0.1)).unit_phi, atol=1e-12)


def test_an_inertia_that_is_hardly_known_is_no_reason() -> None:
    points = np.array([0.0, 0.0, 0.1]) + 0.1 * np.concatenate([np.eye(3), -np.eye(3)])
    shape, masses = box((0.08, 0.08, 0.08), (0.0, 0.0, 0.1)), np.full(6, 0.3)
    assert _judge(_of_points(points, masses, 0.05, 1), shape) == (shape, {})
    assert INERTIA_FINDING in _judge(_of_points(points, masses, 6.0, 1), shape)[1]
