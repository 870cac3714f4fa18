# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Least squares on rows of a recording: their scale, noise, and weights near rest.

A reference robot is the scale of every problem and, where asked, its prior. In coordinates u with
``phi = unit u`` its bodies are unit matrices (`estimators.reference_body`), and joint terms are in
SI units. A standard deviation of 1 in u means: a body like the reference, to 100 % of it.

Where a joint hardly moves, its friction is anything between the two directions'. The model holds
``c fc`` with ``|c| < 1`` there, ``c`` the low-passed (fading) sign of the velocity; with full
weight the other parameters would make up for friction that the model lacks.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.fft import irfft, rfft
from scipy.linalg import block_diag

from ..estimators.reference_body import DEFAULT_RADIUS, body_coordinates
from ..inertia import Array, is_consistent, phi_from_body
from .model import BODY_SIZE, RobotModel, body_slices
from .recording import Rows

_SMALLEST = 1e-6  # of a joint's torque: what the model leaves at least
_LEAST = 1e-3  # weight of a row before friction is known
_LEAST_FREE = 0.1  # part of the rows that a fit leaves free at least


@dataclass(frozen=True)
class Reference:
    """Parameters phi (p,) of a consistent robot of about the right size, and unit (p, p), block
    diagonal, with ``phi = unit u``."""

    phi: Array
    unit: Array

    @cached_property
    def inverse(self) -> Array:
        """Inverse (p, p) of the unit."""
        return np.linalg.inv(self.unit)

    def scaled(self, spread: Array | float) -> "Reference":
        """The same robot with units times spread (p,), or one for all: what a prior allows."""
        return Reference(self.phi, self.unit * spread)


def make_reference(phi: ArrayLike, bodies: int) -> Reference:
    """The reference of given parameters (p,): `bodies` times ten of consistent bodies, then joint
    terms, of size 1."""
    p = np.array(phi, dtype=float)
    units = [p[where][0] * body_coordinates(p[where] / p[where][0]).to_phi
             for where in body_slices(bodies)]
    return Reference(p, block_diag(*units, np.eye(len(p) - BODY_SIZE * bodies)))


def description_reference(model: RobotModel) -> Reference:
    """The description as a reference, as `make_reference` makes one; a body that is not consistent
    there is a ball of its mass about its centre, of 0.05 m along each axis (rms), and of 1 kg at
    its joint where it has no mass."""
    phi = model.nominal
    for body in model.split(phi):  # views
        if not is_consistent(body):
            mass, centre = (body[0], body[1:4] / body[0]) if body[0] > 0.0 else (1.0, np.zeros(3))
            body[:] = phi_from_body(mass, centre, 2.0 * mass * DEFAULT_RADIUS**2 * np.eye(3))
    return make_reference(phi, len(model.bodies))


def equivalent_white_noise(residual: Array, least: Array) -> Array:
    """Noise (k,), at least so much, of independent rows that carry as much information as these
    correlated ones (n, k), evenly spaced but for gaps: the root mean square times the root of the
    integrated autocorrelation time, ``1 + 2 sum rho``, summed until its first pair of lags that is
    not positive (Geyer 1992)."""
    n = len(residual)
    covariance = irfft(np.square(np.abs(rfft(residual, 2 * n, axis=0))), axis=0)[:n]
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
    """Least squares without constraints."""

    phi: Array  # (p,)
    rows: Rows  # with weights
    rms: Array  # (joints,) of the residual [N m]
    noise: Array  # (joints,) of independent rows that say as much [N m]


def fit_unconstrained(rows: Rows) -> FreeFit:
    """Least squares; rows near rest are weighted by the friction of a first fit without them."""
    scale = description_reference(rows.model)
    least = np.maximum(_SMALLEST * np.sqrt(np.mean(rows.effort**2, axis=0)), 1e-9)
    noise = np.maximum(np.std(rows.effort, axis=0), least)
    sign = np.minimum(np.abs(rows.model.signs(rows.regressor)), 1.0)
    moves = sign.max(axis=0) > 0.5  # else one row is as good as another
    weights: Array = np.where(moves, np.maximum(sign**2, _LEAST), 1.0)
    for k in range(4):
        rows = replace(rows, weights=weights)
        factor, target = rows.factor(noise)
        # Like the reference where the data say nothing.
        u, _, rank, _ = np.linalg.lstsq(factor @ scale.unit, target - factor @ scale.phi, 1e-9)
        phi = scale.phi + scale.unit @ u
        error = rows.residual(phi) / np.sqrt(np.mean(weights**2, axis=0))
        rms = np.maximum(np.sqrt(np.mean(error**2, axis=0)), least)
        # Of what the fit leaves, the slow part is small; of white noise the filter makes as much.
        noise = np.maximum(equivalent_white_noise(error, least), np.sqrt(rows.alike) * rms)
        if k == 1:
            weights = np.where(moves, friction_weight(rows.model.signs(rows.regressor),
                                                      rows.model.coulomb(phi) / rms), 1.0)
    # Of the independent rows, the fit used up one for each parameter that it found.
    free = 1.0 - rank / max(len(error) * float(np.sum((rms / noise) ** 2)), 1.0)
    return FreeFit(phi, rows, rms, noise / np.sqrt(max(free, _LEAST_FREE)))
