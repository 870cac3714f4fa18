# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion of the sensor now, from joint states.

`PreparedArm` gives the kinematics of one configuration at a time, with nothing allocated.

Positions are smoothed by a cubic through the past with exponentially fading weights, which gives
value, velocity and acceleration now.

The discounted least-squares fit of degree three (Morrison, Introduction to Sequential Smoothing and
Prediction, 1969, ch. 13) as a recursion of four numbers a channel. In continuous time its four
poles lie at -1/tau, and with ``u = tau s``::

    value         (4 u^3 + 6 u^2 + 4 u + 1) / (1 + u)^4
    velocity    s (6 u^2 + 4 u + 1) / (1 + u)^4
    acceleration s^2 (4 u + 1) / (1 + u)^4

so that none of them lags behind a motion of constant jerk.

`SampleClock` tells how far the newest sample of a motion lies from a wrench, and whether its filter
can be used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from ...inertia import Array
from ..joint_motion import RobotFrame
from ..moving_base import BaseMotion, moved_by_base
from .features import ACCELERATION, ALPHA, AXES, FEATURES, TERMS, MotionNow, write_products

OLDEST = 0.1  # s by which a wrench may be newer than the motion, or older
_PERIODS = 3.0  # of the samples that a time constant spans at least
_LONGEST_STEP = 0.5  # s without samples after which the filter begins anew
_SHARE = 0.05  # of the newest step in the mean one


class SampleClock:
    """Follows the stamps of samples.

    Args:
        what: one sample is, in words; tau: time constant of the filter [s].
    """

    def __init__(self, what: str, tau: float) -> None:
        self._what, self._least = what, tau
        self._tau, self._period = tau, 0.0
        self._newest, self._since = 0, 0

    def step_to(self, stamp_ns: int) -> float | None:
        """Time [s] from the newest sample to a stamp [ns], negative where that is an older one;
        None: the filter must begin anew."""
        step = 1e-9 * (stamp_ns - self._newest)
        return step if -_LONGEST_STEP < step < _LONGEST_STEP else None

    def begin(self, stamp_ns: int) -> None:
        """Begin with this sample [ns]."""
        self._newest = self._since = stamp_ns
        self._tau, self._period = self._least, 0.0

    def advance(self, stamp_ns: int, step: float) -> float:
        """Go on to the next sample [ns], a step [s] later; gives the time constant to use [s]."""
        self._newest = stamp_ns
        self._period += _SHARE * (step - self._period)
        self._tau = max(self._least, _PERIODS * self._period)
        return self._tau

    def ahead(self, stamp_ns: int) -> tuple[float, str]:
        """Time [s] from the newest sample to a wrench at a stamp [ns], and why there is no motion
        for it; empty where there is."""
        if not self._newest:
            return 0.0, f"no {self._what} has arrived"
        ahead = 1e-9 * (stamp_ns - self._newest)
        if not -OLDEST < ahead < OLDEST:
            return ahead, (f"the newest {self._what} is more than {OLDEST:g} s "
                           f"{'older' if ahead > 0.0 else 'newer'} than the wrench")
        if 1e-9 * (self._newest - self._since) < SETTLED * self._tau:
            return ahead, f"the filter of the motion has begun anew with the newest {self._what}"
        return ahead, ""


STATES = 4  # value and three derivatives
SETTLED = 12.0  # time constants after which less than 0.3 % of the first error is left
_RESOLUTION = 1e6  # 1/s, of the steps for which matrices are kept: 1 us is 1e-6 rad at 1 rad/s
_KEPT = 256  # matrices; irregular steps must not grow memory


