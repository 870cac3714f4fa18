# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a recording says of the robot beside its bodies: tilt of the base, delay of the efforts, and
gains of the drives.

Gravity enters the regressor linearly, and a delay shifts the efforts by their rate: for given tilt
and delay the base parameters are those of least squares, and the residual depends on three unknowns
alone (variable projection; Golub and Pereyra 1973).

Motor currents: ``current_j = (Y_j phi) / k_j`` with the gain k_j [N m/A] of joint j. Without a
known mass every gain and every mass could be doubled; recordings without and with a payload of
known mass fix the scale (Gautier and Briot 2014: total least squares on both; here the errors are
in the currents alone). Friction is each recording's own, as it changes with load and temperature.
"""

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import least_squares

from ..errors import InvalidData, NotEnoughData
from ..inertia import Array
from ..model.problem import triangle
from .base_parameters import structural_base_parameters
from .least_squares import equivalent_white_noise, fit_unconstrained
from .model import RobotModel
from .recording import RowFilter, Rows
from .robot_file import Drives

LARGEST_TILT = 0.5  # rad
LARGEST_DELAY = 0.1  # s
_CLEAR = 3.0  # standard deviations from which tilt and delay are believed
_ROUNDS = 4  # in which the noise of each joint is found
_TINY = float(np.finfo(float).tiny)


def align_recording(model: RobotModel, filtered: RowFilter) -> tuple[Array, float]:
    """Gravity (3,) [m/s^2] in root axes, and how much later than the positions the efforts are
    stamped [s], with which a recording, filtered without delay, fits best; tilt and delay are zero
    where they are less than three standard deviations.

    Raises:
        InvalidData: the answer is beyond `LARGEST_TILT` or `LARGEST_DELAY`.
    """
    across = null_space(model.gravity[None])[:, :2] * np.linalg.norm(model.gravity)
    free = fit_unconstrained(filtered.rows(model))
    # Few rows, which fit and leave residuals as all of them do: base columns without gravity, and
    # what gravity of 1 m/s^2 along each axis adds (4, k, nb); efforts and their derivatives (k,).
    base = structural_base_parameters(model).independent
    own, *pulled = (filtered.rows(model.with_gravity(pull)).regressor[:, :, base]
                    for pull in (np.zeros(3), *np.eye(3)))
    rows = np.concatenate([own, *(part - own for part in pulled), filtered.effort[..., None],
                           filtered.effort_rate[..., None]], axis=2)
    rows = triangle((rows * np.expand_dims(free.rows.weights, 2)).reshape(-1, rows.shape[2]))
    parts, effort, rate = np.stack(np.split(rows[:, :-2], 4, axis=1)), rows[:, -2], rows[:, -1]

    def gravity(tilt: Array) -> Array:
        sines = np.sin(tilt)
        return across @ sines + model.gravity * np.sqrt(np.maximum(1.0 - sines @ sines, 0.0))

    def residual(x: Array) -> Array:
        y = np.tensordot(np.append(1.0, gravity(x[:2])), parts, 1)
        moved = effort + x[2] * rate
        return np.asarray(moved - y @ np.linalg.lstsq(y, moved, rcond=None)[0])

    found = least_squares(residual, np.zeros(3), x_scale=(0.01, 0.01, 0.001), xtol=1e-10)
    tilt, delay = found.x[:2], float(found.x[2])
    if not (np.abs(tilt).max() < LARGEST_TILT and abs(delay) < LARGEST_DELAY):
        raise InvalidData(
            f"the recording asks for a tilt of {np.degrees(tilt).round(1).tolist()} deg and "
            f"a delay of {1e3 * delay:.0f} ms; is the description the right one?")
    freedom = max(filtered.effort.size - parts.shape[2] - 3, 1)
    values, axes = np.linalg.eigh(found.jac.T @ found.jac)
    known = np.maximum(values, np.finfo(float).eps * values[-1] + _TINY)
    sigma = np.sqrt(2.0 * found.cost / freedom * np.sum(axes**2 / known, axis=1))
    # Residuals repeat themselves for many samples.
    clear = _CLEAR * sigma * float(np.linalg.norm(free.noise) / np.linalg.norm(free.rms))
    leans = bool(np.linalg.norm(tilt / clear[:2]) > 1.0)
    return (gravity(tilt) if leans else model.gravity), delay if abs(delay) > clear[2] else 0.0


def gains_from_payload(unloaded: Rows, loaded: Rows, mass: float) -> Drives:
    """Gains of all drives from recordings without and with a payload of known mass [kg] (raises
    NotEnoughData: the recordings do not determine the gain of every joint)."""
    model, count = unloaded.model, unloaded.model.nv
    base = structural_base_parameters(model).independent
    inertial, terms = base[base < model.inertial], base[base >= model.inertial]
    last = model.body_slice(-1)
    # Both in one system: base parameters, frictions of each, the payload's ten, last its mass.
    rows = np.concatenate([
        np.concatenate([own[:, :, inertial], (1 - k) * own[:, :, terms], k * own[:, :, terms],
                        k * np.roll(own[:, :, last], -1, axis=2)], axis=2)
        for k, own in enumerate((unloaded.regressor, loaded.regressor))])
    effort = np.concatenate([unloaded.effort, loaded.effort])
    every = np.concatenate([rows, effort[..., None]], axis=2)
    stacked = triangle(every.transpose(1, 0, 2)).reshape(-1, every.shape[2])
    joint = np.repeat(np.arange(count), every.shape[2])
    lengths = np.maximum(np.linalg.norm(stacked[:, :-2], axis=0), _TINY)
    y, pull, current = stacked[:, :-2] / lengths, mass * stacked[:, -2], stacked[:, -1]
    # All on the side of torques: linear, but biased by the noise of the currents.
    first = np.linalg.lstsq(np.column_stack([
        np.eye(count)[joint] * current[:, None], -y]), pull, rcond=None)[0]
    x, noise = np.append(1.0 / np.abs(first[:count]), first[count:]), np.ones(count)

    def errors(x: Array, noise: Array) -> Array:
        return np.asarray((current - x[joint] * (y @ x[count:] + pull)) / noise[joint])

    for _ in range(_ROUNDS):
        found = least_squares(errors, x, args=(noise,), x_scale="jac", xtol=1e-12, ftol=1e-12)
        x, gain = found.x, 1.0 / found.x[:count]
        noise = equivalent_white_noise(effort - rows @ np.append(x[count:] / lengths, mass) / gain,
                                       np.full(count, _TINY))
    if not (np.isfinite(gain).all() and (gain > 0.0).all()):
        raise NotEnoughData(
            "the recordings do not determine the gain of every joint (found: "
            f"{np.round(gain, 2).tolist()} N m/A); do both move all, and one with the payload?")
    root = gain[:, None] * np.linalg.pinv(found.jac)[:count]
    return Drives(gain, root @ root.T)
