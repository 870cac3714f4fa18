# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The zero of a sensor walks: where it is now, and how far it may have gone since.

Coloured noise, drift, hysteresis and the pull of a cable all look like a zero that walks slowly; a
contact, another payload or another zero come at once. The walk is followed by a filter (Kalman, one
state a channel) on the residual of the running fit, and its rate is that of the residual. It walks
with time, and as far as the sensor moves: cross-talk, hysteresis and cables stand still at rest.
"""

from __future__ import annotations

import numpy as np

from ..inertia import Array
from .load_model import LoadModel

_MEMORY = 15.0  # s; time constant of forgetting the rate
_RETURN = 5.0  # s; within which the running fit itself takes over an offset that lasts
_PRIOR = 2.0  # s; strength of the rate by the data sheet
_MOTION = 0.3  # Hz; frequency of an ordinary motion
_LONGEST = 2.0  # s; after which the zero is no farther away


class ZeroWalk:
    """Offset of the zeros against the running fit, their variance, and the rate of the walk.

    Args:
        previous: of another payload, whose rate is kept.

    Attributes:
        offset: (c,) [N, N m]; zeros where the model of the load has no zeros that walk.
        rate: variance (c,) by which the zeros walk a second [N^2/s, (N m)^2/s].
    """

    def __init__(self, model: LoadModel, previous: ZeroWalk | None = None) -> None:
        # Squares beyond the noise, and seconds.
        self._seen: Array = (np.zeros((len(model.groups), 2)) if previous is None
                             else previous._seen.copy())
        self.use_model(model)
        self.offset = np.zeros(len(model.noise))
        self._variance = np.zeros(len(model.noise))

    def use_model(self, model: LoadModel) -> None:
        """Go on with other noise or priors of the same load."""
        self.model = model
        self.rate = self._rate()

    @property
    def is_followed(self) -> bool:
        """Whether the model has zeros that may walk."""
        return self.model.zero_states is not None

    def _rate(self) -> Array:
        """The rate by what was seen, and by the data sheet at least."""
        out = self.model.walk.copy()
        for (beyond, seconds), group in zip(self._seen, self.model.groups, strict=True):
            seen = (beyond + _PRIOR * out[group]) / (seconds + _PRIOR)
            out[group] = np.maximum(seen, out[group])
        return out

    def sample_variance(self, rate: float) -> Array:
        """Variance (c,) of white noise that disturbs the fit as the walk does: it is as strong as
        the walk at the frequency of a motion; rate: samples a second."""
        return self.rate * rate / (2.0 * np.pi * _MOTION) ** 2

    def variance(self, age: Array, moved: Array) -> Array:
        """Variance (n, c) of the offset, so many seconds (n,) after it was followed last, and so
        far (n,) from there (see `LoadModel.place`)."""
        since = np.minimum(age, _LONGEST)[:, None]
        return np.asarray(self._variance + self.rate * since
                          + (self.model.swing * moved[:, None]) ** 2)

    def follow(self, residual: Array, noise: Array, uncertainty: Array, seconds: float,
               moved: float) -> None:
        """Follow the mean residual (c,) of a block of rows of some seconds, so far from the last.

        Args:
            noise: (c,) variance of that mean by white noise; uncertainty: (c,) by all but the
                walk.
        """
        if not self.is_followed:
            return
        keep = np.exp(-seconds / _MEMORY)
        beyond = residual**2 - uncertainty - self._variance
        for k, group in enumerate(self.model.groups):
            weight = np.mean(noise[group] / uncertainty[group]) ** 2
            self._seen[k] = keep * self._seen[k] + weight * np.array(
                [np.mean(beyond[group]), seconds])
        self.rate = self._rate()
        before = self._variance + self.rate * seconds + (self.model.swing * moved) ** 2
        gain = before / (before + uncertainty)
        stays = np.exp(-seconds / _RETURN)
        self.offset = stays * (self.offset + gain * residual)
        self._variance = stays**2 * (1.0 - gain) * before
