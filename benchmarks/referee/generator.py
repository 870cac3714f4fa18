# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What an arm, its payload and its sensor do and measure, simulated with its truth.

`Scenario(source, seed).record()` gives a `Recording`. Arms are published kinematics, motions closed
forms, the wrench Newton's and Euler's laws, errors of sensors typical sizes of data sheets (not
measured hardware). Nothing of the package is used. Wrenches W are those of the sensor on the
payload in sensor axes; a reading is ``bias - W`` and noise. phi (10,) as in the package: mass,
first moments, tensor about the sensor's origin (xx, xy, xz, yy, yz, zz).
"""

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.signal import bilinear, lfilter
from scipy.spatial.transform import Rotation

Array = np.ndarray
Rng = np.random.Generator
GRAVITY, FRAME, START_NS = 9.81, "tool0", 1_000_000_000_000
ENCODER_NOISE = 1e-4  # rad
WHITE, BIAS_SD = np.repeat([0.1, 0.005], 3), np.repeat([3.0, 0.2], 3)  # N, N m
FULL_SCALE = np.repeat([130.0, 10.0], 3)  # N, N m
HALF = np.pi / 2

# ---- bodies --------------------------------------------------------------------------------------

_TENSOR = np.array([0, 1, 2, 4, 5, 8])  # of a flat (3, 3), as phi has it


class Part(NamedTuple):
    """A box (lengths) or cylinder (diameter, diameter, height; along z before `rpy`)."""

    kind: str
    size: Array
    density: float
    centre: Array
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.density * np.prod(self.size) * (1.0 if self.kind == "box" else HALF / 2))

    def half(self) -> Array:
        """Half lengths (3,) of the bounding box; turns are by right angles."""
        return np.abs(Rotation.from_euler("xyz", self.rpy).as_matrix()) @ (0.5 * self.size)

    def phi(self) -> Array:
        """phi (10,)."""
        second = np.diag(self.size**2) / (12.0 if self.kind == "box" else np.array([16, 16, 12.0]))
        turn = Rotation.from_euler("xyz", self.rpy).as_matrix()
        moments = self.mass * (turn @ second @ turn.T + np.outer(self.centre, self.centre))
        tensor = np.trace(moments) * np.eye(3) - moments
        return np.r_[self.mass, self.mass * self.centre, tensor.ravel()[_TENSOR]]


def point(mass: Array | float, place: Array) -> Array:
    """phi (..., 10) of point masses (...) at places (..., 3)."""
    x, y, z = np.moveaxis(np.asarray(place), -1, 0)
    unit = np.stack([np.ones_like(x), x, y, z, y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z,
                     x * x + y * y], axis=-1)
    return np.asarray(mass)[..., None] * unit


def report(phi: Array) -> Array:
    """Mass, centre of mass and tensor about it (..., 10) of phi (..., 10)."""
    com = phi[..., 1:4] / phi[..., :1]
    return np.concatenate([phi[..., :1], com, phi[..., 4:] - point(phi[..., 0], com)[..., 4:]], -1)


def wrench_of(phi: Array, proper: Array, omega: Array, alpha: Array) -> Array:
    """Wrench W (n, 6) on a body phi (10,) or (n, 10).

    Args:
        proper: (n, 3) acceleration of the sensor minus gravity; omega, alpha: (n, 3).
    """
    mass, moment = phi[..., :1], phi[..., 1:4]
    tensor = phi[..., [4, 5, 6, 5, 7, 8, 6, 8, 9]].reshape(*phi.shape[:-1], 3, 3)
    moment = np.broadcast_to(moment, proper.shape)
    force = mass * proper + np.cross(alpha, moment) + np.cross(omega, np.cross(omega, moment))

    def times(v: Array) -> Array:
        return np.einsum("...ij,...j->...i", tensor, v)
    torque = np.cross(moment, proper) + times(alpha) + np.cross(omega, times(omega))
    return np.hstack([force, torque])


def direction(rng: Rng) -> Array:
    """A random unit vector (3,)."""
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


class Told(NamedTuple):
    """A payload: phi (10,), lengths (3,) of its box [m], and settings that tell its shape."""

    phi: Array
    lengths: Array
    hint: dict[str, Any]


def random_body(rng: Rng) -> Told:
    """.2 to 10 kg of one to four boxes, cylinders or shells that touch, in a box told up to a tenth
    too large."""
    wanted = float(np.exp(rng.uniform(*np.log((0.2, 10.0)))))
    while True:
        parts = _stack(rng)
        factor = (wanted / sum(p.mass for p in parts)) ** (1.0 / 3.0)
        parts = [p._replace(size=factor * p.size, centre=factor * p.centre) for p in parts]
        phi = np.sum([p.phi() for p in parts], axis=0)
        if np.linalg.norm(phi[1:4]) <= 0.25 * phi[0]:
            break
    low = np.min([p.centre - p.half() for p in parts], axis=0)
    high = np.max([p.centre + p.half() for p in parts], axis=0)
    lengths = (high - low) * (1.0 + rng.uniform(0.0, 0.1, 3))
    centre = 0.5 * (low + high) + rng.uniform(-0.5, 0.5, 3) * (lengths - (high - low))
    return Told(phi, lengths, box(lengths, centre))


def box(lengths: Array, centre: Array) -> dict[str, Any]:
    """Settings that tell a bounding box."""
    return {"shape.type": "box", "shape.size": tuple(map(float, lengths)),
            "shape.center": tuple(map(float, centre))}


def _stack(rng: Rng) -> list[Part]:
    parts: list[Part] = []
    low, high = np.zeros(3), np.zeros(3)
    for k in range(int(rng.integers(1, 5))):
        new = _random_part(rng)
        half = np.max([np.abs(p.centre) + p.half() for p in new], axis=0)
        axis, side = (2, 1.0) if k == 0 else (int(rng.integers(0, 3)), float(rng.choice([-1, 1])))
        at = rng.uniform(-0.3, 0.3, 3) * half + 0.5 * (low + high)
        at[axis] = low[axis] - half[axis] if side < 0 and axis < 2 else high[axis] + half[axis]
        at[2] = max(at[2], half[2])  # nothing reaches back into the flange
        low, high = at - half, at + half
        parts += [p._replace(centre=p.centre + at) for p in new]
    return parts


def _random_part(rng: Rng) -> list[Part]:
    kind = rng.choice(("box", "cylinder", "shell"))
    density = float(np.exp(rng.uniform(*np.log((300.0, 4000.0)))))
    x, y, z = np.exp(rng.uniform(np.log(0.5), np.log(2.0), 3)).tolist()
    if kind == "box":
        return [Part("box", np.array([x, y, z]), density, np.zeros(3))]
    if kind == "cylinder":
        turn = 0.5 * np.pi * np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)])[rng.integers(0, 3)]
        return [Part("cylinder", np.array([x, x, z]), density, np.zeros(3), tuple(turn))]
    w = 0.08 * min(x, y, z)
    plates = (((w, y, z), (0.5 * (x - w), 0, 0)), ((x - 2 * w, w, z), (0, 0.5 * (y - w), 0)),
              ((x - 2 * w, y - 2 * w, w), (0, 0, 0.5 * (z - w))))
    return [Part("box", np.array(size), density, side * np.array(at))
            for size, at in plates for side in (1.0, -1.0)]


# ---- arms and motions ----------------------------------------------------------------------------

class Motion(NamedTuple):
    """Exact motion of the sensor at n times, in sensor axes but for `position` (n, 3), which is in
    those of the base; axes: (n, 3, 3) from base to sensor axes."""

    axes: Array
    position: Array
    proper: Array
    omega: Array
    alpha: Array

    def wrench(self, phi: Array) -> Array:
        """Wrench W (n, 6) on a body."""
        return wrench_of(phi, self.proper, self.omega, self.alpha)


class Path(NamedTuple):
    """Positions, velocities, accelerations (n, k) of the joints."""

    q: Array
    dq: Array
    ddq: Array


Law = Callable[[Array], Path]


@dataclass(frozen=True, eq=False)
class Arm:
    """A serial arm of joints about z; places (translation, rotation) of each in the one before, and
    last of the sensor; middle (k,): the pose about which it moves."""

    places: tuple[tuple[Array, Rotation], ...]
    middle: Array

    @property
    def names(self) -> tuple[str, ...]:
        """Of the joints."""
        return tuple(f"joint{k}" for k in range(1, len(self.places)))

    @property
    def urdf(self) -> str:
        """Robot description."""
        links = [f"link{k}" for k in range(len(self.places))] + [FRAME]
        text = ['<robot name="referee">', *(f'<link name="{name}"/>' for name in links)]
        for k, (move, turn) in enumerate(self.places):
            kind = "revolute" if k < len(self.places) - 1 else "fixed"
            xyz, rpy = (" ".join(map(repr, map(float, v))) for v in (move, turn.as_euler("xyz")))
            text.append(
                f'<joint name="joint{k + 1}" type="{kind}"><parent link="{links[k]}"/><child '
                f'link="{links[k + 1]}"/><origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/>'
                '<limit lower="-3" upper="3" effort="100" velocity="10"/></joint>')
        return "\n".join([*text, "</robot>"])

    def disturbed(self, rng: Rng, angle: float, distance: float) -> "Arm":
        """The arm with every joint's place turned [deg] and moved [m] by random errors."""
        places = []
        for move, turn in self.places[:-1]:
            wrong = Rotation.from_rotvec(rng.normal(0.0, angle, 3), degrees=True)
            places.append((move + rng.normal(0.0, distance, 3), turn * wrong))
        return replace(self, places=(*places, self.places[-1]))

    def _steps(self, q: Array):
        """Of each place: its number, translation, and rotations (n, 3, 3) to the axes behind it."""
        for k, (move, turn) in enumerate(self.places):
            back = turn.as_matrix().T
            if k < q.shape[1]:
                c, s, one = np.cos(q[:, k]), np.sin(q[:, k]), np.ones(len(q))
                about = np.zeros((len(q), 3, 3))
                about[:, 0, 0], about[:, 0, 1], about[:, 1, 0] = c, s, -s
                about[:, 1, 1], about[:, 2, 2] = c, one
                yield k, move, about @ back
            else:
                yield k, move, np.broadcast_to(back, (len(q), 3, 3))

    def motion(self, path: Path, base: Array | None = None, up: Array | None = None) -> Motion:
        """Motion of the sensor; base: (n, 3) acceleration of the base [m/s^2]; up: (3,) the true
        vertical in base axes."""
        q, dq, ddq = path
        n = len(q)
        axes, position, omega, alpha = np.broadcast_to(np.eye(3), (n, 3, 3)), *np.zeros((3, n, 3))
        proper = GRAVITY * np.tile([0.0, 0.0, 1.0] if up is None else up, (n, 1))
        proper = proper + (0.0 if base is None else base)
        for k, move, turn in self._steps(q):
            position = position + axes.transpose(0, 2, 1) @ move
            proper = proper + np.cross(alpha, move) + np.cross(omega, np.cross(omega, move))
            axes = turn @ axes
            omega, alpha, proper = (np.einsum("nij,nj->ni", turn, v) for v in (omega, alpha,
                                                                               proper))
            if k < q.shape[1]:
                spin = np.zeros((n, 3))
                spin[:, 2] = dq[:, k]
                alpha = alpha + np.cross(omega, spin)
                alpha[:, 2] += ddq[:, k]
                omega = omega + spin
        return Motion(axes, position, proper, omega, alpha)

    def bent(self, path: Path, phi: Array, compliance: float, t: Array) -> Path:
        """The path behind joints that give way [rad/(N m)] under the weight of a payload."""
        axes, position = np.broadcast_to(np.eye(3), (len(t), 3, 3)), np.zeros((len(t), 3))
        at, along = [], []
        for k, move, turn in self._steps(path.q):
            position = position + axes.transpose(0, 2, 1) @ move
            axes = turn @ axes
            if k < path.q.shape[1]:
                at.append(position)
                along.append(axes[:, 2])
        centre = position + axes.transpose(0, 2, 1) @ (phi[1:4] / phi[0])
        weight = np.array([0.0, 0.0, -phi[0] * GRAVITY])
        give = compliance * np.stack([np.einsum("ni,ni->n", z, np.cross(centre - p, weight))
                                      for p, z in zip(at, along, strict=True)], axis=1)
        rate = np.gradient(give, t, axis=0, edge_order=2)
        more = np.gradient(rate, t, axis=0, edge_order=2)
        return Path(path.q + give, path.dq + rate, path.ddq + more)


