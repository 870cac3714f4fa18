"""A shape that cannot hold the measured centre of mass is named, and not used."""

from __future__ import annotations

import re

import numpy as np
import pytest
from problems import box, compress, make_rows, motion
from synthetic import BODY, identifier, recording, texts

from inertial_id_ros.detection.consistency_checks import COM_FINDING, INERTIA_FINDING, check_shape
from inertial_id_ros.errors import InvalidShape
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.estimators import create
from inertial_id_ros.findings import FindingLog
from inertial_id_ros.geometry.shape import Shape
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
    used = check_shape(shape, 0.5, _data(com, seconds), create(Settings(), method), log)
    return used, {f.name: f.text for f in log.all()}


@pytest.mark.parametrize("com", [[0.0, 0.0, 0.1], [0.09, 0.04, 0.14], [0.0, 0.0, 0.158]])
def test_inside_or_just_outside_the_shape_is_used(com: list[float]) -> None:
    """The box reaches to z = 0.15; 5 % of its length is the error that a shape may have."""
    shape = box(SIZE, (0.0, 0.0, 0.1))
    used, said = _check(com, shape)
    assert used is shape and not said


@pytest.mark.parametrize(("com", "distance"), [([0.0, 0.0, 0.21], 0.06),
                                               ([-0.13, 0.02, 0.1], 0.03)])
def test_outside_it_is_named_and_left_out(com: list[float], distance: float) -> None:
    used, said = _check(com, box(SIZE, (0.0, 0.0, 0.1)))
    assert used is None
    found = re.search(r"lies (\S+) m outside of the shape 'box'", said[COM_FINDING])
    assert found and float(found[1]) == pytest.approx(distance, abs=0.003)
    assert "correct its size or its pose" in said[COM_FINDING]


def test_an_estimator_that_needs_the_shape_refuses() -> None:
    with pytest.raises(InvalidShape, match=r"centre of mass \[0\.\d+, .*outside of the shape"):
        _check([0.0, 0.0, 0.21], box(SIZE, (0.0, 0.0, 0.1)), "uniform")


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
    used = check_shape(shape, 0.5, data, create(Settings(), method), log)
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


@pytest.mark.parametrize("axis", range(3))
def test_a_shape_that_is_too_short_is_named_and_left_out(axis: int) -> None:
    """It holds the centre of mass in its middle."""
    size = 0.2 * np.ones(3)
    size[axis] = 0.1
    points = np.array([0.0, 0.0, 0.1]) + 0.1 * np.concatenate([np.eye(3), -np.eye(3)])
    masses = np.full(6, 0.15)
    masses[[axis, axis + 3]] = 0.6
    data = _of_points(points, masses, 6.0, 1)
    used, said = _judge(data, box(tuple(size), (0.0, 0.0, 0.1)))
    assert used is None and COM_FINDING not in said
    assert "shape.size" in said[INERTIA_FINDING] and "is not used" in said[INERTIA_FINDING]
    direction = re.search(r"along \[(.*?)\]", said[INERTIA_FINDING])
    assert direction and np.argmax(np.abs([float(v) for v in direction[1].split(",")])) == axis
    with pytest.raises(InvalidShape, match="inertia is too large"):
        _judge(data, box(tuple(size), (0.0, 0.0, 0.1)), "uniform")


def test_an_inertia_that_is_hardly_known_is_no_reason() -> None:
    points = np.array([0.0, 0.0, 0.1]) + 0.1 * np.concatenate([np.eye(3), -np.eye(3)])
    shape, masses = box((0.08, 0.08, 0.08), (0.0, 0.0, 0.1)), np.full(6, 0.3)
    assert _judge(_of_points(points, masses, 0.05, 1), shape) == (shape, {})
    assert _judge(_of_points(points, masses, 6.0, 1), shape)[0] is None
