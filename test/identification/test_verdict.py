# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Verdicts for motions that can and cannot tell a parameter, and intervals that hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from old_problems import compress
from problems import NOISE, make_rows, motion, poses, random_phi
from scipy.spatial.transform import Rotation
from synthetic import GRAVITY, RICH, Scene, settings

from inertial_id_ros.detection.consistency_checks import WindowFacts
from inertial_id_ros.estimate import IDENTIFIED, PRIOR_DOMINATED, UNOBSERVED, Estimate
from inertial_id_ros.estimators import Solution, create
from inertial_id_ros.findings import FindingLog
from inertial_id_ros.identification.estimator_problem import solve_for
from inertial_id_ros.identification.verdict import Verdict, judge, summarise_verdict
from inertial_id_ros.identification.wrench.solver import Solver
from inertial_id_ros.inertia import phi_from_body, report_from_phi, report_jacobian, transform_phi
from inertial_id_ros.regression.newton_euler import regressor
from inertial_id_ros.regression.problem import Problem
from inertial_id_ros.regression.regressor_window import RegressorWindow, Rows
from inertial_id_ros.regression.row_layout import BIAS, STORED, WRENCH
from inertial_id_ros.signals.low_pass import ZeroPhaseHannFilter

PHI = phi_from_body(1.3, [0.02, -0.03, 0.12], np.diag([4e-3, 5e-3, 3e-3]))
NO_PRIOR = np.zeros((10, 10))
ALIGNED = {"alignment__rotation_sd": 0.0, "alignment__tilt_sd": 0.0, "alignment__delay_sd": 0.0}
MASS, COM, INERTIA = [0], [1, 2, 3], [4, 5, 6, 7, 8, 9]


def _problem(rng: np.random.Generator, moving: tuple[np.ndarray, ...]) -> Problem:
    return compress(make_rows(rng, PHI, moving))


def _answer(prior: np.ndarray = NO_PRIOR) -> Solution:
    """The true payload, told with the help of a prior of this information."""
    return Solution(PHI, prior)


def _judge(rng: np.random.Generator, moving: tuple[np.ndarray, ...],
           prior: np.ndarray = NO_PRIOR) -> Verdict:
    return judge(_answer(prior), _problem(rng, moving).marginal("noise"))


def _one_axis(samples: int = 400) -> tuple[np.ndarray, ...]:
    """A fast swing about the sensor's x axis, which lies level.

    Two frequencies: at one, the angular acceleration goes with the angle, and inertia with weight.
    """
    t = np.linspace(0.0, 6.0, samples)
    angle = 1.2 * np.sin(3.0 * t) + 0.4 * np.sin(7.0 * t)
    rate = 3.6 * np.cos(3.0 * t) + 2.8 * np.cos(7.0 * t)
    change = -10.8 * np.sin(3.0 * t) - 19.6 * np.sin(7.0 * t)
    along = np.array([1.0, 0.0, 0.0])
    gravity = Rotation.from_rotvec(np.outer(angle, along)).inv().apply(GRAVITY)
    return -gravity, np.outer(rate, along), np.outer(change, along), gravity


def _words(verdict: Verdict, members: list[int]) -> set[int]:
    return {verdict.verdict[k] for k in members}


def test_one_still_pose_identifies_nothing_beside_the_bias(rng: np.random.Generator) -> None:
    verdict = _judge(rng, poses(rng, 1))
    assert _words(verdict, MASS + COM + INERTIA) == {UNOBSERVED}
    assert verdict.sentence.startswith("mass is not identified by this motion;")


def test_several_still_poses_identify_mass_and_centre_but_no_inertia(
        rng: np.random.Generator) -> None:
    verdict = _judge(rng, poses(rng, 8))
    assert _words(verdict, MASS + COM) == {IDENTIFIED}
    assert _words(verdict, INERTIA) == {UNOBSERVED}
    assert verdict.sentence == ("mass is identified; centre of mass is identified; "
                                "inertia is not identified by this motion")


def test_turning_about_one_axis_identifies_the_inertia_about_that_axis_only(
        rng: np.random.Generator) -> None:
    verdict = _judge(rng, _one_axis())
    assert _words(verdict, MASS + COM + [4]) == {IDENTIFIED}
    assert _words(verdict, [7, 8, 9]) == {UNOBSERVED}
    assert "inertia is not identified by this motion in " in verdict.sentence
    assert "ixx" not in verdict.sentence and "iyy" in verdict.sentence