def universal(a: tuple[float, ...], d: tuple[float, ...], height: float = 0.04) -> Arm:
    """Universal Robots CB3: the manufacturer's standard Denavit-Hartenberg parameters."""
    at, places = (np.zeros(3), Rotation.identity()), []
    for k, alpha in enumerate((HALF, 0.0, 0.0, HALF, -HALF, 0.0)):
        places.append(at)
        at = np.array([a[k], 0.0, d[k]]), Rotation.from_euler("x", alpha)
    places.append((at[0] + at[1].apply([0.0, 0.0, height]), at[1]))
    return Arm(tuple(places), np.array([0.0, -1.3, 1.5, -1.2, -1.5, 0.0]))


def _modified(alpha: tuple[float, ...], a: tuple[float, ...], d: tuple[float, ...], flange: float,
              middle: tuple[float, ...]) -> Arm:
    """Modified Denavit-Hartenberg parameters, as those of Franka (Panda) and UFACTORY (xArm 7)."""
    places = []
    for k, angle in enumerate(alpha):
        turn = Rotation.from_euler("x", angle)
        places.append((np.array([a[k], 0.0, 0.0]) + turn.apply([0.0, 0.0, d[k]]), turn))
    places.append((np.array([0.0, 0.0, flange + 0.04]), Rotation.identity()))
    return Arm(tuple(places), np.array(middle))


