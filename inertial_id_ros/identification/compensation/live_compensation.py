# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Removes the load from each wrench as it comes, in the thread that receives the messages.

The settings decide what becomes of a load that is known: `apply_policy` and `apply_age`.

A load is prepared as one matrix, so that removing it from a wrench is one small product; `Blend`
goes over from one load to the next without a jump.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...kinematics.causal.features import (
    ACCELERATION,
    ALPHA,
    AXES,
    FEATURES,
    PRODUCTS,
    FeatureLag,
    MotionNow,
)
from ...kinematics.causal.joint_filter import JointFilter
from ...kinematics.causal.pose_filter import PoseFilter, TransformChain
from ...linalg import identity
from ...regression.alignment import CLOCK_OFFSET, GRAVITY_TILT, gravity_turn
from ...regression.newton_euler import regressor
from ...regression.row_layout import BIASES, correct_wrench
from ...settings import Settings
from ...settings.node import CompensationSettings
from ...signals.sample_checks import is_plausible, plausible_limits
from .load_latch import Load, LoadInUse, Mode

_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # of the products of angular velocities


def _unit_regressors() -> tuple[Array, Array, Array]:
    """Regressors of unit accelerations, angular accelerations (3, 6, 10), and products (6, 6, 10).

    The rates enter as squares: that of a pair is what both have beyond what each has.
    """
    none, unit = np.zeros((3, 3)), np.eye(3)
    square = regressor(none, unit, none)
    products = [square[i] if i == j else
                regressor(np.zeros(3), unit[i] + unit[j], np.zeros(3)) - square[i] - square[j]
                for i, j in _PAIRS]
    return regressor(unit, none, none), regressor(none, none, unit), np.array(products)


_UP = np.array([0.0, 0.0, 1.0])
_LINEAR, _ANGULAR, _SQUARES = _unit_regressors()


def load_matrix(phi: Array, up: Array, weight_only: bool = False) -> Array:
    """Matrix (6, 21) from the features of a motion to the wrench on a body phi (10,).

    Args:
        up: (3,) the true upward axis along the axes of the gravity frame.
    """
    out = np.zeros((BIASES, FEATURES))
    linear = (_LINEAR @ phi).T
    out[:, AXES] = np.concatenate([u * linear for u in up.tolist()], axis=1)
    if not weight_only:
        out[:, ACCELERATION] = linear
        out[:, ALPHA], out[:, PRODUCTS] = (_ANGULAR @ phi).T, (_SQUARES @ phi).T
    return out


class PreparedLoad:
    """Removes one load from wrenches.

    Attributes:
        load: that is removed; early_ns: by how much the stamps of the wrench are early [ns].
    """

    def __init__(self, load: Load, use: LoadInUse, sign: float) -> None:
        self.load = load
        self.early_ns = round(float(load.alignment[CLOCK_OFFSET.values][0]) * 1e9)
        up = gravity_turn(load.alignment[GRAVITY_TILT.values]).T[2]
        correction = correct_wrench(identity(BIASES), load.alignment).T
        driver = np.zeros((BIASES, FEATURES))  # adds what the driver takes out by the motion of now
        if use.removed.any():
            driver = sign * correction @ load_matrix(use.removed, _UP, use.weight_only)
        taken, target = correction, use.target
        if use.conversion is not None:
            taken = correction @ use.conversion
            target = np.linalg.inv(use.conversion) if target is None else target
        self._matrix = np.concatenate(
            [taken, driver - sign * load_matrix(load.phi, up), -(correction @ load.bias)[:, None],
             driver], axis=1)
        if target is not None:
            self._matrix = target @ self._matrix

    def remove(self, inputs: Array) -> Array:
        """The wrench (6,) without the load, from `inputs_of` wrench and motion (49,)."""
        return np.asarray(self._matrix @ inputs)


def inputs_of(wrench: Sequence[float], features: Array, shown: Array | None = None) -> Array:
    """What `PreparedLoad.remove` takes (49,).

    Args:
        wrench: (6,) of the topic; features: (21,) of the motion at its stamp.
        shown: (21,) those that the sensor shows then; None: the same, as it does not filter.
    """
    out = np.zeros(BIASES + 2 * FEATURES + 1)
    out[:BIASES], out[BIASES + FEATURES] = wrench, 1.0
    if shown is None:
        out[BIASES:BIASES + FEATURES] = features
        return out
    out[BIASES:BIASES + FEATURES] = shown
    np.subtract(features, shown, out=out[-FEATURES:])
    return out


_SLIGHT = 0.3  # standard deviations of a sample; a smaller difference is no jump
_STEP = 2.0  # the same, by which successive wrenches differ at most because of another load


class Blend:
    """Removes a load, and one that follows it more and more.

    Args:
        load: the first one; it is in use at once.
        sign: of the reading against ``A phi``; duration: of a transition, if it may be as fast [s].

    Attributes:
        share: of the newest load in what is removed, 0 to 1.
    """

    def __init__(self, use: LoadInUse, sign: float, duration: float) -> None:
        self._sign, self._duration = sign, duration
        self._use, self._new = use, PreparedLoad(use.load, use, sign)
        self._old: PreparedLoad | None = None
        self._tolerance = _tolerance(use)
        self.share = 1.0

    @property
    def load(self) -> Load:
        """What is removed now."""
        if self._old is None:
            return self._new.load
        return self._old.load.mixed(self._new.load, self.share)

    @property
    def early_ns(self) -> int:
        """By how much the stamps of the wrench are early [ns]."""
        if self._old is None:
            return self._new.early_ns
        return round(self._old.early_ns + self.share * (self._new.early_ns - self._old.early_ns))

    def follow(self, use: LoadInUse) -> None:
        """Go over to another load."""
        self._old = PreparedLoad(self.load, use, self._sign)
        self._use, self._new = use, PreparedLoad(use.load, use, self._sign)
        self._tolerance, self.share = _tolerance(use), 0.0

    def remove(self, inputs: Array, step: float) -> Array:
        """The wrench (6,) without the load.

        Args:
            inputs: (49,), as `inputs_of` gives them; step: since the last wrench [s].
        """
        new = self._new.remove(inputs)
        if self._old is None:
            return new
        old = self._old.remove(inputs)
        distance = float((np.abs(new - old) / self._tolerance).max())
        rest = 1.0 - self.share
        fastest = 1.0 if distance * rest <= _SLIGHT else min(
            _STEP / distance, step / self._duration if self._duration > 0.0 else 1.0)
        self.share += fastest
        if self.share >= 1.0:
            self._old, self.share = None, 1.0
            return new
        return np.asarray(old + self.share * (new - old))


def _tolerance(use: LoadInUse) -> Array:
    """Standard deviation (6,) of one wrench in the target frame [N, N m]."""
    noise = use.noise if use.target is None else np.sqrt((use.target**2) @ use.noise**2)
    return np.maximum(noise, 1e-9)


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
