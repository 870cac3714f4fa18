# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""While the arm rests a push may look like another payload: nothing that was known is dropped
until motion tells, but for the release of exactly what was carried."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from disturbed import NOISE, SLOW, identify, texts
from synthetic import (
    BODY,
    RICH,
    START,
    PointMasses,
    Recording,
    Scene,
    Sinusoids,
    joint_messages,
    nanoseconds,
    stamps,
)

from inertial_id_ros.identification.compensation.load_latch import Mode
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.regression.tool import Tool

REST, MOVES, END = 5.0, 10.0, 14.0  # s
RAMP = 0.5  # s in which the arm stops, or starts
TOUCHED, LEFT = 6.0, 9.0  # s
NOTHING = PointMasses(np.zeros((1, 3)), np.array([1e-9]))


@dataclass(frozen=True)
class Paused(Sinusoids):
    """Sinusoids that rest from REST to MOVES."""

    def positions(self, t: np.ndarray) -> np.ndarray:
        """Positions (n, joints)."""
        return super().positions(own_time(np.asarray(t)))


def own_time(t: np.ndarray) -> np.ndarray:
    """Time of the motion, which stops with a cosine ramp and starts with another one."""
    def ramp(x: np.ndarray) -> np.ndarray:  # integral of a step from 0 to 1 within RAMP
        inside = np.clip(x, 0.0, RAMP)
        grown = 0.5 * (inside - RAMP / np.pi * np.sin(np.pi * inside / RAMP))
        return grown + np.maximum(x - RAMP, 0.0)

    return t - ramp(t - REST) + ramp(t - MOVES)


SCENE = Scene(Paused(SLOW.motion.offset, SLOW.motion.amplitude, SLOW.motion.frequency, RICH.phase))


def samples(load: np.ndarray, seed: int) -> Recording:
    """A recording with this load (n, 6) on the payload at 200 Hz."""
    t = stamps(END, 200.0)
    reading = -load + np.random.default_rng(seed).normal(size=load.shape) * NOISE
    wrenches = [(int(s), "add_wrench", (int(s), "tool0", w[:3].tolist(), w[3:].tolist()))
                for s, w in zip(nanoseconds(t), reading, strict=True)]
    return (joint_messages(SCENE, t) + Recording(wrenches)).sorted()


def play(made: Identifier, recording: Recording, seen: list[tuple[float, float, Mode]]) -> None:
    """Feed a recording with a solve every half second; notes time, removed mass, and mode."""
    due, solve = START, START
    for stamp, method, arguments in recording.messages:
        getattr(made, method)(*arguments)
        if stamp >= due:
            made.advance()
            due = stamp + 50_000_000
            if stamp >= solve:
                made.solve()
                solve = stamp + 500_000_000
            use = made.load_in_use()
            seen.append(((stamp - START) * 1e-9, float(use.load.phi[0]), use.mode))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40000, 40012))
def test_a_quiet_contact_at_rest_never_drops_what_was_known(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t = stamps(END, 200.0)
    tilt = np.deg2rad(rng.choice([0.0, 0.5, 1.0, 5.0, 20.0]))
    size = rng.choice([-1.0, 1.0]) * rng.uniform(5.0, 30.0)
    push = size * np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    ripple = rng.normal(size=(len(t), 3)) * rng.choice([0.02, 0.1, 0.4])
    turn, _ = SCENE.sensor_in_world(t)
    touching = (t > TOUCHED) & (t < LEFT)
    force = turn.inv().apply(touching[:, None] * (push + ripple))
    point = rng.uniform(-0.1, 0.1, 3) + [0.0, 0.0, 0.1]
    outside = np.hstack([force, np.cross(point, force)])
    seen: list[tuple[float, float, Mode]] = []
    made = identify()
    play(made, samples(SCENE.load(t, BODY) - outside, seed), seen)
    after = [(x, mass, mode) for x, mass, mode in seen if x > TOUCHED - 0.5]
    assert all(mode is Mode.PAYLOAD for _, _, mode in after), after
    assert all(abs(mass - BODY.masses.sum()) < 0.05 for _, mass, _ in after)
    assert "payload_changed" not in texts(made) and made.solve().valid


@pytest.mark.slow
@pytest.mark.parametrize("with_tool", [False, True])
def test_at_rest_the_release_of_all_that_is_known_is_believed(with_tool: bool) -> None:
    tool = PointMasses(np.array([[0.0, 0.03, 0.05], [0.02, 0.0, 0.08]]), np.array([0.5, 0.4]))
    both = PointMasses(np.vstack([BODY.points, tool.points]), np.r_[BODY.masses, tool.masses])
    t = stamps(END, 200.0)
    before, left = (both, tool) if with_tool else (BODY, NOTHING)
    load = np.where((t < TOUCHED)[:, None], SCENE.load(t, before), SCENE.load(t, left))
    made = identify()
    if with_tool:
        made.set_tool(Tool("tool0", phi_of(tool), 1e-12 * np.eye(10), START))
    seen: list[tuple[float, float, Mode]] = []
    play(made, samples(load, 40100), seen)
    rest = left.masses.sum()
    assert all(abs(mass - rest) < 0.05 for x, mass, _ in seen if TOUCHED + 1.2 < x < MOVES)
    assert "payload_changed" in texts(made)


@pytest.mark.slow
def test_a_grip_of_something_unknown_is_told_by_the_first_motion() -> None:
    extra = PointMasses(np.vstack([BODY.points, [[0.05, 0.0, 0.2]]]), np.r_[BODY.masses, 0.8])
    t = stamps(END, 200.0)
    load = np.where((t < TOUCHED)[:, None], SCENE.load(t, BODY), SCENE.load(t, extra))
    made = identify()
    seen: list[tuple[float, float, Mode]] = []
    play(made, samples(load, 40200), seen)
    at_rest = [mass for x, mass, _ in seen if TOUCHED < x < MOVES]
    assert all(abs(mass - BODY.masses.sum()) < 0.05 for mass in at_rest)
    in_the_end = [mass for x, mass, mode in seen if x > MOVES + 3.0 and mode is Mode.PAYLOAD]
    assert in_the_end and all(abs(mass - extra.masses.sum()) < 0.1 for mass in in_the_end)


def phi_of(body: PointMasses) -> np.ndarray:
    """phi (10,) of points about the sensor's origin."""
    m, (x, y, z) = body.masses, body.points.T
    return np.array([m.sum(), *(m @ body.points), m @ (y * y + z * z), -m @ (x * y), -m @ (x * z),
                     m @ (x * x + z * z), -m @ (y * z), m @ (x * x + y * y)])
