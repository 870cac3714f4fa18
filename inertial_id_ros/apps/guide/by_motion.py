# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a small motion of the wrist decides: sign, axes of the sensor, direction of gravity, clocks.

The weight of any payload is a force of one length that keeps its direction in the room. Of the
force ``f = sign m R'(a - g) + (inertia of a far centre of mass) + b`` only mass m, first moment and
bias b are free where the set-up is right; each fault frees something else, and the fit that leaves
the smallest residual names it. All that is compared is low-passed alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...settings import Settings
from ..report.frame_trials import FRAME_MENDS, explain_force
from .checks import CLOCK_ADVICE, Row, Verdict, judged
from .received import Stretch

SMOOTHED = 30  # bins of which a mean is taken, 0.3 s
FEWEST = 40  # bins
LEAST_TILT = 0.12  # spread of the direction of gravity in the sensor that shows something
CLEAR = 4.0  # deviations by which a change of the force is larger than the sensor's errors
EXPLAINED = 0.25  # share of the spread that a right set-up leaves at most
TILTED = np.deg2rad(4.0)  # more than a base is tilted by mistake, and the node allows for
UNKNOWN = np.deg2rad(20.0)  # standard deviation of a tilt that is not known at all
FOLLOWED = 0.5  # share of a commanded motion that its joint must make, and no other joint may
MOVED = 0.01  # rad by which a joint has moved
DELAYS = np.arange(-0.3, 0.301, 0.01)  # s
SIGN, FRAME, GRAVITY = "sign of the wrench", "axes of the sensor", "direction of gravity"
JOINT_ORDER = "order of the joints"
ORDER_ADVICE = ("Names and positions of the joint states do not belong together: check the order "
                "of the joints in the configuration of the driver or its relay.")
EXPECTED = {SIGN: "the sign that wrench.convention names",
            FRAME: "the force turns as a weight does",
            GRAVITY: "gravity along the z axis of its frame, to 4°"}


class _Signals(NamedTuple):
    """What is compared, low-passed.

    Attributes:
        time: (n,) [s]; force: (n, 3) on the payload, as declared [N].
        axes: (n, 3, 3) rows are the axes of gravity's frame in sensor axes, the last points up.
        columns: (n, 3, 4) force per weight, and per first moment [1/s^2].
    """

    time: Array
    force: Array
    axes: Array
    columns: Array


class _Fit(NamedTuple):
    """A fit of the force: rms of the residual [N], and the weight [N], negative with a wrong sign.
    """

    residual: float
    weight: float


def check_by_motion(stretch: Stretch, settings: Settings, sensor: str) -> tuple[Row, ...]:
    """The rows of sign, axes, gravity and clocks, after a small motion.

    Args:
        sensor: name of the frame of the wrench.
    """
    signals, gravity = _low_pass(stretch, settings.wrench.sign), settings.gravity.frame
    if len(signals.force) < FEWEST or np.linalg.norm(signals.axes[:, 2].std(axis=0)) < LEAST_TILT:
        return _open("the sensor has turned too little",
                     "Tilt the wrist by 15° or more, about two axes.")
    spread = _rms(signals.force - signals.force.mean(axis=0))
    error = np.sqrt(3.0) * np.hypot(settings.wrench.noise[0] / np.sqrt(max(stretch.samples, 1.0)),
                                    settings.wrench.accuracy[0])
    if spread < CLEAR * error:
        return _open(f"the force changes by {spread:.2g} N only, and the sensor may be wrong by "
                     f"{error:.2g} N", "Grip something heavier, or tilt farther; the node will "
                     "name a wrong sign or frame as soon as the motion shows it.")
    clocks = _judge_clocks(signals, settings)
    if clocks.verdict is Verdict.FAILED:
        return (clocks,)
    fit, allowed = _fit_weight(signals), max(EXPLAINED * spread, 2.0 * error)
    if fit.residual >= allowed:
        return _wrong_frame(signals, fit.residual, sensor, gravity), clocks
    other = next(c for c in ("on_sensor", "on_environment") if c != settings.wrench.convention)
    sign = judged(SIGN, fit.weight < 0.0, "a weight of {:.1f} N pulls {}".format(
        abs(fit.weight), "upwards" if fit.weight < 0.0 else "downwards"), EXPECTED[SIGN],
        f"Set wrench.convention to '{other}' (it is '{settings.wrench.convention}').")
    if sign.verdict is Verdict.FAILED:
        return sign, clocks
    frame = Row(FRAME, Verdict.PASSED, f"{fit.residual:.2g} N remain of a weight of "
                f"{fit.weight:.1f} N", EXPECTED[FRAME])
    return sign, frame, _judge_gravity(*_tilt(signals, fit), gravity), clocks


