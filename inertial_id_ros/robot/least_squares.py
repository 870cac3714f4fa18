# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least squares on rows of a recording: their scale, triangular factors, weights near rest.

A reference robot is the scale of every problem and, where asked, its prior. In coordinates u with
``phi = unit u`` its bodies are unit matrices (`estimators.reference_body`, one body after the
other, in units of its mass) and joint terms are in SI units. A standard deviation of 1 in u means:
a body like the reference, to 100 % of it, whatever axes and units.

``|F_j [phi; -1]|^2`` is the sum of squared residuals of output j over all samples (Sousa and
Cortesao 2014, eqs 64-71, one joint at a time, so that joints can be weighted afterwards).

Where a joint hardly moves, its friction is anything between the two directions'. The model holds
``c fc`` with ``|c| < 1`` there, ``c`` the low-passed (fading) sign of the velocity. A motion that
begins and ends smoothly creeps for a second; rows of full weight would then have the other
parameters make up for friction that is there, and that the model lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidData
from ..estimators.reference_body import body_coordinates
from ..inertia import Array, is_consistent, phi_from_body
from ..linalg import triangle
from .model import BODY_SIZE, RobotModel
from .recording import Rows

DEFAULT_MASS = 1.0  # kg, of a body the description says nothing about
DEFAULT_RADIUS = 0.05  # m, root mean square along each axis
_SMALLEST = 1e-6  # of a joint's torque: what the model leaves at least
_LEAST = 1e-3  # weight of a row before friction is known
_LEAST_FREE = 0.1  # part of the rows of a joint that a fit leaves free at least


@dataclass(frozen=True)
class Reference:
    """Parameters of a consistent robot of about the right size.

    Attributes:
        phi: (p,).
        unit: (p, p), ``phi = unit u``; block diagonal.
        inverse: its inverse.
    """

    phi: Array
    unit: Array
    inverse: Array

    def scaled(self, spread: Array) -> Reference:
        """The same robot with units times spread (p,): what a prior on it allows."""
        return Reference(self.phi, self.unit * spread, self.inverse / spread[:, None])


def make_reference(phi: ArrayLike, bodies: int) -> Reference:
    """The reference of given parameters (p,): `bodies` times ten of consistent bodies, then joint
    terms, of size 1."""
    p = np.array(phi, dtype=float)
    unit, inverse = np.eye(len(p)), np.eye(len(p))
    for k in range(bodies):
        where = slice(BODY_SIZE * k, BODY_SIZE * (k + 1))
        mass = p[where][0]
        body = body_coordinates(p[where] / mass)
        unit[where, where] = mass * body.to_phi
        inverse[where, where] = body.from_phi / mass
    return Reference(p, unit, inverse)


def description_reference(model: RobotModel) -> Reference:
    """The description as a reference, as `make_reference` makes one; a body that is not consistent
    there is a ball of its mass about its centre, of 0.05 m along each axis (rms), and of 1 kg at
    its joint where it has no mass."""
    phi = model.nominal
    for k in range(len(model.bodies)):
        own = phi[model.body_slice(k)]
        if not is_consistent(own):
            mass, centre = (own[0], own[1:4] / own[0]) if own[0] > 0.0 else (
                DEFAULT_MASS, np.zeros(3))
            phi[model.body_slice(k)] = phi_from_body(
                mass, centre, 2.0 * mass * DEFAULT_RADIUS**2 * np.eye(3))
    return make_reference(phi, len(model.bodies))


@dataclass(frozen=True)
class Compressed:
    """Factors of a recording.

    Attributes:
        factors: (k, p + 1, p + 1), one for each output (joint, or row of the floating base).
        count: samples in each.
    """

    factors: Array
    count: int

    @property
    def size(self) -> int:
        """Number p of parameters."""
        return self.factors.shape[2] - 1

    def squares(self, phi: Array) -> Array:
        """Sum of squared residuals (k,) of each output, for parameters (p,)."""
        return np.sum((self.factors @ np.append(phi, -1.0))**2, axis=1)

    def stack(self, noise: Array | None = None) -> Array:
        """Factor (p + 1, p + 1) of all outputs, each divided by its noise (k,) [N m]; None: 1."""
        rows, outputs = self._rows
        return triangle(rows if noise is None else rows / noise[outputs, None])

    @cached_property
    def _rows(self) -> tuple[Array, np.ndarray]:
        """All rows of the factors that are not zero (n, p + 1), and the output of each (n,)."""
        used = self.factors.any(axis=2)
        return self.factors[used], np.nonzero(used)[0]


def compress_rows(rows: Array, target: Array) -> Compressed:
    """Factors of regressor rows (n, k, p) and measured outputs (n, k)."""
    return Compressed(factors_of_joints(np.concatenate([rows, target[..., None]], axis=2)),
                      len(rows))


