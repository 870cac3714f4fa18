# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A guard against friction that the terms of the joints lack.

Intervals hold if the model does. Friction that falls off with speed, left out, moves the bodies by
several of their standard deviations. Each joint's friction is therefore compared with one that has
a richer curve of speed (a Lagrange-multiplier test; as in Hausman 1978, an estimate that is best if
the model is right against one that needs to assume less). Where one's curve is not what the model
says, the intervals hold both answers, with richer curves for all joints and without.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from ...inertia import Array
from ...robot.joint_terms import mean_sign
from ...robot.model import BODY_SIZE, RobotModel
from ...robot.recording import BIN, WINDOW, FilteredRecording, JointRecording, filter_columns
from .robot_fit import RobotFit

_SPEEDS = (0.05, 0.15)  # rad/s at which the richer curve falls off
_CURVES = len(_SPEEDS) + 1  # and a quadratic one
_RARE = 1e-3  # chance at which right terms of a robot would be called wrong ones
_ROUNDING = 1e-9  # relative variance below which a curve says nothing that the model does not


class MissingFriction(NamedTuple):
    """What richer curves of friction would change.

    Attributes:
        joints: names of those whose friction is not what the model says.
        covariance: (p, p) that this adds to that of the parameters.
    """

    joints: tuple[str, ...]
    covariance: Array


def find_missing_friction(model: RobotModel, recording: JointRecording, rows: FilteredRecording,
                          fitted: RobotFit, delay: float, low_pass: float) -> MissingFriction:
    """Joints whose friction has another curve than their terms, and what it does to all parameters.

    Args:
        rows: of the recording, that the robot was fitted to; delay: of the efforts [s].
    """
    joints = len(model.joint_names)
    first = len(model.output_names) - joints
    curves = _curves(model, recording, delay, low_pass)
    weight = fitted.weights(rows)[:, first:] / fitted.noise[first:]
    largest = _friction(model, rows, fitted.best)[:, None] / np.abs(curves).max(axis=0)
    curves = curves * weight[..., None]
    error = (rows.effort - rows.regressor @ fitted.best)[:, first:] * weight
    across = np.zeros((model.size, joints, _CURVES))
    for part in rows.regressor.parts():
        own = rows.regressor[part][:, first:] * weight[part, :, None]
        across += np.einsum("rjp,rjk->pjk", own, curves[part], optimize=True)
    flat = across.reshape(model.size, -1)
    moved = -fitted.own_covariance @ flat  # of all parameters, by a unit of each curve
    left = flat.T @ moved
    inside = np.einsum("rjk,rjl->jkl", curves, curves)
    for j in range(joints):
        where = slice(_CURVES * j, _CURVES * (j + 1))
        left[where, where] += inside[j]
    score = np.einsum("rj,rjk->jk", error, curves)
    wrong = []
    for j in range(joints):
        where = slice(_CURVES * j, _CURVES * (j + 1))
        spread = np.linalg.pinv(left[where, where], rcond=_ROUNDING, hermitian=True)
        if chi2.sf(score[j] @ spread @ score[j], _CURVES) < _RARE / joints:
            wrong.append(j)
    if not wrong:
        return MissingFriction((), np.zeros((model.size, model.size)))
    # Those of the other joints count as well: what one joint has, its like will have. No curve is
    # much larger than all the friction of its joint: without that, curves that the motion does not
    # tell from the model's would widen intervals without end.
    spread = np.linalg.inv(left + np.diag(largest.ravel()**-2.0))
    change = moved @ spread @ score.ravel()
    return MissingFriction(tuple(model.joint_names[j] for j in wrong), np.asarray(
        np.outer(change, change) + moved @ spread @ moved.T))


def _friction(model: RobotModel, rows: FilteredRecording, phi: Array) -> Array:
    """Root mean square (joints,) of the torque that the bodies of phi (p,) do not explain [N m]."""
    bodies = phi.copy()
    bodies[BODY_SIZE * len(model.bodies):] = 0.0
    left = rows.effort - rows.regressor @ bodies
    return np.asarray(np.sqrt(np.mean(left**2, axis=0)))[-len(model.joint_names):]


def _curves(model: RobotModel, recording: JointRecording, delay: float, low_pass: float) -> Array:
    """Low-passed curves of friction (r, joints, curves)."""
    joints = len(model.joint_names)

    def columns(q: Array, dq: Array, ddq: Array) -> Array:
        del q
        dq, ddq = dq[:, -joints:], ddq[:, -joints:]
        sign = mean_sign(dq, ddq, model.terms.coulomb_velocity, BIN)
        out = [sign * np.exp(-(dq / speed)**2) for speed in _SPEEDS]
        return np.stack([*out, dq * np.abs(dq)], axis=-1).reshape(len(dq), -1)

    felt = np.zeros((recording.effort.shape[1], _CURVES), dtype=bool)
    felt[-joints:] = True
    rows = filter_columns(columns, felt, recording, delay, WINDOW, low_pass)
    return rows.regressor[:][:, -joints:]
