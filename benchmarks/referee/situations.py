# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What happens to an arm in motion: loads that move, contact, grips and releases, drift, errors of
the set-up. `scene(name, seed)` gives a `Scene` with its truth."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from .generator import (
    ARMS,
    BIAS_SD,
    ENCODER_NOISE,
    GRAVITY,
    START_NS,
    WHITE,
    Arm,
    Array,
    Motion,
    Path,
    Rng,
    applied,
    cable_pull,
    direction,
    point,
    random_body,
    random_law,
    report,
    resting,
    wrench_of,
)

BEGIN, REST = 10.0, 5.0  # s: when loads begin to move, and a rest where one is turned in the hand


@dataclass(eq=False)
class Scene:
    """A situation and its truth, at n times.

    Attributes:
        clean: (n, 6) readings without white noise; phi: (n, 10) the load as it is at each time;
        external: (n, 6) wrench on the payload that a compensated wrench shall show; or_this:
        another one that would be as right; names: findings of which any names it; events: times
        of what happens [s]; control: makes `external` of the newest compensated wrench.
    """

    arm: Arm
    t: Array
    path: Path
    motion: Motion
    clean: Array
    phi: Array
    names: tuple[str, ...] = ()
    external: Array = field(default_factory=lambda: np.zeros(6))
    or_this: Array | None = None
    events: tuple[float, ...] = ()
    control: Callable[[int, Any], Array] | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def stamps(self) -> Array:
        """(n,) [ns]."""
        return START_NS + np.round(1e9 * self.t).astype(np.int64)

    def measured(self, rng: Rng) -> tuple[Array, Array]:
        """Readings (n, 6) and positions (n, k) with noise."""
        return (self.clean + WHITE * rng.normal(size=self.clean.shape),
                self.path.q + ENCODER_NOISE * rng.normal(size=self.path.q.shape))

    def is_felt(self, until: float) -> bool:
        """Whether the readings until a time are no rigid load's with any zero, by more than half of
        their noise, for one who knows the arm by its description alone."""
        which = self.t < until
        seen = self.arm.motion(Path(*(part[which] for part in self.path)))
        columns = [wrench_of(row, *seen[2:]) / WHITE for row in np.eye(10)]
        zeros = np.broadcast_to(np.eye(6) / WHITE, (int(which.sum()), 6, 6))
        rows = np.concatenate([np.stack(columns, axis=2), zeros], axis=2).reshape(-1, 16)
        target = (self.clean[which] / WHITE).ravel()
        left = target - rows @ np.linalg.lstsq(rows, target, rcond=None)[0]
        return bool(np.sqrt(np.mean(left**2)) > 0.5)


def draw(seed: int, seconds: float, rate: float, kinds: tuple[str, ...],
         rest: tuple[float, float] | None = None, stream: int = 26
         ) -> tuple[Rng, Arm, Array, Array, Path]:
    """Generator, arm, phi (10,) of .8 to 4 kg, times and path of a random motion."""
    rng = np.random.default_rng([seed, stream])
    arm = ARMS[int(rng.choice(len(ARMS)))]
    phi = random_body(rng).phi
    phi = phi * float(np.exp(rng.uniform(*np.log((0.8, 4.0))))) / phi[0]
    kind = str(rng.choice(list(kinds)))
    speed = float(rng.uniform(0.3, 0.5) if kind == "teach" else rng.uniform(0.4, 1.2))
    law = random_law(arm, kind, speed, seconds, rng)
    t = np.arange(round(seconds * rate)) / rate
    return rng, arm, phi, t, (resting(law, *rest) if rest else law)(t)


def made(arm: Arm, t: Array, path: Path, motion: Motion, wrench: Array, phi: Array, rng: Rng,
         **more: Any) -> Scene:
    """The scene of a wrench W (n, 6) and a random zero."""
    phi = np.broadcast_to(phi, (len(t), 10))
    return Scene(arm, t, path, motion, BIAS_SD * rng.normal(size=6) - wrench, phi, **more)


# ---- loads that move -----------------------------------------------------------------------------

RICH = ("wrist", "joints", "stop-and-go")
Moved = Callable[[Motion, Array, Array, Rng], tuple[Array, Array]]  # wrench W (n, 6), phi (n, 10)


def _ramp(t: Array, seconds: float, begin: float = BEGIN) -> Array:
    return np.clip((t - begin) / seconds, 0.0, 1.0)


def _slow(motion: Motion, phi: Array) -> tuple[Array, Array]:
    """A load (n, 10) that changes so slowly that only what it is counts."""
    return motion.wrench(phi), phi


