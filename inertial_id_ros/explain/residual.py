# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a fit leaves: how large it is, and what it may hide."""

from typing import NamedTuple

import numpy as np

from ..model import noise
from ..model.newton_euler import GRAVITY, static_wrench
from ..model.setup import Sheet
from ..motion.motion import Array
from .fit import Fit
from .terms import Place, Term

USUAL = 2.0  # times the data sheet; what is more is unknown
HARDLY = 2.0  # deviations from zero
LARGE, SHARE = 4.0, 0.1  # times the data sheet, and share of the load
UNTOLD = 0.075  # m: accelerations that no transform tells go with the weight as if so far out
CLEAR = 0.002  # noise of the accelerations, as share of the power of what they make
INEXACT = 0.04  # share of what a law makes that it leaves out: cables sag, bend and rub


class Unknown(NamedTuple):
    """Deviations of force and torque (2,) that no term explains, [N] and [N m], over those of the
    data sheet, and over what the load makes."""

    size: Array
    times: Array
    share: Array


def looks_like(share: Array, phi: Array) -> Array:
    """Covariance (10, 10) of phi, as if shares of force and torque (2,) looked like as much of any
    of its parts."""
    force, torque = share
    sizes = np.r_[np.repeat(np.linalg.norm(phi[1:4]), 3),
                  np.repeat(np.abs(phi[[4, 7, 9]]).mean(), 6)]
    return np.diag(np.square(np.r_[force * phi[0], torque * sizes]))


def lengths(modes: Array, groups: int = 2) -> Array:
    """Norms (2,) of the forces and of the torques of modes (k, 6), or of other groups."""
    return np.sqrt(np.square(modes).reshape(len(modes), groups, -1).sum((0, 2)))


def is_felt(fit: Fit, term: Term, sheet: Sheet) -> bool:
    """True if a term ever changes forces or torques by more than the noise of a sample."""
    if term.place is Place.FILTER:  # through which the rows have passed already
        return True
    wrench = term.effect(fit.rows, fit.phi, fit.values[term.name], fit.rows.A @ fit.phi).wrench
    most = np.linalg.norm(fit.rows.back(wrench).reshape(fit.rows.n, len(sheet.noise), -1),
                          axis=2).max(0)
    return bool((most > sheet.noise).any())


def unknown(fit: Fit, sheet: Sheet) -> Unknown:
    """What the terms of a fit leave, as slow noise that its data sheet does not expect; and, where
    transforms turn the sensor and never move it, what its accelerations do."""
    if sheet.is_ideal or fit.rows.of_joints:  # what a robot may do is a term
        return Unknown(*np.zeros((3, 2)))
    least = np.square(sheet.accuracy) + np.square(sheet.drift) / 4.0
    walks = np.exp(fit.solution.log_noise[:, 2:]).sum(1)
    size = np.sqrt(np.maximum(walks - USUAL**2 * least, 0.0))
    load, motion = np.square(lengths(fit.rows.A @ fit.phi)) / fit.rows.n, fit.rows.window.motion
    share = size / np.sqrt(load + least)
    if not np.ptp(fit.rows.place, axis=0).any():
        turns = np.linalg.norm(motion.alpha, axis=1) + np.square(motion.omega).sum(1)
        share = np.maximum(share, UNTOLD / -GRAVITY[2] * np.sqrt(np.mean(turns**2)))
    return Unknown(size, np.sqrt(walks / least), share)


def surprise(fit: Fit, sheet: Sheet) -> float:
    """Root mean square of the residual over that of the data sheet: forces, torques or a joint."""
    solution = fit.solution
    mean, *_ = noise.strengths_before(sheet, fit.rows)
    usual = noise.variances(solution.spectrum, mean, solution.variance.shape[1])
    groups = len(sheet.noise)
    return float((lengths(solution.left, groups) / lengths(np.sqrt(usual), groups)).max())


def is_believable(fit: Fit) -> bool:
    """True if the values of all terms can be true, and those that take a share of the inertia away
    do so by accelerations whose noise is small against what they make of the wrench.

    Else the noisy columns seem to weigh less than they do (errors in variables).
    """
    if not all(term.is_believable(fit.values[term.name]) for term in fit.terms):
        return False
    if not any(term.takes_inertia for term in fit.terms):
        return True
    s, rows = fit.solution, fit.rows
    made = rows.A @ fit.phi - static_wrench(fit.phi, -rows.level @ GRAVITY)
    noisy = np.repeat(s.spectrum[:, 1:2] * np.exp(s.log_noise[:, 1]), 3, 1)
    return bool((noisy * s.weight**2).sum() < CLEAR * np.square(made * s.weight).sum())
