# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a fit leaves: how large it is, whether the newest second fits, and what it may hide."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..model import noise
from ..model.newton_euler import GRAVITY, static_wrench
from ..model.setup import Sheet
from ..motion.motion import Array
from .fit import Fit

USUAL = 2.0  # times the data sheet; what is more is unknown
LARGE, SHARE = 5.0, 0.1  # times the data sheet, and share of the load
UNTOLD = 0.075  # m: accelerations that no transform tells go with the weight as if so far out
SECOND, FEWEST, ENOUGH = 1.0, 6, 3  # s, of a slice; rows in one; slices to compare with
SLOW = 0.15  # share of the noise that is slow, on average over the modes
CLEAR = 0.002  # noise of the accelerations, as share of the power of what they make


class Unknown(NamedTuple):
    """Deviations of force and torque (2,) that no term explains, [N] and [N m], over those of the
    data sheet, and over what the load makes."""

    size: Array
    times: Array
    share: Array

    @property
    def is_large(self) -> bool:
        """True if it is worth a finding."""
        return bool(np.any((self.times > LARGE) & (self.share > SHARE)))

    def covariance(self, phi: Array) -> Array:
        """Of phi (10, 10): intervals widen as if it looked like that share of any of its parts."""
        force, torque = self.share
        sizes = np.r_[np.repeat(np.linalg.norm(phi[1:4]), 3),
                      np.repeat(np.abs(phi[[4, 7, 9]]).mean(), 6)]
        return np.diag(np.square(np.r_[force * phi[0], torque * sizes]))


def unknown(fit: Fit, sheet: Sheet) -> Unknown:
    """What the terms of a fit leave, as slow noise that its data sheet does not expect; and, where
    transforms turn the sensor and never move it, what its accelerations do."""
    if sheet.is_ideal:
        return Unknown(*np.zeros((3, 2)))
    least = np.square(sheet.accuracy) + np.square(sheet.drift) / 4.0
    walks = np.exp(fit.solution.log_noise[:, 2:]).sum(1)
    size = np.sqrt(np.maximum(walks - USUAL**2 * least, 0.0))
    load = np.square(fit.rows.A @ fit.phi).reshape(-1, 2, 3).sum((0, 2)) / fit.rows.n
    share, motion = size / np.sqrt(load + least), fit.rows.window.motion
    if not np.ptp(fit.rows.place, axis=0).any():
        turns = np.linalg.norm(motion.alpha, axis=1) + np.square(motion.omega).sum(1)
        share = np.maximum(share, UNTOLD / -GRAVITY[2] * np.sqrt(np.mean(turns**2)))
    return Unknown(size, np.sqrt(walks / least), share)


def surprise(fit: Fit, sheet: Sheet) -> float:
    """Root mean square of the residual over that of the data sheet: forces or torques."""
    solution, time = fit.solution, fit.rows.time
    mean, _ = noise.strengths_before(sheet, time[-1] - time[0])
    usual = (solution.spectrum @ np.exp(mean).T).sum(0)
    power = np.square(solution.left).reshape(-1, 2, 3).sum((0, 2))
    return float(np.sqrt((power / (3.0 * usual)).max()))


def newest_misfit(fit: Fit) -> float:
    """Mean residual of the newest second over the root mean square of those of the seconds before:
    of forces or of torques, whichever is more; 0 where there are too few to compare with. A payload
    that begins to pour shows there first."""
    rows = fit.rows
    number = ((rows.time[-1] - rows.time) / SECOND).astype(int)
    count = np.bincount(number)
    mean = np.stack([np.bincount(number, column) for column in rows.back(fit.solution.left).T], 1)
    power = np.square(mean / np.maximum(count, 1)[:, None]).reshape(len(count), -1, 3).sum(2)
    power = power[count >= FEWEST]
    if len(power) <= ENOUGH or count[0] < FEWEST:
        return 0.0
    return float(np.sqrt((power[0] / np.maximum(power[1:].mean(0), 1e-12)).max()))


def is_believable(fit: Fit) -> bool:
    """True if the values of all terms can be true, and those that take a share of the inertia away
    do so by accelerations whose noise is small against what they make of the wrench.

    Else the noisy columns seem to weigh less than they do (errors in variables).
    """
    s, rows = fit.solution, fit.rows
    if not all(term.is_believable(fit.values[term.name]) for term in fit.terms):
        return False
    made = rows.A @ fit.phi - static_wrench(fit.phi, -rows.level @ GRAVITY)
    noisy = np.repeat(s.spectrum[:, 1:2] * np.exp(s.log_noise[:, 1]), 3, 1)
    is_clear = (noisy * s.weight**2).sum() < CLEAR * np.square(made * s.weight).sum()
    return bool(is_clear) or not any(term.takes_inertia for term in fit.terms)


def is_explained(fit: Fit) -> bool:
    """True if slow noise is small against that of sensor and motion: nothing slow is hidden."""
    parts = fit.solution.spectrum * np.exp(fit.solution.log_noise)[:, None]  # (2, k, c)
    share = parts[..., 2:].sum(2) / parts.sum(2)
    return bool(share.mean(1).max() < SLOW)
