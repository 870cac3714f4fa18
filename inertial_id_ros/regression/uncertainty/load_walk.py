# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether mass and first moment walk within a window, and how: a payload that pours or slides.

Over stretches of a few seconds they change evenly, by increments that are Gaussian about zero::

    phi(t) = phi_now - sum_j increment_j (share of stretch j that comes after t)

so that the parameters of now are among those that are fitted, with an interval that holds what the
increments leave open. How large increments are is told by the data (empirical Bayes): by the
evidence, in which more freedom counts against a walk. Cables, hysteresis and lengths of the arm
that are wrong leave residuals, too, which a walk might follow; it is believed where its evidence is
far greater than theirs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import PARAMETERS, Array
from ...signals.bins import BIN_NS
from ..regressor_window import WindowContent
from .cable import places_of
from .cable_fit import (
    FitInput,
    Rows,
    evidence_of_hysteresis,
    evidence_of_other_lengths,
    find_cable,
    settle_levels,
)
from .walking_bias import Levels

WALKING = 4  # mass and first moment
_STRETCH = 2.5  # s
_SHORTEST = 12  # slices
_CERTAIN = 12.0  # logarithm of the evidence for a walk over that against it
_FIRST_LOOK = 4.0  # of the first sizes, from which on others are tried
# Sizes of an increment: of the mass, over it; and of its centre [m].
_FIRST_SIZES = (0.03, 0.006)
_SIZES = ((0.0, 0.002), (0.0, 0.006), (0.0, 0.02), (0.01, 0.0), (0.03, 0.0), (0.1, 0.0),
          (0.01, 0.002), (0.1, 0.006), (0.1, 0.02))
_FACTOR = 2.0  # between sizes that are tried beside those of the window before
# Least change within the window, as share of the mass and of its centre [m].
_LEAST_SHARE, _LEAST_WAY = 0.03, 0.003
_DRIFT = np.repeat([3.0, 0.2], 3)  # standard deviation of a drift over the window [N, N m]
_CLEAR = 4.0  # standard deviations of a rate that is named


class LoadWalk(NamedTuple):
    """A walk that was found.

    Attributes:
        sizes: standard deviations of an increment of the mass, over it, and of its centre [m].
        increments: (j, 10) of phi over the stretches, the newest first; covariance:
            (10 j, 10 j) of them.
        phi: (10,) of now; phi_covariance: (10, 10) of it by what is not known of the increments.
        drift: (6,) of the sensor's zero, in its standard deviations.
        evidence: logarithm of that for the walk over that against it.
    """

    sizes: tuple[float, float]
    increments: Array
    covariance: Array
    phi: Array
    phi_covariance: Array
    drift: Array
    evidence: float

    def changes(self, window: WindowContent) -> Array:
        """phi (s, 10) in the slices of a window, less that of now."""
        return _stretches(window, len(self.increments)) @ self.increments

    def removed_from(self, window: WindowContent) -> WindowContent:
        """The means over slices of a window, as load and zero of now would have made them, in
        place of its rows."""
        slices = window.slices
        means = slices.sums[..., :PARAMETERS] / slices.samples[:, None, None]
        return window.without(np.einsum("sck,sk->sc", means, self.changes(window))
                              + _drift(window) @ self.drift)

    @property
    def squared_rate(self) -> Array:
        """Mean square (10, 10) of the rate of phi now [1/s]."""
        newest = self.increments[:2]
        squared = newest.T @ newest + self.covariance[:PARAMETERS, :PARAMETERS]
        return np.asarray(squared / _STRETCH**2)

    @property
    def rate(self) -> tuple[float, float]:
        """Rate of the mass now [kg/s], and its standard deviation."""
        return (float(self.increments[0, 0] / _STRETCH),
                float(np.sqrt(self.covariance[0, 0]) / _STRETCH))

    @property
    def speed(self) -> tuple[float, float]:
        """Speed of the centre of mass now [m/s], and its standard deviation along its way."""
        mass = self.phi[0]
        slope = np.hstack([-self.phi[1:4, None] / mass, np.eye(3)]) / (mass * _STRETCH)
        velocity = slope @ self.increments[0, :WALKING]
        speed = float(np.linalg.norm(velocity))
        along = slope.T @ velocity / max(speed, 1e-12)
        return speed, float(np.sqrt(along @ self.covariance[:WALKING, :WALKING] @ along))

    @property
    def is_relevant(self) -> bool:
        """Whether mass or centre of mass change by more than is worth a word."""
        mass, centre = self.phi[0], self.phi[1:4] / self.phi[0]
        path = np.vstack([np.zeros(PARAMETERS), np.cumsum(self.increments, axis=0)])
        way = path[:, 1:4] - path[:, :1] * centre
        return bool(np.ptp(path[:, 0]) > _LEAST_SHARE * mass
                    or np.linalg.norm(np.ptp(way, axis=0)) > _LEAST_WAY * mass)

    def describe(self) -> str:
        """How it walks now, in words; empty where that is not clear."""
        (rate, rate_sd), (speed, speed_sd) = self.rate, self.speed
        out = []
        if abs(rate) > _CLEAR * rate_sd:
            verb = "loses" if rate < 0.0 else "gains"
            out.append(f"the payload {verb} {1e3 * abs(rate):.0f} g/s")
        if speed > _CLEAR * speed_sd:
            out.append(f"its centre of mass moves at {1e3 * speed:.2g} mm/s")
        return ", and ".join(out)


