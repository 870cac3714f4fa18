# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Drive gains from motor currents, with a known mass carried and not carried.

``current_j = (Y_j phi) / k_j`` with the gain k_j [N m/A] of joint j. Torque models are homogeneous:
without a known mass every gain and every mass could be doubled. A recording without and one with a
payload of known mass fix the scale (Gautier and Briot 2014: total least squares on both; here the
errors are in the currents alone). Friction is each recording's own, as it changes with load and
temperature; inertia and, but for its mass, the payload are unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidData, NotEnoughData
from ..inertia import Array
from .base_parameters import structural_base_parameters
from .factors import equivalent_white_noise
from .model import BODY_SIZE, RobotModel
from .recording import FilteredRecording

_ROUNDS = 50
_SETTLED = 1e-9  # relative change of the gains at which the search ends


@dataclass(frozen=True)
class Gains:
    """Gains of the drives, and the payload seen with them.

    Attributes:
        gain: (joints,) [N m/A] (or effort per unit of what was recorded).
        covariance: (joints, joints) of the gains, the correlation of residuals included.
        payload: (10,) the payload about the origin of the last link, in its axes.
        payload_sigma: (10,).
        rms: (joints,) root mean square residual of the currents [A].
    """

    gain: Array
    covariance: Array
    payload: Array
    payload_sigma: Array
    rms: Array

    @property
    def sigma(self) -> Array:
        """Standard deviations (joints,) of the gains."""
        return np.sqrt(np.diag(self.covariance))


def gains_from_payload(model: RobotModel, unloaded: FilteredRecording, loaded: FilteredRecording,
                       mass: float) -> Gains:
    """Gains of all drives from recordings without and with a payload of known mass [kg].

    Raises:
        InvalidData: the mass is not positive. NotEnoughData: the search does not settle.
    """
    if not mass > 0.0:
        raise InvalidData(f"mass of the payload is {mass:g} kg; it must be positive")
    return _search(TwoRecordings(model, unloaded, loaded), mass)


def _search(pair: TwoRecordings, mass: float) -> Gains:
    """Gains by Gauss-Newton steps (raises NotEnoughData)."""
    count = pair.count
    gain, weights = pair.first_gains(mass), np.ones(count)
    start = pair.columns_of_payload
    for _ in range(_ROUNDS):
        x = pair.solve_parameters(gain, weights, mass)
        torque = pair.rows @ x
        # Gauss-Newton on currents: change of 1 / gain, and of all parameters but the mass.
        slopes = np.concatenate([pair.spread_by_joint(torque), np.delete(pair.rows, start, axis=1)
                                 / gain[pair.joint][:, None]], axis=1)
        residual = pair.current - torque / gain[pair.joint]
        solved = pair.solve(slopes, residual, weights)
        inverse = 1.0 / gain + solved[:count]
        if not (np.isfinite(inverse).all() and np.all(inverse > 0.0)):
            raise NotEnoughData("the recordings do not determine the gain of every joint")
        moved = 1.0 / inverse
        rms = pair.rms(residual)
        settled = float(np.abs(moved / gain - 1.0).max()) < _SETTLED
        gain, weights = moved, 1.0 / rms
        if settled:
            break
    else:
        raise NotEnoughData("the search for the gains does not settle")
    x = pair.solve_parameters(gain, weights, mass)
    spread = pair.covariance(slopes, weights, pair.correlation(x, gain))
    sigma = np.append(0.0, np.sqrt(np.diag(spread)[count + start:]))  # the mass is known
    return Gains(gain, np.outer(gain**2, gain**2) * spread[:count, :count], x[start:], sigma, rms)


