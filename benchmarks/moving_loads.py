# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Loads that move in the gripper, and what acts on the arm beside them.

    python -m benchmarks.moving_loads [--runs 100] [--seed 50000] [--only pour-out,rigid]

Each run has an arm, a payload and a motion of its own (as `accuracy.real_sensors` draws them), and
a situation that begins after 10 s. An estimate is made every half second. The table gives, of the
estimates from then on that are fresh: how often the interval of two standard deviations holds mass
and centre of mass as they are *then* (`cover`), and those entries of the inertia that count as
identified; the seconds in which one is more than three standard deviations and more than the limit
of its verdict off (`wrong`), and those in which all of the inertia is identified (`known I`); and
the largest error of the compensated wrench behind the first seconds [N]. A situation is felt in a
run where it leaves more than half of the sensor's noise beside the best rigid load until 5 s of
motion have passed; `named` says in which share of those a finding has named it by then. Rigid loads
are there with the errors of sensors that might look like a moving one.
"""

from __future__ import annotations

import os

for _threads in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[f"{_threads}_NUM_THREADS"] = "1"

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.accuracy.motions import GRAVITY
from benchmarks.accuracy.real_sensors.arms import ARMS, SENSOR_FRAME, Arm, SensorMotion
from benchmarks.accuracy.real_sensors.errors import Effect, drift, hysteresis
from benchmarks.accuracy.real_sensors.paths import JointPath, PathLaw, random_path
from benchmarks.accuracy.real_sensors.payloads import random_composite
from benchmarks.accuracy.real_sensors.recordings import BIAS_SD, ENCODER_NOISE, START_NS
from benchmarks.accuracy.real_sensors.recordings import _cable_wrench as cable_wrench
from benchmarks.accuracy.sensors import direction, newton_euler
from inertial_id_ros.api import Estimate, Identifier, Settings
from inertial_id_ros.estimate import IDENTIFIED
from inertial_id_ros.identification.compensation.load_latch import Mode
from inertial_id_ros.identification.wrench.compensation import remove_load
from inertial_id_ros.inertia import Array, min_eigenvalue, point_columns, report_from_phi
from inertial_id_ros.kinematics.motion import Motion

RATE, SECONDS, BEGIN, EVERY = 500, 32.0, 10.0, 0.5
WHITE = np.repeat([0.1, 0.005], 3)
IMU_NOISE = np.repeat([0.02, 0.002], 3)  # m/s^2, rad/s of a reading, 100 a second
MASSES = (0.8, 4.0)  # kg
NAMED, REST = 5.0, 5.0  # s
FELT = 0.5  # standard deviations of the noise of a sample
Moved = Callable[[SensorMotion, Array, Array, np.random.Generator], tuple[Array, Array]]


class Situation(NamedTuple):
    """What happens from `BEGIN` on.

    Attributes:
        wrench: gives the wrench (n, 6) of the sensor on the payload, and the parameters (n, 10) as
            they are at each time, from motion, phi (10,), times (n,) and a generator.
        findings: any of these names it; kinds: of motions.
        effects: of the sensor.
        base: acceleration (n, 3) of the base at times (n,), by a generator; None: it stands still.
        has_imu: whether an IMU on the base measures that.
        rests: whether the arm stands still for the first `REST`.
        described: lengths of the arm in its description, over the true ones.
    """

    wrench: Moved
    findings: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("wrist", "joints", "stop-and-go")
    effects: tuple[Effect, ...] = ()
    base: Callable[[Array, np.random.Generator], Array] | None = None
    has_imu: bool = False
    rests: bool = False
    described: float = 1.0


def _rigid(motion: SensorMotion, phi: Array, t: Array,
           rng: np.random.Generator) -> tuple[Array, Array]:
    return (newton_euler(phi, motion.proper, motion.omega, motion.alpha),
            np.tile(phi, (len(t), 1)))


def _with_cable(motion: SensorMotion, phi: Array, t: Array,
                rng: np.random.Generator) -> tuple[Array, Array]:
    wrench, now = _rigid(motion, phi, t, rng)
    return wrench - cable_wrench(motion, (2.0, 5.0), rng), now


def _with_points(motion: SensorMotion, phi: Array, mass: Array, places: Array
                 ) -> tuple[Array, Array]:
    """A body with a point mass (n,) at places (n, 3), which moves so slowly that only where it is
    counts; mass may be negative."""
    force = mass[:, None] * (motion.proper + np.cross(motion.alpha, places) + np.cross(
        motion.omega, np.cross(motion.omega, places)))
    wrench = newton_euler(phi, motion.proper, motion.omega, motion.alpha) + np.hstack(
        [force, np.cross(places, force)])
    return wrench, phi + mass[:, None] * point_columns(places).T


def _ramp(t: Array, seconds: float) -> Array:
    return np.clip((t - BEGIN) / seconds, 0.0, 1.0)


def _slide(motion: SensorMotion, phi: Array, t: Array,
           rng: np.random.Generator) -> tuple[Array, Array]:
    """The centre of mass slides 1 to 4 cm in 3 to 10 s."""
    way = rng.uniform(0.01, 0.04) * direction(rng) * _ramp(t, rng.uniform(3.0, 10.0))[:, None]
    part = 0.5 * phi[0]  # twice as far
    at = phi[1:4] / phi[0]
    one, rest = _with_points(motion, phi, np.full(len(t), -part), np.tile(at, (len(t), 1)))
    two, moved = _with_points(motion, 1e-9 * phi, np.full(len(t), part), at + 2.0 * way)
    return one + two, rest + moved


def _pour(sign: float) -> Moved:
    """A third to two thirds of the mass pours out, or as much in, in 8 to 20 s."""
    def moved(motion: SensorMotion, phi: Array, t: Array,
              rng: np.random.Generator) -> tuple[Array, Array]:
        place = phi[1:4] / phi[0] + rng.uniform(0.0, 0.05) * direction(rng)
        mass = sign * phi[0] * rng.uniform(0.33, 0.67) * _ramp(t, rng.uniform(8.0, 20.0))
        return _with_points(motion, phi, mass, np.tile(place, (len(t), 1)))
    return moved


def _kilogram(motion: SensorMotion, phi: Array, t: Array,
              rng: np.random.Generator) -> tuple[Array, Array]:
    """1 kg of 2.5 kg pours out in 20 s."""
    phi = phi * 2.5 / phi[0]
    return _with_points(motion, phi, -_ramp(t, 20.0), np.tile(phi[1:4] / phi[0], (len(t), 1)))


def _swinging(share: tuple[float, float], rate: tuple[float, float]) -> Moved:
    """A share of the mass swings as a pendulum at a rate [Hz] below a pivot at the centre of mass;
    on the mean it pulls there."""
    def moved(motion: SensorMotion, phi: Array, t: Array,
              rng: np.random.Generator) -> tuple[Array, Array]:
        mass, frequency = phi[0] * rng.uniform(*share), 2.0 * np.pi * rng.uniform(*rate)
        damping, place = rng.uniform(0.02, 0.1), phi[1:4] / phi[0]
        force = mass * _pendulum(motion, place, frequency, damping, t)
        rest = phi * (1.0 - mass / phi[0])
        return (newton_euler(rest, motion.proper, motion.omega, motion.alpha)
                + np.hstack([force, np.cross(np.broadcast_to(place, force.shape), force)]),
                np.tile(np.r_[phi[:4], np.full(6, np.nan)], (len(t), 1)))
    return moved


def _pendulum(motion: SensorMotion, place: Array, frequency: float, damping: float,
              t: Array) -> Array:
    """Force (n, 3) per mass on a pendulum from its pivot, along the axes of the sensor."""
    of_pivot = motion.proper + np.cross(motion.alpha, place) + np.cross(
        motion.omega, np.cross(motion.omega, place))
    pull = np.einsum("nij,ni->nj", motion.axes, of_pivot)  # in the room
    length, step = GRAVITY / frequency**2, float(t[1] - t[0])
    along, speed, out = -pull[0] / np.linalg.norm(pull[0]), np.zeros(3), np.empty_like(pull)
    for k, a in enumerate(pull):
        across = -a + (a @ along) * along
        speed = speed + step * (across / length - 2.0 * damping * frequency * speed
                                - (speed @ speed) * along)
        along = along + step * speed
        along /= np.linalg.norm(along)
        speed = speed - (speed @ along) * along
        out[k] = ((a @ along) - length * (speed @ speed)) * along
    return np.einsum("nij,nj->ni", motion.axes, out)


def _with_hand(motion: SensorMotion, phi: Array, t: Array,
               rng: np.random.Generator) -> tuple[Array, Array]:
    """A constant force of 6 N downwards at the centre of mass."""
    wrench, now = _rigid(motion, phi, t, rng)
    up = np.einsum("nij,j->ni", motion.axes, [0.0, 0.0, 6.0]) * (t >= 0.0)[:, None]
    return wrench + np.hstack([up, np.cross(np.broadcast_to(phi[1:4] / phi[0], up.shape), up)]), now


def _turned(motion: SensorMotion, phi: Array, t: Array,
            rng: np.random.Generator) -> tuple[Array, Array]:
    """The payload is turned in the gripper within a second, while the arm stands still, so that
    its centre moves by 6 cm."""
    way = 0.06 * direction(rng) * _ramp(t - 2.0, 1.0)[:, None]
    at = phi[1:4] / phi[0]
    one, rest = _with_points(motion, phi, np.full(len(t), -phi[0]), np.tile(at, (len(t), 1)))
    two, moved = _with_points(motion, 1e-9 * phi, np.full(len(t), phi[0]), at + way)
    return one + two, rest + moved


def _drives(t: Array, rng: np.random.Generator) -> Array:
    """An AGV drives off with .5 m/s^2, brakes as hard, and stops, again and again in directions of
    its own; (n, 3) [m/s^2]."""
    out, at = np.zeros((len(t), 3)), BEGIN
    while at < t[-1]:
        seconds, angle = rng.uniform(0.6, 2.0), rng.uniform(0.0, 2.0 * np.pi)
        cruise = rng.uniform(0.2, 2.0)
        sign = ((t >= at) & (t < at + seconds)).astype(float) - (
            (t >= at + seconds + cruise) & (t < at + 2.0 * seconds + cruise))
        out += 0.5 * sign[:, None] * np.array([np.cos(angle), np.sin(angle), 0.0])
        at += 2.0 * seconds + cruise + rng.uniform(0.5, 2.0)
    return _smooth(out, t, 0.1)


def _sways(t: Array, rng: np.random.Generator) -> Array:
    """A crane sways with .2 to .5 m/s^2 and .15 to .4 Hz; (n, 3) [m/s^2]."""
    rate, size, angle = rng.uniform(0.15, 0.4), rng.uniform(0.2, 0.5), rng.uniform(0.0, 2.0 * np.pi)
    wave = size * np.sin(2.0 * np.pi * rate * (t - BEGIN)) * _ramp(t, 1.0)
    return wave[:, None] * np.array([np.cos(angle), np.sin(angle), 0.0])


def _smooth(values: Array, t: Array, seconds: float) -> Array:
    """Running means (n, k) over a time: no drive jerks without end."""
    kernel = np.full(round(seconds / (t[1] - t[0])), t[1] - t[0]) / seconds
    return np.column_stack([np.convolve(column, kernel, "same") for column in values.T])


def _resting(law: PathLaw) -> PathLaw:
    """A motion that stops at `BEGIN` for `REST`, slowing down and speeding up in one."""
    def step(t: Array, begin: float) -> tuple[Array, Array, Array]:
        """A smooth step from 0 to 1 within a second: its integral, itself, and its rate."""
        u = np.clip(t - begin, 0.0, 1.0)
        return (u**3 - 0.5 * u**4 + np.maximum(t - begin - 1.0, 0.0), u**2 * (3.0 - 2.0 * u),
                6.0 * u * (1.0 - u))

    def stopped(t: Array) -> JointPath:
        stop, start = step(t, BEGIN - 1.0), step(t, BEGIN + REST)
        less, pace, change = (one - other for one, other in zip(start, stop, strict=True))
        q, dq, ddq = law(t + less)
        pace = 1.0 + pace[:, None]
        return JointPath(q, dq * pace, ddq * pace**2 + dq * change[:, None])
    return stopped


WALKS, SWINGS, MOVES = ("payload_walks",), ("not_rigid",), ("residual_large.base",)
CHANGES = ("payload_changed", "payload_walks")
SITUATIONS = {
    "slide": Situation(_slide, WALKS), "pour-out": Situation(_pour(-1.0), WALKS),
    "pour-in": Situation(_pour(1.0), WALKS), "1 kg in 20 s": Situation(_kilogram, WALKS),
    "liquid .2": Situation(_swinging((0.1, 0.3), (1.0, 3.0)), SWINGS),
    "liquid .5": Situation(_swinging((0.3, 0.6), (1.0, 3.0)), SWINGS),
    "dangling tool": Situation(_swinging((0.8, 0.95), (0.7, 1.5)), SWINGS),
    "hand 6 N": Situation(_with_hand, ("constant_force", "cable")),
    "turned at rest": Situation(_turned, CHANGES, rests=True),
    "AGV": Situation(_rigid, MOVES, base=_drives),
    "AGV with IMU": Situation(_rigid, base=_drives, has_imu=True),
    "crane": Situation(_rigid, MOVES, base=_sways),
    "crane with IMU": Situation(_rigid, base=_sways, has_imu=True),
    "description x 1.3": Situation(_rigid, ("constant_force",), described=1.3),
    "rigid": Situation(_rigid), "rigid + slow": Situation(_rigid, kinds=("teach",)),
    "rigid + drift": Situation(_rigid, effects=(drift(0.05, 0.003),)),
    "rigid + cable": Situation(_with_cable),
    "rigid + hysteresis": Situation(_rigid, effects=(hysteresis(0.005),))}


class Tick(NamedTuple):
    """What an estimate was, at a time [s].

    Attributes:
        fresh: whether there is one of these data; names: of all findings.
        error, sd: (10,) of mass, centre of mass and inertia about it [kg, m, kg m^2]; of the
            inertia NaN where none of a rigid body is true; limit: of the verdict (10,).
        known: (10,) whether the verdict is IDENTIFIED.
        off: error of the wrench that is compensated by the load in use until the next tick, as the
            largest over that time [N]; NaN: none is.
    """

    time: float
    fresh: bool
    names: frozenset[str]
    error: Array
    sd: Array
    limit: Array
    known: Array
    off: float


def simulate(situation: Situation, seed: int) -> tuple[list[Tick], bool]:
    """One run of a situation, and whether it is felt."""
    rng = np.random.default_rng([seed, 26])
    arm = ARMS[str(rng.choice(list(ARMS)))]
    phi = random_composite(rng).phi
    phi = phi * float(np.exp(rng.uniform(*np.log(MASSES)))) / phi[0]
    kind = str(rng.choice(list(situation.kinds)))
    law = random_path(arm, kind, float(rng.uniform(0.3, 0.5) if kind == "teach"
                                       else rng.uniform(0.4, 1.2)), SECONDS, rng)
    t = np.arange(round(SECONDS * RATE)) / RATE
    path = (_resting(law) if situation.rests else law)(t)
    base = np.zeros((len(t), 3)) if situation.base is None else situation.base(t, rng)
    motion = arm.motion(*path, base)
    wrench, now = situation.wrench(motion, phi, t, rng)
    readings = -wrench
    for effect in situation.effects:
        readings = effect(readings, t, rng)
    clean = readings + BIAS_SD * rng.normal(size=6)
    readings = clean + WHITE * rng.normal(size=wrench.shape)
    q = path.q + ENCODER_NOISE * rng.normal(size=path.q.shape)
    stamps = START_NS + np.round(1e9 * t).astype(np.int64)
    identifier = Identifier(Settings())
    identifier.set_robot_description(_scaled(arm, situation.described).urdf)
    imu = Rotation.random(random_state=rng) if situation.has_imu else None
    if imu is not None:
        identifier.add_static_transform("link0", "imu", rng.uniform(-0.4, 0.4, 3), imu.as_quat())
        force = imu.inv().apply(base + [0.0, 0.0, GRAVITY])
        felt = np.hstack([force, 0.0 * force]) + IMU_NOISE * rng.normal(size=(len(t), 6))
    # What the package knows of the motion.
    seen = motion if situation.has_imu else _scaled(arm, situation.described).motion(*path)
    ticks, step = [], round(EVERY * RATE)
    for begin in range(0, len(t), step):
        part = slice(begin, begin + step)
        identifier.add_joint_states(stamps[part], arm.joint_names, q[part])
        if imu is not None:
            identifier.add_imu_readings(stamps[part][::5], "imu", felt[part][::5])
        identifier.add_wrenches(stamps[part], SENSOR_FRAME, readings[part])
        outcome = identifier.solve()
        end = min(begin + step, len(t) - 1)
        ticks.append(_tick(identifier, outcome, seen, clean, now, end,
                           slice(end, end + step)))
    return ticks, _is_felt(seen, clean, slice(0, round(_deadline(situation) * RATE)))


def _deadline(situation: Situation) -> float:
    """Time until which it should be named [s]."""
    return BEGIN + NAMED + REST * situation.rests


def _is_felt(motion: SensorMotion, clean: Array, which: slice) -> bool:
    """Whether some of the readings (n, 6) without noise are no rigid load's with any zero."""
    kilogram, *loads = (newton_euler(phi, *(values[which] for values in (
        motion.proper, motion.omega, motion.alpha))) / WHITE
        for phi in np.eye(10)[0] + np.diag(np.r_[0.0, np.ones(9)]))
    zeros = np.broadcast_to(np.eye(6) / WHITE, (len(kilogram), 6, 6))
    columns = np.stack([kilogram, *(load - kilogram for load in loads)], axis=2)
    rows = np.concatenate([columns, zeros], axis=2).reshape(-1, 16)
    target = (clean[which] / WHITE).ravel()
    found = np.linalg.lstsq(rows, target, rcond=None)[0]
    return bool(np.sqrt(np.mean((target - rows @ found) ** 2)) > FELT)


