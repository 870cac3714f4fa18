# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate of a window against closed forms, dense linear algebra and simulated recordings."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from problems import motion_from_arrays
from scipy.optimize import minimize

from benchmarks.referee.generator import FRAME, Motion, Recording, Scenario, wrench_of
from inertial_id_ros.explain.calibration import Rotation, cross_talk, gain, origin, usual_terms
from inertial_id_ros.explain.causes import Hysteresis
from inertial_id_ros.explain.explain import Explanation, explain
from inertial_id_ros.explain.fit import Prior, Region, System, fit
from inertial_id_ros.explain.laws import Cable, tension
from inertial_id_ros.explain.term import Term
from inertial_id_ros.model import noise
from inertial_id_ros.model.history import History, Marks, Window
from inertial_id_ros.model.newton_euler import GRAVITY, regressor
from inertial_id_ros.model.rows import BAND, Rows
from inertial_id_ros.model.setup import Setup
from inertial_id_ros.model.sheet import Sheet, sheet_of
from inertial_id_ros.motion.motion import BIN, BIN_NS, NO_MOTION
from inertial_id_ros.motion.motion import Motion as CoreMotion
from inertial_id_ros.settings import Settings

SEED = 400000


def history_of(recording: Recording) -> History:
    history = History()
    history.append(motion_from_arrays(
        recording.arm.urdf, FRAME, recording.arm.names, recording.joint_stamps,
        recording.positions), recording.stamps, -recording.wrench)
    return history


@cache
def recorded(source: str, seed: int) -> tuple[Recording, History, Sheet, Region]:
    recording = Scenario(source, seed).record()
    settings = Settings().replace(dict(recording.settings))
    region = Region(np.array(settings.shape.center), np.array(settings.shape.size))
    return recording, history_of(recording), sheet_of(settings), region


def window_of(source: str, seed: int) -> Window:
    history = recorded(source, seed)[1]
    return history.window(history.end, 30.0)


def is_covered(found: Explanation, phi: np.ndarray, deviations: float) -> np.ndarray:
    return np.asarray(np.abs(found.wide_phi - phi)
                      < deviations * np.sqrt(np.diag(found.wide_covariance)))


def test_the_regressor_times_the_payload_is_its_wrench() -> None:
    rng = np.random.default_rng(1)
    proper, omega, alpha = rng.normal(size=(3, 7, 3))
    phi = rng.normal(size=10)
    np.testing.assert_allclose(regressor(proper, omega, alpha) @ phi,
                               wrench_of(phi, proper, omega, alpha), atol=1e-12)


@pytest.mark.parametrize("made", [
    lambda rows: Cable(), lambda rows: Rotation([0.01] * 3), lambda rows: origin(0.01),
    lambda rows: gain(0.01), lambda rows: cross_talk(0.01, (1.0, 0.1)),
    lambda rows: Hysteresis(rows, (0.2, 0.01))],
    ids=["cable", "rotation", "origin", "gain", "cross_talk", "hysteresis"])
def test_slopes_are_those_of_the_effect(made: Callable[[Rows], Term]) -> None:
    rows, rng = Rows(window_of("white", SEED), Setup()), np.random.default_rng(2)
    term = made(rows)
    phi = np.r_[2.0, 0.1, 0.05, 0.2, 0.02, 0.0, 0.0, 0.02, 0.0, 0.02]
    load = rows.A @ phi
    at, step = term.mean + 0.3 * term.sd * rng.normal(size=len(term.sd)), 1e-5
    here = term.effect(rows, phi, at, load)
    for k in range(len(at)):
        move = np.zeros(len(at))
        move[k] = step
        there = [term.effect(rows, phi, at + sign * move, load).wrench for sign in (1, -1)]
        assert there[0] is not None and there[1] is not None
        slope = (there[0] - there[1]) / (2.0 * step)
        scale = max(float(np.abs(slope).max()), 1e-3)
        np.testing.assert_allclose(here.slopes[..., k], slope, atol=0.02 * scale)


def test_strengths_of_noise_are_the_most_probable_ones() -> None:
    rng = np.random.default_rng(3)
    f = np.linspace(0.0, 4.0, 200)
    spectrum = np.stack([np.ones(200), 0.1 * f**4, 5.0 / (1.0 + (9.0 * f) ** 2)], 1)
    truth = np.array([-4.0, -5.0, -2.0])
    power = (spectrum @ np.exp(truth))[:, None] * rng.normal(size=(200, 3)) ** 2
    mean, spread, count = truth + 0.5, np.array([0.7, 2.0, 2.5]), np.full(200, 3.0)

    def cost(x: np.ndarray) -> float:
        v = spectrum @ np.exp(x)
        return float(0.5 * np.sum(count * np.log(v) + power.sum(1) / v)
                     + 0.5 * np.sum(((x - mean) / spread) ** 2))
    got = mean
    for _ in range(5):
        got = noise.update(got, spectrum, power.sum(1), count, mean, spread)
    assert cost(got) < minimize(cost, mean).fun + 0.02


