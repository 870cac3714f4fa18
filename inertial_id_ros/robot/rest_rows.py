# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Weights of rows near rest.

Where a joint hardly moves, its friction is anything between the two directions'. The model holds
``c fc`` with ``|c| < 1`` there, ``c`` the low-passed sign (or fading sign) of the velocity. A
motion that begins and ends smoothly creeps for a second; rows of full weight would then have
the other parameters make up for friction that is there, and that the model lacks.
"""

from __future__ import annotations

import numpy as np

from ..inertia import Array
from .joint_terms import COULOMB
from .model import RobotModel

_WRONG = 0.1  # part of the Coulomb friction that is wrong near rest, from which on rows are doubted
_LEAST = 1e-3  # weight of a row before friction is known


def friction_weight(sign: Array, ratio: float | Array) -> Array:
    """Weights of rows, as if doubtful friction were noise: uniform from minus to plus.

    Args:
        sign: c, 1 or -1 where the joint moves on; ratio: Coulomb friction over the noise.
    """
    unsure = np.maximum(1.0 - sign**2, 0.0)
    return (1.0 + unsure * np.square(ratio) / 3.0) ** -0.5


def rest_weights(model: RobotModel, regressor: Array, friction: Array, noise: Array
                 ) -> Array:
    """Weights (r, joints) of rows of a regressor (r, joints, p).

    Args:
        friction: (joints,) that may act either way; noise: (joints,) [N m].
    """
    out = np.ones(regressor.shape[:2])
    for j, term in coulomb_columns(model).items():
        out[:, j] = friction_weight(regressor[:, j, term], friction[j] / noise[j])
    return out


def moving_weights(model: RobotModel, regressor: Array) -> Array:
    """Weights (r, joints) before friction is known: rows count by the square of their sign."""
    out = np.ones(regressor.shape[:2])
    for j, term in coulomb_columns(model).items():
        sign = np.minimum(np.abs(regressor[:, j, term]), 1.0)
        if sign.max() > 0.5:  # else it never moves, and one row is as good as another
            out[:, j] = np.maximum(sign**2, _LEAST)
    return out


def friction_in_doubt(model: RobotModel, regressor: Array, phi: Array, error: Array,
                      noise: Array) -> Array:
    """Friction (joints,) that may act either way near rest [N m], see `friction_weight`.

    As much as makes up for errors that are larger there than elsewhere, twice over, and at most all
    the Coulomb friction: where the model has friction near rest right, its rows keep their weight.

    Args:
        phi: (p,) of a fit that leaves rows near rest out; error: (r, joints) of that fit; noise:
            (joints,) its rms elsewhere [N m].
    """
    out = np.zeros(error.shape[1])
    for j, term in coulomb_columns(model).items():
        unsure = np.maximum(1.0 - regressor[:, j, term]**2, 0.0)
        total = float(unsure @ unsure)
        if total > 0.0:
            excess = max(float(unsure @ (error[:, j]**2 - noise[j]**2)) / total, 0.0)
            friction = abs(phi[term])
            wrong = np.sqrt(3.0 * excess)
            if wrong > _WRONG * friction:
                out[j] = min(friction, 2.0 * wrong)
    return out


def coulomb_columns(model: RobotModel) -> dict[int, int]:
    """Column of the Coulomb friction of each row of the regressor that has one."""
    if COULOMB not in model.terms.names:
        return {}
    first = model.nv - len(model.joint_names)
    return {first + k: model.term_index(k, COULOMB) for k in range(len(model.joint_names))}
