# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Causes against closed forms, and against scenes that the referee simulates by itself."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from problems import motion_from_arrays

from benchmarks.referee import situations
from benchmarks.referee.generator import FRAME, WHITE, applied
from inertial_id_ros.explain.causes import BiasDrift, MovingBase, RoomForce
from inertial_id_ros.explain.explain import Explanation, explain
from inertial_id_ros.explain.laws import Pouring, Swing
from inertial_id_ros.explain.term import Term
from inertial_id_ros.model.history import History
from inertial_id_ros.model.rows import Rows
from inertial_id_ros.model.setup import Setup
from inertial_id_ros.model.sheet import sheet_of
from inertial_id_ros.motion.motion import BIN
from inertial_id_ros.settings import Settings

SEED = 400000
Scene = situations.Scene


def history_of(scene: Scene, extra: np.ndarray | float = 0.0, until: float = 60.0) -> History:
    rng = np.random.default_rng(SEED)
    which = scene.t < until
    y = -scene.clean[which] + WHITE * rng.normal(size=(int(which.sum()), 6)) + extra
    stamps = scene.stamps[which]
    history = History()
    history.append(motion_from_arrays(scene.arm.urdf, FRAME, scene.arm.names, stamps,
                                      scene.path.q[which]), stamps, y)
    return history


@cache
def rigid() -> tuple[Scene, Rows, np.ndarray]:
    """A scene with a rigid load, its rows, and the truth at the bins."""
    scene = situations.moving_load("hand 6 N", SEED)
    history = history_of(scene)
    window = history.window(history.end, 30.0)
    at = (window.motion.number * 10_000_000 + 5_000_000 - scene.stamps[0]) / 1e9
    return scene, Rows(window, Setup()), at


