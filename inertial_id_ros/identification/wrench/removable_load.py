# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The load that may be removed from the wrenches that come: what events and estimates mean for it,
and whether it still explains the newest wrenches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...detection.disturbance_detector import Event, EventKind
from ...estimate import Estimate
from ...inertia import PARAMETERS, Array
from ...kinematics.motion import Motion
from ...signals.bins import Bins
from ..compensation.load_latch import Load, LoadInUse, TargetFrame
from .knowledge import WristKnowledge
from .load_check import CREPT

_BEHIND = 1.0  # s by which the estimate of a payload that walks may be behind


class RemovableLoad:
    """Keeps the latch of the load up to date.

    Args:
        known: holds the latch, and what its load is judged by.
    """

    def __init__(self, known: WristKnowledge) -> None:
        self._known, self._target = known, TargetFrame()

    def check(self, bins: Bins, motion: Motion, y: Array) -> None:
        """Do not remove a load any more that the newest wrenches (k, 6) contradict.

        Args:
            y: with the sign of ``A phi`` [N, N m].
        """
        known, check = self._known, self._known.payload.load_check
        if known.payload.segments.detector.began is not None:
            check.keep_judged()
            return
        check.add(bins.number, motion, y)
        misfit = self._misfit(known.latch.explanation, known.window.last)
        if misfit > 1.0 and known.latch.contradict(CREPT):
            self._set_crept(int(bins.number[-1]))

    def _set_crept(self, number: int) -> None:
        """Have the window begin with the rows from before a bin on, unless a cable is too new for
        what is judged."""
        known, check = self._known, self._known.payload.load_check
        if not known.solver.cables.is_new(check.first):
            check.crept_at = number

    def _misfit(self, load: Load, estimate: Estimate | None) -> float:
        """As `LoadCheck.misfit`, for a load as uncertain as an estimate; while the payload walks,
        it may have gone on for a while."""
        known = self._known
        wrench, rate = known.settings.wrench, known.solver.walks.squared_rate
        wander = np.repeat([wrench.force_accuracy, wrench.torque_accuracy], 3)
        if rate is not None:
            walked = known.settings.gravity.acceleration * _BEHIND * np.sqrt(rate.diagonal())
            wander = np.hypot(wander, np.repeat([walked[0], walked[1:4].max()], 3))
        wander = np.sqrt(wander**2 + known.solver.hysteresis**2 + known.payload.load_check.walk)
        covariance = np.zeros((PARAMETERS,) * 2) if estimate is None else estimate.phi_covariance
        return known.payload.load_check.misfit(load, covariance, wrench.sign, known.sensor_noise,
                                               wander, known.solver.cables.pull_at)

    def follow(self, event: Event) -> None:
        """Follow an event of the detector, before what it ends is forgotten."""
        known = self._known
        if not event.kind.ends_payload:
            return
        text = known.disturbances.describe(event)
        if event.kind is EventKind.PAYLOAD_CHANGED:
            known.latch.end_payload(text, known.carried(None), event.change)
        elif event.kind is EventKind.LOST:
            known.latch.doubt(text)
        elif event.kind is EventKind.OFFSET:
            known.latch.add_offset(known.settings.wrench.sign * event.offset, text,
                                   known.sensor_noise)
        else:
            known.latch.forget(text)

    def take(self, estimate: Estimate) -> None:
        """Use a new estimate, as far as it explains the newest wrenches."""
        known = self._known
        noise = known.sensor_noise[[0, 3, 4, 5]]
        carried = known.carried(estimate)
        known.payload.load_check.learn_walk(known.stream.next_bin, known.solver.problems.walk)
        misfit = self._misfit(Load(carried, estimate.bias, estimate.alignment), estimate)
        walks = known.solver.walks.squared_rate is not None
        pours = known.solver.cables.pours and not walks
        if pours:
            known.latch.contradict(CREPT)
        known.latch.take(estimate, carried, noise / known.settings.gravity.acceleration,
                         explains=misfit <= 1.0 and not pours, walks=walks)
        if pours or (known.latch.is_contradicted and misfit > 1.0):
            self._set_crept(known.stream.next_bin)

    def in_use(self) -> LoadInUse:
        """What may be removed from the wrenches that come, or why nothing."""
        known = self._known
        settings, latch, motion = known.settings, known.latch, known.motion
        correction = known.setup.correction
        frame = settings.compensation.frame.lstrip("/")
        use = LoadInUse(
            latch.mode, latch.reason, latch.load, known.sensor_frame,
            bool(settings.wrench.sensor_frame), latch.estimate_ns, correction.taken_out.phi,
            correction.taken_out.weight_only, known.sensor_noise, motion.live, latch.epoch, None,
            frame, known.stream.conversion, correction.errors.sensor)
        if frame and frame != known.sensor_frame:
            pose = motion.streams.fixed_pose(known.sensor_frame, frame)
            if pose is None:
                return use.silenced(f"compensation.frame is '{frame}', which is not known to be "
                                    f"fixed to the sensor frame '{known.sensor_frame}'")
            use = replace(use, target=self._target.matrix(pose))
        if known.watch.conflict is not None:
            return use.silenced(known.watch.conflict)
        if motion.missing is not None:
            return use.silenced(motion.missing.text)
        return use
