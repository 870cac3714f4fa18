# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The methods of the papers for `identify_robot`, and the constraints that a user gives.

Constraints are a mapping (of a YAML file, see `docs/robot.md`) of links to bounds on their mass,
centre of mass and density, and of sums of masses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import InvalidData, InvalidSetting
from ...extras import optional_packages
from ...inertia import Array, phi_from_body
from ...robot.base_parameters import BaseParameters, fit_base_parameters
from ...robot.consistent_fit import Described, identify_described
from ...robot.constraints import (
    FORMS,
    MARGIN,
    Ellipsoid,
    Limits,
    Parameters,
    com_in_box,
    com_in_ellipsoid,
    consistent,
    consistent_robot,
    density_in_union,
    mass_between,
    near_design,
)
from ...robot.factors import Compressed
from ...robot.feasibility import (
    Feasibility,
    check_feasibility,
    correct_to_feasible,
    fit_feasible,
)
from ...robot.joint_terms import NOT_NEGATIVE, OFFSET
from ...robot.mass_points import Box, box_reference, fit_mass_points, uniform_box
from ...robot.model import BODY_SIZE, BODY_TERMS, RobotModel
from ...robot.nearest_robot import InfeasibleProblem, depth, nearest_robot
from ...robot.reference import Reference, description_reference, make_reference

with optional_packages("identifying a robot"):
    import cvxpy as cp

METHODS = ("lmi", "fbpe", "ols+bpfc", "mass-points")
_OF_LINK = {"mass", "box", "com_ellipsoid", "ellipsoids", "near_design"}
_OF_ELLIPSOID = {"center", "half_axes", "rpy"}
_OF_SUM = {"links", "min", "max"}
_OF_JOINT = (*NOT_NEGATIVE, OFFSET)
_SHARES = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)  # of a design, to leave the solver's tolerance
_CLOSE = 1e-6  # of base parameters in SI units, to which link parameters are filled in


@dataclass(frozen=True)
class Known:
    """Bounds of the bodies of a robot that are known beforehand.

    Attributes:
        links: bounds of links by name; masses: bounds on sums of masses.
        form: of physical consistency, one of `FORMS`.
    """

    links: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    masses: Sequence[Mapping[str, Any]] = ()
    form: str = "pseudo"

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Known:
        """Known bounds of the mapping of a file (raises InvalidSetting)."""
        parts = _only({"links", "masses", "form"}, given, "constraints")
        links, masses = parts.get("links") or {}, parts.get("masses") or []
        if not isinstance(links, Mapping) or not isinstance(masses, list):
            raise InvalidSetting(f"constraints: links are {links}, masses are {masses}; expected a "
                                 "mapping by link, and a list")
        known = cls(links, masses, parts.get("form", "pseudo"))
        if known.form not in FORMS:
            raise InvalidSetting(f"form is '{known.form}'; allowed: {', '.join(FORMS)}")
        return known

    def limits(self, bodies: Sequence[str], like: Array) -> Limits:
        """Expressions of these bodies, which phi begins with.

        Args:
            like: (p,) a robot of about the right size, and the design of `near_design`.

        Raises:
            InvalidSetting: a link or bound that does not exist. InvalidData: a bound out of range.
        """
        sums = [_only(_OF_SUM, each, "masses") for each in self.masses]
        wanted = [[_place(link, bodies) for link in each.get("links") or bodies] for each in sums]
        places = [slice(_place(link, bodies), _place(link, bodies) + BODY_SIZE)
                  for link in self.links]

        def limits(phi: Parameters) -> list[cp.Expression]:
            out = [mass_between(phi[where], _number(each, "min", 0.0), _number(each, "max", np.inf)
                                ) / like[where].sum() for where, each in
                   zip(wanted, sums, strict=True)]
            for where, (link, bounds) in zip(places, self.links.items(), strict=True):
                out += _link_limits(phi[where], link, bounds, like[where])
            return out

        limits(cp.Constant(like))  # complains of what is out of range
        return limits

    def boxes(self, bodies: Sequence[str], design: Array) -> list[Box]:
        """The box of each body; of those without one, twice that of a uniform body like it."""
        out = []
        for k, body in enumerate(bodies):
            box = self.links.get(body, {}).get("box")
            out.append(Box(*_numbers(box, (2, 3), "box")) if box is not None
                       else uniform_box(design[BODY_SIZE * k:BODY_SIZE * (k + 1)]))
        return out


