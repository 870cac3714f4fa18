# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Checks whether a shape can hold what was measured, and names a contradiction as a finding.

It can hold the object only if the measured centre of mass lies in its convex hull, and the second
moments are small enough. Where the hull extends from `low` to `high` along a direction n,
``(n . x - low) (high - n . x)`` is nowhere negative in it, and neither is its integral over the
mass, which is linear in phi. That bounds the second moments as the variance of a variable in an
interval is bounded (Bhatia and Davis, A better bound on the variance, 2000).

What is wrong about a shape is expressed as the length by which it would have to grow on all sides.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..errors import InvalidShape
from ..estimators.base import Estimator
from ..findings import FindingLog
from ..geometry.shape import Shape
from ..inertia import Array
from ..regression.problem import Marginal, center_of_mass
from ..settings import ShapeSettings

COM_FINDING, INERTIA_FINDING = "shape_contradicted.com", "shape_contradicted.inertia"
_SIGNIFICANT = 5.0  # standard deviations
_DOUBTED = 2.0  # the same from which a region that holds all mass is corrected
_LEAST = 0.0005  # m: a conflict that no one can measure, and the least step of a correction
_TOO_WRONG = 3.0  # standard deviations of a shape, from which it is of no use
_DIRECTIONS = 100  # along which second moments are checked


class _Lack(NamedTuple):
    """What a shape lacks to hold a measurement.

    Attributes:
        com: length [m] by which its hull would have to grow to hold the centre of mass; inertia:
            the same to have room for the second moments, and index of the direction.
    """

    com: float
    inertia: float
    direction: int

    @property
    def growth(self) -> float:
        """Length [m] by which the shape would have to grow, the larger of the two."""
        return max(self.com, self.inertia)


def check_shape(shape: Shape | None, settings: ShapeSettings, marginal: Marginal,
                estimator: Estimator, log: FindingLog) -> Shape | None:
    """Check whether the shape can hold the measured centre of mass and inertia.

    Args:
        marginal: the problem, with states eliminated.
        log: gets or loses the findings.

    Returns:
        the shape to use: for an estimator that keeps all mass inside, moved and grown until it
        holds what was measured; None where there is none, or it is too wrong to be of use.

    Raises:
        InvalidShape: it is too wrong, and the estimator needs it.
    """
    phi, covariance = marginal.unconstrained_fit
    log.clear(COM_FINDING, INERTIA_FINDING)
    if not phi[0] > _SIGNIFICANT * np.sqrt(covariance[0, 0]):
        return shape
    if shape is None:
        _check_reach(phi, covariance, settings.max_reach, estimator, log)
        return None
    lack = _lack(phi, covariance, shape, _SIGNIFICANT)
    if lack.growth > _LEAST:
        name, text = _contradiction(phi, shape, lack)
        if lack.growth > _TOO_WRONG * shape.displacement(settings):
            if estimator.needs_shape:
                raise InvalidShape(f"{text} (estimator '{estimator.name}' needs it)")
            log.set(name, "warning", f"{text}; it is not used until then")
            return None
        log.set(name, "warning", f"{text}; the estimate follows the data")
    return _fit_to_data(shape, phi, covariance) if estimator.keeps_mass_inside else shape


def _fit_to_data(shape: Shape, phi: Array, covariance: Array) -> Shape:
    """The shape, moved until it holds the measured centre of mass, and grown until it has room for
    the second moments.

    It grows by twice what they need: with less they would only fit if all mass sat on two faces.
    """
    distance = shape.hull[:, :3] @ (phi[1:4] / phi[0]) + shape.hull[:, 3]
    worst = int(np.argmax(distance))
    moved = _move(shape, worst, _step(float(distance[worst])))
    return _grow(moved, _step(2.0 * _lack(phi, covariance, moved, _DOUBTED).growth))


def _step(length: float) -> float:
    """The next step of a length [m] upwards, so that it seldom changes; zero for none."""
    if length <= 0.0:
        return 0.0
    return _LEAST * 2.0 ** (0.5 * max(math.ceil(2.0 * math.log2(length / _LEAST)), 0))


@lru_cache(maxsize=4)
def _move(shape: Shape, face: int, length: float) -> Shape:
    """The shape, moved along the normal of a face of its hull; the same object each time."""
    if length == 0.0:
        return shape
    pose = np.eye(4)
    pose[:3, 3] = length * shape.hull[face, :3]
    return shape.place(pose)


@lru_cache(maxsize=4)
def _grow(shape: Shape, length: float) -> Shape:
    """The grown shape; the same object each time."""
    return shape if length == 0.0 else shape.grow(length)


