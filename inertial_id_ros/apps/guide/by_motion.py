# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a small motion of the wrist decides: sign, axes of the sensor, direction of gravity, clocks.

The weight of any payload is a force of one length that keeps its direction in the room. Of the
force ``f = sign m R'(a - g) + (inertia of a far centre of mass) + b`` only mass m, first moment and
bias b are free where the set-up is right; each fault frees something else, and the fit that leaves
little names it. All that is compared is low-passed alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...regression.newton_euler import regressor
from ...settings import Settings
from ..report.frame_trials import FRAME_MENDS, explain_force
from .at_rest import (
    CLOCK_ADVICE,
    CLOCKS,
    FRAME,
    GRAVITY,
    JOINT_ORDER,
    ORDER_ADVICE,
    SIGN,
)
from .received import Stretch
from .record import Row, Verdict

_SMOOTHED = 15  # readings of which a mean is taken, 0.3 s
_LEAST_TILT = 0.12  # spread of the direction of gravity in the sensor that tells something
_TOLD = 4.0  # standard deviations by which a change of the force is told from the sensor's errors
_EXPLAINED = 0.25  # share of the spread that a right set-up leaves at most
_TILTED = np.deg2rad(4.0)  # more than a base is tilted by mistake, and the node allows for
_TINY = 1e-9  # information [1/N^2] that makes directions without any invertible
_UNKNOWN = np.deg2rad(20.0)  # standard deviation of a tilt that is not known at all
_FOLLOWED = 0.5  # share of what a joint was told to do that it must do, and no other joint may
_DELAYS = np.arange(-0.3, 0.301, 0.01)  # s
_EXPECTED = {
    SIGN: "the sign that wrench.convention names",
    FRAME: "the force turns as a weight does",
    GRAVITY: "gravity along the z axis of its frame, to 4°",
}


class _Fit(NamedTuple):
    """A fit of the force: rms that it leaves, and the weight [N], negative with a wrong sign."""

    left: float
    weight: float


class _Signals(NamedTuple):
    """What is compared, low-passed.

    Attributes:
        time: (n,) [s]; force: (n, 3) on the payload, as declared [N].
        axes: (n, 3, 3) rows are the axes of gravity's frame in sensor axes, the last points up.
        proper: (n, 3) acceleration less gravity, over gravity; turning: (n, 3, 3) force per first
            moment [1/s^2].
    """

    time: Array
    force: Array
    axes: Array
    proper: Array
    turning: Array

    @property
    def up(self) -> Array:
        """Directions (n, 3) against gravity."""
        return self.axes[:, 2]


def check_by_motion(stretch: Stretch, settings: Settings, sensor: str, gravity: str = ""
                    ) -> tuple[Row, ...]:
    """The rows that were open at rest, after a small motion.

    Args:
        sensor, gravity: names of the frames of the wrench and of gravity.
    """
    signals = _low_pass(stretch, settings.wrench.sign)
    force, up = signals.force, signals.up
    if len(force) < 20 or np.linalg.norm(np.std(up, axis=0)) < _LEAST_TILT:
        return _open("the sensor has turned too little", "Tilt the wrist by 15° or more, about two "
                     "axes.")
    spread, error = _rms(force - force.mean(axis=0)), _error(stretch, settings)
    if spread < _TOLD * error:
        return _open(f"the force changes by {spread:.2g} N only, and the sensor may be wrong by "
                     f"{error:.2g} N", "Grip something heavier, or tilt farther; the node will "
                     "name a wrong sign or frame as soon as the motion tells it.")
    clocks = _judge_clocks(signals, settings)
    if clocks.verdict is Verdict.FAILED:
        return (*_open("not judged before the clocks agree", ""), clocks)
    declared = _fit_weight(signals)
    allowed = max(_EXPLAINED * spread, 2.0 * error)
    if declared.left < allowed and declared.weight > 0.0:
        return (*_passed(declared, signals, gravity), clocks)
    if declared.left < allowed:
        return (*_wrong_sign(settings, -declared.weight), clocks)
    return (*_wrong_frames(signals, declared.left, sensor, gravity), clocks)