def find_walk(given: FitInput, last: LoadWalk | None = None) -> LoadWalk | None:
    """The walk of the payload, if it walks for certain.

    Args:
        last: found in the window before, whose sizes are then tried first.
    """
    if len(given.window.slices.rows) < _SHORTEST or given.phi[0] <= 0.0:
        return None
    levels, without = settle_levels(Rows(given, _drift(given.window)), given)
    best = _fit(given, last.sizes if last else _FIRST_SIZES, without)
    if last is None and best.evidence < _FIRST_LOOK:
        return None
    mass, way = best.sizes
    others = (_SIZES if last is None else
              ((mass * _FACTOR, way), (mass / _FACTOR, way), (mass, way * _FACTOR),
               (mass, way / _FACTOR)))
    best = max([best, *(_fit(given, sizes, without) for sizes in others)],
               key=lambda walk: walk.evidence)
    if best.evidence < _CERTAIN or not best.is_relevant:
        return None
    return best if last is not None or not _is_other(given, levels, without, best) else None


def _is_other(given: FitInput, levels: Levels, without: float, walk: LoadWalk) -> bool:
    """Whether something else explains the residual as well."""
    wanted = walk.evidence - _CERTAIN / 2.0
    cable = find_cable(given)
    places = places_of(given.window, given.gravity)
    return (cable is not None and cable.evidence > wanted
            or evidence_of_hysteresis(given, levels) - without > wanted
            or evidence_of_other_lengths(given, levels, places) - without > wanted)


def _stretches(window: WindowContent, count: int) -> Array:
    """Less the share (s, j) of each stretch that comes after the middle of each slice."""
    middle = (window.slices.number + 0.5) * window.slice_length
    before = (window.last + 1) * BIN_NS * 1e-9 - middle
    return -np.clip(before[:, None] / _STRETCH - np.arange(count), 0.0, 1.0)


def _drift(window: WindowContent) -> Array:
    """Columns (s, 6, 6) of a zero of the sensor that drifts evenly, which is no walk of a load."""
    number = window.slices.number
    time = (number - number[-1]) / max(float(np.ptp(number)), 1.0)
    return np.asarray(time[:, None, None] * np.diag(_DRIFT))


def _fit(given: FitInput, sizes: tuple[float, float], without: float) -> LoadWalk:
    """The most probable walk with increments of these sizes."""
    window, mass = given.window, given.phi[0]
    slices = window.slices
    count = max(int(np.ceil(window.duration / _STRETCH)), 1)
    scale = np.zeros((PARAMETERS, WALKING))  # from unit increments to those of phi
    scale[:, 0] = sizes[0] * given.phi  # what pours is much like the rest
    scale[1:4, 1:] = sizes[1] * mass * np.eye(3)
    means = slices.sums[..., :PARAMETERS] @ scale / slices.samples[:, None, None]
    shares = _stretches(window, count)
    more = (shares[:, None, :, None] * means[:, :, None]).reshape(*means.shape[:2], -1)
    rows = Rows(given, np.concatenate([_drift(window), more], axis=2))
    levels, evidence = settle_levels(rows, given)
    weighed = rows.weighed(levels)
    new = slice(len(weighed.solution) - more.shape[2], len(weighed.solution))
    of_units = weighed.covariance[new, new]
    cross = weighed.covariance[:PARAMETERS, new]
    turn = np.kron(np.eye(count), scale)
    return LoadWalk(sizes, (turn @ weighed.solution[new]).reshape(count, PARAMETERS),
                    turn @ of_units @ turn.T, weighed.solution[:PARAMETERS],
                    cross @ np.linalg.solve(of_units, cross.T),
                    weighed.solution[new.start - 6:new.start], evidence - without)
