# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which load may be removed from the wrench: kept through contact, given up when it ends.

An estimate is held in contact, forgotten when nothing explains the wrench, made anew when the
set-up is corrected. None of that changes what the sensor carries. Here the last estimate stays in
use until something says that it is no longer true.

`LoadInUse` is what is removed at present, as one thread hands it to another; `TargetFrame` gives
the wrench in another frame that is fixed to the sensor, about its origin.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np

from ...estimate import IDENTIFIED, UNOBSERVED, Estimate
from ...inertia import PARAMETERS, Array, skew
from ...kinematics.causal.pose_filter import TransformChain
from ...kinematics.joint_motion import RobotFrame
from ...kinematics.transform_tree import Pose
from ...regression.alignment import CLOCK_OFFSET
from ...regression.row_layout import BIASES, NUISANCE_VALUES
from ...signals.low_pass import NO_FILTER, SensorFilter


class Mode(IntEnum):
    """What the compensated wrench is without."""

    SILENT = 0  # nothing is published
    TOOL = 1  # bias and tool
    PAYLOAD = 2  # bias and all that the sensor carries


@dataclass(frozen=True, eq=False)
class Load:
    """What acts on the sensor beside contact.

    Attributes:
        phi: (10,) of all that the sensor carries; bias: reading at zero load (6,), sign of the
            topic [N, N m]; alignment: values (n,) of the nuisance states.
    """

    phi: Array
    bias: Array
    alignment: Array

    def mixed(self, other: Load, share: float) -> Load:
        """This load with a share of another one."""
        return Load(*((1.0 - share) * a + share * b for a, b in zip(
            (self.phi, self.bias, self.alignment), (other.phi, other.bias, other.alignment),
            strict=True)))


NO_LOAD = Load(np.zeros(PARAMETERS), np.zeros(BIASES), np.zeros(NUISANCE_VALUES))


@dataclass(frozen=True, eq=False)
class LoadInUse:
    """What to remove, or why nothing is published.

    Attributes:
        mode: of the compensated wrench; reason: why, in one sentence.
        load: to remove; meaningless while silent.
        frame_id: sensor frame; any_frame: whether messages that name another one are used, too.
        estimate_ns: stamp of the estimate; 0 without one.
        removed: phi (10,) of what the driver removes itself; weight_only: whether that is its
            weight only.
        noise: standard deviations (6,) of one sample [N, N m].
        source: of the motion; None: not known yet.
        epoch: another number where nothing that was removed before is true any more.
        target: (6, 6) from the wrench in the sensor frame to that in `target_frame`; None: the
            wrench stays in the frame of the topic.
        sensor: low-pass that the sensor applies to its readings.
        conversion: (6, 6) from the wrench of the topic to that in the sensor frame; None: it is
            given in it.
    """

    mode: Mode
    reason: str
    load: Load = NO_LOAD
    frame_id: str = ""
    any_frame: bool = False
    estimate_ns: int = 0
    removed: Array = field(default_factory=lambda: NO_LOAD.phi)
    weight_only: bool = False
    noise: Array = field(default_factory=lambda: NO_LOAD.bias)
    source: RobotFrame | TransformChain | None = None
    epoch: int = 0
    target: Array | None = None
    target_frame: str = ""
    conversion: Array | None = None
    sensor: SensorFilter = NO_FILTER

    @property
    def early_ns(self) -> int:
        """By how much the stamps of the wrench are early [ns]."""
        return round(float(self.load.alignment[CLOCK_OFFSET.values][0]) * 1e9)

    def silenced(self, reason: str) -> LoadInUse:
        """The same, but nothing is published."""
        return replace(self, mode=Mode.SILENT, reason=reason)


def wrench_matrix(pose: Pose) -> Array:
    """Matrix (6, 6) from a wrench in a frame to that in another one, about its origin.

    Args:
        pose: of the other frame in the first one.
    """
    out = np.zeros((6, 6))
    turn = pose.rotation.T
    out[:3, :3] = out[3:, 3:] = turn
    out[3:, :3] = -turn @ skew(pose.translation)
    return out


