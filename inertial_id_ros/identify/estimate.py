# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate of a window: a pure function of a history, of what is believed, and of settings."""

import time
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from ..estimate import IDENTIFIED, UNOBSERVED, Estimate, NoEstimate, Outcome, judge
from ..explain.contradictions import Reason, contradictions
from ..explain.explain import Explanation, explain
from ..explain.residual import HARDLY, LARGE
from ..explain.torques import Robot, torque_sheet
from ..inertia import is_consistent, min_eigenvalue
from ..kinds import MILD, made
from ..model.history import Window
from ..model.rows import FEWEST, STEP, is_enough
from ..motion.motion import BIN, BIN_NS, Array
from .beliefs import Basis
from .solving import solve

SILENCING = ("cable", "base_moves", "constant_force", "not_rigid")  # causes beside the payload


class Conclusion(NamedTuple):
    """What an estimate says to those who judge the next samples by it, and to the user.

    Attributes:
        outcome: for whoever asks; explained: the wrench of the window, None where that is too
        short; findings: kinds and numbers.
        doubt: kind of the finding by which no load may be removed from the wrench; empty: none.
    """

    outcome: Outcome
    explained: Explanation | None = None
    findings: tuple[Reason, ...] = ()
    doubt: str = ""


def walk_of(explained: Explanation | None) -> tuple[float, float]:
    """Change of the mass [kg/s], speed of the centre [m/s]; 0 where the payload is steady."""
    numbers = dict(explained.named if explained else ()).get("payload_walks", {})
    return float(numbers.get("mass_rate", 0.0)), float(numbers.get("speed", 0.0))


def estimate(window: Window, end: int, basis: Basis, known: Explanation | None = None,
             robot: Robot | None = None) -> Conclusion:
    """Estimate the payload from a window before a bin.

    Args:
        known, robot: see `explain`.
    """
    begun, stamp = time.perf_counter(), end * BIN_NS
    if not is_enough(window.used):
        seconds = BIN * float(window.used.sum())
        return Conclusion(NoEstimate(stamp, basis.frame, f"{seconds:.1f} s of usable samples; "
                                     f"{BIN * STEP * FEWEST:.1f} s in a row are needed"))
    sheet = torque_sheet(robot[0]) if robot else basis.beliefs.sheet(basis.settings, stamp)
    explained = explain(window, sheet, basis.beliefs.region(basis.settings), known, robot)
    reasons = tuple(contradictions(explained, sheet, basis.settings.load.reference_mass))
    refused = tuple(reason for reason in reasons if reason[0] not in MILD)
    outcome, by_shape = _outcome(explained, refused, window, stamp, basis, begun)
    doubt = "load_unexplained" if refused or explained.unknown.times.max() > LARGE else ""
    doubt = next((kind for kind, _ in explained.named if kind in SILENCING), doubt)
    return Conclusion(outcome, explained, (*explained.named, *reasons, *by_shape), doubt)


def _outcome(explained: Explanation, refused: tuple[Reason, ...], window: Window, stamp: int,
             basis: Basis, begun: float) -> tuple[Outcome, tuple[Reason, ...]]:
    """The estimate that follows from an explanation, and why its shape cannot be true; begun: time
    at which it was [s]."""
    if refused:
        return NoEstimate(stamp, basis.frame, made(*refused[0]).text, is_finding=True), ()
    settings, tool = basis.settings, basis.beliefs.tool
    if tool is not None and tool.frame_id != basis.frame:
        return NoEstimate(stamp, basis.frame, f"the tool is given in frame '{tool.frame_id}', the "
                          f"load in '{basis.frame}': clear the tool and store it again"), ()
    phi, covariance, by_shape = solve(explained, basis)
    if phi is None or not is_consistent(phi):
        return NoEstimate(stamp, basis.frame, "no body fits the data yet: move more",
                          needs_motion=True), ()
    if tool is None and not basis.beliefs.compensated.any():
        covariance = widened(phi, covariance, float(explained.wide_phi[0]),
                             float(np.sqrt(explained.wide_covariance[0, 0])))
    by_tool = 0.0 if tool is None else tool.covariance
    share, verdict = judge(phi, covariance, explained.wide_covariance + by_tool)
    if tool is not None and phi[0] < HARDLY * np.sqrt(covariance[0, 0]):
        verdict = (IDENTIFIED, *9 * (UNOBSERVED,))  # nothing is carried beside the tool
    none: Array = np.zeros(6)  # of joints
    bias = alignment = alignment_sigma = residual = none
    fit = explained.best
    if not fit.rows.of_joints:
        bias = settings.wrench.sign * fit.values["bias"]
        alignment = _alignment({**fit.values, "delay": np.r_[explained.setup.delay]})
        alignment_sigma = np.abs(_alignment(fit.sigma))
        residual = np.sqrt((fit.solution.left**2).sum(0) / fit.rows.n)
    rate, speed = walk_of(explained)
    sd = np.sqrt(np.diag(explained.covariance))
    condition = np.linalg.cond(explained.covariance / np.outer(sd, sd))
    return Estimate(
        stamp_ns=stamp, frame_id=basis.frame, phi=phi, phi_covariance=covariance, bias=bias,
        alignment=alignment, alignment_sigma=alignment_sigma, residual_rms=residual,
        method=settings.estimator.method, weighting=settings.estimator.weighting,
        data_share=share, verdict=verdict, condition_number=float(np.sqrt(condition)),
        samples=round(float(window.count[window.used].sum())),
        window=BIN * float(window.used.sum()), min_eigenvalue=min_eigenvalue(phi),
        solve_time=time.perf_counter() - begun, tool_apart=tool is not None, mass_rate=rate,
        com_speed=speed), by_shape


def _alignment(values: dict[str, Array]) -> Array:
    """Rotation (3), tilt (2), clock offset: by which stamps of the wrench are early [s]."""
    delay = values.get("delay", np.zeros(1))
    return np.r_[values.get("rotation", np.zeros(3)), values.get("tilt", np.zeros(2)), -delay]


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
