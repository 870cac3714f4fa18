"""Random payloads: one to four boxes, cylinders and shells that touch, told as a bounding box."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from inertial_id_ros.apps.simulation.payload import Part, Payload
from inertial_id_ros.inertia import Array

MASSES = (0.2, 10.0)  # kg, drawn evenly in the logarithm
DENSITIES = (300.0, 4000.0)  # kg/m^3, of solid parts
FARTHEST = 0.25  # m, of the centre of mass from the sensor
GROWTH = 0.1  # a told box is up to this much larger than the payload
_KINDS = ("box", "cylinder", "shell")


class Composite(NamedTuple):
    """A payload, and the box that the identification is told."""

    phi: Array
    box_centre: Array
    box_size: Array

    @property
    def hint(self) -> dict[str, Any]:
        """Settings that tell the box."""
        return {"shape.type": "box", "shape.size": tuple(self.box_size.tolist()),
                "shape.center": tuple(self.box_centre.tolist())}


def random_composite(rng: np.random.Generator) -> Composite:
    """A payload of which only a bounding box is known."""
    wanted = float(np.exp(rng.uniform(*np.log(MASSES))))
    while True:
        payload = _scaled(_stack(rng), wanted)
        if np.linalg.norm(payload.com) <= FARTHEST:
            break
    low, high = payload.bounding_box
    size = (high - low) * (1.0 + rng.uniform(0.0, GROWTH, 3))
    room = size - (high - low)
    centre = 0.5 * (low + high) + rng.uniform(-0.5, 0.5, 3) * room
    return Composite(payload.phi, centre, size)


def _stack(rng: np.random.Generator) -> list[Part]:
    """Parts of unit scale, each touching the one before it; the first touches the flange."""
    parts: list[Part] = []
    low, high = np.zeros(3), np.zeros(3)
    for k in range(int(rng.integers(1, 5))):
        new = _part(rng)
        half = np.max([np.abs(np.array(p.center)) + p.half_extent() for p in new], axis=0)
        axis, side = (2, 1.0) if k == 0 else (int(rng.integers(0, 3)), float(rng.choice([-1, 1])))
        if axis == 2:
            side = 1.0  # nothing reaches back into the flange
        centre = rng.uniform(-0.3, 0.3, 3) * half
        if k:
            centre = centre + 0.5 * (low + high)
        centre[axis] = (high[axis] + half[axis]) if side > 0 else (low[axis] - half[axis])
        if axis != 2:
            centre[2] = max(centre[2], half[2])
        low, high = centre - half, centre + half
        parts += [Part(p.shape, p.size, p.density, tuple((np.array(p.center) + centre).tolist()))
                  for p in new]
    return parts


def _part(rng: np.random.Generator) -> list[Part]:
    """A box, a cylinder, or six plates, about the origin."""
    kind = rng.choice(_KINDS)
    density = float(np.exp(rng.uniform(*np.log(DENSITIES))))
    x, y, z = np.exp(rng.uniform(np.log(0.5), np.log(2.0), 3)).tolist()
    if kind == "box":
        return [Part("box", (x, y, z), density)]
    if kind == "cylinder":
        turn = [(0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0), (0.0, np.pi / 2, 0.0)][rng.integers(0, 3)]
        return [Part("cylinder", (0.5 * x, z), density, (0.0, 0.0, 0.0), turn)]
    w = 0.08 * min(x, y, z)  # of the walls
    plates = [((w, y, z), (0.5 * (x - w), 0.0, 0.0)),
              ((x - 2 * w, w, z), (0.0, 0.5 * (y - w), 0.0)),
              ((x - 2 * w, y - 2 * w, w), (0.0, 0.0, 0.5 * (z - w)))]
    return [Part("box", size, density, tuple(side * c for c in centre))
            for size, centre in plates for side in (1.0, -1.0)]


def _scaled(parts: list[Part], mass: float) -> Payload:
    """The payload of that mass [kg], by its size; its densities stay."""
    factor = (mass / sum(part.mass for part in parts)) ** (1.0 / 3.0)
    return Payload("composite", tuple(
        Part(p.shape, tuple(factor * s for s in p.size), p.density,
             tuple(factor * c for c in p.center), p.rpy) for p in parts))