UR5 = ((0.0, -0.425, -0.39225, 0.0, 0.0, 0.0), (0.089159, 0.0, 0.0, 0.10915, 0.09465, 0.0823))
ARMS = (
    universal((0.0, -0.24365, -0.21325, 0.0, 0.0, 0.0),
              (0.1519, 0.0, 0.0, 0.11235, 0.08535, 0.0819)),
    universal(*UR5),
    universal((0.0, -0.612, -0.5723, 0.0, 0.0, 0.0), (0.1273, 0.0, 0.0, 0.163941, 0.1157, 0.0922)),
    _modified((0.0, -HALF, HALF, HALF, HALF, HALF, -HALF),
              (0.0, 0.0, 0.0, 0.0525, 0.0775, 0.0, 0.076), (0.267, 0, 0.293, 0, 0.3425, 0, 0.097),
              0.0, (0.0, -0.4, 0.0, 0.9, 0.0, 1.2, 0.0)),
    _modified((0.0, -HALF, HALF, HALF, -HALF, HALF, HALF),
              (0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088), (0.333, 0, 0.316, 0, 0.384, 0, 0.0),
              0.107, (0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.8)))
KINDS = ("wrist", "joints", "stop-and-go", "teach")


def minimum_jerk(x: Array) -> tuple[Array, Array, Array]:
    """The quintic from 0 to 1 at rest at both ends, and its derivatives (Flash & Hogan 1985)."""
    x = np.clip(x, 0.0, 1.0)
    return (x**3 * (10.0 - 15.0 * x + 6.0 * x * x), 30.0 * (x * (1.0 - x)) ** 2,
            60.0 * x * (1.0 - x) * (1.0 - 2.0 * x))


