# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which load may be removed from the wrench: kept through contact, given up when it is another."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from ..detect.bank import Kind
from ..detect.row import SETUP
from ..detect.scan import Event, Scan
from ..model.setup import Setup
from ..motion.motion import BIN_NS, Array

NOISY = 3.0  # deviations of the noise over those of the data sheet: nothing explains it
HELD = 200  # bins for which a doubt holds after the last window that had it


class Mode(IntEnum):
    """SILENT: nothing is published; ROUGH: the load is roughly known; KNOWN."""

    SILENT, ROUGH, KNOWN = range(3)


@dataclass(frozen=True, eq=False)
class LoadInUse:
    """The load that is removed.

    Attributes:
        mode, phi: (10,); bias: (6,) sign of W; rotation: (3,) of the sensor [rad];
        setup: tilt, delay and filter; stamp: since when it is known as it is [ns].
        reason: kind of the finding why it is silent.
        weighed: (10,) payload whose weight alone the driver has removed already.
        frame: of the readings, empty: any; conversion: (6, 6) from it to the sensor's axes;
        target: (6, 6) from those to the frame of what is published.
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
    conversion: Array | None = None
    target: Array | None = None


class Do(IntEnum):
    """What becomes of the load: held; as the predictor has it; likewise, but its zero is held."""

    HOLD, FOLLOW, LEAVE = range(3)


class Calm(IntEnum):
    """How well the predictor knows the payload while rows are calm."""

    UNKNOWN, KNOWN = range(2)


S, R, K = Mode
TABLE: dict[tuple[Mode, Kind | Calm], tuple[Mode, Do]] = {
    (R, Calm.UNKNOWN): (R, Do.FOLLOW),
    (S, Calm.KNOWN): (K, Do.FOLLOW), (R, Calm.KNOWN): (K, Do.FOLLOW),
    (K, Calm.KNOWN): (K, Do.FOLLOW),
    (R, Kind.PAYLOAD): (R, Do.FOLLOW), (K, Kind.PAYLOAD): (R, Do.FOLLOW),
    (R, Kind.RELEASED): (K, Do.FOLLOW), (K, Kind.RELEASED): (K, Do.FOLLOW),
    (R, Kind.RETURNED): (R, Do.FOLLOW), (K, Kind.RETURNED): (K, Do.FOLLOW),
    (R, Kind.ZEROED): (R, Do.FOLLOW), (K, Kind.ZEROED): (K, Do.FOLLOW),
    (R, Kind.OFFSET): (R, Do.LEAVE), (K, Kind.OFFSET): (K, Do.LEAVE),
    (R, Kind.POURS): (R, Do.FOLLOW), (K, Kind.POURS): (K, Do.FOLLOW),
    (R, Kind.LOST): (S, Do.HOLD), (K, Kind.LOST): (S, Do.HOLD),
}  # whatever is not here changes nothing


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
        """Follow an event, or calm rows."""
        key: Kind | Calm = event.kind if event else Calm(scan.predictor.is_known())
        if event is None and self._is_doubtful(scan):
            return
        if event is None and scan.onset is not None:
            return
        mode, do = TABLE.get((self.load.mode, key), (self.load.mode, Do.HOLD))
        if do is Do.LEAVE and scan.before is not None:
            self.offset = self.offset + scan.predictor.bias - scan.before.bias
        elif key in (Kind.ZEROED, Kind.RETURNED):
            self.offset = np.zeros(6)
        if do is not Do.HOLD:
            self.load = self._of(scan, mode)
        elif mode is not self.load.mode:
            self.load = LoadInUse(mode)

    def _is_doubtful(self, scan: Scan) -> bool:
        """True if nothing may be published, which is done then."""
        noisy = scan.onset is None and float(scan.predictor.scale.max()) > NOISY**2
        doubt = self._doubt or ("load_unexplained" if noisy else "")
        if doubt and (self.load.mode is not Mode.SILENT or self.load.reason != doubt):
            self.load = LoadInUse(Mode.SILENT, reason=doubt)
        return bool(doubt)

    def _of(self, scan: Scan, mode: Mode) -> LoadInUse:
        """The load as the predictor has it."""
        predictor, own = scan.predictor, scan.predictor.mean[0, SETUP]
        setup = Setup(scan.setup.tilt + own[3:5], scan.setup.delay + float(own[5]),
                      scan.setup.filter)
        stamp = (predictor.number or 0) * BIN_NS
        return LoadInUse(mode, predictor.phi, predictor.bias - self.offset, own[:3], setup, stamp,
                         "")
