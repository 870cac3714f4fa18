# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tells the accelerations of a base that moves from what else is left of the wrench.

An acceleration b(t) of the base adds the force ``m b`` in the centre of mass, horizontal where the
base stays level. As a polyline in time it is fitted beside a rigid payload and the errors of a
set-up that look alike: a tilt of gravity, a turned sensor, a delay. A contact or a cable does not
pull at the centre of mass; a payload that pours does so vertically, which is tried as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...inertia import PARAMETERS, Array, skew
from ...signals.bins import BIN_NS

BASE_MOVES = "residual_large.base"  # finding
_STEP = 1e-9 * BIN_NS
_GROUP = 5  # bins that are averaged
_KNOTS = 0.25  # s from one corner of the polyline to the next
_PRIOR = 0.5  # m/s^2, standard deviation of the acceleration at a corner
_ROUNDS = 3  # in which mass and centre of mass settle
# Share of the residual beyond noise that it must explain, more than that of any noise it is
# [standard deviations of a sample], and least and largest root mean square of the acceleration
# [m/s^2].
_EXPLAINED, _LOUD, _LEAST, _LARGEST = 0.86, 2.5, 0.06, 2.0
# Most that it may be, times what is left of the force shows at least: what errors of a set-up hide
# of it, it may as well be itself.
_HIDDEN = 2.0
_UPWARDS_WORSE = 4.0  # least residual with vertical accelerations in place of them, over theirs
_RIDGE = 1e-10
_DRIFTS = 12  # the zeros, and how they drift
_UPWARDS = slice(_DRIFTS + PARAMETERS + 8, _DRIFTS + PARAMETERS + 12)  # of constant forces
_GRAVITY = 9.81  # m/s^2, near enough


class BaseMoves(NamedTuple):
    """A base that moves: root mean square of its horizontal acceleration [m/s^2], and phi (10,)
    fitted beside it."""

    size: float
    phi: Array


def find_base_motion(columns: Array, axes: Array, noise: Array) -> BaseMoves | None:
    """The motion of the base that explains what is left of the wrench, if one does.

    Args:
        columns: (k, 6, 11) regressor and wrench ``[A | y]`` of successive bins; axes: (k, 3, 3)
            those of the gravity frame, as rows along those of the sensor; noise: (6,) of one bin.
    """
    weight = 1.0 / noise[:, None]
    groups = len(columns) // _GROUP
    columns, axes = (
        values[:groups * _GROUP].reshape(groups, _GROUP, *values.shape[1:]).mean(axis=1)
        for values in (columns, axes))
    wrench = (columns[..., -1:] * weight).reshape(-1)
    rigid = (_rigid_columns(columns, axes) * weight).reshape(len(wrench), -1)
    still = _fit(rigid, wrench, np.zeros(rigid.shape[1]))
    before = _squares(wrench - rigid @ still)
    of_noise = 0.5 * (len(wrench) - rigid.shape[1]) / _GROUP
    loud = before > (1.0 + _LOUD)**2 * of_noise
    if _weight(still)[0] <= 0.0 or not loud[0]:
        return None
    corners = _corners(groups)

    def moved_along(which: slice) -> tuple[Array, Array, float]:
        """The solution with accelerations along some of the axes of the room, the sums of squares
        that it leaves, and the root mean square of the acceleration."""
        found = still
        for _ in range(_ROUNDS):
            pulls = _pulls(_weight(found), axes[:, which]) * weight
            more = (corners[:, None, :, None] * pulls[:, :, None]).reshape(len(wrench), -1)
            rows = np.hstack([rigid, more])
            found = _fit(rows, wrench, np.repeat([0.0, 1.0 / _PRIOR**2],
                                                 [rigid.shape[1], more.shape[1]]))
        moved = corners @ found[rigid.shape[1]:].reshape(corners.shape[1], -1)
        return found, _squares(wrench - rows @ found), float(np.linalg.norm(moved.std(axis=0)))

    found, after, size = moved_along(slice(0, 2))
    # Force and torque each: a contact elsewhere has another lever.
    explained = (before - after) / (before - of_noise)
    shown = float(np.sqrt(before[0] / groups)) * noise[0] / _weight(found)[0]
    if (explained[loud].min() < _EXPLAINED or not _LEAST < size < min(_LARGEST, _HIDDEN * shown)
            or moved_along(slice(2, 3))[1].sum() < _UPWARDS_WORSE * after.sum()):
        return None
    return BaseMoves(size, np.r_[_weight(found), found[_DRIFTS + 4:_DRIFTS + PARAMETERS]])


def _fit(rows: Array, values: Array, prior: Array) -> Array:
    """Least squares (n,) of rows (m, n), with the information (n,) of a prior about zero."""
    normal = rows.T @ rows
    scale = 1.0 / np.sqrt(normal.diagonal() + prior + 1e-12)
    normal = scale[:, None] * (normal + np.diag(prior)) * scale
    return np.asarray(scale * np.linalg.solve(normal + _RIDGE * np.eye(len(normal)),
                                              scale * (rows.T @ values)))


def _weight(found: Array) -> Array:
    """Mass and first moment (4,) of all that weighs, by the solution of a fit: they are better
    known than those of what is accelerated, where a hand may hold a part."""
    return np.asarray(found[_DRIFTS:_DRIFTS + 4] + found[_UPWARDS] / _GRAVITY)


def _squares(residual: Array) -> Array:
    """Sums of squares (2,) of forces and of torques, from those of all channels in turn (6 g,)."""
    return np.asarray((residual.reshape(-1, 2, 3) ** 2).sum(axis=(0, 2)))


def _rigid_columns(columns: Array, axes: Array) -> Array:
    """Columns (g, 6, n) of zeros and how they drift, phi, forces that are constant in the room (a
    tilt of gravity, a resting hand), a turned sensor, and delays of force and torque."""
    count, wrench = len(columns), columns[..., -1]
    zeros = np.broadcast_to(np.eye(6), (count, 6, 6))
    drift = np.linspace(-1.0, 1.0, count)[:, None, None] * zeros
    force, torque = wrench[:, :3], wrench[:, 3:]
    turned = -np.concatenate([skew(force), skew(torque)], axis=1)
    late = np.zeros((count, 6, 2))
    late[:, :3, 0], late[:, 3:, 1] = (np.gradient(part, axis=0) for part in (force, torque))
    return np.concatenate([zeros, drift, columns[..., :PARAMETERS], _constant_pulls(axes), turned,
                           late], axis=2)


def _constant_pulls(axes: Array) -> Array:
    """Columns (g, 6, 12) of constant accelerations in the room, times mass and first moment."""
    out = np.zeros((len(axes), 6, 3, 4))
    for k in range(3):
        across = axes[:, k]
        out[:, :3, k, 0] = across
        out[:, 3:, k, 1:] = -skew(across)
    return out.reshape(len(axes), 6, 12)


def _pulls(load: Array, axes: Array) -> Array:
    """Wrench (g, 6, n) on a body of this mass and first moment (4,) by unit accelerations along
    axes (g, n, 3)."""
    return np.concatenate([load[0] * axes, np.cross(load[1:], axes)], axis=2).transpose(0, 2, 1)


def _corners(groups: int) -> Array:
    """Shares (g, c) of the corners of a polyline in successive groups of bins."""
    time = np.arange(groups) * _GROUP * _STEP / _KNOTS
    return np.clip(1.0 - np.abs(time[:, None] - np.arange(int(time[-1]) + 2)), 0.0, 1.0)
