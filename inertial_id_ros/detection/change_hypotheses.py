# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Hypotheses about rows that no longer fit: another payload, another zero, or no change.

Each hypothesis adds its own columns to the running fit and is judged by the residual that it
leaves. The weight of a payload that was gripped or released follows gravity as the sensor turns;
the offset of a sensor that was zeroed stays the same in its own axes; a push by the environment
does neither for long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import PARAMETERS, Array
from .load_model import LoadModel
from .running_fit import Forecast

# Prior standard deviations of a change of payload (kg, kg m, kg m^2): anything is possible.
_PAYLOAD_SD = np.r_[100.0, np.full(3, 30.0), np.full(6, 0.05)]
_REACH = 1.0  # m; largest distance of what is gripped or released from the sensor
_GROWTH = 0.05  # share by which a complete change of mass may still seem to grow
_ZERO = 4.0  # standard deviations of the noise within which a reading counts as zero, beside
_MOTION = 0.05  # this share of the load, by which motion may change it in the meantime
_SIGNIFICANT = 5.0  # standard deviations from which a change is significant


class HypothesisFit(NamedTuple):
    """Least-squares fit of one hypothesis.

    Attributes:
        misfit: root mean square of the residual, in standard deviations of the noise, of the
            channel that fits worst.
        states: (k,) states of the running fit, corrected.
        change: (e,) parameters that the hypothesis adds; change_sd: (e,) their standard deviations.
    """

    misfit: float
    states: Array
    change: Array
    change_sd: Array


class Evidence(NamedTuple):
    """Rows since a disturbance began, and the running fit before it.

    Attributes:
        number: (n,) bin numbers of the rows; forecast: of the same rows.
        measured: (n, c) [N, N m]; zeros: (n, c, c) columns of the channels' zeros.
        mean: (k,) states of the fit; information: (k, k) about them; model: of the load.
    """

    number: np.ndarray
    forecast: Forecast
    measured: Array
    zeros: Array
    mean: Array
    information: Array
    model: LoadModel

    def since(self, first: int) -> Evidence:
        """The rows from bin number `first` on."""
        return self.part(slice(int(np.searchsorted(self.number, first)), None))

    def part(self, rows: slice) -> Evidence:
        """Some of the rows."""
        return self._replace(number=self.number[rows], forecast=self.forecast.part(rows),
                             measured=self.measured[rows], zeros=self.zeros[rows])

    def extended(self, new: Evidence) -> Evidence:
        """These rows followed by new ones, with the fit of the new ones."""
        return new._replace(
            number=np.concatenate([self.number, new.number]),
            forecast=Forecast(*(np.concatenate(pair) for pair in
                                zip(self.forecast, new.forecast, strict=True))),
            measured=np.concatenate([self.measured, new.measured]),
            zeros=np.concatenate([self.zeros, new.zeros]))


def fit_no_change(evidence: Evidence) -> HypothesisFit:
    """Fit the hypothesis that payload and zero are the same as before."""
    return _fit(evidence, np.empty((*evidence.forecast.noise.shape, 0)), np.empty(0))


def fit_payload_change(evidence: Evidence) -> HypothesisFit:
    """Fit the hypothesis that mass, first moment and inertia (10,) were added or removed."""
    return _fit(evidence, evidence.forecast.columns[..., :PARAMETERS], _PAYLOAD_SD)


def fit_zero_change(evidence: Evidence) -> HypothesisFit:
    """Fit the hypothesis that the zero (c,) of the measurement moved [N, N m]."""
    return _fit(evidence, evidence.zeros, evidence.model.zero_sd)


def _fit(evidence: Evidence, extra: Array, sd: Array) -> HypothesisFit:
    """Least squares in the states, whose prior is the running fit, and in extra parameters.

    Args:
        extra: (n, c, e) columns of the extra parameters; sd: (e,) their prior standard deviations.
    """
    forecast = evidence.forecast
    weight = 1.0 / np.sqrt(forecast.noise)[..., None]
    columns = (np.concatenate([forecast.columns, extra], axis=2) * weight).reshape(
        -1, forecast.columns.shape[2] + extra.shape[2])
    target = (forecast.residual[..., None] * weight).ravel()
    k = len(evidence.mean)
    information = columns.T @ columns
    information[:k, :k] += evidence.information
    information[k:, k:] += np.diag(sd**-2.0)
    covariance = np.linalg.inv(information)
    solution = covariance @ (columns.T @ target)
    left = (target - columns @ solution).reshape(forecast.noise.shape)
    misfit = float(np.sqrt((left**2).mean(axis=0).max()))
    return HypothesisFit(misfit, evidence.mean + solution[:k], solution[k:],
                         np.sqrt(np.diag(covariance)[k:]))


def is_plausible_payload_change(found: HypothesisFit) -> bool:
    """Whether a change of payload is significant, near the sensor, and leaves no negative mass."""
    mass, first_moment = found.change[0], found.change[1:4]
    after = found.states[0] + mass
    return bool(abs(mass) > _SIGNIFICANT * found.change_sd[0]
                and np.linalg.norm(first_moment) < _REACH * abs(mass)
                and after > -_SIGNIFICANT * found.change_sd[0] - 0.02 * abs(mass))


def is_significant_zero_change(found: HypothesisFit) -> bool:
    """Whether the zero moved significantly: under an uncertain fit, an unchanged one fits too."""
    return bool((np.abs(found.change) > _SIGNIFICANT * found.change_sd).any())


def is_mass_change_growing(evidence: Evidence) -> bool:
    """Whether the change of mass is larger in the second half of the rows than in the first."""
    half = len(evidence.number) // 2
    first, second = (fit_payload_change(part).change[0] for part in (
        evidence.part(slice(0, half)), evidence.part(slice(half, None))))
    weight = evidence.forecast.part(slice(0, half))
    noise = float((weight.columns[..., 0] ** 2 / weight.noise).sum()) ** -0.5  # sd of a mass alone
    return bool(abs(second - first) > _GROWTH * abs(second) + noise)


def reads_nothing_after(evidence: Evidence, jump: Array) -> bool:
    """Whether a jump (c,) of the zero [N, N m] made the sensor read nothing in the first row.

    A driver that zeroes its sensor does that, and the first row shows it however the arm moves.
    """
    forecast = evidence.forecast
    expected = evidence.measured[0] - forecast.residual[0]
    return bool((np.abs(expected + jump) < _ZERO * np.sqrt(forecast.noise[0])
                 + _MOTION * np.abs(expected)).all())


def load_rotation(evidence: Evidence) -> float:
    """Largest angle [rad] between the directions of the load in the first row and in any other."""
    weight = evidence.forecast.columns[:, evidence.model.weight_channels, 0]
    unit = weight / np.linalg.norm(weight, axis=1, keepdims=True)
    return float(np.arccos(np.clip(unit @ unit[0], -1.0, 1.0)).max())
