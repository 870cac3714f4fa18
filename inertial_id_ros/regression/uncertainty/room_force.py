# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether weight and inertia tell different masses, as under a force that is constant in the room.

What pulls or pushes along gravity, such as a balancer or a resting hand, looks like weight, but not
like inertia. So do accelerations that are wrong by a factor, which nothing in the wrench tells from
it: how far phi would change is an uncertainty, no correction. A force along the floor looks like a
tilt of gravity (see `cable.sideways_covariance`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import PARAMETERS, Array, skew
from .cable import places_of
from .cable_fit import FitInput, Rows, settle_levels

_SHORTEST = 12  # slices
_STILL = 1e-3  # m; where the place of the sensor is not known, a force looks like weight
_PRIOR_SD = np.repeat([5.0, 0.5], [1, 3])  # N, and its moment about the sensor's origin [N m]
_USUALLY_NONE = 4.0  # logarithm of the evidence at which it is as likely as not
# What is no likelier lies outside of an interval of 95 %, however far it would move it: a window
# that hardly tells weight from a force allows forces as large as a light payload's weight.
_OUTSIDE = 0.01
_ROUNDS = 2  # of the levels


class RoomForce(NamedTuple):
    """A force that is constant in the room, if there is one.

    Attributes:
        force: upwards on the sensor, positive where it adds to the weight [N]; sd: of it.
        change: (10,) of phi beside it.
        evidence: logarithm of that for it over that against it.
    """

    force: float
    sd: float
    change: Array
    evidence: float

    @property
    def is_likely(self) -> bool:
        """Whether there is one more likely than not."""
        return self.evidence > _USUALLY_NONE

    @property
    def phi_covariance(self) -> Array:
        """Covariance (10, 10) of phi that was fitted without it."""
        likely = 1.0 / (1.0 + np.exp(min(_USUALLY_NONE - self.evidence, 50.0)))
        share = max(likely - _OUTSIDE, 0.0) / (1.0 - _OUTSIDE)
        return np.asarray(share * np.outer(self.change, self.change))


def find_room_force(given: FitInput) -> RoomForce | None:
    """The force that is constant in the room, by a window; None where that does not tell it."""
    places = places_of(given.window, given.gravity)
    if len(places.position) < _SHORTEST or np.ptp(places.position, axis=0).max() < _STILL:
        return None
    up = places.axes[:, 2]
    columns = np.zeros((len(up), 6, 4))
    columns[:, :3, 0], columns[:, 3:, 1:] = up, -skew(up)
    plain, beside = Rows(given), Rows(given, columns * _PRIOR_SD)
    levels, without = settle_levels(plain, given, _ROUNDS)
    phi = plain.weighed(levels).solution[:PARAMETERS]
    levels, evidence = settle_levels(beside, given, _ROUNDS)
    fit = beside.weighed(levels)
    return RoomForce(float(_PRIOR_SD[0] * fit.solution[-4]),
                     float(_PRIOR_SD[0] * np.sqrt(fit.covariance[-4, -4])),
                     fit.solution[:PARAMETERS] - phi, evidence - without)
