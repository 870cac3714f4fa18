# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Looks for weight and inertia that tell different masses, and names that."""

from __future__ import annotations

import numpy as np

from ...findings import FindingLog
from ...inertia import PARAMETERS, Array
from ...regression.problem import Problem
from ...regression.regressor_window import DYNAMIC, WindowContent
from ...regression.uncertainty.room_force import RoomForce, find_room_force
from ...signals.bins import BIN_NS
from .problem_builder import ProblemBuilder

CONSTANT_FORCE = "constant_force"  # finding
_SOUGHT = round(2e9 / BIN_NS)  # bins that must be new before it is sought again
_YOUNG = 6.0  # s
# Logarithm of the evidence, standard deviations, and share of the weight, of what is named.
_CERTAIN, _CLEAR, _LEAST_SHARE = 25.0, 5.0, 0.05
_NOTHING = np.zeros((PARAMETERS, PARAMETERS))


class ForceWatch:
    """The force that was found last, if any.

    Args:
        gravity: magnitude [m/s^2].
    """

    def __init__(self, gravity: float) -> None:
        self._gravity = gravity
        self._force: RoomForce | None = None
        self._mass = 0.0  # by the weight
        self._tried = -1  # last bin of the window in which it was sought

    def search(self, problems: ProblemBuilder, window: WindowContent, problem: Problem) -> None:
        """Look for it in a window, where the residual is not clear, or it was likely before."""
        if (window.cross_channel is not None or DYNAMIC in window.factors
                or self._tried <= window.last < self._tried + _SOUGHT):
            return
        before = self._force if self._force is not None and self._force.is_likely else None
        self._tried, self._force = window.last, None
        if before is None and problems.unexplained_force(window, problem) == 0.0:
            return
        given = problems.cable_input(window)
        found = None if given is None else find_room_force(given)
        if before is not None and window.duration < _YOUNG and (
                found is None or found.evidence < before.evidence):
            self._force = before  # which a window that began anew does not show yet
        elif given is not None:
            self._force, self._mass = found, float(given.phi[0])

    def phi_covariance(self) -> Array:
        """Covariance (10, 10) of phi by it."""
        return _NOTHING if self._force is None else self._force.phi_covariance

    def report(self, log: FindingLog) -> None:
        """Name it where it is certain."""
        log.clear(CONSTANT_FORCE)
        found = self._force
        if (found is None or found.evidence < _CERTAIN or abs(found.force) < max(
                _CLEAR * found.sd, _LEAST_SHARE * self._gravity * self._mass)):
            return
        log.set(CONSTANT_FORCE, "warning",
                f"the weight tells {self._mass:.2f} kg, and the inertia "
                f"{self._mass + found.change[0]:.2f} kg: a force of {abs(found.force):.2g} N that "
                "stays the same in the room acts on the payload, as of a balancer or a resting "
                "hand, or the accelerations are wrong (another arm in the robot description, a "
                "sensor that filters); the interval holds both")
