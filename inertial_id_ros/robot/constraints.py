# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Convex limits of the bodies of a robot, and how a user writes them in YAML (`docs/robot.md`).

Limits are affine cvxpy expressions: a square matrix must be positive semidefinite, a vector not
negative. The equations are those of Sousa and Cortesao 2014 ("004") and of Wensing, Kim, Slotine
2017 ("003"). The spatial form alone leaves the triangle inequalities of the principal moments open,
and its optimum may lie at infinitely heavy bodies, as null-space values are free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from ..errors import InvalidSetting
from ..estimators.reference_body import body_coordinates
from ..extras import optional_packages
from ..inertia import Array, pseudo_inertia, skew, tensor_from_six
from .least_squares import Reference, body_slices
from .model import BODY_SIZE, NOT_NEGATIVE, RobotModel

with optional_packages("identifying a robot"):
    import cvxpy as cp

# Of the parameters (p,) of a robot, indexed as an array is: an expression, or `AffineRobot`.
Limits = Callable[[Any], list[cp.Expression]]

# Margin of consistency, relative to a reference body: above the solver's tolerance, below any data.
MARGIN = 1e-6
_UNITS = np.eye(BODY_SIZE)


def spatial_inertia(phi: ArrayLike) -> Array:
    """``[[I, S(h)], [S(h)', m 1]]`` (6, 6) of parameters (10,) (004 eq. 17; 003 eq. 3)."""
    p = np.asarray(phi, dtype=float)
    return np.block([[tensor_from_six(p[4:]), skew(p[1:4])], [skew(p[1:4]).T, p[0] * np.eye(3)]])


def _columns(matrix_of: Callable[[Array], Array]) -> Array:
    """Columns (side^2, 10): the matrix, row by row, of a unit of each parameter."""
    return np.stack([matrix_of(unit).ravel() for unit in _UNITS], axis=1)


# Matrices that are positive definite for a body: "pseudo" (4, 4) is full physical consistency
# (003 Theorem 3), "spatial" (6, 6) positive kinetic energy (004 eq. 18).
FORMS = {"pseudo": _columns(pseudo_inertia), "spatial": _columns(spatial_inertia)}


def consistent(body: cp.Expression, like: Array, form: str = "pseudo", margin: float = MARGIN
               ) -> cp.Expression:
    """``M(body) - margin (m / m_like) M(like)`` for M of `FORMS`, seen from a body `like` it (10,),
    where ``M(like)`` is the unit matrix: the margin means the same for thick and thin bodies."""
    columns = FORMS[form]
    side = int(np.sqrt(len(columns)))
    root = np.linalg.inv(np.linalg.cholesky((columns @ like).reshape(side, side)))
    least = margin * np.outer(columns @ like / like[0], _UNITS[0])
    return cp.reshape(np.kron(root, root) @ (columns - least) @ body, (side, side), order="C")


def consistent_robot(model: RobotModel, like: Reference, form: str = "pseudo") -> Limits:
    """The limits of every robot: consistent bodies, friction and drive inertia >= 0 (004 eq. 28);
    `like`: robot to whose bodies the margin of consistency is relative."""
    bodies = body_slices(len(model.bodies))
    signed = model.term_indices(*NOT_NEGATIVE)
    return lambda phi: [*(consistent(phi[where], like.phi[where], form) for where in bodies),
                        *([phi[signed]] if signed else [])]


def mass_between(masses: cp.Expression, lower: float = 0.0, upper: float = np.inf
                 ) -> cp.Expression:
    """``lower <= sum of masses (k,) <= upper`` [kg] (004 eq. 25)."""
    total = cp.sum(masses)
    return cp.hstack([total - lower, *([] if np.isinf(upper) else [upper - total])])


def com_in_box(body: cp.Expression, lower: ArrayLike, upper: ArrayLike) -> cp.Expression:
    """The centre of mass between two corners (3,) [m] of a box (004 eq. 26), in kg."""
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    rows = np.concatenate([_UNITS[1:4] - np.outer(low, _UNITS[0]),
                           np.outer(high, _UNITS[0]) - _UNITS[1:4]])
    return (rows / np.tile(high - low, 2)[:, None]) @ body