def check_joint_order(told: Mapping[str, float], moved: Mapping[str, float]) -> Row:
    """Whether the joint states show the motion of the joint that was told to move.

    Args:
        told: how far each joint was told to move [rad]; moved: how far each did by the joint
            states [rad].
    """
    expected = "the joint that was told to move does, and no other"
    joint, angle = max(told.items(), key=lambda item: item[1])
    seen, farthest = max(moved.items(), key=lambda item: item[1], default=("", 0.0))
    if seen == joint and abs(farthest - angle) < _FOLLOWED * angle:
        return Row(JOINT_ORDER, Verdict.PASSED, f"'{joint}' moved by "
                   f"{np.rad2deg(farthest):.0f}°, as it was told", expected)
    what = (f"'{seen}' moved by {np.rad2deg(farthest):.0f}°" if farthest > _FOLLOWED * angle
            else "no joint moved that far")
    return Row(JOINT_ORDER, Verdict.FAILED, f"'{joint}' was told to move by "
               f"{np.rad2deg(angle):.0f}°, and by the joint states {what}", expected, ORDER_ADVICE)


def rejected_row(reason: str) -> Row:
    """The row where the controller rejects a motion from where the joint states have the arm."""
    return Row(JOINT_ORDER, Verdict.FAILED, f"{reason}, which starts where the joint states have "
               "the arm", "the controller sees each joint where the joint states have it",
               f"{ORDER_ADVICE} The log of the controller says more.")


def _low_pass(stretch: Stretch, sign: float) -> _Signals:
    """Moving means of what is compared.

    Args:
        sign: of the reading against the wrench on the payload.
    """
    motion = stretch.motion
    rows = regressor(motion.proper_acceleration / motion.gravity, motion.omega, motion.alpha)
    signals = _Signals(stretch.time, sign * stretch.readings[:, :3], motion.axes, rows[:, :3, 0],
                       rows[:, :3, 1:4])
    return _Signals(*map(_moving_mean, signals))


def _moving_mean(rows: Array) -> Array:
    """Means (n - k + 1, ...) of k successive rows (n, ...)."""
    flat = rows.reshape(len(rows), -1)
    sums = np.cumsum(np.vstack([np.zeros((1, flat.shape[1])), flat]), axis=0)
    means = (sums[_SMOOTHED:] - sums[:-_SMOOTHED]) / _SMOOTHED
    return np.asarray(means.reshape(-1, *rows.shape[1:]))


def _open(measured: str, advice: str) -> tuple[Row, ...]:
    """All rows, as nothing is told."""
    return tuple(Row(name, Verdict.OPEN, measured, expected, advice)
                 for name, expected in _EXPECTED.items())


def _passed(fit: _Fit, signals: _Signals, gravity: str) -> tuple[Row, ...]:
    """The rows where weight and bias explain the force; gravity may be tilted all the same."""
    told = f"{fit.left:.2g} N are left of a weight of {fit.weight:.1f} N"
    return (Row(SIGN, Verdict.PASSED, "the force follows the weight", _EXPECTED[SIGN]),
            Row(FRAME, Verdict.PASSED, told, _EXPECTED[FRAME]),
            _judge_gravity(*_tilt(signals, fit), gravity))


def _judge_gravity(tilt: float, sigma: float, gravity: str) -> Row:
    """The row of gravity, by its tilt against its frame and the standard deviation of that
    [rad]."""
    expected, frame = _EXPECTED[GRAVITY], f"'{gravity}'" if gravity else "the base"
    angle = f"{np.rad2deg(tilt):.0f}° from the z axis of {frame}"
    if tilt > max(_TILTED, 3.0 * sigma):
        return Row(GRAVITY, Verdict.FAILED, angle, expected, FRAME_MENDS["gravity"])
    if sigma < _TILTED:
        return Row(GRAVITY, Verdict.PASSED, angle, expected)
    known = "not known" if sigma > _UNKNOWN else f"known to {np.rad2deg(sigma):.0f}° only"
    return Row(GRAVITY, Verdict.OPEN, f"{known} by so small a motion", expected,
               "Turn the sensor about two axes.")


def _wrong_sign(settings: Settings, weight: float) -> tuple[Row, ...]:
    """The rows where the opposite sign explains the force."""
    other = next(c for c in ("on_sensor", "on_environment") if c != settings.wrench.convention)
    return (Row(SIGN, Verdict.FAILED, f"a weight of {weight:.1f} N pulls upwards",
                _EXPECTED[SIGN], f"Set wrench.convention to '{other}' (it is "
                f"'{settings.wrench.convention}'); nothing else needs to change."),
            *_open("not judged before the sign is right", "")[1:])


