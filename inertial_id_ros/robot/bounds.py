# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a user gives in YAML: bounds on the bodies of a robot, and base parameters to check."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import InvalidData, InvalidSetting
from ..extras import optional_packages
from ..inertia import Array, phi_from_body
from .base_parameters import BaseParameters
from .constraints import (
    FORMS,
    MARGIN,
    Ellipsoid,
    Limits,
    com_in_box,
    com_in_ellipsoid,
    consistent,
    density_in_union,
    mass_between,
    near_design,
)
from .feasibility import Feasibility, check_feasibility, correct_to_feasible
from .least_squares import description_reference, make_reference
from .mass_points import Box, uniform_box
from .model import BODY_SIZE, BODY_TERMS, NOT_NEGATIVE, OFFSET, RobotModel

with optional_packages("identifying a robot"):
    import cvxpy as cp

_OF_LINK = ("mass", "box", "com_ellipsoid", "ellipsoids", "near_design")
_OF_JOINT = (*NOT_NEGATIVE, OFFSET)
_TERM = re.compile(r"\s*([+-]?)\s*(?:([0-9.]+(?:e[+-]?[0-9]+)?)\s*\*?\s*)?"
                   r"([A-Za-z_]\w*)\(([^()]+)\)", re.IGNORECASE)


@dataclass(frozen=True)
class Bounds:
    """Bounds of the bodies of a robot that are known beforehand, as in `docs/robot.md`.

    Attributes:
        links: bounds of links by name; masses: bounds on sums of masses.
        form: of physical consistency, one of `FORMS`.
    """

    links: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    masses: Sequence[Mapping[str, Any]] = ()
    form: str = "pseudo"

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Bounds:
        """Bounds of the mapping of a file (raises InvalidSetting)."""
        bounds = cls(**_only(("links", "masses", "form"), given, "constraints"))
        if bounds.form not in FORMS:
            raise InvalidSetting(f"form is '{bounds.form}'; allowed: {', '.join(FORMS)}")
        if not (isinstance(bounds.links, Mapping) and isinstance(bounds.masses, list | tuple)):
            raise InvalidSetting(f"constraints: links are {bounds.links}, masses are "
                                 f"{bounds.masses}; expected a mapping by link, and a list")
        return bounds

    def limits(self, bodies: Sequence[str], like: Array) -> Limits:
        """Expressions of these bodies, which phi begins with.

        Args:
            like: (p,) a robot of about the right size, and the design of `near_design`.

        Raises:
            InvalidSetting: a link or bound that does not exist, or is out of range.
        """
        def limits(phi: Any) -> list[cp.Expression]:
            out = []
            for each in self.masses:
                _only(("links", "min", "max"), each, "masses")
                masses = [_place(link, bodies).start for link in each.get("links") or bodies]
                ends = {end: float(_numbers(each, end)) for end in ("min", "max") if end in each}
                out.append(mass_between(phi[masses], ends.get("min", 0.0), ends.get("max", np.inf))
                           / like[masses].sum())
            for link, bounds in self.links.items():
                where = _place(link, bodies)
                try:
                    out += _link_limits(phi[where], bounds, like[where])
                except (InvalidData, InvalidSetting) as error:
                    raise InvalidSetting(f"link '{link}': {error}") from None
            return out

        limits(cp.Constant(like))  # complains of what is out of range
        return limits

    def boxes(self, bodies: Sequence[str], design: Array) -> list[Box]:
        """The box of each body; of those without one, twice that of a uniform body like it."""
        return [Box(*_numbers(self.links[body], "box", 2, 3)) if "box" in self.links.get(body, {})
                else uniform_box(design[_place(body, bodies)]) for body in bodies]


