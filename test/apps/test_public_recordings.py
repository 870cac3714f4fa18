# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Public recordings of real robots with loads that are known."""

import json
from pathlib import Path

import numpy as np
import pytest
from robots import data_sheet_ur10e, makers_gains
from scipy.spatial.transform import Rotation

from inertial_id_ros import api
from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.estimate import Estimate

pytestmark = pytest.mark.slow
JOINTS = tuple(f"joint{k}" for k in range(1, 7))
PAYLOAD = 2.805  # kg
FREE, HELD = "ur-20_02_19_14harm50sec", "ur-20_02_19_14harm50secLoad"


def recording(data_folder: Path, name: str) -> api.JointStates:
    """A UR10e: positions and motor currents, as published."""
    path = data_folder / "dynamic_calibration" / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    rows = np.loadtxt(path, delimiter=",")
    rows = rows[np.append(True, np.diff(rows[:, 0]) > 0.0)]
    return api.JointStates(np.round(1e9 * rows[:, 0]).astype(np.int64), JOINTS, rows[:, 1:7],
                           rows[:, 13:19])


def test_a_known_mass_is_found_from_motor_currents(data_folder: Path, tmp_path: Path) -> None:
    """With the gains of the robot's controller."""
    robot, loaded = (recording(data_folder, name) for name in (FREE, HELD))
    described = data_sheet_ur10e()
    found = api.identify_robot(described, [robot], api.RobotRequest(
        gains=makers_gains(data_folder)))
    api.save_robot(tmp_path / "robot", found.robot)
    identifier = api.Identifier(api.Settings().replace({
        "load.robot": str(tmp_path / "robot"),
        "wrench.sensor_frame": "link6", "buffer.window": 60.0}))
    identifier.set_robot_description(described)
    identifier.add_joint_states(*loaded[:4])
    identifier.finish()
    payload = identifier.solve()
    assert isinstance(payload, Estimate)
    assert abs(payload.report[0] - PAYLOAD) < 1.96 * payload.sigma[0] < 0.06 * PAYLOAD


def test_the_mass_on_a_sensor_that_filters_is_that_of_its_poses_at_rest(
        data_folder: Path, tmp_path: Path) -> None:
    path = data_folder / "Gravity-Compensation-F-T-sensor" / "GP2025-07-22-22-06-02.txt"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    rows = np.loadtxt(path, delimiter=",")
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",", comments="",
               header="time,fx,fy,fz,tx,ty,tz,qx,qy,qz,qw")
    assert main([str(tmp_path / "a.csv"), "--window", "120", "--sensor", "ati_axia80",
                 "--json", str(tmp_path / "a.json")]) == 0
    found = json.loads((tmp_path / "a.json").read_text())
    spread = 1.96 * found["history"][-1]["sigma"][0]
    # Least squares on the samples of poses that were held for 3 s.
    still = np.append(False, np.abs(np.diff(rows[:, 7:11], axis=0)).max(axis=1) < 2e-4)
    held = np.convolve(still, np.ones(30), "full")[:len(still)] == 30
    turns = Rotation.from_quat(rows[held, 7:11]).as_matrix()
    system = np.concatenate([np.column_stack([-turn.T @ [0.0, 0.0, 9.81], np.eye(3)])
                             for turn in turns])
    mass = np.linalg.lstsq(system, rows[held, 1:4].ravel())[0][0]
    assert abs(found["mass"] - mass) < spread < 0.1
