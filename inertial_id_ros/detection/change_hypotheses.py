# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Hypotheses about rows that no longer fit: another payload, another zero, all of the set-up, or
no change.

Each hypothesis adds its own columns to the running fit and is judged by the residual that it
leaves. The weight of a payload that was gripped or released follows gravity as the sensor turns;
the offset of a sensor that was zeroed stays the same in its own axes; a push by the environment
does neither for long. Where several of these changed at once, or the gain of the sensor, the
wrench still follows the motion, in another way than before: what was learnt of it then foretells
the rows to come, which it does not in a contact.
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
_GROWTH = 0.05  # share by which a complete change of payload may still seem to grow
_ZERO = 4.0  # standard deviations of the noise within which a reading counts as zero, beside
_MOTION = 0.05  # this share of the load, by which motion may change it in the meantime
_SIGNIFICANT = 5.0  # standard deviations from which a change is significant
_TOLD = 3.0  # standard deviations by which motion tells a payload from a constant force
_GAIN_SD = 1.0  # prior standard deviation of the entries of a change of gain
_AMPLIFIED = 3.0  # times the noise that another gain may make of it at most
_KNOWN = 0.02  # share of the squared residual that may be uncertain where rows are foretold


class HypothesisFit(NamedTuple):
    """Least-squares fit of one hypothesis.

    Attributes:
        misfit: root mean square of the residual, in standard deviations of the noise, of the
            channel that fits worst; squares: sum of the squared residual of all channels.
        states: (k,) states of the running fit, corrected.
        change: (e,) parameters that the hypothesis adds; change_sd: (e,) their standard deviations.
    """

    misfit: float
    squares: float
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


def fit_release(evidence: Evidence, stays: Array) -> HypothesisFit:
    """Fit the hypothesis that all was released but a payload phi (10,) that stays: nothing is left
    to choose, so that weight and moment must both be those of what was carried."""
    released = evidence.mean[:PARAMETERS] - stays
    forecast = evidence.forecast
    left = forecast.residual + forecast.columns[..., :PARAMETERS] @ released
    return fit_no_change(evidence._replace(forecast=forecast._replace(residual=left)))


def is_told_by_motion(payload: HypothesisFit, zero: HypothesisFit) -> bool:
    """Whether the motion tells a change of payload from a force and torque that stay the same in
    the axes of the sensor. At rest both fit, and so does a contact."""
    return zero.squares - payload.squares > _TOLD**2


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
    return HypothesisFit(misfit, float((left**2).sum()), evidence.mean + solution[:k], solution[k:],
                         np.sqrt(np.diag(covariance)[k:]))


def is_plausible_payload_change(found: HypothesisFit) -> bool:
    """Whether a change of payload is significant, near the sensor, and leaves no negative mass:
    something was gripped or released, or the payload has turned in the gripper."""
    mass, first_moment = found.change[0], found.change[1:4]
    after = found.states[:4] + found.change[:4]
    if is_turned(found):
        return bool(np.linalg.norm(after[1:]) < _REACH * after[0])
    return bool(abs(mass) > _SIGNIFICANT * found.change_sd[0]
                and np.linalg.norm(first_moment) < _REACH * abs(mass)
                and after[0] > -_SIGNIFICANT * found.change_sd[0] - 0.02 * abs(mass))


def is_turned(found: HypothesisFit) -> bool:
    """Whether the payload is as heavy as before, but its centre of mass has moved."""
    significant = np.abs(found.change[:4]) > _SIGNIFICANT * found.change_sd[:4]
    return bool(not significant[0] and significant[1:].any())


def is_significant_zero_change(found: HypothesisFit) -> bool:
    """Whether the zero moved significantly: under an uncertain fit, an unchanged one fits too."""
    return bool((np.abs(found.change) > _SIGNIFICANT * found.change_sd).any())


def is_change_growing(evidence: Evidence, found: HypothesisFit) -> bool:
    """Whether the change of mass, or of first moment where only that changed, is larger in the
    second half of the rows than in the first."""
    which = slice(1, 4) if is_turned(found) else slice(0, 1)
    half = len(evidence.number) // 2
    first, second = (fit_payload_change(part).change[which] for part in (
        evidence.part(slice(0, half)), evidence.part(slice(half, None))))
    weight = evidence.forecast.part(slice(0, half))
    # standard deviations of these parameters alone
    noise = (weight.columns[..., which]**2 / weight.noise[..., None]).sum(axis=(0, 1))**-0.5
    return bool(np.linalg.norm(second - first)
                > _GROWTH * np.linalg.norm(second) + np.linalg.norm(noise))


def reads_nothing_after(evidence: Evidence, jump: Array, expected: Array) -> bool:
    """Whether a jump (c,) of the zero [N, N m] took away what the sensor read just before.

    A driver that zeroes its sensor does that, with a reading or the mean of some.

    Args:
        expected: readings (n, c) before the disturbance.
    """
    forecast = evidence.forecast
    first = evidence.measured[0] - forecast.residual[0]
    readings = np.vstack([expected, first])
    near = _ZERO * np.sqrt(forecast.noise[0]) + _MOTION * np.abs(first)
    return bool(((readings.min(axis=0) - near < -jump) & (-jump < readings.max(axis=0) + near)
                 ).all())


