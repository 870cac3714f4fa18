# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A small robot, its motion and its payload in closed form, independent of the package under test.

Forward kinematics are products of rotations, payloads are point masses, and the wrench comes from
finite differences of the paths of these points: no spatial algebra, no regressor, no Pinocchio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from inertial_id_ros.estimate import Outcome
from inertial_id_ros.io.sample_blocks import Edges, JointStates, Samples, Wrenches
from inertial_id_ros.settings import Settings

START = 1_785_000_000_123_456_789  # ns: July 2026
GRAVITY = np.array([0.0, 0.0, -9.81])
NOISE = np.repeat([0.1, 0.005], 3)  # of the data sheet: N, N m
_STEP = 2e-3  # s, of the finite differences

# name, type, parent, child, xyz, rpy, axis
_TABLE = (
    ("turn", "continuous", "base_link", "column", (0.0, 0.0, 0.3), (0.0, 0.0, 0.4), (0, 0, 1)),
    ("lift", "revolute", "column", "arm", (0.1, 0.0, 0.2), (0.2, 0.0, 0.0), (0, 1, 0)),
    ("slide", "prismatic", "arm", "carriage", (0.3, 0.0, 0.1), (0.0, 0.5, 0.0), (0.6, 0, 0.8)),
    ("bend", "revolute", "carriage", "wrist", (0.1, 0.0, 0.0), (0.0, 0.0, 0.7),
     (0.6, 0.64, 0.48)),
    ("roll", "continuous", "wrist", "hand", (0.0, 0.1, 0.0), (0.0, 0.3, 0.0), (1, 0, 0)),
    ("flange", "fixed", "hand", "tool0", (0.05, 0.02, 0.1), (0.3, -0.4, 1.2), None),
    ("finger", "prismatic", "tool0", "finger_link", (0.0, 0.0, 0.1), (0.0, 0.0, 0.0), (1, 0, 0)),
)
JOINTS = ("turn", "lift", "slide", "bend", "roll")  # those that move tool0


def _urdf() -> str:
    links = ["base_link", *(row[3] for row in _TABLE)]
    text = ['<?xml version="1.0"?>', '<robot name="test_arm">']
    text += [f'<link name="{link}"/>' for link in links]
    for name, kind, parent, child, xyz, rpy, axis in _TABLE:
        text.append(f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
                    f'<child link="{child}"/><origin xyz="{_words(xyz)}" rpy="{_words(rpy)}"/>')
        if axis is not None:
            text.append(f'<axis xyz="{_words(axis)}"/>'
                        '<limit lower="-3" upper="3" effort="100" velocity="10"/>')
        text.append("</joint>")
    return "\n".join([*text, "</robot>"])


def _words(values: Iterable[float]) -> str:
    return " ".join(repr(float(v)) for v in values)


URDF = _urdf()


@dataclass(frozen=True)
class Placement:
    """A fixed pose: rotation and translation (3,) of a child frame in its parent."""

    rotation: Rotation = field(default_factory=Rotation.identity)
    translation: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def quaternion(self) -> list[float]:
        """x, y, z, w."""
        return self.rotation.as_quat().tolist()


NOWHERE = Placement()
MOUNT = Placement(Rotation.from_euler("xyz", [0.4, -0.9, 2.0]), (0.03, -0.02, 0.08))
TILT = Placement(Rotation.from_euler("xyz", [0.5, -0.3, 0.9]), (1.0, 2.0, 0.5))