def _wrong_frames(signals: _Signals, left: float, sensor: str, gravity: str) -> tuple[Row, ...]:
    """The rows where no weight explains the force in the declared frames, which leave so much of it
    [N]."""
    trial = explain_force(signals.force, signals.axes, left, sensor, gravity)
    rows = dict(zip(_EXPECTED, _open("not judged, as the force fits no weight", ""), strict=True))
    name = GRAVITY if trial is not None and trial.kind == "gravity" else FRAME
    if trial is None:
        rows[name] = Row(FRAME, Verdict.FAILED, f"{left:.2g} N are left of the force, "
                         "and no other frames explain it", _EXPECTED[FRAME],
                         "Is something touching the payload, or a cable pulling? Do names and "
                         "positions of the joint states belong together?")
    else:
        rows[name] = Row(name, Verdict.FAILED, f"{trial.text}: {trial.after:.2g} N are left then, "
                         f"{trial.before:.2g} N as declared", _EXPECTED[name],
                         FRAME_MENDS[trial.kind])
    return tuple(rows.values())


def _judge_clocks(signals: _Signals, settings: Settings) -> Row:
    """Whether the force follows the motion at once."""
    limit = 2.0 * settings.alignment.delay_sd
    expected = f"the force follows the motion within {limit:g} s"
    time, force, up = signals.time, signals.force, signals.up
    edge = float(np.abs(_DELAYS).max())
    inside = (time > edge) & (time < time[-1] - edge)
    if inside.sum() < 20:
        return Row(CLOCKS, Verdict.OPEN, "the motion was too short", expected)
    left = []
    for delay in _DELAYS:
        late = np.column_stack([np.interp(time[inside] - delay, time, up[:, k]) for k in range(3)])
        left.append(_fit_any(force[inside], late))
    best = float(_DELAYS[int(np.argmin(left))])
    at_once = left[int(np.argmin(np.abs(_DELAYS)))]
    if abs(best) > limit and min(left) < 0.5 * at_once:
        return Row(CLOCKS, Verdict.FAILED, f"the force comes {abs(best):.2f} s "
                   f"{'after' if best > 0.0 else 'before'} the motion", expected, CLOCK_ADVICE)
    return Row(CLOCKS, Verdict.PASSED, f"{1e3 * abs(best):.0f} ms apart", expected)


def _tilt(signals: _Signals, fit: _Fit) -> tuple[float, float]:
    """Angle between gravity and the z axis of its frame, and its standard deviation [rad].

    Turned about one axis only, what the force has of that direction is a bias as well, and may be
    of any size: the deviation is that of the weight in the declared frames.
    """
    count = len(signals.force)
    columns = np.concatenate([np.swapaxes(signals.axes, 1, 2), signals.turning,
                              np.broadcast_to(np.eye(3), (count, 3, 3))], axis=2).reshape(-1, 9)
    solution = np.linalg.lstsq(columns, signals.force.ravel(), rcond=None)[0]
    # Errors of the sensor last: as if there were but a few readings.
    few = max(count / 20.0, 1.0)
    covariance = fit.left**2 / 3.0 * np.linalg.inv(
        columns.T @ columns / few + _TINY * np.eye(columns.shape[1]))
    return (float(np.arctan2(np.hypot(solution[0], solution[1]), solution[2])),
            float(np.sqrt(covariance[0, 0] + covariance[1, 1])) / fit.weight)


def _error(stretch: Stretch, settings: Settings) -> float:
    """How far a reading of the force may be off without bias and gain (rms length) [N]."""
    wrench = settings.wrench
    noise = wrench.force_noise / np.sqrt(max(stretch.samples, 1.0))
    return float(np.sqrt(3.0) * np.hypot(noise, wrench.force_accuracy))


def _fit_weight(signals: _Signals) -> _Fit:
    """Fit of a payload and a bias to the force, in the declared frames."""
    count = len(signals.force)
    columns = np.concatenate([signals.proper[:, :, None], signals.turning,
                              np.broadcast_to(np.eye(3), (count, 3, 3))], axis=2)
    solution = np.linalg.lstsq(columns.reshape(-1, 7), signals.force.ravel(), rcond=None)[0]
    return _Fit(_rms(signals.force - columns @ solution), float(solution[0]))


def _fit_any(force: Array, up: Array) -> float:
    """What any linear map of directions (n, 3) leaves of the force: whatever frames and sign."""
    columns = np.column_stack([up, np.ones(len(up))])
    return _rms(force - columns @ np.linalg.lstsq(columns, force, rcond=None)[0])


def _rms(vectors: Array) -> float:
    """Root mean square length of vectors (n, 3)."""
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))
