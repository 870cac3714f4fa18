# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A turned sensor, tilted gravity and offset clocks are found, named in words, and cost little."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic import (
    BODY,
    GRAVITY,
    NOISE,
    SECOND,
    START,
    Placement,
    PointMasses,
    Recording,
    Scene,
    identifier,
    joint_messages,
    stamps,
    texts,
    wrench_messages,
)

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.findings import FindingLog
from inertial_id_ros.inertia import tensor_from_six
from inertial_id_ros.regression.row_layout import NUISANCE_STATES, EstimatedStates
from inertial_id_ros.settings import Settings

BIAS = np.array([2.0, -3.0, 1.0, 0.1, -0.2, 0.15])
DEGREE = np.deg2rad(1.0)
NONE = (0.0,) * 9
EXACT = {"alignment__rotation_sd": 0.0, "alignment__tilt_sd": 0.0, "alignment__delay_sd": 0.0}


@cache
def _recording(errors: tuple[float, ...] = NONE, sign: float = -1.0) -> Recording:
    """12 s with sensor rotation (3), gravity tilt (2) [rad], early stamps [s], and the sensor's
    origin at a position (3) [m]."""
    turn = Rotation.from_rotvec(errors[:3])
    gravity = Rotation.from_rotvec([*errors[3:5], 0.0]).apply(GRAVITY)
    x, y, z = errors[6:]
    turned = Scene(mount=Placement(turn, (x, y, z)), gravity=tuple(gravity))
    body = PointMasses(turn.inv().apply(BODY.points - errors[6:]), BODY.masses)
    wrench = wrench_messages(turned, body, stamps(12.0, 500.0), bias=BIAS, noise=NOISE, sign=sign,
                             rng=np.random.default_rng(4))
    early = wrench.moved(-round(errors[5] * 1e9))
    return (joint_messages(Scene(), stamps(12.0, 200.0)) + early).sorted()


@cache
def _solved(errors: tuple[float, ...], sign: float = -1.0,
            **changes: Any) -> tuple[Estimate, dict[str, str]]:
    """Estimate and findings from a recording; several tests look at the same."""
    made = identifier(**changes)
    _recording(errors, sign).feed(made)
    made.finish()
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    return outcome, texts(made)


def _inertia_error(estimate: Estimate) -> float:
    """Relative error of the tensor about the centre of mass."""
    found, truth = tensor_from_six(estimate.report[4:]), tensor_from_six(BODY.report[4:])
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))


@pytest.mark.slow
@pytest.mark.parametrize(("state", "value"), [
    (0, DEGREE), (1, -DEGREE), (2, DEGREE), (3, 0.5 * DEGREE), (4, -0.5 * DEGREE), (5, 0.035),
    (5, -0.035), (6, 0.003), (8, -0.003)])
def test_each_error_is_found_within_a_few_sigma_and_the_others_stay_zero(
        state: int, value: float) -> None:
    errors = np.zeros(9)
    errors[state] = value
    found, _ = _solved(tuple(errors), alignment__position_sd=0.003,
        alignment__estimate_position=True)
    assert found.alignment_sigma.shape == (9,) and (found.alignment_sigma > 0.0).all()
    assert found.alignment_sigma[state] < 0.2 * abs(value)
    assert (np.abs(found.alignment - errors) < 4.0 * found.alignment_sigma).all()


@pytest.mark.slow
@pytest.mark.parametrize("sign", [-1.0, 1.0], ids=["on_sensor", "on_environment"])
def test_all_errors_at_once_are_found_in_both_sign_conventions(sign: float) -> None:
    errors = (DEGREE, -0.7 * DEGREE, 0.5 * DEGREE, 0.4 * DEGREE, -0.5 * DEGREE, 0.02,
              0.003, -0.002, 0.004)
    convention = "on_sensor" if sign < 0.0 else "on_environment"
    found, said = _solved(errors, sign, wrench__convention=convention,
                          alignment__position_sd=0.003,
        alignment__estimate_position=True)
    assert (np.abs(found.alignment - errors) < 4.0 * found.alignment_sigma).all()
    assert (np.abs(found.report - BODY.report) < 4.0 * found.sigma).all()
    assert (np.abs(found.bias - BIAS) < np.repeat([0.05, 0.005], 3)).all()
    assert {"misaligned.rotation", "misaligned.gravity", "clock_offset",
            "misaligned.position"} <= set(said)


