"""A shape that cannot hold the measured centre of mass is named, and not used."""

from __future__ import annotations

import re

import numpy as np
import pytest
from problems import box, compress, make_rows, motion
from synthetic import BODY, identifier, recording, texts

from inertial_id_ros.containment import FINDING, usable_shape
from inertial_id_ros.errors import InvalidShape
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.estimators import Marginal, create
from inertial_id_ros.findings import FindingLog
from inertial_id_ros.inertia import Array, phi_from_body
from inertial_id_ros.settings import Settings
from inertial_id_ros.shape import Shape

SIZE = (0.2, 0.1, 0.1)


def _data(com: Array | list[float], seconds: float = 3.0) -> Marginal:
    rng = np.random.default_rng(0)
    phi = phi_from_body(1.0, np.asarray(com), 1e-3 * np.eye(3))
    rows = make_rows(rng, phi, motion(rng, int(100 * seconds), seconds, 1.0))
    return compress(rows).marginal("noise")


def _check(com: list[float], shape: Shape | None, method: str = "density",
           seconds: float = 3.0) -> tuple[Shape | None, dict[str, str]]:
    log = FindingLog()
    used = usable_shape(shape, 0.5, _data(com, seconds), create(Settings(), method), log)
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
    found = re.search(r"lies (\S+) m outside of the shape 'box'", said[FINDING])
    assert found and float(found[1]) == pytest.approx(distance, abs=0.003)
    assert "correct its size or its pose" in said[FINDING]


def test_an_estimator_that_needs_the_shape_refuses() -> None:
    with pytest.raises(InvalidShape, match=r"centre of mass \[0\.\d+, .*outside of the shape"):
        _check([0.0, 0.0, 0.21], box(SIZE, (0.0, 0.0, 0.1)), "uniform")


def test_a_centre_of_mass_that_is_hardly_known_is_no_reason() -> None:
    shape = box(SIZE, (0.0, 0.0, 0.1))
    assert _check([0.0, 0.0, 0.21], shape, seconds=0.05) == (shape, {})


def test_beyond_the_reach_the_setting_is_named() -> None:
    used, said = _check([0.0, 0.3, 0.5], None)
    assert used is None and "shape.max_reach is 0.5 m: raise it" in said[FINDING]
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
        assert (FINDING in texts(made)) == bool(extra)
        assert any("outside of the shape" in text for text in outcome.findings) == bool(extra)
        results.append(outcome)
    np.testing.assert_array_equal(results[0].phi, results[1].phi)
    np.testing.assert_allclose(results[0].report[:4], BODY.report[:4], atol=1e-3)
    made.set_shape(box((0.3, 0.3, 0.3), (0.0, 0.0, 0.1)))
    assert isinstance(made.solve(), Estimate) and FINDING not in texts(made)


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
