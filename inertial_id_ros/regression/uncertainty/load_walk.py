# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether mass and first moment walk within a window, and how: a payload that pours or slides.

Over stretches of a few seconds they change evenly, by increments that are Gaussian about zero::

    phi(t) = phi_now - sum_j increment_j (share of stretch j that comes after t)

so that the parameters of now are among those that are fitted, with an interval that holds what the
increments leave open. How large increments are is told by the data (empirical Bayes): by the
evidence, in which more freedom counts against a walk. Cables, hysteresis and lengths of the arm
that are wrong leave residuals, too, which a walk might follow; it is believed where its evidence is
far greater than theirs.

Where in the payload the part is that leaves or slides is not known: beside what goes with mass and
first moment, the inertia changes by increments of its own, as soon as a walk is believed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import PARAMETERS, Array, report_from_phi, report_jacobian
from ...signals.bins import BIN_NS
from ..regressor_window import WindowContent
from .cable import Places, places_of
from .cable_fit import (
    FitInput,
    Rows,
    find_cable,
    other_lengths,
    plays,
    settle_levels,
)
from .walking_bias import FORCE, TORQUE

WALKING = 4  # mass and first moment
_STRETCH = 2.5  # s
# s before now, at which a payload may have begun to walk, and at which one may have stopped.
_LATELY, _STOPPED = (1.5, 3.0), (1.0, 2.0)
_SHORTEST = 12  # slices
_SHORT = round(0.5e9 / BIN_NS)  # bins of a walk
# Logarithm of the evidence for a walk over that against it, from which on it is believed; above
# which it goes on being; and at which it is as likely as not.
CERTAIN, KEPT, _USUALLY_NONE = 25.0, 10.0, 4.0
_BEYOND_DOUBT = 50.0  # from which on no other error is as likely
_FIRST_LOOK = 1.0  # of the first sizes, from which on others are tried
# Sizes of an increment: of the mass, over it; and of its centre [m].
_FIRST_SIZES = (0.03, 0.006)
_SIZES = ((0.003, 0.002), (0.003, 0.006), (0.003, 0.02), (0.01, 0.001), (0.03, 0.001),
          (0.1, 0.001), (0.01, 0.002), (0.1, 0.006), (0.1, 0.02))
_SMALLEST = (0.002, 0.0005)
_FACTOR = 2.0  # between sizes that are tried beside those of the window before
# Least and largest radius of gyration [m]; and standard deviation of an increment of the inertia,
# over what leaving or sliding at that radius r from the centre makes: m r^2, 2 m r times the way.
_RADII, _ANYWHERE = (0.05, 0.25), 2.0
# Least change within the window, as share of the mass and of its centre [m].
_LEAST_SHARE, _LEAST_WAY = 0.03, 0.003
_DRIFT = np.repeat([3.0, 0.2], 3)  # standard deviation of a drift over the window [N, N m]
# Standard deviation of an acceleration of the base [m/s^2], and time in which it changes [s].
_SIDEWAYS, _CHANGES = 0.3, 0.5
_LATE = 0.1  # s; standard deviation of a delay that is no walk
_CLEAR = 4.0  # standard deviations of a rate that is named


