# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the residual of a window looks like: the hysteresis of a sensor.

It does not average out, and the model of the sensor's errors does not hold it. It leaves a residual
of its own shape: it follows the load with play, channel by channel and with the same sign in all.
Where that explains nearly all of the residual it is named, and the payload gets the uncertainty
that goes with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..findings import FindingLog
from ..inertia import PARAMETERS, Array

_SHORTEST = 16  # slices
_CLEAR = 0.5  # root mean square of the residual below which no shape is sought
# Share of the residual that hysteresis explains; what explains less is not named, but counts from
# `_MAYBE` on.
_HYSTERESIS, _MAYBE = 0.62, 0.45
_ONE_SIGN = 0.9  # sum of the strengths of hysteresis over the sum of their sizes
_PLAY = (0.1, 0.3)  # half the play, as a share of the range of a channel's load
_UNSURE = 1.5  # how far the model of hysteresis may be from the truth, times what it does
_TINY = 1e-9


class SliceMeans(NamedTuple):
    """Means over the slices of a window, linearised.

    Attributes:
        rows: (s, 6, n) of ``[A | states | y]``; sd: (6,) of one mean by noise and accuracy [N, ..].
        prior: (n, n) products of whitened rows that are known before the data.
        phi: (10,) of the estimate; load: (s, 6) of all that hangs on the sensor [N, N m].
    """

    rows: Array
    sd: Array
    prior: Array
    phi: Array
    load: Array


class Shaped(NamedTuple):
    """What a shape of the residual does to an estimate.

    Attributes:
        covariance: (10, 10) of phi by it.
        is_named: whether it is a finding.
        states: (k,) of the rows beside phi, fitted with the shape; None: as without it.
    """

    covariance: Array
    is_named: bool = False
    states: Array | None = None


def is_clear(residual: Array, sd: Array, prior_cost: float) -> bool:
    """Whether no shape is sought in a window with these means (s, 6) of a residual over slices.

    No fit needs to be made then: the best one has a smaller sum of squares still.

    Args:
        sd: (6,) of one mean; prior_cost: sum of squares by which the solution deviates from what is
            known before the data.
    """
    whitened = residual / sd
    cost = float((whitened * whitened).sum()) + prior_cost
    return cost < _CLEAR**2 * whitened.size


def check_residual_shape(means: SliceMeans | None, log: FindingLog) -> Shaped:
    """Name hysteresis that shapes the residual.

    Args:
        means: None where the residual is clear.
    """
    nothing = Shaped(np.zeros((PARAMETERS, PARAMETERS)))
    log.clear("hysteresis")
    if means is None or len(means.rows) < _SHORTEST:
        return nothing
    before = _fit(means, np.empty((*means.rows.shape[:2], 0)))
    if before.rms < _CLEAR:
        return nothing
    load = means.load
    halves = [share * np.ptp(load, axis=0) for share in _PLAY]
    lags = [_fit(means, _of_channels(_play(load, half) - load)) for half in halves]
    lag, half = min(zip(lags, halves, strict=True), key=lambda pair: pair[0].rms)
    covariance = _lag_covariance(means.phi, lag.phi)
    explained = 1.0 - (lag.rms / before.rms) ** 2
    if (explained > _HYSTERESIS
            and (seen := lag.strength * half / means.sd).sum() > _ONE_SIGN * np.abs(seen).sum()):
        _report_hysteresis(half * lag.strength, log)
        return Shaped(covariance, True, lag.states)
    likely = min(max((explained - _MAYBE) / (_HYSTERESIS - _MAYBE), 0.0), 1.0)
    return Shaped(likely * covariance)


class _Fit(NamedTuple):
    """Least squares with a shape: payload (10,), states, strength (k,) of the shape, and the root
    mean square of the residual in standard deviations."""

    phi: Array
    states: Array
    strength: Array
    rms: float


def _fit(means: SliceMeans, shape: Array) -> _Fit:
    """Fit payload, states and the columns of a shape (s, 6, k)."""
    columns = np.concatenate([means.rows[..., :-1], shape], axis=2) / means.sd[:, None]
    target = means.rows[..., -1] / means.sd
    n = means.rows.shape[2] - 1
    flat = columns.reshape(-1, columns.shape[2])
    products, vector = flat.T @ flat, flat.T @ target.ravel()
    products[:n, :n] += means.prior[:-1, :-1]
    vector[:n] += means.prior[:-1, -1]
    products[n:, n:] += np.eye(shape.shape[2])  # the motion may not tell all of a shape
    products += _TINY * np.diag(products.diagonal() + _TINY)
    found = np.linalg.solve(products, vector)
    left = target - columns @ found
    return _Fit(found[:PARAMETERS], found[PARAMETERS:n], found[n:],
                float(np.sqrt((left * left).mean())))


def _play(load: Array, half: Array) -> Array:
    """What a load (s, 6) moves through play of these half widths (6,)."""
    out = np.empty_like(load)
    at = load[0]
    for k, now in enumerate(load):
        at = out[k] = np.clip(at, now - half, now + half)
    return out


def _of_channels(signal: Array) -> Array:
    """A column (s, 6, 6) of its own for each channel of a signal (s, 6)."""
    return np.asarray(signal[:, :, None] * np.eye(signal.shape[1]))


def _lag_covariance(phi: Array, with_lag: Array) -> Array:
    """Covariance (10, 10) of the estimate phi (10,), where a fit with a model of hysteresis gives
    another payload (10,); the centre of mass may be as far off along each axis."""
    change = with_lag - phi
    covariance = np.outer(change, change)
    moved = phi[0] * with_lag[1:4] / max(with_lag[0], _TINY) - phi[1:4]
    covariance[1:4, 1:4] += np.eye(3) * float(moved @ moved) / 3.0
    return np.asarray(_UNSURE**2 * covariance)


def _report_hysteresis(size: Array, log: FindingLog) -> None:
    """Name hysteresis of a size (6,) [N, N m]."""
    force, torque = np.sqrt((size.reshape(2, 3) ** 2).mean(axis=1))
    log.set("hysteresis", "warning",
            f"the wrench lags behind its own changes by about {force:.2g} N and {torque:.2g} N m: "
            "hysteresis of the sensor or of its mounting; tighten the mounting, or use a sensor "
            "with less; the intervals are wider by what that may do")

