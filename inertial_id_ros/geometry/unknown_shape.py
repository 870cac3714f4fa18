# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where the mass may sit when no shape is given: balls about the sensor, of several sizes.

All that is known of an object of unknown shape is how far it reaches from the sensor at most. A
single ball of that size would claim more: that the mass is spread over all of it, so that a small
object gets too much inertia with intervals that exclude the truth. So the size is unknown too:
equally probable on a logarithmic scale, by halving, down to an eighth of the largest.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from ..inertia import Array, phi_from_body
from .density_prior import DensityPrior, density_prior
from .shape import Shape

SIZES = 4
_INTERIOR, _SURFACE = 4000, 1000
_PLASTIC = np.array([0.8191725134, 0.6710436067, 0.5497004779])  # of the R3 low-discrepancy lattice


@lru_cache(maxsize=4)
def balls(reach: float) -> tuple[tuple[float, DensityPrior], ...]:
    """Radius [m] and prior of each ball about the sensor, from `reach` [m] downwards."""
    radii = [reach * 0.5**k for k in range(SIZES)]
    return tuple((radius, _scale_prior(density_prior(unit_ball()), radius)) for radius in radii)


@lru_cache(maxsize=1)
def unit_ball() -> Shape:
    """A ball of radius 1 m about the origin that bounds the object."""
    lattice = (0.5 + np.arange(1, _INTERIOR + 1)[:, None] * _PLASTIC) % 1.0
    points = np.cbrt(lattice[:, :1]) * _directions(lattice[:, 1], lattice[:, 2])
    k = np.arange(_SURFACE) + 0.5
    surface = _directions(k / _SURFACE, k * 0.5 * (np.sqrt(5.0) - 1.0))
    volumes = np.full(_INTERIOR, 4.0 / 3.0 * np.pi / _INTERIOR)
    return Shape(points, volumes, surface, phi_from_body(1.0, np.zeros(3), 0.4 * np.eye(3)), True,
                 "ball")


def _directions(height: Array, turn: Array) -> Array:
    """Unit vectors (n, 3), evenly spread where height and turn (n,) are, in [0, 1)."""
    z = 2.0 * height - 1.0
    flat, angle = np.sqrt(1.0 - z * z), 2.0 * np.pi * turn
    return np.column_stack([flat * np.cos(angle), flat * np.sin(angle), z])


def _scale_prior(prior: DensityPrior, scale: float) -> DensityPrior:
    """The prior of a region that is larger by a factor, about the origin."""
    powers = scale ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    return replace(prior, columns=prior.columns * powers[:, None],
                   slack=prior.slack * np.outer(powers, powers),
                   wide_slack=prior.wide_slack * np.outer(powers, powers))