class LoadWalk(NamedTuple):
    """A walk that was found.

    Attributes:
        sizes: standard deviations of an increment of the mass, over it, and of its centre [m].
        span: last bin before it, and that in which it stopped; outside of the window: not known.
        ages: (j + 1,) of the ends of the stretches before now, the newest first [s]; increments:
            (j, 10) of phi over them; covariance: (10 j, 10 j) of them.
        phi: (10,) of now; covariance_of_now: (10, 10) of it by what is not known of the increments;
            change: (10,) of it against a payload that is constant.
        drift: (6,) of the sensor's zero, in its standard deviations.
        evidence: logarithm of that for the walk over that against it.
        radius: of gyration when the walk was found [m], by which the inertia walks; 0: it does not.
    """

    sizes: tuple[float, float]
    span: tuple[int, int]
    ages: Array
    increments: Array
    covariance: Array
    phi: Array
    covariance_of_now: Array
    change: Array
    drift: Array
    evidence: float
    radius: float = 0.0

    def changes(self, window: WindowContent) -> Array:
        """phi (s, 10) in the slices of a window, less that of now."""
        return _stretches(window, self.ages) @ self.increments

    def removed_from(self, window: WindowContent) -> WindowContent:
        """The means over slices of a window, as load and zero of now would have made them, in
        place of its rows."""
        slices = window.slices
        means = slices.sums[..., :PARAMETERS] / slices.samples[:, None, None]
        return window.without(np.einsum("sck,sk->sc", means, self.changes(window))
                              + _drift(window) @ self.drift)

    @property
    def covariance_of_constant(self) -> Array:
        """Covariance (10, 10) of phi where it is fitted as constant, but may walk like this."""
        out = self.covariance_of_now + np.outer(self.change, self.change)
        return np.asarray(out / (1.0 + np.exp(min(_USUALLY_NONE - self.evidence, 50.0))))

    @property
    def has_stopped(self) -> bool:
        """Whether mass and centre of mass are constant again."""
        return bool(self.ages[0] > 0.0)

    @property
    def squared_rate(self) -> Array:
        """Mean square (10, 10) of the rate of phi now [1/s]."""
        spans = np.diff(self.ages)
        newest = (self.increments / spans[:, None])[:0 if self.has_stopped else 2]
        return np.asarray(newest.T @ newest
                          + self.covariance[:PARAMETERS, :PARAMETERS] / spans[0]**2)

    @property
    def rate(self) -> tuple[float, float]:
        """Rate of the mass now [kg/s], and its standard deviation."""
        if self.has_stopped:
            return 0.0, 0.0
        return (float(self.increments[0, 0] / self.ages[1]),
                float(np.sqrt(self.covariance[0, 0]) / self.ages[1]))

    @property
    def speed(self) -> tuple[float, float]:
        """Speed of the centre of mass now [m/s], and its standard deviation along its way."""
        if self.has_stopped:
            return 0.0, 0.0
        mass = self.phi[0]
        slope = np.hstack([-self.phi[1:4, None] / mass, np.eye(3)]) / (mass * self.ages[1])
        velocity = slope @ self.increments[0, :WALKING]
        speed = float(np.linalg.norm(velocity))
        along = slope.T @ velocity / max(speed, 1e-12)
        return speed, float(np.sqrt(along @ self.covariance[:WALKING, :WALKING] @ along))

    @property
    def is_clear(self) -> bool:
        """Whether it goes on, and is worth a word."""
        return bool(self.is_relevant and self.describe())

    @property
    def is_relevant(self) -> bool:
        """Whether mass or centre of mass change by more than is worth a word, in the window and, as
        long as they do, in one stretch after it."""
        mass, centre = self.phi[0], self.phi[1:4] / self.phi[0]
        coming = 0.0 if self.has_stopped else -_STRETCH / self.ages[1] * self.increments[0]
        path = np.vstack([coming + np.zeros(PARAMETERS), np.zeros(PARAMETERS),
                          np.cumsum(self.increments, axis=0)])
        way = path[:, 1:4] - path[:, :1] * centre
        return bool(np.ptp(path[:, 0]) > _LEAST_SHARE * mass
                    or np.linalg.norm(np.ptp(way, axis=0)) > _LEAST_WAY * mass)

    @property
    def clear_rates(self) -> tuple[float, float]:
        """Rate of the mass [kg/s] and speed of the centre of mass [m/s]; 0 where not clear."""
        return tuple(  # type: ignore[return-value]
            value if abs(value) > _CLEAR * sd else 0.0 for value, sd in (self.rate, self.speed))

    def describe(self) -> str:
        """How it walks now, in words; empty where that is not clear."""
        rate, speed = self.clear_rates
        out = []
        if rate:
            verb = "loses" if rate < 0.0 else "gains"
            out.append(f"the payload {verb} {1e3 * abs(rate):.0f} g/s")
        if speed:
            out.append(f"its centre of mass moves at {1e3 * speed:.2g} mm/s")
        return ", and ".join(out)


