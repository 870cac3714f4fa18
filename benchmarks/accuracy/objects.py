# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The objects of the benchmark: true parameters, and the shape that the estimators are told.

Families. `modular`: the eight configurations of the modular test object of Nadeau, Giamou and
Kelly (2022), known by the outline of their body. `poor`: bodies of which only the bounding box is
known. `tools`: workshop tools with CAD truth, known by their mesh; from the data folder.
`parts-tuning`, `parts-checking`: see `parts.py`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import trimesh

from inertial_id_ros.apps.simulation.payload import Part, Payload
from inertial_id_ros.geometry.shape import Shape, shape_from_mesh, shape_from_primitive
from inertial_id_ros.inertia import (
    Array,
    body_from_phi,
    phi_from_body,
    phi_from_pseudo_inertia,
    point_columns,
)

from .parts import PARTS_CHECKING, PARTS_TUNING, Assembly

FAMILIES = ("modular", "poor", "tools", "parts-tuning", "parts-checking")


@dataclass(frozen=True, eq=False)
class BenchmarkObject:
    """One object.

    Attributes:
        phi: (10,) true parameters about the sensor origin, sensor axes.
        shape: what the estimators know, sensor frame.
        lengths: (3,) of the bounding box along the sensor axes, for the metrics [m].
    """

    name: str
    phi: Array
    shape: Shape
    lengths: Array


@cache
def objects(family: str) -> tuple[BenchmarkObject, ...]:
    """The objects of a family; empty for `tools` without the data folder."""
    if family.startswith("parts"):
        return _parts(PARTS_TUNING if family == "parts-tuning" else PARTS_CHECKING)
    return {"modular": _modular, "poor": _poor, "tools": _tools}[family]()


def _parts(assemblies: tuple[Assembly, ...]) -> tuple[BenchmarkObject, ...]:
    out = []
    for item in assemblies:
        phi, outline, pose = item.placed()
        shape = shape_from_mesh(outline, pose, bounding=False, name=item.name)
        outline.apply_transform(pose)
        out.append(BenchmarkObject(item.name, phi, shape, np.ptp(outline.bounds, axis=0)))
    return tuple(out)


# ---- the modular object ------------------------------------------------------------------------

# Centres of the ten holes about the middle of the body [m], at half its thickness.
HOLES = np.array([(-65, 125), (0, 125), (65, 125), (0, 75), (0, 25), (0, -25), (0, -75),
                  (-65, -125), (0, -125), (65, -125)]) * 1e-3
THICKNESS = 0.05
STEEL, ABS = 0.101, 0.017  # kg, of one cylinder
RADIUS, HEIGHT = 0.0127, 0.0254
# The printed body with its holes, and the fitting at the hole by which it is held. The published
# mass, centre of mass and inertia of all eight configurations (three holes to hold by) follow from
# these numbers to the last digit given; a plain H of 491 kg/m^3 with ten holes misses them by 5 %.
BODY_MASS, FITTING_MASS = 0.6785, 0.0268
BODY_MOMENT_Y = 2.01e-3  # kg m, about the middle of the H
BODY_SECOND_MOMENTS = np.array([1.5461e-3, 8.1757e-3, 0.1568e-3])  # kg m^2, xx, yy about there; zz
#                                                                    about half the thickness
CONFIGURATIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {
    # holes with steel, holes with ABS, hole at the sensor
    "hammer": ((0, 1, 2, 3), (4, 5, 6, 8), 8),
    "barbell": ((0, 1, 2, 7, 8, 9), (3, 4, 5, 6), 5),
    "tee": ((0, 1, 2, 3, 4, 5, 6), (), 6),
    "uniform": (tuple(range(10)), (), 8),
    "corners": ((0, 2, 7, 9), (), 8),
    "rod": ((1, 3, 4, 5, 6, 8), (), 8),
    "half-n-half": ((0, 1, 2, 3, 4), (5, 6, 7, 8, 9), 8),
    "empty": ((), (), 8),
}


def modular_phi(name: str) -> Array:
    """phi (10,) about the sensor, which sits on the face of the body at the attachment hole."""
    steel, plastic, at = CONFIGURATIONS[name]
    moments = np.zeros((4, 4))  # pseudo-inertia about the middle of the body, half thickness
    moments[3, 3] = BODY_MASS
    moments[1, 3] = moments[3, 1] = BODY_MOMENT_Y
    moments[:3, :3] = np.diag(BODY_SECOND_MOMENTS)
    moments += _lump(FITTING_MASS, HOLES[at])
    own = np.diag([RADIUS**2 / 4.0, RADIUS**2 / 4.0, HEIGHT**2 / 12.0, 0.0])
    for mass, holes in ((STEEL, steel), (ABS, plastic)):
        for hole in holes:
            moments += _lump(mass, HOLES[hole]) + mass * own
    shift = np.eye(4)
    shift[:3, 3] = -HOLES[at][0], -HOLES[at][1], 0.5 * THICKNESS
    return phi_from_pseudo_inertia(shift @ moments @ shift.T)


def _lump(mass: float, hole: Array) -> Array:
    """Pseudo-inertia (4, 4) of a point mass at the middle of a hole (2,)."""
    where = np.r_[hole, 0.0, 1.0]
    return mass * np.outer(where, where)


