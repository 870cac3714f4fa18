# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Errors of the set-up, made in recordings that the referee simulates by itself."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from problems import motion_from_arrays
from scipy.spatial.transform import Rotation

from benchmarks.referee.generator import FRAME, Recording, Scenario
from inertial_id_ros.detect.contradictions import contradictions
from inertial_id_ros.explain.explain import Explanation, explain
from inertial_id_ros.explain.fit import Region
from inertial_id_ros.model.correction import reordered, turn_between
from inertial_id_ros.model.history import History, Window
from inertial_id_ros.model.newton_euler import static_wrench
from inertial_id_ros.model.sheet import Sheet, sheet_of
from inertial_id_ros.motion.motion import Motion
from inertial_id_ros.settings import Settings

SEED, G = 400000, 9.81


@cache
def recording(source: str = "white", seed: int = SEED) -> tuple[Recording, Motion]:
    rec = Scenario(source, seed, lengths=(15.0,), kinds=("joints",)).record()
    return rec, motion_from_arrays(rec.arm.urdf, FRAME, rec.arm.names, rec.joint_stamps,
                                   rec.positions)


def sheet() -> Sheet:
    return sheet_of(Settings())


def window(motion: Motion, stamps: np.ndarray, wrench: np.ndarray) -> Window:
    history = History()
    history.append(motion, stamps, wrench)
    return history.window(history.end, 30.0)


def explained(wrench: np.ndarray, late: float = 0.0, source: str = "white",
              motion: Motion | None = None) -> tuple[Explanation, np.ndarray]:
    """What a wrench W and zero tells, and the true payload (10,)."""
    rec, known = recording(source)
    box = rec.told.hint
    region = Region(np.array(box["shape.center"]), np.array(box["shape.size"]))
    stamps = rec.stamps + round(1e9 * late)
    return explain(window(motion or known, stamps, wrench), sheet(), region), rec.told.phi


