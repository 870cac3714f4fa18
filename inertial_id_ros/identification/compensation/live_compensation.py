# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Removes the load from each wrench as it comes, in the thread that receives the messages.

The settings decide what becomes of a load that is known: `apply_policy` and `apply_age`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...inertia import Array
from ...kinematics.causal.features import FeatureLag, MotionNow
from ...kinematics.causal.joint_filter import JointFilter
from ...kinematics.causal.pose_filter import PoseFilter
from ...kinematics.causal.transform_chain import TransformChain
from ...settings import Settings
from ...settings.node import CompensationSettings
from ...signals.sample_checks import is_plausible, plausible_limits
from .load_in_use import Load, LoadInUse, Mode
from .prepared_load import Blend, inputs_of


def apply_policy(settings: CompensationSettings, use: LoadInUse) -> LoadInUse:
    """The load in use where the settings say what to do about an unknown payload."""
    if use.mode is Mode.TOOL and settings.unknown_payload == "silent":
        return use.silenced(use.reason)
    return use


def apply_age(settings: CompensationSettings, use: LoadInUse, age: float) -> LoadInUse:
    """The load in use at an age of its estimate [s]; NaN: it has none."""
    if use.mode is not Mode.PAYLOAD:
        return use
    if 0.0 < settings.stop_after < age:
        return use.silenced("the estimate in use is older than compensation.stop_after, "
                            f"{settings.stop_after:g} s")
    if age > settings.max_age:
        return replace(use, reason=f"the estimate in use is older than {settings.max_age:g} s")
    return use


_JUMP_BACK = 1_000_000_000  # ns; stamps that go back by more are of a clock that jumped
_REPEATS = 100_000_000  # ns for which a slow sensor may repeat a wrench
_CHANGED = 5.0  # standard deviations by which the load must have changed meanwhile
_UNJUDGED = 2.0  # s without a word of the identifier, in which a payload may have been released
_PAUSE = 0.1  # s without a compensated wrench, after which no load is blended with the one before


class Status(NamedTuple):
    """What the newest wrench was compensated by.

    Attributes:
        mode: reason: of that mode; stamp_ns: of the newest compensated wrench, 0 before any.
        frame_id: of the compensated wrench.
        estimate_ns: stamp of the estimate in use, 0 without one; age: of it [s], NaN without one.
        old: whether it is older than allowed.
        load: that is removed; None while silent; share: of the newest one in it.
    """

    mode: Mode
    reason: str
    stamp_ns: int
    frame_id: str
    estimate_ns: int
    age: float
    old: bool
    load: Load | None
    share: float