def test_a_rich_motion_identifies_everything(rng: np.random.Generator) -> None:
    verdict = _judge(rng, motion(rng, samples=2000, seconds=20.0, speed=2.5))
    assert set(verdict.verdict) == {IDENTIFIED}
    assert verdict.sentence == ("mass is identified; centre of mass is identified; "
                                "inertia is identified")
    assert (verdict.data_share > 0.99).all()


def test_what_only_a_prior_tells_is_prior_dominated(rng: np.random.Generator) -> None:
    prior = np.diag(1.0 / (0.002 * np.maximum(np.abs(PHI), 1e-3)) ** 2)
    verdict = _judge(rng, poses(rng, 1), prior)
    assert _words(verdict, MASS + COM + INERTIA) == {PRIOR_DOMINATED}
    assert (verdict.data_share < 0.5).all()
    assert "mass is prior-dominated" in verdict.sentence


def test_more_noise_never_makes_a_parameter_better_known(rng: np.random.Generator) -> None:
    rows = make_rows(rng, PHI, motion(rng, speed=2.0))
    quiet, loud = (judge(_answer(), compress(rows, noise=k * NOISE).marginal("noise"))
                   for k in (1.0, 5.0))
    assert (np.array(loud.verdict) <= np.array(quiet.verdict)).all()
    assert (np.diag(loud.phi_covariance) >= np.diag(quiet.phi_covariance)).all()


def test_the_condition_number_is_that_of_the_regressor_with_unit_columns(
        rng: np.random.Generator) -> None:
    problem = _problem(rng, motion(rng, speed=2.0))
    verdict = judge(_answer(), problem.marginal("noise"))
    matrix = problem.marginal("noise").matrix
    singular = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=0), compute_uv=False)
    assert verdict.condition_number == pytest.approx(singular[0] / singular[-1], rel=1e-6)


def test_a_regressor_with_an_empty_column_has_no_finite_condition_number() -> None:
    rows = make_rows(np.random.default_rng(1), PHI, poses(np.random.default_rng(1), 3))
    known = compress(rows, bias_sd=np.zeros(6))
    assert judge(_answer(), known.marginal("noise")).condition_number > 1e12


def test_sentences_name_the_parameters_only_where_they_differ() -> None:
    assert summarise_verdict((2,) * 10) == ("mass is identified; centre of mass is identified; "
                                   "inertia is identified")
    assert "centre of mass is not identified by this motion in com.y, com.z;" in summarise_verdict(
        (2, 2, 0, 0, *(0,) * 6))
    assert summarise_verdict((1,) + (2,) * 9).startswith("mass is prior-dominated;")


def test_the_report_jacobian_agrees_with_finite_differences() -> None:
    for seed in range(10):
        phi = random_phi(np.random.default_rng(seed))
        numeric = np.empty((10, 10))
        for k in range(10):
            step = 1e-6 * max(abs(phi[k]), 1e-3)
            up, down = phi.copy(), phi.copy()
            up[k] += step
            down[k] -= step
            numeric[:, k] = (report_from_phi(up) - report_from_phi(down)) / (2.0 * step)
        np.testing.assert_allclose(report_jacobian(phi), numeric, atol=1e-6)


def test_the_information_of_the_compressed_problem_is_that_of_all_rows(
        rng: np.random.Generator) -> None:
    rows = make_rows(rng, PHI, motion(rng))
    marginal = compress(rows).marginal("noise")
    bias = np.tile(np.eye(6), (len(rows.full), 1, 1))
    dense = np.concatenate([rows.full, bias], axis=2) / NOISE[:, None]
    stacked = dense.reshape(-1, 16)
    prior = np.diag(np.r_[np.zeros(10), 1.0 / np.repeat([5.0, 0.5], 3) ** 2])
    covariance = np.linalg.inv(stacked.T @ stacked + prior)[:10, :10]
    np.testing.assert_allclose(np.linalg.inv(marginal.information), covariance, rtol=1e-6)


def test_intervals_of_wls_hold_the_truth_in_95_percent_of_runs() -> None:
    """150 runs: another payload, motion, bias and noise each time."""
    hits = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        phi = random_phi(rng)
        problem = compress(make_rows(rng, phi, motion(rng, samples=150, speed=2.0),
                                     bias=rng.normal(size=6) * np.repeat([2.0, 0.2], 3)))
        solution = solve_for(create(settings()), problem, "noise", None)
        verdict = judge(solution, problem.marginal("noise"))
        sigma = np.sqrt(np.diag(verdict.phi_covariance))
        hits.append(np.abs(solution.phi - phi) <= 1.96 * sigma)
    share = np.mean(hits, axis=0)
    assert 0.93 <= share.mean() <= 0.97, share
    assert (share >= 0.88).all() and (share <= 0.995).all(), share


