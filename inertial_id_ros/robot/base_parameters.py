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
from .factors import Compressed
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
        kept: smallest, over the base columns, of the part that earlier columns do not span.
        dropped: largest such part of a dependent column; far below `kept`, or the rank is in doubt.
    """

    names: tuple[str, ...]
    independent: np.ndarray
    dependent: np.ndarray
    coupling: Array
    kept: float
    dropped: float

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
        return [self._expression(k) for k in range(self.count)]

    def _expression(self, k: int) -> str:
        """The linear combination of base parameter k as text."""
        text = self.names[self.independent[k]]
        for j in np.flatnonzero(np.abs(self.coupling[k]) > _COEFFICIENT):
            value = self.coupling[k, j]
            factor = "" if abs(abs(value) - 1.0) < _COEFFICIENT else f"{abs(value):.6g} "
            text += f" {'-' if value < 0 else '+'} {factor}{self.names[self.dependent[j]]}"
        return text


def find_base_parameters(rows: Array, names: Sequence[str],
                         order: Sequence[int] | None = None) -> BaseParameters:
    """Base parameters of regressor rows (n, p) without noise.

    Args:
        order: order (p,) in which columns are tried; None: from the left.

    Raises:
        NotEnoughData: fewer rows than columns.
    """
    if len(rows) < rows.shape[1]:
        raise NotEnoughData(f"{len(rows)} rows cannot determine {rows.shape[1]} parameters")
    norms = np.linalg.norm(rows, axis=0)
    there = norms > NOISE_COLUMN * norms.max()
    unit = np.asarray(np.linalg.qr(rows[:, there] / norms[there], mode="r"))
    position = np.full(rows.shape[1], -1)
    position[there] = np.arange(int(there.sum()))
    basis = np.zeros((len(unit), len(unit)))
    independent: list[int] = []
    kept, dropped = 1.0, 0.0
    for column in (range(rows.shape[1]) if order is None else order):
        if not there[column]:
            continue
        rest = unit[:, position[column]]
        known = basis[:, :len(independent)]
        for _ in range(2):  # once more takes out the rounding of the first time
            rest = rest - known @ (known.T @ rest)
        part = float(np.linalg.norm(rest))
        if part > INDEPENDENT:
            basis[:, len(independent)] = rest / part
            independent.append(int(column))
            kept = min(kept, part)
        else:
            dropped = max(dropped, part)
    chosen = np.array(independent, dtype=int)
    dependent = np.setdiff1d(np.arange(rows.shape[1]), chosen)
    coupling = np.zeros((len(chosen), len(dependent)))
    linked = there[dependent]
    solved = np.linalg.lstsq(unit[:, position[chosen]], unit[:, position[dependent[linked]]],
                             rcond=None)[0]
    coupling[:, linked] = solved * norms[dependent[linked]] / norms[chosen][:, None]
    coupling[np.abs(coupling) < _COEFFICIENT] = 0.0
    return BaseParameters(tuple(names), chosen, dependent, coupling, kept, dropped)


@lru_cache(maxsize=8)  # a model does not change, and one run asks for the same again and again
def structural_base_parameters(model: RobotModel) -> BaseParameters:
    """Base parameters of a robot, whatever the motion, from its regressor at random motions."""
    rng = np.random.default_rng(0)
    rows_per_column = _ROWS_PER_COLUMN * (2 if model.terms.load_bodies else 1)
    n = -(-rows_per_column * model.size // model.nv)
    n += 20 if model.terms.load_bodies else 1
    q, count = model.sample_positions(rng, n), model.nv
    dq, ddq = rng.normal(size=(n, count)), 3.0 * rng.normal(size=(n, count))
    rows = model.regressor(q, dq, ddq)
    return find_base_parameters(rows.reshape(-1, model.size), model.parameter_names)


@dataclass(frozen=True)
class BaseEstimate:
    """Unconstrained least squares of base parameters.

    Attributes:
        beta: (nb,) base parameters.
        sigma: (nb,) standard deviations (Sousa and Cortesao 2014, eq. 81).
        condition: condition number of the regressor of the recording.
    """

    beta: Array
    sigma: Array
    condition: float


def fit_base_parameters(data: Compressed, base: BaseParameters, noise: Array | None = None
                        ) -> BaseEstimate:
    """Ordinary (or, with the noise (k,) of each output, weighted) least squares.

    Raises:
        NotEnoughData: the motion does not excite every base parameter.
    """
    factor = data.stack(noise)
    nb = base.count
    upper = np.asarray(np.linalg.qr(factor[:, [*base.independent, data.size]], mode="r"))
    triangle, target = upper[:nb, :nb], upper[:nb, nb]
    lengths = np.linalg.norm(triangle, axis=0)
    if not lengths.all():
        raise NotEnoughData("the recording does not show "
                            + ", ".join(base.names[base.independent[k]]
                                        for k in np.flatnonzero(lengths == 0.0)))
    scaled = np.linalg.svd(triangle / lengths, compute_uv=False)
    if scaled[-1] < np.finfo(float).eps * nb * scaled[0]:
        raise NotEnoughData(f"the recording excites fewer than the {nb} base parameters")
    inverse = np.linalg.inv(triangle)
    rest = float(upper[nb:, nb] @ upper[nb:, nb])
    freedom = max(int(data.counts.sum()) - nb, 1)
    return BaseEstimate(inverse @ target, np.sqrt(rest / freedom * np.sum(inverse**2, axis=1)),
                        float(np.linalg.cond(triangle)))


def estimate_output_noise(data: Compressed, base: BaseParameters) -> Array:
    """Standard deviation (k,) of each output's residual, by reweighted least squares [N m].

    A joint whose torque the model explains to rounding counts as a millionth of its torque.
    """
    size = np.sqrt(data.squares(np.zeros(data.size)) / data.counts)
    noise = np.where(size > 0.0, size, 1.0)
    for _ in range(3):
        beta = fit_base_parameters(data, base, noise).beta
        phi = np.zeros(data.size)
        phi[base.independent] = beta
        noise = np.maximum(data.rms(phi), 1e-6 * np.where(size > 0.0, size, 1.0))
    return noise
