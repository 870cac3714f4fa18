# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The inertia of a payload that pours or slides: while it changes, and as long as the window holds
what it was before, an entry is right within its interval or does not count as identified."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pytest
from synthetic import (
    JOINTS,
    NOISE,
    RICH,
    URDF,
    PointMasses,
    Scene,
    nanoseconds,
    payload,
    second_difference,
    stamps,
)

from inertial_id_ros.api import Estimate, Identifier, Settings
from inertial_id_ros.estimate import IDENTIFIED

RATE, EVERY = 500.0, 0.5  # Hz; s between estimates
BEGIN, AFTER = 10.0, 16.0  # s before the change, and after it
SCENE = Scene(replace(RICH, frequency=0.8 * RICH.frequency))
STEP = 2e-3  # s, of second differences
BODY = payload()
KILOGRAM = np.array([[0.0, 0.0, 0.15]])
ALL = PointMasses(np.vstack([BODY.points, KILOGRAM]), np.append(BODY.masses, 1.0))
BETWEEN = ALL.masses @ ALL.points / ALL.masses.sum()
pytestmark = pytest.mark.slow


class Load(NamedTuple):
    """Points (k, 3) [m] with masses (k,) [kg] that change evenly to others within some seconds."""

    seconds: float
    before: PointMasses
    after: PointMasses

    def at(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points (n, k, 3) and masses (n, k) at times (n,)."""
        share = np.clip((t - BEGIN) / self.seconds, 0.0, 1.0)[:, None]
        return (self.before.points + share[..., None] * (self.after.points - self.before.points),
                self.before.masses + share * (self.after.masses - self.before.masses))

    def wrench(self, t: np.ndarray) -> np.ndarray:
        """Force and torque (n, 6) of the sensor on it; what leaves does so without a push."""
        around = [(*SCENE.sensor_in_world(s), self.at(s)[0])
                  for s in (t + k * STEP for k in (-2, -1, 0, 1, 2))]
        turn, origin, points = around[2]
        total = np.zeros((len(t), 6))
        for k, mass in enumerate(self.at(t)[1].T):
            path = [r.apply(x[:, k]) + p for r, p, x in around]
            force = mass[:, None] * (second_difference(path, STEP) - SCENE.gravity)
            total += np.hstack([turn.inv().apply(force), turn.inv().apply(
                np.cross(path[2] - origin, force))])
        return total

    def report(self, t: float) -> np.ndarray:
        """Mass, centre of mass and inertia about it (10,)."""
        points, masses = self.at(np.array([t]))
        return PointMasses(points[0], masses[0]).report


def pours(change: float, seconds: float, place: np.ndarray) -> Load:
    """A change of the mass at a place (1, 3), between a whole kilogram there and none."""
    points = np.vstack([BODY.points, place])
    first, last = (1.0, 1.0 + change) if change < 0.0 else (0.0, change)
    return Load(seconds, *(PointMasses(points, np.append(BODY.masses, m)) for m in (first, last)))


def slides(way: list[float], seconds: float) -> Load:
    """Half of the payload slides this way [m]."""
    shift = np.zeros_like(ALL.points)
    shift[::2] = way
    return Load(seconds, ALL, PointMasses(ALL.points + shift, ALL.masses))


LOADS = {
    "a kilogram out": lambda: pours(-1.0, 20.0, KILOGRAM),
    "a kilogram out of the middle": lambda: pours(-1.0, 20.0, BETWEEN[None]),
    "half of it, fast": lambda: pours(-0.5, 8.0, KILOGRAM),
    "a kilogram in": lambda: pours(1.0, 15.0, KILOGRAM),
    "slides": lambda: slides([0.04, 0.03, 0.0], 8.0)}


class Seen(NamedTuple):
    """Estimates at times (n,) [s]: errors and standard deviations (n, 10) of the report, whether
    each entry counts as identified (n, 10), and mean principal moments (n,) [kg m^2]."""

    t: np.ndarray
    error: np.ndarray
    sd: np.ndarray
    identified: np.ndarray
    moment: np.ndarray


@lru_cache
def see(name: str) -> Seen:
    """The fresh estimates of a load from `BEGIN` until `AFTER` its change, every half second."""
    load = LOADS[name]()
    t = stamps(BEGIN + load.seconds + AFTER, RATE)
    wrench = -load.wrench(t) + np.random.default_rng(1).normal(size=(len(t), 6)) * NOISE
    positions, ns = SCENE.motion.positions(t), nanoseconds(t)
    made = Identifier(Settings())
    made.set_robot_description(URDF)
    rows, step = [], round(EVERY * RATE)
    for end in range(step, len(t) + 1, step):
        part = slice(end - step, end)
        made.add_joint_states(ns[part], list(JOINTS), positions[part])
        made.add_wrenches(ns[part], "tool0", wrench[part])
        outcome, now = made.solve(), float(t[end - 1])
        if now > BEGIN and isinstance(outcome, Estimate) and not outcome.stale:
            true = load.report(now)
            rows.append((now, outcome.report - true, outcome.sigma,
                         np.array(outcome.verdict) == IDENTIFIED, true[[4, 7, 9]].mean()))
    return Seen(*(np.array(column) for column in zip(*rows, strict=True)))


@pytest.mark.parametrize("name", LOADS)
def test_an_inertia_that_changes_is_right_or_not_identified(name: str) -> None:
    seen = see(name)
    error, sd, identified = np.abs(seen.error[:, 4:]), seen.sd[:, 4:], seen.identified[:, 4:]
    assert ((error <= 2.0 * sd)[identified]).mean() >= 0.9
    wrong = identified & (error > 3.0 * sd) & (error > 0.2 * seen.moment[:, None])
    assert EVERY * wrong.any(axis=1).sum() <= 1.0  # s, until it shows
    assert (np.abs(seen.error) <= 2.0 * seen.sd)[:, :4].mean() >= 0.9


@pytest.mark.parametrize("name", ["half of it, fast", "slides"])
def test_an_inertia_that_has_changed_is_identified_again(name: str) -> None:
    """While the window still holds the change."""
    seen = see(name)
    assert seen.identified[-1].all()
    assert (np.abs(seen.error[-1, 4:]) < 0.2 * seen.moment[-1]).all()