def _slide(motion: Motion, phi: Array, t: Array, rng: Rng) -> tuple[Array, Array]:
    """The centre slides 1 to 4 cm in 3 to 10 s: half of the mass does, twice as far."""
    way = rng.uniform(0.01, 0.04) * direction(rng) * _ramp(t, rng.uniform(3.0, 10.0))[:, None]
    return _slow(motion, _shifted(phi, 0.5, 2.0 * way))


def _shifted(phi: Array, share: float, way: Array) -> Array:
    """phi (n, 10) where a share of the mass, a point at its centre, has moved by (n, 3)."""
    at = phi[1:4] / phi[0]
    return phi - point(share * phi[0], at) + point(np.full(len(way), share * phi[0]), at + way)


def _turned(motion: Motion, phi: Array, t: Array, rng: Rng) -> tuple[Array, Array]:
    """Turned in the gripper within a second at rest: the centre moves by 6 cm."""
    return _slow(motion, _shifted(phi, 1.0, 0.06 * direction(rng)
                                  * _ramp(t, 1.0, BEGIN + 2.0)[:, None]))


def _pour(sign: float) -> Moved:
    """A third to two thirds of the mass pours out (-1) or as much in, in 8 to 20 s."""
    def moved(motion: Motion, phi: Array, t: Array, rng: Rng) -> tuple[Array, Array]:
        place = phi[1:4] / phi[0] + rng.uniform(0.0, 0.05) * direction(rng)
        mass = sign * phi[0] * rng.uniform(0.33, 0.67) * _ramp(t, rng.uniform(8.0, 20.0))
        return _slow(motion, phi + point(mass, np.tile(place, (len(t), 1))))
    return moved


def _kilogram(motion: Motion, phi: Array, t: Array, rng: Rng) -> tuple[Array, Array]:
    """1 kg of 2.5 kg pours out in 20 s."""
    phi = phi * 2.5 / phi[0]
    return _slow(motion, phi + point(-_ramp(t, 20.0), np.tile(phi[1:4] / phi[0], (len(t), 1))))


def _swinging(low: float, high: float, rates: tuple[float, float]) -> Moved:
    """A share of the mass swings at a rate [Hz] about a pivot at the centre of mass."""
    def moved(motion: Motion, phi: Array, t: Array, rng: Rng) -> tuple[Array, Array]:
        mass, frequency = phi[0] * rng.uniform(low, high), 2.0 * np.pi * rng.uniform(*rates)
        damping, place = rng.uniform(0.02, 0.1), phi[1:4] / phi[0]
        rest = phi * (1.0 - mass / phi[0])
        swing = mass * _pendulum(motion, place, frequency, damping, t)
        return (motion.wrench(rest) + applied(swing, place),
                np.tile(rest + point(mass, place), (len(t), 1)))
    return moved


def _pendulum(motion: Motion, place: Array, frequency: float, damping: float, t: Array) -> Array:
    """Force (n, 3) per mass on a pendulum from its pivot, in sensor axes."""
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


def _hand(motion: Motion, phi: Array, t: Array, rng: Rng) -> tuple[Array, Array]:
    """6 N downwards at the centre of mass."""
    up = np.einsum("nij,j->ni", motion.axes, [0.0, 0.0, 6.0])
    return motion.wrench(phi) + applied(up, phi[1:4] / phi[0]), np.tile(phi, (len(t), 1))


def _rigid(motion: Motion, phi: Array, t: Array, rng: Rng) -> tuple[Array, Array]:
    return _slow(motion, np.tile(phi, (len(t), 1)))


def _drives(t: Array, rng: Rng) -> Array:
    """Acceleration (n, 3) of an AGV that drives off with .5 m/s^2, brakes as hard, and stops."""
    out, at = np.zeros((len(t), 3)), BEGIN
    while at < t[-1]:
        seconds, angle = rng.uniform(0.6, 2.0), rng.uniform(0.0, 2.0 * np.pi)
        end = at + seconds + rng.uniform(0.2, 2.0)
        sign = 1.0 * ((t >= at) & (t < at + seconds)) - ((t >= end) & (t < end + seconds))
        out += 0.5 * sign[:, None] * np.array([np.cos(angle), np.sin(angle), 0.0])
        at = end + seconds + rng.uniform(0.5, 2.0)
    kernel = np.full(round(0.1 / (t[1] - t[0])), 1.0)
    return np.column_stack([np.convolve(c, kernel / len(kernel), "same") for c in out.T])


def _sways(t: Array, rng: Rng) -> Array:
    """Acceleration (n, 3) of a crane that sways with .2 to .5 m/s^2 and .15 to .4 Hz."""
    rate, size, angle = rng.uniform(0.15, 0.4), rng.uniform(0.2, 0.5), rng.uniform(0, 2.0 * np.pi)
    wave = size * np.sin(2.0 * np.pi * rate * (t - BEGIN)) * _ramp(t, 1.0)
    return wave[:, None] * np.array([np.cos(angle), np.sin(angle), 0.0])


