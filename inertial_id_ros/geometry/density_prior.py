# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a shape says about where its mass sits: the prior of the estimator `density`, over positive
densities. How wrong the shape may be stands in `geometry/shape_error.py`.

Nodes fill the shape, corners included; the logarithm of the density at the nodes is a Gaussian
process, so that every density is positive and every body drawn from the prior is physically
consistent. A slack covers what nodes and a slightly wrong size leave open; that of intervals
also covers sections in which mass may sit at any depth. An uncertain pose of the shape adds states.

Where no shape is given, it is one of several balls about the sensor. All that is known of an object
of unknown shape is how far it reaches from the sensor at most. A single ball of that size would
claim more: that the mass is spread over all of it, so that a small object gets too much inertia
with intervals that exclude the truth. So the size is unknown too: equally probable on a logarithmic
scale, by halving, down to an eighth of the largest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from weakref import WeakKeyDictionary

import numpy as np

from ..inertia import Array, phi_from_body, phi_from_second_moment, point_columns
from .point_sets import farthest_points, squared_distances
from .shape import Shape
from .shape_error import ShapeError

NODES, RANK = 250, 60
LENGTH_SCALES = (0.1, 0.2, 0.4)  # of the box diagonal, averaged
VOLUME_FLOOR = 0.02  # of the mean volume, so that no node is without mass
MASS_SD = 3.0  # of the logarithm of the mass
SIZE_ERROR = {True: 0.10, False: 0.03}  # relative, by Shape.bounding
# Mass in a thin section may sit anywhere between its axis and its skin (a steel core in a wooden
# handle). All of it at one depth r of a radius R, with r^2 evenly likely, gives the moment about a
# rod a standard deviation of 1/sqrt(3) of that of the even rod; this of the second moments along
# its two thin axes, independent of each other, gives the same.
DEPTH_ERROR = np.sqrt(2.0 / 3.0)
# Standard deviations of the log-density, widest first, by Shape.bounding.
WIDTHS = {True: (2.0, 0.7, 0.2, 0.07), False: (3.0, 1.0, 0.3, 0.1)}
WIDTH_PENALTY = {True: 0.0, False: 2.0}  # evidence is multiplied by width**-penalty
_PIVOT_FLOOR = 1e-3


@dataclass(frozen=True, eq=False)  # the same only if it is the same object
class DensityPrior:
    """Prior over densities in a shape.

    Attributes:
        columns: (10, n) phi of unit masses at the nodes.
        volumes: (n,) share of the volume at each node; their moments are those of the even body.
        modes: (n, r) of the log-density, of unit variance: log density = modes @ w, w ~ N(0, 1).
        slack: (10, 10) covariance of phi per kg^2 that nodes and size error leave open.
        wide_slack: (10, 10) the same for intervals, with unknown depths in thin sections.
        widths: standard deviations of the log-density, widest first.
        width_penalty: exponent by which wide densities are discouraged.
        error: by which the whole body may be moved and scaled.
    """

    columns: Array
    volumes: Array
    modes: Array
    slack: Array
    wide_slack: Array
    widths: tuple[float, ...]
    width_penalty: float
    error: ShapeError = field(default_factory=ShapeError)

    @cached_property
    def fingerprint(self) -> bytes:
        """The same for priors of the same content, in any process."""
        digest = hashlib.blake2b(repr((self.widths, self.width_penalty)).encode(), digest_size=16)
        error = self.error
        for array in (self.columns, self.volumes, self.modes, self.slack, self.wide_slack,
                      *(np.asarray(getattr(error, item.name)) for item in fields(error))):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.digest()

    @cached_property
    def moments(self) -> Array:
        """phi (10, n) of a body of density 1 at one node each."""
        return self.columns * self.volumes

    @cached_property
    def even(self) -> Array:
        """phi (10,) of a body of density 1."""
        return self.moments.sum(axis=1)

    def directions(self, width: float) -> Array:
        """Log-density (n, r + 1) per unit of each state: modes of that width, and the mass."""
        if width not in self._directions:
            self._directions[width] = np.column_stack(
                [width * self.modes, np.full(len(self.volumes), MASS_SD)])
        return self._directions[width]

    @cached_property
    def _directions(self) -> dict[float, Array]:
        """What `directions` returned, by width."""
        return {}


_kept: WeakKeyDictionary[Shape, DensityPrior] = WeakKeyDictionary()


def density_prior(shape: Shape) -> DensityPrior:
    """The prior that belongs to a shape; kept for as long as the shape is."""
    if shape not in _kept:
        _kept[shape] = _build_prior(shape)
    return _kept[shape]