@dataclass(frozen=True)
class Approach:
    """How a robot is identified.

    Attributes:
        method: one of `METHODS`; known: bounds of its bodies; weight: of the description, 1 trusts
        each body to 100 % of itself.

    Raises:
        InvalidSetting: there is no such method.
    """

    method: str = "lmi"
    known: Known = Known()
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InvalidSetting(f"method is '{self.method}'; allowed: {', '.join(METHODS)}")

    def fit(self, model: RobotModel, data: Compressed, base: BaseParameters, design: Reference,
            noise: Array) -> Described:
        """The robot by the method. What joint torques do not tell is as near to the design as the
        base parameters and the limits allow.

        Args:
            noise: (k,) of each output [N m].

        Raises:
            NotEnoughData, InfeasibleProblem, SolverFailure: see `robot.feasibility`.
        """
        exists = consistent_robot(model, design, self.known.form)
        more = self.known.limits(model.bodies, design.phi)

        def limits(phi: Parameters) -> list[cp.Expression]:
            return [*exists(phi), *more(phi)]

        found = identify_described(data, limits, design, len(model.bodies), noise, base.count,
                                   self.weight)
        if self.method == "lmi":
            return found
        if self.method == "mass-points":
            phi = self._mass_points(model, data.stack(noise), limits, design)
        else:
            beta = (fit_feasible(data, base, limits, design) if self.method == "fbpe" else
                    correct_to_feasible(base, fit_base_parameters(data, base), limits, design)).beta
            rows = np.concatenate([base.matrix / _CLOSE, design.inverse])
            target = np.concatenate([beta / _CLOSE, design.inverse @ design.phi])
            phi = nearest_robot(rows, target, limits, design)
        return replace(found, phi=_without_tolerance(phi, model, design, self.known.form))

    def _mass_points(self, model: RobotModel, factor: Array, limits: Limits, design: Reference
                     ) -> Array:
        boxes = self.known.boxes(model.bodies, design.phi)
        try:
            return fit_mass_points(factor[:, :-1], factor[:, -1], limits, boxes,
                                   box_reference(boxes, design))
        except InfeasibleProblem:
            raise InfeasibleProblem("no mass points in the boxes of the links satisfy all the "
                                    "constraints; are the boxes as large as the links?") from None


def _without_tolerance(phi: Array, model: RobotModel, design: Reference, form: str) -> Array:
    """Parameters (p,) whose bodies exist: a link that the data leave no mass may lie outside by the
    solver's tolerance, and gets as little of its design as suffices."""
    out = phi.copy()
    for where in (model.body_slice(k) for k in range(len(model.bodies))):
        for share in _SHARES:
            out[where] = phi[where] + share * design.phi[where]
            matrix = FORMS[form] @ out[where]
            side = int(np.sqrt(len(matrix)))
            if out[where][0] > 0.0 and depth(matrix.reshape(side, side)) > 0.0:
                break
    return out


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


