"""What a fit says about the set-up: wrong sign or frame, a setting that it contradicts, contact."""

from __future__ import annotations

import numpy as np

from .errors import InvalidData
from .estimators.base import Problem
from .findings import FindingLog, named
from .inertia import Array
from .row_layout import PARAMETERS
from .settings import Settings, WrenchSettings
from .tool import Tool

_UNEXPLAINED = 0.2  # share of the force that may be left where the residual is that large
_MISFIT = 5.0  # residual over data-sheet noise from which a wrong frame is suspected


def sheet(settings: WrenchSettings) -> Array:
    """Data-sheet noise (6,) of one raw sample [N, N m]."""
    return np.array([*3 * (settings.force_noise,), *3 * (settings.torque_noise,)])


def residual_rms(problem: Problem, phi: Array, states: Array) -> Array:
    """Root mean square (6,) of the low-passed residual [N, N m], with these biases, alignment and
    tool (6 + q,)."""
    residual = (problem.aligned @ np.concatenate([phi, states, [-1.0]])).reshape(6, -1)
    return np.sqrt((residual * residual).sum(axis=1) / max(problem.samples, 1))


def check_model(problem: Problem, settings: Settings, tool: Tool | None, log: FindingLog) -> None:
    """A clearly negative mass means that the sign of the wrench is wrong; a wrong frame leaves
    a plausible mass, and only what no payload explains tells.

    Raises:
        InvalidData: one of the two, which the log then names.
    """
    log.clear("sign_wrong", "frame_wrong")
    marginal = problem.marginal("noise")
    phi, covariance = marginal.free_fit
    mass, states = float(phi[0]), marginal.states(phi)
    rms = residual_rms(problem, phi, states)
    is_large = _misfit(rms, sheet(settings.wrench)) > _MISFIT
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
        check_residual(rms, sheet(settings.wrench), log)
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
    alignment = settings.alignment
    if settings.estimator.weighting == "dynamism" and (
            alignment.rotation_sd or alignment.tilt_sd or alignment.delay_sd):
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
