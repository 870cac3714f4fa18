# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Noise of each joint by how well motion is predicted that a fit did not see.

A residual of the same motion is too small where a model lacks something: parameters that the motion
leaves free make up for it, most of all those of light links, whose joints then count for too much.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

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
    rest = rows.effort - rows.regressor @ reference.phi
    size = len(sizes) + 1
    inside = np.zeros((_PARTS, size, size))
    for k, piece in _pieces(rows):
        inside[k] += _normal(rows.regressor[piece], rest[piece], weights[piece] / noise)
    unit = reference.unit * sizes
    changes = []
    for normal in inside.sum(axis=0) - inside:
        scaled = unit.T @ normal[:-1, :-1] @ unit + np.eye(len(unit))
        changes.append(unit @ np.linalg.solve(scaled, unit.T @ normal[:-1, -1]))
    left = weights * rest
    for k, piece in _pieces(rows):
        left[piece] -= weights[piece] * (rows.regressor[piece] @ changes[k])
    return equivalent_white_noise(left, np.zeros(len(noise)))


def _pieces(rows: FilteredRecording) -> Iterator[tuple[int, slice]]:
    """Number of a part of the recording, and rows of it that may be in memory together."""
    borders = np.arange(_PARTS + 1) * len(rows.time) // _PARTS
    edges = np.unique([*borders, *(piece.start for piece in rows.regressor.parts())])
    for begin, end in pairwise(edges.tolist()):
        yield int(np.searchsorted(borders, begin, side="right")) - 1, slice(begin, end)


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