class TwoRecordings:
    """Both recordings in one system of torques: base parameters, frictions, payload.

    Attributes:
        rows: (n, columns); current: (n,); joint: (n,) joint of each row: one triangular factor a
            joint stands for all its samples.
        columns_of_payload: first of the ten columns of the payload, which are the last.
        count: number of joints.
    """

    def __init__(self, model: RobotModel, unloaded: FilteredRecording,
                 loaded: FilteredRecording) -> None:
        base = structural_base_parameters(model)
        bodies = BODY_SIZE * len(model.bodies)
        inertial = base.independent[base.independent < bodies]
        terms = base.independent[base.independent >= bodies]
        last = model.body_slice(len(model.bodies) - 1)
        parts, currents, joints = [], [], []
        self._sizes = (len(unloaded.effort), len(loaded.effort))
        for k, recording in enumerate((unloaded, loaded)):
            y = recording.regressor.reshape(-1, model.size)
            nothing = np.zeros((len(y), len(terms)))
            friction = [y[:, terms], nothing] if k == 0 else [nothing, y[:, terms]]
            parts.append(np.concatenate([y[:, inertial], *friction,
                                         k * y[:, last]], axis=1))
            currents.append(recording.effort.ravel())
            joints.append(np.tile(np.arange(model.nv), len(recording.effort)))
        system = np.column_stack([np.concatenate(parts), np.concatenate(currents)])
        of_joint = np.concatenate(joints)
        factors = [np.asarray(np.linalg.qr(system[of_joint == j], mode="r"))
                   for j in range(model.nv)]
        self.rows, self.current = np.split(np.concatenate(factors), [system.shape[1] - 1], axis=1)
        self.current = self.current[:, 0]
        self.joint = np.repeat(np.arange(model.nv), [len(f) for f in factors])
        self.columns_of_payload = self.rows.shape[1] - BODY_SIZE
        self._samples = np.bincount(of_joint, minlength=model.nv)
        self.count = model.nv
        self._system = system

    def spread_by_joint(self, values: Array) -> Array:
        """Columns (n, joints): each holds the values (n,) of the rows of one joint, else zeros."""
        out = np.zeros((len(values), self.count))
        out[np.arange(len(values)), self.joint] = values
        return out

    def rms(self, residual: Array) -> Array:
        """Root mean square (joints,)."""
        return np.sqrt(np.bincount(self.joint, residual**2, self.count) / self._samples)

    def correlation(self, x: Array, gain: Array) -> Array:
        """How many times larger than for white residuals standard deviations are (joints,): the
        unmodelled part of friction repeats itself for many samples."""
        rows, current = self._system[:, :-1], self._system[:, -1]
        torque = (rows @ x).reshape(-1, self.count)
        residual = current.reshape(-1, self.count) - torque / gain
        parts = np.split(residual, [self._sizes[0]])
        nothing = np.full(self.count, np.finfo(float).tiny)
        square = sum(len(part) * equivalent_white_noise(part, nothing)**2 for part in parts)
        return np.sqrt(square / sum(len(part) * np.mean(part**2, axis=0) for part in parts))

    def solve(self, rows: Array, target: Array, weights: Array) -> Array:
        """Least squares, weighted by joint (joints,)."""
        inverse, lengths, goal = self._triangle(rows, target, weights)
        return np.asarray(inverse @ goal / lengths)

    def covariance(self, rows: Array, weights: Array, correlation: Array) -> Array:
        """Covariance of such a solution, for residuals of 1 / weights that repeat themselves."""
        inverse, lengths, _ = self._triangle(rows, self.current, weights)
        scaled = rows / lengths * (weights * correlation)[self.joint][:, None]
        root = scaled @ (inverse @ inverse.T)
        return np.asarray(root.T @ root / np.outer(lengths, lengths))

    def _triangle(self, rows: Array, target: Array, weights: Array) -> tuple[Array, Array, Array]:
        """Inverse of the triangular factor of weighted rows with columns of unit length, these
        lengths, and the target on the factor's rows."""
        scaled = rows * weights[self.joint][:, None]
        lengths = np.linalg.norm(scaled, axis=0)
        lengths[lengths == 0.0] = 1.0
        system = np.column_stack([scaled / lengths, target * weights[self.joint]])
        upper = np.asarray(np.linalg.qr(system, mode="r"))
        size = rows.shape[1]
        return np.linalg.pinv(upper[:size, :size]), lengths, upper[:size, size]

    def first_gains(self, mass: float) -> Array:
        """Gains by one linear least squares on torques, all unknowns on one side."""
        unknown = np.delete(self.rows, self.columns_of_payload, axis=1)
        system = np.concatenate([self.spread_by_joint(self.current), -unknown], axis=1)
        solved = self.solve(system, mass * self.rows[:, self.columns_of_payload],
                            np.ones(self.count))
        gain = solved[:self.count]
        if not np.all(gain > 0.0):
            raise NotEnoughData("the recordings do not determine the gain of every joint "
                                f"(first guess: {np.round(gain, 2).tolist()} N m/A)")
        return gain

    def solve_parameters(self, gain: Array, weights: Array, mass: float) -> Array:
        """All columns' parameters for given gains, with the payload's mass."""
        start = self.columns_of_payload
        scale = 1.0 / gain[self.joint]
        known = self.current - scale * mass * self.rows[:, start]
        solved = self.solve(np.delete(self.rows, start, axis=1) * scale[:, None], known,
                            weights)
        return np.insert(solved, start, mass)
