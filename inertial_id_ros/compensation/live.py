# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Removes the load from each wrench as it comes, with the newest motion. Which load that is: kept
through contact, given up when it is another."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np
from scipy.linalg import expm

from ..detect.bank import Kind
from ..detect.predictor import NOISY
from ..detect.row import BIAS, PHI, SETUP
from ..detect.scan import Event, Scan
from ..errors import UnknownFrame
from ..model.newton_euler import GRAVITY, regressor_of, rotation, static_wrench
from ..model.setup import Setup
from ..motion.causal import MotionNow
from ..motion.motion import BIN_NS, Array, Motion
from ..motion.source import Streams
from ..samples.ring import GAP_NS, JUMP_NS, SECOND, SHOWN_NS
from ..settings import Settings

HELD = SHOWN_NS // BIN_NS  # bins for which a doubt holds after the last window that had it
BLEND = GAP_NS / SECOND  # s, time constant by which the wrench goes over to another load; after a
# pause as long nothing is blended


class Mode(IntEnum):
    """SILENT: nothing is published; ROUGH: the load is roughly known; KNOWN."""

    SILENT, ROUGH, KNOWN = range(3)


# Events after which the load is that of the predictor, with a mode, or that of before.
FOLLOWED = {Kind.PAYLOAD: Mode.ROUGH, Kind.RELEASED: Mode.KNOWN, Kind.RETURNED: None,
            Kind.ZEROED: None, Kind.OFFSET: None, Kind.POURS: None}


@dataclass(frozen=True, eq=False)
class LoadInUse:
    """The load that is removed.

    Attributes:
        mode, phi: (10,); bias: (6,) sign of W; rotation: (3,) of the sensor [rad];
        setup: tilt, delay and filter; stamp: since when it is known as it is [ns].
        reason: kind of the finding why it is silent.
        weighed: (10,) payload whose weight alone the driver has removed already.
        frame: of the readings, empty: any; target: (6, 6) from the sensor's axes to it.
    """

    mode: Mode = Mode.SILENT
    phi: Array = field(default_factory=lambda: np.zeros(10))
    bias: Array = field(default_factory=lambda: np.zeros(6))
    rotation: Array = field(default_factory=lambda: np.zeros(3))
    setup: Setup = field(default_factory=Setup)
    stamp: int = 0
    reason: str = "payload_unknown"
    weighed: Array | None = None
    frame: str = ""
    target: Array | None = None

    def seen_in(self, frame: str, streams: Streams) -> "LoadInUse":
        """The load as readings in a frame show it; empty: in that of the sensor."""
        if self.mode is Mode.SILENT or frame in ("", streams.frame):
            return self
        try:
            place = streams.tree().place(frame, streams.frame)[0]
        except UnknownFrame as error:
            return LoadInUse(reason=str(error))
        return replace(self, frame=frame, target=np.array(place.toDualActionMatrix()))


class Latch:
    """load: in use; offset: (6,) left in the wrench: contact, another zero; weighed: of loads."""

    def __init__(self, weighed: Array | None = None) -> None:
        self.load, self.offset, self._weighed = LoadInUse(), np.zeros(6), weighed
        self._doubt, self._until = "", 0

    def judge(self, number: int, doubt: str) -> None:
        """Take the kind of the finding by which the estimate before a bin says that no load may be
        removed; empty: it says nothing."""
        if doubt:
            self._doubt, self._until = doubt, number + HELD
        elif number >= self._until:
            self._doubt = ""

    def update(self, scan: Scan, event: Event | None = None) -> None:
        """Follow an event, or rows without one, where nothing makes them doubtful."""
        if event is None:
            noisy = scan.onset is None and float(scan.predictor.scale.max()) > NOISY**2
            doubt = self._doubt or ("load_unexplained" if noisy else "")
            if doubt:
                if self.load.mode is not Mode.SILENT or self.load.reason != doubt:
                    self.load = LoadInUse(reason=doubt)
            elif scan.onset is None and ((known := scan.predictor.is_known()) or (
                    self.load.mode is Mode.ROUGH and scan.before is not None)):  # that it learnt
                self.load = self._of(scan, Mode.KNOWN if known else Mode.ROUGH)
        elif event.kind is Kind.LOST and self.load.mode is not Mode.SILENT:
            self.load = LoadInUse()
        elif event.kind in FOLLOWED:
            if event.kind in (Kind.ZEROED, Kind.RETURNED):
                self.offset = np.zeros(6)
            if self.load.mode is Mode.SILENT:
                return
            if event.kind is Kind.OFFSET and scan.before is not None:
                self.offset = self.offset + (scan.predictor.mean - scan.before.mean)[0, BIAS]
            self.load = self._of(scan, FOLLOWED[event.kind] or self.load.mode)

    def _of(self, scan: Scan, mode: Mode) -> LoadInUse:
        """The load as the predictor has it."""
        predictor, own = scan.predictor, scan.predictor.mean[0, SETUP]
        setup = Setup(scan.setup.tilt + own[3:5], scan.setup.delay + float(own[5]),
                      scan.setup.filter)
        return LoadInUse(mode, predictor.mean[0, PHI], predictor.mean[0, BIAS] - self.offset,
                         own[:3], setup, (predictor.number or 0) * BIN_NS, "", self._weighed)


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
        self._out, self.silence = self._compensate(stamp, frame, list(wrench))
        return self._out or None

    def _compensate(self, stamp: int, frame: str, wrench: list[float]) -> tuple[list[float], str]:
        """The reading without the load; or nothing, and why."""
        if stamp <= 0 or 0 <= self._newest - stamp < JUMP_NS:
            return [], "stamps_repeated"
        step, self._newest = 1e-9 * abs(stamp - self._newest), stamp  # a clock may be set back
        if wrench != self._last:
            self._last, self._since = wrench, stamp
        elif stamp - self._since >= GAP_NS:
            return [], "wrench_stuck"
        elif self._out:
            return self._out, ""  # a slow sensor repeats itself
        load, motion, reading = self.load, self.motion, np.array(wrench)
        if load.frame and frame.lstrip("/") != load.frame:
            return [], "frame_wrong"
        if not (np.abs(reading) < self._limits).all():
            return [], "wrench_invalid"
        if load.mode is Mode.SILENT:
            return [], load.reason
        now = None if motion is None else motion.at(
            stamp - round(1e9 * load.setup.delay), self.terms)
        if now is None:
            return [], "motion_unknown"
        removed = self._sign * self._of_load(load, now, step)
        return (reading - (removed if load.target is None else load.target @ removed)).tolist(), ""

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
        self._state = np.stack([first, *(np.zeros_like(first) for _ in damping)])

    def update(self, values: Array, step: float) -> Array:
        """What the sensor shows of values that were reached in a step [s]."""
        held = np.zeros_like(self._state)
        held[0] = 0.5 * (values + self._input)
        self._state = held + np.tensordot(expm(step * self._matrix), self._state - held, 1)
        self._input = values
        return np.asarray(self._state[0])
