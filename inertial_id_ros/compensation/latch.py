# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which load may be removed from the wrench: kept through contact, given up when it is another."""

from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np

from ..detect.bank import Kind
from ..detect.predictor import NOISY
from ..detect.row import BIAS, PHI, SETUP
from ..detect.scan import Event, Scan
from ..errors import UnknownFrame
from ..model.setup import Setup
from ..motion.motion import BIN_NS, Array
from ..motion.source import Streams
from ..samples.ring import SHOWN_NS

HELD = SHOWN_NS // BIN_NS  # bins for which a doubt holds after the last window that had it


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
    """load: in use; offset: (6,) left in the wrench: contact, or another zero."""

    def __init__(self) -> None:
        self.load, self.offset = LoadInUse(), np.zeros(6)
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
                change = scan.predictor.mean[0, BIAS] - scan.before.mean[0, BIAS]
                self.offset = self.offset + change
            self.load = self._of(scan, FOLLOWED[event.kind] or self.load.mode)

    def _of(self, scan: Scan, mode: Mode) -> LoadInUse:
        """The load as the predictor has it."""
        predictor, own = scan.predictor, scan.predictor.mean[0, SETUP]
        setup = Setup(scan.setup.tilt + own[3:5], scan.setup.delay + float(own[5]),
                      scan.setup.filter)
        return LoadInUse(mode, predictor.mean[0, PHI], predictor.mean[0, BIAS] - self.offset,
                         own[:3], setup, (predictor.number or 0) * BIN_NS, "")
