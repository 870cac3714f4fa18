# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the sensor gets wrong, as its residual shows: noise, walking bias, calibration.

`unexpected_change` tells whether a bias that walks is the right model of what noise leaves over. A
fit that lets the bias walk is the best one if it does, and may be far off if something else is
wrong, which then counts as bias. One with a constant bias is right under both, but for its
variance. If the model holds, the two differ by no more than the difference of their covariances
allows (Hausman, Specification tests in econometrics, 1978).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import PARAMETERS, Array
from ...linalg import inverse, solve
from ...settings import Settings
from ...signals.low_pass import ZeroPhaseFilter
from ..problem import Change, Marginal, eliminate, eliminate_products, whiten
from ..regressor_window import FULL, WindowContent
from ..row_layout import ACCELERATION
from .cable_fit import FitInput
from .calibration import calibration_covariance, calibration_scale, calibration_sd
from .channel_errors import (
    ChannelProducts,
    LinearRows,
    channel_products,
    eliminate_calibration,
    walk_covariance,
)
from .noise import datasheet_noise
from .walking_bias import Levels, data_sheet_levels, estimate_levels, white_noise


class ErrorStrengths(NamedTuple):
    """How strong the errors of the sensor are.

    Attributes:
        levels: of noise and walking bias; calibration: scale of the data sheet's errors.
    """

    levels: Levels
    calibration: float

    @property
    def noise(self) -> Array:
        """White noise (6,) of one sample [N, N m]."""
        return white_noise(self.levels)


class SensorErrors:
    """Weighs the rows of windows by the errors of the sensor, and estimates how strong they are.

    Args:
        low_pass: the filter of the rows.
    """

    def __init__(self, settings: Settings, low_pass: ZeroPhaseFilter) -> None:
        wrench = settings.wrench
        self._low_pass, self._estimate = low_pass, settings.estimator.estimate_noise
        self._sheet = datasheet_noise(wrench)
        self._accuracy = np.array([wrench.force_accuracy, wrench.torque_accuracy])
        self._drift = np.array([wrench.force_drift, wrench.torque_drift]) / 60.0
        self._calibration = calibration_sd(wrench)

    def before_data(self) -> ErrorStrengths:
        """What the data sheet says of white noise, and nothing else."""
        return ErrorStrengths(data_sheet_levels(self._sheet), 0.0)

    def weigh(self, window: WindowContent, matrix: Array, phi: Array,
              strengths: ErrorStrengths) -> WeighedRows:
        """The rows of a window, linearised, without errors that belong to one channel.

        Args:
            matrix: (STORED, n) from stored columns to ``[A | states | y]``.
            phi: (10,) payload, whose wrench the errors of the calibration multiply.
        """
        products = channel_products(window, matrix, strengths.levels)
        covariance = calibration_covariance(self._calibration, phi)
        linear = eliminate_calibration(products, strengths.noise**2,
                                       strengths.calibration**2 * covariance)
        return WeighedRows(strengths, products, covariance, linear)

    def calibration_variance(self, window: WindowContent, matrix: Array, prior: Array,
                             phi: Array) -> Array:
        """Variance (6,) that errors of the calibration, as the data sheet has them, leave of the
        low-passed wrench in a window once parameters and states are fitted to it [N^2, (N m)^2].

        Args:
            matrix: (STORED, n) from stored columns to ``[A | states | y]``.
            prior: (n - 1, n - 1) information about parameters and states before the data.
            phi: (10,) payload, whose wrench the errors multiply.
        """
        stored = window.factors[FULL]
        rows, motion = stored @ matrix[:, :-1], stored[:, :, ACCELERATION]
        channels, height, n = rows.shape
        own, each = np.zeros((channels, height, channels, 3)), np.arange(channels)
        root = np.linalg.cholesky(calibration_covariance(self._calibration, phi))
        own[each, :, each] = motion @ root
        errors, rows = own.reshape(-1, 3 * channels), rows.reshape(-1, n)
        white = whiten(rows, self._sheet)
        fitted = solve(white.T @ white + prior, white.T @ whiten(errors, self._sheet))
        left = (errors - rows @ fitted).reshape(channels, -1)
        return np.asarray((left * left).sum(axis=1) / max(window.samples, 1))

    def cable_input(self, window: WindowContent, gravity: float, matrix: Array, prior: Array,
                    phi: Array, levels: Levels) -> FitInput:
        """What a cable is fitted to, beside the errors of the sensor (see `FitInput`)."""
        return FitInput(window, self._low_pass, gravity, matrix, prior,
                        calibration_covariance(self._calibration, phi), levels, self._sheet,
                        self._walk(window), phi)

    def _walk(self, window: WindowContent) -> Array:
        """Standard deviation (2,) of the walks of forces and torques before the data."""
        return np.hypot(self._accuracy, self._drift * window.duration)

    def update(self, weighed: WeighedRows, window: WindowContent, covariance: Array,
               solution: Array, prior: Array) -> ErrorStrengths:
        """The strengths that the residual of a solution tells.

        Args:
            covariance: (n - 1, n - 1) of the fit; solution: (n,) such that ``rows @ solution`` is
                the residual.
            prior: (n, n) products of whitened rows that are known before the data.
        """
        if not self._estimate:
            return weighed.strengths
        levels = estimate_levels(
            weighed.linear.means(weighed.products, window), covariance, solution, window,
            self._low_pass, weighed.strengths.levels, self._sheet, self._walk(window))
        scale = 0.0
        if self._calibration.any():
            scale = calibration_scale(weighed.products, weighed.strengths.levels, prior,
                                      weighed.calibration)
        return ErrorStrengths(levels, scale)


