# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Looks for a payload that walks, brings the window to the load of now, and names the walk."""

from __future__ import annotations

import numpy as np

from ...findings import FindingLog
from ...inertia import PARAMETERS, Array
from ...regression.problem import Problem
from ...regression.regressor_window import DYNAMIC, WindowContent
from ...regression.uncertainty.load_walk import LoadWalk, find_walk
from ...signals.bins import BIN_NS
from .problem_builder import ProblemBuilder

WALKS = "payload_walks"  # finding
_SOUGHT = round(1e9 / BIN_NS)  # bins that must be new before a walk is sought again
_NOTHING = np.zeros((PARAMETERS, PARAMETERS))


class WalkWatch:
    """The walk that was found last, if any."""

    def __init__(self) -> None:
        self._walk: LoadWalk | None = None
        self._tried = -1  # last bin of the window in which it was sought

    def take_out(self, problems: ProblemBuilder, window: WindowContent) -> WindowContent:
        """The window as the load of now would have made it, where the payload walked before."""
        if self._walk is None:
            return window
        given = problems.cable_input(window)
        self._walk = None if given is None else find_walk(given, self._walk)
        return window if self._walk is None else self._walk.removed_from(window)

    def search(self, problems: ProblemBuilder, window: WindowContent,
               problem: Problem) -> WindowContent | None:
        """The same where it was not known before that it walks; None: it does not.

        Nothing is sought where none is for a cable (see `CableWatch.search`).
        """
        if (self._walk is not None or window.cross_channel is not None
                or DYNAMIC in window.factors
                or self._tried <= window.last < self._tried + _SOUGHT):
            return None
        self._tried = window.last
        if problems.unexplained_force(window, problem) == 0.0:
            return None
        given = problems.cable_input(window)
        self._walk = None if given is None else find_walk(given)
        return None if self._walk is None else self._walk.removed_from(window)

    @property
    def squared_rate(self) -> Array | None:
        """Mean square (10, 10) of the rate of phi [1/s]; None: no walk in the last window."""
        return None if self._walk is None else self._walk.squared_rate

    def phi_covariance(self) -> Array:
        """Covariance (10, 10) of phi by what is not known of the walk."""
        return _NOTHING if self._walk is None else self._walk.phi_covariance

    def report(self, log: FindingLog) -> None:
        """Name the walk."""
        log.clear(WALKS)
        if self._walk is not None:
            now = self._walk.describe() or "the payload changed within the window"
            log.set(WALKS, "info", f"{now}; the estimate is of now")
