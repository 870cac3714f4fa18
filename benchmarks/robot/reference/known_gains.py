# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload of a pair of recordings for drive gains that are known beforehand."""

from __future__ import annotations

import numpy as np

from inertial_id_ros.inertia import Array
from inertial_id_ros.robot.drive_gains import Gains, TwoRecordings
from inertial_id_ros.robot.model import BODY_SIZE, RobotModel
from inertial_id_ros.robot.recording import FilteredRecording


def payload_with_gains(model: RobotModel, unloaded: FilteredRecording, loaded: FilteredRecording,
                       gain: Array, gain_sigma: Array | None = None) -> Gains:
    """The payload, mass and all, for known gains (joints,), by weighted least squares.

    Args:
        gain_sigma: (joints,) standard deviations of the gains, which the payload's contain; None:
            the gains are exact.
    """
    pair = TwoRecordings(model, unloaded, loaded)
    gains, weights = np.asarray(gain, dtype=float), np.ones(model.nv)
    for _ in range(4):
        rows = pair.rows / gains[pair.joint][:, None]
        x = pair.solve(rows, pair.current, weights)
        rms = pair.rms(pair.current - rows @ x)
        weights = 1.0 / rms
    payload = slice(pair.columns_of_payload, pair.columns_of_payload + BODY_SIZE)
    spread = pair.covariance(rows, weights, pair.correlation(x, gains))[payload, payload]
    sigma = np.zeros(model.nv) if gain_sigma is None else np.asarray(gain_sigma, dtype=float)
    for j in np.flatnonzero(sigma):
        moved = gains.copy()
        moved[j] += sigma[j]
        other = pair.solve(pair.rows / moved[pair.joint][:, None], pair.current, weights)
        spread = spread + np.outer((other - x)[payload], (other - x)[payload])
    return Gains(gains, np.diag(sigma**2), x[payload], np.sqrt(np.diag(spread)), rms)