def _build_prior(shape: Shape) -> DensityPrior:
    """Compute the prior of a shape."""
    share = shape.volumes / shape.volumes.sum()
    cloud = np.concatenate([shape.surface, shape.points])
    nodes = cloud[farthest_points(cloud, NODES)]
    columns = np.ascontiguousarray(shape.points.T)
    distance = np.stack([squared_distances(columns, node) for node in nodes])
    spread = float(share @ distance.min(axis=0))
    nearest = np.bincount(distance.argmin(axis=0), share, len(nodes)).astype(float)
    volumes = np.maximum(nearest, VOLUME_FLOOR / len(nodes))
    columns = point_columns(nodes)
    volumes = _match_moments(columns, volumes / volumes.sum(), shape.unit_phi)
    modes = _modes(nodes)
    slack = _slack_covariance(nodes, volumes, spread, SIZE_ERROR[shape.bounding])
    reach = (columns * volumes) @ modes
    wide = slack + _depth_covariance(nodes, volumes, reach @ reach.T + slack)
    return DensityPrior(columns, volumes, modes, slack, wide, WIDTHS[shape.bounding],
                        WIDTH_PENALTY[shape.bounding])


def _match_moments(columns: Array, volumes: Array, wanted: Array) -> Array:
    """Node volumes (n,) near the given ones whose ten moments are those of the even body."""
    scale = 1.0 / np.abs(columns).max(axis=1)
    rows = columns * scale[:, None]
    for _ in range(20):
        gap = wanted * scale - rows @ volumes
        multipliers = np.linalg.lstsq((rows * volumes) @ rows.T, gap, rcond=None)[0]
        volumes = np.maximum(volumes * (1.0 + rows.T @ multipliers), 1e-6 / len(volumes))
    return volumes / volumes.sum()


def _modes(nodes: Array) -> Array:
    """Low-rank factor (n, r) of the kernel between nodes, by pivoted Cholesky."""
    diagonal = float(((nodes.max(axis=0) - nodes.min(axis=0)) ** 2).sum())
    distance = ((nodes[:, None] - nodes) ** 2).sum(axis=2)
    kernel = sum(np.exp(-distance / (2.0 * s * s * diagonal)) for s in LENGTH_SCALES)
    kernel = kernel / len(LENGTH_SCALES)
    factor = np.zeros((len(nodes), RANK))
    left = np.diag(kernel).copy()
    for k in range(RANK):
        pivot = int(left.argmax())
        if left[pivot] < _PIVOT_FLOOR:
            return factor[:, :k]
        column = kernel[:, pivot] - factor[:, :k] @ factor[pivot, :k]
        factor[:, k] = column / np.sqrt(left[pivot])
        left = left - factor[:, k] ** 2
    return factor


def _slack_covariance(nodes: Array, volumes: Array, spread: float, size_error: float) -> Array:
    """Covariance (10, 10) of phi per kg^2: second moments within nodes, and size along the axes
    of the shape."""
    second, axes = _second_moments(nodes, volumes)
    slack = np.zeros((10, 10))
    for i in range(3):
        for j in range(i, 3):
            moment = np.zeros((3, 3))
            moment[i, j] = moment[j, i] = spread / 4.0
            column = phi_from_second_moment(moment)
            slack += np.outer(column, column)
        stretch = np.outer(axes[:, i], axes[:, i]) @ second
        column = size_error * phi_from_second_moment(stretch + stretch.T)
        slack += np.outer(column, column)
    return slack


def _depth_covariance(nodes: Array, volumes: Array, known: Array) -> Array:
    """Covariance (10, 10) of phi per kg^2 that thin sections lack in the covariance `known`.

    The second moment along each axis of the shape keeps DEPTH_ERROR of itself when everything else
    about the body has been measured.
    """
    second, axes = _second_moments(nodes, volumes)
    # Second moments along the axes are linear in phi: Sigma = tr(I)/2 1 - I.
    columns = np.stack([phi_from_second_moment(np.outer(a, a)) for a in axes.T], axis=1)
    scale = np.sqrt(np.diag(known) + 1e-12 * np.diag(known).max())
    information = np.linalg.inv(known / np.outer(scale, scale) + 1e-9 * np.eye(10))
    lacking = np.zeros((10, 10))
    for i in range(3):
        wanted = (DEPTH_ERROR * float(axes[:, i] @ second @ axes[:, i])) ** 2
        column = columns[:, i]
        scaled = column / scale
        present = 1.0 / float(scaled @ information @ scaled)
        lacking += max(wanted - present, 0.0) * np.outer(column, column)
    return lacking


def _second_moments(nodes: Array, volumes: Array) -> tuple[Array, Array]:
    """Second moments (3, 3) about the centre, and principal axes as columns."""
    center = nodes.T @ volumes
    second = (nodes - center).T * volumes @ (nodes - center)
    return second, np.linalg.eigh(second)[1]


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