def weight(phi: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Wrench (n, 6) of a payload at rest, with a vertical (3,) in the base."""
    return static_wrench(phi, G * recording()[0].motion.axes @ up)


UP = np.array([0.0, 0.0, 1.0])
WALL = np.array([0.6, 0.0, 0.8])


def made_wrong(kind: str) -> np.ndarray:
    rec, _ = recording()
    true, axes = -rec.wrench, rec.motion.axes
    if kind == "sign_wrong":
        return -true
    if kind == "axes_mirrored":
        return true * np.tile([-1.0, 1.0, 1.0], 2)
    if kind == "wrong_units":
        return true * np.repeat([1.0, 1000.0], 3)
    if kind == "wrench_in_base_axes":
        return (np.swapaxes(axes, 1, 2)[:, None] @ true.reshape(-1, 2, 3, 1)).reshape(-1, 6)
    if kind == "sensor_turned":
        turn = Rotation.from_euler("z", 45.0, degrees=True).as_matrix()
        return (true.reshape(-1, 2, 3) @ turn).reshape(-1, 6)
    return true + weight(rec.told.phi, WALL) - weight(rec.told.phi, UP)


@pytest.mark.parametrize("kind", [
    "sign_wrong", "axes_mirrored", "wrong_units", "wrench_in_base_axes", "sensor_turned",
    "gravity_elsewhere"])
def test_an_error_of_the_set_up_is_named_corrected_and_refused(kind: str) -> None:
    found, phi = explained(made_wrong(kind))
    assert found.error is not None and found.error.kind == kind
    assert found.phi[0] == pytest.approx(phi[0], rel=0.003)
    (named, numbers), = contradictions(found, sheet())
    assert named in (kind, f"frame_wrong.{kind}", "wrong_units.wrench")
    if kind == "gravity_elsewhere":
        assert np.allclose([numbers[axis] for axis in "xyz"], WALL, atol=0.01)
    if kind == "axes_mirrored":
        assert "Fx and Tx" in str(numbers["why"])
    if kind == "sensor_turned":
        assert numbers["yaw"] == pytest.approx(45.0, abs=0.5)
    if kind == "wrong_units":
        assert found.error.units == "N and N mm"


def test_what_is_right_stays_so_and_contradicts_nothing() -> None:
    rec, _ = recording()
    found, phi = explained(-rec.wrench)
    assert found.error is None and not contradictions(found, sheet(), float(phi[0]))
    (kind, numbers), = contradictions(found, sheet(), 2.0 * float(phi[0]))
    assert kind == "reference_contradicted" and numbers["ratio"] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("late", [1.5, -0.8])
def test_a_late_clock_is_found_and_taken_into_account(late: float) -> None:
    found, phi = explained(-recording()[0].wrench, late)
    assert found.error is not None and found.error.kind == "clock_offset"
    assert found.setup.delay == pytest.approx(late, abs=0.003)
    assert found.phi[0] == pytest.approx(phi[0], rel=0.003)
    assert dict(found.named)["clock_offset"]["milliseconds"] == pytest.approx(1e3 * late, abs=3.0)
    assert not contradictions(found, sheet())


def test_a_filter_of_second_order_beside_a_late_clock() -> None:
    source = "filter-2-1-late-0.1"
    found, phi = explained(-recording(source)[0].wrench, source=source)
    assert found.phi[0] == pytest.approx(phi[0], rel=0.003)
    time, damping = found.setup.filter
    assert 1.0 / (2.0 * np.pi * time) == pytest.approx(1.0, rel=0.05)
    assert found.setup.delay == pytest.approx(0.1, abs=0.02)
    assert damping == pytest.approx(1.0, abs=0.1)


def test_weight_that_the_driver_takes_off_is_found_by_inertia() -> None:
    rec, _ = recording()
    found, phi = explained(-rec.wrench - weight(1.4 * rec.told.phi, UP))
    assert found.error is not None and found.error.kind == "removed_payload"
    sd = np.sqrt(found.wide_covariance[0, 0])
    assert abs(found.phi[0] - phi[0]) < 4.0 * sd
    assert dict(found.named)["removed_payload"]["mass"] == pytest.approx(1.4 * phi[0], rel=0.1)


@pytest.mark.parametrize(("order", "kind"), [("wxyz", "quaternion_order"),
                                             ("inverse", "poses_inverted")])
def test_poses_in_another_order(order: str, kind: str) -> None:
    rec, motion = recording()
    n = len(motion.number)
    bare = motion._replace(joints=np.empty((n, 0, 3, 3)), twists=np.empty((n, 0, 6)))
    quaternions = Rotation.from_matrix(motion.rotation).as_quat()
    read = (motion.rotation.transpose(0, 2, 1) if order == "inverse"
            else Rotation.from_quat(np.roll(quaternions, 1, axis=1)).as_matrix())
    assert np.allclose(reordered(read, order), motion.rotation)
    back = read.transpose(0, 2, 1) @ motion.rotation
    wrong = bare._replace(rotation=read,
                          acceleration=(back @ motion.acceleration[..., None])[..., 0])
    found, phi = explained(-rec.wrench, motion=wrong)
    assert found.error is not None and found.error.kind == kind
    assert found.phi[0] == pytest.approx(phi[0], rel=0.01)


@pytest.mark.parametrize("up", [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.6, 0.0, 0.8]])
def test_a_base_is_turned_upright(up: list[float]) -> None:
    turn = turn_between(np.array(up), UP)
    assert np.allclose(turn @ up, UP) and np.allclose(turn @ turn.T, np.eye(3))
    assert np.linalg.det(turn) == pytest.approx(1.0)


def test_a_wrench_that_nothing_explains_is_refused() -> None:
    rec, _ = recording()
    rng = np.random.default_rng(SEED)
    walk = np.cumsum(rng.normal(size=(len(rec.stamps), 6)), axis=0)
    found, _ = explained(-rec.wrench + 2.0 * walk)
    kinds = [kind for kind, _ in contradictions(replace(found, error=None), sheet())]
    assert set(kinds) & {"frame_wrong", "sign_wrong", "wrong_units.wrench"}
