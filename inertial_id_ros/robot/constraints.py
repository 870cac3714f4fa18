# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Convex limits of the bodies of a robot, and how a user writes them in YAML (`docs/robot.md`).

Limits are affine cvxpy expressions: a square matrix must be positive semidefinite, a vector not
negative. The equations are those of Sousa and Cortesao 2014 ("004") and of Wensing, Kim, Slotine
2017 ("003").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from ..errors import InvalidSetting
from ..extras import optional_packages
from ..inertia import Array, pseudo_inertia, skew, tensor_from_six
from .least_squares import Reference, make_reference
from .model import BODY_SIZE, BODY_TERMS, NOT_NEGATIVE, body_slices

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
# (003 Theorem 3), "spatial" (6, 6) positive kinetic energy (004 eq. 18), which leaves the triangle
# inequalities of the principal moments open.
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


def mass_between(masses: cp.Expression, lower: float, upper: float) -> cp.Expression:
    """``lower <= sum of masses (k,) <= upper`` [kg] (004 eq. 25)."""
    total = cp.sum(masses)
    return cp.hstack([total - lower, *([] if np.isinf(upper) else [upper - total])])


def link_limits(body: cp.Expression, link: str, given: Any, like: Array) -> list[cp.Expression]:
    """What is known of one link, in units of the mass of a body like it (10,): a mass, a box or an
    ellipsoid for the centre of mass, ellipsoids for all mass, and nearness to the design `like`
    (raises InvalidSetting: a bound that does not exist, or is out of range)."""
    bounds = entries(given, link, "mass", "box", "com_ellipsoid", "ellipsoids", "near_design")
    out: list[cp.Expression] = []
    if "mass" in bounds:
        low, high = numbers(bounds, "mass", 2)
        require(0.0 <= low <= high, link, bounds, "0 <= mass[0] <= mass[1] [kg]")
        out.append(mass_between(body[:1], low, high))
    if "box" in bounds:  # 004 eq. 26
        low, high = numbers(bounds, "box", 2, 3)
        require(np.all(low < high), link, bounds, "the first corner of box below the second [m]")
        rows = np.concatenate([_UNITS[1:4] - np.outer(low, _UNITS[0]),
                               np.outer(high, _UNITS[0]) - _UNITS[1:4]])
        out.append((rows / np.tile(high - low, 2)[:, None]) @ body)
    if "com_ellipsoid" in bounds:  # 003 eq. 22
        off = cp.reshape(_ball(bounds["com_ellipsoid"], link)[[3, 7, 11]] @ body, (3, 1), order="C")
        out.append(cp.bmat([[body[0] * np.eye(1), off.T], [off, body[0] * np.eye(3)]]))
    balls = [_ball(each, link) for each in bounds.get("ellipsoids", ())]
    # A sum of bodies, one in each ellipsoid (003 Corollary 2); those after the first are variables.
    others = [np.linalg.pinv(ball) @ cp.vec(cp.Variable((4, 4), symmetric=True), order="C")
              for ball in balls[1:]]
    for part, ball in zip([body - sum(others), *others], balls, strict=False):
        out += [cp.reshape(ball @ part, (4, 4), order="C"),  # tr(J Q) >= 0 (003 eq. 23)
                cp.reshape((ball[15] - ball[[0, 5, 10]].sum(axis=0)) @ part, (1,), order="C")]
    out = [each / like[0] for each in out]
    if "near_design" in bounds:  # the Schur complement of |difference| <= distance (as 004 eq. 54)
        distance = float(numbers(bounds, "near_design"))
        require(distance > 0.0, link, bounds, "near_design above 0")
        off = cp.reshape(make_reference(like, 1).inverse / distance @ (body - like), (BODY_SIZE, 1),
                         order="C")
        out.append(cp.bmat([[np.eye(1), off.T], [off, np.eye(BODY_SIZE)]]))
    return out


def _ball(given: Any, link: str) -> Array:
    """Columns (16, 10) of the pseudo-inertia of a body, seen where an ellipsoid is the unit ball
    (raises InvalidSetting)."""
    ellipsoid = entries(given, f"ellipsoid of {link}", "center", "half_axes", "rpy")
    half, frame = numbers(ellipsoid, "half_axes", 3), np.eye(4)
    require(half.min() > 0.0, link, given, "half_axes above 0 [m]")
    frame[:3, :3] = Rotation.from_euler(
        "xyz", numbers(ellipsoid, "rpy", 3, default=0.0)).as_matrix() * half
    frame[:3, 3] = numbers(ellipsoid, "center", 3)
    inverse = np.linalg.inv(frame)
    return _columns(lambda phi: inverse @ pseudo_inertia(phi) @ inverse.T)


def robot_limits(names: Sequence[str], like: Reference,
                 constraints: Mapping[str, Any] | None = None, margin: float = MARGIN) -> Limits:
    """The limits of a robot: consistent bodies, friction and drive inertia >= 0 (004 eq. 28), and
    what is known beforehand (raises InvalidSetting: it does not exist, or is out of range).

    Args:
        names: (p,) of the parameters, the bodies first.
        like: robot of about the right size, and the design of `near_design`.
        constraints: as of a file: links, by name; masses, sums of them; form, one of `FORMS`.
    """
    known = entries(constraints or {}, "constraints", "links", "masses", "form")
    links, sums, form = known.get("links", {}), known.get("masses", ()), known.get("form", "pseudo")
    require(form in FORMS, "form", form, " or ".join(FORMS))
    require(isinstance(links, Mapping), "links", links, "a mapping by link")
    require(isinstance(sums, list | tuple), "masses", sums, "a list")
    terms, owners = zip(*(name[:-1].split("(", 1) for name in names), strict=True)
    bodies = owners[:terms.count(BODY_TERMS[0]) * BODY_SIZE:BODY_SIZE]
    places = dict(zip(bodies, body_slices(len(bodies)), strict=True))
    signed = [k for k, term in enumerate(terms) if term in NOT_NEGATIVE]

    def place(link: str) -> slice:
        require(link in places, "link", link, "one that moves: " + ", ".join(bodies))
        return places[link]

    def limits(phi: Any) -> list[cp.Expression]:
        out = [consistent(phi[where], like.phi[where], form, margin) for where in places.values()]
        out += [phi[signed]] if signed else []
        for k, each in enumerate(sums):
            bound = entries(each, f"masses[{k}]", "links", "min", "max")
            low, high = (float(numbers(bound, end, default=value)) for end, value in (
                ("min", 0.0), ("max", np.inf)))
            require(0.0 <= low <= high, f"masses[{k}]", each, "0 <= min <= max [kg]")
            masses = [place(link).start for link in bound.get("links") or bodies]
            out.append(mass_between(phi[masses], low, high) / like.phi[masses].sum())
        for link, bounds in links.items():
            out += link_limits(phi[place(link)], f"link '{link}'", bounds, like.phi[place(link)])
        return out

    limits(cp.Constant(like.phi))  # complains of what is out of range
    return limits


def require(is_good: Any, what: str, given: Any, wanted: str) -> None:
    """Raise InvalidSetting where what a user wrote is not in range."""
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
