# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Base parameters: what joint torques can tell about a robot's parameters, and no more.

``Y(q, dq, ddq) phi = Y_b beta`` with ``beta = K phi``, for every motion (Gautier 1991; Sousa and
Cortesao 2014, Section 4.1). beta is feasible if parameters phi within the limits have it (eq. 41).
Their null-space values are arbitrary: a witness shows that such a robot exists.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import NotEnoughData
from ..extras import optional_packages
from ..inertia import Array, phi_from_body
from ..model.problem import triangle
from .constraints import MARGIN, Limits, entries, numbers, require, robot_limits
from .convex import AffineRobot, nearest_robot, solve
from .least_squares import Reference, description_reference, make_reference
from .model import BODY_SIZE, BODY_TERMS, NOT_NEGATIVE, OFFSET, RobotModel
from .recording import Rows

with optional_packages("identifying a robot"):
    import cvxpy as cp

# A column this much smaller than the largest is rounding noise; normalised, it would look new.
NOISE_COLUMN = 1e-10
# Part of a column that those before it do not span, relative to the column.
INDEPENDENT = 1e-7
_COEFFICIENT = 1e-9  # coefficients of combinations below this are rounding
_ROWS_PER_COLUMN = 3  # of the random motions
_TERM = re.compile(r"\s*([+-]?)\s*(?:([0-9.]+(?:e[+-]?[0-9]+)?)\s*\*?\s*)?"
                   r"([A-Za-z_]\w*)\(([^()]+)\)\s*", re.IGNORECASE)


class BaseParameters(NamedTuple):
    """Base columns and how the other columns depend on them."""

    names: tuple[str, ...]  # (p,) of the parameters
    independent: np.ndarray  # (nb,) indices of the base columns, in the order of trying them
    matrix: Array  # K (nb, p) with beta = K phi (eq. 39); of base columns the unit matrix

    @property
    def null_space(self) -> Array:
        """Columns (p, p - nb) of changes of phi that no torque shows."""
        out = np.eye(len(self.names))
        out[self.independent] -= self.matrix
        return np.delete(out, self.independent, axis=1)

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
    there = np.flatnonzero(norms > NOISE_COLUMN * norms.max())
    unit = np.asarray(np.linalg.qr(rows[:, there] / norms[there], mode="r"))
    basis, independent = np.zeros((len(unit), 0)), []
    for k in range(len(there)):
        rest = unit[:, k]
        for _ in range(2):  # once more takes out the rounding of the first time
            rest = rest - basis @ (basis.T @ rest)
        part = np.linalg.norm(rest)
        if part > INDEPENDENT:
            basis = np.column_stack([basis, rest / part])
            independent.append(k)
    chosen = there[independent]
    matrix = np.zeros((len(chosen), rows.shape[1]))
    matrix[:, there] = np.linalg.lstsq(unit[:, independent], unit, rcond=None)[0] * (
        norms[there] / norms[chosen, None])
    matrix[np.abs(matrix) < _COEFFICIENT] = 0.0
    matrix[:, chosen] = np.eye(len(chosen))
    return BaseParameters(tuple(names), chosen, matrix)


@lru_cache(maxsize=8)  # a model does not change, and one run asks for the same again and again
def structural_base_parameters(model: RobotModel) -> BaseParameters:
    """Base parameters of a robot, whatever the motion, from its regressor at random motions."""
    rng, loaded = np.random.default_rng(0), model.terms.load
    n = -(-_ROWS_PER_COLUMN * (1 + loaded) * model.size // model.nv) + (20 if loaded else 1)
    dq, ddq = rng.normal(size=(2, n, model.nv))
    rows = model.regressor(model.sample_positions(rng, n), dq, 3.0 * ddq)
    return find_base_parameters(rows.reshape(-1, model.size), model.parameter_names)


def fit_base_parameters(rows: Rows, base: BaseParameters) -> Array:
    """Base parameters (nb,) by ordinary least squares.

    Raises:
        NotEnoughData: the motion does not excite every base parameter.
    """
    columns, target = rows.factor()
    columns = columns[:, base.independent]
    lengths = np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny)
    beta, _, rank, _ = np.linalg.lstsq(columns / lengths, target, rcond=None)
    if rank < len(lengths):
        raise NotEnoughData(f"the recording excites {rank} of the {len(lengths)} base parameters")
    return np.asarray(beta / lengths)


