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
from ..motion.motion import Array

NOISY = 3.0  # deviations of the noise over those of the data sheet: nothing explains it


class Mode(IntEnum):
    """SILENT: nothing is published; ROUGH: the load is roughly known; KNOWN."""

    SILENT, ROUGH, KNOWN = range(3)


@dataclass(frozen=True, eq=False)
class LoadInUse:
    """The load that is removed.

    Attributes:
        mode, phi: (10,); bias: (6,) sign of W; rotation: (3,) of the sensor [rad];
        setup: tilt, delay and filter; reason: kind of the finding why it is silent.
    """

    mode: Mode = Mode.SILENT
    phi: Array = field(default_factory=lambda: np.zeros(10))
    bias: Array = field(default_factory=lambda: np.zeros(6))
    rotation: Array = field(default_factory=lambda: np.zeros(3))
    setup: Setup = field(default_factory=Setup)
    reason: str = "payload_unknown"


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
    """mode, load: in use; offset: (6,) left in the wrench, contact or another zero."""

    def __init__(self) -> None:
        self.load, self.offset = LoadInUse(), np.zeros(6)

    def update(self, scan: Scan, event: Event | None = None, doubt: str = "") -> None:
        """Follow an event, or calm rows.

        Args:
            doubt: kind of the finding by which the window's estimate says that nothing explains the
                wrench, or that something beside the payload moves it.
        """
        predictor = scan.predictor
        if event is None and scan.onset is not None:
            return
        key = event.kind if event else Calm(predictor.is_known())
        if scan.predictor.scale.max() > NOISY**2:
            doubt = doubt or "load_unexplained"
        mode, do = TABLE.get((self.load.mode, key), (self.load.mode, Do.HOLD))
        if doubt and event is None:
            self.load = LoadInUse(Mode.SILENT, reason=doubt)
            return
        if do is Do.LEAVE and scan.before is not None:
            self.offset = self.offset + predictor.bias - scan.before.bias
        elif key in (Kind.ZEROED, Kind.RETURNED):
            self.offset = np.zeros(6)
        if do is Do.HOLD:
            if mode is not self.load.mode:
                self.load = LoadInUse(mode)
            return
        own = predictor.mean[0, SETUP]
        rotation, tilt = own[:3], own[3:5]
        setup = Setup(tilt, scan.setup.delay + float(own[5]), scan.setup.filter)
        self.load = LoadInUse(mode, predictor.phi, predictor.bias - self.offset,
                              rotation, setup, "")