class Load(NamedTuple):
    """A load that moves, or what moves the arm's base."""

    moved: Moved
    names: tuple[str, ...]
    base: Callable[[Array, Rng], Array] | None = None
    rests: bool = False


WALKS, SWINGS, BASE = ("payload_walks",), ("not_rigid",), ("residual_large.base",)
LOADS = {
    "slide": Load(_slide, WALKS), "pour-out": Load(_pour(-1.0), WALKS),
    "pour-in": Load(_pour(1.0), WALKS), "1 kg in 20 s": Load(_kilogram, WALKS),
    "liquid .2": Load(_swinging(0.1, 0.3, (1.0, 3.0)), SWINGS),
    "liquid .5": Load(_swinging(0.3, 0.6, (1.0, 3.0)), SWINGS),
    "dangling tool": Load(_swinging(0.8, 0.95, (0.7, 1.5)), SWINGS),
    "hand 6 N": Load(_hand, ("constant_force", "cable")),
    "turned in gripper": Load(_turned, ("payload_changed", *WALKS), rests=True),
    "AGV": Load(_rigid, BASE, _drives), "crane": Load(_rigid, BASE, _sways)}


def moving_load(name: str, seed: int) -> Scene:
    """32 s at 500 Hz, of which it moves from the tenth on."""
    load = LOADS[name]
    rng, arm, phi, t, path = draw(seed, 32.0, 500.0, RICH,
                                  (BEGIN, BEGIN + REST) if load.rests else None)
    motion = arm.motion(path, None if load.base is None else load.base(t, rng))
    wrench, now = load.moved(motion, phi, t, rng)
    return made(arm, t, path, motion, wrench, now, rng, names=load.names, events=(
        BEGIN, BEGIN + 5.0 + REST * load.rests))


# ---- the live half -------------------------------------------------------------------------------

RATE = 250.0  # Hz
SIZES = (2.0, 5.0, 10.0, 20.0, 30.0)  # N
PRESS, TARGET = (14.0, 20.0), 10.0  # s, N of a controller that presses


def _push(scene: Scene, begin: float, lasts: float, force: Array, rng: Rng) -> Scene:
    """The scene with a push along fixed axes of the room (3,) [N] that ripples."""
    since, rise = scene.t - begin, rng.uniform(0.02, 0.2)
    shape = np.clip(np.minimum(since, lasts - since) / rise, 0.0, 1.0)
    ripple = rng.uniform(0.0, 0.2) * np.sin(2.0 * np.pi * rng.uniform(1.0, 4.0) * since)
    room = (shape * (1.0 + ripple))[:, None] * force
    external = applied(np.einsum("nij,nj->ni", scene.motion.axes, room), 0.15 * direction(rng))
    return replace(scene, clean=scene.clean + external, external=external,
                   names=("contact",), events=(begin, begin + lasts))