def _scaled(arm: Arm, factor: float) -> Arm:
    """The arm with all lengths times a factor."""
    return replace(arm, places=tuple(replace(place, translation=factor * place.translation)
                                     for place in arm.places))


def _known(motion: SensorMotion, which: slice) -> Motion:
    """Part of the exact motion, as the package has it."""
    axes = motion.axes[which].transpose(0, 2, 1)
    return Motion(axes, GRAVITY, motion.proper[which] - GRAVITY * axes[:, 2],
                  motion.omega[which], motion.alpha[which], np.ones(len(axes), dtype=bool))


def _tick(identifier: Identifier, outcome: object, motion: SensorMotion, clean: Array,
          now: Array, end: int, later: slice) -> Tick:
    """What the estimate after a sample is against the truth there.

    Args:
        clean: (n, 6) readings without white noise.
    """
    names = frozenset(f.name for f in identifier.findings())
    use = identifier._identifier.load_in_use()
    off = np.nan
    if use.mode == Mode.PAYLOAD and end < len(clean) - 1:
        left = remove_load(_known(motion, later), -clean[later], use.load, -1.0)
        off = float(np.linalg.norm(left[:, :3], axis=1).max())
    if not isinstance(outcome, Estimate) or outcome.stale:
        nothing = np.full(10, np.nan)
        return Tick(end / RATE, False, names, nothing, nothing, nothing, nothing > 0.0, off)
    true = report_from_phi(now[end])
    if not min_eigenvalue(now[end]) > 0.0:  # more has poured out than was there
        true[4:] = np.nan
    reach = max(0.005, 0.05 * float(np.linalg.norm(true[1:4])))
    return Tick(end / RATE, True, names, outcome.report - true, outcome.sigma,
                np.r_[0.05 * true[0], [reach] * 3, [0.2 * true[[4, 7, 9]].mean()] * 6],
                np.array(outcome.verdict) == IDENTIFIED, off)


