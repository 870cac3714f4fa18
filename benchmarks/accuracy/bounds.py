# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Cramér-Rao bounds: the smallest mean errors that exact motion and white wrench noise allow."""

from __future__ import annotations

import weakref

import numpy as np

from inertial_id_ros.geometry.density_prior import MASS_SD, density_prior
from inertial_id_ros.geometry.shape import Shape
from inertial_id_ros.inertia import Array
from inertial_id_ros.regression.newton_euler import regressor

from .metrics import Errors, expected_errors
from .motions import SensorMotion

BIAS_PRIOR = np.repeat([5.0, 0.5], 3)  # N, N m, standard deviation where the bias is unknown
LOG_DENSITY_SD = (0.1, 0.3, 1.0, 3.0)  # of the Gaussian shape prior, linearised at the even body
_kept: weakref.WeakValueDictionary[int, Shape] = weakref.WeakValueDictionary()
_covariances: dict[int, list[Array]] = {}


def information(motion: SensorMotion, noise: Array, bias_known: bool) -> Array:
    """Information (10, 10) about phi of wrenches with noise (6,), kinematics known exactly."""
    a = regressor(motion.proper_acceleration(), motion.omega, motion.alpha)
    weighted = a / noise[:, None]
    data = np.einsum("nij,nik->jk", weighted, weighted)
    if bias_known:
        return data
    cross = weighted.sum(axis=0) / noise[:, None]  # (6, 10)
    states = np.diag(len(a) / noise**2 + BIAS_PRIOR**-2.0)
    return data - cross.T @ np.linalg.solve(states, cross)


def unbiased(data: Array, truth: Array, lengths: Array) -> Errors:
    """Mean errors of an unbiased efficient estimate; infinite directions give very large ones."""
    scale = np.sqrt(np.maximum(np.diag(data), 1e-300))
    scaled = data / np.outer(scale, scale)
    covariance = np.linalg.inv(scaled + 1e-15 * np.eye(10)) / np.outer(scale, scale)
    return expected_errors(covariance, truth, lengths)


def bayesian(data: Array, shape: Shape, truth: Array, lengths: Array) -> Errors:
    """Mean errors with a Gaussian prior of the shape about the even body as well.

    The prior's width is the one under which the truth is most likely: an oracle, so that the bound
    asks for as much as can be asked.
    """
    gap = truth / truth[0] - shape.unit_phi
    prior = truth[0]**2 * max(shape_covariances(shape), key=lambda c: _likelihood(gap, c))
    covariance = prior - prior @ data @ np.linalg.solve(np.eye(10) + prior @ data, prior)
    return expected_errors(0.5 * (covariance + covariance.T), truth, lengths)


def _likelihood(gap: Array, covariance: Array) -> float:
    scale = np.sqrt(np.diag(covariance))
    scaled = covariance / np.outer(scale, scale) + 1e-9 * np.eye(10)
    sign, logdet = np.linalg.slogdet(scaled)
    z = gap / scale
    return float(-0.5 * (logdet + 2.0 * np.log(scale).sum() + z @ np.linalg.solve(scaled, z)))


def shape_covariances(shape: Shape) -> list[Array]:
    """Covariances (10, 10) of phi per kg^2 of the log-density prior, linearised at the even body,
    one for each of LOG_DENSITY_SD."""
    if _kept.get(id(shape)) is not shape:
        prior = density_prior(shape)
        _kept[id(shape)], _covariances[id(shape)] = shape, []
        for sd in LOG_DENSITY_SD:
            modes = np.column_stack([sd * prior.modes, np.full(len(prior.volumes), MASS_SD)])
            slope = (prior.columns * prior.volumes) @ modes
            _covariances[id(shape)].append(slope @ slope.T + prior.slack)
    return _covariances[id(shape)]