def random_speed(kind: str, rng: Rng) -> float:
    """Mean angular speed of the sensor [rad/s], even in the logarithm."""
    low, high = (0.15, 0.5) if kind == "teach" else (0.3, 2.5)
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def random_law(arm: Arm, kind: str, speed: float, seconds: float, rng: Rng) -> Law:
    """Sines of the wrist, of all joints, slow ones (teach), or moves with rests, stretched to a
    mean angular speed [rad/s]."""
    middle = arm.middle + rng.uniform(-0.3, 0.3, len(arm.middle))
    middle[[0, -1]] = rng.uniform(-np.pi, np.pi, 2)
    if kind == "stop-and-go":
        return _moves(arm, middle, speed, seconds, rng)
    moving, size, limits = {"wrist": (slice(-3, None), 0.8, (2, 5)),
                            "joints": (slice(None), 0.4, (2, 5)),
                            "teach": (slice(None), 0.4, (4, 7))}[kind]
    count = int(rng.integers(*limits))
    amplitude = np.zeros((count, len(middle)))
    amplitude[:, moving] = (size / np.sqrt(count)
                            * rng.uniform(0.4, 1.2, amplitude.shape)[:, moving])
    rate = 2.0 * np.pi * rng.uniform(0.15, 0.6, amplitude.shape)
    phase = rng.uniform(0.0, 2.0 * np.pi, amplitude.shape)

    def law(t: Array, pace: float = 1.0) -> Path:
        angle = pace * t[:, None, None] * rate + phase
        sine, cosine = amplitude * np.sin(angle), amplitude * np.cos(angle)
        return Path(middle + sine.sum(1), pace * (rate * cosine).sum(1),
                    -pace**2 * (rate**2 * sine).sum(1))
    pace = speed / _mean_speed(arm, law(np.linspace(0.0, 60.0, 1500)))
    return lambda t: law(t, pace)


