# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate of a window: a pure function of a history, of what is believed, and of settings."""

from __future__ import annotations

import time

import numpy as np
from scipy.special import log_ndtr

from ..detect.contradictions import contradictions
from ..estimate import IDENTIFIED, UNOBSERVED, Estimate, NoEstimate
from ..explain.explain import Explanation, explain
from ..explain.fit import Region
from ..explain.torques import explain_torques
from ..inertia import is_consistent, min_eigenvalue
from ..kinds import finding_of
from ..model.history import Window
from ..model.rows import stretches
from ..motion.motion import BIN, BIN_NS, Array
from ..robot.payload import TorqueLoad
from ..settings import Settings
from .beliefs import Beliefs
from .conclusion import Basis, Conclusion, Explained, walk_of
from .solving import solve
from .verdict import judge, vague

FEWEST = 12  # rows
HARDLY = 2.0  # deviations of a mass from zero


def estimate(window: Window, end: int, basis: Basis, known: Explanation | None = None,
             torques: tuple[TorqueLoad, bool] | None = None) -> Conclusion:
    """Estimate the payload from a window before a bin.

    A pure function: equal arguments give an equal answer.

    Args:
        known: see `explain`.
        torques: of the joints of which robot the window is, and whether its zeros have moved; None:
            it is of a wrench.
    """
    begun = time.perf_counter()
    settings, beliefs, stamp = basis.settings, basis.beliefs, end * BIN_NS
    if sum(stretch.n for stretch in stretches(window.used)) < FEWEST:
        return Conclusion(NoEstimate(stamp, basis.frame, _too_short(window)))
    explained: Explained
    if torques is None:
        sheet = beliefs.sheet(settings, stamp)
        explained = explain(window, sheet, _region(beliefs, settings), known)
        refused = tuple(contradictions(explained, sheet, settings.load.reference_mass))
        left = float(explained.unknown.times.max())
    else:
        explained = explain_torques(window, *torques)
        refused, left = explained.refused, 1.0
    if refused:
        reason = NoEstimate(stamp, basis.frame, finding_of(*refused[0]).text, is_finding=True)
        return Conclusion(reason, explained, refused)
    phi, covariance = solve(explained, basis)
    if phi is None or not is_consistent(phi):
        reason = NoEstimate(stamp, basis.frame, "no body fits the data yet: move more")
        return Conclusion(reason, explained, surprise=left)
    if beliefs.tool is None and beliefs.compensated is None:
        covariance = widened(phi, covariance, float(explained.wide_phi[0]),
                             float(np.sqrt(explained.wide_covariance[0, 0])))
    verdict = judge(phi, covariance, vague(phi[0]))
    words = verdict.verdict
    if beliefs.tool is not None and phi[0] < 2.0 * np.sqrt(covariance[0, 0]):
        words = (IDENTIFIED, *9 * (UNOBSERVED,))  # nothing is carried beside the tool
    bias, alignment, alignment_sigma, residual = _of_sensor(explained, settings.wrench.sign)
    rate, speed = walk_of(explained)
    return Conclusion(Estimate(
        stamp_ns=stamp, frame_id=basis.frame, phi=phi, phi_covariance=covariance, bias=bias,
        alignment=alignment, alignment_sigma=alignment_sigma, residual_rms=residual,
        method=settings.estimator.method, weighting=settings.estimator.weighting,
        data_share=verdict.share, verdict=words, condition_number=_condition(explained.covariance),
        samples=round(float(window.count[window.used].sum())),
        window=BIN * float(window.used.sum()), min_eigenvalue=min_eigenvalue(phi),
        solve_time=time.perf_counter() - begun, tool_apart=beliefs.tool is not None,
        mass_rate=rate, com_speed=speed), explained, surprise=left)


def _of_sensor(explained: Explained, sign: float) -> tuple[Array, Array, Array, Array]:
    """Bias, alignment, its deviations and residual, (6,) each, of a sensor; joints have none."""
    if not isinstance(explained, Explanation):
        return np.zeros(6), np.zeros(6), np.zeros(6), np.zeros(6)
    fit = explained.best
    return (sign * fit.values["bias"],
            _alignment({**fit.values, "delay": np.r_[explained.setup.delay]}),
            np.abs(_alignment(fit.sigma)), np.sqrt((fit.solution.left**2).sum(0) / fit.rows.n))


def _too_short(window: Window) -> str:
    """Why there is no estimate of a window."""
    seconds = BIN * float(window.used.sum())
    return f"{seconds:.1f} s of usable samples; {BIN * 8 * FEWEST:.1f} s in a row are needed"


def _region(beliefs: Beliefs, settings: Settings) -> Region | None:
    """Box in which the centre of mass must lie: that of the shape, or of the longest reach about
    the sensor. None if a tool or a compensated payload is part of the load."""
    if beliefs.tool is not None or beliefs.compensated is not None:
        return None
    if beliefs.shape is None:
        return Region(np.zeros(3), np.full(3, 2.0 * settings.shape.max_reach))
    low, high = beliefs.shape.surface.min(0), beliefs.shape.surface.max(0)
    return Region(0.5 * (low + high), high - low)


def widened(phi: Array, covariance: Array, mass: float, sd: float) -> Array:
    """Covariance (10, 10) of phi where its mass is hardly known.

    An answer is positive, and the curvature at its mode says little of a mass that is zero as
    likely as twice as large: its deviation is then at least that of the normal distribution which
    the data leave, cut off at zero.

    Args:
        mass, sd: by the data alone [kg].
    """
    if not mass < HARDLY * sd:
        return covariance
    low = -mass / sd
    tail = float(np.exp(-0.5 * low**2 - log_ndtr(-low)) / np.sqrt(2.0 * np.pi))
    variance = sd**2 * max(1.0 + low * tail - tail**2, 0.0)
    missing = max(variance - covariance[0, 0], 0.0) / phi[0] ** 2
    return np.asarray(covariance + missing * np.outer(phi, phi))


def _alignment(values: dict[str, Array]) -> Array:
    """Rotation (3), tilt (2), clock offset: by which stamps of the wrench are early [s]."""
    delay = values.get("delay", np.zeros(1))
    return np.r_[values.get("rotation", np.zeros(3)), values.get("tilt", np.zeros(2)), -delay]


def _condition(covariance: Array) -> float:
    """Condition number of a regressor with columns of unit length, by a covariance (10, 10)."""
    sd = np.sqrt(np.diag(covariance))
    return float(np.sqrt(np.linalg.cond(covariance / np.outer(sd, sd))))
