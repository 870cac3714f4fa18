# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Objects and scenarios of the accuracy rows, after Nadeau, Giamou and Kelly (2022)."""

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from .generator import UR5, Array, Law, Part, Rng, Told, box, direction, point, universal
from .generator import Path as JointPath

ARM = universal(*UR5, height=0.12)
NOISE = {"low": (0.05, 0.0025, 0.025, 0.25), "moderate": (0.1, 0.005, 0.05, 0.5),
         "high": (0.2, 0.01, 0.1, 1.0)}  # N, N m, m/s^2, rad/s^2 of a sample; high: as the tools'


class Known(NamedTuple):
    """What is wrong in an accuracy row of recordings, and what is told of it; all else is exact.

    Attributes:
        seconds, rate: [s], [Hz]; bias: whether there is one; rotation, tilt: of the sensor and of
        gravity [deg].
    """

    objects: str
    seconds: float
    rate: float
    speeds: tuple[float, ...]
    bias: bool = False
    rotation: float = 0.0
    tilt: float = 0.0


ROWS = {"encoder": Known("modular", 1.5, 100.0, (1.0, 1.5, 2.0)),
        "bias": Known("modular", 1.5, 100.0, (1.0, 1.5, 2.0), bias=True),
        "misaligned": Known("poor", 10.0, 500.0, (1.0,), True, 1.0, 0.5)}
EXACT = {"wrench.sensor": "ideal", "alignment.orientation_sd": 0.0, "alignment.position_sd": 0.0,
         "alignment.delay_sd": 0.0}


def settings(known: Known) -> dict[str, object]:
    """What a user knows who has the right data sheet."""
    out = {**EXACT, "wrench.noise": NOISE["moderate"][:2],
           "estimator.estimate_bias": known.bias}
    return out if known.rotation else {**out, "alignment.rotation_sd": 0.0,
                                       "alignment.tilt_sd": 0.0}


def sinusoid(speed: float, rng: Rng) -> Law:
    """45 deg sines of the last three joints at a mean angular speed [rad/s] and random phase."""
    start = np.radians([0.0, -90.0, 60.0, -90.0, -90.0, 0.0])
    size = np.radians([0.0, 0.0, 0.0, 45.0, 45.0, 45.0])
    rate = 2.0 * np.pi * np.array([0.0, 0.0, 0.0, 0.10, 0.13, 0.16])
    begin, pace = rng.uniform(0.0, 100.0), 1.28 * speed

    def law(t: Array) -> JointPath:
        angle, w = (pace * t + begin)[:, None] * rate, pace * rate
        return JointPath(start + size * np.sin(angle), size * w * np.cos(angle),
                         -size * w**2 * np.sin(angle))
    return law


def readings(known: Known, told: Told, law: Law, t: Array, rng: Rng) -> Array:
    """Readings (n, 6)."""
    up = np.array([0.0, 0.0, 1.0])
    if known.tilt:
        axis = np.r_[direction(rng)[:2], 0.0]
        up = Rotation.from_rotvec(known.tilt * axis / np.linalg.norm(axis), degrees=True).apply(up)
    wrench = ARM.motion(law(t), up=up).wrench(told.phi)
    if known.rotation:
        turn = Rotation.from_rotvec(known.rotation * direction(rng), degrees=True).as_matrix()
        wrench = (wrench.reshape(-1, 2, 3) @ turn).reshape(-1, 6)
    bias = known.bias * np.repeat([0.5, 0.02], 3) * rng.normal(size=6)
    return bias - wrench + np.repeat(NOISE["moderate"][:2], 3) * rng.normal(size=wrench.shape)


# ---- the modular test object: holes, and fillings (steel, plastic, hole at the sensor) -----------

HOLES = np.array([(-65, 125), (0, 125), (65, 125), (0, 75), (0, 25), (0, -25), (0, -75),
                  (-65, -125), (0, -125), (65, -125)]) * 1e-3
FILLINGS = {"hammer": ((0, 1, 2, 3), (4, 5, 6, 8), 8),
            "barbell": ((0, 1, 2, 7, 8, 9), (3, 4, 5, 6), 5), "tee": (tuple(range(7)), (), 6),
            "uniform": (tuple(range(10)), (), 8), "corners": ((0, 2, 7, 9), (), 8),
            "rod": ((1, 3, 4, 5, 6, 8), (), 8), "half": ((0, 1, 2, 3, 4), (5, 6, 7, 8, 9), 8),
            "empty": ((), (), 8)}
OUTLINE = ((-100, -150), (100, -150), (100, -100), (25, -100), (25, 100), (100, 100), (100, 150),
           (-100, 150), (-100, 100), (-25, 100), (-25, -100), (-100, -100))  # mm, 50 mm thick
FACES = ((0, 1, 2), (0, 2, 3), (0, 3, 10), (0, 10, 11), (10, 3, 4), (10, 4, 9), (7, 8, 9),
         (7, 9, 4), (7, 4, 5), (7, 5, 6))


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="referee_")  # removed when the process ends


