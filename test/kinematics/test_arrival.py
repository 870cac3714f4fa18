# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Samples stamped on arrival move as those of a regular clock; right stamps are left alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from synthetic import JOINTS, START, URDF, Scene

from inertial_id_ros.kinematics.joint_motion import BASE_NS, JointMotion, RobotFrame, even_out
from inertial_id_ros.kinematics.motion import Motion
from inertial_id_ros.kinematics.polynomial import gather_samples, measure_spacing
from inertial_id_ros.kinematics.robot_description import parse_urdf
from inertial_id_ros.kinematics.transform_tree import TransformTree

PERIOD = 0.002


def _delays(t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.maximum.accumulate(t + rng.exponential(0.003, len(t)))


def _bursts(t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Of 4 to 8 samples, 50 to 100 us apart."""
    out, begin = t.copy(), 0
    while begin < len(t):
        end = min(begin + int(rng.integers(4, 9)), len(t))
        out[begin:end] = t[end - 1] + np.cumsum(rng.uniform(5e-5, 1e-4, end - begin))
        begin = end
    return out


def _in_order(t: np.ndarray) -> np.ndarray:
    """Stamps (n,) [ns], at least a microsecond from each other."""
    rank = 1000 * np.arange(len(t))
    return START + np.maximum.accumulate(np.round(1e9 * t).astype(np.int64) - rank) + rank


def _move(t: np.ndarray, stamps: np.ndarray, wanted: np.ndarray, pieces: int = 1) -> list[Motion]:
    """Motion at wanted times [s] from joint states taken at t (n,) [s] and stamped otherwise."""
    robot = RobotFrame(parse_urdf(URDF), TransformTree(), "tool0", "", 9.81)
    source = JointMotion(robot, 0.15)
    for stamp, q in zip(stamps, Scene().motion.positions(t), strict=True):
        source.add(int(stamp), JOINTS, q.tolist())
    at = START + np.round(1e9 * wanted).astype(np.int64)
    return [source.motion_at(part) for part in np.array_split(at, pieces)]


def _worst_acceleration(motion: Motion, wanted: np.ndarray) -> float:
    """Largest error of the angular acceleration [rad/s^2] at these times [s], of 5 rad/s^2."""
    robot = RobotFrame(parse_urdf(URDF), TransformTree(), "tool0", "", 9.81)
    true = robot.motion(*Scene().motion.derivatives(wanted), np.ones(len(wanted), dtype=bool))
    assert np.abs(true.alpha).max() > 5.0 and motion.valid.all()
    return float(np.abs(motion.alpha - true.alpha).max())


@pytest.mark.parametrize("arrive", [_delays, _bursts])
@pytest.mark.parametrize("seed", range(3))
def test_accelerations_from_late_messages_are_those_of_the_motion_before(
        arrive: Callable[..., np.ndarray], seed: int) -> None:
    t, wanted = np.arange(0.0, 8.0, PERIOD), np.arange(3.5, 7.5, 0.01)
    arrival = arrive(t, np.random.default_rng(seed))
    late = float(np.mean(arrival - t))
    motion = _move(t, _in_order(arrival), wanted)[0]
    assert _worst_acceleration(motion, wanted - late) < 0.2
    noise = motion.noise
    assert noise is not None and np.sqrt(noise.pose_covariance[:3, :3].trace()) < 2e-4


def test_they_are_the_same_in_pieces_as_all_at_once() -> None:
    t, wanted = np.arange(0.0, 8.0, PERIOD), np.arange(1.0, 7.5, 0.01)
    stamps = _in_order(_delays(t, np.random.default_rng(0)))
    whole, pieces = _move(t, stamps, wanted)[0], _move(t, stamps, wanted, 40)
    np.testing.assert_allclose(np.concatenate([p.alpha for p in pieces]), whole.alpha, atol=1e-5)


def test_stamps_that_are_irregular_and_right_are_left_alone() -> None:
    """Samples at random times: a regular clock does not fit them."""
    rng = np.random.default_rng(1)
    t = np.cumsum(rng.exponential(PERIOD, 4000) + 1e-4)
    wanted = np.arange(3.5, t[-1] - 0.5, 0.01)
    assert _worst_acceleration(_move(t, _in_order(t), wanted)[0], wanted) < 0.2


def test_regular_stamps_with_samples_missing_are_left_alone() -> None:
    rng = np.random.default_rng(2)
    t, wanted = np.arange(0.0, 8.0, PERIOD), np.arange(3.5, 7.5, 0.01)
    t = t[rng.random(len(t)) > 0.1]
    assert _worst_acceleration(_move(t, _in_order(t), wanted)[0], wanted) < 0.2


def test_a_clock_fits_late_samples_and_not_those_with_right_stamps() -> None:
    rng = np.random.default_rng(3)
    t = np.arange(0.0, 6.0, PERIOD)
    wanted = START + np.arange(4_000_000_000, 5_500_000_000, 10_000_000)
    for taken, arrival, expected in ((t, _delays(t, rng), True),
                                     (_delays(t, rng), None, False)):
        stamps = _in_order(taken if arrival is None else arrival)
        values = np.sin(3.0 * taken)[:, None]
        near = stamps > wanted[0] - BASE_NS
        index, u, weights = gather_samples(stamps[near], wanted, 0.15)
        *_, even = even_out(stamps[near], wanted, 0.15, measure_spacing(stamps), index, u,
                            weights, values[near][index])
        assert np.mean(even == expected) > 0.95