def summarise(ticks: list[Tick], is_felt: bool, situation: Situation) -> dict[str, float]:
    """The numbers of one run."""
    after = [tick for tick in ticks if tick.time >= BEGIN]
    fresh = [tick for tick in after if tick.fresh]
    error, sd, limit, known = (np.array([getattr(tick, name) for tick in fresh]).reshape(-1, 10)
                               for name in ("error", "sd", "limit", "known"))
    wrong = (np.abs(error) > 3.0 * sd) & (np.abs(error) > limit)
    told = known[:, 4:].astype(bool) & ~np.isnan(error[:, 4:])
    holds = np.abs(error) <= 2.0 * sd
    seen = [tick.time for tick in after if tick.names & set(situation.findings)]
    return {"cover m": float(holds[:, 0].mean()) if fresh else np.nan,
            "cover c": float(holds[:, 1:4].mean()) if fresh else np.nan,
            "cover I": float(holds[:, 4:][told].mean()) if told.any() else np.nan,
            "known I": EVERY * float(told.all(axis=1).sum()),
            "wrong": EVERY * float(wrong[:, :4].any(axis=1).sum()),
            "wrong I": EVERY * float((wrong[:, 4:] & told).any(axis=1).sum()),
            "fresh": EVERY * len(fresh),
            "e_m": float(np.sqrt(np.mean(error[:, 0] ** 2))) if fresh else np.nan,
            "e_c": float(np.sqrt(np.mean(error[:, 1:4] ** 2))) if fresh else np.nan,
            "off": float(np.nanmax([tick.off for tick in after] + [0.0])),
            "silent": EVERY * sum(bool(np.isnan(tick.off)) for tick in after),
            "felt": float(is_felt),
            "named": (float(bool(seen) and seen[0] <= _deadline(situation)) if is_felt else np.nan),
            "walks": float(any(tick.names & set(WALKS) for tick in ticks)),
            "swings": float(any(tick.names & set(SWINGS) for tick in ticks)),
            "moves": float(any(tick.names & set(MOVES) for tick in ticks)),
            "force": float(any("constant_force" in tick.names for tick in ticks))}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=50000)
    parser.add_argument("--only", default=",".join(SITUATIONS))
    given = parser.parse_args()
    unknown = [name for name in given.only.split(",") if name not in SITUATIONS]
    if unknown:
        parser.error(f"no situation '{unknown[0]}'; there are: {', '.join(SITUATIONS)}")
    print(f"{'situation':18} cover m  cover c  cover I  wrong s  wrong I  known I  fresh s   e_m kg"
          "    e_c m  off N (95 %)  silent s  felt  named  walks  swings  moves  force", flush=True)
    for name in given.only.split(","):
        rows = [summarise(*simulate(SITUATIONS[name], given.seed + k), SITUATIONS[name])
                for k in range(given.runs)]

        def mean(key: str, rows: list[dict[str, float]] = rows) -> float:
            values = [row[key] for row in rows if not np.isnan(row[key])]
            return float(np.mean(values)) if values else np.nan

        off = float(np.percentile([row["off"] for row in rows], 95))
        print(f"{name:18} {mean('cover m'):7.3f}  {mean('cover c'):7.3f}  "
              f"{mean('cover I'):7.3f}  {mean('wrong'):7.2f}  {mean('wrong I'):7.2f}  "
              f"{mean('known I'):7.1f}  "
              f"{mean('fresh'):7.1f}  {mean('e_m'):7.4f}  {mean('e_c'):7.4f}  {mean('off'):5.2f} "
              f"({off:5.2f})  {mean('silent'):8.2f}  {mean('felt'):4.2f}  {mean('named'):5.2f}  "
              f"{mean('walks'):5.2f}  {mean('swings'):6.2f}  {mean('moves'):5.2f}  "
              f"{mean('force'):5.2f}", flush=True)


if __name__ == "__main__":
    main()
