# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Bodies in boxes: the points and the prior of Ayusawa and Nakamura 2010 (Section IV).

The weight of the prior is the inverse of the variances that the box allows (the text of eq. 28
names the variances themselves), and its projector on the null space works in units of these
standard deviations, so that kilograms and kg m^2 are not mixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InvalidData
from ...inertia import Array, transform_matrix
from ..model import BODY_SIZE, RobotModel
from ..reference_robot import Reference

POINTS_PER_EDGE = 3


@dataclass(frozen=True)
class Box:
    """A link's bounding box along the axes of its frame, and what it may weigh.

    Attributes:
        lower, upper: corners [m]; mass, mass_error: expected mass and its error [kg].

    Raises:
        InvalidData: a box without volume, or a mass or error that is not positive.
    """

    lower: tuple[float, float, float]
    upper: tuple[float, float, float]
    mass: float
    mass_error: float

    def __post_init__(self) -> None:
        if not np.all(np.array(self.lower) < np.array(self.upper)):
            raise InvalidData(f"box from {self.lower} to {self.upper} m has no volume")
        if not (self.mass > 0.0 and self.mass_error > 0.0):
            raise InvalidData(f"mass of a box is {self.mass:g} +- {self.mass_error:g} kg; "
                              "both must be positive")

    @property
    def center(self) -> Array:
        """Centre of the box (3,) [m]."""
        return 0.5 * (np.array(self.lower) + np.array(self.upper))

    @property
    def half(self) -> Array:
        """Half lengths d (3,) [m]."""
        return 0.5 * (np.array(self.upper) - np.array(self.lower))

    def grid(self, per_edge: int = POINTS_PER_EDGE) -> Array:
        """Equally spaced points (per_edge^3, 3), from face to face [m]."""
        axes = [np.linspace(low, high, per_edge)
                for low, high in zip(self.lower, self.upper, strict=True)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)

    def expectation(self) -> tuple[Array, Array]:
        """phi (10,) about the box's centre in the middle of its bounds, and sigma (10,).

        Bounds (eqs 17-22) with the largest mass: first moments within ``m d``, moments of inertia
        between 0 and ``m (d_j^2 + d_k^2)``, products within ``m d_j d_k``.
        """
        most = self.mass + self.mass_error
        x, y, z = self.half
        second = most * np.array([y * y + z * z, 0.0, 0.0, x * x + z * z, 0.0, x * x + y * y])
        product = most * np.array([0.0, x * y, x * z, 0.0, y * z, 0.0])
        return (np.concatenate([[self.mass], np.zeros(3), 0.5 * second]),
                np.concatenate([[self.mass_error], most * self.half, 0.5 * second + product]))


def box_reference(model: RobotModel, boxes: Sequence[Box], term_size: float = 1.0) -> Reference:
    """Expected robot and its standard deviations from the boxes of its bodies, in their order.

    Raises:
        InvalidData: not one box for every body.
    """
    if len(boxes) != len(model.bodies):
        raise InvalidData(f"there are {len(boxes)} boxes for {len(model.bodies)} bodies")
    phi = np.zeros(model.size)
    unit, inverse = term_size * np.eye(model.size), np.eye(model.size) / term_size
    for k, box in enumerate(boxes):
        where = slice(BODY_SIZE * k, BODY_SIZE * (k + 1))
        to_link = transform_matrix(np.eye(3), box.center)
        mean, sigma = box.expectation()
        phi[where] = to_link @ mean
        unit[where, where] = to_link * sigma
        inverse[where, where] = np.linalg.inv(to_link) / sigma[:, None]
    return Reference(phi, unit, inverse)
