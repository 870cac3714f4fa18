# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A tool that carries nothing is handed over as itself: after a release the robot is told of it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from apply_stage import ApplyStage, told  # noqa: E402
from node_client import NODE, wait_for_valid  # noqa: E402

from inertial_id_ros.apps.simulation.payload import load_payload  # noqa: E402
from inertial_id_ros.estimate import IDENTIFIED, UNOBSERVED  # noqa: E402
from inertial_id_ros.inertia import phi_from_body  # noqa: E402
from inertial_id_ros.model.tool import Tool  # noqa: E402
from inertial_id_ros.srv import SetTool  # noqa: E402
from inertial_id_ros.targets.payload import payload_of_tool  # noqa: E402


def test_a_tool_is_told_as_far_as_its_file_tells_it() -> None:
    phi = phi_from_body(1.2, (0.0, 0.01, 0.08), np.diag([4e-3, 5e-3, 2e-3]))
    covariance = np.diag([1e-6, *3 * (1e-8,), *6 * (1e-10,)])
    told_of = payload_of_tool(Tool("tool0", phi, covariance, 0), np.zeros(6))
    verdicts = told_of.mass_verdict, told_of.com_verdict, told_of.inertia_verdict
    assert verdicts == 3 * (IDENTIFIED,) and told_of.mass == pytest.approx(1.2)
    covariance[4:, 4:] *= 1e6
    told_of = payload_of_tool(Tool("tool0", phi, covariance, 0), np.zeros(6))
    assert (told_of.com_verdict, told_of.inertia_verdict) == (IDENTIFIED, UNOBSERVED)
    covariance[1, 1] = 0.02**2
    assert payload_of_tool(Tool("tool0", phi, covariance, 0), np.zeros(6)).com_verdict == UNOBSERVED


@pytest.mark.slow
def test_an_empty_tool_is_applied(tmp_path) -> None:
    with ApplyStage() as stage:
        controller = stage.stand_in("stand_in_controllers.py", "admittance_controller")
        stage.begin(state__directory=str(tmp_path), apply__target="admittance_controller")
        stored = stage.client.call(SetTool, f"{NODE}/set_tool",
                                   SetTool.Request(action=SetTool.Request.STORE))
        assert stored.success, stored.message
        stage.end_rest()
        stage.robot.play_to_rest(8.0)
        stage.begin_rest()
        wait_for_valid(stage, 2)
        answer = stage.apply_once_known("", send=True)
        mass = load_payload("hammer").mass
        assert f"{mass:.2f}"[:3] in answer.message and len(told(controller, 1)) == 1