def factors_of_joints(rows: Array) -> Array:
    """Triangular factors (k, width, width) of rows (n, k, width) of k joints.

    A joint feels only what lies beyond it: most columns of most joints are zero.
    """
    factors = np.zeros((rows.shape[1], rows.shape[2], rows.shape[2]))
    for j, factor in enumerate(factors):
        columns = np.flatnonzero(rows[:, j].any(axis=0))
        upper = triangle(rows[:, j, columns])
        factor[np.ix_(np.arange(len(upper)), columns)] = upper
    return factors


def equivalent_white_noise(residual: Array, least: Array) -> Array:
    """Noise (k,) of independent rows that carry as much information as these correlated ones.

    The root mean square times the root of the integrated autocorrelation time, ``1 + 2 sum rho``,
    summed until its first pair of lags that is not positive (Geyer 1992).

    Args:
        residual: (n, k), evenly spaced but for gaps; least: (k,) lower bound of the answer.
    """
    n = len(residual)
    size = 2 ** int(np.ceil(np.log2(2 * n)))
    spectrum = np.fft.rfft(residual, size, axis=0)
    covariance = np.fft.irfft(np.abs(spectrum)**2, size, axis=0)[:n]
    power = np.maximum(covariance[0], np.finfo(float).tiny)
    rho = covariance / power
    pairs = rho[:-1:2][:n // 2] + rho[1::2][:n // 2]
    positive = np.cumprod(pairs > 0.0, axis=0)
    time = np.maximum(2.0 * (pairs * positive).sum(axis=0) - 1.0, 1.0)
    return np.maximum(np.sqrt(power / n * time), least)


def friction_weight(sign: Array, ratio: float | Array) -> Array:
    """Weights of rows, as if doubtful friction were noise: uniform from minus to plus.

    Args:
        sign: c, 1 or -1 where the joint moves on; ratio: Coulomb friction over the noise.
    """
    unsure = np.maximum(1.0 - sign**2, 0.0)
    return (1.0 + unsure * np.square(ratio) / 3.0) ** -0.5


@dataclass(frozen=True)
class FreeFit:
    """Least squares without constraints.

    Attributes:
        phi: (p,); weights: (r, joints) of the rows; data: the factors of the rows times these.
        noise: (joints,) of independent rows that say as much; rms: (joints,) of the residual.
    """

    model: RobotModel
    phi: Array
    weights: Array
    data: Compressed
    noise: Array
    rms: Array

    def rest_weights(self, rows: Rows) -> Array:
        """Weights (r, joints) of the rows of any recording."""
        out = np.ones(rows.effort.shape)
        for j, term in self.model.coulomb_columns().items():
            out[:, j] = friction_weight(rows.regressor[:, j, term],
                                        self.phi[term] / self.rms[j])
        return out

    @property
    def used(self) -> Array:
        """Factors (joints,) by which the noise is larger than a fit leaves it: of the independent
        rows that stand for a joint's, it used up the trace of its part of the hat matrix."""
        scale = description_reference(self.model)
        s, right = np.linalg.svd(self.data.stack(self.noise)[:, :-1] @ scale.unit)[1:]
        known = s > 1e-9 * s.max(initial=0.0)
        across = scale.unit @ right[known].T / s[known]
        used = np.sum((self.data.factors[:, :, :-1] @ across)**2, axis=(1, 2)) / self.noise**2
        independent = self.data.count * (self.rms / self.noise)**2
        return np.sqrt(1.0 / np.maximum(1.0 - used / np.maximum(independent, 1.0), _LEAST_FREE))


def fit_unconstrained(model: RobotModel, rows: Rows) -> FreeFit:
    """Least squares, rows near rest weighted by the friction of a first fit, which leaves them out.

    Raises:
        InvalidData: numbers beyond those of a robot.
    """
    scale = description_reference(model)
    least = np.maximum(_SMALLEST * np.sqrt(np.mean(rows.effort**2, axis=0)), 1e-9)
    noise = np.maximum(np.std(rows.effort, axis=0), least)
    weights: Array = np.ones(rows.effort.shape)
    for j, term in model.coulomb_columns().items():
        sign = np.minimum(np.abs(rows.regressor[:, j, term]), 1.0)
        if sign.max() > 0.5:  # else it never moves, and one row is as good as another
            weights[:, j] = np.maximum(sign**2, _LEAST)
    for last in (False, True):
        data = compress_rows(rows.regressor * weights[..., None], rows.effort * weights)
        total = np.sqrt(np.mean(weights**2, axis=0))
        for _ in range(2):
            phi = _least_squares(data, noise, scale)
            error = weights * (rows.effort - rows.regressor @ phi) / total
            noise = equivalent_white_noise(error, least)
        rms = np.maximum(np.sqrt(np.mean(error**2, axis=0)), least)
        fit = FreeFit(model, phi, weights, data, noise, rms)
        weights = weights if last else fit.rest_weights(rows)
    return fit


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