def load_rotation(evidence: Evidence) -> float:
    """Largest angle [rad] between the directions of the load in the first row and in any other."""
    directions = _load_directions(evidence)
    return _largest_angle(directions, directions[0])


def _load_directions(evidence: Evidence) -> Array:
    """Directions (n, c') of the load, of length 1."""
    weight = evidence.forecast.columns[:, evidence.model.weight_channels, 0]
    return np.asarray(weight / np.linalg.norm(weight, axis=1, keepdims=True))


def _largest_angle(directions: Array, first: Array) -> float:
    """Largest angle [rad] of directions (n, c') from one (c',)."""
    return float(np.arccos(np.clip(directions @ first, -1.0, 1.0)).max())


class AnotherSetup:
    """Another payload, zero and gain at once, learnt from successive rows of a disturbance, each of
    which it must foretell from those before.

    The gain maps the reading that was expected to another one, within each group of channels: what
    a sensor does that was turned, whose amplifier was set anew, or that ceased to read.

    Args:
        evidence: of the disturbance, whose running fit it corrects.

    Attributes:
        last: bin number of the last row that it has learnt; foretold: number of bins whose rows it
            has foretold; turned: angle [rad] by which the load turned in them.
    """

    def __init__(self, evidence: Evidence) -> None:
        model = evidence.model
        gains = sum((g.stop - g.start) ** 2 for g in model.groups)
        sd = np.concatenate([_PAYLOAD_SD, model.zero_sd, np.full(gains, _GAIN_SD)])
        k = len(evidence.mean)
        self._information = np.diag(np.concatenate([np.zeros(k), sd**-2.0]))
        self._information[:k, :k] = evidence.information
        self._vector = np.zeros(len(self._information))
        self._first: Array | None = None  # direction (c',) of the load when it began to foretell
        self.last, self.foretold, self.turned = -1, 0, 0.0

    def learn(self, evidence: Evidence, limit: float) -> bool:
        """Learn from new rows; False, and nothing is learnt, where it foretells them to more than
        this many standard deviations."""
        forecast = evidence.forecast
        weight = 1.0 / np.sqrt(forecast.noise)[..., None]
        columns = weight * np.concatenate([forecast.columns, _setup_columns(evidence)], axis=2)
        target = weight[..., 0] * forecast.residual
        covariance = np.linalg.inv(self._information)
        found = covariance @ self._vector
        spread = np.einsum("nci,ij,ncj->nc", columns, covariance, columns, optimize=True)
        gains = _gain_matrix(found, evidence.model.groups)
        noise = np.clip(forecast.noise @ (gains**2).T / forecast.noise, 1.0, _AMPLIFIED**2)
        left = (target - columns @ found) ** 2 / (noise + spread)
        if np.sqrt(left.mean(axis=0).max()) > limit:
            return False
        if spread.mean() < _KNOWN * (target**2).mean():
            self._note_foretold(evidence)
        flat = columns.reshape(-1, columns.shape[2])
        self._information += flat.T @ flat
        self._vector += flat.T @ target.ravel()
        self.last = int(evidence.number[-1])
        return True

    def _note_foretold(self, evidence: Evidence) -> None:
        """Note that rows came as foretold, and how far the load has turned in them."""
        directions = _load_directions(evidence)
        if self._first is None:
            self._first = directions[0]
        self.turned = max(self.turned, _largest_angle(directions, self._first))
        self.foretold += int(evidence.number[-1]) - max(self.last, int(evidence.number[0]))


def _setup_columns(evidence: Evidence) -> Array:
    """Columns (n, c, e) of payload, zeros and gain of each group."""
    forecast, groups = evidence.forecast, evidence.model.groups
    expected = evidence.measured - forecast.residual
    columns = [forecast.columns[..., :PARAMETERS], evidence.zeros]
    for group in groups:
        size = group.stop - group.start
        of_group = np.zeros((*expected.shape, size * size))
        for k, channel in enumerate(range(group.start, group.stop)):
            of_group[:, channel, k * size:(k + 1) * size] = expected[:, group]
        columns.append(of_group)
    return np.concatenate(columns, axis=2)


def _gain_matrix(found: Array, groups: tuple[slice, ...]) -> Array:
    """Matrix (c, c) from the reading that was expected to that of another set-up, whose gains are
    the last of its parameters."""
    channels = max(group.stop for group in groups)
    matrix, at = np.eye(channels), len(found) - sum((g.stop - g.start) ** 2 for g in groups)
    for group in groups:
        size = group.stop - group.start
        matrix[group, group] += found[at:at + size * size].reshape(size, size)
        at += size * size
    return matrix
