# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Base parameters in a document: whether a robot can have them, and the nearest that one can."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...errors import InvalidSetting
from ...extras import optional_packages
from ...inertia import Array, phi_from_body
from ...robot.base_parameters import BaseParameters
from ...robot.constraints import MARGIN, Parameters, consistent
from ...robot.feasibility import Feasibility, check_feasibility, correct_to_feasible
from ...robot.joint_terms import NOT_NEGATIVE, OFFSET
from ...robot.model import BODY_SIZE, BODY_TERMS, RobotModel
from ...robot.reference import description_reference, make_reference
from .known import Known, numbers

with optional_packages("identifying a robot"):
    import cvxpy as cp

_OF_JOINT = (*NOT_NEGATIVE, OFFSET)


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


def check_base_parameters(given: Mapping[str, Any], known: Known, description: RobotModel | None
                          ) -> BaseCheck:
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
    beta = np.array([numbers(each, "value") for each in entries])
    texts = [str(each.get("combination", "")) for each in entries]
    rows = [_combination(text) for text in texts]
    base, bodies, signed = _base_parameters(rows, texts)
    unit = phi_from_body(1.0, np.zeros(3), np.eye(3))
    described = {} if description is None else {
        body: description_reference(description).phi[description.body_slice(body)]
        for body in description.bodies}
    phi = np.concatenate([*(described.get(body, unit) for body in bodies),
                          np.zeros(len(base.names) - BODY_SIZE * len(bodies))])
    scale, more = make_reference(phi, len(bodies)), known.limits(bodies, phi)
    slices = [slice(BODY_SIZE * k, BODY_SIZE * (k + 1)) for k in range(len(bodies))]

    def limits(p: Parameters, margin: float = 0.0) -> list[cp.Expression]:
        return [*(each - margin * np.eye(each.shape[0]) for each in (
            consistent(p[where], phi[where], known.form, margin=0.0) for where in slices)),
            *([p[signed]] if signed else []), *more(p)]

    # A robot can have what lies on the border of the cones, as fits often do (eq. 51); what is
    # corrected comes to lie inside (eq. 21, whose margin does not grow with the mass).
    nearest = correct_to_feasible(base, beta, partial(limits, margin=MARGIN), scale)
    return BaseCheck(tuple(texts), beta, check_feasibility(base, beta, limits, scale),
                     base.matrix @ nearest)


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
