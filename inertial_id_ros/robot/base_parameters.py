# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Base parameters: what joint torques can tell about a robot's parameters, and no more.

``Y(q, dq, ddq) phi = Y_b beta`` with ``beta = K phi``, for every motion (Gautier 1991; Sousa and
Cortesao 2014, Section 4.1). beta is feasible if parameters phi within the limits have it (eq. 41).
Their null-space values are arbitrary: a witness shows that such a robot exists. BPFC takes the
nearest beta that one has (eqs 52-56), which depends on units and on grouping (Section 4.5).
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import NotEnoughData
from ..inertia import Array, phi_from_body
from ..model.problem import triangle
from . import convex
from .least_squares import Reference, make_reference
from .model import BODY_TERMS, NOT_NEGATIVE, OFFSET, RobotModel
from .recording import Rows

# A column this much smaller than the largest is rounding noise; normalised, it would look new.
NOISE_COLUMN = 1e-10
# Part of a column that those before it do not span, relative to the column.
INDEPENDENT = 1e-7
_COEFFICIENT = 1e-9  # coefficients of combinations below this are rounding
_ROWS_PER_COLUMN = 6  # of the random motions
_TERM = re.compile(r"\s*([+-]?)\s*(?:([0-9.]+(?:e[+-]?[0-9]+)?)\s*\*?\s*)?"
                   r"([A-Za-z_]\w*)\(([^()]+)\)\s*", re.IGNORECASE)


class BaseParameters(NamedTuple):
    """Base columns and how the other columns depend on them."""

    names: tuple[str, ...]  # (p,) of the parameters
    independent: np.ndarray  # (nb,) indices of the base columns, in the order of trying them
    matrix: Array  # K (nb, p) with beta = K phi (eq. 39); of base columns the unit matrix

    def expressions(self) -> list[str]:
        """The linear combinations (nb,) as text, such as ``Ixx(arm) - Iyy(arm) + 0.3 m(hand)``."""
        out = []
        for own, row in zip(self.independent, self.matrix, strict=True):
            text = self.names[own]
            for j in np.flatnonzero(row)[np.flatnonzero(row) != own]:
                size = abs(row[j])
                factor = "" if abs(size - 1.0) < _COEFFICIENT else f"{size:.6g} "
                text += f" {'-' if row[j] < 0 else '+'} {factor}{self.names[j]}"
            out.append(text)
        return out


def find_base_parameters(rows: Array, names: Sequence[str]) -> BaseParameters:
    """Base parameters of regressor rows (n, p) without noise, n >= p; from the left, a column that
    those before it do not span becomes a base column."""
    norms = np.linalg.norm(rows, axis=0)
    lengths = np.where(norms > NOISE_COLUMN * norms.max(), norms, np.inf)
    unit = np.asarray(np.linalg.qr(rows / lengths, mode="r"))
    chosen = np.flatnonzero(np.abs(np.diag(unit)) > INDEPENDENT)
    matrix = np.linalg.lstsq(unit[:, chosen], unit, rcond=None)[0] * (norms / norms[chosen, None])
    matrix[np.abs(matrix) < _COEFFICIENT] = 0.0
    matrix[:, chosen] = np.eye(len(chosen))
    return BaseParameters(tuple(names), chosen, matrix)


@lru_cache(maxsize=8)  # a model does not change, and one run asks for the same again and again
def structural_base_parameters(model: RobotModel) -> BaseParameters:
    """Base parameters of a robot, whatever the motion, from its regressor at random motions."""
    rows = model.random_regressor(_ROWS_PER_COLUMN * model.size // model.nv + 20)
    return find_base_parameters(rows.reshape(-1, model.size), model.parameter_names)


def fit_base_parameters(rows: Rows, base: BaseParameters) -> Array:
    """Base parameters (nb,) by ordinary least squares (raises NotEnoughData: the motion does not
    excite every one)."""
    columns, target = rows.factor()
    columns = columns[:, base.independent]
    lengths = np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny)
    left, values, right = np.linalg.svd(columns / lengths, full_matrices=False)
    good = values > 1e-3 * values[0]  # encoder noise
    if not good.all():
        least = np.argsort(-np.square(right[~good]).sum(axis=0))[:(~good).sum()]
        raise NotEnoughData(f"the recording excites {good.sum()} of the {len(lengths)} base "
                            f"parameters: {advice(rows.model, base, least)}; or use --method lmi")
    return np.asarray((right.T / values) @ (left.T @ target) / lengths)