class TargetFrame:
    """The matrix of a frame, the same object as long as its pose is the same."""

    def __init__(self) -> None:
        self._pose: Pose | None = None
        self._matrix: Array = np.eye(6)

    def matrix(self, pose: Pose) -> Array:
        """Matrix (6, 6) for the pose of the target in the sensor frame."""
        if self._pose is None or not _is_same(pose, self._pose):
            self._pose, self._matrix = pose, wrench_matrix(pose)
        return self._matrix


def _is_same(a: Pose, b: Pose) -> bool:
    """Whether two poses differ by no more than rounding, and noise of moving transforms."""
    return (np.allclose(a.rotation, b.rotation, rtol=0.0, atol=1e-3)
            and np.allclose(a.translation, b.translation, rtol=0.0, atol=1e-4))


_GONE = 3.0  # standard deviations of one sample within which an offset has gone again
_CLOSE = 3.0  # standard deviations of one sample: what is removed is no worse than that
# Share that may be wrong of a new payload at first, as without it all of it is; and of one that
# walks, as what was known of it becomes worse and worse.
_ROUGH, _ROUGHLY_NOW = 0.1, 0.3
_WAITING = "waiting for the first estimate"


class LoadLatch:
    """Holds what is known of the load.

    Attributes:
        mode: what may be removed; reason: why no more, or why so much; in one sentence.
        load: that is known; estimate_ns: stamp of the estimate it comes from; 0 without one.
        is_contradicted: whether the load before did not fit any more, and none is known since.
        epoch: another number after each `forget`.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.forget(_WAITING)

    def forget(self, reason: str) -> None:
        """Nothing is known any more, not even the bias."""
        self.mode, self.reason = Mode.SILENT, f"{reason}; waiting for an estimate"
        if reason == _WAITING:
            self.reason = reason
        self.load, self.estimate_ns, self._doubted = NO_LOAD, 0, ""
        self.is_contradicted = False
        self._is_new = False  # whether the payload has changed, and is hardly known yet
        # Offset (6,) that came meanwhile, sign of the topic [N, N m]: part of the bias by the
        # estimates, which cannot tell it from contact; and the bias before it, None: not known.
        self._offset = NO_LOAD.bias
        self._zero: Array | None = None
        self._gone = NO_LOAD.bias  # (6,) offsets below which there is none
        self.epoch += 1

    def add_offset(self, offset: Array, reason: str, noise: Array) -> None:
        """Another zero has come, or a contact that turns with the sensor: to remove it could hide a
        contact, so it is left in the wrench until it goes, or `forget`.

        Args:
            offset: (6,) sign of the topic [N, N m]; noise: (6,) of one sample.
        """
        if self._zero is None and self.mode is not Mode.SILENT:
            self._zero = self.load.bias
        self._gone = _GONE * noise
        self._set_offset(self._offset + offset)
        if self._offset.any() and self.mode is not Mode.SILENT:
            self.reason = self._held(reason)

    def _set_offset(self, offset: Array) -> None:
        """Leave an offset (6,) in the wrench, or none that is as small as noise."""
        self._offset = offset
        if (np.abs(offset) < self._gone).all():
            self._offset, self._zero = NO_LOAD.bias, None

    def _zero_by(self, bias: Array) -> Array:
        """The zero (6,) by the bias of an estimate: with an offset, the zero before it is held, and
        what the bias has more than that is the offset now. It may end unnoticed, as a contact that
        fades, or whose end looks like a change of payload."""
        if not self._offset.any():
            return bias
        if self._zero is None:
            self._zero = bias - self._offset
        before = self._zero
        self._set_offset(bias - before)
        return before if self._offset.any() else bias

    @property
    def explanation(self) -> Load:
        """What explains the wrenches: the load, with the offset that is left in them."""
        return replace(self.load, bias=self.load.bias + self._offset)

    @property
    def doubtful_zero(self) -> str:
        """The offset that is left in the wrench, in words; empty: there is none."""
        if not self._offset.any():
            return ""
        force, torque = np.linalg.norm(self._offset.reshape(2, 3), axis=1)
        return (f"{force:.3g} N and {torque:.3g} N m of contact, or of another zero, are left in "
                "the wrench: if it is the zero, call ~/reset")

    def _held(self, reason: str) -> str:
        """The reason of the mode, with the offset that is left in the wrench."""
        return "; ".join(filter(None, (reason, self.doubtful_zero)))

    def contradict(self, reason: str) -> bool:
        """Wrenches in motion do not fit the load any more, though nothing disturbs them; says
        whether it was removed until now."""
        if self.mode is not Mode.PAYLOAD or self._doubted:
            return False
        self.forget(reason)
        self.is_contradicted = True
        return True

    def take(self, estimate: Estimate, carried: Array, weighed: Array, *, explains: bool,
             walks: bool = False) -> None:
        """Use a new estimate, if it knows mass and centre of mass, or weight and moment at least
        about as well as the sensor tells them; after a contradiction, also if it explains the
        newest wrenches, and only then.

        Unknown inertia is no reason not to: motion that does not identify it hardly depends on it.
        After another payload was gripped a rough estimate is used at once, since without it all of
        its weight is left in the wrench; so it is while the payload walks, as the estimate before
        is of another one.

        Args:
            carried: phi (10,) of all that the sensor carries by it.
            weighed: (4,) mass [kg] and first moments [kg m] that the noise of one sample weighs.
            explains: whether it explains the wrenches that came lately.
            walks: whether the payload pours or slides.
        """
        verdict = estimate.verdict[:4]
        if self._doubted and any(v != IDENTIFIED for v in verdict):
            return
        is_known = UNOBSERVED not in verdict or _is_close(estimate, weighed)
        if self.is_contradicted and not explains:
            return
        if not (is_known or self.is_contradicted
                or (self._is_new and _is_close(estimate, weighed, _ROUGH))
                or (walks and _is_close(estimate, weighed, _ROUGHLY_NOW))):
            if self.mode is Mode.SILENT:
                what = "mass" if verdict[0] == UNOBSERVED else "centre of mass"
                self.reason = f"the {what} is not identified yet"
            return
        self.mode, self._doubted, self._is_new = Mode.PAYLOAD, "", not is_known
        self.is_contradicted = False
        self.load = Load(carried, self._zero_by(estimate.bias), estimate.alignment)
        self.estimate_ns = estimate.stamp_ns
        self.reason = self._held("the payload is known" if is_known else
                                 "the payload is new and roughly known")

    def doubt(self, reason: str) -> None:
        """The data say that the estimate, or a contact, has lasted too long to judge it; only an
        estimate that is identified in full replaces it."""
        if self.mode is Mode.PAYLOAD:
            self._doubted = reason
            self.reason = f"{reason}; the payload known before is held"

    def refute(self, reason: str) -> None:
        """Nothing explains the wrench: forget the load, unless a long contact is why."""
        if self._doubted:
            self.doubt(reason)
        else:
            self.forget(reason)

    def end_payload(self, reason: str, tool: Array, change: float = np.nan) -> None:
        """Another payload is there, or none; the zero is as before.

        Meanwhile that is removed which leaves less: what was known before, or what certainly stays.

        Args:
            tool: phi (10,) of what certainly stays; change: of the mass [kg], NaN: not known.
        """
        if self.mode is Mode.SILENT:
            return
        self.mode = Mode.TOOL
        keeps = abs(change) < abs(self.load.phi[0] + change - tool[0])
        self.reason = self._held(f"{reason}; what is carried now is not known yet"
                                 + (", what was known before is removed" if keeps else ""))
        if not keeps:
            self.load = Load(tool, self.load.bias, self.load.alignment)
        self.estimate_ns, self._doubted, self._is_new = 0, "", True

    def use_tare(self, bias: Array, tool: Array) -> None:
        """The sensor was read without payload: bias (6,), sign of the topic."""
        self.forget("the sensor was tared")
        self.mode, self.reason = Mode.TOOL, "the sensor was tared; no payload is known yet"
        self.load = Load(tool, np.asarray(bias, dtype=float), NO_LOAD.alignment)

    def drop_tare(self) -> None:
        """The user does not trust the tare any more."""
        if self.mode is Mode.TOOL:
            self.forget("the tare was dropped")


def _is_close(estimate: Estimate, weighed: Array, share: float = 0.0) -> bool:
    """Whether mass and first moments are known to `_CLOSE` times what the noise of a sample weighs
    (4,), or to a share of their values."""
    sd = np.sqrt(np.maximum(np.diag(estimate.phi_covariance)[:4], 0.0))
    size = np.abs(estimate.phi[:4])
    size[1:] = np.linalg.norm(size[1:])
    return bool((sd <= np.maximum(_CLOSE * weighed, share * size)).all())
