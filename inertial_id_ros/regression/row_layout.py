"""Columns of the rows that the buffer keeps, and their linearisation at an estimate.

A stored row holds everything that the wrench depends on, as columns of one linear model::

    y = A phi + B bias + [y]x rotation + (T1 tilt_1 + T2 tilt_2) (m, h) + dA/dt phi delay

The products of an alignment state with phi become plain columns once phi is put in. That is done
at solve time, on the small triangular factors, so that the whole window is always linearised at
the newest estimate.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..inertia import PARAMETERS, Array, skew

BIASES = 6
PHI = slice(0, 10)
BIAS = slice(10, 16)
ROTATION = slice(16, 19)  # rotation of the sensor against its frame, sensor axes
TILT_1, TILT_2 = slice(19, 23), slice(23, 27)  # tilt about the gravity frame's x and y; m, h
DELAY = slice(27, 37)  # time derivative of A
WRENCH = 37
STORED = 38
ALIGNMENT_NAMES = ("rotation.x", "rotation.y", "rotation.z", "tilt.x", "tilt.y", "delay")
ALIGNMENTS = len(ALIGNMENT_NAMES)

# Columns of one force or torque channel that are not always zero; -1 stands for its own bias.
_FORCE = [0, 1, 2, 3, -1, *range(16, 19), 19, 23, 27, 28, 29, 30, WRENCH]
_TORQUE = [*range(1, 10), -1, *range(16, 19), 20, 21, 22, 24, 25, 26, *range(28, 37), WRENCH]
_FORCE_PLAIN = [0, 1, 2, 3, -1, WRENCH]
_TORQUE_PLAIN = [*range(1, 10), -1, WRENCH]


def channel_columns(torque: bool, aligned: bool) -> np.ndarray:
    """Stored columns (3, w) that three channels use, with or without those of the alignment."""
    pattern = {(False, True): _FORCE, (True, True): _TORQUE,
               (False, False): _FORCE_PLAIN, (True, False): _TORQUE_PLAIN}[torque, aligned]
    own = BIAS.start + 3 * torque + np.arange(3)[:, None]
    columns = np.array(pattern)
    return np.where(columns < 0, own, columns)


def stored_rows(a: Array, a_rate: Array, up_x: Array, up_y: Array, gravity: float,
                wrench: Array) -> Array:
    """Rows (r, 6, 38) of the full model.

    Args:
        a, a_rate: regressor and its time derivative (r, 6, 10).
        up_x, up_y: horizontal axes of the gravity frame in sensor axes (r, 3).
        gravity: [m/s^2]; wrench: y (r, 6) [N, N m].
    """
    rows = np.zeros((len(a), 6, STORED))
    rows[..., PHI], rows[..., DELAY] = a, a_rate
    rows[..., BIAS] = np.eye(6)
    rows[..., ROTATION] = skew(wrench.reshape(len(a), 2, 3)).reshape(len(a), 6, 3)
    # e_k x g for g = -gravity e_z: turning gravity about x moves it along y, about y along -x.
    for tilt, change in ((TILT_1, gravity * up_y), (TILT_2, -gravity * up_x)):
        rows[:, :3, tilt.start] = -change
        rows[:, 3:, tilt.start + 1:tilt.stop] = skew(change)
    rows[..., WRENCH] = wrench
    return rows


def linearisation(phi: Array, states: np.ndarray) -> Array:
    """Matrix (38, 17 + q) from stored columns to ``[A | B | alignment (q) | y]`` at phi (10,).

    Args:
        states: indices of the q alignment states to keep (see ALIGNMENT_NAMES).
    """
    kept = tuple(states.tolist())
    out = _without_phi(kept).copy()
    for state, rows, values in ((3, TILT_1, phi[:4]), (4, TILT_2, phi[:4]), (5, DELAY, phi)):
        if state in kept:
            out[rows, PARAMETERS + BIASES + kept.index(state)] = values
    return out


@lru_cache(maxsize=64)
def _without_phi(states: tuple[int, ...]) -> Array:
    """The part (38, 17 + q) of the linearisation that does not depend on phi."""
    known = PARAMETERS + BIASES
    out = np.zeros((STORED, known + len(states) + 1))
    out[PHI, PHI], out[BIAS, BIAS], out[WRENCH, -1] = np.eye(10), np.eye(6), 1.0
    for column, state in enumerate(states):
        if state < 3:
            out[ROTATION.start + state, known + column] = 1.0
    return out
