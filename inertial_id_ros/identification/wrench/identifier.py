# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Online identification from a wrist sensor, as one object without ROS.

The node and the bag tool both use it, so that a recording that is played live and one that is read
offline give the same numbers. Samples go in through `add_*`, an estimate comes out of `solve`; the
stages between them are described in `identification.pipeline`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...errors import InertialIdError, NotEnoughData
from ...geometry.shape import Shape, shape_from_settings
from ...io.sample_blocks import Block
from ...regression.tool import Tool
from ...settings import Settings
from ...signals import inbox
from ...signals.precompensation import RemovedPayload
from ...signals.ring_buffer import JUMPED
from ..compensation.load_latch import LoadInUse
from ..pipeline import Pipeline
from ..state import Keep, State, keep_nothing
from .knowledge import WristKnowledge
from .removable_load import RemovableLoad
from .road import WristRoad
from .sensor_bias import UNKNOWN_BIAS, SensorBias, measure_tare
from .solving import WristWindowSolver
from .wrench_model import WrenchModel

# ns without a wrench, in which a payload may be released and the sensor zeroed: what was removed
# before is not until an estimate holds data from after it.
_UNHEARD_NS = 1_000_000_000


class Identifier(Pipeline):
    """Online payload identification from the wrenches of a sensor at the wrist.

    Raises:
        InvalidShape: the shape in the settings cannot be used.
        InvalidSetting: settings that contradict each other.
    """

    _knowledge = WristKnowledge
    _known: WristKnowledge
    _road: WristRoad
    _window_solver: WristWindowSolver
    _stores_blocks = True

    def __init__(self, settings: Settings, shape: Shape | None = None) -> None:
        super().__init__()
        shape = shape if shape is not None else shape_from_settings(settings.shape)
        self._known = known = self._knowledge(settings, shape, self._incoming)
        self._load = RemovableLoad(known)
        self._road = WristRoad(known, self._load)
        self._window_solver = WristWindowSolver(known, self._road, self._load)
        self._handlers = {
            inbox.WRENCH: self._take_wrench,
            inbox.JOINT_STATE: known.motion.streams.take_joint_state,
            inbox.TRANSFORM: known.motion.streams.take_transform,
            inbox.STATIC_TRANSFORM: known.motion.streams.take_static_transform,
            inbox.REMOVED_PAYLOAD: self._take_removed_payload, inbox.ZEROING: self._take_zeroing,
            inbox.IMU: known.motion.streams.take_imu,
            inbox.FINDING: known.findings.set, inbox.PUBLISHERS: self._take_publishers}

    # ---- from the inbox to the streams ---------------------------------------------------------

    def _take_block(self, block: Block) -> bool:
        """As `Inbox._take_block`."""
        motion, stream = self._known.motion.streams, self._known.stream
        if not (motion.fits(block) and stream.accepts_all(block.wrenches)):
            return False
        motion.take_block(block)
        if block.wrenches is not None:
            stream.extend(block.wrenches)
        return True

    def _take_wrench(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                     torque: Sequence[float]) -> None:
        """Put a wrench that passes all checks into its stream."""
        known, stream = self._known, self._known.stream
        before = stream.newest
        result = stream.append(stamp_ns, frame_id, force, torque)
        if result is None:
            return
        if result == JUMPED:
            known.begin_stream(f"the clock jumped back by {(before - stamp_ns) * 1e-9:.1f} s")
        elif before and stream.newest - before > _UNHEARD_NS:
            known.latch.forget(
                f"no usable wrench came for {(stream.newest - before) * 1e-9:.1f} s")
        stream.count(result)

    def _take_removed_payload(self, frame_id: str, values: Sequence[float]) -> None:
        """Use the payload that the driver says it removes. A change of it counts as a zeroing of
        the sensor; one that no body has is a finding, and is not used.

        Args:
            values: mass [kg], com (3,) [m], inertia about it (6,) [kg m^2] in that frame.
        """
        known = self._known
        try:
            change = known.setup.correction.removed.update(frame_id, values)
            known.findings.clear("removed_payload.invalid")
        except InertialIdError as error:
            known.findings.set("removed_payload.invalid", "error", str(error))
            return
        if change is not None:
            self._take_zeroing(change)
        elif values[0] > 0.0:
            known.solver.bias = known.solver.bias.without_old(
                f"the driver now removes a payload of {values[0]:.3f} kg", known.findings)

    def _take_zeroing(self, reason: str) -> None:
        """Use no data from before the sensor was zeroed, and ignore the wrench for a while."""
        self._known.stream.let_settle()
        self._known.begin_without_samples(reason)
        self._known.solver.bias = UNKNOWN_BIAS

    def _take_publishers(self, text: str) -> None:
        """Use no wrench while several publishers send it, as the text says; empty: one does. Either
        way nothing from before counts any more."""
        known = self._known
        if bool(text) != bool(known.watch.publishers):
            known.begin_without_samples("several publishers sent the wrench")
        known.watch.use_publishers(text)

    # ---- questions -----------------------------------------------------------------------------

    def doubtful_zero(self) -> str:
        """As `Pipeline.doubtful_zero`: the estimates hold it for a bias."""
        with self._lock:
            return self._known.latch.doubtful_zero

    def load_in_use(self) -> LoadInUse:
        """As `Pipeline.load_in_use`."""
        with self._lock:
            return self._load.in_use()

    # ---- commands ------------------------------------------------------------------------------

    def set_robot_description(self, urdf: str) -> None:
        """Use this URDF (raises InvalidModel; the one before stays in use)."""
        with self._lock:
            self._known.motion.streams.set_robot_description(urdf)

    def tare(self, keep: Keep = keep_nothing) -> str:
        """Use the mean reading of the last second as the bias; the arm must rest, without payload.

        Returns:
            the bias, in a sentence.

        Raises:
            NotEnoughData: too few samples, or the sensor is not at rest.
        """
        self.advance()
        with self._lock:
            known = self._known
            known.setup.correction.removed.require_none()
            if not len(known.stream.ring):
                raise NotEnoughData("tare needs a second of wrench data; none was received")
            tare, text = measure_tare(known.stream.last_second(), known.stream.newest,
                                      known.sensor_frame, known.setup.noise.settings)
            keep(replace(known.state(), tare=tare, estimate=None))
            known.solver.bias = SensorBias(tare)
            known.findings.clear("tare_not_used.contradicted", "tare_not_used")
            known.begin_payload()
            known.latch.use_tare(tare.reading, known.carried(None))
            return text

    def untare(self, keep: Keep = keep_nothing) -> str:
        """Drop the tare; says in a sentence whether there was one."""
        with self._lock:
            known = self._known
            keep(replace(known.state(), tare=None))
            known.findings.clear("tare_not_used.contradicted")
            known.progress.force_solve()
            known.latch.drop_tare()
            had_one, known.solver.bias = known.solver.bias.tare is not None, UNKNOWN_BIAS
            return ("the tare is dropped; the bias is estimated from the data alone" if had_one
                    else "there is no tare to drop")

    def set_tool(self, tool: Tool | None, keep: Keep = keep_nothing) -> None:
        """As `Pipeline.set_tool`; what is carried beside the tool is not known yet."""
        super().set_tool(tool, keep)
        with self._lock:
            self._known.latch.end_payload("another tool was set", self._known.carried(None))

    def restore(self, state: State) -> None:
        """Go on from the state of an earlier run (see module `state`)."""
        with self._lock:
            known = self._known
            known.begin_payload()
            known.solver.tool = state.tool
            known.solver.bias = SensorBias(state.tare, is_old=True)
            changes = state.tare and state.tare.describe_changes(known.settings)
            if changes:
                known.solver.bias = known.solver.bias.without_old(changes, known.findings)
                state = replace(state, tare=None)
            known.window.restored = state.estimate and replace(
                state.estimate, stale=True, restored=True)
            if state != State():
                known.findings.set("restored", "info", f"restored: {state.describe()}")

    def check_settings(self, settings: Settings) -> None:
        """Raise why these settings, with their removed payload, could not be used now (see
        `Pipeline.check_settings`)."""
        RemovedPayload(settings)
        super().check_settings(settings)

    def set_settings(self, settings: Settings) -> None:
        """Use other settings, of those that may change at run time, from the next estimate on.

        Another removed payload flushes all data; another weighting replays the window.
        """
        with self._lock:
            known = self._known
            before, known.settings = known.settings, settings
            noise = known.setup.noise
            noise.declare(settings)
            known.solver = known.solver.with_settings(noise.settings)
            if settings.wrench != before.wrench:
                known.payload.segments.use_model(WrenchModel(noise.settings))
            if settings.precompensated != before.precompensated:
                known.setup.correction.removed = RemovedPayload(settings)
                self._take_zeroing("the payload that the driver removes is set to "
                                   f"{settings.precompensated.mass:.3f} kg")
            known.progress.force_solve()
            if settings.estimator.weighting != before.estimator.weighting:
                known.begin_window()  # for another model of the wrench
                if len(known.stream.ring):
                    self._road.replay_window()