def _link_limits(body: cp.Expression, bounds: Mapping[str, Any], like: Array
                 ) -> list[cp.Expression]:
    """Expressions of one body, in units of the mass of a body like it (10,) (raises InvalidData,
    InvalidSetting)."""
    _only(_OF_LINK, bounds, "bounds")
    out = []
    if "mass" in bounds:
        out.append(mass_between(body[:1], *_numbers(bounds, "mass", 2).tolist()))
    if "box" in bounds:
        out.append(com_in_box(body, *_numbers(bounds, "box", 2, 3)))
    if "com_ellipsoid" in bounds:
        out.append(com_in_ellipsoid(body, _ellipsoid(bounds["com_ellipsoid"])))
    if bounds.get("ellipsoids"):
        out += density_in_union(body, [_ellipsoid(each) for each in bounds["ellipsoids"]])
    out = [each / like[0] for each in out]
    if "near_design" in bounds:
        out.append(near_design(body, like, float(_numbers(bounds, "near_design"))))
    return out


def _ellipsoid(given: Mapping[str, Any]) -> Ellipsoid:
    """An ellipsoid of its centre, half axes [m] and, where it is turned, roll, pitch, yaw [rad]."""
    _only(("center", "half_axes", "rpy"), given, "ellipsoid")
    turn = Rotation.from_euler("xyz", _numbers({"rpy": (0.0, 0.0, 0.0), **given}, "rpy", 3))
    half = _numbers(given, "half_axes", 3)
    if not half.min() > 0.0:
        raise InvalidSetting(f"half_axes is {half.tolist()} m; each must be positive")
    across = turn.as_matrix() * half
    return Ellipsoid(_numbers(given, "center", 3), across @ across.T)


def _place(link: str, bodies: Sequence[str]) -> slice:
    """Where the parameters of a body are (raises InvalidSetting)."""
    if link not in bodies:
        raise InvalidSetting(f"there is no link '{link}' that moves; there are: "
                             + ", ".join(bodies))
    first = BODY_SIZE * list(bodies).index(link)
    return slice(first, first + BODY_SIZE)


def _only(allowed: Sequence[str], given: Any, what: str) -> dict[str, Any]:
    """A mapping that holds nothing else, without its empty values (raises InvalidSetting)."""
    if not isinstance(given, Mapping) or not set(given) <= set(allowed):
        held = sorted(map(str, given)) if isinstance(given, Mapping) else given
        raise InvalidSetting(f"{what}: {held}; allowed: {', '.join(allowed)}")
    return {key: value for key, value in given.items() if value is not None}


def _numbers(given: Mapping[str, Any], key: str, *shape: int) -> Array:
    """Finite numbers of a shape (none: a single number) under a key of a mapping (raises
    InvalidSetting)."""
    try:
        array = np.reshape(np.asarray(given[key], dtype=float), shape)
    except (KeyError, TypeError, ValueError):
        array = np.full(1, np.nan)
    if not np.isfinite(array).all():
        wanted = " x ".join(map(str, shape)) + " numbers" if shape else "a number"
        raise InvalidSetting(f"{given} needs {wanted} as '{key}'")
    return array


@dataclass(frozen=True)
class BaseCheck:
    """Base parameters that were checked.

    Attributes:
        combinations: (nb,) of link parameters; beta: (nb,) their values.
        feasibility: says if a robot can have them; nearest: (nb,) those that one can have.
    """

    combinations: tuple[str, ...]
    beta: Array
    feasibility: Feasibility
    nearest: Array

    @property
    def distance(self) -> float:
        """Euclidean distance to the nearest, sqrt(u') (Sousa and Cortesao 2014, eq. 56)."""
        return float(np.linalg.norm(self.nearest - self.beta))


