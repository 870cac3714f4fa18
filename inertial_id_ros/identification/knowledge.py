# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Everything that samples have taught, by how long it holds.

To forget is to construct: an identifier keeps one object of each lifetime, and puts a fresh one in
its place where that lifetime ends. None of them has a method that forgets.

==================================================  ================================
what happens                                        what begins anew
==================================================  ================================
reset; a clock that jumps; stamps that shift; a     progress, set-up, payload, window
sensor that is zeroed; publishers that are doubled
nothing explains the wrench for long; all of the    set-up, payload, window
set-up has changed; the place of the wrench's
frame becomes known; wrenches begin to contradict
each other, or cease to
tare, tool, mounting, state of an earlier run       payload, window
another payload or zero, found by the detector      window, where that began
a replay: an error of the set-up was found,         payload that began where the
positions were wrong, the load has crept            present one did, and window
==================================================  ================================

Robot description, fixed transforms, tare, tool, shape and settings outlive all of these.
"""

from __future__ import annotations

from ..detection.consistency_checks import WindowFacts
from ..detection.removed_terms import RemovedTerms
from ..detection.segments import Segments
from ..detection.unit_check import UnitCheck
from ..estimate import Estimate
from ..findings import FindingLog
from ..kinematics.motion_statistics import MotionStatistics
from ..regression.regressor_window import Rows, make_regressor_window
from ..settings import Settings
from ..signals.precompensation import Removed, RemovedPayload
from ..signals.sensor_filter import NO_FILTER, Lag, SensorFilter
from .monotonic_stamps import MonotonicStamps
from .recovery import Recovery
from .wrench.load_check import LoadCheck
from .wrench.measured_noise import MeasuredNoise
from .wrench.provisional_rows import UnsettledBins
from .wrench.setup_correction import SetupCorrection
from .wrench.stuck_wrench import StuckWrench
from .wrench.vibration_watch import VibrationWatch
from .wrench.wrench_model import WrenchModel

NOTHING_SOLVED = -1, -1  # extent of no window


class Progress:
    """How far the samples of one stream have led.

    Attributes:
        stamps: of the estimates; recovery: from data that nothing explains.
        solved: extent of the window that was solved last; is_refuted: whether its data contradict
            every payload.
        flush_reason: why rows were given up since the last estimate; None: none were.
        lost_at: bin at which nothing that was learnt counted any more, until that is handled.
        rows: number of settled rows so far.
        facts: what the windows have shown to be wrong.
    """

    def __init__(self, findings: FindingLog) -> None:
        self.stamps, self.recovery = MonotonicStamps(findings), Recovery()
        self.solved, self.is_refuted = NOTHING_SOLVED, False
        self.flush_reason: str | None = None
        self.lost_at: int | None = None
        self.rows = 0
        self.facts = WindowFacts()


class Setup:
    """What is known of sensor, clocks and driver.

    Args:
        removed, taken_out: as `SetupCorrection` takes them.
    """

    def __init__(self, settings: Settings, removed: RemovedPayload, taken_out: Removed,
                 findings: FindingLog) -> None:
        wrench = settings.wrench
        told = (SensorFilter.of_cutoff(wrench.filter_order, wrench.filter_cutoff)
                if wrench.filter_cutoff else NO_FILTER)
        self.correction = SetupCorrection(removed, taken_out, findings, told)
        self.noise = MeasuredNoise(settings, findings)
        self.units = UnitCheck()
        self.vibration = VibrationWatch(findings)


class PayloadSpan:
    """Where the present payload began, and what was before.

    Attributes:
        begin: earlier bins belong to another payload.
        ends: bins at which payloads ended, each with the bin at which it began.
    """

    def __init__(self, begin: int = 0, ends: tuple[tuple[int, int], ...] = ()) -> None:
        self.begin, self.ends = begin, list(ends)


class WristPayload(PayloadSpan):
    """What is known of the payload apart from the window, from the wrenches of a wrist sensor.

    Args:
        previous: filters and detector of other samples (see `Segments`).

    Attributes:
        segments: filters and detector; unsettled: the bins that wait for later samples.
        lag: where the low-pass of the sensor has come to.
    """

    def __init__(self, settings: Settings, model: WrenchModel, findings: FindingLog,
                 begin: int = 0, ends: tuple[tuple[int, int], ...] = (),
                 previous: Segments | None = None) -> None:
        super().__init__(begin, ends)
        self.segments = Segments(settings, model, settings.kinematics.filter_window, findings,
                                 previous)
        self.load_check, self.stuck = LoadCheck(), StuckWrench(findings)
        self.unsettled: UnsettledBins | None = None
        self.lag: Lag | None = None


class EstimateOfWindow:
    """What the window has given.

    Attributes:
        last: the newest estimate; restored: of an earlier run, shown until there are data.
    """

    def __init__(self) -> None:
        self.last: Estimate | None = None
        self.restored: Estimate | None = None


class WristWindow(EstimateOfWindow):
    """The rows of the last seconds, from the wrenches of a wrist sensor.

    Attributes:
        rows: as triangular factors; terms: the same, compared with what the driver removes.
        motion: statistics of its accelerations.
    """

    def __init__(self, settings: Settings, model: WrenchModel, segments: Segments) -> None:
        super().__init__()
        self.rows = make_regressor_window(settings)
        self.terms = RemovedTerms(model, segments.filter)
        self.motion = MotionStatistics()


class TorqueWindow(EstimateOfWindow):
    """The rows of the last seconds, from joint torques."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Rows] = []