def find_walk(given: FitInput, last: LoadWalk | None = None) -> LoadWalk | None:
    """The walk of the payload, if it walks, or may.

    Args:
        last: found in the window before, whose beginning and sizes are then tried first.
    """
    window = given.window
    if len(window.slices.rows) < _SHORTEST or given.phi[0] <= 0.0:
        return None
    fits = _Fits(given, _drift(window), last.radius if last else 0.0)
    begin = fits.likely_begin() if last is None else last.span[0]
    if begin is None:
        return None
    fits.settle()
    span = last.span if last is not None and last.has_stopped else (begin, window.last)
    best = fits.walk(last.sizes if last else _FIRST_SIZES, span)
    mass, way = best.sizes
    others = [(sizes, span) for sizes in (_SIZES if last is None else (
        (mass * _FACTOR, way), (max(mass / _FACTOR, _SMALLEST[0]), way),
        (mass, way * _FACTOR), (mass, max(way / _FACTOR, _SMALLEST[1]))))]
    if last is not None:
        ends = ([window.last] if last.has_stopped else
                [window.last - round(1e9 * age / BIN_NS) for age in _STOPPED])
        others += [(best.sizes, (begin, end)) for end in ends if end > begin + _SHORT]
    better = max([best, *(fits.walk(*other, rounds=1) for other in others)],
                 key=lambda walk: walk.evidence)
    if better is not best:
        best = fits.walk(better.sizes, better.span)
    evidence = best.evidence
    if (best.evidence >= CERTAIN and best.is_clear if last is None
            else KEPT <= best.evidence < _BEYOND_DOUBT):
        evidence = min(evidence, _evidence_beside_others(given, best))
    if last is None and evidence >= CERTAIN:
        fits.radius = _radius_of_gyration(given.phi)
        best = fits.walk(best.sizes, best.span)
    return best._replace(evidence=evidence)


def _evidence_beside_others(given: FitInput, walk: LoadWalk) -> float:
    """Logarithm of the evidence for a walk where other errors may explain the residual as well."""
    slices, places = given.window.slices, places_of(given.window, given.gravity)
    load = (slices.sums[..., :PARAMETERS] @ given.phi) / slices.samples[:, None]
    late = np.zeros((*load.shape, 2))
    late[:, FORCE, 0], late[:, TORQUE, 1] = np.split(_LATE * np.gradient(
        load, given.window.slice_length, axis=0), 2, axis=1)
    others = [plays(given), other_lengths(given, places), late, _pulls_sideways(given, places),
              _drift(given.window)]
    fits = _Fits(given, np.concatenate(others, axis=2))
    fits.settle()
    beside = fits.walk(walk.sizes, walk.span).evidence
    cable, _ = find_cable(given) if beside >= KEPT else (None, False)
    return beside if cable is None else min(beside, walk.evidence - cable.evidence)


def _pulls_sideways(given: FitInput, places: Places) -> Array:
    """Columns (s, 6, k) of a base that has lately begun to move, or of a contact: horizontal
    accelerations of the payload that change evenly over short times."""
    across = places.axes[:, :2]
    pulls = _SIDEWAYS * np.concatenate(
        [given.phi[0] * across, np.cross(given.phi[1:4], across)], axis=2).transpose(0, 2, 1)
    shares = _stretches(given.window, np.arange(0.0, 2.0 * _LATELY[-1], _CHANGES))
    return (pulls[..., None] * shares[:, None, None]).reshape(len(pulls), 6, -1)


def _ages(window: WindowContent, span: tuple[int, int]) -> Array:
    """Ages (j + 1,) of the ends of the stretches of a walk within a span of bins [s]."""
    begin, end = (1e-9 * BIN_NS * (window.last - bin_) for bin_ in span)
    if span[0] < window.first:
        count = int(np.ceil((window.duration - end) / _STRETCH))
        return end + _STRETCH * np.arange(max(count, 1) + 1.0)
    return np.append(end + _STRETCH * np.arange(max(round((begin - end) / _STRETCH), 1)), begin)


def _stretches(window: WindowContent, ages: Array) -> Array:
    """Less the share (s, j) of each stretch that comes after the middle of each slice."""
    middle = (window.slices.number + 0.5) * window.slice_length
    before = (window.last + 1) * BIN_NS * 1e-9 - middle
    return -np.clip((before[:, None] - ages[:-1]) / np.diff(ages), 0.0, 1.0)


def _drift(window: WindowContent) -> Array:
    """Columns (s, 6, 6) of a zero of the sensor that drifts evenly, which is no walk of a load."""
    number = window.slices.number
    time = (number - number[-1]) / max(float(np.ptp(number)), 1.0)
    return np.asarray(time[:, None, None] * np.diag(_DRIFT))


def _radius_of_gyration(phi: Array) -> float:
    """That of a payload [m], within bounds: its inertia may be hardly known."""
    trace = max(float(report_from_phi(phi)[[4, 7, 9]].sum()), 0.0)
    return float(np.clip(np.sqrt(trace / (2.0 * phi[0])), *_RADII))


