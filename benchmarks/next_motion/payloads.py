# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Random bodies of one to four boxes, cylinders and shells that touch each other."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from inertial_id_ros.apps.simulation.payload import Part, Payload
from inertial_id_ros.inertia import Array

DENSITIES = (300.0, 4000.0)  # kg/m^3, of solid parts, drawn evenly in the logarithm
WALL = 0.08  # of a shell, relative to its shortest side
KINDS = ("box", "cylinder", "shell")


def random_body(rng: np.random.Generator, mass: float) -> Payload:
    """A random body of a mass [kg]."""
    return _scaled(_stack(rng), mass)


def _stack(rng: np.random.Generator) -> list[Part]:
    """Parts of unit size, each touching the one before it; the first touches the flange."""
    parts: list[Part] = []
    low, high = np.zeros(3), np.zeros(3)
    for k in range(int(rng.integers(1, 5))):
        new = _part(rng)
        half = bounds(new)[1]  # the new parts lie about the origin
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


def bounds(parts: Sequence[Part]) -> tuple[Array, Array]:
    """Lower and upper corner (3,) [m] of parts along the sensor's axes, as all cylinders lie."""
    halves = 0.5 * np.array([np.abs(pin.rpy.rpyToMatrix(*p.rpy)) @ (
        p.size if p.shape == "box" else (2 * p.size[0], 2 * p.size[0], p.size[1])) for p in parts])
    centers = np.array([p.center for p in parts])
    return (centers - halves).min(axis=0), (centers + halves).max(axis=0)


def _scaled(parts: list[Part], mass: float) -> Payload:
    """The body of that mass [kg], by its size; densities stay."""
    factor = (mass / sum(part.inertia.mass for part in parts)) ** (1.0 / 3.0)
    return Payload("composite", tuple(
        Part(p.shape, tuple(factor * s for s in p.size), p.density,
             _vector(factor * np.array(p.center)), p.rpy) for p in parts))


def _vector(values: Array) -> tuple[float, float, float]:
    x, y, z = values.tolist()
    return x, y, z
