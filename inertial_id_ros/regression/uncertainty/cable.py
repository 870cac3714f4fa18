# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The pull of a cable or a hose: a tension towards one point of the room.

It acts at a fixed point of the payload and grows with the distance, as that of a spring. The means
over slices of the room's axes and of the sensor's position tell its wrench in each slice, which is
taken out of the window like an error of the set-up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import PARAMETERS, Array
from ...linalg import identity
from ..alignment import GRAVITY_TILT, LIKE_A_PULL
from ..regressor_window import WindowContent
from ..row_layout import POSITION, UPWARD
from .calibration import common_gain_covariance

_INERTIA = slice(4, PARAMETERS)  # of phi, about the sensor's origin
VALUES = 8  # of the law of a cable
_POINT, TENSION, _STIFFNESS, _LEVER = slice(0, 3), 3, 4, slice(5, 8)
PRIOR_SD = np.r_[np.full(3, 1.0), 3.0, 6.0, np.full(3, 0.1)]  # m, N, N/m, m; about zero
_STEP = np.r_[np.full(3, 1e-4), 1e-3, 1e-3, np.full(3, 1e-5)]  # of the derivatives
_NEAREST = 0.05  # m; from the payload to the fixed point
# Logarithm of the evidence from which on a cable is certain, and at which it is as likely as not.
CERTAIN, _USUALLY_NONE = 12.0, 2.0
_EXPECTED = 4.0  # standard deviations of a tilt that is no pull
_VERTICAL = 0.5  # of a pull sideways, that which a cable pulls upwards or downwards as well
_INEXACT = 0.1  # share of the tension that is no spring's: a cable sags, bends and rubs


class Places(NamedTuple):
    """Where the sensor is in each slice of a window.

    Attributes:
        axes: (s, 3, 3) rows are the axes of the gravity frame in sensor axes.
        position: (s, 3) of the sensor along these axes, from its mean [m]; mean: (3,) that, from a
            point that does not move.
    """

    axes: Array
    position: Array
    mean: Array


def places_of(window: WindowContent, gravity: float) -> Places:
    """Where the sensor is in the slices of a window; gravity: [m/s^2]."""
    means = window.slices.sums / window.slices.samples[:, None, None]
    tilt = means[:, :3, GRAVITY_TILT.columns]
    axes = np.stack([tilt[..., GRAVITY_TILT.width // 2] / gravity, -tilt[..., 0] / gravity,
                     means[:, :3, UPWARD]], axis=1)
    position = means[:, 0, POSITION]
    mean = position.mean(axis=0)
    return Places(axes, position - mean, mean)


def pull(laws: Array, places: Places) -> Array:
    """Wrenches (l, s, 6) in ``y = A phi + bias + pull`` of laws (l, 8) of a cable.

    A law holds the fixed point (3) from the sensor's mean position, along the axes of the gravity
    frame [m], the tension at that distance [N], the stiffness [N/m], and where the cable is
    fastened (3), from the sensor's origin in its axes [m].
    """
    axes, position = places.axes, places.position
    lever = laws[:, None, _LEVER]
    line = (laws[:, None, _POINT] - position) - (axes @ lever[..., None])[..., 0]
    length = np.linalg.norm(line, axis=2, keepdims=True)
    rest = np.linalg.norm(laws[:, None, _POINT], axis=2, keepdims=True)
    tension = laws[:, None, TENSION, None] + laws[:, None, _STIFFNESS, None] * (length - rest)
    way = tension * line / np.maximum(length, _NEAREST)
    force = (way[..., None, :] @ axes)[..., 0, :]
    return -np.concatenate([force, np.cross(lever, force)], axis=2)


def linearise_pull(law: Array, places: Places) -> tuple[Array, Array]:
    """Wrench (s, 6) of a law (8,), and its derivatives (s, 6, 8)."""
    wrenches = pull(law + np.vstack([np.zeros(VALUES), np.diag(_STEP)]), places)
    return wrenches[0], (wrenches[1:] - wrenches[0]).transpose(1, 2, 0) / _STEP


class Cable(NamedTuple):
    """A cable that was found.

    Attributes:
        law: (8,) of it (see `pull`); places: of the window in which it was found.
        wrench: (s, 6) of its pull in the slices of that window, in y.
        covariance: (10, 10) of phi by what is not known of the law; change: (10,) of it, where the
            pull is taken out; states: (k,) beside it then, and their sigma (k,).
        evidence: logarithm of that for the cable over that against it.
    """

    law: Array
    places: Places
    wrench: Array
    covariance: Array
    change: Array
    states: Array
    sigma: Array
    evidence: float

    @property
    def is_certain(self) -> bool:
        """Whether the logarithm of the evidence for it leaves no doubt."""
        return self.evidence > CERTAIN

    def seen_from(self, places: Places) -> Cable:
        """The same cable in a window with other places."""
        law = self.law.copy()
        law[_POINT] += self.places.mean - places.mean
        longer = np.linalg.norm(law[_POINT]) - np.linalg.norm(self.law[_POINT])
        law[TENSION] += law[_STIFFNESS] * longer
        return self._replace(law=law, places=places, wrench=pull(law[None], places)[0])

    @property
    def lever(self) -> float:
        """Distance of the sensor's origin from where it is fastened [m]."""
        return float(np.linalg.norm(self.law[_LEVER]))

    @property
    def distance(self) -> float:
        """Distance of the sensor's mean position from the fixed point [m]."""
        return float(np.linalg.norm(self.law[_POINT]))

    @property
    def tension(self) -> float:
        """Root mean square of its force [N]."""
        return float(np.sqrt((self.wrench[:, :3] ** 2).sum(axis=1).mean()))

    def phi_covariance(self, gravity: float) -> Array:
        """Covariance (10, 10) of phi by all that is not known of the cable; gravity: [m/s^2]."""
        inexact = _INEXACT * self.tension / gravity
        lever = self.law[_LEVER]
        moment = np.outer(lever, lever) + 0.25 * float(lever @ lever) * identity(3)
        if not self.is_certain:
            out = self.covariance + np.outer(self.change, self.change)
            return np.asarray(out / (1.0 + np.exp(_USUALLY_NONE - self.evidence)))
        out = self.covariance.copy()
        out[0, 0] += inexact**2
        out[1:4, 1:4] += inexact**2 * moment
        out[0, 1:4] += inexact**2 * lever
        out[1:4, 0] += inexact**2 * lever
        return out


def sideways_covariance(phi: Array, tilt: Array, expected: float) -> Array:
    """Covariance (10, 10) of phi (10,) if what looks like a tilt of gravity is a pull sideways.

    A constant one and the weight together are larger than the weight. Where it is more than a tilt
    may be, something pulls upwards or downwards as well, half as much as sideways, and the torque
    of all that looks like inertia.

    Args:
        tilt: (2,) about the gravity frame's x and y [rad]; expected: its standard deviation about
            each before the data [rad].
    """
    angle = float(np.hypot(tilt[0], tilt[1]))
    share = np.sin(max(angle - max(LIKE_A_PULL, _EXPECTED * expected), 0.0))
    out = common_gain_covariance(phi, 1.0 - np.cos(angle) + _VERTICAL * share)
    moment = (phi[4] + phi[7] + phi[9]) / 3.0
    out[_INERTIA, _INERTIA] += (share * moment) ** 2 * identity(PARAMETERS - 4)
    return out