def test_a_solution_is_that_of_dense_least_squares() -> None:
    _, _, sheet, region = recorded("white", SEED)
    window = window_of("white", SEED)
    terms = tuple(usual_terms(sheet, window.motion.joints.shape[1]))
    phi = np.r_[1.0, 0.0, 0.0, 0.1, np.full(6, 0.01)]
    rows = Rows(window, Setup())
    system = System(rows, terms, phi, {t.name: t.mean for t in terms}, Prior(sheet, region))
    log, spread = noise.strengths_before(sheet, 8.0)
    scales = {t.name: 1.0 for t in terms}
    sd = system.deviations(scales)
    weight = 1.0 / np.sqrt(np.repeat(system.spectrum @ np.exp(log).T, 3, 1)).ravel()
    inside = np.zeros((3, len(sd)))
    inside[:, :10] = system.inside
    dense = np.concatenate([system.X.reshape(-1, len(sd)) * weight[:, None], np.diag(1.0 / sd),
                            inside])
    target = np.concatenate([system.y.ravel() * weight, system.mean / sd, np.zeros(3)])
    want = np.linalg.lstsq(dense * sd, target, rcond=None)[0] * sd
    solution = system.solve(log, scales)
    deviation = np.sqrt(np.diag(np.linalg.inv(dense.T @ dense)))
    np.testing.assert_allclose((solution.x - want) / deviation, 0.0, atol=1e-5)
    np.testing.assert_allclose(np.sqrt(np.diag(solution.covariance)), deviation, rtol=1e-5)


def test_modes_of_stretches_keep_what_is_slow() -> None:
    window = window_of("white", 400001)
    used = window.used.copy()
    used[300:340] = False
    rows = Rows(Window(window.motion, used, window.wrench, window.count), Setup())
    assert len(rows.stretches) == 2
    slow = np.concatenate([np.cos(np.pi * 3 * (np.arange(s.n) + 0.5) / s.n)
                           for s in rows.stretches])
    np.testing.assert_allclose(rows.back(rows.modes(slow)), slow, atol=1e-12)
    modes = rows.modes(slow)
    assert modes @ modes == pytest.approx(slow @ slow)
    assert rows.frequency.max() < BAND


def test_noise_of_encoders_is_not_multiplied_with_the_payload() -> None:
    recording = Scenario("white", 400034, kinds=("teach",), lengths=(15.0,)).record()
    history = history_of(recording)
    window = history.window(history.end, 30.0)
    at = 1e-9 * (window.motion.number * BIN_NS + BIN_NS // 2 - recording.stamps[0])
    t = 1e-9 * (recording.stamps - recording.stamps[0])
    exact = Motion(*(np.stack([np.interp(at, t, c) for c in part.reshape(len(t), -1).T], 1)
                     for part in recording.motion))
    rows = Rows(window, Setup())
    want = rows.modes(rows.smooth(regressor(*exact[2:])))[:, :3, 0]
    noisy = rows.modes(rows.steady)[:, :3, 0]
    fast = rows.frequency > 1.0
    assert np.std((rows.upright[:, :3, 0] - want)[fast]) < 0.5 * np.std((noisy - want)[fast])
    slow = ~fast
    assert np.std((rows.upright[:, :3, 0] - want)[slow]) < 1.2 * np.std((noisy - want)[slow])


def test_tension_is_at_the_mean_position() -> None:
    assert tension(np.r_[0.3, 0.0, 0.4, 1.0, 4.0, 0.0, 0.0, 0.0]) == pytest.approx(3.0)


@pytest.mark.parametrize(("source", "seed", "named"), [
    ("white", 400005, set()), ("cable", 400003, {"cable"}), ("hysteresis", 400005, {"hysteresis"}),
    ("mix-cell", 400027, {"cable", "hysteresis"})])
def test_intervals_hold_and_causes_are_named(source: str, seed: int, named: set[str]) -> None:
    recording, _, sheet, region = recorded(source, seed)
    found = explain(window_of(source, seed), sheet, region)
    assert {kind for kind, _ in found.named} == named
    assert is_covered(found, recording.told.phi, 3.0)[:4].all()


def test_a_contact_that_is_marked_does_no_harm() -> None:
    recording, _, sheet, region = recorded("white", 400005)
    pushed = recording.wrench.copy()
    pushed[1000:1500] += 20.0
    history = History()
    window = window_of("white", 400005)
    history.append(window.motion, recording.stamps, -pushed)
    first = int(recording.stamps[1000] // BIN_NS)
    history.marks = Marks(contacts=((first - 1, first + 102),))
    found = explain(history.window(history.end, 30.0), sheet, region)
    assert is_covered(found, recording.told.phi, 3.0).all()
    assert not found.named


def test_a_fit_finds_the_noise_of_the_sensor() -> None:
    _, _, sheet, region = recorded("white", 400005)
    window = window_of("white", 400005)
    fitted = fit(Rows(window, Setup()), usual_terms(sheet, window.motion.joints.shape[1]),
                 Prior(sheet, region))
    white = np.exp(0.5 * fitted.log_noise[:, 0])
    np.testing.assert_allclose(white, [0.1, 0.005], rtol=0.3)
    assert np.linalg.norm(GRAVITY) == pytest.approx(9.81)


def test_samples_at_the_edge_of_bins_count_where_they_are() -> None:
    """A ramp that is sampled once a bin, at its beginning, is that ramp in the middle of bins."""
    history, number = History(), 1000 + np.arange(200)
    still = [np.zeros((200, *column.shape[1:])) for column in NO_MOTION[1:]]
    history.append(CoreMotion(number, *still), np.empty(0, np.int64), np.empty((0, 6)))
    stamps = number * BIN_NS
    ramp = np.outer(1e-9 * (stamps - stamps[0]), np.arange(1.0, 7.0))
    history.append(NO_MOTION, stamps, ramp)
    middle = np.outer(BIN * (np.arange(199) + 0.5), np.arange(1.0, 7.0))
    np.testing.assert_allclose(history.window(1199, 60.0).wrench[:-1], middle[:-1], atol=1e-9)
