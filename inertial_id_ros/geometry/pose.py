"""The uncertain pose of a shape as up to six states of an estimate.

A body in the shape is moved as a whole, so that it stays a body whatever the states are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..inertia import Array, phi_from_pseudo_inertia, pseudo_inertia, skew

_BASIS = np.eye(4 * 4).reshape(-1, 4, 4)
_TO_PSEUDO = np.stack([pseudo_inertia(e).ravel() for e in np.eye(10)], axis=1)  # (16, 10)
_FROM_PSEUDO = np.stack([phi_from_pseudo_inertia(0.5 * (e + e.T)) for e in _BASIS], axis=1)


@dataclass(frozen=True)
class PoseStates:
    """Standard deviations of a pose about its nominal value; no states where all are zero.

    Attributes:
        sd: (6,) of position [m] and of rotation [rad], along and about the sensor axes.
        center: (3,) centre of the rotation [m].
    """

    sd: Array = field(default_factory=lambda: np.zeros(6))
    center: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def count(self) -> int:
        """Number of states."""
        return 6 if self.sd.any() else 0

    def transform(self, states: Array) -> Array:
        """Matrix (10, 10) that moves phi; states (6,) in standard deviations, or none."""
        if not len(states):
            return np.eye(10)
        from scipy.spatial.transform import Rotation  # loads slowly, and most runs have no shape

        value = self.sd * states
        matrix = np.eye(4)
        matrix[:3, :3] = Rotation.from_rotvec(value[3:]).as_matrix()
        matrix[:3, 3] = value[:3] + self.center - matrix[:3, :3] @ self.center
        return _FROM_PSEUDO @ np.kron(matrix, matrix) @ _TO_PSEUDO

    def slope(self, phi: Array) -> Array:
        """Change (10, count) of phi (10,) per standard deviation of each state."""
        pseudo, columns = pseudo_inertia(phi), np.empty((10, self.count))
        for k in range(self.count):
            axis, step = np.eye(3)[k % 3], np.zeros((4, 4))
            if k < 3:
                step[:3, 3] = axis
            else:
                step[:3, :3] = skew(axis)
                step[:3, 3] = -np.cross(axis, self.center)
            moved = step @ pseudo
            columns[:, k] = self.sd[k] * phi_from_pseudo_inertia(moved + moved.T)
        return columns

    def covariance(self, phi: Array) -> Array:
        """Covariance (10, 10) of phi (10,), to first order."""
        slope = self.slope(phi)
        return slope @ slope.T
