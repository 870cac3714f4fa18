# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Predicts the next rows, with their uncertainty, from the rows before them.

A running least-squares fit of all states of the load (parameters, biases, alignment states, errors
of a robot) runs beside the estimator: it is cheap enough for every row, and gives a prediction
before there is an estimate. The prediction's uncertainty has three parts: the covariance of the
states, noise as large as the residual shows, and a share of the load that shrinks only while motion
confirms the model. Noise of the motion, where it is known, is part of the noise, correlates the
channels and counts as no information (see `encoder_noise`). Information is added and scaled, never
subtracted, so that the Gram matrices lose no digits that matter here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import PARAMETERS, Array
from ..linalg import inverse
from ..regression.row_layout import PHI
from ..regression.uncertainty.encoder_noise import (
    noise_information,
    solve_without_noise_information,
)
from .load_model import LoadModel
from .zero_walk import ZeroWalk

_MEASURED = -1  # column of a row
_MEMORY = 15.0  # s; time constant of forgetting old rows and old noise
_MEMORY_WALKING = 1.5  # s; the same, while the payload walks
_UNCONFIRMED = 0.5  # share of a change of load that an unconfirmed model may miss
_PRIOR_WEIGHT = 2.0  # of that share, in rows whose load changes by ten data-sheet sigmas
_EARLY = 250  # rows up to which the fit is linearised twice
_LARGEST_MISS = 0.2  # share of the changes of load that a confirmed model may miss
_REFUTED = 0.5  # share, squared, of the changes of load that only a wrong model misses
_GRAVITY = 9.81  # m/s^2, to convert a reading to a mass or a first moment
_ACCELERATION_NOISE = 0.1  # m/s^2; of one axis in a row, for encoders of 1e-3 rad


