# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Looks for a cable that pulls at the payload, takes its pull out of the window, and names it."""

from __future__ import annotations

import numpy as np

from ...findings import FindingLog
from ...inertia import PARAMETERS, Array
from ...kinematics.motion import Motion
from ...regression.alignment import GRAVITY_TILT, SENSOR_ROTATION
from ...regression.problem import Problem
from ...regression.regressor_window import DYNAMIC, WindowContent
from ...regression.row_layout import BIASES, join
from ...regression.uncertainty.cable import CERTAIN, Cable, Places, places_of, pull
from ...regression.uncertainty.cable_fit import find_cable
from ...signals.bins import BIN_NS
from .problem_builder import ProblemBuilder

CABLE = "cable"  # finding
# Share of the window, and bins, that must be new before a cable is fitted anew, or sought again.
_RENEWED, _SOUGHT, _FEW = 0.05, 0.25, round(0.5e9 / BIN_NS)
# For an angle beside a cable: times what is worth to be removed, and standard deviations.
_LARGE, _CLEARLY = 3.0, 5.0
# Share of its tension that the pull of a cable leaves unexplained, where none is fitted, before it
# is certain: what shows less looks like a payload, and small errors of the set-up like it. One that
# ends farther away [m] hardly turns, and is none then.
_LEAST_SHOWN, _FAR = 0.03, 2.5
# Bins before a wrench at which a cable must have been known to explain it; laws that are kept.
_BEFORE, _LAWS = round(2.0e9 / BIN_NS), 40
_ROUGH = round(1.0e9 / BIN_NS)  # bins
_REMEMBERED = round(30.0e9 / BIN_NS)  # bins for which a certain cable that no longer shows may pull
_NOTHING = np.zeros((PARAMETERS, PARAMETERS))


