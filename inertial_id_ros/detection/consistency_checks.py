# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Checks whether settings and measurements agree, and names what does not as findings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import InvalidData
from ..findings import FindingLog
from ..inertia import PARAMETERS, Array
from ..regression.problem import Problem
from ..regression.row_layout import EstimatedStates
from ..regression.tool import Tool
from ..settings import Settings, WrenchSettings

_SIGNIFICANT = 5.0  # standard deviations
_UNEXPLAINED = 0.2  # share of the force that a correct set-up may leave unexplained
_RELIEF = 0.1  # largest share of a residual that is left where its cause is taken away
# Residual over the errors of the sensor from which the set-up may be wrong.
_MISFIT = 5.0
# The same below which it may be that of the sensor, and from which something looks like a load. A
# zero that wanders (5 s of correlation) leaves more than 1.4 in one of six channels in 5 % of all
# windows of 20 s.
_FITS, _WRONG = 1.4, 3.0
_RAISED = 2.0  # that from which it is said that intervals are wider
# Square of a change that is named, over the variance; and the change, over what the verdict allows.
_DEPENDS, _MATTERS = 0.25, 0.1
_REPORTED = (("mass", slice(0, 1), "kg"), ("centre of mass", slice(1, 4), "m"),
             ("inertia", slice(4, PARAMETERS), "kg m^2"))
_UNKNOWN = 10.0  # share from which on a payload is not known at all; far more breaks the arithmetic


@dataclass
class WindowFacts:
    """What the windows so far have shown to be wrong, each as its last check found it.

    Attributes:
        sign, frame: why the wrench has the wrong sign, or a frame is wrong; empty where not.
        misfits: whether no payload explains the wrench; turned: whether sensor or gravity are
            clearly turned against their frames; lags: whether the sensor has hysteresis.
    """

    sign: str = ""
    frame: str = ""
    misfits: bool = False
    turned: bool = False
    lags: bool = False

    @property
    def is_any(self) -> bool:
        """Whether a wrong clock or driver may have caused something of it."""
        return bool(self.sign or self.frame or self.misfits or self.turned)


def sensor_errors(settings: WrenchSettings) -> Array:
    """Standard deviations (6,) of the residual by noise and accuracy of the sensor [N, N m]."""
    force = math.hypot(settings.force_noise, settings.force_accuracy)
    torque = math.hypot(settings.torque_noise, settings.torque_accuracy)
    return np.array([force, force, force, torque, torque, torque])


def residual_rms(problem: Problem, phi: Array, states: Array) -> Array:
    """Root mean square (6,) of the low-passed residual [N, N m].

    Args:
        phi: (10,) of the payload; states: (6 + q,) biases, alignment and tool.
    """
    return _rms(problem, _residual(problem, phi, states))


def unexplained_share(problem: Problem, phi: Array, states: Array, noise: Array) -> Array:
    """How large the residual is beside the load, in forces and torques (2,), apart from constants;
    less where it may be that of the sensor.

    Args:
        phi: (10,) of the payload; states: (6 + q,) biases, alignment and tool.
        noise: (6,) errors expected of the residual [N, N m].
    """
    residual = _without_constants(problem, _residual(problem, phi, states))
    load = _without_constants(problem, (problem.with_states[:, :PARAMETERS] @ phi).reshape(6, -1))
    left, of_load = (np.linalg.norm(part.reshape(2, -1), axis=1) for part in (residual, load))
    is_wrong = (_misfit(_rms(problem, residual), noise) - _FITS) / (_WRONG - _FITS)
    return np.minimum(min(max(is_wrong, 0.0), 1.0) * left / np.maximum(of_load, 1e-12), _UNKNOWN)


def _residual(problem: Problem, phi: Array, states: Array) -> Array:
    """Low-passed residual (6, h) in compressed rows."""
    return np.asarray((problem.with_states @ np.concatenate([phi, states, [-1.0]])).reshape(6, -1))


def _without_constants(problem: Problem, rows: Array) -> Array:
    """Compressed rows (6, h) less what a constant in each channel explains."""
    k = np.arange(6)
    constant = problem.with_states[:, PARAMETERS:PARAMETERS + 6].reshape(6, -1, 6)[k, :, k]
    length = np.maximum((constant * constant).sum(axis=1, keepdims=True), 1e-12)
    return np.asarray(rows - constant * ((constant * rows).sum(axis=1, keepdims=True) / length))


def _rms(problem: Problem, rows: Array) -> Array:
    """Root mean square (6,) of a signal in compressed rows (6, h)."""
    return np.sqrt((rows * rows).sum(axis=1) / max(problem.samples, 1))


class Look(NamedTuple):
    """The unconstrained fit of a problem, as far as it tells what is wrong with the set-up.

    Attributes:
        phi: (10,) payload; is_negative: whether its mass is, significantly.
        states: (6 + q,) biases, alignment and tool.
        rms: (6,) of the low-passed residual [N, N m]; misfit: its largest ratio to the errors
            of the sensor.
    """

    phi: Array
    is_negative: bool
    states: Array
    rms: Array
    misfit: float

    @property
    def is_suspect(self) -> bool:
        """Whether something is wrong."""
        return self.is_negative or self.misfit > _MISFIT

    def contradicts_tare(self, untared: Look) -> bool:
        """Whether this fit, with a tare, shows something wrong that goes without that tare."""
        if self.is_negative and not untared.is_negative:
            return True
        return self.misfit > _MISFIT and untared.misfit < max(_MISFIT, _RELIEF * self.misfit)


