# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether a message may be used, and the body that it describes.

The node publishes nothing impossible; a client that moves an arm by the numbers checks it all the
same: the publisher may be another program, or another version of this one.
"""

from __future__ import annotations

import math

import numpy as np

from inertial_id_ros.msg import InertialParameters

from ...estimate import UNOBSERVED, VERDICT_WORDS
from ...inertia import Array, Body, is_consistent, phi_from_body, tensor_from_six
from .payload import GROUPS

_ROUNDING = 1e-6  # share of the largest variance by which a covariance may miss its definition


def body_of(message: InertialParameters) -> Body:
    """The body of a message, in its frame."""
    i = message.inertia
    return Body(i.m, np.array([i.com.x, i.com.y, i.com.z]),
                tensor_from_six([i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz]))


def why_unusable(message: InertialParameters, require: str) -> str:
    """Why a message must not be used, in words; empty where it may be.

    Args:
        require: which of "mass", "com" and "inertia" must be known; each includes those before.
    """
    if not message.valid:
        return f"the node has no estimate: {message.status}"
    if message.stale:
        return f"the node holds an old estimate: {message.status}"
    if not (math.isfinite(message.age) and message.age >= 0.0):
        return f"the message has no age ({message.age:g} s)"
    if message.sequence == 0:
        return "the message has no sequence number"
    if not message.header.frame_id:
        return "the message names no frame"
    return _why_impossible(message) or _why_unknown(message, require)


def _why_impossible(message: InertialParameters) -> str:
    """Why no rigid body has the numbers of a message; empty where one may."""
    body = body_of(message)
    covariance = np.array(message.covariance, dtype=float).reshape(10, 10)
    if not all(np.isfinite(part).all() for part in (*body, covariance)):
        return "the message holds numbers that are not finite"
    if body.mass <= 0.0:
        return f"the message has a mass of {body.mass:g} kg"
    if not is_consistent(phi_from_body(*body)):
        return "no rigid body has the inertia of the message"
    if not _is_covariance(covariance):
        return "the covariance of the message is none"
    return ""


def _is_covariance(matrix: Array) -> bool:
    """Whether a matrix is symmetric and positive semidefinite, scaled to unit variances."""
    variance = np.diag(matrix)
    if (variance < 0.0).any():
        return False
    scale = np.sqrt(np.maximum(variance, np.finfo(float).tiny))
    scaled = matrix / scale / scale[:, None]
    return bool(np.allclose(scaled, scaled.T, atol=_ROUNDING)
                and np.linalg.eigvalsh(0.5 * (scaled + scaled.T))[0] >= -10.0 * _ROUNDING)


def _why_unknown(message: InertialParameters, require: str) -> str:
    """Which of the quantities that are needed the data do not tell; empty where they tell all."""
    verdict = list(message.verdict)
    if not all(0 <= v < len(VERDICT_WORDS) for v in verdict):
        return "the message holds verdicts that do not exist"
    names = list(GROUPS)
    for name in names[:names.index(require) + 1]:
        if UNOBSERVED in verdict[GROUPS[name]]:
            return f"the motion so far does not tell the {name}"
    return ""