class CableWatch:
    """The cable that was found last, if any.

    Args:
        gravity: magnitude [m/s^2].

    Attributes:
        pours: whether the payload has evenly become another one in the window instead.
    """

    def __init__(self, gravity: float) -> None:
        self.pours = False
        self._gravity = gravity
        self._cable: Cable | None = None
        self._newest = -1  # last bin of the window
        self._tried = -1  # and of that in which it was fitted, or sought
        self._shown = -1  # and in which it was found
        # Last bin of the windows in which it was certain, one after the other, and what it was.
        self._certain: list[tuple[int, Cable]] = []
        # The one that was certain last, as a possible one, and the bin until which it is.
        self._remembered: tuple[int, Cable] | None = None

    def take_out(self, problems: ProblemBuilder, window: WindowContent,
                 removed: Array) -> WindowContent:
        """The window without the pull of the cable that was certain before; the same window where
        there is none. Where a share of the window is new, the cable is fitted anew, and may be
        given up.

        Args:
            problems: from windows; removed: values (n,) of the nuisance states that were removed
                from the samples.
        """
        if self._cable is None or not self._cable.is_certain:
            return window
        if not self._is_due(window, _RENEWED):
            self._cable = self._cable.seen_from(places_of(window, self._gravity))
        else:
            self._fit(problems, window, removed)
        return self._without(window) or window

    def _without(self, window: WindowContent) -> WindowContent | None:
        """The window without the pull of the cable; None where there is none for certain."""
        if self._cable is None or not self._cable.is_certain:
            return None
        return window.without(self._cable.wrench)

    def search(self, problems: ProblemBuilder, window: WindowContent, problem: Problem,
               removed: Array, is_rigid: bool = True) -> WindowContent | None:
        """The window without the pull of a cable that was not known before; None: there is none.

        Nothing is sought in accelerations that were measured, and in a blend of two models, nor
        where the residual is clear.

        Args:
            problems, removed: as in `take_out`.
            is_rigid: neither a part of the payload swings nor the base moves, whose means over
                slices look like a pull; else no cable is certain.
        """
        self._newest = window.last
        known = self._cable is not None and self._cable.is_certain
        if (known or window.cross_channel is not None
                or DYNAMIC in window.factors or not self._is_due(window, _SOUGHT)):
            return None
        self.pours = False
        left = problems.unexplained_force(window, problem)
        if left == 0.0:
            if window.first > self._shown:  # nothing is left of the rows that made it likely
                self._cable = None
            return None
        self._fit(problems, window, removed)
        if self._cable is not None and not is_rigid:
            self._cable = self._cable._replace(evidence=min(self._cable.evidence, CERTAIN))
        if self._cable is not None and left < _LEAST_SHOWN * self._cable.tension:
            self._cable = (None if self._cable.distance > _FAR else
                           self._cable._replace(evidence=min(self._cable.evidence, CERTAIN)))
        return self._without(window)

    def _is_due(self, window: WindowContent, share: float) -> bool:
        """Whether this share of the window is new since the last time; if so, this is one."""
        few = max(share * (window.last + 1 - window.first), _FEW)
        if self._tried <= window.last < self._tried + few:
            return False
        self._tried = window.last
        return True

    def _fit(self, problems: ProblemBuilder, window: WindowContent, removed: Array) -> None:
        """Fit a cable to a window, of which these nuisance states (n,) were removed."""
        given = problems.cable_input(window)
        last = self._cable if self._cable is not None and self._cable.is_certain else None
        self._cable, self.pours = (None, False) if given is None else find_cable(given, last)
        if (self._cable is not None and last is None
                and self._is_turned(problems, self._cable, removed)):
            # Large angles look like a cable, and a cable like them.
            self._cable = self._cable._replace(evidence=min(self._cable.evidence, CERTAIN))
        self._shown = window.last
        if self._cable is None or not self._cable.is_certain:
            self._certain = []
        else:
            self._certain = [*self._certain[-_LAWS:], (window.last, self._cable)]
            self._remembered = (window.last + _REMEMBERED,
                                self._cable._replace(evidence=CERTAIN))

    @staticmethod
    def _is_turned(problems: ProblemBuilder, cable: Cable, removed: Array) -> bool:
        """Whether sensor or gravity are clearly turned by a large angle beside a cable.

        An angle that takes back what was removed (n,) is none: before a cable is seen, its pull
        looks like a tilt, and that is removed.
        """
        rest, sigma = (problems.states.expand(problems.nuisance_values(states))
                       for states in (cable.states, cable.sigma))
        angles = np.minimum(np.abs(rest), np.abs(join(removed, rest)))
        clear = angles > _CLEARLY * sigma
        return any(bool((clear & (angles > _LARGE * state.large))[state.values].any())
                   for state in (SENSOR_ROTATION, GRAVITY_TILT))

    def is_new(self, number: int) -> bool:
        """Whether there is a cable that is certain, and so new at a bin that `pull_at` does not
        know it yet, or only by its first laws, which are rough."""
        return bool(self._certain) and self._certain[0][0] > number - _BEFORE - _ROUGH

    def pull_at(self, number: int, motion: Motion) -> Array:
        """The pull (n, 6) of a cable, as wrench in ``y = A phi + pull``, at n times of a motion, by
        what was known of it long before a bin; zero where nothing was, or the place of the sensor
        is not known. A load that is poured out looks like a cable too, but like another one a
        little later."""
        known = [cable for last, cable in self._certain if last <= number - _BEFORE]
        if not known or motion.position is None:
            return np.zeros((len(motion.omega), BIASES))
        mean = known[-1].places.mean
        return pull(known[-1].law[None], Places(motion.axes, motion.position - mean, mean))[0]

    def phi_covariance(self) -> Array:
        """Covariance (10, 10) of phi by what is not known of the cable."""
        cable = self._cable
        if cable is None and self._remembered is not None and self._newest < self._remembered[0]:
            cable = self._remembered[1]
        return _NOTHING if cable is None else cable.phi_covariance(self._gravity)

    def report(self, log: FindingLog) -> None:
        """Name the cable where it is certain."""
        if self._cable is not None and self._cable.is_certain:
            log.set(CABLE, "warning",
                    "something pulls at the payload towards one point of the room by about "
                    f"{self._cable.tension:.2g} N, as a cable or a hose does; the estimate is "
                    "without that pull, and the intervals hold what is not known of it; lead it "
                    "along the arm, or fasten it before the sensor")
