"""What the next rows should be, and how far off they may be, from the rows before them.

A running least-squares fit of everything that the wrench depends on (parameters, biases, alignment
states), kept beside the estimator: it is cheap enough for every row, and it can be asked at any
time, before there is an estimate. Its answer comes with the covariance of what it does not know
yet, with noise as large as the residual shows, and with a share of the load that shrinks only while
motion confirms the model. Information is added and scaled and never subtracted, so that Gram
matrices lose no digits that matter here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .inertia import Array, skew
from .row_layout import (
    BIASES,
    PARAMETERS,
    PHI,
    STORED,
    WRENCH,
    linearisation,
)
from .verdict import vague_information

FORCE, TORQUE = slice(0, 3), slice(3, 6)
GROUPS = (FORCE, TORQUE)
_MEMORY = 15.0  # s; the time constant by which old rows and old noise are forgotten
_FLOOR = 1.0  # data-sheet standard deviations of one sample: errors that no filter averages out
_UNPROVEN = 0.5  # share of a change of load that a model may miss before motion has confirmed it
_PROOF = 2.0  # rows with a change of load of ten data-sheet sigmas that weigh as much as that
_EARLY = 250  # rows
_POOR = 0.2  # share of the changes of load that a model that can be trusted may miss
_LEVER = 0.3  # m; from the sensor to the centre it turns about, where TF does not tell
_GRAVITY = 9.81  # m/s^2, to take a reading for a mass or a first moment
_SHAKING = 0.1  # m/s^2; noise of an axis of the acceleration in a row: encoders of 1e-3 rad


class Forecast(NamedTuple):
    """What was expected of n rows.

    Attributes:
        columns: (n, 6, k) of the k states; residual: (n, 6) measured less expected [N, N m].
        load: (n, 6) expected change of the wrench against its running mean.
        noise: (n, 6) variance of the residual of a proven model if its states were known.
        doubt: (n, 6) variance from a model that motion has not confirmed.
        spread: (n, 6, 6) covariance of the residual from not knowing the states.
    """

    columns: Array
    residual: Array
    load: Array
    noise: Array
    doubt: Array
    spread: Array

    def part(self, rows: slice) -> Forecast:
        """The same for some of the rows."""
        return Forecast(*(field[rows] for field in self))

    @property
    def distance(self) -> Array:
        """Mahalanobis length (n,) of the residuals, in standard deviations."""
        total = self.spread + (self.noise + self.doubt)[:, :, None] * np.eye(6)
        solved = np.linalg.solve(total, self.residual[..., None])[..., 0]
        return np.sqrt(np.maximum(np.einsum("ni,ni->n", self.residual, solved), 0.0))

    @property
    def unknown(self) -> Array:
        """Standard deviation (n, 2) of force [N] and torque [N m] beyond that of the noise."""
        variance = np.einsum("nii->ni", self.spread) + self.doubt
        return np.stack([np.sqrt(variance[:, group].max(axis=1)) for group in GROUPS], axis=1)

    @property
    def excess(self) -> Array:
        """Lengths (n, 2) of the residual force [N] and torque [N m]."""
        return np.stack([np.linalg.norm(self.residual[:, g], axis=1) for g in GROUPS], axis=1)


class RunningReference:
    """The running fit.

    Args:
        noise: (6,) data-sheet noise of one sample; gain: variance of one filtered row, times the
            samples it stands for, over that of one sample.
        bias_sd: (6,) prior standard deviation of the biases; alignment_sd: (6,) of the alignment
            states, zero for those that are not estimated.
        period: [s] from one row to the next.
    """

    def __init__(self, noise: Array, gain: float, bias_sd: Array, alignment_sd: Array,
                 period: float) -> None:
        self._noise, self._gain, self._bias_sd = noise, gain, bias_sd
        self._keep = float(np.exp(-period / _MEMORY))
        self._states = np.flatnonzero(alignment_sd)
        count = PARAMETERS + BIASES + len(self._states)
        self._prior = np.zeros((count, count))
        self._prior[:PARAMETERS, :PARAMETERS] = vague_information(1.0)
        rest = np.r_[bias_sd, alignment_sd[self._states]]
        self._prior[PARAMETERS:, PARAMETERS:] = np.diag(rest**-2.0)
        self.restart()

    def restart(self) -> None:
        """Forget everything."""
        self.forget()
        self._scale = np.ones(2)
        self._seen = np.zeros((2, 2))  # per group: residual beyond the spread, and unit noise
        self._proof = np.full((2, 2), _PROOF) * [_UNPROVEN**2, 1.0]  # missed, and load to explain

    def forget(self) -> None:
        """Forget the payload and the biases; keep what was learnt of the noise."""
        self._gram = np.zeros((2, STORED, STORED))
        self._mean, self._weight = np.zeros(6), 0.0
        self._push, self._push_squares = np.zeros(3), 0.0  # mean acceleration less gravity, squares
        self.rows = 0
        self.information = self._prior
        self.covariance = np.linalg.inv(self._prior)
        self.mean = np.zeros(len(self._prior))
        self.phi = np.zeros(PARAMETERS)

    @property
    def mass(self) -> tuple[float, float]:
        """Mass and its standard deviation [kg]."""
        return float(self.mean[0]), float(np.sqrt(self.covariance[0, 0]))

    @property
    def is_proven(self) -> bool:
        """Whether the model explains how the load changes when the sensor turns, so far."""
        return bool((self._proof[:, 0] < _POOR**2 * self._proof[:, 1]).any()
                    or (self._proof[:, 1] < 2.0 * _PROOF).all())

    def expect(self, rows: Array, samples: np.ndarray, rotation_only: bool) -> Forecast:
        """What the fit says of stored rows (n, 6, 38) that stand for samples (n,) each."""
        linear = rows @ linearisation(self.phi, self._states)
        columns, wrench = linear[..., :-1], linear[..., -1]
        expected = columns @ self.mean
        load = expected - self._mean
        unit = self._noise**2 * self._gain / np.maximum(samples, 1.0)[:, None]
        noise = np.repeat(self._scale, 3) * unit + (_FLOOR * self._noise) ** 2
        share = self._proof[:, 0] / self._proof[:, 1]
        doubt = np.empty_like(noise)
        shaken = self._shaken(rows)
        for group, unproven in zip(GROUPS, share, strict=True):
            doubt[:, group] = unproven * (load[:, group] ** 2).mean(axis=1)[:, None]
            doubt[:, group] += self._possible(group) * shaken[:, None]
        spread = columns @ self.covariance @ columns.transpose(0, 2, 1)
        if rotation_only:
            spread = spread + self._unknown_acceleration(rows)
        return Forecast(columns, wrench - expected, load, noise, doubt, spread)

    def _shaken(self, rows: Array) -> Array:
        """Mean square (n,) of what an axis of the acceleration less gravity [m/s^2] may differ from
        its mean unnoticed.

        Noise n in columns of variance v makes the load too small by the share n / v. At rest the
        noise is all that there is: the fit finds a wrench that does not follow the motion, and is
        sure of a load next to nothing.
        """
        off = ((rows[:, FORCE, 0] - self._push) ** 2).mean(axis=1)
        seen = max(self._push_squares / max(self._weight, 1.0), 1e-12)
        return off * min(1.0, _SHAKING**2 / seen) ** 2

    def _possible(self, group: slice) -> float:
        """Square of the mass [kg], or of the first moment [kg m], that the mean reading allows."""
        reading = (self._mean[group] ** 2).sum() + (self._bias_sd[group] ** 2).sum()
        return float(reading) / _GRAVITY**2

    def _unknown_acceleration(self, rows: Array) -> Array:
        """Covariance (n, 6, 6) of the wrench where the sensor turns about a centre unknown."""
        turn = rows[:, FORCE, 1:4]  # [alpha]x + [omega]x^2
        lever = np.concatenate([self.phi[0] * np.eye(3), skew(self.phi[1:4])])
        force = lever @ turn
        return _LEVER**2 * force @ force.transpose(0, 2, 1)

    def learn(self, rows: Array, samples: np.ndarray, rotation_only: bool) -> None:
        """Take stored rows (n, 6, 38) into the fit, and their residual into the noise."""
        first = self.rows == 0
        if not first:
            self._learn_noise(self.expect(rows, samples, rotation_only), samples)
        keep = self._keep ** len(rows)
        weighted = rows * np.sqrt(samples)[:, None, None]
        for k, group in enumerate(GROUPS):
            part = weighted[:, group].reshape(-1, STORED)
            self._gram[k] = keep * self._gram[k] + part.T @ part
        self._weight = keep * self._weight + len(rows)
        self._mean = self._mean + (rows[..., WRENCH] - self._mean).sum(axis=0) / self._weight
        self._learn_push(rows[:, FORCE, 0], keep)
        self.rows += len(rows)
        self._fit()
        if first:
            self._learn_noise(self.expect(rows, samples, rotation_only), samples)

    def _learn_push(self, push: Array, keep: float) -> None:
        before = push - self._push
        self._push = self._push + before.sum(axis=0) / self._weight
        after = push - self._push
        self._push_squares = keep * self._push_squares + float((before * after).sum()) / 3.0

    def _learn_noise(self, seen: Forecast, samples: np.ndarray) -> None:
        keep = self._keep ** len(samples)
        unit = self._noise**2 * self._gain / np.maximum(samples, 1.0)[:, None]
        spread = np.einsum("nii->ni", seen.spread)
        beyond = np.maximum(seen.residual**2 - spread, 0.0)
        for k, group in enumerate(GROUPS):
            self._seen[k] = keep * self._seen[k] + [beyond[:, group].sum(), unit[:, group].sum()]
            size = len(samples) / (10.0 * self._noise[group][0]) ** 2
            self._proof[k] += size * np.array([np.mean(beyond[:, group]),
                                               np.mean(seen.load[:, group] ** 2)])
        self._scale = np.maximum(self._seen[:, 0] / np.maximum(self._seen[:, 1], 1e-300), 1.0)

    def _fit(self) -> None:
        """Most probable states; at first twice, as the alignment columns depend on the parameters,
        which hardly move later on."""
        for _ in range(2 if self.rows < _EARLY else 1):
            matrix = linearisation(self.phi, self._states)
            whole = np.zeros((matrix.shape[1], matrix.shape[1]))
            for k, group in enumerate(GROUPS):
                whole += matrix.T @ self._gram[k] @ matrix / (
                    self._scale[k] * self._noise[group][0] ** 2)
            self.information = whole[:-1, :-1] + self._prior
            self.covariance = np.linalg.inv(self.information)
            self.mean = self.covariance @ whole[:-1, -1]
            self.phi = self.mean[PHI]