def seen(rows: Rows, at: np.ndarray, t: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """Modes of a wrench (n, 6) at times (n,)."""
    return rows.modes(rows.smooth(np.stack([np.interp(at, t, c) for c in wrench.T], 1)))


def assert_close(got: np.ndarray, want: np.ndarray, share: float) -> None:
    assert np.linalg.norm(got - want) < share * np.linalg.norm(want)


@pytest.mark.parametrize(("term", "values"), [
    (Pouring(1, False), np.r_[2.2, 0.2, np.full(9, 0.02)]),
    (Pouring(2, False), np.r_[2.2, 1.4, 0.2, np.full(19, 0.02)]),
    (Pouring(2, True), np.r_[2.2, 1.4, 0.2, np.full(9, 0.02)]),
    (Swing(), np.r_[0.3, 0.08, 0.4, 0.1, 0.2, 0.3])])
def test_slopes_are_those_of_the_effect(term: Term, values: np.ndarray) -> None:
    scene, rows, _ = rigid()
    phi, load = scene.phi[0], np.zeros((len(rows.y), 6))
    here = term.effect(rows, phi, values, load)
    for k in range(len(values)):
        step = np.zeros(len(values))
        step[k] = 1e-3
        ahead, behind = (term.effect(rows, phi, values + side * step, load).wrench
                         for side in (1.0, -1.0))
        assert ahead is not None and behind is not None
        assert_close(here.slopes[..., k], (ahead - behind) / 2e-3, 0.05)


def test_what_pours_out_takes_its_share_of_phi_along() -> None:
    scene, rows, at = rigid()
    phi, values = scene.phi[0], np.zeros(11)
    values[:2] = np.log(6.0), -0.4  # 40 % of what is left, in the last 6 s
    effect = Pouring(1, False).effect(rows, phi, values, np.zeros(0)).wrench
    now = (len(rows.window.used)) * BIN + (at[0] - 0.5 * BIN)
    before = np.clip((now - scene.t) / 6.0, 0.0, 1.0)[:, None] * 0.4
    assert effect is not None
    assert_close(effect, seen(rows, at, scene.t, before * scene.motion.wrench(phi)), 0.03)


def test_a_force_that_is_constant_in_the_room() -> None:
    scene, rows, at = rigid()
    lever = np.array([0.02, -0.05, 0.1])
    up = scene.motion.axes[:, :, 2]
    got = RoomForce().effect(rows, scene.phi[0], 6.0 * np.r_[1.0, lever], np.zeros(0)).wrench
    assert got is not None
    assert_close(got, seen(rows, at, scene.t, applied(6.0 * up, lever)), 0.01)


def test_a_base_that_is_accelerated_moves_the_mass_as_a_whole() -> None:
    scene, rows, at = rigid()
    phi, term = scene.phi[0], MovingBase(rows.n)
    values = np.zeros(2 * term.count)
    values[[3, term.count + 5]] = 0.4, 0.2
    since = (at[rows.index] - at[rows.index[0]]) / (0.08 * rows.n) + 0.5 / rows.n
    room = np.stack([0.4 * np.cos(3 * np.pi * since), 0.2 * np.cos(5 * np.pi * since),
                     0.0 * since], 1)
    force = phi[0] * np.einsum("nji,nj->ni", rows.rotation, room)
    got = term.effect(rows, phi, values, np.zeros(0)).wrench
    assert got is not None
    np.testing.assert_allclose(got, rows.modes(applied(force, phi[1:4] / phi[0])), atol=1e-9)


def test_a_drift_is_a_line_about_the_middle_of_the_window() -> None:
    scene, rows, _ = rigid()
    values = np.r_[3.0, 0.0, 0.0, 0.0, 0.2, 0.0]
    got = BiasDrift().effect(rows, scene.phi[0], values, np.zeros(0)).wrench
    assert got is not None
    line = np.linspace(-0.5, 0.5, rows.n)
    np.testing.assert_allclose(rows.modes(line[:, None] * values), got, atol=1e-9)


def explained(scene: Scene, until: float, extra: np.ndarray | float = 0.0) -> Explanation:
    history = history_of(scene, extra, until)
    return explain(history.window(history.end, 30.0), sheet_of(Settings()), None)


def covers(found: Explanation, phi: np.ndarray) -> np.ndarray:
    gap = np.abs(found.wide_phi - phi)
    return np.asarray(gap < 3.0 * np.sqrt(np.diag(found.wide_covariance)))


@pytest.mark.parametrize(("name", "until", "kind"), [
    ("pour-out", 13.0, "payload_walks"), ("1 kg in 20 s", 24.0, "payload_walks"),
    ("slide", 15.0, "payload_walks"), ("liquid .5", 14.0, "not_rigid"),
    ("hand 6 N", 14.0, "constant_force"), ("AGV", 15.0, "base_moves"),
    ("crane", 15.0, "base_moves")])
def test_what_moves_is_named_and_the_intervals_hold_the_load_as_it_is_now(
        name: str, until: float, kind: str) -> None:
    scene = situations.moving_load(name, SEED)
    found = explained(scene, until)
    assert [named for named, _ in found.named] == [kind]
    assert covers(found, scene.phi[np.searchsorted(scene.t, until) - 1]).mean() > 0.9


def test_a_zero_that_creeps_is_no_changed_payload() -> None:
    scene = situations.LIVE["ordinary minute"](SEED)
    extra = scene.t[scene.t < 31.0, None] * np.r_[0.25, 0.0, 0.0, 0.0, 0.005, 0.0]  # 15 N a minute
    found = explained(scene, 31.0, extra)
    (kind, numbers), = found.named
    assert kind == "bias_drifts"
    assert numbers["force_rate"] == pytest.approx(15.0, rel=0.05)
    assert covers(found, scene.phi[0]).all()


def test_nothing_is_named_where_nothing_happens() -> None:
    assert explained(situations.LIVE["ordinary minute"](SEED), 31.0).named == ()


def test_what_nothing_explains_widens_the_intervals_and_is_named() -> None:
    scene = situations.LIVE["ordinary minute"](SEED)
    t = scene.t[scene.t < 31.0, None]
    noise = np.cumsum(np.random.default_rng(3).normal(size=(len(t), 6)), axis=0) / np.sqrt(250.0)
    found, calm = (explained(scene, 31.0, size * noise * np.repeat([4.0, 0.4], 3))
                   for size in (1.0, 0.0))
    assert "load_unexplained" in [kind for kind, _ in found.named]
    assert covers(found, scene.phi[0]).all()
    assert np.all(np.diag(found.wide_covariance) > 4.0 * np.diag(calm.wide_covariance))
