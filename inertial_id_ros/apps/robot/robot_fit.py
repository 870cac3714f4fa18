# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From filtered rows to a robot: weights near rest, noise, the fit, and what to say of it.

Intervals hold if the model does. Friction that falls off with speed, left out, moves the bodies by
several of their standard deviations. Each joint's friction is therefore compared with one that has
a richer curve of speed (a Lagrange-multiplier test; as in Hausman 1978, an estimate that is best if
the model is right against one that needs to assume less). Where one's curve is not what the model
says, the intervals hold both answers, with richer curves for all joints and without.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from ...errors import InvalidData
from ...inertia import Array, is_consistent
from ...robot.base_parameters import structural_base_parameters
from ...robot.consistent_fit import Described, Prior, identify_described
from ...robot.constraints import consistent_robot
from ...robot.joint_terms import mean_sign
from ...robot.model import BODY_SIZE, RobotModel
from ...robot.recording import (
    BIN,
    WINDOW,
    Compressed,
    FilteredRecording,
    JointRecording,
    equivalent_white_noise,
    filter_columns,
    friction_in_doubt,
    moving_weights,
    rest_weights,
)
from ...robot.reference import Reference, description_reference
from ..report.results import CONFIDENCE_95, interval

SMALLEST = 1e-6  # of a joint's torque: what the model leaves at least
_LEAST_FREE = 0.1  # part of the rows of a joint that a fit leaves free at least


@dataclass(frozen=True)
class FreeFit:
    """Least squares without constraints.

    Attributes:
        phi: (p,); rms: (joints,) of the weighted residual [N m].
        weights: (r, joints) of the rows; data: the factors of the rows times these.
        doubt: (joints,) friction that may act either way in rows near rest [N m].
        noise: (joints,) of independent rows that say as much [N m].
    """

    phi: Array
    rms: Array
    weights: Array
    data: Compressed
    noise: Array
    doubt: Array


@dataclass(frozen=True)
class RobotFit:
    """The robot of filtered rows.

    Attributes:
        model: its regressor; described: the robot; covariance: (p, p); rms, doubt: see `FreeFit`.
        best: (p,) the robot that data and prior ask for, constraints not counted.
        own_covariance: (p, p) without that of gains.
        noise: (joints,) of independent rows that say as much as the rows do [N m].
        follow: (p, joints) growth of the parameters with the torques of each joint, relative.
    """

    model: RobotModel
    described: Described
    covariance: Array
    rms: Array
    doubt: Array
    best: Array
    own_covariance: Array
    noise: Array
    follow: Array

    def weights(self, rows: FilteredRecording) -> Array:
        """Weights (r, joints) of rows, less where a joint rests, creeps or turns back."""
        return rest_weights(self.model, rows.regressor, self.doubt, self.rms)


def fit_robot(model: RobotModel, rows: FilteredRecording, level: RobotModel, weight: float,
              gain_spread: Array | None = None) -> RobotFit:
    """The robot that fits filtered rows.

    Args:
        level: the model under gravity along an axis of its root, for the base parameters.
        weight: of the description, see `identify_described`.
        gain_spread: (joints, joints) covariance of the relative errors of the drives' gains, with
            which torques were computed from currents; None: torques were measured.

    Raises:
        InvalidData: numbers beyond those of a robot. InfeasibleProblem: no robot can have them.
    """
    base, design = structural_base_parameters(level), description_reference(model)
    free = fit_unconstrained(model, rows)
    noise = free.noise * _undo_fit(free, design)
    found = identify_described(free.data, base, consistent_robot(model, like=design), design,
                               len(model.bodies), noise, weight)
    own = covariance = _covariance(free.data, noise, found.prior)
    follow = covariance @ np.stack([factor[:, :-1].T @ factor[:, -1] / sd**2 for factor, sd in
                                    zip(free.data.factors, noise, strict=True)], axis=1)
    if gain_spread is not None and gain_spread.any():
        covariance = covariance + follow @ gain_spread @ follow.T
        found = replace(found, identified=replace(
            found.identified, sigma=np.sqrt(np.maximum(np.diag(covariance), 0.0))))
    before, expected = found.prior.rows()
    best = follow.sum(axis=1) + own @ (before.T @ expected)
    return RobotFit(model, found, covariance, free.rms, free.doubt, best, own, noise, follow)