def check_joint_order(told: Mapping[str, float], moved: Mapping[str, float],
                      is_part: bool = False) -> tuple[Row, ...]:
    """Whether the joint states show the motion of the joint that was commanded to move.

    Args:
        told: how far each joint was to move [rad]; moved: how far it did by the joint states [rad].
        is_part: the motion did not come to its end, so that only another joint in its place is
            wrong.
    """
    joint, angle = max(told.items(), key=lambda item: item[1])
    seen, farthest = max(moved.items(), key=lambda item: item[1], default=("", 0.0))
    if is_part and (farthest < MOVED or told.get(seen) == angle):
        return ()
    follows = seen == joint and abs(farthest - angle) < FOLLOWED * angle
    measured = (f"'{seen}' moved by {np.rad2deg(farthest):.0f}°" if farthest > FOLLOWED * angle
                else "no joint moved that far")
    return (judged(JOINT_ORDER, not follows, f"by the joint states {measured}",
                   f"'{joint}' moves by {np.rad2deg(angle):.0f}°, and no other joint",
                   ORDER_ADVICE),)


def rejected_row(reason: str) -> Row:
    """The row where the controller rejects a motion from where the joint states have the arm."""
    return Row(JOINT_ORDER, Verdict.FAILED, f"{reason}, which starts where the joint states have "
               "the arm", "the controller sees each joint where the joint states have it",
               f"{ORDER_ADVICE} The log of the controller says more.")


def _low_pass(stretch: Stretch, sign: float) -> _Signals:
    """Moving means of what is compared; sign: of the reading against the wrench on the payload."""
    columns = stretch.regressor[:, :3, :4].copy()
    columns[:, :, 0] /= 9.81
    return _Signals(*map(_moving_mean, (stretch.time, sign * stretch.readings[:, :3],
                                        stretch.motion.rotation, columns)))


def _moving_mean(rows: Array) -> Array:
    """Means (n - k + 1, ...) of k successive rows (n, ...)."""
    flat = rows.reshape(len(rows), -1)
    sums = np.cumsum(np.vstack([np.zeros((1, flat.shape[1])), flat]), axis=0)
    means = (sums[SMOOTHED:] - sums[:-SMOOTHED]) / SMOOTHED
    return np.asarray(means.reshape(-1, *rows.shape[1:]))


def _open(measured: str, advice: str) -> tuple[Row, ...]:
    """All rows, as nothing is known."""
    return tuple(Row(name, Verdict.OPEN, measured, expected, advice)
                 for name, expected in EXPECTED.items())


def _judge_gravity(tilt: float, sigma: float, gravity: str) -> Row:
    """The row of gravity, by its tilt against its frame and the deviation of that [rad]."""
    angle = f"{np.rad2deg(tilt):.0f}° from the z axis of " + (f"'{gravity}'" if gravity else
                                                             "the base")
    if tilt > max(TILTED, 3.0 * sigma):
        return Row(GRAVITY, Verdict.FAILED, angle, EXPECTED[GRAVITY], FRAME_MENDS["gravity"])
    if sigma < TILTED:
        return Row(GRAVITY, Verdict.PASSED, angle, EXPECTED[GRAVITY])
    known = "not known" if sigma > UNKNOWN else f"known to {np.rad2deg(sigma):.0f}° only"
    return Row(GRAVITY, Verdict.OPEN, f"{known} by so small a motion", EXPECTED[GRAVITY],
               "Turn the sensor about two axes.")


