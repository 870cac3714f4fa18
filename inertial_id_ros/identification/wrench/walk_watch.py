# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Looks for a payload that walks, brings the window to the load of now, and names the walk."""

from __future__ import annotations

import numpy as np

from ...findings import FindingLog
from ...inertia import PARAMETERS, Array
from ...regression.problem import Problem
from ...regression.regressor_window import DYNAMIC, WindowContent
from ...regression.uncertainty.load_walk import CERTAIN, KEPT, LoadWalk, find_walk
from ...signals.bins import BIN_NS
from .problem_builder import ProblemBuilder

WALKS = "payload_walks"  # finding
# Bins that must be new before a walk is sought again, where one may be, and where none is likely.
_SOUGHT, _UNLIKELY = round(0.4e9 / BIN_NS), round(1e9 / BIN_NS)
_BEHIND = 0.3  # s by which the window ends before now, and a rate lags behind one that changes
_YOUNG = 6.0  # s; in a shorter window errors of the sensor look like a walk
_NOTHING = np.zeros((PARAMETERS, PARAMETERS))


class WalkWatch:
    """The walk that was found last, if any."""

    def __init__(self) -> None:
        self._walk: LoadWalk | None = None
        self._is_certain = False
        self._tried = -1  # last bin of the window in which it was sought

    def take_out(self, problems: ProblemBuilder, window: WindowContent) -> WindowContent:
        """The window as the load of now would have made it, where the payload walked before."""
        if not self._is_certain:
            return window
        self._find(problems, window)
        return self._without(window) or window

    def search(self, problems: ProblemBuilder, window: WindowContent,
               problem: Problem) -> WindowContent | None:
        """The same where it was not known before that it walks; None: it does not.

        Nothing is sought where none is for a cable (see `CableWatch.search`).
        """
        if (self._is_certain or window.cross_channel is not None
                or DYNAMIC in window.factors
                or self._tried <= window.last < self._tried + (
                    _SOUGHT if self._walk else _UNLIKELY)):
            return None
        self._tried, self._walk = window.last, None
        if problems.unexplained_force(window, problem) > 0.0:
            self._find(problems, window)
        return self._without(window)

    def _find(self, problems: ProblemBuilder, window: WindowContent) -> None:
        """Find the walk in a window; where the problem has no solution yet, it is as before."""
        given, last = problems.cable_input(window), self._walk if self._is_certain else None
        if given is None:
            return
        self._walk = walk = find_walk(given, last)
        self._is_certain = walk is not None and (
            walk.evidence >= KEPT and walk.is_relevant if last else
            walk.evidence >= CERTAIN and walk.is_clear and window.duration > _YOUNG)

    def _without(self, window: WindowContent) -> WindowContent | None:
        """The window as the load of now would have made it; None: no walk is certain."""
        return self._walk.removed_from(window) if self._walk and self._is_certain else None

    @property
    def squared_rate(self) -> Array | None:
        """Mean square (10, 10) of the rate of phi [1/s]; None: no walk is certain."""
        return self._walk.squared_rate if self._walk and self._is_certain else None

    @property
    def rates(self) -> tuple[float, float]:
        """Rate of the mass [kg/s] and speed of the centre of mass [m/s]; 0 where not clear."""
        return self._walk.clear_rates if self._walk and self._is_certain else (0.0, 0.0)

    def phi_covariance(self) -> Array:
        """Covariance (10, 10) of phi by what is not known of the walk."""
        if self._walk is None:
            return _NOTHING
        if not self._is_certain:
            return self._walk.covariance_of_constant
        return self._walk.covariance_of_now + _BEHIND**2 * self._walk.squared_rate

    def report(self, log: FindingLog) -> None:
        """Name the walk."""
        log.clear(WALKS)
        if self._walk is not None and self._is_certain:
            now = self._walk.describe() or "the payload changed within the window"
            log.set(WALKS, "info", f"{now}; the estimate is of now")