def fit_unconstrained(model: RobotModel, rows: FilteredRecording) -> FreeFit:
    """Least squares, rows near rest weighted by the friction of a first fit, which leaves them out.

    Raises:
        InvalidData: numbers beyond those of a robot.
    """
    scale = description_reference(model)
    least = np.maximum(SMALLEST * np.sqrt(np.mean(rows.effort**2, axis=0)), 1e-9)
    noise = np.maximum(np.std(rows.effort, axis=0), least)
    weights = moving_weights(model, rows.regressor)
    rms = noise
    doubt: Array = np.zeros(len(model.output_names))
    for last in (False, True):
        data = rows.compress(weights)
        for _ in range(2):
            phi = _least_squares(data, noise, scale)
            error = rows.effort - rows.regressor @ phi
            left = weights * error
            noise = equivalent_white_noise(left, least)
        rms = np.maximum(np.sqrt(np.mean(left**2, axis=0) / np.mean(weights**2, axis=0)), least)
        if not last:
            doubt = friction_in_doubt(model, rows.regressor, phi, error, rms)
            weights = rest_weights(model, rows.regressor, doubt, rms)
    rms = np.maximum(np.sqrt(np.mean(left**2, axis=0)), least)
    return FreeFit(phi, rms, weights, data, noise, doubt)


def _least_squares(data: Compressed, noise: Array, scale: Reference) -> Array:
    """Least squares without constraints (p,); like the reference where data say nothing."""
    factor = data.stack(noise)
    rows = factor[:, :-1] @ scale.unit
    start = scale.inverse @ scale.phi
    try:
        step = np.linalg.lstsq(rows, factor[:, -1] - rows @ start, rcond=1e-9)[0]
    except np.linalg.LinAlgError:
        raise InvalidData("no robot can be fitted to these numbers: positions or torques are far "
                          "beyond those of a robot") from None
    return scale.unit @ (start + step)


def _undo_fit(free: FreeFit, scale: Reference) -> Array:
    """Factors (joints,) by which the noise is larger than a least-squares fit leaves it.

    Of the N independent rows that stand for a joint's, the fit used up the trace of its part of the
    hat matrix.
    """
    data, noise = free.data, free.noise
    s, right = np.linalg.svd(data.stack(noise)[:, :-1] @ scale.unit)[1:]
    known = s > 1e-9 * s.max(initial=0.0)
    across = scale.unit @ right[known].T / s[known]
    used = np.array([np.sum((factor[:, :-1] @ across)**2) for factor in data.factors]) / noise**2
    independent = data.counts * (free.rms / noise)**2
    return np.sqrt(1.0 / np.maximum(1.0 - used / np.maximum(independent, 1.0), _LEAST_FREE))


def _covariance(data: Compressed, noise: Array, prior: Prior) -> Array:
    """Covariance (p, p) of what data and prior know, constraints not counted."""
    rows = data.stack(noise)[:, :-1]
    unit = prior.scale.unit
    stacked = np.concatenate([rows, prior.rows()[0]]) @ unit
    information = stacked.T @ stacked
    spread = unit @ np.linalg.pinv(information, hermitian=True) @ unit.T
    return np.asarray(0.5 * (spread + spread.T))


def compare_with_description(model: RobotModel, fitted: Described, covariance: Array) -> list[str]:
    """Where data and description disagree by more than their intervals, and on which bodies.

    Args:
        covariance: (p, p) of the identified parameters.
    """
    notes = []
    nominal, phi = model.nominal, fitted.identified.phi
    described = [is_consistent(nominal[model.body_slice(k)]) for k in range(len(model.bodies))]
    for k in np.flatnonzero(fitted.doubt.contradicted & described):
        m = model.body_slice(int(k)).start
        spread = CONFIDENCE_95 * float(np.sqrt(covariance[m, m]))
        mass = ""
        if abs(phi[m] - nominal[m]) > spread:
            mass = (f" (mass {interval(phi[m], spread, True)} kg, described "
                    f"{nominal[m]:.3g} kg)")
        notes.append(f"the recording contradicts the description of {model.bodies[k]} by far{mass}:"
                     " is there a load or gripper that the description lacks?")
    others = [model.bodies[k] for k in np.flatnonzero(
        fitted.doubt.differs & ~fitted.doubt.contradicted & described)]
    if others:
        notes.append("bodies that differ from the description by more than the intervals of both: "
                     + ", ".join(others))
    if fitted.prior.weight < 1.0:
        notes.append("no robot like the description explains the torques as well as they can be "
                     "explained, so that it was trusted less; a term of the joints may be missing "
                     "(--terms), or the description may be of another robot")
    return notes


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