class Feasibility(NamedTuple):
    """The answer of BPFT: whether a robot within the limits has the base parameters.

    If not, multipliers Z in the cones of the limits (each of the shape of its expression) prove it:
    within the limits, the sum of ``<Z, limit(phi)>`` cannot be negative; but it is, whatever the
    null-space values of phi.

    """

    # How far inside the limits the best such robot is, the reference being at 1 (where the search
    # ends); negative: none is inside.
    margin: float
    witness: Array  # (p,) that robot
    certificate: float | None = None  # the negative sum; None if feasible
    multipliers: tuple[Array, ...] = ()  # Z; empty if feasible

    @property
    def feasible(self) -> bool:
        """True if there is such a robot."""
        return self.margin >= 0.0


def check_feasibility(base: BaseParameters, beta: Array, limits: Limits, ref: Reference
                      ) -> Feasibility:
    """BPFT: true if a robot within the limits has the base parameters beta (nb,) (eq. 51).

    The largest t is sought with ``limits(phi) - t 1`` in their cones, ``K phi = beta``: a problem
    that always has a solution. The multipliers of a negative optimum are the certificate.
    """
    matrix, u = base.matrix @ ref.unit, ref.inverse @ ref.phi
    start = ref.unit @ (u + np.linalg.pinv(matrix) @ (beta - matrix @ u))
    null = ref.unit @ np.linalg.qr(ref.inverse @ base.null_space)[0]
    size = max(float(np.abs(ref.inverse @ start).max()), 1.0)  # of an estimate that is far off
    x, t = cp.Variable(null.shape[1]), cp.Variable()
    expressions = limits(AffineRobot(start, size * null, x))
    shifted = [(each - size * t * (np.eye(each.shape[0]) if each.ndim == 2 else 1.0)) / size
               for each in expressions]
    constraints = solve(cp.Minimize(-t), [*shifted, cp.reshape(1.0 / size - t, (1,), order="C")])
    margin = min(size * float(np.asarray(t.value)), 1.0)
    witness = start + size * null @ np.asarray(x.value)
    if margin >= 0.0:
        return Feasibility(margin, witness)
    multipliers = tuple(np.asarray(each.dual_value) for each in constraints[:-1])
    total = sum(float(np.sum(z * each.value))
                for z, each in zip(multipliers, expressions, strict=True))
    return Feasibility(margin, witness, total, multipliers)


def correct_to_feasible(base: BaseParameters, beta: Array, limits: Limits, ref: Reference
                        ) -> Array:
    """BPFC: a robot (p,) with the feasible base parameters nearest to beta (nb,) (eqs 52-56).

    The distance, and with it the answer, depends on how parameters are grouped and on their units
    (Section 4.5).
    """
    return nearest_robot(base.matrix, beta, limits, ref)


def fit_feasible(rows: Rows, base: BaseParameters, limits: Limits, ref: Reference) -> Array:
    """FBPE-OLS: a robot (p,) whose base parameters have the least residual (eq. 74)."""
    columns, target = rows.factor()
    # Only R1 and rho1 of the triangular factor depend on beta (eqs 64-71).
    upper = triangle(np.column_stack([columns[:, base.independent], target]))
    rest = max(abs(upper[-1, -1]), 1e-6 * np.linalg.norm(target), np.finfo(float).tiny)
    size = rest / np.sqrt(max(rows.effort.size - len(base.matrix), 1))  # of a residual
    return nearest_robot(upper[:-1, :-1] @ base.matrix / size, upper[:-1, -1] / size, limits, ref)


