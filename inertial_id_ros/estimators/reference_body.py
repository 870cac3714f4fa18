"""A reference body of 1 kg, and coordinates in which it is the unit: the scale of every estimator.

With ``J(unit_phi) = L L'`` (L upper block triangular, that is an affine map of space), the
coordinates are ``x = svec(L^-1 J(phi) L^-T)``. There the reference body is ``svec(1)``, lengths are
multiples of its radius of gyration, and "small" means the same along a thin and along a long axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..geometry.shape import Shape
from ..inertia import Array, is_consistent, phi_from_body, phi_from_pseudo_inertia, pseudo_inertia
from .solvers.triangle_vector import SIDE, SVEC_SIZE, smat, svec

# Without a shape: a ball at the sensor origin whose mass lies at 0.05 m (root mean square, each
# axis), the size of a tool or of a part that an arm carries.
DEFAULT_RADIUS = 0.05

MASS = SVEC_SIZE - 1  # coordinate that is the mass
FIRST = np.array([6, 7, 8])  # coordinates sqrt(2) * first moment


@dataclass(frozen=True)
class ReferenceBody:
    """The reference body and the linear maps between phi and its coordinates.

    Attributes:
        unit_phi: (10,) the body, 1 kg, about the sensor origin.
        to_phi: (10, 10) phi from coordinates.
        from_phi: (10, 10) coordinates from phi.
    """

    unit_phi: Array
    to_phi: Array
    from_phi: Array

    def pseudo(self, coordinates: Array) -> Array:
        """Pseudo-inertia (4, 4) in units of the reference body."""
        return smat(coordinates)

    def with_extent(self, phi: Array) -> Array:
        """phi, or as little of the reference body's extent in it as makes it consistent.

        A part of the mass, 1e-6 or the next power of ten that suffices, goes to the reference body;
        mass stays, centre and tensor move by that part.
        """
        for share in (0.0, 1e-6, 1e-5, 1e-4, 1e-3):
            moved = (1.0 - share) * phi + share * phi[0] * self.unit_phi
            if is_consistent(moved):
                return moved
        return phi[0] * self.unit_phi

    def smallest_eigenvalue(self, phi: Array) -> float:
        """Smallest eigenvalue of J(phi) relative to J of the reference body of the same mass."""
        return float(np.linalg.eigvalsh(smat(self.from_phi @ phi))[0]) / float(phi[0])


def reference_body(shape: Shape | None) -> ReferenceBody:
    """The shape filled evenly, or a ball of usual size at the sensor origin."""
    if shape is None:
        return body_coordinates(phi_from_body(1.0, np.zeros(3),
                                              2.0 * DEFAULT_RADIUS**2 * np.eye(3)))
    return body_coordinates(shape.unit_phi)


def body_coordinates(unit: Array) -> ReferenceBody:
    """The maps of a consistent body of 1 kg, phi (10,)."""
    pseudo = pseudo_inertia(unit)
    com = pseudo[:3, 3]
    factor = np.eye(SIDE)
    factor[:3, :3] = np.linalg.cholesky(pseudo[:3, :3] - np.outer(com, com))
    factor[:3, 3] = com
    inverse = np.linalg.inv(factor)
    to_phi = np.stack([phi_from_pseudo_inertia(factor @ smat(e) @ factor.T)
                       for e in np.eye(SVEC_SIZE)], axis=1)
    from_phi = np.stack([svec(inverse @ pseudo_inertia(e) @ inverse.T)
                         for e in np.eye(SVEC_SIZE)], axis=1)
    return ReferenceBody(unit, to_phi, from_phi)


def weakened(information: Array, covariance: Array) -> Array:
    """Information (10, 10) of a prior after an error of covariance (10, 10) is added to it.

    Neither need be of full rank: ``root' (1 + root C root')^-1 root`` with ``root' root`` the
    information.
    """
    values, vectors = np.linalg.eigh(0.5 * (information + information.T))
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return root.T @ np.linalg.solve(np.eye(len(root)) + root @ covariance @ root.T, root)


class ReferenceBodies:
    """Remembers the reference body of the last shape, so that a timer tick does not rebuild it."""

    def __init__(self) -> None:
        self._shape: Shape | None = None
        self._body = reference_body(None)

    def of(self, shape: Shape | None) -> ReferenceBody:
        """The reference body of that shape."""
        if shape is not self._shape:
            self._shape, self._body = shape, reference_body(shape)
        return self._body