class Forecast(NamedTuple):
    """Prediction of n rows of c channels, and its residual.

    Attributes:
        columns: (n, c, k) of the k states; residual: (n, c) measured less predicted [N, N m].
        load: (n, c) predicted change of the load against its running mean.
        noise: (n, c) variance of the residual of a confirmed model with known states.
        doubt: (n, c) additional variance of a model that motion has not confirmed.
        spread: (n, c, c) covariance of the residual due to uncertain states; off its diagonal also
            of the noise that channels share.
        weight: (n, c) by which rows, and all of the above, are scaled down; 1: they are not.
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
        """Mahalanobis distance (n,) of the residuals, in standard deviations."""
        total = self.spread.copy()
        _diagonals(total)[...] += self.noise + self.doubt
        solved = np.linalg.solve(total, self.residual[..., None])[..., 0]
        return np.sqrt(np.maximum(np.einsum("ni,ni->n", self.residual, solved), 0.0))

    def uncertainty(self, groups: tuple[slice, ...]) -> Array:
        """Standard deviations (n, g) of the residual beyond the noise of rows that are not scaled
        down: the largest of each group of channels [N, N m]."""
        scaled = _diagonals(self.spread) + self.doubt
        variance = (scaled + self.noise * (1.0 - self.weight**2)) / self.weight**2
        return np.stack([np.sqrt(variance[:, group].max(axis=1)) for group in groups], axis=1)

    def residual_lengths(self, groups: tuple[slice, ...]) -> Array:
        """Length (n, g) of the residual of each group of channels [N, N m]."""
        residual = self.residual / self.weight
        return np.stack([np.linalg.norm(residual[:, g], axis=1) for g in groups], axis=1)

    def visibility(self, strength: Array, groups: tuple[slice, ...]) -> Array:
        """How many standard deviations of the noise (n,) a disturbance would make in the group of
        channels that shows it best; strength: (g,) length of its residual [N, N m]."""
        seen = [s * (self.weight[:, g] / np.sqrt(self.noise[:, g])).max(axis=1)
                for s, g in zip(strength, groups, strict=True)]
        return np.asarray(np.max(seen, axis=0))


class RunningFit:
    """Least-squares fit of the states of the load to all rows so far, with fading weights.

    Args:
        model: of the load.
        gain: variance of one filtered row, times the samples it stands for, over that of a sample.
        period: [s] from one row to the next.
        previous: fit of another payload, whose noise and confirmation of the model are kept.

    Attributes:
        period: the same.
        acceleration_covariance: (6, 6) of the noise of linear [m/s^2] and angular acceleration
            [rad/s^2] in a row; zeros where it is not known.
        rows: number of rows learnt since the payload was forgotten.
        mean, covariance, information: of the states (k,), (k, k), averaged over the memory of the
            fit; phi: (10,) the parameters.
    """

    def __init__(self, model: LoadModel, gain: float, period: float,
                 previous: RunningFit | None = None) -> None:
        self.model, self._gain, self.period = model, gain, period
        self._keep: float = float(np.exp(-period / _MEMORY)) if previous is None else previous._keep
        self._lag: Array | None = None if previous is None else previous._lag  # squared, of phi
        channels = np.arange(len(model.noise))
        self._group_of = np.concatenate([np.full(len(channels[g]), k)
                                         for k, g in enumerate(model.groups)])
        # From the channels to sums and means of their groups (c, g).
        self._to_sums = (self._group_of[:, None] == np.arange(len(model.groups))).astype(float)
        self._to_means = self._to_sums / self._to_sums.sum(axis=0)
        self.acceleration_covariance: Array = (
            np.zeros((6, 6)) if previous is None else previous.acceleration_covariance)
        self._walk: ZeroWalk = ZeroWalk(model, None if previous is None else previous._walk)
        # Sums of each group: squared residuals beyond the spread, and variance of model noise.
        self._noise_sums = np.zeros((len(model.groups), 2))
        self._confirmation = self._initial_confirmation()
        if previous is not None:
            self._noise_sums = previous._noise_sums.copy()
            self._confirmation = previous._confirmation.copy()
        self._scale = self._noise_scale()
        self._linearise_at(np.zeros(PARAMETERS))
        columns = len(self._matrix)
        self._gram = np.zeros((len(self.model.groups), columns, columns))
        self._mean, self._weight, self._samples = np.zeros(len(self.model.noise)), 0.0, 0.0
        # Mean of acceleration less gravity (3,), and mean square of an axis about it, summed up.
        self._mean_acceleration, self._acceleration_squares = np.zeros(3), 0.0
        self._place: Array | None = None  # of the rows that were learnt last
        self.rows = 0
        self._believe_prior()

    def follow(self, squared_rate: Array | None, phi: Array | None = None) -> None:
        """Forget faster while the payload walks, and know how far the rates may mislead.

        Args:
            squared_rate: mean products (10, 10) of the rates of phi [units of phi per s]; None: it
                is constant, and the long memory serves again.
            phi: (10,) of now, where it walks: what was learnt is then as of that; None: not known.
        """
        memory = _MEMORY if squared_rate is None else _MEMORY_WALKING
        self._keep = float(np.exp(-self.period / memory))
        self._lag = None if squared_rate is None else (2.0 * memory) ** 2 * squared_rate
        if squared_rate is not None and phi is not None and self.rows:
            self._bring_to(phi)

    def follow_as(self, other: RunningFit) -> None:
        """Forget as fast as another fit, of the same payload."""
        self._keep, self._lag = other._keep, other._lag

    def _bring_to(self, phi: Array) -> None:
        """Have all rows so far read as a payload (10,) of now would have made them."""
        shift = np.eye(len(self._matrix))
        shift[:, _MEASURED] += self._matrix[:, PHI] @ (phi - self.mean[PHI])
        self._gram = shift.T @ self._gram @ shift
        self._fit()

    def _believe_prior(self) -> None:
        """Nothing is known of the states but their prior."""
        self.information = self.model.prior
        self.covariance = np.linalg.inv(self.model.prior)
        self.mean: Array = np.zeros(len(self.model.prior))

    def use_model(self, model: LoadModel) -> None:
        """Go on with other noise or priors of the same load; keep what the rows have taught.

        Sums in units of the noise are converted to the new unit.
        """
        ratio = np.array([(self.model.noise[g][0] / model.noise[g][0]) ** 2
                          for g in model.groups])
        start = self._initial_confirmation()
        self._noise_sums[:, 1] /= ratio
        self._confirmation = start + (self._confirmation - start) * ratio[:, None]
        self._scale = self._noise_scale()
        self.model = model
        self._walk.use_model(model)
        self._linearise_at(self.phi)
        if self.rows:
            self._fit()
        else:
            self._believe_prior()

    @property
    def mass(self) -> tuple[float, float]:
        """Mass and its standard deviation [kg]."""
        return float(self.mean[0]), float(np.sqrt(self.covariance[0, 0]))

    @property
    def is_confirmed(self) -> bool:
        """Whether motion so far has confirmed the model: it explains how the load changes."""
        return bool((self._confirmation[:, 0] < _LARGEST_MISS**2 * self._confirmation[:, 1]).any()
                    or (self._confirmation[:, 1] < 2.0 * _PRIOR_WEIGHT).all())

    @property
    def is_refuted(self) -> bool:
        """Whether a group of channels has so far done little of what the model expects: zeros that
        walk would hide a wrong frame."""
        missed, load = self._confirmation.T
        return self._walk.is_followed and bool((missed > _REFUTED * load).any())

    def states_before(self, age: float) -> tuple[Array, Array]:
        """Mean (k,) of the states before a sudden change, and information (k, k) about them.

        What the zeros did while the fit was learnt changes no more: it leaves the fit as certain as
        the noise does.

        Args:
            age: since the last rows that were learnt [s].
        """
        zeros = self.model.zero_states
        if zeros is None:
            return self.mean, self.information
        mean = self.mean.copy()
        mean[zeros] += self._walk.offset
        return mean, self._solve(self._sample_noise(with_walk=False))[1]

    def expect(self, rows: Array, samples: np.ndarray, rotation_only: bool,
               age: Array | float = 0.0) -> Forecast:
        """Predict stored rows (n, c, k), which stand for samples (n,); changes nothing.

        Args:
            age: (n,) since the last rows that were learnt [s].
        """
        linear = rows @ self._matrix
        columns, measured = linear[..., :-1], linear[..., -1]
        expected = columns @ self.mean + self._walk.offset
        load = expected - self._mean
        unit = self._unit(samples)
        motion = self._motion_noise()
        noise = self._scale[self._group_of] * unit + self.model.floor**2 + motion.diagonal()
        share = np.maximum(self._confirmation[:, 0] / self._confirmation[:, 1],
                           self.model.gain_error**2)
        doubt = share * (load * load @ self._to_means)
        doubt += self._hidden_acceleration(rows)[:, None] * self._largest_loads()
        spread = columns @ self.covariance @ columns.transpose(0, 2, 1) + motion
        if self._lag is not None:
            of_phi = columns[..., :PARAMETERS]
            spread += of_phi @ self._lag @ of_phi.transpose(0, 2, 1)
        diagonals = _diagonals(spread)
        diagonals -= motion.diagonal()
        diagonals += self._walk.variance(np.broadcast_to(age, len(rows)), self._moved(rows))
        if rotation_only:
            spread = spread + self.model.unknown_motion_covariance(rows, self.phi)
        weight = _diagonals(rows[..., self.model.zero_columns])
        doubt = doubt[:, self._group_of]
        if self.model.cross_talk is not None:
            doubt += load * load @ self.model.cross_talk.T
        return Forecast(columns, measured - expected, load, noise, doubt, spread, weight)

    def _moved(self, rows: Array) -> Array:
        """How far (n,) the sensor is from where the rows came from that were learnt last."""
        if self._place is None:
            return np.zeros(len(rows))
        return np.asarray(np.linalg.norm(self.model.place(rows) - self._place, axis=1))

    def _hidden_acceleration(self, rows: Array) -> Array:
        """Mean square (n,) of the acceleration less gravity, about its mean, that noise may hide
        from the fit [m^2/s^4].

        Noise n in columns of variance v makes the load too small by the share n / v. At rest there
        is only noise: the fit then finds a load that does not follow the motion, and is certain of
        a mass next to nothing.
        """
        off = ((self.model.proper_acceleration(rows) - self._mean_acceleration) ** 2).mean(axis=1)
        seen = max(self._acceleration_squares / max(self._weight, 1.0), 1e-12)
        return np.asarray(off * min(1.0, _ACCELERATION_NOISE**2 / seen) ** 2)

    def _largest_loads(self) -> Array:
        """Squares (g,) of the largest mass [kg^2] or first moment [kg^2 m^2] that the mean readings
        of each group of channels allow."""
        squares = (self._mean**2 + self.model.bias_sd**2) @ self._to_sums
        return np.asarray(squares / _GRAVITY**2)

    def learn(self, rows: Array, samples: np.ndarray, rotation_only: bool) -> None:
        """Update fit and noise with stored rows (n, c, k), which stand for samples (n,)."""
        first = self.rows == 0
        if not first:
            age = self.period * (1.0 + np.arange(len(rows)))
            seen = self.expect(rows, samples, rotation_only, age)
            self._learn_noise(seen, samples)
            self._follow_walk(seen, age, samples, self._moved(rows))
        keep = self._keep ** len(rows)
        weighted = rows * np.sqrt(samples)[:, None, None]
        for k, group in enumerate(self.model.groups):
            part = weighted[:, group].reshape(-1, rows.shape[2])
            self._gram[k] = keep * self._gram[k] + part.T @ part
        self._samples = keep * self._samples + samples.sum()
        self._weight = keep * self._weight + len(rows)
        self._mean = self._mean + (rows[..., _MEASURED] - self._mean).sum(axis=0) / self._weight
        self._learn_acceleration(self.model.proper_acceleration(rows), keep)
        self.rows += len(rows)
        self._place = self.model.place(rows).mean(axis=0)
        self._fit()
        if first:
            self._learn_noise(self.expect(rows, samples, rotation_only), samples)

    def _follow_walk(self, seen: Forecast, age: Array, samples: np.ndarray, moved: Array) -> None:
        """Follow the zeros with the residual of the rows of a block, of such ages (n,) [s], and so
        far (n,) from the block before."""
        known = _diagonals(seen.spread) - self._walk.variance(age, moved)
        noise = self._unit(samples).mean(axis=0) + self.model.floor**2
        self._walk.follow(seen.residual.mean(axis=0), noise,
                          noise + (known + seen.doubt).mean(axis=0), float(age[-1]),
                          float(np.sqrt((moved**2).mean())))

    def _unit(self, samples: np.ndarray) -> Array:
        """Variance (n, c) that the noise of the model leaves in rows, which stand for samples
        (n,)."""
        return self.model.noise**2 * self._gain / np.maximum(samples, 1.0)[:, None]

    def _learn_acceleration(self, acceleration: Array, keep: float) -> None:
        """Update mean and variance of the acceleration less gravity (n, 3) [m/s^2]."""
        before = acceleration - self._mean_acceleration
        self._mean_acceleration = self._mean_acceleration + before.sum(axis=0) / self._weight
        after = acceleration - self._mean_acceleration
        self._acceleration_squares *= keep
        self._acceleration_squares += float((before * after).sum()) / 3.0

    def _learn_noise(self, seen: Forecast, samples: np.ndarray) -> None:
        """Update the noise, and the confirmation of the model, with the residual of rows."""
        keep = self._keep ** len(samples)
        unit = self._unit(samples)
        spread = _diagonals(seen.spread) + self._motion_noise().diagonal()
        beyond = np.maximum(seen.residual**2 - spread, 0.0)
        missed = np.maximum((seen.residual + self._walk.offset) ** 2 - spread, 0.0)
        self._noise_sums *= keep
        self._noise_sums[:, 0] += beyond.sum(axis=0) @ self._to_sums
        self._noise_sums[:, 1] += unit.sum(axis=0) @ self._to_sums
        size = 1.0 / (10.0 * self._group_noise()) ** 2
        self._confirmation[:, 0] += size * (missed.sum(axis=0) @ self._to_means)
        self._confirmation[:, 1] += size * ((seen.load**2).sum(axis=0) @ self._to_means)
        self._scale = self._noise_scale()

    def _group_noise(self) -> Array:
        """Noise (g,) of one sample by the model, of each group of channels [N, N m]."""
        return np.array([self.model.noise[group][0] for group in self.model.groups])

    def _noise_scale(self) -> Array:
        """Variance of the noise over that of the model, of each group of channels; 1 at least."""
        return np.maximum(self._noise_sums[:, 0] / np.maximum(self._noise_sums[:, 1], 1e-300), 1.0)

    def _initial_confirmation(self) -> Array:
        """Sums (g, 2) of missed load and load that stand for a model before any motion."""
        return np.full((len(self.model.groups), 2), _PRIOR_WEIGHT) * [_UNCONFIRMED**2, 1.0]

    def _fit(self) -> None:
        """Solve for the most probable states: twice at first, since the columns of the alignment
        depend on the parameters, which hardly change later."""
        for _ in range(2 if self.rows < _EARLY else 1):
            self.mean, self.information = self._solve(self._sample_noise())
            self.covariance = inverse(self.information)
            self._linearise_at(self.mean[PHI])

    def _linearise_at(self, phi: Array) -> None:
        """Use this payload (10,), and the columns of the states at it."""
        self.phi, self._matrix = phi, self.model.linearise(phi)

    def _solve(self, noise: Array) -> tuple[Array, Array]:
        """The most probable states (k,), linearised at `phi`, and the information (k, k) about
        them; noise: (c,) of one sample."""
        matrix = self._matrix
        whole = np.zeros((matrix.shape[1], matrix.shape[1]))
        for k, group in enumerate(self.model.groups):
            whole += matrix.T @ self._gram[k] @ matrix / noise[group][0] ** 2
        information = whole[:-1, :-1] + self.model.prior
        of_noise = None
        if self.acceleration_covariance.any():
            of_noise = noise_information(self.acceleration_covariance, noise, self._samples)
        return solve_without_noise_information(information, whole[:-1, -1], of_noise)

    def _sample_noise(self, with_walk: bool = True) -> Array:
        """Standard deviations (c,) of the noise of one sample, with that of the motion, and with
        that which is as bad as the walk of the zeros [N, N m]."""
        variance = self._scale[self._group_of] * self.model.noise**2
        if with_walk:
            variance += self._walk.sample_variance(self._samples / (self._weight * self.period))
        motion = self._motion_noise().diagonal() * self._samples / (self._weight * self._gain)
        for group in self.model.groups:
            variance[group] += motion[group].max()
        return np.sqrt(variance)

    def _motion_noise(self) -> Array:
        """Covariance (c, c) of the noise of the motion in the residual of a row [N, N m]."""
        return self.model.motion_noise_covariance(self.phi, self.acceleration_covariance)


def _diagonals(matrices: Array) -> Array:
    """Diagonals (n, c) of matrices (n, c, c), as a view."""
    return np.einsum("nii->ni", matrices)