def h_mesh() -> trimesh.Trimesh:
    """The outline of the modular body, a closed H, middle of the lower face at the origin."""
    outline = np.array([(-100, -150), (100, -150), (100, -100), (25, -100), (25, 100), (100, 100),
                        (100, 150), (-100, 150), (-100, 100), (-25, 100), (-25, -100),
                        (-100, -100)]) * 1e-3
    faces = [(0, 1, 2), (0, 2, 3), (0, 3, 10), (0, 10, 11),  # lower bar
             (10, 3, 4), (10, 4, 9),  # web
             (7, 8, 9), (7, 9, 4), (7, 4, 5), (7, 5, 6)]  # upper bar
    n = len(outline)
    low, high = np.c_[outline, np.zeros(n)], np.c_[outline, np.full(n, THICKNESS)]
    top = [(a + n, b + n, c + n) for a, b, c in faces]
    bottom = [(a, c, b) for a, b, c in faces]
    sides = [face for k in range(n) for j in [(k + 1) % n]
             for face in ((k, j, j + n), (k, j + n, k + n))]
    return trimesh.Trimesh(np.concatenate([low, high]), [*top, *bottom, *sides], process=False)


def _modular() -> tuple[BenchmarkObject, ...]:
    shapes: dict[int, Shape] = {}
    out = []
    for name, (_, _, at) in CONFIGURATIONS.items():
        if at not in shapes:
            pose = np.eye(4)
            pose[:2, 3] = -HOLES[at]
            shapes[at] = shape_from_mesh(h_mesh(), pose, bounding=True, name=f"H held at {at}")
        out.append(BenchmarkObject(name, modular_phi(name), shapes[at],
                                   np.array([0.2, 0.3, THICKNESS])))
    return tuple(out)


# ---- bodies of which only the bounding box is known ----------------------------------------------

# Bodies whose even box misses their inertia by 82, 33, 28 and 14 %.
POOR = (
    # 80 % of the mass in a head at the edge of the box; held near the middle.
    Payload("hammer", (
        Part("box", (0.25, 0.03, 0.02), 0.2 / 1.5e-4, (-0.028, 0.0, 0.05)),
        Part("box", (0.03, 0.11, 0.06), 0.8 / 1.98e-4, (0.112, 0.0, 0.05)))),
    # A light housing with its motor in one corner.
    Payload("offset", (
        Part("box", (0.16, 0.12, 0.10), 0.81 / 1.92e-3, (0.03, -0.02, 0.07)),
        Part("cylinder", (0.022, 0.06), 0.19 / 9.123e-5, (0.075, 0.015, 0.09)))),
    # A payload near the limit of a small arm: a block, heavier at one end.
    Payload("heavy", (
        Part("box", (0.20, 0.12, 0.08), 1.96 / 1.92e-3, (0.0, 0.0, 0.06)),
        Part("box", (0.11, 0.10, 0.06), 2.04 / 6.6e-4, (-0.035, 0.0, 0.05)))),
    # A gripper: body on the flange, two fingers; nearly even in its box.
    Payload("gripper", (
        Part("box", (0.09, 0.08, 0.08), 0.75 / 5.76e-4, (0.0, 0.0, 0.05)),
        Part("box", (0.02, 0.03, 0.06), 0.205 / 3.6e-5, (0.035, 0.0, 0.12)),
        Part("box", (0.02, 0.03, 0.06), 0.205 / 3.6e-5, (-0.035, 0.0, 0.12)))),
)


def _poor() -> tuple[BenchmarkObject, ...]:
    out = []
    for payload in POOR:
        low, high = payload.bounding_box
        pose = np.eye(4)
        pose[:3, 3] = 0.5 * (low + high)
        box = shape_from_primitive("box", high - low, pose, bounding=True)
        out.append(BenchmarkObject(payload.name, payload.phi, box, high - low))
    return tuple(out)


# ---- workshop tools ------------------------------------------------------------------------------

def data_folder() -> Path:
    """Folder of the data sets; it need not exist."""
    default = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get("INERTIAL_ID_DATA", default))


def tool_files() -> list[Path]:
    """Recordings of the workshop tools; empty where the data folder is missing."""
    return sorted((data_folder() / "workshop_tools").glob("*.npz"))


def _tools() -> tuple[BenchmarkObject, ...]:
    out = []
    for file in tool_files():
        with np.load(file, allow_pickle=False) as data:
            phi = phi_from_body(float(data["mass"]), data["com"], data["inertia_com"])
            mesh = trimesh.load(file.with_suffix(".ply"), force="mesh")
            mesh.apply_scale(1e-3)
            mesh.apply_transform(data["sensor_T_mesh"])
            points, volumes = data["shape_points"], data["shape_volumes"]
            surface = _surface(mesh)
            unit = point_columns(points) @ (volumes / volumes.sum())
            shape = Shape(points, volumes, surface, unit, False, file.stem)
            out.append(BenchmarkObject(file.stem, phi, shape, np.array(data["bounding_box"])))
    return tuple(out)


def _surface(mesh: trimesh.Trimesh) -> Array:
    corners = np.asarray(mesh.convex_hull.vertices)
    scattered, _ = trimesh.sample.sample_surface(mesh, 1000, seed=np.random.default_rng(0))
    return np.concatenate([corners, np.asarray(scattered)])


def describe(item: BenchmarkObject) -> str:
    """One line: mass, centre of mass, principal size."""
    body = body_from_phi(item.phi)
    return f"{item.name}: {body.mass:.3f} kg, COM {np.round(body.com, 4).tolist()} m"
