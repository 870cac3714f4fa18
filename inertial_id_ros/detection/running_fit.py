"""What the next rows should be, and how far off they may be, from the rows before them.

A running least-squares fit of everything that the load depends on (parameters, biases, alignment
states, errors of a robot), kept beside the estimator: it is cheap enough for every row, and it can
be asked at any time, before there is an estimate. Its answer comes with the covariance of what it
does not know yet, with noise as large as the residual shows, and with a share of the load that
shrinks only while motion confirms the model. Noise of the motion, where it is known, is part of
the noise, ties the channels together and counts as no information (see `encoder_noise`).
Information is added and scaled and never subtracted, so that Gram matrices lose no digits that
matter here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import PARAMETERS, Array
from ..regression.encoder_noise import solved, spurious
from ..regression.row_layout import PHI
from .load_model import LoadModel

_MEASURED = -1  # column of a row
_MEMORY = 15.0  # s; the time constant by which old rows and old noise are forgotten
_UNPROVEN = 0.5  # share of a change of load that a model may miss before motion has confirmed it
_PROOF = 2.0  # rows with a change of load of ten data-sheet sigmas that weigh as much as that
_EARLY = 250  # rows
_POOR = 0.2  # share of the changes of load that a model that can be trusted may miss
_GRAVITY = 9.81  # m/s^2, to take a reading for a mass or a first moment
_SHAKING = 0.1  # m/s^2; noise of an axis of the acceleration in a row: encoders of 1e-3 rad


class Forecast(NamedTuple):
    """What was expected of n rows of c channels.

    Attributes:
        columns: (n, c, k) of the k states; residual: (n, c) measured less expected [N, N m].
        load: (n, c) expected change of the load against its running mean.
        noise: (n, c) variance of the residual of a proven model if its states were known.
        doubt: (n, c) variance from a model that motion has not confirmed.
        spread: (n, c, c) covariance of the residual from not knowing the states, and, off its
            diagonal, of noise that channels share.
        weight: (n, c) by which rows were scaled down, with all of the above: 1 where they were not.
    """

    columns: Array
    residual: Array
    load: Array
    noise: Array
    doubt: Array
    spread: Array
    weight: Array

    def part(self, rows: slice) -> Forecast:
        """The same for some of the rows."""
        return Forecast(*(field[rows] for field in self))

    @property
    def distance(self) -> Array:
        """Mahalanobis length (n,) of the residuals, in standard deviations."""
        total = self.spread + (self.noise + self.doubt)[:, :, None] * np.eye(
            self.noise.shape[1])
        solved = np.linalg.solve(total, self.residual[..., None])[..., 0]
        return np.sqrt(np.maximum(np.einsum("ni,ni->n", self.residual, solved), 0.0))

    def unknown(self, groups: tuple[slice, ...]) -> Array:
        """Standard deviation (n, g) of each group of channels, in its own unit, beyond that of the
        noise of rows that are not scaled down."""
        scaled = np.einsum("nii->ni", self.spread) + self.doubt
        variance = (scaled + self.noise * (1.0 - self.weight**2)) / self.weight**2
        return np.stack([np.sqrt(variance[:, group].max(axis=1)) for group in groups], axis=1)

    def excess(self, groups: tuple[slice, ...]) -> Array:
        """Lengths (n, g) of the residual of each group of channels [N, N m]."""
        residual = self.residual / self.weight
        return np.stack([np.linalg.norm(residual[:, g], axis=1) for g in groups], axis=1)

    def shows(self, strength: Array, groups: tuple[slice, ...]) -> Array:
        """By how many standard deviations of the noise (n,) a residual that is as strong (g,) in
        each group of channels would stand out in the clearest one."""
        seen = [s * (self.weight[:, g] / np.sqrt(self.noise[:, g])).max(axis=1)
                for s, g in zip(strength, groups, strict=True)]
        return np.asarray(np.max(seen, axis=0))


class RunningReference:
    """The running fit.

    Args:
        model: of the load; gain: variance of one filtered row, times the samples it stands for,
            over that of one sample.
        period: [s] from one row to the next.

    Attributes:
        shaking: covariance (6, 6) of linear [m/s^2] and angular acceleration [rad/s^2] in a row;
            zeros where it is not known.
    """

    def __init__(self, model: LoadModel, gain: float, period: float) -> None:
        self.model, self._gain = model, gain
        self._noise, self._groups, self._prior = model.noise, model.groups, model.prior
        self._keep = float(np.exp(-period / _MEMORY))
        channels = np.arange(len(model.noise))
        self._group_of = np.concatenate([np.full(len(channels[g]), k)
                                         for k, g in enumerate(model.groups)])
        self.shaking: Array = np.zeros((6, 6))
        self.restart()

    def restart(self) -> None:
        """Forget everything."""
        self.forget()
        shape = len(self._groups), 2
        self._scale = np.ones(len(self._groups))
        self._seen = np.zeros(shape)  # per group: residual beyond the spread, and unit noise
        self._proof = np.full(shape, _PROOF) * [_UNPROVEN**2, 1.0]  # missed, and load to explain

    def forget(self) -> None:
        """Forget the payload and the biases; keep what was learnt of the noise."""
        columns = len(self.model.linearisation(np.zeros(PARAMETERS)))
        self._gram = np.zeros((len(self._groups), columns, columns))
        self._mean, self._weight, self._samples = np.zeros(len(self._noise)), 0.0, 0.0
        self._push, self._push_squares = np.zeros(3), 0.0  # mean acceleration less gravity, squares
        self.rows = 0
        self.information = self._prior
        self.covariance = np.linalg.inv(self._prior)
        self.mean: Array = np.zeros(len(self._prior))
        self.phi: Array = np.zeros(PARAMETERS)

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
        """What the fit says of stored rows (n, c, k) that stand for samples (n,) each."""
        linear = rows @ self.model.linearisation(self.phi)
        columns, measured = linear[..., :-1], linear[..., -1]
        expected = columns @ self.mean
        load = expected - self._mean
        unit = self._noise**2 * self._gain / np.maximum(samples, 1.0)[:, None]
        moved = self._moved()
        noise = self._scale[self._group_of] * unit + self.model.floor**2 + moved.diagonal()
        share = self._proof[:, 0] / self._proof[:, 1]
        doubt = np.empty_like(noise)
        shaken = self._shaken(rows)
        for group, unproven in zip(self._groups, share, strict=True):
            doubt[:, group] = unproven * (load[:, group] ** 2).mean(axis=1)[:, None]
            doubt[:, group] += self._possible(group) * shaken[:, None]
        tied = moved - np.diag(moved.diagonal())
        spread = columns @ self.covariance @ columns.transpose(0, 2, 1) + tied
        if rotation_only:
            spread = spread + self.model.unknown_motion(rows, self.phi)
        weight = np.einsum("nii->ni", rows[..., self.model.zeros])
        return Forecast(columns, measured - expected, load, noise, doubt, spread, weight)

    def _shaken(self, rows: Array) -> Array:
        """Mean square (n,) of what an axis of the acceleration less gravity [m/s^2] may differ from
        its mean unnoticed.

        Noise n in columns of variance v makes the load too small by the share n / v. At rest the
        noise is all that there is: the fit finds a load that does not follow the motion, and is
        sure of one next to nothing.
        """
        off = ((self.model.acceleration(rows) - self._push) ** 2).mean(axis=1)
        seen = max(self._push_squares / max(self._weight, 1.0), 1e-12)
        return np.asarray(off * min(1.0, _SHAKING**2 / seen) ** 2)

    def _possible(self, group: slice) -> float:
        """Square of the mass [kg], or of the first moment [kg m], that the mean reading allows."""
        reading = (self._mean[group] ** 2).sum() + (self.model.bias_sd[group] ** 2).sum()
        return float(reading) / _GRAVITY**2

    def learn(self, rows: Array, samples: np.ndarray, rotation_only: bool) -> None:
        """Take stored rows (n, c, k) into the fit, and their residual into the noise."""
        first = self.rows == 0
        if not first:
            self._learn_noise(self.expect(rows, samples, rotation_only), samples)
        keep = self._keep ** len(rows)
        weighted = rows * np.sqrt(samples)[:, None, None]
        for k, group in enumerate(self._groups):
            part = weighted[:, group].reshape(-1, rows.shape[2])
            self._gram[k] = keep * self._gram[k] + part.T @ part
        self._samples = keep * self._samples + samples.sum()
        self._weight = keep * self._weight + len(rows)
        self._mean = self._mean + (rows[..., _MEASURED] - self._mean).sum(axis=0) / self._weight
        self._learn_push(self.model.acceleration(rows), keep)
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
        spread = np.einsum("nii->ni", seen.spread) + self._moved().diagonal()
        beyond = np.maximum(seen.residual**2 - spread, 0.0)
        for k, group in enumerate(self._groups):
            self._seen[k] = keep * self._seen[k] + [beyond[:, group].sum(), unit[:, group].sum()]
            size = len(samples) / (10.0 * self._noise[group][0]) ** 2
            self._proof[k] += size * np.array([np.mean(beyond[:, group]),
                                               np.mean(seen.load[:, group] ** 2)])
        self._scale = np.maximum(self._seen[:, 0] / np.maximum(self._seen[:, 1], 1e-300), 1.0)

    def _fit(self) -> None:
        """Most probable states; at first twice, as the alignment columns depend on the parameters,
        which hardly move later on."""
        for _ in range(2 if self.rows < _EARLY else 1):
            matrix = self.model.linearisation(self.phi)
            whole = np.zeros((matrix.shape[1], matrix.shape[1]))
            noise = self._of_a_sample()
            for k, group in enumerate(self._groups):
                whole += matrix.T @ self._gram[k] @ matrix / noise[group][0] ** 2
            information = whole[:-1, :-1] + self._prior
            false = spurious(self.shaking, noise, self._samples) if self.shaking.any() else None
            self.mean, self.information = solved(information, whole[:-1, -1], false)
            self.covariance = np.linalg.inv(self.information)
            self.phi = self.mean[PHI]

    def _of_a_sample(self) -> Array:
        """Standard deviation (c,) of a sample's noise, that of the motion included."""
        variance = self._scale[self._group_of] * self._noise**2
        moved = self._moved().diagonal() * self._samples / (self._weight * self._gain)
        for group in self._groups:
            variance[group] += moved[group].max()
        return np.sqrt(variance)

    def _moved(self) -> Array:
        """Covariance (c, c) of what noise of the motion leaves in the residual of a row."""
        return self.model.motion_noise(self.phi, self.shaking)


