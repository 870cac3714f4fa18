# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How wrong a told shape may be: position, rotation and size as nine states of an estimate.

The body in the shape is mapped affinely, ``x -> x + shift + B (x - center)``, so that it stays a
body whatever the states are. B is linear in them: a rotation by 20 degrees comes with 6 % of
growth, which is little beside the error of the size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..inertia import Array, phi_from_pseudo_inertia, pseudo_inertia, skew

_BASIS = np.eye(4 * 4).reshape(-1, 4, 4)
_TO_PSEUDO = np.stack([pseudo_inertia(e).ravel() for e in np.eye(10)], axis=1)  # (16, 10)
_FROM_PSEUDO = np.stack([phi_from_pseudo_inertia(0.5 * (e + e.T)) for e in _BASIS], axis=1)
_IDENTITY = np.eye(4)


def map_phi(matrix: Array) -> Array:
    """Matrix (10, 10) that moves phi as a homogeneous map (4, 4) moves points."""
    return _map_phi(matrix, matrix)


def _map_phi(left: Array, right: Array) -> Array:
    """Matrices (..., 10, 10) that turn J(phi) into ``left J right'``, made symmetric."""
    product = left[..., :, None, :, None] * right[..., None, :, None, :]  # of Kronecker
    return _FROM_PSEUDO @ product.reshape(*product.shape[:-4], 16, 16) @ _TO_PSEUDO


@dataclass(frozen=True)
class ShapeError:
    """Standard deviations of what may be wrong about a shape; no states where all are zero.

    Attributes:
        position: [m] along each sensor axis; rotation: [rad] about each; size: relative, along each
            axis of the shape.
        center: (3,) centre of the rotation and of the growth [m].
        axes: (3, 3) axes of the shape as columns.
    """

    position: float = 0.0
    rotation: float = 0.0
    size: float = 0.0
    center: Array = field(default_factory=lambda: np.zeros(3))
    axes: Array = field(default_factory=lambda: np.eye(3))

    @cached_property
    def _steps(self) -> Array:
        """Change (count, 4, 4) of the homogeneous map per standard deviation of each state."""
        steps = np.zeros((9, 4, 4))
        for k, (axis, own) in enumerate(zip(np.eye(3), self.axes.T, strict=True)):
            steps[k, :3, 3] = self.position * axis
            steps[3 + k, :3, :3] = self.rotation * skew(axis)
            steps[6 + k, :3, :3] = self.size * np.outer(own, own)
        steps[3:, :3, 3] = -steps[3:, :3, :3] @ self.center
        return steps[steps.any(axis=(1, 2))]

    @property
    def count(self) -> int:
        """Number of states."""
        return len(self._steps)

    def map_points(self, states: Array) -> Array:
        """The homogeneous map (4, 4) of points that states (count,) make."""
        return _IDENTITY + (states @ self._steps.reshape(-1, 16)).reshape(4, 4)

    def slopes(self, matrix: Array) -> Array:
        """Change (count, 10, 10) of the map of phi per standard deviation of each state.

        Args:
            matrix: (4, 4) see `map_points`.
        """
        return (self._slopes_per_entry @ matrix.ravel()).reshape(-1, 10, 10)

    @cached_property
    def _slopes_per_entry(self) -> Array:
        """The slopes (count * 100, 16) per entry of the map of points, in which they are linear."""
        slopes = 2.0 * _map_phi(self._steps[:, None], _BASIS)  # (count, 16, 10, 10)
        return np.ascontiguousarray(slopes.transpose(0, 2, 3, 1).reshape(-1, len(_BASIS)))

    @cached_property
    def curvature(self) -> Array:
        """Second derivative (count, count, 10, 10) of the map of phi, the same everywhere."""
        steps = self._steps
        return 2.0 * _map_phi(steps[:, None], steps)

    def displacement(self, lengths: Array) -> float:
        """Standard deviation [m] of where the nearest face of a box with lengths (3,) lies."""
        half = 0.5 * float(lengths.min())
        return float(np.hypot(self.position, half * np.hypot(self.rotation, self.size)))

    def slope(self, phi: Array) -> Array:
        """Change (10, count) of phi (10,) per standard deviation of each state, near zero."""
        return (self.slopes(_IDENTITY) @ phi).T

    def covariance(self, phi: Array) -> Array:
        """Covariance (10, 10) of phi (10,), to first order."""
        slope = self.slope(phi)
        return slope @ slope.T
