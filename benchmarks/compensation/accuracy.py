# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is left of weight, bias and inertia of the payload in each wrench, at rest and in motion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from inertial_id_ros.apps.simulation.cobot import Recording, SimulatedCobot
from inertial_id_ros.apps.simulation.payload import Part, Payload
from inertial_id_ros.apps.simulation.settings import CobotSettings
from inertial_id_ros.identification.compensation.live_compensation import LiveCompensation
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.inertia import Array
from inertial_id_ros.kinematics.causal.features import TERMS
from inertial_id_ros.settings import Settings

START_NS = 1_700_000_000_000_000_000
_RATE, _NOISE = 500.0, (0.1, 0.005)  # Hz; N, N m
_BIAS = [3.0, -2.0, 4.0, 0.1, -0.2, 0.05]
_SECONDS, _KNOWN = 200.0, 20.0  # of a recording, and from when on it counts
_ADVANCE, _SOLVE = 0.1, 0.5  # s
_STILL = 1e-6  # rad/s
_SPEED = {"point_to_point": 1.0, "sinusoid": 0.7, "stop_and_go": 0.7}  # rad/s: peak, mean, mean
_SEEDS = range(21, 23)
_COLUMNS = ("motion", "encoder noise, rad", "terms", "orientations", "speed, rad/s: rms, most",
            "at rest: force, torque", "in motion: force, torque", "published")


def cube() -> Payload:
    """1 kg, 10 cm from the origin of the sensor."""
    side = 0.06
    return Payload("cube", (Part("box", (side,) * 3, 1.0 / side**3, (0.0, 0.06, 0.08)),))


def measure(seeds: range = _SEEDS) -> None:
    """Print the table: residuals in standard deviations of one sample."""
    print(f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}")
    for motion in _SPEED:
        for noise in (1e-4, 2e-5):
            runs = [_run(motion, noise, seed) for seed in seeds]
            for terms in TERMS:
                _print(motion, noise, terms, [run[terms] for run in runs])


def _print(motion: str, noise: float, terms: str, runs: list[tuple[Array, ...]]) -> None:
    """Print a row of runs, each the residuals (k, 6), speeds (k,) and number of orientations."""
    left, speed = (np.concatenate([run[k] for run in runs]) for k in (0, 1))
    still = speed < _STILL
    cells = [motion, f"{noise:g}", terms, str(sum(int(run[2]) for run in runs)),
             f"{np.sqrt((speed[~still]**2).mean()):.2f}, {speed.max():.2f}"]
    for which in (still, ~still):
        good = which & np.isfinite(left[:, 0])
        rms = [np.sqrt((left[good, part]**2).mean()) for part in (slice(0, 3), slice(3, 6))]
        cells.append(", ".join(f"{r:.2f}" for r in rms) if good.any() else "")
    cells.append(f"{100.0 * np.isfinite(left[:, 0]).mean():.2f} %")
    print(f"| {' | '.join(cells)} |", flush=True)


def _run(motion: str, encoder_noise: float, seed: int) -> dict[str, tuple[Any, ...]]:
    """Residuals by terms, with the speeds and the number of orientations at rest."""
    cobot = SimulatedCobot(CobotSettings().replace({
        "motion": motion, "rate": _RATE, "speed": _SPEED[motion], "tool_speed": 0.5, "rest": 1.0,
        "noise": _NOISE, "bias": _BIAS, "encoder_noise": encoder_noise, "seed": seed}),
        payload=cube())
    made = Identifier(Settings().replace({"wrench.sensor": "ideal"}))
    made.set_robot_description(cobot.urdf)
    now = [0.0]
    lives = {terms: LiveCompensation(
        made.settings.replace({"compensation.terms": terms}), lambda: now[0]) for terms in TERMS}
    for live in lives.values():
        live.begin()
    left: dict[str, list[Any]] = {terms: [] for terms in TERMS}
    speeds: list[Array] = []
    for block in cobot.blocks(_SECONDS):
        speeds.append(np.linalg.norm(block.truth.omega, axis=1))
        for t in _play(block, cobot, made, lives, left):
            now[0] = t
    speed = np.concatenate(speeds)
    first = round(_KNOWN * _RATE)
    rests = int((np.diff((speed[first:] < _STILL).astype(int)) == 1).sum())
    deviations = np.repeat(_NOISE, 3)
    return {terms: (np.array(rows)[first:] / deviations, speed[first:], rests)
            for terms, rows in left.items()}


def _play(block: Recording, cobot: SimulatedCobot, made: Identifier,
          lives: dict[str, LiveCompensation], left: dict[str, list[Any]]) -> Iterator[float]:
    """Feed a block; gives the time of each sample [s]."""
    names, frame = tuple(cobot.joint_names), cobot.sensor_frame
    nothing = [np.nan] * 6
    for t, q, w in zip(block.t.tolist(), block.q.tolist(), block.wrench.tolist(), strict=True):
        stamp = START_NS + round(t * 1e9)
        made.add_joint_state(stamp, names, q)
        made.add_wrench(stamp, frame, w[:3], w[3:])
        for terms, live in lives.items():
            live.add_joint_state(stamp, names, q)
            left[terms].append(live.compensate(stamp, frame, w) or nothing)
        step = round(t * _RATE)
        if step % round(_ADVANCE * _RATE) == 0:
            made.advance()
            if step % round(_SOLVE * _RATE) == 0:
                made.solve()
            for live in lives.values():
                live.use(made.load_in_use())
        yield t