@pytest.mark.slow
@pytest.mark.parametrize(("sheet", "estimate_noise"), [(1.0, False), (3.0, True)],
                         ids=["noise known", "data sheet wrong by 3"])
def test_reported_intervals_hold_the_truth_behind_filter_and_buffer(
        sheet: float, estimate_noise: bool) -> None:
    """White noise on the wrench, 8 s; intervals of mass, centre and inertia as users see them."""
    t = np.arange(0.0, 8.0, 0.01)
    angles = RICH.derivatives(t)
    a, truth = _closed_form_regressor(t), report_from_phi(PHI)
    assert np.isfinite(angles).all()
    config = settings(estimator__estimate_noise=estimate_noise, **ALIGNED,
                      wrench__noise=(0.1 / sheet, 0.005 / sheet))
    rng, hits, ratio = np.random.default_rng(11), [], []
    for _ in range(100):
        wrench = a @ PHI + rng.normal(size=(len(t), 6)) * NOISE / np.sqrt(5)
        estimate = _estimate(config, a, wrench, per_bin=5)
        error = np.abs(estimate.report - truth)
        hits.append(error <= 1.96 * estimate.sigma)
        ratio.append(error / estimate.sigma)
    share = np.mean(hits, axis=0)
    assert 0.90 <= share.mean() <= 0.985, (share, np.sqrt(np.mean(np.square(ratio), axis=0)))
    assert (share >= 0.82).all(), share


def _closed_form_regressor(t: np.ndarray) -> np.ndarray:
    """A (n, 6, 10) of the robot's motion, by the response to ten unit bodies."""
    scene, h = Scene(), 2e-3
    around = [scene.sensor_in_world(t + k * h) for k in (-1, 0, 1)]
    back = around[1][0].inv()
    acceleration = (around[0][1] - 2.0 * around[1][1] + around[2][1]) / h**2
    before, after = ((back * around[k][0]).as_rotvec() for k in (0, 2))
    return regressor(back.apply(acceleration - GRAVITY), (after - before) / (2.0 * h),
                     (after + before) / h**2)


def _estimate(config: object, a: np.ndarray, wrench: np.ndarray, per_bin: int) -> Estimate:
    n, filtering = len(a), ZeroPhaseHannFilter(0.4, 66)
    number = 178_500_000_000 + np.arange(n)
    rows = filtering.push(number, np.full(n, per_bin),
                          np.concatenate([a.reshape(n, 60), wrench], axis=1))
    full = np.zeros((len(rows.number), 6, STORED))
    full[:, :, :10] = rows.columns[:, :60].reshape(-1, 6, 10)
    full[:, :, BIAS] = np.eye(6)
    full[:, :, WRENCH] = rows.columns[:, 60:]
    buffer = RegressorWindow(30.0, 0.25)
    buffer.add(Rows(rows.number, rows.samples, full, full, np.ones(len(full))))
    solver = Solver(config, None, filtering)  # type: ignore[arg-type]
    return solver.solve(buffer.content(), "sensor", FindingLog(), WindowFacts())


def test_an_estimate_in_another_frame_is_the_same_body_there() -> None:
    rng = np.random.default_rng(3)
    a = _closed_form_regressor(np.arange(0.0, 5.0, 0.01))
    here = _estimate(settings(**ALIGNED), a, a @ PHI + rng.normal(size=(500, 6)) * 0.01, 5)
    turn = Rotation.from_euler("xyz", [0.4, 1.0, -0.3])
    there = here.in_frame("flange", turn.as_matrix(), np.array([0.1, -0.2, 0.3]))
    assert there.frame_id == "flange" and there.body.mass == pytest.approx(here.body.mass)
    np.testing.assert_allclose(there.body.com, turn.apply(here.body.com) + [0.1, -0.2, 0.3])
    tensor = turn.as_matrix() @ here.body.inertia_com @ turn.as_matrix().T
    np.testing.assert_allclose(there.body.inertia_com, tensor, atol=1e-12)
    draws = rng.multivariate_normal(here.phi, here.phi_covariance, 4000)
    moved = [transform_phi(d, turn.as_matrix(), [0.1, -0.2, 0.3]) for d in draws]
    np.testing.assert_allclose(np.std(moved, axis=0), np.sqrt(np.diag(there.phi_covariance)),
                               rtol=0.06)
    assert there.sigma[0] == pytest.approx(here.sigma[0])
    assert there.as_stale().stale and not there.stale