@cache
def _outline_file() -> str:
    n, corners = len(OUTLINE), [(*p, z) for z in (0, 50) for p in OUTLINE]
    faces = [*((a + n, b + n, c + n) for a, b, c in FACES), *((a, c, b) for a, b, c in FACES)]
    for k in range(n):
        j = (k + 1) % n
        faces += [(k, j, j + n), (k, j + n, k + n)]
    path = Path(_folder().name) / "outline.obj"
    path.write_text("".join(f"v {x * 1e-3} {y * 1e-3} {z * 1e-3}\n" for x, y, z in corners)
                    + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces))
    return str(path)


def modular() -> dict[str, Told]:
    """The eight configurations; their outline is told."""
    out = {}
    for name, (steel, plastic, at) in FILLINGS.items():
        def place(hole: int, at: int = at) -> Array:
            return np.r_[HOLES[hole] - HOLES[at], 0.025]
        # The printed body: .6785 kg, its moment and second moments about the middle.
        second = np.diag([1.5461e-3, 8.1757e-3, 0.1568e-3])
        middle = np.r_[-HOLES[at], 0.025]
        first = np.array([0.0, 2.01e-3, 0.0])
        moments = second + np.outer(first, middle) + np.outer(middle, first) + 0.6785 * np.outer(
            middle, middle)
        phi = np.r_[0.6785, first + 0.6785 * middle,
                    (np.trace(moments) * np.eye(3) - moments).ravel()[[0, 1, 2, 4, 5, 8]]]
        phi = phi + point(0.0268, place(at))
        for mass, holes in ((0.101, steel), (0.017, plastic)):
            density = mass / (np.pi * 0.0127**2 * 0.0254)
            for hole in holes:
                phi = phi + Part("cylinder", np.array([0.0254] * 3), density, place(hole)).phi()
        out[name] = Told(phi, np.array([0.2, 0.3, 0.05]), {
            "shape.type": "mesh", "shape.mesh": _outline_file(),
            "shape.center": (float(-HOLES[at][0]), float(-HOLES[at][1]), 0.0)})
    return out


def poor() -> dict[str, Told]:
    """Bodies of which only the bounding box is known, and whose even box misses their inertia by
    82, 33, 28 and 14 %."""
    bodies = {
        "hammer": ((0.2, (0.25, 0.03, 0.02), (-0.028, 0, 0.05)),
                   (0.8, (0.03, 0.11, 0.06), (0.112, 0, 0.05))),
        "offset": ((0.81, (0.16, 0.12, 0.10), (0.03, -0.02, 0.07)),
                   (0.19, (0.044, 0.044, 0.06), (0.075, 0.015, 0.09))),
        "heavy": ((1.96, (0.20, 0.12, 0.08), (0, 0, 0.06)),
                  (2.04, (0.11, 0.10, 0.06), (-0.035, 0, 0.05))),
        "gripper": ((0.75, (0.09, 0.08, 0.08), (0, 0, 0.05)),
                    (0.205, (0.02, 0.03, 0.06), (0.035, 0, 0.12)),
                    (0.205, (0.02, 0.03, 0.06), (-0.035, 0, 0.12)))}
    out = {}
    for name, rows in bodies.items():
        parts = [Part("cylinder" if size[0] == 0.044 else "box", np.array(size), 1.0, np.array(at))
                 for _, size, at in rows]
        parts = [p._replace(density=mass / p.mass) for p, (mass, *_) in zip(parts, rows,
                                                                             strict=True)]
        low = np.min([p.centre - p.half() for p in parts], axis=0)
        high = np.max([p.centre + p.half() for p in parts], axis=0)
        out[name] = Told(np.sum([p.phi() for p in parts], axis=0), high - low,
                         box(high - low, 0.5 * (low + high)))
    return out


# ---- workshop tools: stored motion and wrench, of a data folder ----------------------------------

def data_folder() -> Path:
    """Folder of the data sets (INERTIAL_ID_DATA); it need not exist."""
    return Path(os.environ.get("INERTIAL_ID_DATA",
                               Path(__file__).resolve().parents[3] / "shared" / "data"))


class Tool(NamedTuple):
    """A tool with its motion: times, rotations (n, 3, 3) from sensor axes to the room,
    acceleration, omega, alpha (n, 3); wrench W (n, 6)."""

    file: Path
    phi: Array
    lengths: Array
    motion: tuple[Array, ...]
    wrench: Array


def tools() -> list[Tool]:
    """Those of the data folder; none without it."""
    return [_tool(f) for f in sorted((data_folder() / "workshop_tools").glob("*.npz"))]


@cache
def _tool(file: Path) -> Tool:
    with np.load(file, allow_pickle=False) as d:
        phi = point(float(d["mass"]), np.asarray(d["com"]))
        phi = phi + np.r_[np.zeros(4), np.asarray(d["inertia_com"]).ravel()[[0, 1, 2, 4, 5, 8]]]
        flip = np.diag([1.0, -1.0, -1.0]) if d["gravity_world"][2] > 0.0 else np.eye(3)
        motion = (d["t"], flip @ d["world_R_sensor"], d["linear_acceleration"],
                  d["angular_velocity"], d["angular_acceleration"])
        return Tool(file, phi, np.array(d["bounding_box"]), motion,
                    np.hstack([d["force"], d["torque"]]))
