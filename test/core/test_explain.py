# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What explains a window: against closed forms and dense linear algebra, and in scenes and
recordings that the referee simulates by itself, errors of the set-up among them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from problems import motion_from_arrays
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from benchmarks.referee import situations
from benchmarks.referee.generator import FRAME, WHITE, Recording, Scenario
from inertial_id_ros.explain.causes import Hysteresis
from inertial_id_ros.explain.contradictions import contradictions
from inertial_id_ros.explain.explain import Explanation, explain
from inertial_id_ros.explain.fit import VAGUE, Prior, Region, System
from inertial_id_ros.explain.laws import Cable, Pouring, Swing
from inertial_id_ros.explain.terms import Term, usual_terms
from inertial_id_ros.model import noise
from inertial_id_ros.model.history import History, Window
from inertial_id_ros.model.newton_euler import static_wrench
from inertial_id_ros.model.rows import Rows
from inertial_id_ros.model.setup import Setup, reordered, sheet_of
from inertial_id_ros.motion.motion import BIN, BIN_NS, NO_MOTION
from inertial_id_ros.motion.motion import Motion as CoreMotion
from inertial_id_ros.settings import Settings

SEED, G = 400_000, 9.81
SHEET = sheet_of(Settings())
Scene = situations.Scene


def history_of(motion: CoreMotion, stamps: np.ndarray, wrench: np.ndarray) -> History:
    history = History()
    history.append(motion, stamps, wrench)
    return history


def window_of(motion: CoreMotion, stamps: np.ndarray, wrench: np.ndarray) -> Window:
    history = history_of(motion, stamps, wrench)
    return history.window(history.end, 30.0)


def of_scene(scene: Scene, extra: np.ndarray | float = 0.0, until: float = 60.0) -> Window:
    rng = np.random.default_rng(SEED)
    which = scene.t < until
    y = -scene.clean[which] + WHITE * rng.normal(size=(int(which.sum()), 6)) + extra
    stamps = scene.stamps[which]
    return window_of(motion_from_arrays(scene.arm.urdf, FRAME, scene.arm.names, stamps,
                                        scene.path.q[which]), stamps, y)


@cache
def recorded(source: str, seed: int = SEED, seconds: float = 0.0
             ) -> tuple[Recording, CoreMotion, Region]:
    """A recording, its motion in bins, and the box that holds the centre of mass; of an arm that
    moves all joints where its length is given."""
    rec = (Scenario(source, seed, (seconds,), ("joints",)) if seconds
           else Scenario(source, seed)).record()
    motion = motion_from_arrays(rec.arm.urdf, FRAME, rec.arm.names, rec.joint_stamps,
                                rec.positions)
    shape = Settings().replace(dict(rec.settings)).shape
    return rec, motion, Region(np.array(shape.center), np.array(shape.size))


def of_recording(source: str, seed: int = SEED) -> Window:
    rec, motion, _ = recorded(source, seed)
    return window_of(motion, rec.stamps, -rec.wrench)


def covers(found: Explanation, phi: np.ndarray) -> np.ndarray:
    gap = np.abs(found.wide_phi - phi)
    return np.asarray(gap < 3.0 * np.sqrt(np.diag(found.wide_covariance)))


# ---- terms ---------------------------------------------------------------------------------------

@cache
def rigid() -> tuple[Scene, Rows]:
    """A scene with a rigid load, and its rows."""
    scene = situations.moving_load("hand 6 N", SEED)
    return scene, Rows(of_scene(scene), Setup())


@pytest.mark.parametrize("made", [
    *(lambda rows, name=name: next(t for t in usual_terms(SHEET, 6) if t.name == name)
      for name in ("rotation", "origin", "gain", "cross_talk", "bias")),
    lambda rows: Cable(), lambda rows: Hysteresis(rows, (0.2, 0.01)), lambda rows: Swing(),
    lambda rows: Pouring(False), lambda rows: Pouring(True)])
def test_slopes_are_those_of_the_effect(made: Callable[[Rows], Term]) -> None:
    scene, rows = rigid()
    term, phi, rng = made(rows), scene.phi[0], np.random.default_rng(2)
    at, load = term.mean + 0.3 * term.sd * rng.normal(size=len(term.sd)), rows.A @ phi
    here = term.effect(rows, phi, at, load)
    for k, step in enumerate(1e-3 * term.sd):
        move = step * np.eye(len(at))[k]
        ahead, behind = (term.effect(rows, phi, at + side * move, load).wrench
                         for side in (1.0, -1.0))
        assert ahead is not None and behind is not None
        slope = (ahead - behind) / (2.0 * step)
        np.testing.assert_allclose(here.slopes[..., k], slope,
                                   atol=0.03 * max(float(np.abs(slope).max()), 1e-3))