def rest_contact(seed: int) -> Scene:
    """12 s of motion, rest, a push of 2 to 6 s from below, above, the side or anywhere, motion."""
    rng, arm, phi, t, path = draw(seed, 30.0, RATE, RICH, (12.0, 22.0), 31)
    motion = arm.motion(path)
    scene = made(arm, t, path, motion, motion.wrench(phi), phi, rng)
    size = (*SIZES, phi[0] * GRAVITY)[seed % 6]  # the last one takes the weight off
    side = np.r_[direction(rng)[:2], 0.0]
    way = ((0.0, 0.0, 1.0), (0.0, 0.0, -1.0), side / np.linalg.norm(side),
           direction(rng))[(seed // 6) % 4]
    return _push(scene, 14.0, rng.uniform(2.0, 6.0), size * np.array(way), rng)


def closed_loop(seed: int) -> Scene:
    """The same, but a controller presses with 10 N by the compensated wrench, for 6 s."""
    rng, arm, phi, t, path = draw(seed, 30.0, RATE, RICH, (12.0, 22.0), 32)
    motion = arm.motion(path)
    side = np.r_[direction(rng)[:2], 0.0]
    way = (np.array([0.0, 0.0, 1.0]), side / np.linalg.norm(side))[seed % 2]
    lever, force = 0.1 * direction(rng), [0.0]

    def control(k: int, newest: Any) -> Array:
        along = motion.axes[k] @ way
        if PRESS[0] <= t[k] < PRESS[1]:
            if newest is not None:
                force[0] += 5.0 / RATE * (TARGET - float(np.dot(newest[:3], along)))
        else:
            force[0] *= 0.9  # it goes away
        force[0] = max(force[0], 0.0)
        return np.r_[force[0] * along, np.cross(lever, force[0] * along)]
    return made(arm, t, path, motion, motion.wrench(phi), phi, rng, names=("contact",),
                events=PRESS, control=control)


def motion_contact(seed: int) -> Scene:
    """A push of 2 to 30 N for .5 to 4 s while the arm moves; every third one is vertical."""
    rng, arm, phi, t, path = draw(seed, 24.0, RATE, RICH, None, 33)
    motion = arm.motion(path)
    scene = made(arm, t, path, motion, motion.wrench(phi), phi, rng)
    size = float(np.exp(rng.uniform(np.log(2.0), np.log(30.0))))
    way = np.array([0.0, 0.0, rng.choice([-1.0, 1.0])]) if seed % 3 == 0 else direction(rng)
    return _push(scene, 13.0, rng.uniform(0.5, 4.0), size * way, rng)


def grip(seed: int) -> Scene:
    """A bare gripper of .6 kg, with .4 to 3 kg from 12 s on, and bare again from 22 s on."""
    rng, arm, phi, t, path = draw(seed, 32.0, RATE, RICH, None, 34)
    bare = phi * 0.6 / phi[0]
    carried = random_body(rng).phi
    carried = carried * float(np.exp(rng.uniform(*np.log((0.4, 3.0))))) / carried[0]
    held = np.clip((t - 12.0) / 0.05, 0.0, 1.0) - np.clip((t - 22.0) / 0.05, 0.0, 1.0)
    motion, now = arm.motion(path), bare + held[:, None] * carried
    return made(arm, t, path, motion, motion.wrench(now), now, rng, names=("payload_changed",),
                events=(12.0, 22.0))


def ordinary(seed: int) -> Scene:
    """A minute in which nothing happens, with small errors of the set-up, by an arm that moves as
    each of the four kinds in turn."""
    kind = ("wrist", "joints", "stop-and-go", "teach")[seed % 4]
    rng, arm, phi, t, path = draw(seed, 60.0, RATE, (kind,), None, 35)
    tilt = Rotation.from_rotvec(np.r_[rng.normal(0.0, 0.25, 2), 0.0], degrees=True)
    motion = arm.motion(path, up=tilt.apply([0.0, 0.0, 1.0]))
    turn = Rotation.from_rotvec(rng.normal(0.0, 0.5, 3), degrees=True).as_matrix()
    wrench = (motion.wrench(phi).reshape(-1, 2, 3) @ turn).reshape(-1, 6)
    late = t - rng.normal(0.0, 0.003)
    wrench = np.column_stack([np.interp(late, t, column) for column in wrench.T])
    zero = np.sin(2.0 * np.pi * t / 1200.0 + seed)[:, None] * np.repeat([0.2, 0.005], 3)
    return made(arm, t, path, motion, wrench - zero, phi, rng)


def drifting(seed: int) -> Scene:
    """A zero that drifts by 5 N and .25 N m a minute from the beginning."""
    rng, arm, phi, t, path = draw(seed, 60.0, RATE, RICH, None, 36)
    motion = arm.motion(path)
    way = np.r_[5.0 * direction(rng), 0.25 * direction(rng)] / 60.0
    return made(arm, t, path, motion, motion.wrench(phi) - t[:, None] * way, phi, rng)


def set_up(seed: int) -> Scene:
    """From the beginning a cable (2 N + 15 N/m), a hose (3 N of friction) or a base that is tilted
    by 5 deg, in turn."""
    rng, arm, phi, t, path = draw(seed, 40.0, RATE, RICH, None, 37)
    motion = arm.motion(path)
    if seed % 3 == 0:
        pull = cable_pull(motion, (2.0, 15.0), rng)
    elif seed % 3 == 1:
        speed = np.gradient(motion.position, t, axis=0)
        size = np.linalg.norm(speed, axis=1, keepdims=True)
        room = -3.0 * speed / np.maximum(size, 0.01)
        pull = applied(np.einsum("nij,nj->ni", motion.axes, room), 0.05 * direction(rng))
    else:
        pull = np.zeros((len(t), 6))
        axis = np.r_[direction(rng)[:2], 0.0]
        tilt = Rotation.from_rotvec(5.0 * axis / np.linalg.norm(axis), degrees=True)
        motion = arm.motion(path, up=tilt.apply([0.0, 0.0, 1.0]))
    return made(arm, t, path, motion, motion.wrench(phi) - pull, phi, rng, or_this=pull)


LIVE = {"contact at rest": rest_contact, "closed loop": closed_loop,
        "contact in motion": motion_contact, "grip and release": grip, "ordinary minute": ordinary,
        "drift 5 N/min": drifting, "set-up": set_up}


def truth(scene: Scene, k: int) -> Array:
    """Mass, centre of mass, tensor about it (10,) at a sample."""
    return report(scene.phi[k])
