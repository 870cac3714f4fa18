# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Base parameters: the WAM's published combinations, their statistics, and compressed data."""

from __future__ import annotations

import numpy as np
import pytest
from published_robots import wam
from robots import compress, random_tree

from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.robot.base_parameters import (
    find_base_parameters,
    fit_base_parameters,
    structural_base_parameters,
)
from inertial_id_ros.robot.model import JointTerms, RobotModel

# Sousa and Cortesao 2014, Table 3, lines that are legible in full.
WAM_LINES = (
    "Lyy1 + Lzz2 + Ia1", "Lyz2", "fo2", "Lxy3 - 0.045 ly3", "lz3 + ly4", "Ia3",
    "Lxx4 + 0.002025 m4 - Lzz4 + 0.092025 m5 - 0.6 ly5 + Lzz5 + 0.092025 m6 + 0.092025 m7",
    "Lxy4 + 0.045 ly4", "lx4 - 0.045 m4 - 0.045 m5 - 0.045 m6 - 0.045 m7",
    "lz4 + 0.3 m5 - ly5 + 0.3 m6 + 0.3 m7", "Lxx5 - Lzz5 + Lzz6", "lz5 + ly6",
    "Lyy6 + 0.0036 m7 + 0.12 lz7 + Lyy7", "lz6 + 0.06 m7 + lz7", "Lxx7 - Lyy7", "Lyz7")


def test_the_wam_has_the_69_published_combinations_of_98_parameters() -> None:
    base = wam().base
    assert (len(base.names), base.count) == (98, 69)
    assert set(WAM_LINES) <= set(base.expressions())


def test_every_torque_is_told_by_base_parameters_alone(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 6), JointTerms(drive_inertia=True))
    base = structural_base_parameters(model)
    phi = rng.normal(size=model.size)
    q, dq, ddq = rng.normal(size=(3, 40, 6))
    rows = model.regressor(q, dq, ddq)
    np.testing.assert_allclose(rows[:, :, base.independent] @ (base.matrix @ phi), rows @ phi,
                               atol=1e-9)
    np.testing.assert_allclose(rows @ base.null_space, 0.0, atol=1e-9)
    assert np.linalg.matrix_rank(rows.reshape(-1, model.size), rtol=1e-9) == base.count


def test_a_column_of_rounding_noise_is_no_parameter_and_a_small_one_is(
        rng: np.random.Generator) -> None:
    """Un-pivoted, unscaled Householder QR would count the first and lose the second."""
    rows = rng.normal(size=(50, 4))
    rows[:, 0] *= 1e-15
    rows[:, 2] *= 1e-6
    rows[:, 3] = rows[:, 1] + 2.0 * rows[:, 2]
    base = find_base_parameters(rows, list("abcd"))
    assert base.expressions() == ["b + d", "c + 2 d"]


def test_compressed_rows_keep_sums_of_squares_and_least_squares(rng: np.random.Generator) -> None:
    model = RobotModel.from_urdf(random_tree(rng, 3))
    base = structural_base_parameters(model)
    q, dq, ddq, torque = rng.normal(size=(4, 4500, 3))
    data = compress(model, q, dq, ddq, torque)
    phi, noise = rng.normal(size=model.size), np.array([0.1, 1.0, 3.0])
    residual = model.regressor(q, dq, ddq) @ phi - torque
    np.testing.assert_allclose(data.squares(phi), np.sum(residual**2, axis=0))
    np.testing.assert_allclose(np.sum((data.stack(noise) @ np.append(phi, -1.0))**2),
                               np.sum((residual / noise)**2))
    dense = model.regressor(q, dq, ddq).reshape(-1, model.size)[:, base.independent]
    np.testing.assert_allclose(fit_base_parameters(data, base),
                               np.linalg.lstsq(dense, torque.ravel())[0], atol=1e-9)
    rest = np.zeros((100, 3))
    with pytest.raises(NotEnoughData):  # an arm that stands still
        fit_base_parameters(compress(model, rest + 0.3, rest, rest, rest), base)