def check_base_parameters(given: Mapping[str, Any], urdf: str, constraints: Mapping[str, Any]
                          ) -> dict[str, Any]:
    """See `robot.check_base_parameters`."""
    listed = given.get("base_parameters") if isinstance(given, Mapping) else None
    require(isinstance(listed, list) and listed, "'base_parameters'", listed, "a list")
    items = [entries(each, f"base_parameters[{k}]", "combination", "value", "sigma")
             for k, each in enumerate(listed or ())]
    beta = np.array([numbers(item, "value") for item in items])
    texts = [str(item.get("combination", "")) for item in items]
    base, bodies = _base_parameters(texts)
    model = RobotModel.from_urdf(urdf) if urdf else None
    described = {} if model is None else dict(zip(model.bodies, np.split(
        description_reference(model).phi[:model.inertial], len(model.bodies)), strict=True))
    unit = phi_from_body(1.0, np.zeros(3), np.eye(3))
    scale = make_reference(np.concatenate([
        *(described.get(body, unit) for body in bodies),
        np.zeros(len(base.names) - BODY_SIZE * len(bodies))]), len(bodies))
    closed = robot_limits(base.names, scale, constraints, margin=0.0)

    def inside(phi: Any) -> list[cp.Expression]:
        limits, count = closed(phi), len(bodies)
        return [*(each - MARGIN * np.eye(each.shape[0]) for each in limits[:count]),
                *limits[count:]]

    # A robot can have what lies on the border of the cones, as fits often do (eq. 51); what is
    # corrected comes to lie inside (eq. 21, whose margin does not grow with the mass).
    nearest = base.matrix @ correct_to_feasible(base, beta, inside, scale)
    answer = check_feasibility(base, beta, closed, scale)
    return {"feasible": answer.feasible, "margin": answer.margin,
            "certificate": answer.certificate, "multipliers": [
                z.tolist() for z in answer.multipliers],
            "distance": float(np.linalg.norm(nearest - beta)), "base_parameters": [
                {"combination": text, "value": value, "nearest": own} for text, value, own in zip(
                    texts, beta.tolist(), nearest.tolist(), strict=True)]}


def _base_parameters(texts: Sequence[str]) -> tuple[BaseParameters, list[str]]:
    """Base parameters of combinations, and the names of their bodies (raises InvalidSetting)."""
    rows = [_combination(text) for text in texts]
    used = list(dict.fromkeys(key for row in rows for key in row))
    bodies = list(dict.fromkeys(owner for term, owner in used if term in BODY_TERMS))
    keys = [*((term, body) for body in bodies for term in BODY_TERMS),
            *(key for key in used if key[0] not in BODY_TERMS)]
    matrix = np.array([[row.get(key, 0.0) for key in keys] for row in rows])
    independent = np.array([keys.index(next(iter(row))) for row in rows])
    alone = (matrix[:, independent] == np.eye(len(rows))).all(axis=0)
    require(alone.all(), "a combination", texts[int(np.argmin(alone))],
            "it begins with a parameter that no other one holds, without a factor")
    return BaseParameters(tuple(f"{term}({owner})" for term, owner in keys), independent,
                          matrix), bodies


def _combination(text: str) -> dict[tuple[str, str], float]:
    """Coefficients of a linear combination by term and owner (raises InvalidSetting)."""
    found, of_joint = _TERM.findall(text), (*NOT_NEGATIVE, OFFSET)
    require(found and not _TERM.sub("", text), "a combination", text,
            "one like 'Ixx(arm) - Iyy(arm) + 0.3 m(hand)'")
    for _, _, term, owner in found:
        require(term in (*BODY_TERMS, *of_joint), "a parameter", f"{term}({owner})",
                f"of a link {', '.join(BODY_TERMS)}; of a joint {', '.join(of_joint)}")
    return {(term, owner): float(factor or 1.0) * (-1.0 if sign == "-" else 1.0)
            for sign, factor, term, owner in found}
