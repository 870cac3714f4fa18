# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a shape says about where its mass sits: the prior of the estimator `density`.

Nodes fill the shape, corners included; the logarithm of the density at the nodes is a Gaussian
process, so that every body drawn from the prior is physically consistent. A slack covers what nodes
and a slightly wrong size leave open; that of intervals also sections in which mass may sit at any
depth. `shape_covariance` is what the errors of pose and size add that a user admits.

Without a shape, it is one of several balls about the sensor, equally probable on a logarithmic
scale: one ball as large as an object may be would claim that the mass is spread over all of it.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.spatial.distance import cdist

from ..inertia import Array, body_from_phi, phi_from_pseudo_inertia, point_columns, pseudo_inertia
from ..settings import ShapeSettings
from .mesh import grid_axes, grid_points
from .shape import POINTS, Shape

NODES, RANK = 250, 40
LENGTH_SCALES = 0.1 * 2.0 ** np.arange(3)  # of the box diagonal, averaged
VOLUME_FLOOR = 0.02  # of the mean volume, so that no node is without mass
MASS_SD = 3.0  # of the logarithm of the mass
SIZE_ERROR = 0.1  # relative, of a shape that only bounds the object
# Mass in a thin section may sit anywhere between its axis and its skin (a steel core in a wooden
# handle). All of it at one depth r of a radius R, with r^2 evenly likely, gives the moment about a
# rod a standard deviation of 1/sqrt(3) of that of the even rod; this of the second moments along
# its two thin axes, independent of each other, gives the same.
DEPTH_ERROR = np.sqrt(2.0 / 3.0)


@dataclass(frozen=True, eq=False)  # the same only if it is the same object
class DensityPrior:
    """Prior over densities in a shape.

    Attributes:
        columns: (10, n) phi of unit masses at the nodes.
        volumes: (n,) share of the volume at each node; their moments are those of the even body.
        modes: (n, r) of the log-density, of unit variance: log density = modes @ w, w ~ N(0, 1).
        slack: (10, 10) covariance of phi per kg^2 that nodes and size error leave open.
        wide_slack: (10, 10) the same for intervals, with unknown depths in thin sections.
    """

    columns: Array
    volumes: Array
    modes: Array
    slack: Array
    wide_slack: Array


@lru_cache(maxsize=8)
def density_prior(shape: Shape) -> DensityPrior:
    """The prior that belongs to a shape."""
    share = shape.volumes / shape.volumes.sum()
    nodes = shape.spread(NODES)
    distance = cdist(nodes, shape.points, "sqeuclidean")
    spread = float(share @ distance.min(axis=0))
    nearest = np.bincount(distance.argmin(axis=0), share, len(nodes)).astype(float)
    columns = point_columns(nodes)
    volumes = _match_moments(columns, np.maximum(nearest, VOLUME_FLOOR / len(nodes)),
                             shape.unit_phi)
    # Factor (n, r) of the kernel between nodes: the eigenvectors of its largest values.
    diagonal = float((np.ptp(nodes, axis=0) ** 2).sum())
    between = cdist(nodes, nodes, "sqeuclidean")
    kernel = np.mean([np.exp(-between / (2.0 * s * s * diagonal)) for s in LENGTH_SCALES], axis=0)
    values, vectors = np.linalg.eigh(kernel)
    modes = np.asarray(vectors[:, -RANK:] * np.sqrt(np.maximum(values[-RANK:], 0.0)))
    center = nodes.T @ volumes
    second = (nodes - center).T * volumes @ (nodes - center)
    slack = _slack_covariance(second, spread, SIZE_ERROR * shape.bounding)
    reach = (columns * volumes) @ modes
    wide = slack + _depth_covariance(second, reach @ reach.T + slack)
    return DensityPrior(columns, volumes, modes, slack, wide)


def _match_moments(columns: Array, volumes: Array, wanted: Array) -> Array:
    """Node volumes (n,) near the given ones whose ten moments are those of the even body."""
    scale = 1.0 / np.abs(columns).max(axis=1)
    rows = columns * scale[:, None]
    for _ in range(20):
        gap = wanted * scale - rows @ volumes
        multipliers = np.linalg.lstsq((rows * volumes) @ rows.T, gap, rcond=None)[0]
        volumes = np.maximum(volumes * (1.0 + rows.T @ multipliers), 1e-6 / len(volumes))
    return volumes / volumes.sum()


