"""What a load that no longer fits may mean: another payload, another zero of what measures it, or
the same as before.

Each explanation adds its own columns to the running fit and is judged by what it leaves of the
residual. A payload that came or went pulls along gravity and turns with it; a sensor that was
zeroed reads the same offset in its own axes however it turns; a push by the environment does
neither for long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import PARAMETERS, Array
from .load_model import LoadModel
from .running_fit import Forecast

# Standard deviations of a change of payload before it is seen (kg, kg m, kg m^2): anything.
_PAYLOAD_SD = np.r_[100.0, np.full(3, 30.0), np.full(6, 0.05)]
_REACH = 1.0  # m; what is gripped or released lies within this distance of the sensor
_GROWTH = 0.05  # share by which a change of mass that is complete may still grow
_ZERO = 4.0  # standard deviations of the noise within which a reading is zero,
_MOTION = 0.05  # and share of the wrench by which motion may change it in the meantime
_CLEAR = 5.0  # standard deviations from which a change of mass, or of the zero, is one


class Explanation(NamedTuple):
    """What one explanation leaves, and what it says.

    Attributes:
        misfit: root mean square of the residual it leaves, in standard deviations of the noise, of
            the channel that fits worst.
        states: (k,) states of the running fit, corrected; change: (e,) added by the explanation;
            change_sd: (e,) their standard deviations.
    """

    misfit: float
    states: Array
    change: Array
    change_sd: Array


class Evidence(NamedTuple):
    """Rows since the trouble began, beside the running fit before it.

    Attributes:
        number: (n,) bin numbers of the rows; forecast: of the same rows.
        measured: (n, c) [N, N m]; zeros: (n, c, c) columns of the channels' zeros.
        mean: (k,) states of the fit and information: (k, k) about them; model: of the load.
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


def unchanged(evidence: Evidence) -> Explanation:
    """The payload and the zero are the same as before."""
    return _explain(evidence, np.empty((*evidence.forecast.noise.shape, 0)), np.empty(0))


def another_payload(evidence: Evidence) -> Explanation:
    """Mass, first moment and inertia (10,) were added or taken away."""
    return _explain(evidence, evidence.forecast.columns[..., :PARAMETERS], _PAYLOAD_SD)


def another_zero(evidence: Evidence) -> Explanation:
    """The zero (c,) of what measures the load moved [N, N m]."""
    return _explain(evidence, evidence.zeros, evidence.model.zero_sd)


def _explain(evidence: Evidence, extra: Array, sd: Array) -> Explanation:
    """Least squares in the states, with the fit before as their prior, and the extra columns."""
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
    return Explanation(misfit, evidence.mean + solution[:k], solution[k:],
                       np.sqrt(np.diag(covariance)[k:]))


def is_possible_payload(found: Explanation) -> bool:
    """Whether a change of payload is clear, leaves a mass that is not negative, and is near."""
    mass, first_moment = found.change[0], found.change[1:4]
    after = found.states[0] + mass
    return bool(abs(mass) > _CLEAR * found.change_sd[0]
                and np.linalg.norm(first_moment) < _REACH * abs(mass)
                and after > -_CLEAR * found.change_sd[0] - 0.02 * abs(mass))


def is_clear_zero(found: Explanation) -> bool:
    """Whether the zero moved at all: where little was known before, the same zero fits as well."""
    return bool((np.abs(found.change) > _CLEAR * found.change_sd).any())


def is_growing(evidence: Evidence) -> bool:
    """Whether the change of mass is larger in the second half of the rows than in the first."""
    half = len(evidence.number) // 2
    first, second = (another_payload(part).change[0] for part in (
        evidence.part(slice(0, half)), evidence.part(slice(half, None))))
    weight = evidence.forecast.part(slice(0, half))
    noise = float((weight.columns[..., 0] ** 2 / weight.noise).sum()) ** -0.5  # of a mass alone
    return bool(abs(second - first) > _GROWTH * abs(second) + noise)


def reads_zero(evidence: Evidence, jump: Array) -> bool:
    """Whether a jump (c,) of the zero made the sensor read nothing where it read something.

    That is what a driver does that zeroes the sensor; the first row tells, however the arm moves.
    """
    forecast = evidence.forecast
    expected = evidence.measured[0] - forecast.residual[0]
    return bool((np.abs(expected + jump) < _ZERO * np.sqrt(forecast.noise[0])
                 + _MOTION * np.abs(expected)).all())


def turned(evidence: Evidence) -> float:
    """Largest angle [rad] between the loads' directions in sensor axes, first row against all."""
    push = evidence.forecast.columns[:, evidence.model.push, 0]
    unit = push / np.linalg.norm(push, axis=1, keepdims=True)
    return float(np.arccos(np.clip(unit @ unit[0], -1.0, 1.0)).max())
