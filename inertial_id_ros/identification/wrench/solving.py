# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From the window of a wrist sensor to an estimate, and what to do where nothing explains the data.

The method itself is `Solver.solve`; here is which window it gets, and when a window is replayed
with another belief about the set-up.
"""

from __future__ import annotations

from typing import TypeGuard

from ...errors import NotEnoughData
from ...estimate import Estimate, NoEstimate, Outcome
from ...regression.regressor_window import WindowContent
from ...signals.bins import BIN_NS
from ..solving import WindowSolver
from .knowledge import WristKnowledge
from .load_check import CREPT, SPAN
from .removable_load import RemovableLoad
from .road import WristRoad
from .sensor_bias import UNKNOWN_BIAS

_CREPT_BINS = round(6e9 / BIN_NS)  # least length of a window that a slow change ends


class WristWindowSolver(WindowSolver[WindowContent]):
    """Solves the window of a wrist sensor.

    Args:
        road: sends a window through its stages again; load: is told of new estimates.
    """

    _known: WristKnowledge

    def __init__(self, known: WristKnowledge, road: WristRoad, load: RemovableLoad) -> None:
        super().__init__(known)
        self._road, self._load = road, load

    def solve(self) -> Outcome:
        """As `WindowSolver.solve`.

        Where an estimate shows a large error of the set-up, such as clocks that differ or a sensor
        that is turned, or that the driver removes other forces of its payload than was believed,
        the window is replayed with that corrected and solved again, which relinearises the states
        about it; so it is where nothing explains the wrench, but would do so with another clock
        offset.
        """
        known = self._known
        self._convert_wrenches()
        walked = known.solver.walks.squared_rate is not None
        outcome = self._solve_where_crept()
        outcome = outcome if walked else self._judge_again_where_walking(outcome)
        if (self._search_filter(outcome) or self._search_setup(outcome)
                or self._correct_terms(outcome)):
            outcome = self._solve_again()
        # A walk may look like such errors.
        while (_is_new(outcome) and known.solver.walks.squared_rate is None
               and known.setup.correction.errors.remove(
                   outcome.alignment, outcome.alignment_sigma)):
            outcome = self._solve_again()
        if _is_new(outcome):
            self._road.compensation.begin_with(outcome)
        outcome = self._conclude(self._recover(outcome))
        known.payload.segments.detector.running_fit.follow(
            known.solver.walks.squared_rate, known.carried(outcome) if _is_new(outcome) else None)
        if _is_new(outcome):
            self._load.take(outcome)
        return outcome

    def _solve_again(self) -> Outcome:
        """The outcome of the window after a replay with what is believed now."""
        self._road.replay_window()
        return self._solve_window()

    def _convert_wrenches(self) -> None:
        """Give the wrenches in the sensor frame where the transforms tell the place of the frame
        that the messages name; begin the window anew where it was not known, or has changed."""
        known, frame = self._known, self._known.stream.frame
        pose = known.motion.pose_of_wrench(known.newest_ns, frame.name, frame.said)
        if pose is None or not known.stream.convert_from(pose):
            return
        known.solver.bias = UNKNOWN_BIAS
        known.latch.forget(f"the place of '{frame.said}', in which the wrench is expressed, was "
                           "not known before")
        known.begin_anew()
        known.payload.begin = 0
        self._road.replay_window()

    def _solve_where_crept(self) -> Outcome:
        """The outcome of the window: that of its newest rows alone where the load that was removed
        has slowly become another one, and no walk explains how. A young one may lack a cable
        instead."""
        known, payload = self._known, self._known.payload
        crept, payload.load_check.crept_at = payload.load_check.crept_at, None
        if (crept is None or known.solver.cables.is_new(payload.load_check.first)
                or crept - max(payload.begin, known.stream.oldest_bin) < _CREPT_BINS):
            return self._solve_window()
        if known.solver.walks.squared_rate is None:
            outcome = self._solve_window()
            if known.solver.walks.squared_rate is not None:
                return outcome
        payload.begin = crept - SPAN
        known.findings.count("payload_changed", f"{CREPT}; buffers flushed", "info")
        self._road.replay_window()
        known.progress.flush_reason = CREPT
        return self._solve_window()

    def _judge_again_where_walking(self, outcome: Outcome) -> Outcome:
        """The outcome of the window; where it has just shown that the payload walks, and what that
        did before looked like a contact, after a replay that knows of it."""
        detector = self._known.payload.segments.detector
        if self._known.solver.walks.squared_rate is None or detector.began is None:
            return outcome
        detector.running_fit.follow(self._known.solver.walks.squared_rate)
        return self._solve_again()

    def _recover(self, outcome: Outcome) -> Outcome:
        """Begin with nothing learnt where it has explained nothing for long; the outcome then is
        that there is no estimate."""
        known, setup = self._known, self._known.setup
        progress, facts = known.progress, known.progress.facts
        if not (progress.is_refuted or _is_new(outcome)):
            return outcome
        doubted = progress.is_refuted or (
            facts.misfits and (setup.correction.errors.values.any() or setup.noise.is_raised))
        if not progress.recovery.is_due(known.newest_ns, not doubted):
            return outcome
        cause = facts.sign or facts.frame
        text = (f"{cause or 'nothing has explained the wrench for long'}; "
                "identification starts again")
        known.findings.clear("residual_large", "residual_large.raised")
        facts.misfits = False
        known.latch.refute(text)
        known.begin_anew()
        known.disturbances.record_loss(text)
        progress.flush_reason = text
        return NoEstimate(known.newest_ns, known.sensor_frame, text, is_finding=bool(cause))

    def _correct_terms(self, outcome: Outcome) -> bool:
        """Compare what the driver is believed to remove with the motion; says whether the belief
        has changed."""
        known = self._known
        return _is_new(outcome) and known.setup.correction.correct_terms(
            known.settings, known.share_of_terms(outcome))

    def _search_setup(self, outcome: Outcome) -> bool:
        """Look for another set-up where nothing explains the wrench; says whether there is one,
        which is then used."""
        known, unsettled = self._known, self._known.payload.unsettled
        if unsettled is None or not known.setup.correction.search(
                known.setup.noise.settings, known.stream.ring, unsettled.source,
                self._is_wrong(outcome), known.finished):
            return False
        self._forget_disturbances()
        return True

    def _search_filter(self, outcome: Outcome) -> bool:
        """Look for the sensor's own low-pass where the wrench lags behind the motion; says whether
        one was found, which is then used."""
        known, unsettled = self._known, self._known.payload.unsettled
        if unsettled is None or not known.setup.correction.search_filter(
                known.setup.noise.settings, known.stream.ring, unsettled.source, outcome,
                known.progress.facts.lags, self._is_wrong(outcome), known.finished):
            return False
        known.solver = known.solver.with_settings(known.setup.noise.settings)  # and cables
        self._forget_disturbances()
        return True

    def _forget_disturbances(self) -> None:
        """Forget the events of the stream, which a wrong set-up has made."""
        known = self._known
        known.disturbances = known.disturbances.none_so_far()
        known.payload.begin, known.progress.flush_reason = 0, None

    def _is_wrong(self, outcome: Outcome) -> bool:
        """Whether there is no estimate, or something that a wrong clock or driver may cause."""
        known = self._known
        return (not isinstance(outcome, Estimate) or known.disturbances.is_any
                or known.progress.facts.is_any)

    def window_content(self) -> WindowContent | None:
        """The rows of the window with the provisional ones; None without any."""
        known, payload, rows = self._known, self._known.payload, self._known.window.rows
        provisional = payload.unsettled and payload.unsettled.provisional_rows(
            known.stream.ring, payload.segments, known.settings.wrench.sign,
            known.settings.estimator.dynamism_c1, known.motion.rotation_only, payload.lag)
        return rows.content(provisional) if rows or provisional else None

    def _require_window(self) -> WindowContent:
        """As `WindowSolver._require_window`."""
        known = self._known
        if not len(known.stream.ring):
            raise NotEnoughData(known.stream.explain_silence())
        if known.watch.conflict is not None:
            raise NotEnoughData(known.watch.conflict, is_finding=True)
        missing = known.motion.missing or known.setup.correction.removed.missing
        if missing is not None:
            raise NotEnoughData(missing.text, is_finding=missing.is_finding)
        units = known.setup.units.judge(known.settings, known.solver.shape, known.findings)
        if units is not None:
            raise NotEnoughData(units, is_finding=True)
        window = self.window_content()
        if window is None:
            raise self._too_short_error(None)
        if window.duration < self._least_duration:
            raise self._too_short_error(window.duration)
        return window

    def _window_extent(self, window: WindowContent) -> tuple[int, int]:
        """Number of settled rows so far, and last bin of the window."""
        return self._known.progress.rows, window.last

    def _estimate(self, window: WindowContent) -> Estimate:
        """Solve a window, with the motion so far."""
        known, statistics = self._known, self._known.window.motion
        errors = known.setup.correction.errors
        share = (known.share_of_terms(known.window.last)
                 if known.settings.precompensated.terms == "auto" else None)
        return known.solver.solve(
            window, known.sensor_frame, known.findings, known.progress.facts,
            known.disturbances.is_doubted,
            statistics.rms_rotation if known.motion.rotation_only else 0.0, errors.values,
            statistics.acceleration_covariance(known.payload.segments.filter.kernel),
            errors.filter_covariance + (0.0 if share is None else share.error_covariance),
            known.payload.swings.swing)


def _is_new(outcome: Outcome) -> TypeGuard[Estimate]:
    """Whether the window has just given an estimate."""
    return isinstance(outcome, Estimate) and not outcome.stale
