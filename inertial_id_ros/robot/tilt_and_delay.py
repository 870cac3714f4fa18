# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a recording says about the robot's mounting and clocks: tilt of gravity, delay of efforts.

A base that is not level by a third of a degree, or efforts stamped some milliseconds late, cost
more torque error than all noise. Both are found with the base parameters by Gauss-Newton steps:
gravity enters the regressor linearly, and a delay shifts the efforts by their rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidData, NotEnoughData
from ..inertia import Array
from .base_parameters import structural_base_parameters
from .model import RobotModel
from .recording import LOW_PASS, WINDOW, JointRecording, filter_recording

_ROUNDS = 8
LARGEST_TILT = 0.5  # rad
LARGEST_DELAY = 0.1  # s


@dataclass(frozen=True)
class Alignment:
    """Mounting and clock of a recording.

    Attributes:
        gravity: (3,) [m/s^2] in root axes.
        delay: how much later than the positions the efforts are stamped [s].
        tilt: (2,) angles by which gravity leans towards the root's x and y axes [rad].
        sigma: (3,) standard deviations of the two tilts and of the delay, for white residuals.
    """

    gravity: Array
    delay: float
    tilt: Array
    sigma: Array


def align_recording(model: RobotModel, recording: JointRecording, window: float = WINDOW,
                    low_pass: float = LOW_PASS, weights: Array | None = None) -> Alignment:
    """Find the tilt of gravity and the delay of the efforts with which a recording fits best.

    Args:
        weights: (r, joints) of the filtered rows of the model without delay; None: all alike.

    Raises:
        InvalidData: gravity of the model is not along the root's z axis, or the answer is beyond
            `LARGEST_TILT` or `LARGEST_DELAY`.
        NotEnoughData: the recording does not determine them.
    """
    g = float(np.linalg.norm(model.gravity))
    if not np.allclose(model.gravity[:2], 0.0):
        raise InvalidData("tilt is found for a model whose gravity is along the root's z axis")
    upward = -float(np.sign(model.gravity[2]))
    known = structural_base_parameters(model).independent
    still = filter_recording(model.with_gravity(np.zeros(3)), recording, 0.0, window, low_pass)
    rows, rate = still.regressor.reshape(-1, model.size), still.effort_rate.ravel()
    # What gravity along each axis adds.
    along = [filter_recording(model.with_gravity(g * e), recording, 0.0, window,
                              low_pass).regressor.reshape(-1, model.size) - rows for e in np.eye(3)]
    rows, along = rows[:, known], [pull[:, known] for pull in along]
    effort = still.effort.ravel()
    if weights is not None:
        w = weights.ravel()
        rows, along = rows * w[:, None], [pull * w[:, None] for pull in along]
        effort, rate = effort * w, rate * w
    tilt, delay = np.zeros(2), 0.0
    for _ in range(_ROUNDS):
        lean = _gravity_direction(tilt, upward)
        y = rows + lean[0] * along[0] + lean[1] * along[1] + lean[2] * along[2]
        moved = effort + delay * rate
        beta = np.linalg.lstsq(y, moved)[0]
        slopes = [(along[k] - lean[k] / lean[2] * along[2]) @ beta for k in range(2)]
        system = np.column_stack([y, *slopes, -rate])
        lengths = np.linalg.norm(system, axis=0)
        lengths[lengths == 0.0] = 1.0
        solved = np.linalg.lstsq(system / lengths, moved)[0] / lengths
        change = solved[-3:]
        tilt, delay = tilt + change[:2], delay + float(change[2])
        if not (np.abs(tilt).max() < LARGEST_TILT and abs(delay) < LARGEST_DELAY):
            raise InvalidData(
                f"the recording asks for a tilt of {np.degrees(tilt).round(1).tolist()} deg and "
                f"a delay of {1e3 * delay:.0f} ms; is the description the right one?")
        if np.abs(change).max() < 1e-7:
            break
    spread = np.linalg.pinv((system / lengths).T @ (system / lengths), hermitian=True)
    residual = moved - system @ solved
    sigma = np.sqrt(residual @ residual / max(len(moved) - system.shape[1], 1)
                    * np.diag(spread)[-3:]) / lengths[-3:]
    if not np.isfinite(sigma).all():
        raise NotEnoughData("the recording does not determine tilt and delay")
    return Alignment(g * _gravity_direction(tilt, upward), delay, tilt, sigma)


def _gravity_direction(tilt: Array, upward: float) -> Array:
    """Unit vector (3,) of gravity that leans by tilt (2,) [rad]; upward: 1 if the z axis is up."""
    across = np.sin(tilt)
    return np.array([*across, -upward * np.sqrt(1.0 - across @ across)])
