"""Whether the region that is said to hold the object can hold what was measured.

The centre of mass lies in the convex hull. And where the hull reaches from `low` to `high` along a
direction n, ``(n . x - low) (high - n . x)`` is nowhere negative in it, and neither is its integral
over the mass, which is linear in phi: what bounds the second moments, as the variance of what lies
in an interval is bounded (Bhatia and Davis, A better bound on the variance, 2000).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..errors import InvalidData, InvalidShape
from ..estimators.base import Estimator
from ..findings import FindingLog, named
from ..geometry.shape import Shape
from ..inertia import PARAMETERS, Array
from ..regression.noise import datasheet_noise
from ..regression.problem import Marginal, Problem
from ..regression.row_layout import EstimatedStates
from ..regression.tool import Tool
from ..regression.unconstrained_fit import center_of_mass
from ..settings import Settings

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
    phi, covariance = marginal.unconstrained_fit
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


_UNEXPLAINED = 0.2  # share of the force that may be left where the residual is that large
_MISFIT = 5.0  # residual over data-sheet noise from which a wrong frame is suspected


def residual_rms(problem: Problem, phi: Array, states: Array) -> Array:
    """Root mean square (6,) of the low-passed residual [N, N m], with these biases, alignment and
    tool (6 + q,)."""
    residual = (problem.with_states @ np.concatenate([phi, states, [-1.0]])).reshape(6, -1)
    return np.sqrt((residual * residual).sum(axis=1) / max(problem.samples, 1))


def check_model(problem: Problem, settings: Settings, tool: Tool | None, log: FindingLog) -> None:
    """A clearly negative mass means that the sign of the wrench is wrong; a wrong frame leaves
    a plausible mass, and only what no payload explains tells.

    Raises:
        InvalidData: one of the two, which the log then names.
    """
    log.clear("sign_wrong", "frame_wrong")
    marginal = problem.marginal("noise")
    phi, covariance = marginal.unconstrained_fit
    mass, states = float(phi[0]), marginal.states(phi)
    rms = residual_rms(problem, phi, states)
    is_large = _misfit(rms, datasheet_noise(settings.wrench)) > _MISFIT
    if mass < -5.0 * np.sqrt(covariance[0, 0]):
        if tool is not None:
            raise InvalidData(
                f"what hangs on the sensor is {-mass:.3f} kg lighter than the stored tool "
                f"({tool.phi[0]:.3f} kg); clear the tool, or store it again")
        if is_large:
            raise named(log, "frame_wrong", f"the mass fits as {mass:.3f} kg with a large "
                        "residual: the sensor frame or the gravity frame is wrong")
        now = settings.wrench.convention
        other = "on_environment" if now == "on_sensor" else "on_sensor"
        raise named(log, "sign_wrong", f"the mass fits as {mass:.3f} kg: the wrench has the "
                    f"opposite sign; wrench.convention is '{now}', set it to '{other}'")
    if not is_large:
        return
    nothing = np.zeros(PARAMETERS) if tool is None else -tool.phi
    load = residual_rms(problem, nothing, states)
    left = float(np.linalg.norm(rms[:3])) / max(float(np.linalg.norm(load[:3])), 1e-12)
    if left > _UNEXPLAINED:
        check_residual(rms, datasheet_noise(settings.wrench), log)
        raise named(log, "frame_wrong", f"no payload explains the wrench ({left:.0%} of the "
                     "force is left): the sensor frame or the gravity frame is wrong, its "
                     "rotation may be transposed, or something touches the payload")


def check_settings(phi: Array, settings: Settings, log: FindingLog) -> None:
    """Say where a setting and the data disagree, or a setting has no effect."""
    log.clear("mass_at_bound", "blend_without_alignment")
    bound = settings.estimator.max_mass
    if 0.0 < bound <= phi[0] * (1.0 + 1e-6):
        log.set("mass_at_bound", "warning",
                f"the mass is {phi[0]:.3f} kg, estimator.max_mass is {bound:g} kg: the bound "
                "is too low, or something pulls at the payload")
    if settings.estimator.weighting == "dynamism" and len(EstimatedStates(settings)):
        log.set("blend_without_alignment", "info", "estimator.weighting 'dynamism' takes the "
                "sensor's rotation, the tilt of gravity and the clock offset as zero; "
                "alignment.* has an effect with weighting 'noise' only")


def check_residual(rms: Array, noise: Array, log: FindingLog) -> None:
    """Say where the residual (6,) is far larger than the noise (6,) that it must have [N, N m]."""
    ratio = _misfit(rms, noise)
    if ratio > _MISFIT:
        log.set("residual_large", "warning",
                f"the residual is {ratio:.0f} times the noise of sensor and motion: contact, a "
                "wrong sensor or gravity frame, or another payload within the window")
    else:
        log.clear("residual_large")


def _misfit(rms: Array, noise: Array) -> float:
    """Largest residual over the noise."""
    return float((rms / noise).max())