def _mean_speed(arm: Arm, path: Path) -> float:
    return float(np.linalg.norm(arm.motion(path).omega, axis=1).mean())


def _moves(arm: Arm, middle: Array, speed: float, seconds: float, rng: Rng) -> Law:
    count = int(seconds / 1.1) + 3
    moves, rests = rng.uniform(0.8, 1.6, count), rng.uniform(0.3, 1.0, count)
    starts = np.concatenate([[0.0], np.cumsum(moves + rests)[:-1]]) - rng.uniform(0.0, 1.0)
    reach = np.full(len(middle), 0.4)
    reach[-3:] = 1.0
    offsets = reach * rng.uniform(-1.0, 1.0, (count + 1, len(middle)))

    def law(t: Array, size: float) -> Path:
        k = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, count - 1)
        value, rate, more = (v[:, None] for v in minimum_jerk((t - starts[k]) / moves[k]))
        step, time = size * (offsets[k + 1] - offsets[k]), moves[k][:, None]
        return Path(middle + size * offsets[k] + step * value, step * rate / time,
                    step * more / time**2)
    wanted = speed / _mean_speed(arm, law(np.linspace(0.0, starts[-1], 1000), 1.0))
    size = min(wanted, 1.6)  # a wrist turns no farther
    return lambda t: law(t, size)


def resting(law: Law, begin: float, end: float) -> Law:
    """The motion with a rest from `begin` to `end` [s], slowing down and speeding up in 1 s."""
    def step(t: Array, at: float) -> tuple[Array, Array, Array]:
        u = np.clip(t - at, 0.0, 1.0)
        return (u**3 - 0.5 * u**4 + np.maximum(t - at - 1.0, 0.0), u**2 * (3.0 - 2.0 * u),
                6.0 * u * (1.0 - u))

    def stopped(t: Array) -> Path:
        less, pace, change = (one - other for one, other in zip(
            step(t, end), step(t, begin - 1.0), strict=True))
        q, dq, ddq = law(t + less)
        pace, change = 1.0 + pace[:, None], change[:, None]
        return Path(q, dq * pace, ddq * pace**2 + dq * change)
    return stopped


# ---- errors of sensors ---------------------------------------------------------------------------

Effect = Callable[[Array, Array, Rng], Array]  # of readings (n, 6), times (n,) [s]: other readings


def gain(sd: float) -> Effect:
    """Every channel times a constant near one."""
    return lambda y, t, rng: y * (1.0 + rng.normal(0.0, sd, 6))


def cross_talk(sd: float) -> Effect:
    """Every channel sees a share of the others, both relative to full scale."""
    def effect(y: Array, t: Array, rng: Rng) -> Array:
        mixing = rng.normal(0.0, sd, (6, 6)) * (1.0 - np.eye(6))
        return y + FULL_SCALE * ((y / FULL_SCALE) @ mixing.T)
    return effect


def non_linearity(sd: float) -> Effect:
    """A square law, odd about zero."""
    return lambda y, t, rng: y + (rng.normal(0.0, sd, 6) * FULL_SCALE * (y / FULL_SCALE) ** 2
                                  * np.sign(y))


def hysteresis(share: float) -> Effect:
    """A play of .3 of the run's range, mixed in so that it reaches a share of full scale."""
    def effect(y: Array, t: Array, rng: Rng) -> Array:
        half = 0.3 * np.maximum(np.ptp(y, axis=0), 1e-12)
        low, high, at, out = y - half, y + half, y[0], np.empty_like(y)
        for k in range(len(y)):
            out[k] = at = np.minimum(np.maximum(at, low[k]), high[k])
        return y + np.minimum(share * FULL_SCALE / half, 0.5) * (out - y)
    return effect