def check_base_parameters(given: Mapping[str, Any], known: Known | None = None,
                          description: RobotModel | None = None) -> BaseCheck:
    """Check base parameters by BPFT, and correct them by BPFC.

    Args:
        given: ``base_parameters``, a list of ``combination`` and ``value``, as `identify_robot`
            writes to JSON: "Lyy(1) + ..." in SI units, about the origins of the links' frames.
        description: the robot, for scale; None: bodies of 1 kg and 1 kg m^2.

    Raises:
        InvalidSetting: the mapping says something else.
    """
    entries = given.get("base_parameters") if isinstance(given, Mapping) else None
    if not isinstance(entries, list) or not entries:
        raise InvalidSetting("there is no list 'base_parameters'")
    texts = [str(_part(each, "combination")) for each in entries]
    beta = np.array([_number(each, "value") for each in entries])
    rows = [_combination(text) for text in texts]
    base, bodies, signed = _base_parameters(rows, texts)
    unit = phi_from_body(1.0, np.zeros(3), np.eye(3))
    described = {} if description is None else {
        body: description_reference(description).phi[description.body_slice(body)]
        for body in description.bodies}
    phi = np.concatenate([*(described.get(body, unit) for body in bodies),
                          np.zeros(len(base.names) - BODY_SIZE * len(bodies))])
    scale, known = make_reference(phi, len(bodies)), known or Known()
    more = known.limits(bodies, phi)
    slices = [slice(BODY_SIZE * k, BODY_SIZE * (k + 1)) for k in range(len(bodies))]

    def limits(p: Parameters, margin: float = 0.0) -> list[cp.Expression]:
        return [*(each - margin * np.eye(each.shape[0]) for each in (
            consistent(p[where], phi[where], known.form, margin=0.0) for where in slices)),
            *([p[signed]] if signed else []), *more(p)]

    # A robot can have what lies on the border of the cones, as fits often do (eq. 51); what is
    # corrected comes to lie inside (eq. 21, whose margin does not grow with the mass).
    return BaseCheck(tuple(texts), beta, check_feasibility(base, beta, limits, scale),
                     correct_to_feasible(base, beta, partial(limits, margin=MARGIN), scale).beta)


_TERM = re.compile(r"\s*([+-]?)\s*(?:([0-9.]+(?:e[+-]?[0-9]+)?)\s*\*?\s*)?"
                   r"([A-Za-z_]\w*)\(([^()]+)\)", re.IGNORECASE)


def _combination(text: str) -> dict[tuple[str, str], float]:
    """Coefficients of a linear combination such as ``Ixx(arm) - Iyy(arm) + 0.3 m(hand)``, by term
    and owner."""
    out: dict[tuple[str, str], float] = {}
    end = 0
    while found := _TERM.match(text, end):
        sign, factor, term, owner = found.groups()
        out[term, owner] = float(factor or 1.0) * (-1.0 if sign == "-" else 1.0)
        end = found.end()
    if not out or text[end:].strip():
        raise InvalidSetting(f"combination '{text}' is not understood; expected one like 'Ixx(arm) "
                             "- Iyy(arm) + 0.3 m(hand)'")
    return out


def _base_parameters(rows: Sequence[dict[tuple[str, str], float]], texts: Sequence[str]
                     ) -> tuple[BaseParameters, list[str], list[int]]:
    """Base parameters, names of the bodies, and indices of terms that cannot be negative."""
    used = list(dict.fromkeys(key for row in rows for key in row))
    bodies = list(dict.fromkeys(owner for term, owner in used if term in BODY_TERMS))
    terms = [(term, owner) for term, owner in used if term not in BODY_TERMS]
    for term, owner in terms:
        if term not in _OF_JOINT:
            raise InvalidSetting(f"there is no parameter '{term}({owner})'; allowed: of a link "
                                 f"{', '.join(BODY_TERMS)}; of a joint {', '.join(_OF_JOINT)}")
    keys = [*((term, body) for body in bodies for term in BODY_TERMS), *terms]
    matrix = np.array([[row.get(key, 0.0) for key in keys] for row in rows])
    independent = np.array([keys.index(next(iter(row))) for row in rows])
    wrong = np.flatnonzero(np.any(matrix[:, independent] != np.eye(len(rows)), axis=0))
    if len(wrong):
        raise InvalidSetting(f"combination '{texts[wrong[0]]}' must begin with a parameter that no "
                             "other combination holds, without a factor")
    dependent = np.setdiff1d(np.arange(len(keys)), independent)
    base = BaseParameters(tuple(f"{term}({owner})" for term, owner in keys), independent, dependent,
                          matrix[:, dependent])
    return base, bodies, [keys.index(key) for key in terms if key[0] in NOT_NEGATIVE]