def _wrong_frame(signals: _Signals, residual: float, sensor: str, gravity: str) -> Row:
    """The row of what explains the force where no weight does in the declared frames."""
    trial = explain_force(signals.force, signals.axes, residual, sensor, gravity)
    if trial is None:
        return Row(FRAME, Verdict.FAILED, f"{residual:.2g} N of the force remain, and no other "
                   "frames explain it", EXPECTED[FRAME],
                   "Is something touching the payload, or a cable pulling? Do names and positions "
                   "of the joint states belong together?")
    name = GRAVITY if trial.kind == "gravity" else FRAME
    return Row(name, Verdict.FAILED, f"{trial.text}: {trial.after:.2g} N remain then, "
               f"{trial.before:.2g} N as declared", EXPECTED[name], FRAME_MENDS[trial.kind])


def _judge_clocks(signals: _Signals, settings: Settings) -> Row:
    """Whether the force follows the motion at once, whatever frames and sign."""
    limit = 2.0 * settings.alignment.delay_sd
    time, force, up = signals.time, signals.force, signals.axes[:, 2]
    edge = float(np.abs(DELAYS).max())
    inside = (time > time[0] + edge) & (time < time[-1] - edge)
    residuals = []
    for delay in DELAYS:
        late = [np.interp(time[inside] - delay, time, up[:, k]) for k in range(3)]
        columns = np.column_stack([*late, np.ones(inside.sum())])
        residuals.append(_rms(force[inside] - columns @ np.linalg.lstsq(
            columns, force[inside], rcond=None)[0]))
    best = float(DELAYS[int(np.argmin(residuals))])
    at_once = residuals[int(np.argmin(np.abs(DELAYS)))]
    return judged("clocks", abs(best) > limit and min(residuals) < 0.5 * at_once,
                  f"the force comes {1e3 * abs(best):.0f} ms "
                  f"{'after' if best > 0.0 else 'before'} the motion",
                  f"the force follows the motion within {1e3 * limit:g} ms", CLOCK_ADVICE)


def _tilt(signals: _Signals, fit: _Fit) -> tuple[float, float]:
    """Angle between gravity and the z axis of its frame, and its standard deviation [rad].

    Turned about one axis only, what the force has of that direction is a bias as well, and may be
    of any size: the deviation is relative to the weight in the declared frames.
    """
    count = len(signals.force)
    columns = np.concatenate([
        np.swapaxes(signals.axes, 1, 2), signals.columns[:, :, 1:],
        np.broadcast_to(np.eye(3), (count, 3, 3))], axis=2).reshape(-1, 9)
    solution = np.linalg.lstsq(columns, signals.force.ravel(), rcond=None)[0]
    # Errors of the sensor last: as if there were but a few readings.
    few = max(count / 40.0, 1.0)
    covariance = fit.residual**2 / 3.0 * np.linalg.inv(
        columns.T @ columns / few + 1e-9 * np.eye(columns.shape[1]))
    return (float(np.arctan2(np.hypot(solution[0], solution[1]), solution[2])),
            float(np.sqrt(covariance[0, 0] + covariance[1, 1])) / fit.weight)


def _fit_weight(signals: _Signals) -> _Fit:
    """Fit of a payload and a bias to the force, in the declared frames."""
    columns = np.concatenate([signals.columns, np.broadcast_to(
        np.eye(3), (len(signals.force), 3, 3))], axis=2)
    solution = np.linalg.lstsq(columns.reshape(-1, 7), signals.force.ravel(), rcond=None)[0]
    return _Fit(_rms(signals.force - columns @ solution), float(solution[0]))


def _rms(vectors: Array) -> float:
    """Root mean square length of vectors (n, 3)."""
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))
