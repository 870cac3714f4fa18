# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The scenarios of tests: a UR5 in a motion of all joints, with point masses whose wrench MuJoCo
gives, or, where they change meanwhile, Newton's law point by point; neither has a regressor."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.simulation.cobot import Scenario, Truth, faults_of, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE, JointMotion, Motion
from inertial_id_ros.apps.simulation.payload import Part, Payload
from inertial_id_ros.estimate import Outcome
from inertial_id_ros.inertia import Array
from inertial_id_ros.io.inputs import Edges, Samples
from inertial_id_ros.settings import Settings

START = 1_785_000_000_123_456_789  # ns
GRAVITY = np.array([0.0, 0.0, -9.81])
URDF, _, NAMES = load_description()
FIXED = load_description().edges(np.zeros(1, np.int64))[-1]  # the sensor on the last link
FRAME = FIXED.child
NOISE, ENCODER_NOISE = np.repeat([0.1, 0.005], 3), 1e-4  # N, N m; rad
BIAS = np.array([2.0, -3.0, 1.0, 0.1, -0.2, 0.15])  # N, N m
NOTHING = Payload("nothing", (Part("sphere", (1e-2,), 1e-3),))


def wide_motion(duration: float, seed: int = 0, harmonics: int = 8, size: float = 0.8) -> Motion:
    """A random sum of sines in all joints, up to `size` [rad] from the middle, that begins and ends
    at rest."""
    rng = np.random.default_rng(seed)
    rate = 2.0 * np.pi / duration * np.arange(1, harmonics + 1)
    a, b = rng.normal(size=(2, harmonics, 6))
    a -= np.outer(rate, rate @ a) / (rate @ rate)  # no velocity
    b -= np.outer(rate**2, rate**2 @ b) / np.sum(rate**4)  # no acceleration
    t = np.linspace(0.0, duration, 400)[:, None] * rate
    reach = np.abs(np.sin(t) @ a + (np.cos(t) - 1.0) @ b).max(axis=0)
    a, b = size * a / reach, size * b / reach

    def motion(t: Any) -> JointMotion:
        s, c = np.sin(t[:, None] * rate), np.cos(t[:, None] * rate)
        return JointMotion(START_POSE + s @ a + (c - 1.0) @ b, (c * rate) @ a - (s * rate) @ b,
                           -(s * rate**2) @ a - (c * rate**2) @ b)

    return motion


class Points(NamedTuple):
    """Point masses: (p,) or (n, p) [kg] at places (p, 3) or (n, p, 3) in sensor axes [m]."""

    masses: Array
    places: Array

    def wrench(self, at: Truth) -> Array:
        """Force and torque (n, 6) of the sensor on the points."""
        places = np.broadcast_to(self.places, (len(at.q), *self.places.shape[-2:]))
        alpha, omega = at.alpha[:, None], at.omega[:, None]
        force = self.masses[..., None] * (at.a_g[:, None] + np.cross(alpha, places) + np.cross(
            omega, np.cross(omega, places)))
        return np.concatenate([force.sum(1), np.cross(places, force).sum(1)], axis=1)

    def phi(self, k: int = -1) -> Array:
        """Mass, first moments, and xx, xy, xz, yy, yz, zz about the sensor at sample k."""
        m = np.atleast_2d(self.masses)[k if self.masses.ndim > 1 else 0]
        x, y, z = (self.places[k] if self.places.ndim > 2 else self.places).T
        return np.array([m.sum(), m @ x, m @ y, m @ z, m @ (y * y + z * z), -m @ (x * y),
                         -m @ (x * z), m @ (x * x + z * z), -m @ (y * z), m @ (x * x + y * y)])

    def report(self, k: int = -1) -> Array:
        """Mass, centre, and the tensor about it, at sample k."""
        phi = self.phi(k)
        com = phi[1:4] / phi[0]
        return np.r_[phi[0], com, phi[4:] - Points(phi[:1], com[None]).phi()[4:]]

    @property
    def payload(self) -> Payload:
        """The same as spheres of a millimetre."""
        volume = 4.0 / 3.0 * np.pi * 1e-9
        return Payload("points", tuple(Part("sphere", (1e-3,), m / volume, tuple(place))
                                       for m, place in zip(self.masses, self.places, strict=True)))


def body(seed: int = 3, mass: float = 1.4) -> Points:
    """Twelve points, about 0.2 m across, 0.1 m in front of the sensor."""
    rng = np.random.default_rng(seed)
    return Points(mass * rng.dirichlet(np.full(12, 5.0)),
                  rng.uniform(-0.1, 0.1, (12, 3)) + [0.02, -0.03, 0.1])


BODY = body()


def part_of(block: Any, which: Any) -> Any:
    """Some of the samples of a block, by a slice or an array."""
    return block._make(value[which] if isinstance(value, np.ndarray) else value for value in block)