def look_at(problem: Problem, settings: Settings, beyond: float = 0.0) -> Look:
    """Fit a problem without constraints, and compare what is left with the noise.

    Args:
        beyond: variance of the mass by errors that the problem does not hold [kg^2].
    """
    marginal = problem.marginal("noise")
    phi, covariance = marginal.unconstrained_fit
    states = marginal.unconstrained_states
    rms = residual_rms(problem, phi, states)
    return Look(phi, phi[0] < -_SIGNIFICANT * np.sqrt(covariance[0, 0] + beyond), states, rms,
                _misfit(rms, sensor_errors(settings.wrench)))


def check_model(problem: Problem, settings: Settings, tool: Tool | None, log: FindingLog,
                facts: WindowFacts, beyond: float = 0.0) -> None:
    """Check for a wrong sign of the wrench and for a wrong sensor or gravity frame.

    A significantly negative mass means a wrong sign, or, with a large residual, a wrong frame. A
    wrong frame may also leave a plausible mass; it then shows only in a force that no payload
    explains. What log and facts said of both before is taken back.

    Args:
        tool: the stored one, beside which the mass is estimated.
        beyond: variance of the mass by errors that the problem does not hold [kg^2].

    Raises:
        InvalidData: one of the two is wrong; log and facts say which. Or, which neither says, less
            hangs on the sensor than the stored tool.
    """
    clear_model(log, facts)
    seen = look_at(problem, settings, beyond)
    mass, is_large = float(seen.phi[0]), seen.misfit > _MISFIT
    if seen.is_negative:
        if tool is not None:
            raise InvalidData(
                f"what hangs on the sensor is {-mass:.3f} kg lighter than the stored tool "
                f"({tool.phi[0]:.3f} kg); clear the tool, or store it again")
        if is_large:
            facts.frame = (f"the mass fits as {mass:.3f} kg with a large residual: the sensor "
                           "frame or the gravity frame is wrong")
            raise log.error("frame_wrong", facts.frame)
        now = settings.wrench.convention
        other = "on_environment" if now == "on_sensor" else "on_sensor"
        facts.sign = (f"the mass fits as {mass:.3f} kg: the wrench has the opposite sign; "
                      f"wrench.convention is '{now}', set it to '{other}'")
        raise log.error("sign_wrong", facts.sign)
    if not is_large:
        return
    nothing = np.zeros(PARAMETERS) if tool is None else -tool.phi
    load = residual_rms(problem, nothing, seen.states)
    # An offset is that of a bias that walks, or of a wrong gain: no frame makes one.
    rms = _rms(problem, _without_constants(problem, _residual(problem, seen.phi, seen.states)))
    left = float(np.linalg.norm(rms[:3])) / max(float(np.linalg.norm(load[:3])), 1e-12)
    if left > _UNEXPLAINED:
        facts.misfits = check_residual(seen.rms, sensor_errors(settings.wrench), log)
        facts.frame = (f"no payload explains the wrench ({left:.0%} of the force is left): the "
                       "sensor frame or the gravity frame is wrong, its rotation may be "
                       "transposed, or something touches the payload")
        raise log.error("frame_wrong", facts.frame)


def clear_model(log: FindingLog, facts: WindowFacts) -> None:
    """Take back that the sign of the wrench or a frame is wrong."""
    log.clear("sign_wrong", "frame_wrong")
    facts.sign = facts.frame = ""


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


def check_residual(rms: Array, noise: Array, log: FindingLog) -> bool:
    """Name a residual (6,) that is larger than the errors (6,) expected of it [N, N m].

    Returns:
        Whether it is far larger.
    """
    ratio = _misfit(rms, noise)
    is_large = ratio > _MISFIT
    log.clear("residual_large", "residual_large.raised")
    if is_large:
        log.set("residual_large", "warning",
                f"the residual is {ratio:.0f} times the errors of sensor and motion: contact, a "
                "wrong sensor or gravity frame, or another payload within the window")
    elif ratio > _RAISED:
        log.set("residual_large.raised", "info",
                f"the residual is {ratio:.1f} times the errors of sensor and motion, and widens "
                "the intervals: a cable that pulls, light contact, or another sensor than "
                "wrench.sensor names")
    return is_large


def check_noise_model(change: Array, variance: Array, allowed: Array, log: FindingLog) -> None:
    """Name a payload that depends on what is taken for noise, where that matters.

    Args:
        change: (10,) of the reported parameters with another model of noise, beyond chance.
        variance: (10,) of them by everything else; allowed: half widths (10,) of the intervals with
            which they count as known.
    """
    log.clear("noise_model_doubted")
    size = np.abs(change)
    # What is allowed is 0 where nothing is known.
    matters = (allowed > 0.0) & (size > _MATTERS * allowed) & (size**2 > _DEPENDS * variance)
    others = [f"{name} by {np.linalg.norm(change[group]):.2g} {unit}"
              for name, group, unit in _REPORTED if matters[group].any()]
    if others:
        log.set("noise_model_doubted", "warning",
                f"if the zero of the sensor did not wander, the estimate would be another one "
                f"({', '.join(others)}): what is taken for that follows the motion (a low-pass of "
                "the sensor, for instance); the intervals hold both")


def _misfit(rms: Array, noise: Array) -> float:
    """Largest ratio of a residual (6,) to its noise (6,)."""
    return float((rms / noise).max())