def seen_from(center: ArrayLike, half_axes: ArrayLike, rpy: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Columns (16, 10) of the pseudo-inertia of a body, seen where an ellipsoid is the unit ball.

    Args:
        center: (3,) [m]; half_axes: (3,) [m], turned by roll, pitch, yaw (3,) [rad].
    """
    frame = np.eye(4)
    frame[:3, :3] = Rotation.from_euler("xyz", rpy).as_matrix() * half_axes
    frame[:3, 3] = center
    inverse = np.linalg.inv(frame)
    return _columns(lambda phi: inverse @ pseudo_inertia(phi) @ inverse.T)


def com_in_ellipsoid(body: cp.Expression, ball: Array) -> cp.Expression:
    """The centre of mass in an ellipsoid (003 eq. 22), see `seen_from`, in kg."""
    mass, off = cp.reshape(body[:1], (1, 1), order="C"), cp.reshape(
        ball[[3, 7, 11]] @ body, (3, 1), order="C")
    return cp.bmat([[mass, off.T], [off, body[0] * np.eye(3)]])


def density_in_ellipsoid(body: cp.Expression, ball: Array) -> cp.Expression:
    """``tr(J Q) >= 0`` (003 eq. 23), see `seen_from`, in kg: with `consistent`, all mass can lie in
    it."""
    return cp.reshape((ball[15] - ball[[0, 5, 10]].sum(axis=0)) @ body, (1,), order="C")


def density_in_union(body: cp.Expression, balls: Sequence[Array]) -> list[cp.Expression]:
    """All mass in a union of ellipsoids (003 Corollary 2): a sum of bodies, one in each ellipsoid.

    Those after the first are variables of their own. It implies `consistent` without its margin.
    """
    others = [np.linalg.pinv(ball) @ cp.vec(cp.Variable((4, 4), symmetric=True), order="C")
              for ball in balls[1:]]
    parts = [body - sum(others[1:], others[0]) if others else body, *others]
    return [limit for part, ball in zip(parts, balls, strict=True) for limit in (
        cp.reshape(ball @ part, (4, 4), order="C"), density_in_ellipsoid(part, ball))]


def near_design(body: cp.Expression, design: Array, distance: float) -> cp.Expression:
    """A body within a distance of its design (10,), in units of the design: 1 is 100 % of itself.

    The Schur complement of ``|difference| <= distance`` (as 004 eq. 54).
    """
    to_units = body_coordinates(design / design[0]).from_phi / (design[0] * distance)
    off = cp.reshape(to_units @ (body - design), (BODY_SIZE, 1), order="C")
    return cp.bmat([[np.eye(1), off.T], [off, np.eye(BODY_SIZE)]])


@dataclass(frozen=True)
class Bounds:
    """Bounds of the bodies of a robot that are known beforehand.

    Attributes:
        links: bounds of links by name: mass, box, com_ellipsoid, ellipsoids, near_design.
        masses: bounds on sums of masses: links, min, max.
        form: of physical consistency, one of `FORMS`.
    """

    links: Mapping[str, Any] = field(default_factory=dict)
    masses: Sequence[Any] = ()
    form: str = "pseudo"

    @classmethod
    def from_mapping(cls, given: Any) -> Bounds:
        """Bounds of the mapping of a file (raises InvalidSetting)."""
        bounds = cls(**entries(given, "constraints", "links", "masses", "form"))
        require(bounds.form in FORMS, "form", bounds.form, " or ".join(FORMS))
        require(isinstance(bounds.links, Mapping), "links", bounds.links, "a mapping by link")
        require(isinstance(bounds.masses, list | tuple), "masses", bounds.masses, "a list")
        return bounds

    def limits(self, bodies: Sequence[str], like: Array) -> Limits:
        """Limits of these bodies, which phi begins with (raises InvalidSetting: a link or bound
        that does not exist, or is out of range).

        Args:
            like: (p,) a robot of about the right size, and the design of `near_design`.
        """
        def limits(phi: Any) -> list[cp.Expression]:
            out = []
            for k, each in enumerate(self.masses):
                bound = entries(each, f"masses[{k}]", "links", "min", "max")
                low, high = (float(numbers(bound, end, default=value)) for end, value in (
                    ("min", 0.0), ("max", np.inf)))
                require(0.0 <= low <= high, f"masses[{k}]", each, "0 <= min <= max [kg]")
                masses = [place(link, bodies).start for link in bound.get("links") or bodies]
                out.append(mass_between(phi[masses], low, high) / like[masses].sum())
            for link, bounds in self.links.items():
                where = place(link, bodies)
                out += _link_limits(phi[where], link, bounds, like[where])
            return out

        limits(cp.Constant(like))  # complains of what is out of range
        return limits

    def box(self, body: str) -> tuple[Array, Array] | None:
        """Corners (3,) [m] of the box of a body, if it has one."""
        given = self.links.get(body, {})
        return tuple(numbers(given, "box", 2, 3)) if "box" in given else None


def _link_limits(body: cp.Expression, link: str, given: Any, like: Array) -> list[cp.Expression]:
    """Limits of one body, in units of the mass of a body like it (10,) (raises InvalidSetting)."""
    what, out = f"link '{link}'", []
    bounds = entries(given, what, "mass", "box", "com_ellipsoid", "ellipsoids", "near_design")
    if "mass" in bounds:
        low, high = numbers(bounds, "mass", 2)
        require(0.0 <= low <= high, what, bounds, "0 <= mass[0] <= mass[1] [kg]")
        out.append(mass_between(body[:1], low, high))
    if "box" in bounds:
        low, high = numbers(bounds, "box", 2, 3)
        require(np.all(low < high), what, bounds, "the first corner of box below the second [m]")
        out.append(com_in_box(body, low, high))
    if "com_ellipsoid" in bounds:
        out.append(com_in_ellipsoid(body, _ball(bounds["com_ellipsoid"], what)))
    if bounds.get("ellipsoids"):
        out += density_in_union(body, [_ball(each, what) for each in bounds["ellipsoids"]])
    out = [each / like[0] for each in out]
    if "near_design" in bounds:
        distance = float(numbers(bounds, "near_design"))
        require(distance > 0.0, what, bounds, "near_design above 0")
        out.append(near_design(body, like, distance))
    return out


def _ball(given: Any, what: str) -> Array:
    """See `seen_from` (raises InvalidSetting)."""
    ellipsoid = entries(given, f"ellipsoid of {what}", "center", "half_axes", "rpy")
    half = numbers(ellipsoid, "half_axes", 3)
    require(half.min() > 0.0, what, given, "half_axes above 0 [m]")
    return seen_from(numbers(ellipsoid, "center", 3), half, numbers(ellipsoid, "rpy", 3, default=0))


# What a user writes


def place(link: str, bodies: Sequence[str]) -> slice:
    """Where the parameters of a body are (raises InvalidSetting)."""
    require(link in bodies, "link", link, "one that moves: " + ", ".join(bodies))
    return body_slices(len(bodies))[list(bodies).index(link)]


def require(is_good: Any, what: str, given: Any, wanted: str) -> None:
    """Raise InvalidSetting where bounds are not in range."""
    if not is_good:
        raise InvalidSetting(f"{what} is {given}; needed: {wanted}")


def entries(given: Any, what: str, *allowed: str) -> dict[str, Any]:
    """A mapping that holds nothing else, without its empty values (raises InvalidSetting)."""
    require(isinstance(given, Mapping) and set(given) <= set(allowed), what, given,
            "a mapping of " + ", ".join(allowed))
    return {key: value for key, value in given.items() if value is not None}


def numbers(given: Mapping[str, Any], key: str, *shape: int, default: float | None = None) -> Array:
    """Numbers of a shape (none: a single number) under a key of a mapping (raises InvalidSetting).
    """
    if default is not None and key not in given:
        return np.full(shape, default)
    try:
        array = np.reshape(np.asarray(given[key], dtype=float), shape)
    except (KeyError, TypeError, ValueError):
        array = np.full(1, np.nan)
    require(np.isfinite(array).all(), f"'{key}'", given.get(key),
            f"{' x '.join(map(str, shape)) or 1} finite numbers")
    return array
