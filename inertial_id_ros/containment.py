"""Whether the region that is said to hold the object can hold what was measured.

The centre of mass lies in the convex hull. And where the hull reaches from `low` to `high` along a
direction n, ``(n . x - low) (high - n . x)`` is nowhere negative in it, and neither is its integral
over the mass, which is linear in phi: what bounds the second moments, as the variance of what lies
in an interval is bounded (Bhatia and Davis, A better bound on the variance, 2000).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .errors import InvalidShape
from .estimators.base import Estimator, Marginal
from .findings import FindingLog
from .free_fit import center_of_mass
from .inertia import Array
from .shape import Shape

FINDING, INERTIA_FINDING = "com_outside_shape", "inertia_outside_shape"
_SURE = 5.0  # standard deviations by which a centre of mass is outside
# m, and share of the longest side: a shape may be placed or measured wrongly by this much
_LENGTH, _SHARE = 0.005, 0.05
_DIRECTIONS = 100  # along which second moments are looked at


def usable_shape(shape: Shape | None, reach: float, marginal: Marginal, estimator: Estimator,
                 log: FindingLog) -> Shape | None:
    """The shape, or None where the measured centre of mass lies outside of it, or it is too small
    for the measured inertia.

    Args:
        reach: of an object of unknown shape from the sensor [m].

    Raises:
        InvalidShape: it lies outside, and the estimator needs the shape.
    """
    phi, covariance = marginal.free_fit
    log.clear(FINDING, INERTIA_FINDING)
    if not phi[0] > _SURE * np.sqrt(covariance[0, 0]):
        return shape
    com = phi[1:4] / phi[0]
    if shape is None:
        if estimator.name == "density" and _outside_ball(*center_of_mass(phi, covariance), reach):
            log.set(FINDING, "warning", f"{_where(com)} {np.linalg.norm(com):.3f} m from the "
                    f"sensor, but shape.max_reach is {reach:g} m: raise it, or give the shape; if "
                    "the payload is nowhere near, the sensor frame is wrong")
        return None
    distance = _outside_hull(com, phi, covariance, shape)
    if distance > 0.0:
        name = FINDING
        text = (f"{_where(com)} {distance:.3f} m outside of the shape '{shape.name}': correct its "
                "size or its pose in the sensor frame")
    else:
        name, text = INERTIA_FINDING, _too_large(phi, covariance, shape)
    if not text:
        return shape
    if estimator.needs_shape:
        raise InvalidShape(f"{text} (estimator '{estimator.name}' needs it)")
    log.set(name, "warning", f"{text}; it is not used until then")
    return None


def _where(com: Array) -> str:
    return "the measured centre of mass [" + ", ".join(f"{v:.3f}" for v in com) + "] m lies"


def _outside_ball(com: Array, spread: Array, radius: float) -> bool:
    length = float(np.linalg.norm(com))
    along = com / length
    return length - _SURE * float(np.sqrt(along @ spread @ along)) > radius


def _outside_hull(com: Array, phi: Array, covariance: Array, shape: Shape) -> float:
    """How far [m] the centre of mass is outside of the convex hull; 0 where that is not sure."""
    normals = shape.hull[:, :3]
    distance = normals @ com + shape.hull[:, 3]
    allowed = _allowed(shape)
    if not distance.max() > allowed:
        return 0.0
    _, spread = center_of_mass(phi, covariance)
    sd = np.sqrt(((normals @ spread) * normals).sum(axis=1))
    sure = distance > np.maximum(_SURE * sd, allowed)
    return float(distance[sure].max()) if sure.any() else 0.0


def _allowed(shape: Shape) -> float:
    return max(_LENGTH, _SHARE * float(shape.lengths.max()))


def _too_large(phi: Array, covariance: Array, shape: Shape) -> str:
    """Why the measured inertia does not fit into the shape; empty where that is not sure."""
    directions, low, high, room = _reach(shape)
    left = room @ phi
    if not left.min() < 0.0:
        return ""
    sd = np.sqrt(((room @ covariance) * room).sum(axis=1))
    worst = int(np.argmin(left / sd))
    if left[worst] > -_SURE * sd[worst]:
        return ""
    com = directions[worst] @ phi[1:4] / phi[0]
    most = np.sqrt(max((high[worst] - com) * (com - low[worst]), 0.0))
    second = -_room(directions[[worst]], np.zeros(1), np.zeros(1))[0] @ phi
    gyration = np.sqrt(max(second / phi[0] - com**2, 0.0))
    axis = ", ".join(f"{v:.2f}" for v in directions[worst])
    return (f"the measured inertia is too large for the shape '{shape.name}': along [{axis}] the "
            f"mass lies {gyration:.3f} m from its centre in the mean square, and the shape has "
            f"room for {most:.3f} m; correct its size or its pose (shape.size, shape.center, "
            "shape.rpy, shape.mesh_scale)")


def _room(directions: Array, low: Array, high: Array) -> Array:
    """Rows (k, 10) whose product with phi is the integral of ``(n . x - low) (high - n . x)``."""
    x, y, z = directions.T
    return np.column_stack([
        -low * high, (low + high)[:, None] * directions,
        x * x - 0.5, 2.0 * x * y, 2.0 * x * z, y * y - 0.5, 2.0 * y * z, z * z - 0.5])


@lru_cache(maxsize=8)
def _reach(shape: Shape) -> tuple[Array, Array, Array, Array]:
    """Directions (k, 3), how far (k,) the shape reaches along each [m], and the rows of `_room`
    with what is allowed beyond."""
    k = np.arange(_DIRECTIONS) + 0.5  # a spiral over half a sphere, evenly
    height, turn = k / _DIRECTIONS, k * np.pi * (1.0 + np.sqrt(5.0))
    flat = np.sqrt(1.0 - height**2)
    spiral = np.column_stack([flat * np.cos(turn), flat * np.sin(turn), height])
    faces = np.unique(np.round(shape.hull[:, :3], 6), axis=0)[:_DIRECTIONS]
    directions = np.concatenate([np.eye(3), faces, spiral])
    along = shape.surface @ directions.T
    low, high, allowed = along.min(axis=0), along.max(axis=0), _allowed(shape)
    return directions, low, high, _room(directions, low - allowed, high + allowed)
