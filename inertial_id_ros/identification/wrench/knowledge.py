# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the wrenches of a wrist sensor have taught, by how long it holds (see
`identification.knowledge`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...detection.disturbance_findings import DisturbanceFindings
from ...detection.removed_terms import RemovedTerms, Share
from ...detection.segments import Segments
from ...detection.unit_check import UnitCheck
from ...estimate import Estimate
from ...findings import FindingLog
from ...geometry.shape import Shape
from ...inertia import PARAMETERS, Array
from ...kinds import withdraw_doubted
from ...kinematics.motion import MotionStatistics
from ...regression.regressor_window import make_regressor_window
from ...regression.uncertainty.noise import datasheet_noise
from ...settings import Settings
from ...signals.bins import BIN_NS
from ...signals.low_pass import NO_FILTER, Lag, SensorFilter
from ...signals.precompensation import Removed, RemovedPayload
from ..compensation.load_latch import LoadLatch
from ..knowledge import EstimateOfWindow, Knowledge, PayloadSpan
from ..state import State
from .input_watch import InputWatch
from .load_check import LoadCheck
from .measured_noise import MeasuredNoise
from .provisional_rows import UnsettledBins
from .setup_correction import SetupCorrection
from .solver import Solver
from .stream import WrenchStream
from .stuck_wrench import StuckWrench
from .swing_watch import SwingWatch
from .vibration_watch import VibrationWatch
from .wrench_model import WrenchModel


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


class WristPayload(PayloadSpan):
    """What is known of the payload apart from the window, from the wrenches of a wrist sensor.

    Args:
        previous: filters and detector of other samples (see `Segments`).

    Attributes:
        segments: filters and detector; unsettled: the bins that wait for later samples.
        lag: where the low-pass of the sensor has come to.
        swings: whether a part of it swings by itself.
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
        self.swings = SwingWatch(findings)


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


class WristKnowledge(Knowledge):
    """All that is known from the wrenches of a wrist sensor.

    Args:
        shape: of the object, if it is known.

    Attributes:
        stream: the wrenches; watch: what is wrong with the inputs.
        setup: of sensor, clocks and driver; latch: the load that may be removed.
    """

    payload: WristPayload
    window: WristWindow

    def __init__(self, settings: Settings, shape: Shape | None, findings: FindingLog) -> None:
        super().__init__(settings, findings, DisturbanceFindings(findings, WrenchModel.texts))
        self.stream = WrenchStream(settings, findings)
        self.watch = InputWatch(settings.wrench, self.motion, findings)
        self.setup = Setup(settings, RemovedPayload(settings), Removed(np.zeros(PARAMETERS)),
                           findings)
        model = WrenchModel(settings)
        self.payload = WristPayload(settings, model, findings)
        self.window = WristWindow(settings, model, self.payload.segments)
        self.solver: Solver = Solver(settings, shape, self.payload.segments.filter)
        self.latch = LoadLatch()

    @property
    def sensor_frame(self) -> str:
        """Frame of the wrench; empty until known."""
        return self.stream.frame.name

    @property
    def newest_ns(self) -> int:
        """Newest stamp of the stream [ns]; 0 before any sample."""
        return self.stream.newest

    @property
    def settled_ns(self) -> int:
        """Stamp up to which wrench and motion were processed [ns]; 0 before any."""
        return self.stream.next_bin * BIN_NS

    @property
    def sensor_noise(self) -> Array:
        """Noise (6,) of one wrench, as it was measured [N, N m]."""
        return datasheet_noise(self.setup.noise.settings.wrench)

    def carried(self, estimate: Estimate | None) -> Array:
        """phi (10,) of all that the sensor carries by an estimate; None: the tool alone."""
        return self.solver.problems.total_payload(
            np.zeros(PARAMETERS) if estimate is None else estimate.phi)

    def share_of_terms(self, estimate: Estimate | None) -> Share | None:
        """Inertial forces that the sum of what is measured and removed holds too many, if any."""
        return self.window.terms.share(self.carried(estimate),
                                       self.setup.correction.taken_out.weight_only)

    def state(self) -> State:
        """As `Knowledge.state`."""
        sound = self.window.last and withdraw_doubted(self.window.last, self.findings.all())
        kept = sound if isinstance(sound, Estimate) else None
        return State(self.solver.tool, self.solver.bias.tare, kept or self.window.restored)

    # ---- what begins anew ----------------------------------------------------------------------

    def begin_without_samples(self, reason: str) -> None:
        """As `Knowledge.begin_without_samples`."""
        self.stream.begin_anew(reason)
        self.begin_stream(reason)

    def begin_stream(self, reason: str) -> None:
        """As `Knowledge.begin_stream`, with the wrenches that are stored."""
        super().begin_stream(reason)
        self.latch.forget(reason)
        self.stream.next_bin = 0
        self.watch = InputWatch(self.settings.wrench, self.motion, self.findings,
                                self.watch.publishers)
        self.begin_setup()

    def begin_anew(self) -> None:
        """Begin with nothing learnt from the samples so far, and no event; the tare and the tool
        stay."""
        self.disturbances = self.disturbances.none_so_far()
        self.begin_setup()

    def begin_setup(self) -> None:
        """Begin with nothing known of sensor, stamps and driver but the tare, and with nothing that
        follows from it."""
        driver = self.setup.correction
        self.findings.clear("soft_mount")
        self.setup = Setup(self.settings, driver.removed, driver.taken_out, self.findings)
        self.solver = self.solver.with_settings(self.settings)
        self.begin_payload()

    def begin_payload(self) -> None:
        """As `Knowledge.begin_payload`; no replay brings earlier bins back."""
        self._begin_payload_at(self.stream.next_bin)

    def _begin_payload_at(self, begin: int, ends: Sequence[tuple[int, int]] = ()) -> None:
        """Begin with no rows of a payload that began at a bin, after others that have ended."""
        self.payload = WristPayload(self.settings, WrenchModel(self.setup.noise.settings),
                                    self.findings, begin, tuple(ends), self.payload.segments)
        self.begin_window()

    def begin_window(self) -> None:
        """As `Knowledge.begin_window`."""
        self.window = WristWindow(self.settings, WrenchModel(self.settings), self.payload.segments)

    def begin_replay(self) -> None:
        """Go back to the beginning of the window, with no row in it."""
        payload, last = self.payload, self.stream.next_bin
        self._begin_payload_at(payload.begin, payload.ends)
        self.solver.problems = self.solver.problems.without_solution()
        self.stream.next_bin = max(self.stream.oldest_bin, payload.begin,
                                   last - int(self.settings.buffer.window * 1e9) // BIN_NS)
        self.disturbances = self.disturbances.before(self.stream.next_bin)
        self.motion.expect_replay()