def drift(force: float, torque: float) -> Effect:
    """A zero that moves evenly, at rates of this deviation [N/s, N m/s]."""
    rates = np.repeat([force, torque], 3)
    return lambda y, t, rng: y + rates * rng.normal(size=6) * (t - t[0])[:, None]


def wandering(time: float, force: float, torque: float) -> Effect:
    """Ornstein-Uhlenbeck noise: correlation time [s], deviations [N, N m]."""
    def effect(y: Array, t: Array, rng: Rng) -> Array:
        keep = np.exp(-(t[1] - t[0]) / time)
        steps_ = rng.normal(size=y.shape) * np.sqrt(1.0 - keep**2)
        steps_[0] = rng.normal(size=6)
        return y + np.repeat([force, torque], 3) * lfilter([1.0], [1.0, -keep], steps_, axis=0)
    return effect


def low_pass(order: int, cutoff: float) -> Effect:
    """Equal first-order stages [Hz], at rest before the recording."""
    def effect(y: Array, t: Array, rng: Rng) -> Array:
        keep, rest = np.exp(-2.0 * np.pi * cutoff * (t[1] - t[0])), y[0]
        y = y - rest
        for _ in range(order):
            y = lfilter([1.0 - keep], [1.0, -keep], y, axis=0)
        return rest + y
    return effect


def steps(force: float, torque: float) -> Effect:
    """Readings in whole steps [N, N m]."""
    size = np.repeat([force, torque], 3)
    return lambda y, t, rng: size * np.round(y / size)


@dataclass(frozen=True)
class Source:
    """What is wrong with sensor and set-up; where nothing is said: nothing.

    Attributes:
        effects: in order; then come `wander`, bias, white noise [N, N m], rounding.
        rate, joint_rate: [Hz]; range: payloads are made lighter until their wrench is within .8 of
        it [N, N m]; calibration: over (.2 deg, 1 mm, .2 deg) of every joint; compliance
        [rad/(N m)]; cable: tension at its shortest [N], stiffness [N/m]; turned [deg], moved [m]
        (deviation): of the sensor; late: stamps of the wrench [s]; stamps: exact, jitter, bursts;
        settings: what a user of this sensor would set.
    """

    effects: tuple[Effect, ...] = ()
    wander: Effect | None = None
    white: tuple[float, float] = (0.1, 0.005)
    rounding: Effect | None = None
    rate: float = 500.0
    joint_rate: float = 500.0
    range: tuple[float, float] = (math.inf, math.inf)
    calibration: float = 0.0
    compliance: float = 0.0
    soft_base: bool = False
    cable: tuple[float, float] = (0.0, 0.0)
    turned: float = 0.0
    moved: float = 0.0
    late: float = 0.0
    stamps: str = "exact"
    settings: Mapping[str, Any] = field(default_factory=dict)


_UR = Source(wander=wandering(3.0, 1.2, 0.06), white=(0.5, 0.03), settings={
    "wrench.sensor": "ur_e_series", "load.rated_payload": 35.0})
_ATI = Source(white=(0.05, 0.002), rounding=steps(0.025, 0.00125), rate=1000.0, range=(130.0, 10.0),
              settings={"wrench.sensor": "ati_gamma"})
_ONROBOT = Source((cross_talk(0.02), hysteresis(0.01)), None, (0.1, 0.004), steps(0.2, 0.01), 100.0,
                  125.0, (200.0, 6.5), settings={"wrench.sensor": "onrobot_hex"})