# ---- a fit ---------------------------------------------------------------------------------------

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
    window, region = of_recording("white"), recorded("white")[2]
    terms = tuple(usual_terms(SHEET, window.motion.joints.shape[1]))
    phi = np.r_[1.0, 0.0, 0.0, 0.1, np.full(6, 0.01)]
    system = System(Rows(window, Setup()), terms, np.concatenate([phi, *[t.mean for t in terms]]),
                    Prior(SHEET, region))
    log, _ = noise.strengths_before(SHEET, 8.0)
    scales = {t.name: 1.0 for t in terms}
    sd = np.concatenate([VAGUE, *[t.sd for t in terms]])
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


# ---- bins, rows and modes ------------------------------------------------------------------------


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


# ---- causes that are named -----------------------------------------------------------------------

@pytest.mark.parametrize(("source", "seed", "named"), [
    ("white", 400005, set()), ("cable", 400003, {"cable"}), ("hysteresis", 400005, {"hysteresis"}),
    ("mix-cell", 400027, {"cable", "hysteresis"})])
def test_intervals_hold_and_causes_are_named(source: str, seed: int, named: set[str]) -> None:
    rec, _, region = recorded(source, seed)
    sheet = sheet_of(Settings().replace(dict(rec.settings)))
    found = explain(of_recording(source, seed), sheet, region)
    assert {kind for kind, _ in found.named} == named
    assert covers(found, rec.told.phi)[:4].all()


def explained(scene: Scene, until: float, extra: np.ndarray | float = 0.0) -> Explanation:
    return explain(of_scene(scene, extra, until), SHEET, None)


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


def test_what_nothing_explains_widens_the_intervals_and_is_named() -> None:
    scene = situations.LIVE["ordinary minute"](SEED)
    t = scene.t[scene.t < 31.0, None]
    walk = np.cumsum(np.random.default_rng(3).normal(size=(len(t), 6)), axis=0) / np.sqrt(250.0)
    found, calm = (explained(scene, 31.0, size * walk * np.repeat([4.0, 0.4], 3))
                   for size in (1.0, 0.0))
    assert "load_unexplained" in [kind for kind, _ in found.named] and calm.named == ()
    assert covers(found, scene.phi[0]).all()
    assert np.all(np.diag(found.wide_covariance) > 4.0 * np.diag(calm.wide_covariance))


# ---- errors of the set-up ------------------------------------------------------------------------

UP, WALL = np.array([0.0, 0.0, 1.0]), np.array([0.6, 0.0, 0.8])


def of_wrong(wrench: np.ndarray, late: float = 0.0, source: str = "white",
             motion: CoreMotion | None = None) -> tuple[Explanation, np.ndarray]:
    """What a wrench W and zero tells, and the true payload (10,)."""
    rec, known, region = recorded(source, seconds=15.0)
    stamps = rec.stamps + round(1e9 * late)
    return explain(window_of(motion or known, stamps, wrench), SHEET, region), rec.told.phi


