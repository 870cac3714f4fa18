# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""An estimate that contradicts a body that was weighed is told to nobody as a payload."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from apply_stage import ApplyStage, told  # noqa: E402
from node_client import NODE, wait_for_finding  # noqa: E402
from ros_process import Robot  # noqa: E402

from inertial_id_ros.srv import Export, GetInertialParameters, Save  # noqa: E402

WORDS = "load.reference_mass is 4.000 kg"


@pytest.mark.slow
def test_a_payload_in_doubt_is_neither_valid_nor_applied_nor_exported(tmp_path):
    with ApplyStage() as stage:
        stage.node = stage.start_node(
            state__directory=str(tmp_path), apply__target="admittance_controller",
            apply__max_mass=5.0, apply__automatic=1.0,
            load__reference_mass=4.0, estimator__rate=4.0)
        controller = stage.stand_in("stand_in_controllers.py", "admittance_controller")
        stage.robot = Robot(stage.client)
        stage.robot.publish_description()
        stage.robot.play(8.0)
        wait_for_finding(stage, "reference_contradicted", WORDS)
        stage.begin_rest()
        answer = stage.client.call(GetInertialParameters, f"{NODE}/get_inertial_parameters",
                                   GetInertialParameters.Request())
        assert not answer.parameters.valid and WORDS in answer.parameters.status
        answer = stage.apply("", send=True)
        assert not answer.success and WORDS in answer.message and not answer.calls
        answer = stage.client.call(Export, f"{NODE}/export", Export.Request(format="urdf"))
        assert not answer.success and WORDS in answer.message
        answer = stage.client.call(Save, f"{NODE}/save", Save.Request(name="wrong"))
        assert not answer.success
        assert not told(controller)