_GOOD = (gain(0.01), cross_talk(0.003))
SOURCES = {
    "white": Source(), "gain": Source((gain(0.01),)),
    "ideal": Source(settings={"wrench.sensor": "ideal", "alignment.orientation_sd": 0.0,
                              "alignment.position_sd": 0.0}),
    "cross-talk-1": Source((cross_talk(0.01),)), "non-linearity": Source((non_linearity(0.01),)),
    "hysteresis": Source((hysteresis(0.005),)), "drift": Source((drift(0.02, 0.001),)),
    "ar-10s": Source(wander=wandering(10.0, 0.5, 0.03)), "ur-config": _UR,
    "ft300": Source((), wandering(0.02, 0.3, 0.01), (0.3, 0.012), steps(0.1, 0.001), 100.0, 125.0,
                    (300.0, 30.0), settings={"wrench.sensor": "robotiq_ft300"}),
    "onrobot": _ONROBOT, "ati": _ATI,
    "bota": Source(white=(0.15, 0.004), rate=800.0, range=(500.0, 12.0),
                   settings={"wrench.sensor": "bota_sensone"}),
    "calibration": Source(calibration=1.0), "compliance": Source(compliance=1e-4),
    "soft-base": Source(soft_base=True), "cable": Source(cable=(2.0, 5.0)),
    "turned-5": Source(turned=5.0),
    "moved-told": Source(moved=0.003, settings={"alignment.position_sd": 0.003,
                                                "alignment.estimate_position": True}),
    "arrival-jitter": Source(stamps="jitter"), "arrival-bursts": Source(stamps="bursts"),
    "filter-1-3": Source((low_pass(1, 3.0),)), "filter-2-1": Source((low_pass(2, 1.0),)),
    "filter-2-1-late-0.1": Source((low_pass(2, 1.0),), late=0.1),
    "mix-ati": replace(_ATI, calibration=1.0, effects=(*_GOOD, drift(0.02, 0.001))),
    "mix-ur": replace(_UR, calibration=1.0, compliance=1e-4),
    "mix-onrobot": replace(_ONROBOT, calibration=1.0,
                           effects=(*_ONROBOT.effects, drift(0.02, 0.001))),
    "mix-mounting": Source(_GOOD, turned=1.0, moved=0.001, soft_base=True),
    "mix-cell": Source((gain(0.005), cross_talk(0.005), hysteresis(0.003), drift(0.01, 0.0005)),
                       calibration=0.5, turned=2.0, moved=0.0015, cable=(1.0, 3.0))}


# ---- a recording ---------------------------------------------------------------------------------

@dataclass(frozen=True, eq=False)
class Recording:
    """What sensor and encoders measured, and the truth behind it.

    Attributes:
        arm: as its description has it; told: the payload; settings: of the source.
        stamps: (n,) [ns]; wrench: (n, 6) readings; joint_stamps: (m,); positions: (m, k).
        motion: exact, at the wrenches; white: (6,) deviation of their noise.
    """

    arm: Arm
    told: Told
    settings: Mapping[str, Any]
    stamps: Array
    wrench: Array
    joint_stamps: Array
    positions: Array
    motion: Motion
    white: Array
    rate: float


@dataclass(frozen=True)
class Scenario:
    """A source of errors and a seed, which draws arm, payload, motion and length by itself.

    Arm, payload, motion and white noise depend on the seed alone, so that sources can be compared
    run by run.
    """

    source: str
    seed: int
    lengths: tuple[float, ...] = (4.0, 8.0, 15.0)
    kinds: tuple[str, ...] = KINDS
    rate: float = 0.0  # Hz, in place of the source's

    def record(self) -> Recording:
        """Simulate it."""
        source = SOURCES[self.source]
        if self.rate:
            source = replace(source, rate=self.rate, joint_rate=self.rate)
        rng = np.random.default_rng([self.seed, 0])
        arm = ARMS[int(rng.choice(len(ARMS)))]
        told, kind = random_body(rng), str(rng.choice(list(self.kinds)))
        speed, seconds = random_speed(kind, rng), float(rng.choice(list(self.lengths)))
        law = random_law(arm, kind, speed, seconds, rng)
        bias, noise = BIAS_SD * rng.normal(size=6), np.random.default_rng([self.seed, 1])
        rng = np.random.default_rng([self.seed, 2, zlib.crc32(self.source.encode())])
        t = np.arange(round(seconds * source.rate)) / source.rate
        peak = np.abs(arm.motion(law(t)).wrench(told.phi)).max(axis=0)
        share = float(np.max(peak / np.repeat(source.range, 3)))
        told = told._replace(phi=told.phi * min(1.0, 0.8 / max(share, 1e-9)))
        motion, wrench = _true_wrench(source, arm, told.phi, law(t), t, rng)
        y = -wrench
        for effect in (*source.effects, *([source.wander] if source.wander else [])):
            y = effect(y, t, rng)
        white = np.repeat(source.white, 3)
        y = y + bias + white * noise.normal(size=y.shape)
        y = source.rounding(y, t, rng) if source.rounding else y
        at = np.arange(round(seconds * source.joint_rate)) / source.joint_rate
        q = law(at).q
        q = q + ENCODER_NOISE * noise.normal(size=q.shape)
        rng.uniform(size=3)
        return Recording(arm, told, {**told.hint, **source.settings},
                         _stamps(t + source.late, source.stamps, rng), y,
                         _stamps(at, source.stamps, rng), q, motion, white, source.rate)