class FadingMemory:
    """The filter of n channels, for samples at any increasing times.

    Args:
        first: sample (n,) to begin with, at rest.
        tau: time constant [s].

    Attributes:
        state: (4, n) value and derivatives at the time of the newest sample.
    """

    def __init__(self, first: Array, tau: float) -> None:
        self._tau = tau
        self.state: Array = np.zeros((STATES, len(first)))
        self.state[0] = first
        # by step: the matrices of a prediction (4, 4), of an update (4, 4), and the gain (4, 1)
        self._predictions: dict[int, Array] = {}
        self._updates: dict[int, tuple[Array, Array]] = {}

    @property
    def tau(self) -> float:
        """Time constant [s]."""
        return self._tau

    @tau.setter
    def tau(self, tau: float) -> None:
        if not 0.8 * self._tau < tau < 1.25 * self._tau:  # a little more or less matters little
            self._tau = tau
            self._updates.clear()

    def predict(self, ahead: float) -> Array:
        """Value and derivatives (4, n) some time [s] after the newest sample."""
        return np.asarray(self._prediction(round(ahead * _RESOLUTION)) @ self.state)

    def update(self, sample: Array, step: float) -> None:
        """Take a sample (n,) in, some time [s] after the one before."""
        matrix, gain = self._updates.get(key := round(step * _RESOLUTION)) or self._prepare(key)
        self.state = matrix @ self.state + gain * sample

    def correct(self, predicted: Array, error: Array, step: float) -> None:
        """Take a sample in by its error (n,) against a prediction (4, n), which may be about
        another zero than the state."""
        _, gain = self._updates.get(key := round(step * _RESOLUTION)) or self._prepare(key)
        self.state = predicted + gain * error

    def _prediction(self, key: int) -> Array:
        """Matrix (4, 4) of a prediction by that many microseconds."""
        known = self._predictions.get(key)
        if known is None:
            if len(self._predictions) >= _KEPT:
                self._predictions.clear()
            known = self._predictions[key] = prediction(key / _RESOLUTION)
        return known

    def _prepare(self, key: int) -> tuple[Array, Array]:
        """Matrix (4, 4) and gain (4, 1) of an update after that many microseconds."""
        if len(self._updates) >= _KEPT:
            self._updates.clear()
        step = max(key, 1) / _RESOLUTION
        matrix, gain = prediction(step), np.array(gains(step, self._tau))[:, None]
        self._updates[key] = matrix - gain * matrix[0], gain
        return self._updates[key]


def prediction(ahead: float) -> Array:
    """Matrix (4, 4) from value and derivatives to those some time [s] later."""
    half = 0.5 * ahead * ahead
    return np.array(((1.0, ahead, half, half * ahead / 3.0), (0.0, 1.0, ahead, half),
                     (0.0, 0.0, 1.0, ahead), (0.0, 0.0, 0.0, 1.0)))


def gains(step: float, tau: float) -> tuple[float, float, float, float]:
    """What value and derivatives take of the error of a prediction over a step [s]."""
    theta, rest = math.exp(-step / tau), -math.expm1(-step / tau)
    square = rest * rest
    return (1.0 - theta**4, square * (11.0 + 14.0 * theta + 11.0 * theta * theta) / (6.0 * step),
            2.0 * square * rest * (1.0 + theta) / step**2, square * square / step**3)


class PreparedArm:
    """The sensor frame of a robot, for one thread.

    Args:
        robot: shared with other threads, none of which changes it.
        terms: of `features.TERMS`; later ones are left out.
    """

    def __init__(self, robot: RobotFrame, terms: str) -> None:
        self._model, self._frame = robot.model, robot.frame
        self._data = robot.model.createData()
        self._axes = robot.gravity * robot.gravity_axes
        self._terms = TERMS.index(terms)
        self._wraps = robot.circular.tolist() if robot.circular.any() else []
        self._still = np.zeros(self._model.nv)
        self._out = np.zeros(FEATURES)

    def features(self, motion: Array, base: BaseMotion | None = None) -> Array:
        """Features (21,) of joint positions, velocities and accelerations (3 or more, joints), on
        a base that moves, if it does; the next call overwrites them."""
        q = self._configuration(motion[0]) if self._wraps else motion[0]
        model, data, frame, out = self._model, self._data, self._frame, self._out
        if self._terms == 0 and base is None:
            pin.forwardKinematics(model, data, q)
        else:
            pin.forwardKinematics(model, data, q, motion[1],
                                  motion[2] if self._terms == 2 else self._still)
        out[AXES] = (self._axes @ pin.updateFramePlacement(model, data, frame).rotation).ravel()
        if self._terms:
            change = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL)
            out[ACCELERATION], out[ALPHA] = change.linear, change.angular
            write_products(pin.getFrameVelocity(model, data, frame, pin.LOCAL).angular, out)
        if base is not None:
            self._add_base(base, out)
        return out

    def _add_base(self, base: BaseMotion, out: Array) -> None:
        """Add the motion of the base to features: its acceleration to gravity, and with the terms
        that are wanted what else it does."""
        data, frame = self._data, self._frame
        at, speed = data.oMf[frame], pin.getFrameVelocity(self._model, data, frame, pin.LOCAL)
        acceleration, omega, alpha = moved_by_base(
            base, at.rotation, at.translation, speed.linear, speed.angular)
        if self._terms == 0:
            out[ACCELERATION] = acceleration
            return
        out[ACCELERATION] += acceleration
        out[ALPHA] += alpha
        write_products(speed.angular + omega, out)

    def _configuration(self, positions: Array) -> Array:
        """Pinocchio's q: continuous joints as cosine and sine."""
        out: list[float] = []
        for x, wraps in zip(positions.tolist(), self._wraps, strict=True):
            out += [np.cos(x), np.sin(x)] if wraps else [x]
        return np.array(out)


