# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate of a window: a pure function of a history, of what is believed, and of settings."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from scipy.special import log_ndtr

from ..detect.contradictions import contradictions
from ..estimate import IDENTIFIED, UNOBSERVED, Estimate, NoEstimate
from ..explain.explain import Explanation, explain
from ..explain.fit import Region
from ..inertia import is_consistent, min_eigenvalue
from ..kinds import why
from ..model.history import Window
from ..model.rows import stretches
from ..motion.motion import BIN, BIN_NS, Array
from ..settings import Settings
from .beliefs import Beliefs
from .conclusion import Basis, Conclusion, surprise
from .solving import solve
from .verdict import judge, vague

FEWEST = 12  # rows
HARDLY = 2.0  # deviations of a mass from zero


def estimate(window: Window, end: int, basis: Basis, known: Explanation | None = None
             ) -> Conclusion:
    """Estimate the payload from a window before a bin.

    A pure function: equal arguments give an equal answer.

    Args:
        known: see `explain`.
    """
    begun = time.perf_counter()
    settings, beliefs, stamp = basis.settings, basis.beliefs, end * BIN_NS
    if sum(stretch.n for stretch in stretches(window.used)) < FEWEST:
        return Conclusion(NoEstimate(stamp, basis.frame, too_short(window)))
    sheet = beliefs.sheet(settings, stamp)
    explained = explain(window, sheet, _region(beliefs, settings), known)
    refused = tuple(contradictions(explained, sheet, settings.load.reference_mass))
    if refused:
        reason = NoEstimate(stamp, basis.frame, why(*refused[0]), is_finding=True)
        return Conclusion(reason, explained, refused)
    phi, covariance = solve(explained, basis)
    left = surprise(explained, sheet)
    if phi is None or not is_consistent(phi):
        reason = NoEstimate(stamp, basis.frame, "no body fits the data yet: move more")
        return Conclusion(reason, explained, surprise=left)
    if beliefs.tool is None and beliefs.compensated is None:
        covariance = widened(phi, covariance, float(explained.wide_phi[0]),
                             float(np.sqrt(explained.wide_covariance[0, 0])))
    seconds = time.perf_counter() - begun
    made = _made(phi, covariance, explained, basis, stamp, seconds)
    said = Conclusion(made, explained, surprise=left)
    rate, speed = said.walk
    return said._replace(outcome=replace(made, mass_rate=rate, com_speed=speed))


def _made(phi: Array, covariance: Array, explained: Explanation, basis: Basis, stamp: int,
          seconds: float) -> Estimate:
    verdict, fit, settings = judge(phi, covariance, vague(phi[0])), explained.best, basis.settings
    used, count = fit.rows.window.used, fit.rows.window.count
    words, tool = verdict.verdict, basis.beliefs.tool
    if tool is not None and phi[0] < 2.0 * np.sqrt(covariance[0, 0]):  # `nothing_beside` the tool
        words = (IDENTIFIED, *9 * (UNOBSERVED,))
    return Estimate(
        stamp_ns=stamp, frame_id=basis.frame, phi=phi, phi_covariance=covariance,
        bias=settings.wrench.sign * fit.values["bias"], method=settings.estimator.method,
        weighting=settings.estimator.weighting, data_share=verdict.share, verdict=words,
        alignment=_alignment({**fit.values, "delay": np.r_[explained.setup.delay]}),
        alignment_sigma=np.abs(_alignment(fit.sigma)),
        residual_rms=_residual(explained), samples=round(float(count[used].sum())),
        window=BIN * float(used.sum()), condition_number=condition(explained.covariance),
        min_eigenvalue=min_eigenvalue(phi), solve_time=seconds,
        tool_apart=tool is not None)


def too_short(window: Window) -> str:
    """Why there is no estimate of a window."""
    seconds = BIN * float(window.used.sum())
    return f"{seconds:.1f} s of usable samples; {BIN * 8 * FEWEST:.1f} s in a row are needed"


def _region(beliefs: Beliefs, settings: Settings) -> Region | None:
    """Where the centre of mass of all that is measured lies; None: not known."""
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


def _residual(explained: Explanation) -> Array:
    """Root mean square (6,) of what the best fit leaves of the rows [N, N m]."""
    solution = explained.best.solution
    left = solution.residual.reshape(solution.variance.shape) ** 2 * solution.variance
    return np.asarray(np.sqrt(left.sum(0) / explained.best.rows.n))


def condition(covariance: Array) -> float:
    """Condition number of a regressor with columns of unit length, by a covariance (10, 10)."""
    sd = np.sqrt(np.diag(covariance))
    return float(np.sqrt(np.linalg.cond(covariance / np.outer(sd, sd))))
