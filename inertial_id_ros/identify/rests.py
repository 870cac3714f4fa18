# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate from poses at rest, of which each has one mean wrench."""

import numpy as np

from ..explain.residual import LARGE
from ..inertia import Array
from ..model.history import Window
from ..model.newton_euler import GRAVITY, weight_columns
from ..motion.motion import BIN_NS, SECOND, Motion
from .beliefs import Basis
from .estimate import Conclusion, estimate

PERIOD = SECOND // BIN_NS  # bins of a pose, the last of which does not count


def estimate_at_rest(begin: int, turn: Array, wrench: Array, basis: Basis) -> Conclusion:
    """What rotations (n, 3, 3) of the sensor at rest and mean wrenches (n, 6), W + bias, tell.

    Each pose is held for a second, the first from a stamp [ns] on, so that all that is
    known of sensors and set-ups counts as for any motion.
    """
    sensor = basis.settings.wrench
    fits, residual = fitting_poses(turn, wrench, np.hypot(sensor.noise, sensor.accuracy))
    number = np.arange(len(turn) * PERIOD)
    which, still = number // PERIOD, np.zeros((len(number), 3))
    used = fits[which] & (number % PERIOD < PERIOD - 1)
    motion = Motion(begin // BIN_NS + number, turn[which], still, still, still, still,
                    np.empty((len(number), 0, 3, 3)), np.empty((len(number), 0, 6)))
    window = Window(motion, used, wrench[which], 1.0 * used, rests=True)
    said = estimate(window, int(motion.number[-1]) + 1, basis)
    if fits.all():
        return said
    force, torque = np.sqrt(np.square(residual[~fits].reshape(-1, 2, 3)).sum(axis=2).mean(axis=0))
    rows = f"{(np.flatnonzero(~fits) + 1).tolist()}"
    return said._replace(findings=(*said.findings, (
        "pose_misfit", {"rows": rows, "force": float(force), "torque": float(torque)})))


def fitting_poses(turn: Array, wrench: Array, usual: Array) -> tuple[np.ndarray, Array]:
    """True (n,) for poses at rest (n, 3, 3) whose wrenches (n, 6), W + bias, fit those of the
    others, and what mass, first moment and bias of these leave (n, 6).

    The worst is left out, one after the other, while it is `LARGE` times as far off as half of
    them, as one in 1e6 is by chance. Where these are more than a quarter, something else is wrong,
    and every pose is used.

    Args:
        usual: (2,) deviations of a force and of a torque that are usual [N, N m].
    """
    A = np.concatenate([weight_columns(-GRAVITY @ turn), np.tile(np.eye(6), (len(turn), 1, 1))], 2)
    fits = np.ones(len(turn), dtype=bool)
    while True:
        residual = wrench - A @ np.linalg.lstsq(A[fits].reshape(-1, 10), wrench[fits].ravel())[0]
        size = np.linalg.norm(residual.reshape(-1, 2, 3), axis=2)
        off = (size / np.maximum(np.median(size[fits], axis=0), usual)).max(axis=1) * fits
        if off.max() < LARGE or (~fits).sum() > len(fits) // 4:
            return fits | ((~fits).sum() > len(fits) // 4), residual
        fits[off.argmax()] = False