class LiveCompensation:
    """Compensates wrenches one by one.

    `use` may be called from any thread, all else from the one that receives the messages. Nothing
    is computed before `begin`, nor after `end`.

    Args:
        clock: steady time [s].
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._clock = settings.compensation, clock
        self._sign = settings.wrench.sign
        self._limits = plausible_limits(settings.wrench)
        self._given = self._use = LoadInUse(Mode.SILENT, "waiting for the first estimate")
        self._judged = clock()  # when the load was given last
        self._learnt = math.nan  # when the newest estimate was taken into use
        self.is_on = False
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Forget stamps and motion."""
        self._newest, self._published = 0, 0
        self._motion: JointFilter | PoseFilter | None = None
        self._source: object = None
        self._blend: Blend | None = None
        # Stamp and values of the wrench that was the first of equal ones, and what was left of it.
        self._repeated: tuple[int, tuple[float, ...], list[float]] | None = None
        self._lag: FeatureLag | None = None  # where the sensor filters
        self._shown: Array | None = None  # features that the sensor shows at the newest wrench
        self._silence = ""  # why the newest wrench was not published

    # ---- from the thread of the identifier -------------------------------------------------------

    def use(self, use: LoadInUse) -> None:
        """Remove this load from now on; to be called again and again, also with the same one."""
        self._judged = self._clock()
        if use.estimate_ns != self._given.estimate_ns:
            self._learnt = self._clock() if use.estimate_ns else math.nan
        self._given = use

    # ---- from the thread of the messages ---------------------------------------------------------

    def configure(self, settings: CompensationSettings) -> None:
        """Use changed settings."""
        self._settings = settings

    def begin(self) -> None:
        """Begin to compensate."""
        self._begin_anew()
        self.is_on = True

    def end(self) -> None:
        """Stop computing anything."""
        self.is_on = False

    def add_joint_state(self, stamp_ns: int, names: tuple[str, ...],
                        positions: Sequence[float]) -> None:
        """Take a joint state in."""
        motion = self._find_motion()
        if isinstance(motion, JointFilter):
            motion.add(stamp_ns, names, positions)

    def add_imu(self, stamp_ns: int, reading: Sequence[float]) -> None:
        """Take a reading (6,) of the IMU on the base in: specific force [m/s^2] and angular
        velocity [rad/s]."""
        motion = self._find_motion()
        if isinstance(motion, JointFilter):
            motion.add_imu(stamp_ns, reading)

    def add_transform(self, stamp_ns: int, parent: str, child: str,
                      translation: Sequence[float], quaternion: Sequence[float]) -> None:
        """Take a moving transform in."""
        motion = self._find_motion()
        if isinstance(motion, PoseFilter):
            motion.add_transform(stamp_ns, parent, child, translation, quaternion)

    @property
    def uses_transforms(self) -> bool:
        """Whether the motion comes from transforms."""
        return isinstance(self._given.source, TransformChain)

    def _find_motion(self) -> JointFilter | PoseFilter | None:
        """The filter of the motion, made anew for another robot, chain or sensor frame."""
        source = self._given.source
        if source is not self._source:
            self._source = source
            terms, tau = self._settings.terms, self._settings.filter_time
            self._motion = (None if source is None else PoseFilter(source, terms, tau)
                            if isinstance(source, TransformChain)
                            else JointFilter(source, terms, tau))
        return self._motion

    def compensate(self, stamp_ns: int, frame_id: str,
                   wrench: Sequence[float]) -> list[float] | None:
        """The wrench (6,) without the load, in the target frame; None where it is not known, for
        the reason that `status` tells."""
        out = self._compensate(stamp_ns, frame_id, wrench)
        if isinstance(out, str):
            self._silence = out
            return None
        self._silence, self._published = "", stamp_ns
        return out

    def _compensate(self, stamp_ns: int, frame_id: str,
                    wrench: Sequence[float]) -> list[float] | str:
        """As `compensate`, with the reason where the wrench is not known."""
        use = self._now_in_use()
        if use.epoch != self._use.epoch:
            self._blend = None  # nothing of what was removed before is true any more
        motion = self._find_motion()
        step = stamp_ns - self._newest
        if not is_plausible(wrench, self._limits):
            return "the wrench holds NaN or infinity, or is saturated"
        if stamp_ns <= 0 or -_JUMP_BACK < step <= 0:
            return "the stamps of the wrench are missing, repeated, or go back"
        self._newest = stamp_ns
        self._follow_sensor(use, motion, stamp_ns)
        if use.mode is Mode.SILENT:
            self._use, self._blend = use, None
            return use.reason
        if not use.any_frame and frame_id.lstrip("/") != use.frame_id:
            return f"the wrench is given in frame '{frame_id}' instead of '{use.frame_id}'"
        if motion is None:
            return "the motion of the sensor is not known"
        pause = 1e-9 * (stamp_ns - self._published)
        if not 0.0 < pause < _PAUSE:
            self._blend = None
        self._go_over_to(use)
        assert self._blend is not None
        now = motion.motion_at(stamp_ns + self._blend.early_ns)
        if now.features is None:
            return now.reason
        shown = None if self._lag is None else self._shown
        if self._lag is not None and shown is None:
            return "the low-pass of the sensor has not settled yet"
        out = self._blend.remove(inputs_of(wrench, now.features, shown), pause).tolist()
        if self._stands_still(stamp_ns, wrench, out):
            return "the wrench is the same to the last bit while the load on the sensor changes"
        return out if math.isfinite(sum(out)) else "the result is not finite"

    def _follow_sensor(self, use: LoadInUse, motion: JointFilter | PoseFilter | None,
                       stamp_ns: int) -> None:
        """Filter the motion as the sensor filters its readings, also while nothing is published."""
        if not use.sensor.order:
            self._lag = None
            return
        if self._lag is None or self._lag.sensor != use.sensor:
            self._lag = FeatureLag(use.sensor)
        early_ns = use.early_ns if self._blend is None else self._blend.early_ns
        now = MotionNow(None) if motion is None else motion.motion_at(stamp_ns + early_ns)
        self._shown = None if now.features is None else self._lag.follow(stamp_ns, now.features)

    def _stands_still(self, stamp_ns: int, wrench: Sequence[float], out: list[float]) -> bool:
        """Whether the wrench has been the same for long, though the load that is removed from it
        changed: its driver repeats the last one."""
        if self._repeated is None or tuple(wrench) != self._repeated[1]:
            self._repeated = stamp_ns, tuple(wrench), out
            return False
        since, _, first = self._repeated
        limits = zip(out, first, self._use.noise, strict=True)
        return stamp_ns - since > _REPEATS and any(
            abs(now - then) > _CHANGED * sd for now, then, sd in limits)

    def _now_in_use(self) -> LoadInUse:
        """The load in use by the policy of the settings."""
        if self._clock() - self._judged > _UNJUDGED:
            return self._given.silenced(
                f"the node has been too busy for {_UNJUDGED:g} s to judge the wrench")
        return apply_age(self._settings, apply_policy(self._settings, self._given), self._age())

    def _age(self) -> float:
        """Age of the estimate in use [s]; NaN without one."""
        return self._clock() - self._learnt

    def _go_over_to(self, use: LoadInUse) -> None:
        """Remove this load from now on, or more and more."""
        before, self._use = self._use, use
        if self._blend is None or use.target_frame != before.target_frame:
            self._blend = Blend(use, self._sign, self._settings.blend_time)
        elif use.load is not before.load or use.target is not before.target:
            self._blend.follow(use)

    @property
    def target_frame(self) -> str:
        """Frame of the compensated wrench, if it is another one than that of the topic."""
        return self._use.target_frame

    def status(self) -> Status:
        """What is removed now, and why; from any thread."""
        use, silence, blend, age = self._now_in_use(), self._silence, self._blend, self._age()
        silent = use.mode is Mode.SILENT or bool(silence)
        reason = use.reason if use.mode is Mode.SILENT or not silence else silence
        load = None if silent else use.load if blend is None else blend.load
        return Status(Mode.SILENT if silent else use.mode, reason, self._published,
                      use.target_frame or use.frame_id, use.estimate_ns, age,
                      age > self._settings.max_age, load, 1.0 if blend is None else blend.share)