def _true_wrench(source: Source, arm: Arm, phi: Array, path: Path, t: Array,
                 rng: Rng) -> tuple[Motion, Array]:
    """Exact motion, and wrench W (n, 6) in the sensor's own axes."""
    if source.calibration:
        angle, distance, zero = (source.calibration * size for size in (0.2, 1e-3, 0.2))
        arm = arm.disturbed(rng, angle, distance)
        path = path._replace(q=path.q + np.deg2rad(rng.normal(0.0, zero, path.q.shape[1])))
    if source.compliance:
        path = arm.bent(path, phi, source.compliance, t)
    motion = arm.motion(path)
    if source.soft_base:
        motion = arm.motion(path, _swung_base(motion, t, rng))
    wrench = motion.wrench(phi)
    if any(source.cable):
        wrench = wrench - cable_pull(motion, source.cable, rng)
    if source.moved:
        wrench = np.hstack([wrench[:, :3], wrench[:, 3:] - np.cross(
            rng.normal(0.0, source.moved, 3), wrench[:, :3])])
    if source.turned:
        back = Rotation.from_rotvec(direction(rng) * source.turned, degrees=True).as_matrix()
        wrench = (wrench.reshape(-1, 2, 3) @ back).reshape(-1, 6)
    return motion, wrench


def _swung_base(motion: Motion, t: Array, rng: Rng) -> Array:
    """Acceleration (n, 3) of a base with a mode of 6 Hz that the arm swings, and that vibrates."""
    rate = 2.0 * np.pi * 6.0
    felt = np.einsum("nij,ni->nj", motion.axes, motion.proper) - [0.0, 0.0, GRAVITY]
    mode = bilinear([1.0, 0.0, 0.0], [1.0, 2.0 * 0.03 * rate, rate**2], 1.0 / (t[1] - t[0]))
    angle = 2.0 * np.pi * 12.0 * t + rng.uniform(0.0, 2.0 * np.pi)
    return (lfilter(*mode, 0.02 * (felt - felt[0]), axis=0)
            + 0.5 * np.sin(angle)[:, None] * direction(rng))


def cable_pull(motion: Motion, cable: tuple[float, float], rng: Rng) -> Array:
    """Wrench (n, 6) of a cable on the payload, 36 mm from the sensor's origin."""
    arm = 0.036 * direction(rng)
    at = motion.position + np.einsum("nij,i->nj", motion.axes, arm)
    fixed = motion.position.mean(axis=0) + [*rng.uniform(-0.3, 0.3, 2), 0.0]
    fixed[2] = motion.position[:, 2].max() + 0.4
    length = np.linalg.norm(fixed - at, axis=1, keepdims=True)
    pull = (cable[0] + cable[1] * (length - length.min())) * (fixed - at) / length
    return applied(np.einsum("nij,nj->ni", motion.axes, pull), arm)


def applied(force: Array, lever: Array) -> Array:
    """Wrench (n, 6) of forces (n, 3) that act at (3,)."""
    return np.hstack([force, np.cross(np.broadcast_to(lever, force.shape), force)])


def _stamps(t: Array, kind: str, rng: Rng) -> Array:
    """Stamps (n,) [ns] that increase."""
    if kind == "jitter":
        t = np.maximum.accumulate(t + rng.exponential(0.003, len(t)))
    elif kind == "bursts":
        t, begin = t.copy(), 0
        while begin < len(t):
            end = min(begin + int(rng.integers(4, 9)), len(t))
            t[begin:end] = t[end - 1] + np.cumsum(rng.uniform(50e-6, 100e-6, end - begin))
            begin = end
    stamps = START_NS + np.round(1e9 * t).astype(np.int64)
    return np.maximum.accumulate(stamps - 1000 * np.arange(len(t))) + 1000 * np.arange(len(t))
