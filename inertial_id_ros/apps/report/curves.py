# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Curves over the time of a recording: the estimate, and the wrench as measured and modelled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...estimate import Estimate
from ...inertia import PARAMETERS, Array
from ...regression.newton_euler import static_regressor
from ...signals.bins import BIN_NS
from .results import Identification, Trace

WRENCH_SECONDS = 12.0  # the wrench is shown for the end of the recording
_HALF_NS = 20_000_000  # readings this near to a pose are averaged


class Curves(NamedTuple):
    """Estimates over time: time (n,) [s], value (n, 10), sigma (n, 10), last verdict (10,)."""

    time: Array
    value: Array
    sigma: Array
    verdict: tuple[int, ...]


class WrenchCurves(NamedTuple):
    """Wrenches over time: time (k,) [s], measured (k, 6), model (k, 6) [N, N m].

    Attributes:
        weight_only: whether the model is that of the weight, without accelerations.
    """

    time: Array
    measured: Array
    model: Array
    weight_only: bool = False

    @property
    def is_predicted(self) -> bool:
        """Whether the model says anything."""
        return bool(np.isfinite(self.model).any())


def estimate_curves(result: Identification) -> Curves:
    """The valid estimates of the history."""
    valid = [(s.time, s.outcome) for s in result.history if isinstance(s.outcome, Estimate)]
    return Curves(np.array([time for time, _ in valid]),
                  np.array([e.report for _, e in valid]).reshape(-1, 10),
                  np.array([e.sigma for _, e in valid]).reshape(-1, 10),
                  valid[-1][1].verdict if valid else ())


def wrench_curves(trace: Trace) -> WrenchCurves:
    """Measured wrench in the pipeline's bins, and what the model says of them.

    The pipeline gives the compensated wrench, which is measured minus model; the measured one is
    averaged over the same bins here. The model is NaN where the pipeline had no estimate.
    """
    if not trace.stamps:
        return WrenchCurves(np.empty(0), np.empty((0, 6)), np.empty((0, 6)))
    rows = np.array(trace.measured)
    number, inverse, count = np.unique(np.array(trace.stamps) // BIN_NS, return_inverse=True,
                                       return_counts=True)
    sums = np.column_stack([np.bincount(inverse, weights=rows[:, c]) for c in range(6)])
    measured: Array = sums / count[:, None]
    model: Array = np.full(measured.shape, np.nan)
    if trace.compensated:
        settled = np.concatenate(trace.settled_stamps) // BIN_NS
        compensated = np.concatenate(trace.compensated)
        _, here, there = np.intersect1d(number, settled, return_indices=True)
        model[here] = measured[here] - compensated[there]
    time = ((number + 0.5) * BIN_NS - trace.origin) * 1e-9
    return WrenchCurves(time, measured, model)


def last_part(curves: WrenchCurves) -> WrenchCurves:
    """The end of a long recording, in which single motions can be distinguished."""
    if len(curves.time) == 0:
        return curves
    kept = curves.time >= curves.time[-1] - WRENCH_SECONDS
    return WrenchCurves(curves.time[kept], curves.measured[kept], curves.model[kept],
                        curves.weight_only)


def readings_at_poses(trace: Trace) -> tuple[np.ndarray, Array, Array]:
    """Stamps (n,) [ns], rotations (n, 3, 3) from sensor to gravity frame, and readings (n, 6)."""
    stamps = np.array(trace.stamps, dtype=np.int64)
    at, rotations, readings = [], [], []
    for stamp, rotation in trace.poses:
        first, last = np.searchsorted(stamps, (stamp - _HALF_NS, stamp + _HALF_NS))
        if last > first:
            at.append(stamp)
            rotations.append(rotation)
            readings.append(np.mean(trace.measured[first:last], axis=0))
    return (np.array(at, dtype=np.int64), np.array(rotations).reshape(-1, 3, 3),
            np.array(readings).reshape(-1, 6))


def weight_curves(result: Identification, sign: float, gravity: float) -> WrenchCurves:
    """Measured wrench at the poses of a trace, and what the weight of the newest estimate before
    makes of it: for recordings in which no estimate could compensate.

    Args:
        sign: of the reading against the wrench on the payload; gravity: [m/s^2].
    """
    stamps, rotations, measured = readings_at_poses(result.trace)
    time = (stamps - result.trace.origin) * 1e-9
    estimates = [(s.time, s.outcome) for s in result.history if isinstance(s.outcome, Estimate)]
    tool = np.zeros(PARAMETERS) if result.tool is None else result.tool.phi
    model = np.full(measured.shape, np.nan)
    for k, rotation in enumerate(rotations):
        before = [estimate for made, estimate in estimates if made < time[k] - 1e-3]
        if before:
            a = static_regressor(-gravity * rotation[2])
            model[k] = sign * a @ (before[-1].phi + tool) + before[-1].bias
    return WrenchCurves(time, measured, model, weight_only=True)