def cobot(seconds: float, points: Points = BODY, *, seed: int = 1, size: float = 0.8,
          harmonics: int = 0, noise: float = 0.0, bias: Iterable[float] = (0.0,) * 6,
          faults: str = "", **options: Any) -> Scenario:
    """The arm with points, in a motion of some seconds; noise: times the usual; faults: in words;
    options: others of the scenario."""
    motion = wide_motion(seconds, seed, harmonics or max(4, round(0.35 * seconds)), size)
    return Scenario(**{"payload": points.payload, "motion": motion, "seed": seed, "rate": 200.0,
                       "faults": faults_of(faults),
                       "noise": (0.1 * noise, 0.005 * noise), "bias": tuple(bias),
                       "encoder_noise": ENCODER_NOISE * noise, **options})


def times(seconds: float, rate: float) -> Array:
    """Sample times [s]."""
    return np.arange(round(seconds * rate)) / rate


@cache
def moved(seed: int, seconds: float, rate: float = 250.0, size: float = 0.8, harmonics: int = 0
          ) -> Truth:
    """Motion of the sensor."""
    return cobot(seconds, seed=seed, size=size, harmonics=harmonics).truth(times(seconds, rate))


Parts = list[tuple[float, list[Samples]]]


def record(seconds: float = 6.0, points: Points = BODY, *, every: float = 0.0,
           by_poses: bool = False, wrench: Callable[[Any], Any] | None = None,
           joints: Callable[[Any], Any] | None = None, **options: Any) -> Parts:
    """Joint states and wrenches of a `cobot`, all at once or so many seconds at a time, with the
    time of the last; by_poses: the pose of the sensor instead of joint states; wrench, joints:
    change blocks (to several, or none)."""
    made, out = cobot(seconds, points, **options), []
    step, end = round((every or seconds) * made.rate), round(seconds * made.rate)
    for begin in range(0, end, step):
        (states, load, *edges), = made.samples(begin, min(step, end - begin), START).parts
        blocks = [(joints, pose(edges) if by_poses else states), (wrench, load)]
        changed = [change(block) if change else block for change, block in blocks]
        out.append((min(begin + step, end) / made.rate, [
            block for some in changed for block in (some if isinstance(some, list) else [some])
            if len(block.stamps)]))
    return out


def outcomes(made: Any, parts: Parts) -> list[Outcome]:
    """What an identifier says to all of it."""
    due = [outcome for _, part in parts for outcome in made.add_arrays(part)]
    return due + made.finish()


def pose(edges: list[Edges]) -> Edges:
    """The sensor in the base, by the links that move one after the other."""
    at, turn = np.zeros(3), Rotation.identity()
    for edge in (*edges, FIXED):
        at = at + turn.apply(edge.rows[:, :3])
        turn = turn * Rotation.from_quat(edge.rows[:, 3:])
    return Edges(edges[0].stamps, "base_link", FRAME, np.hstack([at, turn.as_quat()]))


def settings(**changes: Any) -> Settings:
    """Settings of a sensor that has noise and a bias but no other error, with ``wls``; keyword
    ``wrench__topic`` is ``wrench.topic``."""
    return Settings().replace({
        "wrench.sensor": "ideal", "alignment.orientation_sd": 0.0, "alignment.position_sd": 0.0,
        "estimator.method": "wls"} | dotted(changes))


def dotted(changes: dict[str, Any]) -> dict[str, Any]:
    """Names of settings with a dot in place of two underscores."""
    return {name.replace("__", "."): value for name, value in changes.items()}


def in_sensor(motion: Truth, room: Iterable[float] | Array) -> Array:
    """Vectors (3,) or (n, 3) of the base in sensor axes (n, 3)."""
    return np.einsum("nji,nj->ni", motion.rotation, np.broadcast_to(room, motion.a_g.shape))


def applied(force: Array, lever: Iterable[float]) -> Array:
    """Wrench (n, 6) of forces (n, 3) at a point (3,)."""
    return np.hstack([force, np.cross(np.broadcast_to(lever, force.shape), force)])


def cable(motion: Truth, tension: float, stiffness: float) -> Array:
    """Wrench (n, 6) of a cable on the payload, 36 mm beside the sensor, whose other end is fixed
    above the arm: tension where it is shortest [N], stiffness [N/m]."""
    arm = np.array([0.03, -0.02, 0.0])
    fixed = motion.position.mean(axis=0) + [0.2, -0.1, 0.0]
    fixed[2] = motion.position[:, 2].max() + 0.4
    away = fixed - motion.position - np.einsum("nij,j->ni", motion.rotation, arm)
    length = np.linalg.norm(away, axis=1, keepdims=True)
    return applied(in_sensor(motion, (tension + stiffness * (length - length.min())) * away
                             / length), arm)


def play(readings: Array, share: float, of: Array) -> Array:
    """Hysteresis: readings (n, 6) behind a play of .3 of their range, mixed in up to a share of
    full scale (6,)."""
    half = 0.3 * np.ptp(readings, axis=0)
    at, out = readings[0], np.empty_like(readings)
    for k, row in enumerate(readings):
        out[k] = at = np.clip(at, row - half, row + half)
    return readings + np.minimum(share * of / half, 0.5) * (out - readings)
