"""Checks whether settings, shape and measurements agree, and names what does not as findings.

A shape can hold the object only if the measured centre of mass lies in its convex hull, and the
second moments are small enough. Where the hull extends from `low` to `high` along a direction n,
``(n . x - low) (high - n . x)`` is nowhere negative in it, and neither is its integral over the
mass, which is linear in phi. That bounds the second moments as the variance of a variable in an
interval is bounded (Bhatia and Davis, A better bound on the variance, 2000).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..errors import InvalidData, InvalidShape
from ..estimators.base import Estimator
from ..findings import FindingLog
from ..geometry.shape import Shape
from ..inertia import PARAMETERS, Array
from ..regression.noise import datasheet_noise
from ..regression.problem import Marginal, Problem
from ..regression.row_layout import EstimatedStates
from ..regression.tool import Tool
from ..regression.unconstrained_fit import center_of_mass
from ..settings import Settings

COM_FINDING, INERTIA_FINDING = "com_outside_shape", "inertia_outside_shape"
_SIGNIFICANT = 5.0  # standard deviations
_LENGTH, _SHARE = 0.005, 0.05  # tolerance of a shape [m], and as a share of its longest side
_DIRECTIONS = 100  # along which second moments are checked
_UNEXPLAINED = 0.2  # share of the force that a correct set-up may leave unexplained
_MISFIT = 5.0  # residual over data-sheet noise from which the set-up may be wrong


def check_shape(shape: Shape | None, max_reach: float, marginal: Marginal, estimator: Estimator,
                log: FindingLog) -> Shape | None:
    """Check whether the shape can hold the measured centre of mass and inertia.

    Args:
        max_reach: largest distance from the sensor of an object of unknown shape [m].
        marginal: the problem, with states eliminated.
        log: gets or loses the findings.

    Returns:
        the shape; None where it cannot hold them, or there is none.

    Raises:
        InvalidShape: it cannot hold them, and the estimator needs a shape.
    """
    phi, covariance = marginal.unconstrained_fit
    log.clear(COM_FINDING, INERTIA_FINDING)
    if not phi[0] > _SIGNIFICANT * np.sqrt(covariance[0, 0]):
        return shape
    com = phi[1:4] / phi[0]
    if shape is None:
        if estimator.name == "density" and _is_outside_ball(
                *center_of_mass(phi, covariance), max_reach):
            log.set(COM_FINDING, "warning", f"{_com_text(com)} {np.linalg.norm(com):.3f} m from "
                    f"the sensor, but shape.max_reach is {max_reach:g} m: raise it, or give the "
                    "shape; if the payload is nowhere near, the sensor frame is wrong")
        return None
    distance = _distance_outside_hull(com, phi, covariance, shape)
    if distance > 0.0:
        name = COM_FINDING
        text = (f"{_com_text(com)} {distance:.3f} m outside of the shape '{shape.name}': correct "
                "its size or its pose in the sensor frame")
    else:
        worst = _most_exceeded_direction(phi, covariance, shape)
        if worst is None:
            return shape
        name, text = INERTIA_FINDING, _inertia_text(phi, shape, worst)
    if estimator.needs_shape:
        raise InvalidShape(f"{text} (estimator '{estimator.name}' needs it)")
    log.set(name, "warning", f"{text}; it is not used until then")
    return None


def _com_text(com: Array) -> str:
    """Beginning of a sentence about the measured centre of mass (3,) [m]."""
    return "the measured centre of mass [" + ", ".join(f"{v:.3f}" for v in com) + "] m lies"


def _is_outside_ball(com: Array, covariance: Array, radius: float) -> bool:
    """Whether a centre of mass (3,) is significantly farther from the sensor than `radius` [m]."""
    length = float(np.linalg.norm(com))
    along = com / length
    return length - _SIGNIFICANT * float(np.sqrt(along @ covariance @ along)) > radius


def _distance_outside_hull(com: Array, phi: Array, covariance: Array, shape: Shape) -> float:
    """How far a centre of mass (3,) is outside of the convex hull [m]; 0 where not significantly.
    """
    normals = shape.hull[:, :3]
    distance = normals @ com + shape.hull[:, 3]
    tolerance = _tolerance(shape)
    if not distance.max() > tolerance:
        return 0.0
    _, com_covariance = center_of_mass(phi, covariance)
    sd = np.sqrt(((normals @ com_covariance) * normals).sum(axis=1))
    outside = distance > np.maximum(_SIGNIFICANT * sd, tolerance)
    return float(distance[outside].max()) if outside.any() else 0.0


def _tolerance(shape: Shape) -> float:
    """By how much a shape may be placed or measured wrongly [m]."""
    return max(_LENGTH, _SHARE * float(shape.lengths.max()))


def _most_exceeded_direction(phi: Array, covariance: Array, shape: Shape) -> int | None:
    """Index of the direction along which the second moment exceeds the shape most significantly;
    None where it exceeds it along none."""
    *_, rows = _second_moment_bounds(shape)
    left = rows @ phi
    if not left.min() < 0.0:
        return None
    sd = np.sqrt(((rows @ covariance) * rows).sum(axis=1))
    worst = int(np.argmin(left / sd))
    return None if left[worst] > -_SIGNIFICANT * sd[worst] else worst


def _inertia_text(phi: Array, shape: Shape, worst: int) -> str:
    """By how much the second moment along a direction, given by its index, exceeds the shape."""
    directions, low, high, _ = _second_moment_bounds(shape)
    com = directions[worst] @ phi[1:4] / phi[0]
    most = np.sqrt(max((high[worst] - com) * (com - low[worst]), 0.0))
    second = -_bound_rows(directions[[worst]], np.zeros(1), np.zeros(1))[0] @ phi
    gyration = np.sqrt(max(second / phi[0] - com**2, 0.0))
    axis = ", ".join(f"{v:.2f}" for v in directions[worst])
    return (f"the measured inertia is too large for the shape '{shape.name}': along [{axis}] the "
            f"mass lies {gyration:.3f} m from its centre in the mean square, and the shape has "
            f"room for {most:.3f} m; correct its size or its pose (shape.size, shape.center, "
            "shape.rpy, shape.mesh_scale)")


def _bound_rows(directions: Array, low: Array, high: Array) -> Array:
    """Rows (k, 10) whose product with phi is the integral of ``(n . x - low) (high - n . x)``."""
    x, y, z = directions.T
    return np.column_stack([
        -low * high, (low + high)[:, None] * directions,
        x * x - 0.5, 2.0 * x * y, 2.0 * x * z, y * y - 0.5, 2.0 * y * z, z * z - 0.5])


@lru_cache(maxsize=8)
def _second_moment_bounds(shape: Shape) -> tuple[Array, Array, Array, Array]:
    """Directions (k, 3), the lowest and highest points (k,) of the shape along each [m], and rows
    (k, 10) whose product with phi is not negative for a body within the shape and its tolerance."""
    k = np.arange(_DIRECTIONS) + 0.5  # an even spiral over half a sphere
    height, turn = k / _DIRECTIONS, k * np.pi * (1.0 + np.sqrt(5.0))
    flat = np.sqrt(1.0 - height**2)
    spiral = np.column_stack([flat * np.cos(turn), flat * np.sin(turn), height])
    faces = np.unique(np.round(shape.hull[:, :3], 6), axis=0)[:_DIRECTIONS]
    directions = np.concatenate([np.eye(3), faces, spiral])
    along = shape.surface @ directions.T
    low, high, tolerance = along.min(axis=0), along.max(axis=0), _tolerance(shape)
    return directions, low, high, _bound_rows(directions, low - tolerance, high + tolerance)


def residual_rms(problem: Problem, phi: Array, states: Array) -> Array:
    """Root mean square (6,) of the low-passed residual [N, N m].

    Args:
        phi: (10,) of the payload; states: (6 + q,) biases, alignment and tool.
    """
    residual = (problem.with_states @ np.concatenate([phi, states, [-1.0]])).reshape(6, -1)
    return np.sqrt((residual * residual).sum(axis=1) / max(problem.samples, 1))


def check_model(problem: Problem, settings: Settings, tool: Tool | None, log: FindingLog) -> None:
    """Check for a wrong sign of the wrench and for a wrong sensor or gravity frame.

    A significantly negative mass means a wrong sign. A wrong frame leaves a plausible mass, and
    shows only in a force that no payload explains.

    Raises:
        InvalidData: one of the two is wrong; the log names it.
    """
    log.clear("sign_wrong", "frame_wrong")
    marginal = problem.marginal("noise")
    phi, covariance = marginal.unconstrained_fit
    mass, states = float(phi[0]), marginal.states(phi)
    rms = residual_rms(problem, phi, states)
    is_large = _misfit(rms, datasheet_noise(settings.wrench)) > _MISFIT
    if mass < -_SIGNIFICANT * np.sqrt(covariance[0, 0]):
        if tool is not None:
            raise InvalidData(
                f"what hangs on the sensor is {-mass:.3f} kg lighter than the stored tool "
                f"({tool.phi[0]:.3f} kg); clear the tool, or store it again")
        if is_large:
            raise log.error("frame_wrong", f"the mass fits as {mass:.3f} kg with a large "
                            "residual: the sensor frame or the gravity frame is wrong")
        now = settings.wrench.convention
        other = "on_environment" if now == "on_sensor" else "on_sensor"
        raise log.error("sign_wrong", f"the mass fits as {mass:.3f} kg: the wrench has the "
                        f"opposite sign; wrench.convention is '{now}', set it to '{other}'")
    if not is_large:
        return
    nothing = np.zeros(PARAMETERS) if tool is None else -tool.phi
    load = residual_rms(problem, nothing, states)
    left = float(np.linalg.norm(rms[:3])) / max(float(np.linalg.norm(load[:3])), 1e-12)
    if left > _UNEXPLAINED:
        check_residual(rms, datasheet_noise(settings.wrench), log)
        raise log.error("frame_wrong", f"no payload explains the wrench ({left:.0%} of the "
                        "force is left): the sensor frame or the gravity frame is wrong, its "
                        "rotation may be transposed, or something touches the payload")


def check_settings(phi: Array, settings: Settings, log: FindingLog) -> None:
    """Name settings that disagree with the payload phi (10,), or have no effect."""
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
    """Name a residual (6,) that is far larger than its expected noise (6,) [N, N m]."""
    ratio = _misfit(rms, noise)
    if ratio > _MISFIT:
        log.set("residual_large", "warning",
                f"the residual is {ratio:.0f} times the noise of sensor and motion: contact, a "
                "wrong sensor or gravity frame, or another payload within the window")
    else:
        log.clear("residual_large")


def _misfit(rms: Array, noise: Array) -> float:
    """Largest ratio of a residual (6,) to its noise (6,)."""
    return float((rms / noise).max())