@pytest.mark.slow
def test_without_errors_nothing_is_said_and_little_is_lost() -> None:
    found, said = _solved(NONE)
    assert not {"misaligned.rotation", "misaligned.gravity", "clock_offset"} & set(said)
    assert (np.abs(found.alignment) <= 4.0 * found.alignment_sigma).all()
    exact, _ = _solved(NONE, **EXACT)
    assert _inertia_error(found) < _inertia_error(exact) + 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("state", "value", "name", "text"), [
    (0, DEGREE, "misaligned.rotation", "the sensor is turned against its frame by 1.0° about x"),
    (1, -DEGREE, "misaligned.rotation", "the sensor is turned against its frame by -1.0° about y"),
    (3, 0.5 * DEGREE, "misaligned.gravity", "gravity is tilted against its frame by 0.5° about x"),
    (4, -0.5 * DEGREE, "misaligned.gravity",
     "gravity is tilted against its frame by -0.5° about y"),
    (5, 0.035, "clock_offset",
     "the stamps of the wrench are 35.0 ms too early against those of the motion"),
    (5, -0.035, "clock_offset",
     "the stamps of the wrench are 35.0 ms too late against those of the motion")])
def test_findings_say_what_is_wrong_which_way_and_by_how_much(
        state: int, value: float, name: str, text: str) -> None:
    errors = np.zeros(9)
    errors[state] = value
    _, said = _solved(tuple(errors))
    number = next(w for w in text.replace("°", " ").split() if w[-1].isdigit())
    found = next(w for w in said[name].replace("°", " ").split() if w[-1].isdigit())
    assert said[name].replace(found, number) == text
    assert float(found) == pytest.approx(float(number), abs=0.11 if state < 5 else 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("errors", [
    (DEGREE, 0.0, -DEGREE, *NONE[:6]), (0.0, 0.0, 0.0, 0.5 * DEGREE, -0.5 * DEGREE, *NONE[:4]),
    (*NONE[:5], 0.035, 0.0, 0.0, 0.0)], ids=["rotation", "tilt", "delay"])
def test_the_inertia_is_far_better_than_without_the_states(errors: tuple[float, ...]) -> None:
    with_states, _ = _solved(errors, estimator__method="lmi")
    without, _ = _solved(errors, estimator__method="lmi", **EXACT)
    assert _inertia_error(with_states) < 0.02
    assert _inertia_error(without) > 20.0 * _inertia_error(with_states)


@pytest.mark.slow
@pytest.mark.parametrize(("group", "members"), [
    ("rotation_sd", [0, 1, 2]), ("tilt_sd", [3, 4]), ("delay_sd", [5])])
def test_a_group_that_is_switched_off_is_zero_and_says_nothing(
        group: str, members: list[int]) -> None:
    errors = (DEGREE, 0.0, 0.0, 0.5 * DEGREE, 0.0, 0.02, 0.0, 0.0, 0.0)
    found, said = _solved(errors, **{f"alignment__{group}": 0.0}, estimator__method="lmi")
    others = np.setdiff1d(np.arange(6), members)
    np.testing.assert_array_equal(found.alignment[members], 0.0)
    np.testing.assert_array_equal(found.alignment_sigma[members], 0.0)
    assert (found.alignment_sigma[others] > 0.0).all()
    name = {0: "misaligned.rotation", 3: "misaligned.gravity", 5: "clock_offset"}[members[0]]
    assert name not in said


@pytest.mark.slow
@pytest.mark.parametrize("errors", [
    (5.0 * DEGREE, -7.0 * DEGREE, 5.0 * DEGREE, *NONE[:6]),
    (0.0, 0.0, 0.0, 2.0 * DEGREE, -2.2 * DEGREE, *NONE[:4]),
    (4.0 * DEGREE, 3.0 * DEGREE, 0.0, 1.5 * DEGREE, 0.0, 0.02, 0.0, 0.0, 0.0)],
    ids=["rotation", "tilt", "all"])
def test_large_angles_are_taken_out_and_cost_no_accuracy(errors: tuple[float, ...]) -> None:
    """Errors of ten and three degrees, whose square alone is 1.5 % and .1 % of the load."""
    found, said = _solved(errors)
    straight, _ = _solved(NONE)
    assert (np.abs(found.alignment - errors) <= 4.0 * found.alignment_sigma).all()
    assert (np.abs(found.report - BODY.report) < 4.0 * straight.sigma).all()
    assert (np.abs(found.bias - BIAS) < np.repeat([0.05, 0.005], 3)).all()
    assert set(said) & {"misaligned.rotation", "misaligned.gravity"}
    assert not {"contact", "zero_moved.wrench", "payload_changed"} & set(said)


@pytest.mark.slow
@pytest.mark.parametrize(("turned", "tilted"), [(7.0, 0.0), (0.0, 1.5), (0.0, 3.0)])
def test_a_turned_sensor_leaves_the_intervals_and_a_tilt_widens_them_as_a_pull_looks_the_same(
        turned: float, tilted: float) -> None:
    """The weight and a pull sideways are together 1/cos(tilt) times as large as the weight; past
    two degrees something may pull upwards as well, half as much."""
    found, _ = _solved((turned * DEGREE, 0.0, 0.0, tilted * DEGREE, *NONE[:5]))
    straight, _ = _solved(NONE)
    tilt = tilted * DEGREE
    share = 1.0 - np.cos(tilt) + 0.5 * np.sin(max(tilt - 2.0 * DEGREE, 0.0))
    expected = np.hypot(straight.sigma[0], share * BODY.report[0])
    assert found.sigma[0] == pytest.approx(expected, rel=0.15)
    if tilted < 2.0:
        np.testing.assert_allclose(found.sigma[4:], straight.sigma[4:], rtol=0.15)


@pytest.mark.slow
def test_the_compensated_wrench_of_a_turned_sensor_is_zero_in_the_axes_of_its_frame() -> None:
    made, settled, due = identifier(), [], START
    for stamp, method, arguments in _recording((6.0 * DEGREE, 5.0 * DEGREE, *NONE[:7])).messages:
        if stamp >= due:
            settled.append(made.advance())
            made.solve()
            due = stamp + SECOND // 2
        getattr(made, method)(*arguments)
    late = [part.wrench for part in settled if len(part.stamps_ns)
            and part.stamps_ns[0] > START + 6 * SECOND]
    wrench = np.concatenate(late)
    assert len(wrench) > 400
    assert (np.abs(wrench.mean(axis=0)) < np.repeat([0.02, 0.002], 3)).all()


def test_prior_deviations_are_in_radians_and_seconds() -> None:
    settings = Settings().replace({
        "alignment.rotation_sd": 1.0, "alignment.tilt_sd": 0.5, "alignment.delay_sd": 0.03,
        "alignment.position_sd": 0.002,
        "alignment.estimate_position": True})
    np.testing.assert_allclose(EstimatedStates(settings).prior_sd,
                               [*[np.pi / 180.0] * 3, *[np.pi / 360.0] * 2, 0.03, *[0.002] * 3])


def _report(values: np.ndarray, sigma: np.ndarray, log: FindingLog) -> None:
    for state in NUISANCE_STATES:
        state.report(values[state.values], sigma[state.values], log)


def test_findings_go_when_the_errors_go_and_small_or_uncertain_ones_are_not_named() -> None:
    log, sigma = FindingLog(), np.r_[np.full(5, 0.1 * DEGREE), 0.001, np.full(3, 3e-4)]
    _report(np.r_[np.full(5, DEGREE), 0.02, np.full(3, 2e-3)], sigma, log)
    said = {f.name: f.text for f in log.all()}
    assert set(said) == {"misaligned.rotation", "misaligned.gravity", "clock_offset",
                         "misaligned.position"}
    assert "1.0° about x, 1.0° about y, 1.0° about z" in said["misaligned.rotation"]
    assert "2.0 mm along x, 2.0 mm along y, 2.0 mm along z" in said["misaligned.position"]
    _report(np.r_[np.full(5, DEGREE), 0.02, np.full(3, 2e-3)], 10.0 * sigma, log)
    assert not log.all()
    _report(np.r_[np.full(5, 0.2 * DEGREE), 0.004, np.full(3, 9e-4)], 0.01 * sigma, log)
    assert not log.all()
