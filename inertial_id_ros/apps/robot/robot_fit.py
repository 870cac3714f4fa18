# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From filtered rows to a robot: weights near rest, noise, the fit, and how it differs from the
description."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import InvalidData
from ...inertia import Array, is_consistent
from ...robot.base_parameters import structural_base_parameters
from ...robot.consistent_fit import Described, Prior, identify_described, summarise
from ...robot.factors import Compressed, equivalent_white_noise
from ...robot.model import RobotModel
from ...robot.recording import FilteredRecording
from ...robot.reference import Reference, description_reference
from ...robot.rest_rows import friction_in_doubt, moving_weights, rest_weights
from ..report.results import CONFIDENCE_95, interval
from .methods import Approach

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
        follow: (p, joints) growth of the parameters with the torques of each joint, relative.
    """

    model: RobotModel
    described: Described
    covariance: Array
    rms: Array
    doubt: Array
    follow: Array

    def weights(self, rows: FilteredRecording) -> Array:
        """Weights (r, joints) of rows, less where a joint rests, creeps or turns back."""
        return rest_weights(self.model, rows.regressor, self.doubt, self.rms)


def fit_robot(model: RobotModel, rows: FilteredRecording, level: RobotModel, weight: float,
              gain_spread: Array | None = None, approach: Approach | None = None) -> RobotFit:
    """The robot that fits filtered rows.

    Args:
        level: the model under gravity along an axis of its root, for the base parameters.
        weight: of the description, see `identify_described`.
        gain_spread: (joints, joints) covariance of the relative errors of the drives' gains, with
            which torques were computed from currents; None: torques were measured.
        approach: method and limits; None: `lmi`, bodies that exist. Standard deviations are those
            of data and description, whatever the method.

    Raises:
        InvalidData: numbers beyond those of a robot. InfeasibleProblem: no robot can have them.
    """
    base, design = structural_base_parameters(level), description_reference(model)
    free = fit_unconstrained(model, rows)
    noise = free.noise * _undo_fit(free, design)
    approach = approach if approach is not None else Approach()
    found = identify_described(free.data, base, approach.limits(model, design), design,
                               len(model.bodies), noise, weight)
    if approach.method != "lmi":
        phi = approach.fit(model, free.data, base, design, noise)
        found = replace(found, identified=summarise(free.data, phi, found.prior, noise))
    covariance = _covariance(free.data, noise, found.prior)
    follow = covariance @ np.stack([factor[:, :-1].T @ factor[:, -1] / sd**2 for factor, sd in
                                    zip(free.data.factors, noise, strict=True)], axis=1)
    if gain_spread is not None and gain_spread.any():
        covariance = covariance + follow @ gain_spread @ follow.T
        found = replace(found, identified=replace(
            found.identified, sigma=np.sqrt(np.maximum(np.diag(covariance), 0.0))))
    return RobotFit(model, found, covariance, free.rms, free.doubt, follow)


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
    doubt: Array = np.zeros(model.nv)
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
