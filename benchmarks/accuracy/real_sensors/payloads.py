# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payloads: random bodies of boxes, cylinders and shells, and the modular test object.

A random body has one to four parts that touch each other; of it a bounding box is told, up to a
tenth too large. Of the modular object its outline is told.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from inertial_id_ros.apps.simulation.payload import Part, Payload
from inertial_id_ros.inertia import Array

from ..objects import CONFIGURATIONS, HOLES, h_mesh, objects

MASSES = (0.2, 10.0)  # kg, drawn evenly in the logarithm
DENSITIES = (300.0, 4000.0)  # kg/m^3, of solid parts, likewise
FARTHEST = 0.25  # m, of the centre of mass from the sensor
GROWTH = 0.1  # a told box is up to this much larger than the body
WALL = 0.08  # of a shell, relative to its shortest side
KINDS = ("box", "cylinder", "shell")


class Told(NamedTuple):
    """A payload, and what the identification is told.

    Attributes:
        phi: (10,) true parameters about the sensor; lengths: (3,) of the box told, for the metrics
            [m]; hint: settings of the shape.
    """

    name: str
    phi: Array
    lengths: Array
    hint: dict[str, Any]


def random_composite(rng: np.random.Generator) -> Told:
    """A random body in a bounding box."""
    wanted = float(np.exp(rng.uniform(*np.log(MASSES))))
    while True:
        body = _scaled(_stack(rng), wanted)
        if np.linalg.norm(body.com) <= FARTHEST:
            break
    low, high = body.bounding_box
    lengths = (high - low) * (1.0 + rng.uniform(0.0, GROWTH, 3))
    centre = 0.5 * (low + high) + rng.uniform(-0.5, 0.5, 3) * (lengths - (high - low))
    return Told(body.name, body.phi, lengths, {
        "shape.type": "box", "shape.size": tuple(lengths.tolist()),
        "shape.center": tuple(centre.tolist())})


def random_modular(rng: np.random.Generator) -> Told:
    """A configuration of the modular test object."""
    item = objects("modular")[int(rng.integers(len(CONFIGURATIONS)))]
    hole = HOLES[CONFIGURATIONS[item.name][2]]
    return Told(item.name, item.phi, item.lengths, {
        "shape.type": "mesh", "shape.mesh": str(_outline_file()),
        "shape.center": (float(-hole[0]), float(-hole[1]), 0.0)})


FAMILIES: dict[str, Callable[[np.random.Generator], Told]] = {
    "composites": random_composite, "modular": random_modular}


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="real_sensors_")  # removed when the process ends


@cache
def _outline_file() -> Path:
    """A mesh file of the modular object."""
    path = Path(_folder().name) / "outline.stl"
    h_mesh().export(path)
    return path


def _stack(rng: np.random.Generator) -> list[Part]:
    """Parts of unit size, each touching the one before it; the first touches the flange."""
    parts: list[Part] = []
    low, high = np.zeros(3), np.zeros(3)
    for k in range(int(rng.integers(1, 5))):
        new = _part(rng)
        half = np.max([np.abs(np.array(p.center)) + p.half_extent() for p in new], axis=0)
        axis, side = (2, 1.0) if k == 0 else (int(rng.integers(0, 3)), float(rng.choice([-1, 1])))
        centre = rng.uniform(-0.3, 0.3, 3) * half + 0.5 * (low + high)
        centre[axis] = low[axis] - half[axis] if side < 0 and axis < 2 else high[axis] + half[axis]
        centre[2] = max(centre[2], half[2])  # nothing reaches back into the flange
        low, high = centre - half, centre + half
        parts += [Part(p.shape, p.size, p.density, _vector(np.array(p.center) + centre), p.rpy)
                  for p in new]
    return parts


def _part(rng: np.random.Generator) -> list[Part]:
    """A box, a cylinder, or the six plates of a shell, about the origin."""
    kind = rng.choice(KINDS)
    density = float(np.exp(rng.uniform(*np.log(DENSITIES))))
    x, y, z = np.exp(rng.uniform(np.log(0.5), np.log(2.0), 3)).tolist()
    if kind == "box":
        return [Part("box", (x, y, z), density)]
    if kind == "cylinder":
        rpy = 0.5 * np.pi * np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)])[rng.integers(0, 3)]
        return [Part("cylinder", (0.5 * x, z), density, rpy=_vector(rpy))]
    w = WALL * min(x, y, z)
    plates = (((w, y, z), (0.5 * (x - w), 0.0, 0.0)),
              ((x - 2 * w, w, z), (0.0, 0.5 * (y - w), 0.0)),
              ((x - 2 * w, y - 2 * w, w), (0.0, 0.0, 0.5 * (z - w))))
    return [Part("box", size, density, _vector(side * np.array(centre)))
            for size, centre in plates for side in (1.0, -1.0)]


def _scaled(parts: list[Part], mass: float) -> Payload:
    """The body of that mass [kg], by its size; densities stay."""
    factor = (mass / sum(part.mass for part in parts)) ** (1.0 / 3.0)
    return Payload("composite", tuple(
        Part(p.shape, tuple(factor * s for s in p.size), p.density,
             _vector(factor * np.array(p.center)), p.rpy) for p in parts))


def _vector(values: Array) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z
