# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The ten inertial parameters of one rigid body: conversions, and physical consistency.

The parameter vector of this package is
``phi = [m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz]``: mass [kg], first moments [kg m] and
tensor entries [kg m^2] about the origin of a frame, along its axes (``Ixy = -int x y dm``). Every
other convention met at the borders of the package is converted here and nowhere else.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InvalidData

Array: TypeAlias = NDArray[np.floating[Any]]

PARAMETERS, SIDE = 10, 4  # of one body: mass, first, second moments; of its pseudo-inertia
PARAMETER_NAMES = ("mass", "com.x", "com.y", "com.z", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
GROUPS = {"mass": slice(0, 1), "com": slice(1, SIDE), "inertia": slice(SIDE, None)}  # of the ten
_ROWS, _COLS = np.triu_indices(3)  # of the six tensor entries, in the order of phi
_SKEW = np.cross(np.eye(3)[:, None], np.eye(3)).transpose(0, 2, 1).reshape(3, -1)
_TINY = np.finfo(float).tiny


class Body(NamedTuple):
    """A body about its centre of mass: mass [kg], com (3,) [m], inertia_com (3, 3) [kg m^2]."""

    mass: float
    com: Array
    inertia_com: Array


def skew(vectors: ArrayLike) -> Array:
    """Cross-product matrices (..., 3, 3) of vectors (..., 3): ``skew(a) @ b == cross(a, b)``."""
    return np.asarray(np.asarray(vectors) @ _SKEW).reshape(*np.shape(vectors), 3)


def tensor_from_six(six: ArrayLike) -> Array:
    """Symmetric (..., 3, 3) from the six entries (..., 6) ``xx, xy, xz, yy, yz, zz``."""
    s = np.asarray(six, dtype=float)
    out = np.empty((*s.shape[:-1], 3, 3))
    out[..., _ROWS, _COLS] = s
    out[..., _COLS, _ROWS] = s
    return out


def six_from_tensor(tensor: ArrayLike) -> Array:
    """The six entries (..., 6) ``xx, xy, xz, yy, yz, zz`` of symmetric (..., 3, 3)."""
    return np.asarray(tensor, dtype=float)[..., _ROWS, _COLS]


def phi_from_body(mass: float, com: ArrayLike, inertia_com: ArrayLike) -> Array:
    """phi (10,) of a body given about its centre of mass (all along the same axes)."""
    phi = mass * point_columns(com)[:, 0]
    phi[4:] += six_from_tensor(inertia_com)
    return phi


def body_from_phi(phi: ArrayLike) -> Body:
    """Mass [kg], centre of mass (3,) [m] and tensor about it (3, 3) [kg m^2] of phi (10,) (raises
    InvalidData: the mass is not positive, so that there is no centre of mass)."""
    report = report_from_phi(phi)
    return Body(float(report[0]), report[1:4], tensor_from_six(report[4:]))


def move_body(body: Body, rotation: ArrayLike, translation: ArrayLike) -> Body:
    """The body in frame A from that in frame B, where ``x_A = rotation x_B + translation``; without
    the rounding of large lever arms that phi has."""
    turn = np.asarray(rotation, dtype=float)
    inertia = turn @ body.inertia_com @ turn.T
    shift = np.asarray(translation, dtype=float)
    return Body(body.mass, turn @ body.com + shift, 0.5 * (inertia + inertia.T))


# Matrix (16, 10) from phi to the entries of the pseudo-inertia.
_TENSORS, _BASIS = tensor_from_six(np.eye(10)[:, SIDE:]), np.zeros((10, SIDE, SIDE))
_BASIS[:, :3, :3] = np.trace(_TENSORS, 0, 1, 2)[:, None, None] / 2.0 * np.eye(3) - _TENSORS
_BASIS[1:4, :3, 3] = _BASIS[1:4, 3, :3] = np.eye(3)
_BASIS[0, 3, 3] = 1.0
_TO_PSEUDO = np.ascontiguousarray(_BASIS.reshape(10, -1).T)


def pseudo_inertia(phi: ArrayLike) -> Array:
    """Pseudo-inertia (..., 4, 4) ``[[Sigma, h], [h', m]]`` of phi (..., 10) (Wensing et al. 2017,
    eq. 13)."""
    return (np.asarray(phi, dtype=float) @ _TO_PSEUDO.T).reshape(*np.shape(phi)[:-1], 4, 4)


def phi_from_pseudo_inertia(pseudo: ArrayLike) -> Array:
    """phi (..., 10) from pseudo-inertias (..., 4, 4)."""
    j = np.moveaxis(np.asarray(pseudo, dtype=float), (-2, -1), (0, 1))
    return np.stack([j[3, 3], *j[:3, 3], j[1, 1] + j[2, 2], -j[0, 1], -j[0, 2],
                     j[0, 0] + j[2, 2], -j[1, 2], j[0, 0] + j[1, 1]], axis=-1)


def transform_phi(phi: ArrayLike, rotation: ArrayLike, translation: ArrayLike) -> Array:
    """phi (..., 10) in frame A from that in frame B, where ``x_A = rotation x_B + translation``."""
    homogeneous = np.eye(4)
    homogeneous[:3, :3], homogeneous[:3, 3] = rotation, translation
    return phi_from_pseudo_inertia(homogeneous @ pseudo_inertia(phi) @ homogeneous.T)


def transform_matrix(rotation: ArrayLike, translation: ArrayLike) -> Array:
    """Matrix (10, 10) of ``transform_phi``, which is linear in phi; carries a covariance along."""
    return transform_phi(np.eye(10), rotation, translation).T


def min_eigenvalue(phi: ArrayLike) -> float:
    """Smallest eigenvalue of the pseudo-inertia of phi (10,); positive exactly for bodies."""
    return float(np.linalg.eigvalsh(pseudo_inertia(phi))[0])


def is_consistent(phi: ArrayLike) -> bool:
    """True if phi (10,) is fully consistent: ``J > 0`` (Wensing et al. 2017, Theorem 3).

    The test runs on the pseudo-inertia about the centre of mass scaled to unit size, so that a
    rounding error of a large lever arm or a small body does not decide.
    """
    p = np.asarray(phi, dtype=float)
    with np.errstate(all="ignore"):  # absurd numbers, as in a damaged file
        j = pseudo_inertia(p)
        about_com = j[:3, :3] - p[1:4, None] * p[1:4] / p[0]
    if not p[0] > 0.0 or not np.isfinite(about_com).all():
        return False
    eigenvalues = np.linalg.eigvalsh(about_com)
    return bool(eigenvalues[0] > 1e-12 * max(eigenvalues[-1], _TINY)
                and np.linalg.eigvalsh(j)[0] > 0.0)


def report_from_phi(phi: ArrayLike) -> Array:
    """The ten numbers (10,) a user reads: mass, com, tensor entries about the centre of mass.

    Raises:
        InvalidData: no ten finite numbers, or a mass that is not positive.
    """
    out = np.array(phi, dtype=float)
    if out.shape != (10,) or not np.isfinite(out).all():
        raise InvalidData(f"inertial parameters must be ten finite numbers, got {out.tolist()}")
    if not out[0] > 0.0:
        raise InvalidData(f"mass is {out[0]:g} kg; a centre of mass needs a positive mass")
    out[1:4] /= out[0]
    out[4:] -= out[0] * point_columns(out[1:4])[4:, 0]
    return out


def report_jacobian(phi: ArrayLike) -> Array:
    """Derivative (10, 10) of ``report_from_phi``; maps a covariance of phi to one of the report."""
    mass, *_ = report = report_from_phi(phi)
    c, out = report[1:4], np.eye(10)
    out[1:4, 0] = -c / mass
    out[[1, 2, 3], [1, 2, 3]] = 1.0 / mass
    # I_com = I - (h'h 1 - h h') / m, of which central differences are exact.
    out[4:, 0] = point_columns(c)[4:, 0]
    out[4:, 1:4] = -0.5 * (point_columns(c + np.eye(3)) - point_columns(c - np.eye(3)))[4:]
    return out


def point_columns(points: ArrayLike) -> Array:
    """Matrix (10, n) from point masses to phi; a column for a unit mass at each point (n, 3)."""
    x, y, z = np.asarray(points, dtype=float).reshape(-1, 3).T
    one = np.ones_like(x)
    return np.stack(
        [one, x, y, z, y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y])


def phi_to_pinocchio(phi: ArrayLike) -> Array:
    """Pinocchio's parameters (10,): same origin, tensor order ``xx, xy, yy, xz, yz, zz``."""
    return np.asarray(phi, dtype=float)[[0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]


phi_from_pinocchio = phi_to_pinocchio  # the same two change places


def principal_moments(inertia_com: ArrayLike) -> tuple[Array, Array]:
    """Principal moments (3,) ascending [kg m^2] and right-handed axes (3, 3), in columns."""
    values, axes = np.linalg.eigh(np.asarray(inertia_com, dtype=float))
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] *= -1.0
    return values, axes