def weight(phi: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Wrench (n, 6) of a payload at rest, with a vertical (3,) in the base."""
    return static_wrench(phi, G * recorded("white", seconds=15.0)[0].motion.axes @ up)


def made_wrong(kind: str) -> np.ndarray:
    rec = recorded("white", seconds=15.0)[0]
    true, axes = -rec.wrench, rec.motion.axes
    if kind == "wrench_in_base_axes":
        return (np.swapaxes(axes, 1, 2)[:, None] @ true.reshape(-1, 2, 3, 1)).reshape(-1, 6)
    if kind == "sensor_turned":
        turn = Rotation.from_euler("z", 45.0, degrees=True).as_matrix()
        return (true.reshape(-1, 2, 3) @ turn).reshape(-1, 6)
    if kind == "gravity_elsewhere":
        return true + weight(rec.told.phi, WALL) - weight(rec.told.phi, UP)
    return true * {"sign_wrong": -np.ones(6), "axes_mirrored": np.tile([-1.0, 1.0, 1.0], 2),
                   "wrong_units": np.repeat([1.0, 1000.0], 3)}[kind]


@pytest.mark.parametrize("kind", [
    "sign_wrong", "axes_mirrored", "wrong_units", "wrench_in_base_axes", "sensor_turned",
    "gravity_elsewhere"])
def test_an_error_of_the_set_up_is_named_corrected_and_refused(kind: str) -> None:
    found, phi = of_wrong(made_wrong(kind))
    assert found.error is not None and found.error.kind == kind
    assert found.phi[0] == pytest.approx(phi[0], rel=0.003)
    (named, numbers), = contradictions(found, SHEET)
    assert named in (kind, f"frame_wrong.{kind}", "wrong_units.wrench")
    if kind == "gravity_elsewhere":
        assert np.allclose([numbers[axis] for axis in "xyz"], WALL, atol=0.01)
    if kind == "axes_mirrored":
        assert numbers["axes"] == "Fx and Tx"
    if kind == "sensor_turned":
        assert numbers["yaw"] == pytest.approx(45.0, abs=0.5)
    if kind == "wrong_units":
        assert found.error.units == "N and N mm"


def test_a_driver_that_compensates_too_much_is_named_beside_a_robot_upside_down() -> None:
    rec = recorded("white", seconds=15.0)[0]
    found, _ = of_wrong(-rec.wrench - 2.0 * weight(rec.told.phi, UP))
    (named, numbers), = contradictions(found, SHEET)
    assert (named, numbers["z"]) == ("frame_wrong.gravity_elsewhere", pytest.approx(-1.0, abs=1e-3))
    assert "precompensated" in str(numbers["why"])


def test_what_is_right_stays_so_and_contradicts_nothing() -> None:
    found, phi = of_wrong(-recorded("white", seconds=15.0)[0].wrench)
    assert found.error is None and not contradictions(found, SHEET, float(phi[0]))
    (kind, numbers), = contradictions(found, SHEET, 2.0 * float(phi[0]))
    assert kind == "reference_contradicted" and numbers["ratio"] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("late", [1.5, -0.8])
def test_a_late_clock_is_found_and_taken_into_account(late: float) -> None:
    found, phi = of_wrong(-recorded("white", seconds=15.0)[0].wrench, late)
    assert found.error is not None and found.error.kind == "clock_offset"
    assert found.setup.delay == pytest.approx(late, abs=0.003)
    assert found.phi[0] == pytest.approx(phi[0], rel=0.003)
    assert dict(found.named)["clock_offset"]["milliseconds"] == pytest.approx(1e3 * late, abs=3.0)
    assert not contradictions(found, SHEET)


def test_a_filter_of_second_order_beside_a_late_clock() -> None:
    source = "filter-2-1-late-0.1"
    found, phi = of_wrong(-recorded(source, seconds=15.0)[0].wrench, source=source)
    assert found.phi[0] == pytest.approx(phi[0], rel=0.003)
    time, damping = found.setup.filter
    assert 1.0 / (2.0 * np.pi * time) == pytest.approx(1.0, rel=0.05)
    assert found.setup.delay == pytest.approx(0.1, abs=0.02)
    assert damping == pytest.approx(1.0, abs=0.1)


def test_weight_that_the_driver_takes_off_is_found_by_inertia() -> None:
    rec = recorded("white", seconds=15.0)[0]
    found, phi = of_wrong(-rec.wrench - weight(1.4 * rec.told.phi, UP))
    assert found.error is not None and found.error.kind == "removed_payload"
    sd = np.sqrt(found.wide_covariance[0, 0])
    assert abs(found.phi[0] - phi[0]) < 4.0 * sd
    assert dict(found.named)["removed_payload"]["mass"] == pytest.approx(1.4 * phi[0], rel=0.1)


@pytest.mark.parametrize(("order", "kind"), [("wxyz", "quaternion_order"),
                                             ("inverse", "poses_inverted")])
def test_poses_in_another_order(order: str, kind: str) -> None:
    rec, motion, _ = recorded("white", seconds=15.0)
    n = len(motion.number)
    bare = motion._replace(joints=np.empty((n, 0, 3, 3)), twists=np.empty((n, 0, 6)))
    quaternions = Rotation.from_matrix(motion.rotation).as_quat()
    read = (motion.rotation.transpose(0, 2, 1) if order == "inverse"
            else Rotation.from_quat(np.roll(quaternions, 1, axis=1)).as_matrix())
    assert np.allclose(reordered(read, order), motion.rotation)
    back = read.transpose(0, 2, 1) @ motion.rotation
    found, phi = of_wrong(-rec.wrench, motion=bare._replace(
        rotation=read, acceleration=(back @ motion.acceleration[..., None])[..., 0]))
    assert found.error is not None and found.error.kind == kind
    assert found.phi[0] == pytest.approx(phi[0], rel=0.01)
