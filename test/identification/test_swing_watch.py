# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A part that swings by itself is named with frequency and share; a rigid body is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from inertial_id_ros.findings import FindingLog
from inertial_id_ros.identification.wrench.swing_watch import (
    NOT_RIGID,
    SwingWatch,
    find_swing,
    swing_covariance,
)
from inertial_id_ros.inertia import PARAMETERS
from inertial_id_ros.kinematics.motion import Motion
from inertial_id_ros.regression.newton_euler import regressor

NOISE = np.repeat([0.045, 0.0022], 3)
PLACE = np.array([0.02, -0.01, 0.12])
PHI = 2.0 * np.r_[1.0, PLACE, 0.02, 0.0, 0.0, 0.02, 0.0, 0.004]


def recorded(mass: float, rate: float) -> tuple[Motion, np.ndarray, np.ndarray]:
    """Motion, regressor and wrench of 12 s along the axes of the room, with a part of this mass
    [kg] on a spring at the centre of mass, integrated by itself."""
    rng = np.random.default_rng(3)
    t = np.arange(1200) / 100.0
    parts = [(rng.uniform(0.5, 2.0, 3), rng.uniform(1.0, 7.0), rng.uniform(0.0, 6.0))
             for _ in range(6)]

    def acceleration(time: float) -> np.ndarray:
        return np.asarray(sum(size * np.sin(w * time + p) for size, w, p in parts))

    a = np.array([acceleration(time) for time in t])
    alpha = np.stack([np.sin(1.3 * t), np.cos(2.1 * t), np.sin(0.7 * t)], axis=1) * 0.01
    omega = np.zeros_like(alpha)
    turn = 2.0 * np.pi * rate

    def law(time: float, state: np.ndarray) -> np.ndarray:
        own = -acceleration(time) - 2.0 * 0.05 * turn * state[3:] - turn**2 * state[:3]
        return np.r_[state[3:], own]

    states = solve_ivp(law, (0.0, t[-1]), np.zeros(6), t_eval=t, max_step=0.01).y
    own = np.gradient(states[3:], t, axis=1).T
    axes = np.broadcast_to(np.eye(3), (len(t), 3, 3))
    motion = Motion(axes, 9.81, a, omega, alpha, np.ones(len(t), dtype=bool))
    columns = regressor(motion.proper_acceleration, omega, alpha)
    force = mass * own
    wrench = columns @ PHI + np.hstack([force, np.cross(PLACE, force)])
    return motion, columns, wrench + NOISE * rng.normal(size=wrench.shape)


@pytest.mark.parametrize("rate", [0.9, 1.2, 1.6])
def test_a_part_on_a_spring_is_named_with_frequency_and_share(rate: float) -> None:
    motion, a, y = recorded(0.5, rate)
    log = FindingLog()
    watch = SwingWatch(log)
    for begin in range(0, len(y), 50):
        part = slice(begin, begin + 50)
        watch.add(np.arange(begin, begin + 50), motion.part(part), a[part], y[part], NOISE)
    assert [f.name for f in log.all()] == [NOT_RIGID] and watch.swing is not None
    assert watch.swing.rate == pytest.approx(rate, rel=0.12)
    assert watch.swing.share == pytest.approx(0.25, rel=1.0 / 3.0)


def test_a_rigid_body_is_none() -> None:
    motion, a, y = recorded(0.0, 1.6)
    columns = np.concatenate([a, y[..., None]], axis=2)
    assert find_swing(columns, motion.axes, NOISE) is None
    assert not swing_covariance(PHI, None).any()


def test_nothing_is_claimed_of_the_inertia_beside_a_part_that_swings() -> None:
    motion, a, y = recorded(0.5, 1.6)
    swing = find_swing(np.concatenate([a, y[..., None]], axis=2), motion.axes, NOISE)
    covariance = swing_covariance(PHI, swing)
    assert covariance.shape == (PARAMETERS, PARAMETERS)
    assert np.sqrt(covariance[4, 4]) > 0.5 * (PHI[4] + PHI[7] + PHI[9]) / 3.0


@pytest.mark.slow
def test_a_part_that_swings_stays_named_while_it_rests_as_long_as_bins_are_kept_that_show_it(
        ) -> None:
    log = FindingLog()
    watch = SwingWatch(log)
    named = []
    for begin, mass in ((0, 0.5), (1200, 0.0), (2400, 0.0), (3600, 0.0)):
        motion, a, y = recorded(mass, 1.6)
        for first in range(0, len(y), 50):
            part = slice(first, first + 50)
            watch.add(begin + np.arange(first, first + 50), motion.part(part), a[part], y[part],
                      NOISE)
            named.append(bool(log.all()))
    assert all(named[24:36]) and not any(named[-20:])
