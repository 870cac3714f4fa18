# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Base parameters: what joint torques can tell about a robot's parameters, and no more.

``Y(q, dq, ddq) phi = Y_b beta`` with ``beta = K phi``, for every motion (Gautier 1991; Sousa and
Cortesao 2014, Section 4.1). K comes from the regressor at random motions, column by column from the
left: a column that those before it do not span becomes a base column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..errors import NotEnoughData
from ..inertia import Array
from .least_squares import Compressed
from .model import RobotModel

# A column this much smaller than the largest is rounding noise; normalised, it would look new.
NOISE_COLUMN = 1e-10
# Part of a column that those before it do not span, relative to the column.
INDEPENDENT = 1e-7
_COEFFICIENT = 1e-9  # coefficients of combinations below this are rounding
_ROWS_PER_COLUMN = 3  # of the random motions


@dataclass(frozen=True)
class BaseParameters:
    """Base columns and how the other columns depend on them.

    Attributes:
        names: (p,) names of the parameters.
        independent: (nb,) indices of the base columns, in the order in which they were tried.
        dependent: (p - nb,) the others.
        coupling: K_d (nb, p - nb): dependent columns as combinations of base columns; of columns
            without any effect zero.
    """

    names: tuple[str, ...]
    independent: np.ndarray
    dependent: np.ndarray
    coupling: Array

    @property
    def count(self) -> int:
        """Number nb of base parameters."""
        return len(self.independent)

    @property
    def matrix(self) -> Array:
        """K (nb, p) with ``beta = K phi`` (Sousa and Cortesao 2014, eq. 39)."""
        out = np.zeros((self.count, len(self.names)))
        out[np.arange(self.count), self.independent] = 1.0
        out[:, self.dependent] = self.coupling
        return out

    @property
    def null_space(self) -> Array:
        """Columns (p, p - nb) of changes of phi that no torque shows."""
        out = np.zeros((len(self.names), len(self.dependent)))
        out[self.independent] = -self.coupling
        out[self.dependent, np.arange(len(self.dependent))] = 1.0
        return out

    def expressions(self) -> list[str]:
        """The linear combinations (nb,) as text, such as ``Ixx(arm) - Iyy(arm) + 0.3 m(hand)``."""
        out = []
        for own, row in zip(self.independent, self.coupling, strict=True):
            text = self.names[own]
            for j in np.flatnonzero(row):
                size = abs(row[j])
                factor = "" if abs(size - 1.0) < _COEFFICIENT else f"{size:.6g} "
                text += f" {'-' if row[j] < 0 else '+'} {factor}{self.names[self.dependent[j]]}"
            out.append(text)
        return out


def find_base_parameters(rows: Array, names: Sequence[str]) -> BaseParameters:
    """Base parameters of regressor rows (n, p) without noise, n >= p; columns are tried from the
    left."""
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
    others = np.setdiff1d(np.arange(len(there)), independent)
    chosen, linked = there[independent], there[others]
    dependent = np.setdiff1d(np.arange(rows.shape[1]), chosen)
    coupling = np.zeros((len(chosen), len(dependent)))
    coupling[:, np.isin(dependent, linked)] = np.linalg.lstsq(
        unit[:, independent], unit[:, others], rcond=None)[0] * norms[linked] / norms[chosen, None]
    coupling[np.abs(coupling) < _COEFFICIENT] = 0.0
    return BaseParameters(tuple(names), chosen, dependent, coupling)


@lru_cache(maxsize=8)  # a model does not change, and one run asks for the same again and again
def structural_base_parameters(model: RobotModel) -> BaseParameters:
    """Base parameters of a robot, whatever the motion, from its regressor at random motions."""
    rng, loaded = np.random.default_rng(0), model.terms.load
    n = -(-_ROWS_PER_COLUMN * (1 + loaded) * model.size // model.nv) + (20 if loaded else 1)
    dq, ddq = rng.normal(size=(2, n, model.nv))
    rows = model.regressor(model.sample_positions(rng, n), dq, 3.0 * ddq)
    return find_base_parameters(rows.reshape(-1, model.size), model.parameter_names)


def fit_base_parameters(data: Compressed, base: BaseParameters) -> Array:
    """Base parameters (nb,) by ordinary least squares.

    Raises:
        NotEnoughData: the motion does not excite every base parameter.
    """
    factor = data.stack()
    columns, target = factor[:, base.independent], factor[:, -1]
    lengths = np.linalg.norm(columns, axis=0)
    lengths[lengths == 0.0] = 1.0
    beta, _, rank, _ = np.linalg.lstsq(columns / lengths, target, rcond=None)
    if rank < base.count:
        raise NotEnoughData(f"the recording excites {rank} of the {base.count} base parameters")
    return np.asarray(beta / lengths)