_FASTEST, _JUMP = 20.0, 0.05  # rad/s, rad (or m): a larger error of a prediction is no motion
_ORDERS = 100  # kept; a publisher that invents names must not grow memory


class JointFilter:
    """Filters the joint states of a robot frame and predicts the motion at the stamps of wrenches.

    Args:
        terms: of `features.TERMS`.
        tau: time constant of the filter [s]; longer by itself for slow joint states.
    """

    def __init__(self, robot: RobotFrame, terms: str, tau: float) -> None:
        self._names, self._tau, self._robot = robot.joint_names, tau, robot
        self._base: FadingMemory | None = None
        self._base_clock = SampleClock("reading of the base's IMU", tau)
        self._arm = PreparedArm(robot, terms)
        self._orders: dict[tuple[str, ...], list[int] | None] = {}
        self._filter: FadingMemory | None = None
        self._last: list[float] = []  # newest row, unwrapped
        self._turning = robot.revolute.tolist()
        self._clock = SampleClock("joint state", tau)

    def add(self, stamp_ns: int, names: tuple[str, ...], positions: Sequence[float]) -> None:
        """Take a joint state in; what cannot be used is ignored."""
        order = self._order(names)
        if order is None or len(positions) < len(names) or stamp_ns <= 0:
            return
        row = [positions[k] for k in order]
        step = self._clock.step_to(stamp_ns)
        if self._filter is None or step is None:
            self._begin(stamp_ns, row)
        elif step > 0.0:
            if self._is_far(row, step):
                row = self._unwrapped(row)
                if self._is_far(row, step):
                    self._begin(stamp_ns, row)
                    return
            self._update(stamp_ns, row, step)

    def add_imu(self, stamp_ns: int, reading: Sequence[float]) -> None:
        """Take a reading (6,) of the IMU on the base in; what cannot be used is ignored."""
        if stamp_ns <= 0 or not math.isfinite(sum(reading)):
            return
        row, step = np.array(reading), self._base_clock.step_to(stamp_ns)
        if self._base is None or step is None:
            self._base = FadingMemory(row, self._tau)
            self._base_clock.begin(stamp_ns)
        elif step > 0.0:
            self._base.tau = self._base_clock.advance(stamp_ns, step)
            self._base.update(row, step)

    def _is_far(self, row: list[float], step: float) -> bool:
        """Whether no motion leads to this row (joints,) in a step [s]."""
        limit = _JUMP + _FASTEST * step
        for x, before in zip(row, self._last, strict=True):
            if not -limit < x - before < limit:  # NaN is not either
                return True
        return False

    def _unwrapped(self, row: list[float]) -> list[float]:
        """The row (joints,) within half a turn of the one before: some drivers wrap to +-pi."""
        turn = 2.0 * math.pi
        return [x - turn * round((x - before) / turn) if turns and math.isfinite(x) else x
                for x, before, turns in zip(row, self._last, self._turning, strict=True)]

    def _update(self, stamp_ns: int, row: list[float], step: float) -> None:
        """Take the next row (joints,) in."""
        assert self._filter is not None
        self._last = row
        self._filter.tau = self._clock.advance(stamp_ns, step)
        self._filter.update(np.array(row), step)

    def _begin(self, stamp_ns: int, row: list[float]) -> None:
        """Begin with this row (joints,), at rest."""
        if math.isfinite(sum(row)):
            self._filter, self._last = FadingMemory(np.array(row), self._tau), row
            self._clock.begin(stamp_ns)

    def _order(self, names: tuple[str, ...]) -> list[int] | None:
        """Where the robot's joints are among these names; None where one is missing."""
        if names not in self._orders:
            if len(self._orders) > _ORDERS:
                self._orders.clear()
            index = {name: k for k, name in enumerate(names)}
            self._orders[names] = ([index[j] for j in self._names]
                                   if all(j in index for j in self._names) else None)
        return self._orders[names]

    def motion_at(self, stamp_ns: int) -> MotionNow:
        """Motion of the sensor at a stamp [ns]; its features hold until the next call."""
        ahead, reason = self._clock.ahead(stamp_ns)
        if reason or self._filter is None:
            return MotionNow(None, reason)
        base = None
        if self._robot.imu is not None:
            of_base, reason = self._base_clock.ahead(stamp_ns)
            if reason or self._base is None:
                return MotionNow(None, reason)
            reading, rate, *_ = self._base.predict(of_base)
            base = BaseMotion.of_reading(reading, rate, self._robot.imu,
                                         self._robot.gravity_at_rest)
        return MotionNow(self._arm.features(self._filter.predict(ahead), base))