class WeighedRows(NamedTuple):
    """Linear rows of a window, and what they were made with.

    Attributes:
        strengths: of the errors; products: of the rows with errors of the calibration.
        calibration: (6, 3, 3) covariance of these errors by the data sheet.
        linear: the rows without the errors.
    """

    strengths: ErrorStrengths
    products: ChannelProducts
    calibration: Array
    linear: LinearRows

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing but white noise."""
        return not (self.strengths.calibration
                    or any(level.walk.variance for level in self.strengths.levels))

    @property
    def rows(self) -> Array:
        """The rows (m, n), not whitened."""
        return self.products.linear if self.is_plain else self.linear.rows

    @property
    def eliminated(self) -> Array | None:
        """Multiples (6, 3, 10) of the linear acceleration that errors of the calibration have taken
        from the regressor of each channel; None where none have."""
        return None if self.is_plain else self.linear.probable[..., :PARAMETERS]

    def marginal(self, prior: Array) -> Marginal:
        """The problem in phi alone, with whitened rows of what is known before the data."""
        if not self.is_plain:
            known = self.linear.whitened_products(self.strengths.noise) + prior.T @ prior
            found = eliminate_products(known)
            if found is not None:
                return found
        return eliminate(whiten(self.rows, self.strengths.noise), prior)

    def covariance(self, prior: Array) -> Array:
        """Covariance (n - 1, n - 1) of parameters and states.

        Args:
            prior: (n - 1, n - 1) information about them before the data.
        """
        if self.is_plain:
            columns = whiten(self.rows, self.strengths.noise)[:, :-1]
            return inverse(columns.T @ columns + prior)
        return inverse(self.linear.whitened_products(self.strengths.noise)[:-1, :-1] + prior)


# Groups of parameters: mass, first moments, inertia; and the squares of standard deviations that
# their change exceeds in one of a hundred windows.
_GROUPS = (slice(0, 1), slice(1, 4), slice(4, PARAMETERS))
_ALLOWED = np.array([6.63, 11.34, 16.81])
_TRIFLE = 0.05  # of a variance: a change whose square is smaller is not judged


def unexpected_change(weighed: WeighedRows, window: WindowContent, prior: Array,
                      walking: tuple[Array, Array]) -> Change | None:
    """What is beyond chance of the change of phi if the bias is constant; None: nothing.

    Args:
        weighed: rows of the window with a walking bias; prior: (n, n) products of whitened rows
            that are known before the data.
        walking: the fit of these rows, phi (10,) and its covariance (10, 10).
    """
    if not any(level.walk.variance for level in weighed.strengths.levels):
        return None
    constant = _ConstantBias(weighed, prior)
    change = constant.phi - walking[0]
    if (change**2 < _TRIFLE * walking[1].diagonal()).all():
        return None
    out, covariance = np.zeros(PARAMETERS), constant.covariance(weighed, window)
    expected = covariance - walking[1]
    for group, allowed in zip(_GROUPS, _ALLOWED, strict=True):
        own = change[group]
        seen = float(own @ solve(expected[group, group], own))
        if seen > allowed:
            out[group] = np.sqrt(1.0 - allowed / seen) * own
    return Change(out, covariance) if out.any() else None


class _ConstantBias:
    """The fit with a constant bias, and all else as `unexpected_change` has it.

    Attributes:
        phi: (10,) of it.
    """

    def __init__(self, weighed: WeighedRows, prior: Array) -> None:
        products, strengths = weighed.products, weighed.strengths
        self._variance = strengths.noise**2 * products.within
        self._rows = eliminate_calibration(products.with_constant_bias(), self._variance,
                                           strengths.calibration**2 * weighed.calibration)
        information = self._rows.whitened_products(np.sqrt(self._variance)) + prior
        self._own = inverse(information[:-1, :-1])
        self.phi = self._own[:PARAMETERS] @ information[:-1, -1]

    def covariance(self, weighed: WeighedRows, window: WindowContent) -> Array:
        """Covariance (10, 10) of phi, if the bias walks."""
        sums = self._rows.sums(weighed.products)[:, :-1] / self._variance[:, None, None]
        walks = [walk_covariance(level.walk, window) for level in weighed.strengths.levels]
        hidden = ((sums @ np.repeat(walks, 3, axis=0)) @ sums.transpose(0, 2, 1)).sum(axis=0)
        own = self._own[:PARAMETERS]
        return np.asarray(own[:, :PARAMETERS] + own @ hidden @ own.T)