def _check_reach(phi: Array, covariance: Array, reach: float, estimator: Estimator,
                 log: FindingLog) -> None:
    """Check whether the centre of mass of an object of unknown shape is within its reach [m]."""
    com, spread = center_of_mass(phi, covariance)
    length = float(np.linalg.norm(com))
    along = com / length
    if estimator.name == "density" and (
            length - _SIGNIFICANT * float(np.sqrt(along @ spread @ along)) > reach):
        log.set(COM_FINDING, "warning", f"{_com_text(com)} {length:.3f} m from the sensor, but "
                f"shape.max_reach is {reach:g} m: raise it, or give the shape; if the payload is "
                "nowhere near, the sensor frame is wrong")


def _com_text(com: Array) -> str:
    """Beginning of a sentence about the measured centre of mass (3,) [m]."""
    return "the measured centre of mass [" + ", ".join(f"{v:.3f}" for v in com) + "] m lies"


def _lack(phi: Array, covariance: Array, shape: Shape, significance: float) -> _Lack:
    """What the shape lacks, so many standard deviations of the data at least."""
    com, spread = center_of_mass(phi, covariance)
    normals = shape.hull[:, :3]
    _, low, high, rows = _second_moment_bounds(shape)
    distance = normals @ com + shape.hull[:, 3]
    room = rows @ phi / phi[0]  # = (at - low) (high - at) - variance, along each direction
    if distance.max() <= 0.0 <= room.min():
        return _Lack(0.0, 0.0, 0)
    distance -= significance * np.sqrt(((normals @ spread) * normals).sum(axis=1))
    room += significance * np.sqrt(((rows @ covariance) * rows).sum(axis=1)) / phi[0]
    # Grown: (at - low + growth) (high - at + growth) = variance.
    half = 0.5 * (high - low)
    needed = np.sqrt(np.maximum(half**2 - room, 0.0)) - half
    worst = int(np.argmax(needed))
    return _Lack(max(float(distance.max()), 0.0), max(float(needed[worst]), 0.0), worst)


def _contradiction(phi: Array, shape: Shape, lack: _Lack) -> tuple[str, str]:
    """Name and text of the finding."""
    com = phi[1:4] / phi[0]
    if lack.com > _LEAST:
        distance = float((shape.hull[:, :3] @ com + shape.hull[:, 3]).max())
        return COM_FINDING, (f"{_com_text(com)} {1e3 * distance:.1f} mm outside of the shape "
                             f"'{shape.name}': correct its size or its pose in the sensor frame "
                             "(shape.size, shape.center, shape.rpy, shape.mesh_scale)")
    directions, low, high, rows = _second_moment_bounds(shape)
    at = float(directions[lack.direction] @ com)
    most = (high[lack.direction] - at) * (at - low[lack.direction])
    gyration = np.sqrt(max(most - rows[lack.direction] @ phi / phi[0], 0.0))
    axis = ", ".join(f"{v:.2f}" for v in directions[lack.direction])
    return INERTIA_FINDING, (
        f"the measured inertia is too large for the shape '{shape.name}': along [{axis}] the mass "
        f"lies {1e3 * gyration:.1f} mm from its centre in the mean square, and the shape has room "
        f"for {1e3 * np.sqrt(max(most, 0.0)):.1f} mm; correct its size or its pose (shape.size, "
        "shape.center, shape.rpy, shape.mesh_scale)")


@lru_cache(maxsize=8)
def _second_moment_bounds(shape: Shape) -> tuple[Array, Array, Array, Array]:
    """Directions (k, 3), the lowest and highest points (k,) of the shape along each [m], and rows
    (k, 10) whose product with phi is not negative for a body within the shape: the integral of
    ``(n . x - low) (high - n . x)``."""
    k = np.arange(_DIRECTIONS) + 0.5  # an even spiral over half a sphere
    height, turn = k / _DIRECTIONS, k * np.pi * (1.0 + np.sqrt(5.0))
    flat = np.sqrt(1.0 - height**2)
    spiral = np.column_stack([flat * np.cos(turn), flat * np.sin(turn), height])
    faces = np.unique(np.round(shape.hull[:, :3], 6), axis=0)[:_DIRECTIONS]
    directions = np.concatenate([np.eye(3), faces, spiral])
    along = shape.surface @ directions.T
    low, high = along.min(axis=0), along.max(axis=0)
    x, y, z = directions.T
    return directions, low, high, np.column_stack([
        -low * high, (low + high)[:, None] * directions,
        x * x - 0.5, 2.0 * x * y, 2.0 * x * z, y * y - 0.5, 2.0 * y * z, z * z - 0.5])
