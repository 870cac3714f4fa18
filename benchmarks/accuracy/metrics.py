# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Error metrics of Nadeau et al. (2022, eqs 10 to 12), and coverage of the intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertial_id_ros.inertia import Array, report_from_phi, report_jacobian

INTERVAL = 1.959964  # standard deviations of a 95 % interval
ENTRIES = ("mass", "com.x", "com.y", "com.z", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class Errors(NamedTuple):
    """Errors in percent: mass, centre of mass, inertia about the sensor origin, and about the
    centre of mass."""

    mass: float
    com: float
    inertia: float
    inertia_com: float


def inertia_scale(mass: float, lengths: Array) -> Array:
    """Denominators (6,) of eq. 12 [kg m^2], for a box of lengths (3,) [m]."""
    a = np.asarray(lengths, dtype=float)
    return mass / 12.0 * np.array([abs((i == j) * (a @ a) - a[i] * a[j]) for i, j in _PAIRS])


def errors(phi: Array, truth: Array, lengths: Array) -> Errors:
    """Errors of phi (10,) against the truth (10,); lengths (3,) of the bounding box [m]."""
    scale = inertia_scale(truth[0], lengths)
    got, true = report_from_phi(phi), report_from_phi(truth)
    return Errors(100.0 * abs(phi[0] - truth[0]) / truth[0],
                  100.0 * float(np.mean(np.abs(got[1:4] - true[1:4]) / lengths)),
                  100.0 * float(np.mean(np.abs(phi[4:] - truth[4:]) / scale)),
                  100.0 * float(np.mean(np.abs(got[4:] - true[4:]) / scale)))


def expected_errors(covariance: Array, truth: Array, lengths: Array) -> Errors:
    """Mean errors of an unbiased Gaussian estimate with this covariance (10, 10) of phi."""
    mean = np.sqrt(2.0 / np.pi)
    jacobian = report_jacobian(truth)
    own = np.sqrt(np.maximum(np.diag(covariance), 0.0)) * mean
    report = np.sqrt(np.maximum(np.diag(jacobian @ covariance @ jacobian.T), 0.0)) * mean
    scale = inertia_scale(truth[0], lengths)
    return Errors(100.0 * own[0] / truth[0], 100.0 * float(np.mean(report[1:4] / lengths)),
                  100.0 * float(np.mean(own[4:] / scale)),
                  100.0 * float(np.mean(report[4:] / scale)))


def deviations(phi: Array, phi_covariance: Array, truth: Array) -> Array:
    """Error over standard deviation (10,) of mass, centre of mass and tensor about it."""
    jacobian = report_jacobian(phi)
    variance = np.diag(jacobian @ phi_covariance @ jacobian.T)
    gap = report_from_phi(phi) - report_from_phi(truth)
    return gap / np.sqrt(np.maximum(variance, 1e-300))
