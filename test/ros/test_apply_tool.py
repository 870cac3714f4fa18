# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A tool that carries nothing is handed over as itself: after a release the robot is told of it."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from apply_stage import ApplyStage, told  # noqa: E402
from node_client import NODE, wait_for_valid  # noqa: E402

from inertial_id_ros.apps.simulation.payload import load_payload  # noqa: E402
from inertial_id_ros.srv import SetTool  # noqa: E402


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