def _link_limits(body: cp.Expression, link: str, bounds: Any, like: Array
                 ) -> list[cp.Expression]:
    """Expressions of one body, in units of the mass of a body like it (10,).

    Raises:
        InvalidSetting: a bound that does not exist or is out of range.
    """
    _only(_OF_LINK, bounds, f"link '{link}'")
    out = []
    try:
        if "mass" in bounds:
            low, high = _numbers(bounds["mass"], (2,), "mass")
            out.append(mass_between(body[:1], low, high))
        if "box" in bounds:
            out.append(com_in_box(body, *_numbers(bounds["box"], (2, 3), "box")))
        if "com_ellipsoid" in bounds:
            out.append(com_in_ellipsoid(body, _ellipsoid(bounds["com_ellipsoid"])))
        if bounds.get("ellipsoids"):
            out += density_in_union(body, [_ellipsoid(each) for each in bounds["ellipsoids"]])
        out = [each / like[0] for each in out]
        if "near_design" in bounds:
            out.append(near_design(body, like, _number(bounds, "near_design")))
    except (InvalidData, InvalidSetting) as error:
        raise InvalidSetting(f"link '{link}': {error}") from None
    return out


def _ellipsoid(given: Mapping[str, Any]) -> Ellipsoid:
    """An ellipsoid of its centre, half axes [m] and, where it is turned, roll, pitch, yaw [rad]."""
    parts = _only(_OF_ELLIPSOID, given, "ellipsoid")
    turn = Rotation.from_euler("xyz", _numbers(parts.get("rpy", [0, 0, 0]), (3,), "rpy"))
    half = _numbers(_part(parts, "half_axes"), (3,), "half_axes")
    if not half.min() > 0.0:
        raise InvalidSetting(f"half_axes is {half.tolist()} m; each must be positive")
    across = turn.as_matrix() * half
    return Ellipsoid(_numbers(_part(parts, "center"), (3,), "center"), across @ across.T)


def _place(link: str, bodies: Sequence[str]) -> int:
    """Index of the mass of a body (raises InvalidSetting)."""
    if link not in bodies:
        raise InvalidSetting(f"there is no link '{link}' that moves; there are: "
                             + ", ".join(bodies))
    return BODY_SIZE * list(bodies).index(link)


def _only(allowed: set[str], given: Any, what: str) -> Mapping[str, Any]:
    """A mapping that holds nothing else (raises InvalidSetting)."""
    if not isinstance(given, Mapping) or not set(given) <= allowed:
        held = sorted(map(str, given)) if isinstance(given, Mapping) else given
        raise InvalidSetting(f"{what}: {held}; allowed: {', '.join(sorted(allowed))}")
    return given


def _part(given: Any, key: str) -> Any:
    """An entry of a mapping (raises InvalidSetting)."""
    if not isinstance(given, Mapping) or key not in given:
        raise InvalidSetting(f"'{key}' is missing in {given}")
    return given[key]


def _number(given: Mapping[str, Any], key: str, default: float | None = None) -> float:
    """A number of a mapping (raises InvalidSetting)."""
    if default is not None and key not in given:
        return default
    return float(_numbers(_part(given, key), (), key))


def _numbers(value: Any, shape: tuple[int, ...], what: str) -> Array:
    """Finite numbers of a shape (raises InvalidSetting)."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if array.shape != shape or not np.isfinite(array).all():
        wanted = " x ".join(map(str, shape)) + " numbers" if shape else "a number"
        raise InvalidSetting(f"{what} is {value}; expected {wanted}")
    return array
