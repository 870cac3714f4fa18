# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a recording says about the robot's mounting and clocks: tilt of gravity, delay of efforts.

A base that is not level by a third of a degree, or efforts stamped some milliseconds late, cost
more torque error than all noise. Both are found with the base parameters by Gauss-Newton steps:
gravity enters the regressor linearly, and a delay shifts the efforts by their rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import InvalidData, NotEnoughData
from ..inertia import Array
from ..linalg import triangular_factors
from .base_parameters import structural_base_parameters
from .factors import factors_of_joints
from .model import BODY_SIZE, RobotModel
from .recording import LOW_PASS, JointRecording, filter_recording, filter_regressor

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


def align_recording(model: RobotModel, recording: JointRecording, low_pass: float = LOW_PASS,
                    weights: Array | None = None) -> Alignment:
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
    samples, rows, along, effort, rate = _condense(model, recording, low_pass, weights)
    tilt, delay = np.zeros(2), 0.0
    for _ in range(_ROUNDS):
        lean = _gravity_direction(tilt, upward)
        y = rows + lean[0] * along[0] + lean[1] * along[1] + lean[2] * along[2]
        moved = effort + delay * rate
        beta = np.linalg.lstsq(y, moved, rcond=None)[0]
        slopes = [(along[k] - lean[k] / lean[2] * along[2]) @ beta for k in range(2)]
        system = np.column_stack([y, *slopes, -rate])
        lengths = np.linalg.norm(system, axis=0)
        lengths[lengths == 0.0] = 1.0
        solved = np.linalg.lstsq(system / lengths, moved, rcond=None)[0] / lengths
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
    sigma = np.sqrt(residual @ residual / max(samples - system.shape[1], 1)
                    * np.diag(spread)[-3:]) / lengths[-3:]
    if not np.isfinite(sigma).all():
        raise NotEnoughData("the recording does not determine tilt and delay")
    return Alignment(g * _gravity_direction(tilt, upward), delay, tilt, sigma)


class _Condensed(NamedTuple):
    """A recording in a few rows, which fit and leave residuals as all of them do.

    Attributes:
        samples: how many torques it stands for; rows: (k, nb) without gravity, base columns only.
        along: what gravity along each axis adds (k, nb); effort: (k,); rate: (k,) its derivative.
    """

    samples: int
    rows: Array
    along: Sequence[Array]
    effort: Array
    rate: Array


def _condense(model: RobotModel, recording: JointRecording, low_pass: float,
              weights: Array | None) -> _Condensed:
    """The triangular factor of all rows, weighted (r, joints)."""
    g = float(np.linalg.norm(model.gravity))
    known = np.sort(structural_base_parameters(model).independent)
    still = filter_recording(model.with_gravity(np.zeros(3)), recording, 0.0, low_pass)
    along = [_filter_pull(model.with_gravity(g * e), recording, low_pass)
             for e in np.eye(3)]
    pulled = [np.flatnonzero(pull[:, :, known].any(axis=(0, 1))) for pull in along]
    rows_of_joints = np.concatenate(
        [still.regressor[:, :, known],
         *(pull[:, :, known[at]] for pull, at in zip(along, pulled, strict=True)),
         still.effort[..., None], still.effort_rate[..., None]], axis=2)
    factors = factors_of_joints(rows_of_joints if weights is None
                                else rows_of_joints * weights[..., None])
    factor = triangular_factors(factors[factors.any(axis=2)])
    edges = np.cumsum([len(known), *map(len, pulled)])
    rows, *own = np.split(factor[:, :-2], edges[:-1], axis=1)
    spread = [np.zeros(rows.shape) for _ in own]
    for wide, at, mine in zip(spread, pulled, own, strict=True):
        wide[:, at] = mine
    return _Condensed(still.effort.size, rows, spread, factor[:, -2], factor[:, -1])


def _filter_pull(model: RobotModel, recording: JointRecording, low_pass: float) -> Array:
    """Rows (r, joints, p) of what the model's gravity adds to the regressor."""
    def pull(q: Array, dq: Array, ddq: Array) -> Array:
        still = np.zeros_like(q)
        rows = model.regressor(q, still, still)
        rows[:, :, BODY_SIZE * len(model.bodies):] = 0.0
        return rows

    return filter_regressor(pull, recording, 0.0, low_pass).regressor


def _gravity_direction(tilt: Array, upward: float) -> Array:
    """Unit vector (3,) of gravity that leans by tilt (2,) [rad]; upward: 1 if the z axis is up."""
    across = np.sin(tilt)
    return np.array([*across, -upward * np.sqrt(1.0 - across @ across)])