def check_base_parameters(given: Mapping[str, Any], constraints: Mapping[str, Any],
                          description: RobotModel | None) -> BaseCheck:
    """Check base parameters by BPFT, and correct them by BPFC.

    Args:
        given: ``base_parameters``, a list of ``combination`` and ``value``, as `identify_robot`
            writes to JSON: "Lyy(1) + ..." in SI units, about the origins of the links' frames.
        constraints: bounds of the bodies, as of a file.
        description: the robot, for scale; None: bodies of 1 kg and 1 kg m^2.

    Raises:
        InvalidSetting: the mapping says something else.
    """
    bounds = Bounds.from_mapping(constraints)
    entries = given.get("base_parameters") if isinstance(given, Mapping) else None
    if not isinstance(entries, list) or not entries:
        raise InvalidSetting("there is no list 'base_parameters'")
    beta = np.array([_numbers(each, "value") for each in entries])
    texts = [str(each.get("combination", "")) for each in entries]
    base, bodies, signed = _base_parameters(texts)
    phi = np.zeros(len(base.names))
    for k, body in enumerate(bodies):
        phi[BODY_SIZE * k:BODY_SIZE * (k + 1)] = phi_from_body(1.0, np.zeros(3), np.eye(3)) if (
            description is None or body not in description.bodies) else (
            description_reference(description).phi[description.body_slice(body)])
    scale, more = make_reference(phi, len(bodies)), bounds.limits(bodies, phi)

    def limits(p: Any, margin: float = 0.0) -> list[cp.Expression]:
        exists = [consistent(p[where], phi[where], bounds.form, margin=0.0)
                  for where in (_place(body, bodies) for body in bodies)]
        return [*(each - margin * np.eye(each.shape[0]) for each in exists),
                *([p[signed]] if signed else []), *more(p)]

    # A robot can have what lies on the border of the cones, as fits often do (eq. 51); what is
    # corrected comes to lie inside (eq. 21, whose margin does not grow with the mass).
    nearest = correct_to_feasible(base, beta, lambda p: limits(p, MARGIN), scale)
    return BaseCheck(tuple(texts), beta, check_feasibility(base, beta, limits, scale),
                     base.matrix @ nearest)


def _combination(text: str) -> dict[tuple[str, str], float]:
    """Coefficients of a linear combination such as ``Ixx(arm) - Iyy(arm) + 0.3 m(hand)``, by term
    and owner."""
    out: dict[tuple[str, str], float] = {}
    end = 0
    while found := _TERM.match(text, end):
        sign, factor, term, owner = found.groups()
        if term not in (*BODY_TERMS, *_OF_JOINT):
            raise InvalidSetting(f"there is no parameter '{term}({owner})'; allowed: of a link "
                                 f"{', '.join(BODY_TERMS)}; of a joint {', '.join(_OF_JOINT)}")
        out[term, owner] = float(factor or 1.0) * (-1.0 if sign == "-" else 1.0)
        end = found.end()
    if not out or text[end:].strip():
        raise InvalidSetting(f"combination '{text}' is not understood; expected one like 'Ixx(arm) "
                             "- Iyy(arm) + 0.3 m(hand)'")
    return out


def _base_parameters(texts: Sequence[str]) -> tuple[BaseParameters, list[str], list[int]]:
    """Base parameters of combinations, names of the bodies, and indices of terms that cannot be
    negative (raises InvalidSetting)."""
    rows = [_combination(text) for text in texts]
    used = list(dict.fromkeys(key for row in rows for key in row))
    bodies = list(dict.fromkeys(owner for term, owner in used if term in BODY_TERMS))
    keys = [*((term, body) for body in bodies for term in BODY_TERMS),
            *(key for key in used if key[0] in _OF_JOINT)]
    matrix = np.array([[row.get(key, 0.0) for key in keys] for row in rows])
    independent = np.array([keys.index(next(iter(row))) for row in rows])
    wrong = np.flatnonzero(np.any(matrix[:, independent] != np.eye(len(rows)), axis=0))
    if len(wrong):
        raise InvalidSetting(f"combination '{texts[wrong[0]]}' must begin with a parameter that no "
                             "other combination holds, without a factor")
    dependent = np.setdiff1d(np.arange(len(keys)), independent)
    base = BaseParameters(tuple(f"{term}({owner})" for term, owner in keys), independent, dependent,
                          matrix[:, dependent])
    return base, bodies, [k for k, key in enumerate(keys) if key[0] in NOT_NEGATIVE]
