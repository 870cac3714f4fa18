# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Random identification problems: bodies, motions, noise, and the factors of all rows; random cases
for tests of estimators, and what they are judged by."""

import warnings
from collections.abc import Sequence
from types import SimpleNamespace
from typing import NamedTuple

import cvxpy as cp
import numpy as np
import pinocchio as pin
from scenes import FRAME, GRAVITY, NAMES, NOISE, URDF
from scipy.spatial.transform import Rotation

from inertial_id_ros import estimators
from inertial_id_ros.geometry.shape import shape_from_primitive
from inertial_id_ros.inertia import Array, point_columns
from inertial_id_ros.model.newton_euler import regressor
from inertial_id_ros.model.problem import Problem, channel_triangles, dynamism_weight
from inertial_id_ros.motion.frames import chain_of
from inertial_id_ros.motion.motion import Motion
from inertial_id_ros.motion.track import Track
from inertial_id_ros.samples.ring import Ring
from inertial_id_ros.settings import Settings

BIAS_SD = np.repeat([5.0, 0.5], 3)


class Rows(NamedTuple):
    """All rows of a window.

    Attributes:
        full: regressor (n, 6, 10) of the full model.
        static: regressor (n, 6, 10) of the gravity-only model.
        wrench: (n, 6) [N, N m], sensor on payload, with bias: ``y = A phi + bias``.
        weight: (n,) weight w of the full model, 0 to 1; the gravity-only model has 1 - w.
    """

    full: Array
    static: Array
    wrench: Array
    weight: Array


def random_phi(rng: np.random.Generator, points: int = 8, size: float = 0.1,
               offset: float = 0.1) -> Array:
    """phi (10,) of random point masses, about 1 kg, around a random centre; singular if few."""
    center = rng.normal(scale=offset, size=3)
    where = center + rng.uniform(-0.5, 0.5, (points, 3)) * size * rng.uniform(0.2, 1.0, 3)
    return point_columns(where) @ (rng.uniform(0.2, 2.0, points) / points)


def motion(rng: np.random.Generator, samples: int = 300, seconds: float = 3.0,
           speed: float = 1.0) -> tuple[Array, Array, Array, Array]:
    """a_g, omega, alpha (n, 3) and gravity (n, 3) in sensor axes of a sum of sinusoids.

    Args:
        speed: about the largest angular velocity [rad/s].
    """
    t = np.linspace(0.0, seconds, samples)[:, None]
    frequency = rng.uniform(0.1, 0.4, 6) * 2.0 * np.pi
    phase = rng.uniform(0.0, 2.0 * np.pi, 6)
    amplitude = np.r_[speed / frequency[:3], rng.uniform(0.05, 0.3, 3) * speed]

    def angles(s: Array) -> Array:
        return (amplitude * np.sin(frequency * s + phase))[:, :3]

    rotation = Rotation.from_euler("xyz", angles(t))

    def omega_at(s: Array) -> Array:
        h = 1e-4
        before, after = (Rotation.from_euler("xyz", angles(s + d)) for d in (-h, h))
        return (before.inv() * after).as_rotvec() / (2.0 * h)

    omega = omega_at(t)
    alpha = (omega_at(t + 1e-3) - omega_at(t - 1e-3)) / 2e-3
    acceleration = -(amplitude * frequency**2 * np.sin(frequency * t + phase))[:, 3:]
    back = rotation.inv()
    gravity = back.apply(np.tile(GRAVITY, (samples, 1)))
    return back.apply(acceleration - GRAVITY), omega, alpha, gravity


def poses(rng: np.random.Generator, count: int, samples: int = 200) -> tuple[Array, ...]:
    """Motion arrays of a payload held still in `count` random poses."""
    gravity = Rotation.random(count, random_state=rng).apply(GRAVITY)
    gravity = np.repeat(gravity, -(-samples // count), axis=0)[:samples]
    zero = np.zeros_like(gravity)
    return -gravity, zero, zero, gravity


def make_rows(rng: np.random.Generator, phi: Array, moving: tuple[Array, ...],
              noise: Array | float = NOISE, bias: Array | float = 0.0) -> Rows:
    """All rows of a recording: both regressors, the noisy wrench, the weight of the full model."""
    a_g, omega, alpha, gravity = moving
    full = regressor(a_g, omega, alpha)
    wrench = full @ phi + bias + rng.normal(size=(len(full), 6)) * noise
    weight = dynamism_weight(a_g + gravity, omega, alpha, 5.0)
    return Rows(full, regressor(-gravity, 0.0 * omega, 0.0 * omega), wrench, weight)


class Data(NamedTuple):
    """What estimators are tested with: all rows, and the problem of either weighting that stands
    for them.

    Attributes:
        problems: by weighting; noise, bias_sd, bias_mean: (6,).
    """

    rows: Rows
    problems: dict[str, Problem]
    noise: Array
    bias_sd: Array
    bias_mean: Array

    @property
    def has_bias(self) -> bool:
        return bool(np.all(self.bias_sd > 0.0))

    def factors(self, weighting: str, unit: float = 1.0) -> list[Array]:
        """Triangular factors ``[B (6, or none if known) | A (10) | y]`` of all rows of each model,
        each divided by its noise and times a unit; the first with the prior of the biases.

        ``noise``: the full model, weight 1. ``dynamism``: full model times w, gravity-only model
        times 1 - w (Nadeau et al. 2022, eq. 8).
        """
        rows, out = self.rows, []
        bias = np.tile(np.eye(6), (len(rows.wrench), 1, 1))
        whole = 1.0 if weighting == "noise" else rows.weight
        for model, weight in ((rows.full, whole), (rows.static, 1.0 - whole)):
            y = rows.wrench if self.has_bias else rows.wrench - self.bias_mean
            columns = np.concatenate([*([bias] if self.has_bias else []), model, y[..., None]], 2)
            columns = columns * np.broadcast_to(weight, len(y))[:, None, None]
            out.append((columns / self.noise[:, None]).reshape(-1, columns.shape[2]))
        if self.has_bias:
            prior = np.hstack([np.eye(6), np.zeros((6, 10)), self.bias_mean[:, None]])
            out[0] = np.vstack([out[0], prior / self.bias_sd[:, None]])
        return [unit * np.linalg.qr(f, mode="r") for f in out[:1 if weighting == "noise" else 2]]

    def squares(self, weighting: str) -> Array:
        """F (11, 11): ``|F [phi; -1]|^2`` is the sum of squares of all rows at the best biases."""
        return np.linalg.qr(np.vstack(self.factors(weighting)), mode="r")[-11:, -11:]


def compress(rows: Rows, noise: Array = NOISE, bias_sd: Array | None = None,
             bias_mean: Array | None = None) -> Data:
    """The problems that stand for all rows; bias_sd None: a free bias, zeros: a known one."""
    bias_sd = BIAS_SD if bias_sd is None else bias_sd
    bias_mean = np.zeros(6) if bias_mean is None else bias_mean
    y = (rows.wrench - bias_mean)[:, :, None]
    full, static = (np.concatenate([a, y], axis=2) for a in (rows.full, rows.static))
    models = {"noise": [(full, np.ones(len(full)))],
              "dynamism": [(full, rows.weight), (static, 1.0 - rows.weight)]}
    return Data(rows, {name: Problem.from_models(tuple(channel_triangles(*one) for one in some),
                                                 noise, bias_sd) for name, some in models.items()},
                noise, bias_sd, bias_mean)


def pose_at(center: Sequence[float]) -> Array:
    """The transform (4, 4) to a place without turning."""
    return pin.SE3(np.eye(3), np.array(center)).homogeneous


def motion_from_arrays(at: np.ndarray, positions: np.ndarray) -> Motion:
    """Motion of the sensor in all bins that joint positions (m, 6) at stamps (m,) [ns] cover."""
    chain = chain_of(URDF, FRAME)
    track = Track(Ring(len(NAMES)), np.array([chain.turning.get(name, False) for name in NAMES]))
    track.ring.push(at, positions)
    signal = track.advance(finished=True)
    return chain.motion(signal.number, NAMES, signal.value, signal.rate, signal.acceleration)


BOX = shape_from_primitive("box", (0.1, 0.06, 0.2), pose_at((0.02, 0.0, 0.12)))

CONSISTENT = ("lmi", "pmd", "density", "entropic", "manifold")


def estimator(name, **settings):
    """An estimator with settings, which is given the problem of its weighting; keyword
    ``pmd__form`` is ``pmd.form``."""
    asked = Settings().replace({"estimator.method": name}
                               | {k.replace("__", "."): v for k, v in settings.items()})
    made, weighting = estimators.create(asked), asked.estimator.weighting
    return SimpleNamespace(
        made=made, solve=lambda data, shape: made.solve(data.problems[weighting], shape))


def inside_box(rng, points, shape=BOX):
    """phi of random point masses inside a shape; fewer than four: a singular body."""
    where = shape.points[rng.choice(len(shape.points), points)]
    return point_columns(where) @ (rng.uniform(0.2, 2.0, points) / points)


def random_case(seed, samples=60):
    """Problem and shape: with and without bias states, fast and slow, full and singular bodies."""
    rng = np.random.default_rng(seed)
    phi = inside_box(rng, int(rng.choice([2, 3, 4, 20])))
    states = seed % 2 == 0
    bias = rng.normal(size=6) * np.repeat([2.0, 0.2], 3)
    rows = make_rows(rng, phi, motion(rng, samples, 3.0, 10 ** rng.uniform(-1.3, 0.5)), bias=bias)
    return compress(rows, bias_sd=None if states else np.zeros(6),
                    bias_mean=None if states else bias), BOX


def hard_case(seed):
    """Problem and shape: thin and large boxes, grams and tens of kilograms, precise and poor
    sensors, still poses and fast motion, loads that lie partly beside the shape."""
    rng = np.random.default_rng(seed)
    size = 0.3 * 10.0 ** rng.uniform(-2.0, 0.0, 3)
    if seed % 7 == 3:
        size[rng.integers(3)] = 1e-3
    center = rng.normal(size=3) * 0.1
    count = int(rng.choice([1, 2, 3, 4, 20]))
    where = center + rng.uniform(-0.5, 0.5, (count, 3)) * size * (1.6, 1.0, 1.0)[seed % 3]
    phi = point_columns(where) @ (10.0 ** rng.uniform(-1.5, 1.5) * rng.dirichlet(np.ones(count)))
    noise = NOISE * 10.0 ** rng.uniform(-1.5, 1.0)
    samples = int(rng.choice([20, 100, 600]))
    moving = (motion(rng, samples, 3.0, 10.0 ** rng.uniform(-1.5, 0.7)) if seed % 5 else
              poses(rng, int(rng.integers(2, 8)), samples))
    bias = rng.normal(size=6) * np.repeat([2.0, 0.2], 3)
    rows = make_rows(rng, phi, moving, noise, bias=bias)
    states = seed % 2 == 0
    return compress(rows, noise, None if states else np.zeros(6), None if states else bias), (
        shape_from_primitive("box", size, pose_at(center)))


def least(cost, limits=()):
    """The least value of a convex expression."""
    with warnings.catch_warnings():  # it is as exact as can be
        warnings.filterwarnings("ignore", message="Solution may be inaccurate")
        return float(cp.Problem(cp.Minimize(cost), list(limits)).solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-10))