def _slack_covariance(second: Array, spread: float, size_error: float) -> Array:
    """Covariance (10, 10) of phi per kg^2: second moments within nodes, and size along the axes
    of the shape.

    Args:
        second: (3, 3) moments about the centre; spread: within nodes [m^2].
    """
    units = np.eye(9).reshape(3, 3, 3, 3)[np.triu_indices(3)]
    axes = np.linalg.eigh(second)[1].T
    stretch = size_error * axes[:, :, None] * axes[:, None] @ second
    rows = _phi_of(np.concatenate([0.25 * spread * np.maximum(units, units.transpose(0, 2, 1)),
                                   stretch + stretch.transpose(0, 2, 1)]))
    return np.asarray(rows.T @ rows)


def _phi_of(second: Array) -> Array:
    """phi (n, 10) of second moments (n, 3, 3) [kg m^2], without mass and first moments."""
    return phi_from_pseudo_inertia(np.pad(second, ((0, 0), (0, 1), (0, 1))))


def _depth_covariance(second: Array, known: Array) -> Array:
    """Covariance (10, 10) of phi per kg^2 that thin sections lack in the covariance `known`.

    The second moment along each axis of the shape keeps DEPTH_ERROR of itself when everything else
    about the body has been measured.
    """
    scale = np.sqrt(np.diag(known) + 1e-12 * np.diag(known).max())
    information = np.linalg.inv(known / np.outer(scale, scale) + 1e-9 * np.eye(10))
    moments, axes = np.linalg.eigh(second)
    rows = _phi_of(axes.T[:, :, None] * axes.T[:, None])  # (3, 10) of a unit moment along each
    present = 1.0 / np.sum(rows / scale @ information * (rows / scale), axis=1)
    lacking = np.maximum((DEPTH_ERROR * moments) ** 2 - present, 0.0)
    return np.asarray(rows.T * lacking @ rows)


def shape_covariance(shape: Shape, phi: Array, settings: ShapeSettings) -> Array:
    """Covariance (10, 10) of phi (10,) by a shape that is shifted, turned about the middle of its
    bounding box, and stretched along its axes, as far as the settings admit; to first order."""
    middle, axes = shape.middle, np.linalg.eigh(body_from_phi(shape.unit_phi).inertia_com)[1]
    steps = np.zeros((9, 4, 4))  # J moves by ``step J + J step'``
    for k, (axis, own) in enumerate(zip(np.eye(3), axes.T, strict=True)):
        steps[k, :3, 3] = 0.01 * settings.error * axis
        steps[3 + k, :3, :3] = np.deg2rad(5.0 * settings.error) * np.cross(np.eye(3), axis)
        steps[6 + k, :3, :3] = 0.2 * settings.error * np.outer(own, own)
    steps[3:, :3, 3] = -steps[3:, :3, :3] @ middle
    moved = steps @ pseudo_inertia(phi)
    rows = phi_from_pseudo_inertia(moved + moved.transpose(0, 2, 1))
    return np.asarray(rows.T @ rows)


@lru_cache(maxsize=4)
def balls(reach: float) -> tuple[tuple[float, DensityPrior], ...]:
    """Radius [m] and prior of each ball about the sensor, from `reach` [m] downwards."""
    surface = np.random.default_rng(0).normal(size=(POINTS, 3))  # of a ball of radius 1 m
    surface /= np.linalg.norm(surface, axis=1, keepdims=True)
    volume = 4.0 / 3.0 * np.pi
    grid = grid_points(grid_axes((-np.ones(3), np.ones(3)), volume / POINTS))
    points = grid[np.linalg.norm(grid, axis=1) < 1.0]
    out, prior = list[tuple[float, DensityPrior]](), density_prior(Shape(
        points, np.full(len(points), volume / len(points)), surface,
        phi_from_pseudo_inertia(np.diag([0.2, 0.2, 0.2, 1.0])), True, "ball"))
    for radius in (reach * np.array([1.0, 0.5, 0.25, 0.125])).tolist():
        powers = radius ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
        both = np.outer(powers, powers)
        out.append((radius, replace(prior, columns=prior.columns * powers[:, None],
                                    slack=prior.slack * both, wide_slack=prior.wide_slack * both)))
    return tuple(out)
