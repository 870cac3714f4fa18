"""Whether the region that is said to hold the object can hold the measured centre of mass."""

from __future__ import annotations

import numpy as np

from .errors import InvalidShape
from .estimators.base import Estimator, Marginal
from .findings import FindingLog
from .free_fit import center_of_mass
from .inertia import Array
from .shape import Shape

FINDING = "com_outside_shape"
_SURE = 5.0  # standard deviations by which a centre of mass is outside
# m, and share of the longest side: a shape may be placed or measured wrongly by this much
_LENGTH, _SHARE = 0.005, 0.05


def usable_shape(shape: Shape | None, reach: float, marginal: Marginal, estimator: Estimator,
                 log: FindingLog) -> Shape | None:
    """The shape, or None where the measured centre of mass lies outside of it.

    Args:
        reach: of an object of unknown shape from the sensor [m].

    Raises:
        InvalidShape: it lies outside, and the estimator needs the shape.
    """
    phi, covariance = marginal.free_fit
    log.clear(FINDING)
    if not phi[0] > _SURE * np.sqrt(covariance[0, 0]):
        return shape
    com, spread = center_of_mass(phi, covariance)
    where = "the measured centre of mass [" + ", ".join(f"{v:.3f}" for v in com) + "] m lies "
    if shape is None:
        if estimator.name == "density" and _outside_ball(com, spread, reach):
            log.set(FINDING, "warning", where + f"{np.linalg.norm(com):.3f} m from the sensor, but "
                    f"shape.max_reach is {reach:g} m: raise it, or give the shape; if the payload "
                    "is nowhere near, the sensor frame is wrong")
        return None
    distance = _outside_hull(com, spread, shape)
    if distance == 0.0:
        return shape
    text = where + (f"{distance:.3f} m outside of the shape '{shape.name}': correct its size or "
                    "its pose in the sensor frame")
    if estimator.needs_shape:
        raise InvalidShape(f"{text} (estimator '{estimator.name}' needs it)")
    log.set(FINDING, "warning", f"{text}; it is not used until then")
    return None


def _outside_ball(com: Array, spread: Array, radius: float) -> bool:
    length = float(np.linalg.norm(com))
    along = com / length
    return length - _SURE * float(np.sqrt(along @ spread @ along)) > radius


def _outside_hull(com: Array, spread: Array, shape: Shape) -> float:
    """How far [m] the centre of mass is outside of the convex hull; 0 where that is not sure."""
    normals = shape.hull[:, :3]
    distance = normals @ com + shape.hull[:, 3]
    allowed = max(_LENGTH, _SHARE * float(shape.lengths.max()))
    if not (distance > allowed).any():
        return 0.0
    sd = np.sqrt(((normals @ spread) * normals).sum(axis=1))
    sure = distance > np.maximum(_SURE * sd, allowed)
    return float(distance[sure].max()) if sure.any() else 0.0