class _Fits:
    """Fits of a window with walks of several sizes.

    Args:
        beside: (s, 6, k) columns of errors that are fitted beside a walk, and without it; the last
            six are those of a zero that drifts.

    Attributes:
        radius: at which the inertia walks, too, as in `LoadWalk`; 0 at first, since mass and centre
            decide whether there is a walk.
    """

    def __init__(self, given: FitInput, beside: Array, radius: float = 0.0) -> None:
        self.radius = radius
        self._given, self._beside, self._constant = given, beside, Rows(given, beside)
        self._phi: Array = np.zeros(PARAMETERS)  # of the fit without a walk
        self._without = 0.0  # logarithm of its evidence

    def likely_begin(self) -> int | None:
        """The bin before which the payload did not walk, by the first sizes and fits that have not
        settled; before the window: not known; None: it is not likely to walk at all."""
        window = self._given.window
        _, without = settle_levels(self._constant, self._given, 1)

        def evidence(began: int) -> float:
            """Logarithm of the evidence for a walk that began then."""
            rows = Rows(self._given, np.concatenate(
                [self._beside, self._columns(_FIRST_SIZES, _ages(window, (began, window.last)))[0]],
                axis=2))
            return settle_levels(rows, self._given, 2)[1]

        lately = (window.last - round(1e9 * age / BIN_NS) for age in _LATELY)
        found, began = max((evidence(bin_), bin_) for bin_ in (
            window.first - 1, *(bin_ for bin_ in lately if bin_ >= window.first)))
        return began if found - without > _FIRST_LOOK else None

    def settle(self) -> None:
        """Settle the fit without a walk, against which its evidence counts."""
        levels, self._without = settle_levels(self._constant, self._given)
        self._phi = self._constant.weighed(levels).solution[:PARAMETERS]

    def _columns(self, sizes: tuple[float, float], ages: Array) -> tuple[Array, Array]:
        """Columns (s, 6, k j) of unit increments of these sizes between these ages (j + 1,), and
        what they are (10, k), where k is 4, or 10 with those of the inertia."""
        given, slices = self._given, self._given.window.slices
        scale = np.zeros((PARAMETERS, WALKING))
        scale[:, 0] = sizes[0] * given.phi  # what pours is much like the rest
        scale[1:4, 1:] = sizes[1] * given.phi[0] * np.eye(3)
        if self.radius:  # and what slides keeps its inertia about its own centre
            scale[4:, 1:] = -report_jacobian(given.phi)[4:, 1:4] @ scale[1:4, 1:]
            size = (sizes[0] * self.radius + 2.0 * sizes[1]) * self.radius
            scale = np.hstack([
                scale, _ANYWHERE * given.phi[0] * size * np.eye(PARAMETERS)[:, WALKING:]])
        means = slices.sums[..., :PARAMETERS] @ scale / slices.samples[:, None, None]
        more = _stretches(given.window, ages)[:, None, :, None] * means[:, :, None]
        return more.reshape(*means.shape[:2], -1), scale

    def walk(self, sizes: tuple[float, float], span: tuple[int, int],
             rounds: int = 3) -> LoadWalk:
        """The most probable walk with increments of these sizes.

        Args:
            span: as in `LoadWalk`.
            rounds: in which the levels settle, from those of the last walk on.
        """
        ages = _ages(self._given.window, span)
        more, scale = self._columns(sizes, ages)
        rows = Rows(self._given, np.concatenate([self._beside, more], axis=2))
        levels, evidence = settle_levels(rows, self._given, rounds)
        self._given = self._given._replace(levels=levels)
        weighed = rows.weighed(levels)
        new = slice(len(weighed.solution) - more.shape[2], len(weighed.solution))
        of_units, cross = weighed.covariance[new, new], weighed.covariance[:PARAMETERS, new]
        count = len(ages) - 1
        turn, phi = np.kron(np.eye(count), scale), weighed.solution[:PARAMETERS]
        increments = (turn @ weighed.solution[new]).reshape(count, PARAMETERS)
        return LoadWalk(sizes, span, ages, increments,
                        turn @ of_units @ turn.T, phi, cross @ np.linalg.solve(of_units, cross.T),
                        phi - self._phi, weighed.solution[new.start - 6:new.start],
                        evidence - self._without, self.radius)
