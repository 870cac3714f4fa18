# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Removes the load from each wrench as it comes, with the newest motion."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import expm

from ..model.newton_euler import GRAVITY, regressor_of, rotation, static_wrench
from ..motion.causal import MotionNow
from ..motion.motion import Array, Motion
from ..samples.ring import GAP_NS, JUMP_NS, SECOND
from ..settings import Settings
from .latch import LoadInUse, Mode

BLEND = GAP_NS / SECOND  # s, time constant by which the wrench goes over to another load; after a
# pause as long nothing is blended


class Compensation:
    """The wrench without the load, on the thread of the stream.

    Other threads may hand over load and motion; each is one assignment.

    Attributes:
        load: that is removed; it never changes itself; terms: of it, see `motion.causal.TERMS`.
        motion: of the sensor, to which samples are given; None: it is not known.
        silence: kind of the reason why the newest wrench was not compensated; empty: it was.
    """

    def __init__(self, settings: Settings) -> None:
        self.terms, self._sign = settings.compensation.terms, settings.wrench.sign
        limits = np.repeat(settings.wrench.range, 3)
        self._limits = np.where(limits > 0.0, limits, np.inf)
        self.load, self.silence = LoadInUse(), "payload_unknown"
        self.motion: MotionNow | None = None
        self._newest = self._since = 0
        self._last, self._out = list[float](), list[float]()
        self._used, self._blend = self.load, np.zeros(6)
        self._filter: SensorLag | None = None

    def compensate(self, stamp: int, frame: str, wrench: Sequence[float]) -> list[float] | None:
        """The reading without the load, in the same frame; None: see `silence`.

        Args:
            stamp: [ns]; frame: of the reading; wrench: reading (6,) [N, N m].
        """
        out = self._compensate(stamp, frame, list(wrench))
        self.silence, self._out = (out, []) if isinstance(out, str) else ("", out)
        return self._out or None

    def _compensate(self, stamp: int, frame: str, wrench: list[float]) -> list[float] | str:
        """As `compensate`, with the reason where there is nothing to publish."""
        if stamp <= 0 or 0 <= self._newest - stamp < JUMP_NS:
            return "stamps_repeated"
        step, self._newest = 1e-9 * abs(stamp - self._newest), stamp  # a clock may be set back
        if wrench != self._last:
            self._last, self._since = wrench, stamp
        elif stamp - self._since >= GAP_NS:
            return "wrench_stuck"
        elif self._out:
            return self._out  # a slow sensor repeats itself
        load, motion, reading = self.load, self.motion, np.array(wrench)
        if load.frame and frame.lstrip("/") != load.frame:
            return "frame_wrong"
        if not (np.abs(reading) < self._limits).all():
            return "wrench_invalid"
        if load.mode is Mode.SILENT:
            return load.reason
        now = None if motion is None else motion.at(
            stamp - round(1e9 * load.setup.delay), self.terms)
        if now is None:
            return "motion_unknown"
        removed = self._sign * self._of_load(load, now, step)
        return (reading - (removed if load.target is None else load.target @ removed)).tolist()

    def _of_load(self, load: LoadInUse, now: Motion, step: float) -> Array:
        """W and bias (6,) of a load; goes over from the one before smoothly."""
        gravity = rotation(np.r_[load.setup.tilt, 0.0]) @ GRAVITY
        A, lag = regressor_of(now, gravity)[0], self._filter
        if lag is None or lag.sensor != load.setup.filter or step > BLEND:
            self._filter = lag = SensorLag(load.setup.filter, A) if load.setup.filter else None
        A = A if lag is None else lag.update(A, step)

        def added(some: LoadInUse) -> Array:
            turned = (A @ some.phi).reshape(2, 3) @ rotation(some.rotation).T
            out = turned.ravel() + some.bias
            return out if some.weighed is None else out - static_wrench(
                some.weighed, -GRAVITY @ now.rotation[0])
        out = added(load)
        if not self._out or step > BLEND:
            self._blend = np.zeros(6)
        elif load is not self._used:
            self._blend = self._blend + added(self._used) - out
        self._used = load
        self._blend = self._blend * np.exp(-step / BLEND)
        return np.asarray(out + self._blend)


class SensorLag:
    """A sensor's own low-pass, sample by sample.

    Args:
        sensor: `Setup.filter`; first: values at which it has settled.
    """

    def __init__(self, sensor: tuple[float, ...], first: Array) -> None:
        self.sensor, self._input = sensor, first
        time, *damping = sensor
        self._matrix = (np.array([[0.0, 1.0], [-1.0 / time**2, -2.0 * damping[0] / time]])
                        if damping else np.array([[-1.0 / time]]))
        self._state = np.zeros((len(self._matrix), *first.shape))
        self._state[0] = first

    def update(self, values: Array, step: float) -> Array:
        """What the sensor shows of values that were reached in a step [s]."""
        held = np.zeros_like(self._state)
        held[0] = 0.5 * (values + self._input)
        self._state = held + np.tensordot(expm(step * self._matrix), self._state - held, 1)
        self._input = values
        return np.asarray(self._state[0])
