# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a driver removes of a payload, told by the motion: its weight only, or inertial forces too.

The wrench is put together as the driver is believed to take it apart. Where it leaves the inertial
forces in that it is believed to remove, they are in the sum twice, and the rows fit better with one
more column: the inertial forces of the removed payload, of which a share of one is too many. Where
it removes forces that it is believed to leave, the share is minus one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import PARAMETERS, Array
from ..linalg import solve_upper, triangular_factor
from ..regression.regressor_window import Rows
from ..regression.row_layout import PHI, STORED
from ..signals.bins import BIN_NS
from ..signals.low_pass import ZeroPhaseFilter
from ..signals.precompensation import Removed
from .load_model import LoadModel

_SIGNIFICANT = 4.0  # standard deviations from nothing
_MEMORY = 30.0  # s; time constant of forgetting old rows
_FEWEST = 1.5  # independent channels of rows for each state
_HALF = 0.5  # share from which on the other belief is the better one


class Share(NamedTuple):
    """The removed payload's inertial forces that are too many in the sum, as a share of all.

    Attributes:
        value, sd: of the share; slope: (10,) change of phi that a share of one makes.
        other: what it would be if the driver did what it is not believed to do: 1 or -1.
    """

    value: float
    sd: float
    slope: Array
    other: float

    @property
    def contradicts(self) -> bool:
        """Whether the driver clearly does the other thing."""
        return self.value * self.other > max(_HALF, _SIGNIFICANT * self.sd)

    @property
    def error_covariance(self) -> Array:
        """Covariance (10, 10) of the error of phi that the belief makes, as probable as the share
        tells it to be wrong, where neither belief was the better one before."""
        odds = (2.0 * self.value * self.other - 1.0) / (2.0 * self.sd**2)
        probability = 1.0 / (1.0 + np.exp(-np.clip(odds, -50.0, 50.0)))
        return probability * np.outer(self.slope, self.slope)


class RemovedTerms:
    """Fits the share in rows of the window, with a fading memory; costs nothing where no payload is
    removed.

    Args:
        model: of the load; low_pass: the filter of the rows.
    """

    def __init__(self, model: LoadModel, low_pass: ZeroPhaseFilter) -> None:
        self._model = model
        weights = low_pass.kernel / low_pass.kernel.sum()
        self._correlated = max(1.0 / float(weights @ weights) / low_pass.step, 1.0)  # rows
        self._factor: Array = np.zeros((0, STORED + 1))
        self._channels, self._newest = 0.0, 0

    def add(self, rows: Rows, removed: Removed) -> None:
        """Add rows from which this payload was removed by the driver."""
        if not removed.phi.any() or len(rows.number) == 0:
            return
        newest = int(rows.number[-1])
        fade = np.exp(-max(newest - self._newest, 0) * BIN_NS * 1e-9 / _MEMORY)
        inertial = (rows.full[..., PHI] - rows.static[..., PHI]) @ removed.phi
        added = np.concatenate([rows.full, inertial[..., None]], axis=2)
        added /= self._model.noise[:, None]
        self._factor = triangular_factor(np.concatenate(
            [np.sqrt(fade) * self._factor, added.reshape(-1, added.shape[2])]))
        self._channels = fade * self._channels + added[..., 0].size
        self._newest = newest

    def share(self, phi: Array, weight_only: bool) -> Share | None:
        """The share that fits best beside a payload near phi (10,); None without enough rows.

        Args:
            weight_only: what is believed.
        """
        states = len(self._model.prior)
        if self._channels < _FEWEST * self._correlated * states:
            return None
        linear = self._factor[:, :-1] @ self._model.linearise(phi)
        rows = np.concatenate([linear[:, :-1], self._factor[:, -1:], linear[:, -1:]], axis=1)
        prior = np.zeros((states, rows.shape[1]))
        prior[:, :states] = np.linalg.cholesky(self._model.prior).T
        noise = 1.0  # of the rows; two rounds, since the weight of the prior depends on it
        for _ in range(2):
            upper = triangular_factor(np.concatenate(
                [rows, noise * np.sqrt(self._correlated) * prior]))
            noise = abs(upper[-1, -1]) / np.sqrt(self._channels - self._correlated * states)
        own = upper[states, states]
        if own == 0.0:
            return None
        slope = solve_upper(upper[:states, :states], upper[:states, states])[:PARAMETERS]
        return Share(float(upper[states, -1] / own),
                     float(noise * np.sqrt(self._correlated) / abs(own)), slope,
                     -1.0 if weight_only else 1.0)


def describe(believed: Removed, share: Share | None, chosen: bool) -> str:
    """A sentence on a driver that does not do what was believed.

    Args:
        share: of the inertial forces that are too many, if it was fitted.
        chosen: whether the belief is the user's.
    """
    what, other = (("the weight and the inertial forces", "all") if believed.weight_only
                   else ("the weight only, not the inertial forces,", "weight"))
    text = f"by the motion the driver removes {what} of its payload"
    if share is not None:
        removed = (0.0 if believed.weight_only else 1.0) - share.value
        text += f" ({removed:.2f} ± {1.96 * share.sd:.2f} of the inertial forces)"
    if chosen:
        return f"{text}: set precompensated.terms to '{other}'"
    return f"{text} and is taken to (precompensated.terms is 'auto')"
