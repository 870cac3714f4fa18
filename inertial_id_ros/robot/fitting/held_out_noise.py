# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Noise of each joint by how well motion is predicted that a fit did not see.

A residual of the same motion is too small where a model lacks something: parameters that the motion
leaves free make up for it, most of all those of light links, whose joints then count for too much.
"""

from __future__ import annotations

import numpy as np

from ...inertia import Array
from ..correlated_noise import equivalent_white_noise
from ..model import BODY_SIZE
from ..recording import FilteredRecording
from ..reference_robot import Reference
from .description_doubt import doubt_description

_PARTS = 6  # of the recording, each predicted from the others


def held_out_noise(rows: FilteredRecording, weights: Array, noise: Array, reference: Reference,
                   spread: Array, bodies: int, whitened: Array) -> Array:
    """Noise (joints,) of independent rows that say as much as each joint's, where held out.

    Args:
        weights: (r, joints) of the rows; noise: (joints,) by which joints are weighted [N m].
        spread: (p,) standard deviations before the data in units of the reference.
        bodies: that phi begins with; whitened: (n, p + 1) factor of all rows.
    """
    doubt = doubt_description(whitened[:, :-1], whitened[:, -1], reference, spread, bodies)
    sizes = spread.copy()
    sizes[:BODY_SIZE * bodies] *= np.repeat(doubt.factors, BODY_SIZE)
    part = np.arange(len(rows.time)) * _PARTS // len(rows.time)
    rest = rows.effort - rows.regressor @ reference.phi
    inside = np.stack([_normal(rows.regressor[part == k], rest[part == k],
                               weights[part == k] / noise) for k in range(part.max() + 1)])
    unit = reference.unit * sizes
    left = weights * rest
    for k, normal in enumerate(inside.sum(axis=0) - inside):
        scaled = unit.T @ normal[:-1, :-1] @ unit + np.eye(len(unit))
        change = unit @ np.linalg.solve(scaled, unit.T @ normal[:-1, -1])
        left[part == k] -= weights[part == k] * (rows.regressor[part == k] @ change)
    return equivalent_white_noise(left, np.zeros(len(noise)))


def _normal(regressor: Array, target: Array, weights: Array) -> Array:
    """Normal matrix (p + 1, p + 1) of rows (r, joints, p), targets and weights (r, joints)."""
    size = regressor.shape[2]
    out = np.zeros((size + 1, size + 1))
    for j in range(target.shape[1]):
        # A joint feels only what lies beyond it: most columns of most joints are zero.
        used = np.append(np.flatnonzero(regressor[:, j].any(axis=0)), size)
        system = np.concatenate([regressor[:, j], target[:, j, None]], axis=1)[:, used]
        system *= weights[:, j, None]
        out[np.ix_(used, used)] += system.T @ system
    return out