def advice(model: RobotModel, base: BaseParameters, which: np.ndarray) -> str:
    """How base parameters become known that a motion does not excite; which: their numbers."""
    joints = dict(zip(model.bodies[-len(model.joint_names):], model.joint_names, strict=True))
    owners = (base.names[k].partition("(")[2][:-1] for k in base.independent[which])
    names = list(dict.fromkeys(joints.get(owner, owner) for owner in owners))
    return (f"move {', '.join(sorted(names, key=model.joint_names.index))} further and faster "
            "(plan_excitation --for robot plans such a motion)")


def fit_feasible(rows: Rows, base: BaseParameters, limits: convex.Limits, ref: Reference) -> Array:
    """FBPE-OLS: a robot (p,) whose base parameters have the least residual (eq. 74)."""
    columns, target = rows.factor()
    # Only R1 and rho1 of the triangular factor depend on beta (eqs 64-71).
    upper = triangle(np.column_stack([columns[:, base.independent], target]))
    # The solver breaks down where data are so exact that residuals are far below what robots leave.
    rest = max(abs(upper[-1, -1]), 1e-4 * np.linalg.norm(target), np.finfo(float).tiny)
    size = rest / np.sqrt(max(rows.effort.size - len(base.matrix), 1))  # of a residual
    upper = upper[:-1] / size
    return convex.nearest_robot(upper[:, :-1] @ base.matrix, upper[:, -1], limits, ref)


def check_base_parameters(given: Mapping[str, Any], constraints: Mapping[str, Any]
                          ) -> dict[str, Any]:
    """See `robot.check_base_parameters`."""
    listed = given.get("base_parameters") if isinstance(given, Mapping) else None
    convex.require(isinstance(listed, list) and listed, "'base_parameters'", listed, "a list")
    items = [convex.entries(each, f"base_parameters[{k}]", combination=str, value=(), sigma=object,
                            excited=object) for k, each in enumerate(listed or ())]
    beta = np.array([item.get("value", np.nan) for item in items])
    convex.require(np.isfinite(beta).all(), "a value", None, "a finite number")
    texts = [item.get("combination", "") for item in items]
    names, matrix, bodies = _combinations(texts)
    phi = np.tile(phi_from_body(1.0, np.zeros(3), np.eye(3)), bodies)
    scale = make_reference(np.append(phi, np.zeros(len(names) - len(phi))), bodies)
    # A robot can have what lies on the border of the cones, as fits often do (eq. 51); what is
    # corrected comes to lie inside (eq. 21).
    closed, inside = (convex.robot_limits(names, scale, constraints, margin)
                      for margin in (0.0, convex.MARGIN))
    nearest = matrix @ convex.nearest_robot(matrix, beta, inside, scale)
    margin, _, certificate, multipliers = convex.check_feasibility(matrix, beta, closed, scale)
    return {"feasible": margin >= 0.0, "margin": margin, "certificate": certificate,
            "multipliers": [z.tolist() for z in multipliers],
            "distance": float(np.linalg.norm(nearest - beta)), "base_parameters": [
                {"combination": text, "value": value, "nearest": own} for text, value, own in zip(
                    texts, beta.tolist(), nearest.tolist(), strict=True)]}


def _combinations(texts: Sequence[str]) -> tuple[list[str], Array, int]:
    """Names (p,) of the parameters in combinations, those of bodies first; the factors of these in
    each (nb, p); and the number of bodies (raises InvalidSetting)."""
    rows, known = [], (*BODY_TERMS, *NOT_NEGATIVE, OFFSET)
    for text in texts:
        found = _TERM.findall(text)
        terms = {term for *_, term, _ in found}
        convex.require(terms and terms <= set(known) and not _TERM.sub("", text), "a combination",
                       text, f"one like 'Ixx(arm) - Iyy(arm) + 0.3 m(hand)' of {', '.join(known)}")
        rows.append({(term, owner): float(f"{sign}{factor or 1.0}")
                     for sign, factor, term, owner in found})
    used = list(dict.fromkeys(key for row in rows for key in row))
    bodies = list(dict.fromkeys(owner for term, owner in used if term in BODY_TERMS))
    keys = [*((term, body) for body in bodies for term in BODY_TERMS),
            *(key for key in used if key[0] not in BODY_TERMS)]
    matrix = np.array([[row.get(key, 0.0) for key in keys] for row in rows])
    convex.require(np.linalg.matrix_rank(matrix) == len(rows), "base_parameters", texts,
                   "combinations none of which follows from the others")
    return [f"{term}({owner})" for term, owner in keys], matrix, len(bodies)
