# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motions of which all is known, without filters: their factors, and what the six base-link rows of
a robot that no ground holds tell."""

from __future__ import annotations

import numpy as np

from inertial_id_ros.inertia import Array
from inertial_id_ros.robot.base_parameters import BaseParameters, find_base_parameters
from inertial_id_ros.robot.factors import Compressed, compress_rows
from inertial_id_ros.robot.model import RobotModel


def compress(model: RobotModel, q: Array, dq: Array, ddq: Array, torque: Array) -> Compressed:
    """Factors of a motion (see `RobotModel.regressor`) with generalised forces (n, nv)."""
    return compress_rows(model.regressor(q, dq, ddq), torque)


def base_row_parameters(model: RobotModel) -> BaseParameters:
    """Base parameters of the base-link rows, from random motions."""
    rng, n = np.random.default_rng(0), model.size
    q, dq = model.sample_positions(rng, n), rng.normal(size=(n, model.nv))
    rows = model.base_regressor(q, dq, 3.0 * rng.normal(size=dq.shape))
    return find_base_parameters(rows.reshape(-1, model.size), model.parameter_names)
