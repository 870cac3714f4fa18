# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A real sensor held still in 24 poses: what `wls` makes of the gravity-only regressor."""

import numpy as np
import pytest
from old_problems import compress
from problems import Rows

from inertial_id_ros.estimators import create
from inertial_id_ros.identification.estimator_problem import solve_for
from inertial_id_ros.regression.newton_euler import static_regressor
from inertial_id_ros.settings import Settings

GRAVITY = np.array([0.0, 0.0, -9.81])
NOISE = np.repeat([0.1, 0.005], 3)
NO_PRIOR = np.repeat([1e3, 1e2], 3)  # biases [N, N m] are free


@pytest.fixture(scope="module")
def poses(data_folder):
    """Wrenches (24, 6) [N, N m] and orientations world_R_sensor (24, 3, 3)."""
    path = data_folder / "kuka_ati_gamma" / "static_poses.csv"
    if not path.is_file():
        pytest.skip(f"{path} is missing")
    table = np.genfromtxt(path, delimiter=",", names=True)
    wrench = np.column_stack([table[c] for c in ("fx", "fy", "fz", "tx", "ty", "tz")])
    entries = [table[f"r{i}{j}"] for i in (1, 2, 3) for j in (1, 2, 3)]
    return wrench, np.column_stack(entries).reshape(-1, 3, 3)


def fit(wrench, rotation):
    """Solution, sensor bias (6,), and residual rms of force [N] and torque [N m]."""
    regressor = static_regressor(rotation.transpose(0, 2, 1) @ GRAVITY)
    rows = Rows(regressor, regressor, -wrench, np.zeros(len(wrench)))  # the topic is on_sensor
    estimator = create(Settings().replace({"estimator.method": "wls"}))
    problem = compress(rows, NOISE, NO_PRIOR)
    solution = solve_for(estimator, problem, "noise", None)
    bias = problem.marginal("noise").bias(solution.phi)
    residual = wrench + regressor @ solution.phi + bias
    rms = np.sqrt((residual[:, :3]**2).mean()), np.sqrt((residual[:, 3:]**2).mean())
    return solution.phi, -bias, rms


def test_static_poses_give_mass_com_and_bias_of_the_real_tool(poses):
    phi, bias, (force, torque) = fit(*poses)
    assert phi[0] == pytest.approx(0.933, abs=5e-4)
    assert phi[3] / phi[0] == pytest.approx(0.0439, abs=5e-5)
    assert bias[:3] == pytest.approx([9.077, -1.018, 9.985], abs=6e-4)
    assert force == pytest.approx(0.086, abs=1e-3) and torque == pytest.approx(3.0e-3, abs=5e-5)


def test_a_transposed_rotation_leaves_a_plausible_mass_and_only_the_residual_tells(poses):
    wrench, rotation = poses
    phi, _, (force, _) = fit(wrench, rotation.transpose(0, 2, 1))
    assert phi[0] == pytest.approx(0.256, abs=5e-4)
    assert force == pytest.approx(5.1, abs=0.05)