@dataclass(frozen=True)
class Sinusoids:
    """Joint motion ``offset + amplitude sin(frequency t + phase)``; arrays (joints,)."""

    offset: np.ndarray
    amplitude: np.ndarray
    frequency: np.ndarray
    phase: np.ndarray

    def derivatives(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, velocities, accelerations (n, joints) at times t (n,) [s]."""
        angle = self.frequency * np.asarray(t, dtype=float)[:, None] + self.phase
        return (self.offset + self.amplitude * np.sin(angle),
                self.amplitude * self.frequency * np.cos(angle),
                -self.amplitude * self.frequency**2 * np.sin(angle))

    def positions(self, t: np.ndarray) -> np.ndarray:
        """Positions (n, joints)."""
        return self.derivatives(t)[0]


RICH = Sinusoids(np.array([0.3, -0.4, 0.1, 0.5, -0.2]), np.array([0.6, 0.5, 0.08, 0.9, 1.1]),
                 np.array([0.9, 1.3, 1.7, 2.1, 2.6]), np.array([0.2, 1.0, 2.0, 3.0, 4.0]))
STILL = Sinusoids(RICH.offset, np.zeros(5), np.ones(5), np.zeros(5))


@dataclass(frozen=True)
class PointMasses:
    """A payload of points (n, 3) [m] with masses (n,) [kg], in the sensor frame."""

    points: np.ndarray
    masses: np.ndarray

    @property
    def report(self) -> np.ndarray:
        """mass, com, and xx, xy, xz, yy, yz, zz of the tensor about the centre of mass."""
        com = self.masses @ self.points / self.masses.sum()
        x, y, z = (self.points - com).T
        m = self.masses
        return np.array([m.sum(), *com, m @ (y * y + z * z), -m @ (x * y), -m @ (x * z),
                         m @ (x * x + z * z), -m @ (y * z), m @ (x * x + y * y)])


def payload(seed: int = 3, mass: float = 1.4) -> PointMasses:
    """A random payload, about 0.2 m across, 0.1 m in front of the sensor."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-0.1, 0.1, (12, 3)) + [0.02, -0.03, 0.1]
    share = rng.uniform(0.5, 1.5, 12)
    return PointMasses(points, mass * share / share.sum())


BODY = payload()


@dataclass(frozen=True)
class Scene:
    """A robot on its base, a sensor on its flange, a motion.

    Attributes:
        base: base_link in the world whose z axis points up; mount: sensor frame in tool0.
    """

    motion: Sinusoids = RICH
    base: Placement = NOWHERE
    mount: Placement = NOWHERE

    def flange_in_base(self, t: np.ndarray) -> tuple[Rotation, np.ndarray]:
        """Rotation and translation (n, 3) of tool0 in base_link."""
        return forward(self.motion.positions(t))

    def sensor_in_world(self, t: np.ndarray) -> tuple[Rotation, np.ndarray]:
        """Rotation and translation (n, 3) of the sensor in the world."""
        turn, shift = self.flange_in_base(t)
        shift = shift + turn.apply(self.mount.translation)
        return (self.base.rotation * turn * self.mount.rotation,
                self.base.rotation.apply(shift) + self.base.translation)

    def load(self, t: np.ndarray, body: PointMasses) -> np.ndarray:
        """Force and torque (n, 6) of the sensor on the payload, sensor axes and origin."""
        turn, origin = self.sensor_in_world(t)
        total = np.zeros((len(t), 6))
        around = [self.sensor_in_world(t + k * _STEP) for k in (-2, -1, 0, 1, 2)]
        for point, mass in zip(body.points, body.masses, strict=True):
            path = [r.apply(point) + p for r, p in around]
            acceleration = second_difference(path)
            force = mass * (acceleration - GRAVITY)
            torque = np.cross(path[2] - origin, force)
            back = turn.inv()
            total += np.concatenate([back.apply(force), back.apply(torque)], axis=1)
        return total


def second_difference(path: list[np.ndarray], step: float = _STEP) -> np.ndarray:
    """Second derivative from five values `step` seconds apart (error of fourth order)."""
    a, b, c, d, e = path
    return (-a + 16.0 * b - 30.0 * c + 16.0 * d - e) / (12.0 * step**2)


def forward(positions: np.ndarray) -> tuple[Rotation, np.ndarray]:
    """Rotation and translation (n, 3) of tool0 in base_link at joint positions (n, 5)."""
    turn, shift = np.eye(3)[None], np.zeros((len(positions), 3))
    for name, kind, _, _, xyz, rpy, axis in _TABLE[:6]:
        shift = shift + turn @ xyz
        turn = turn @ Rotation.from_euler("xyz", rpy).as_matrix()
        if kind == "fixed":
            continue
        value = positions[:, JOINTS.index(name), None] * np.asarray(axis, dtype=float)
        if kind == "prismatic":
            shift = shift + np.einsum("nij,nj->ni", turn, value)
        else:
            turn = turn @ Rotation.from_rotvec(value).as_matrix()
    return Rotation.from_matrix(turn), shift


class Message(NamedTuple):
    """A sample: stamp [ns], kind of its block of samples, what names its stream, its numbers."""

    stamp: int
    kind: Callable[..., Samples]
    stream: tuple[Any, ...]
    row: np.ndarray


class Recording(list[Message]):
    """Samples of a scene."""

    def shuffled(self, rng: np.random.Generator, within_ns: int) -> Recording:
        """Delivered up to `within_ns` late, each by its own delay."""
        delays = rng.integers(0, within_ns, len(self))
        order = np.argsort([m.stamp + int(d) for m, d in zip(self, delays, strict=True)])
        return Recording(self[k] for k in order)

    def changed(self, kind: type, change: Callable[[np.ndarray], np.ndarray]) -> Recording:
        """With the numbers of one kind of samples changed."""
        return Recording(m._replace(row=change(m.row)) if m.kind is kind else m for m in self)

    def batches(self) -> list[Samples]:
        """As arrays, a block for each stream."""
        streams: dict[tuple[Any, ...], list[Message]] = {}
        for message in self:
            streams.setdefault((message.kind, *message.stream), []).append(message)
        return [kind(np.array([m.stamp for m in part], dtype=np.int64), *stream,
                     np.array([m.row for m in part], dtype=float))
                for (kind, *stream), part in streams.items()]

    def outcomes(self, made: Any, cadence: float | None = None) -> list[Outcome]:
        """What an identifier says to all samples, `cadence` seconds of stamps at a time."""
        if cadence is None:
            return made.add_arrays(self.batches()) + made.finish()
        due: list[Outcome] = []
        for _, part in groupby(self, lambda m: int((m.stamp - START) / (1e9 * cadence))):
            due += made.add_arrays(Recording(part).batches())
        return due + made.finish()


def in_order(*parts: list[Message]) -> Recording:
    """Samples in the order of their stamps."""
    return Recording(sorted(chain(*parts), key=lambda m: m.stamp))


def stamps(seconds: float, rate: float, rng: np.random.Generator | None = None,
           jitter: float = 0.0, start: float = 0.0) -> np.ndarray:
    """Sample times (n,) [s], with a uniform jitter of that share of the period."""
    t = start + np.arange(int(seconds * rate)) / rate
    if rng is not None and jitter:
        t = t + rng.uniform(-0.5, 0.5, len(t)) * jitter / rate
    return t


def nanoseconds(t: np.ndarray) -> np.ndarray:
    """Stamps (n,) [ns] of times [s] since the start of the recording."""
    return START + np.round(np.asarray(t) * 1e9).astype(np.int64)


def wrench_messages(scene: Scene, body: PointMasses, t: np.ndarray, *, bias: Any = 0.0,
                    noise: Any = 0.0, rng: np.random.Generator | None = None, sign: float = -1.0,
                    frame: str = "tool0") -> list[Message]:
    """Wrench samples; sign -1: `on_sensor`."""
    reading = sign * scene.load(t, body) + bias
    if rng is not None:
        reading = reading + rng.normal(size=reading.shape) * noise
    return [Message(int(s), Wrenches, (frame,), row)
            for s, row in zip(nanoseconds(t), reading, strict=True)]


def joint_messages(scene: Scene, t: np.ndarray, names: tuple[str, ...] = JOINTS
                   ) -> list[Message]:
    """Joint states with these names, in this order; unknown joints stand at 0.5."""
    q = scene.motion.positions(t)
    columns = [q[:, JOINTS.index(n)] if n in JOINTS else np.full(len(q), 0.5) for n in names]
    return [Message(int(s), JointStates, (names,), row)
            for s, row in zip(nanoseconds(t), np.stack(columns, axis=1), strict=True)]


def transform_messages(turn: Rotation, shift: np.ndarray, t: np.ndarray, parent: str,
                       child: str) -> list[Message]:
    """Moving transforms of child in parent."""
    rows = np.hstack([shift, turn.as_quat()])
    return [Message(int(s), Edges, (parent, child), row)
            for s, row in zip(nanoseconds(t), rows, strict=True)]


def settings(**changes: Any) -> Settings:
    """Settings for recordings of this module, with ``wls`` and a sensor that has noise and a bias
    but no other error; keyword ``wrench__topic`` is ``wrench.topic``."""
    base = {"wrench.sensor": "ideal", "alignment.orientation_sd": 0.0, "alignment.position_sd": 0.0,
            "estimator.method": "wls"}
    return Settings().replace(base | {k.replace("__", "."): v for k, v in changes.items()})


def recording(seconds: float = 6.0, scene: Scene | None = None, body: PointMasses | None = None,
              wrench_rate: float = 200.0, joint_rate: float = 200.0, **options: Any) -> Recording:
    """Wrench and joint states of a scene, in order of time; options go to `wrench_messages`."""
    scene, body = scene or Scene(), body or payload()
    return in_order(joint_messages(scene, stamps(seconds, joint_rate)),
                    wrench_messages(scene, body, stamps(seconds, wrench_rate), **options))
