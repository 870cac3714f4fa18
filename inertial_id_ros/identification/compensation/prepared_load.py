# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A load as one matrix, so that removing it from a wrench is one small product.

`Blend` goes over from one load to the next without a jump.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...inertia import Array
from ...kinematics.causal.features import ACCELERATION, ALPHA, AXES, FEATURES, PRODUCTS
from ...linalg import identity
from ...regression.alignment import CLOCK_OFFSET, GRAVITY_TILT, gravity_turn
from ...regression.newton_euler import regressor
from ...regression.row_layout import BIASES, correct_wrench
from .load_in_use import Load, LoadInUse

_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # of the products of angular velocities


def _unit_regressors() -> tuple[Array, Array, Array]:
    """Regressors of unit accelerations, angular accelerations (3, 6, 10), and products (6, 6, 10).

    The rates enter as squares: that of a pair is what both have beyond what each has.
    """
    none, unit = np.zeros((3, 3)), np.eye(3)
    square = regressor(none, unit, none)
    products = [square[i] if i == j else
                regressor(np.zeros(3), unit[i] + unit[j], np.zeros(3)) - square[i] - square[j]
                for i, j in _PAIRS]
    return regressor(unit, none, none), regressor(none, none, unit), np.array(products)


_UP = np.array([0.0, 0.0, 1.0])
_LINEAR, _ANGULAR, _SQUARES = _unit_regressors()


def load_matrix(phi: Array, up: Array, weight_only: bool = False) -> Array:
    """Matrix (6, 21) from the features of a motion to the wrench on a body phi (10,).

    Args:
        up: (3,) the true upward axis along the axes of the gravity frame.
    """
    out = np.zeros((BIASES, FEATURES))
    linear = (_LINEAR @ phi).T
    out[:, AXES] = np.concatenate([u * linear for u in up.tolist()], axis=1)
    if not weight_only:
        out[:, ACCELERATION] = linear
        out[:, ALPHA], out[:, PRODUCTS] = (_ANGULAR @ phi).T, (_SQUARES @ phi).T
    return out


class PreparedLoad:
    """Removes one load from wrenches.

    Attributes:
        load: that is removed; early_ns: by how much the stamps of the wrench are early [ns].
    """

    def __init__(self, load: Load, use: LoadInUse, sign: float) -> None:
        self.load = load
        self.early_ns = round(float(load.alignment[CLOCK_OFFSET.values][0]) * 1e9)
        up = gravity_turn(load.alignment[GRAVITY_TILT.values]).T[2]
        correction = correct_wrench(identity(BIASES), load.alignment).T
        driver = np.zeros((BIASES, FEATURES))  # adds what the driver takes out by the motion of now
        if use.removed.any():
            driver = sign * correction @ load_matrix(use.removed, _UP, use.weight_only)
        taken, target = correction, use.target
        if use.conversion is not None:
            taken = correction @ use.conversion
            target = np.linalg.inv(use.conversion) if target is None else target
        self._matrix = np.concatenate(
            [taken, driver - sign * load_matrix(load.phi, up), -(correction @ load.bias)[:, None],
             driver], axis=1)
        if target is not None:
            self._matrix = target @ self._matrix

    def remove(self, inputs: Array) -> Array:
        """The wrench (6,) without the load, from `inputs_of` wrench and motion (49,)."""
        return np.asarray(self._matrix @ inputs)


def inputs_of(wrench: Sequence[float], features: Array, shown: Array | None = None) -> Array:
    """What `PreparedLoad.remove` takes (49,).

    Args:
        wrench: (6,) of the topic; features: (21,) of the motion at its stamp.
        shown: (21,) those that the sensor shows then; None: the same, as it does not filter.
    """
    out = np.zeros(BIASES + 2 * FEATURES + 1)
    out[:BIASES], out[BIASES + FEATURES] = wrench, 1.0
    if shown is None:
        out[BIASES:BIASES + FEATURES] = features
        return out
    out[BIASES:BIASES + FEATURES] = shown
    np.subtract(features, shown, out=out[-FEATURES:])
    return out


_SLIGHT = 0.3  # standard deviations of a sample; a smaller difference is no jump
_STEP = 2.0  # the same, by which successive wrenches differ at most because of another load


class Blend:
    """Removes a load, and one that follows it more and more.

    Args:
        load: the first one; it is in use at once.
        sign: of the reading against ``A phi``; duration: of a transition, if it may be as fast [s].

    Attributes:
        share: of the newest load in what is removed, 0 to 1.
    """

    def __init__(self, use: LoadInUse, sign: float, duration: float) -> None:
        self._sign, self._duration = sign, duration
        self._use, self._new = use, PreparedLoad(use.load, use, sign)
        self._old: PreparedLoad | None = None
        self._tolerance = _tolerance(use)
        self.share = 1.0

    @property
    def load(self) -> Load:
        """What is removed now."""
        if self._old is None:
            return self._new.load
        return self._old.load.mixed(self._new.load, self.share)

    @property
    def early_ns(self) -> int:
        """By how much the stamps of the wrench are early [ns]."""
        if self._old is None:
            return self._new.early_ns
        return round(self._old.early_ns + self.share * (self._new.early_ns - self._old.early_ns))

    def follow(self, use: LoadInUse) -> None:
        """Go over to another load."""
        self._old = PreparedLoad(self.load, use, self._sign)
        self._use, self._new = use, PreparedLoad(use.load, use, self._sign)
        self._tolerance, self.share = _tolerance(use), 0.0

    def remove(self, inputs: Array, step: float) -> Array:
        """The wrench (6,) without the load.

        Args:
            inputs: (49,), as `inputs_of` gives them; step: since the last wrench [s].
        """
        new = self._new.remove(inputs)
        if self._old is None:
            return new
        old = self._old.remove(inputs)
        distance = float((np.abs(new - old) / self._tolerance).max())
        rest = 1.0 - self.share
        fastest = 1.0 if distance * rest <= _SLIGHT else min(
            _STEP / distance, step / self._duration if self._duration > 0.0 else 1.0)
        self.share += fastest
        if self.share >= 1.0:
            self._old, self.share = None, 1.0
            return new
        return np.asarray(old + self.share * (new - old))


def _tolerance(use: LoadInUse) -> Array:
    """Standard deviation (6,) of one wrench in the target frame [N, N m]."""
    noise = use.noise if use.target is None else np.sqrt((use.target**2) @ use.noise**2)
    return np.maximum(noise, 1e-9)
