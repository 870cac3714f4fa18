# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What other nodes may change, as the settings say at the start."""


import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from node_client import (  # noqa: E402
    current_findings,
    set_parameter,
    wait_for_finding,
    wait_until_cleared,
)
from ros_process import Stage  # noqa: E402

from inertial_id_ros.settings import Settings  # noqa: E402
from inertial_id_ros.srv import Apply, Save, SetShape, SetTool  # noqa: E402

KINDS = {"apply": Apply, "set_shape": SetShape, "set_tool": SetTool,
         "save": Save}


def test_what_nobody_can_set_is_refused_in_one_sentence():
    with Stage() as stage:
        stage.start_node()
        for name, said in (("payload.valid", "is written by the node and cannot be set"),
                           ("estimator.max_mas", "unknown setting 'estimator.max_mas'; nearest: "
                            "estimator.max_mass; known: estimator.method")):
            answer = set_parameter(stage, name, True)
            assert not answer.successful and said in answer.reason, answer.reason


def test_what_was_set_while_the_node_runs_is_named_until_it_is_set_back():
    with Stage() as stage:
        stage.start_node()
        assert "settings_changed" not in current_findings(stage)
        assert set_parameter(stage, "estimator.max_mass", 3.0).successful
        start = Settings().estimator.max_mass
        wait_for_finding(stage, "settings_changed",
                         f"estimator.max_mass is 3.0 ({start} at the start)")
        assert set_parameter(stage, "use_sim_time", True).successful
        wait_for_finding(stage, "settings_changed", "use_sim_time is True (False at the start)")
        assert set_parameter(stage, "estimator.max_mass", start).successful
        assert set_parameter(stage, "use_sim_time", False).successful
        wait_until_cleared(stage, "settings_changed")
