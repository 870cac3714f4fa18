# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What other nodes may change, as the settings say at the start."""


import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from node_client import (  # noqa: E402
    NODE,
    current_findings,
    get_estimate,
    get_parameters,
    set_parameter,
    wait_for_finding,
    wait_for_valid,
    wait_until_cleared,
)
from rcl_interfaces.msg import Parameter, ParameterValue  # noqa: E402
from rcl_interfaces.srv import SetParameters, SetParametersAtomically  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from ros_process import Robot, Stage  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from inertial_id_ros.action import Identify  # noqa: E402
from inertial_id_ros.msg import InertialParameters  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402
from inertial_id_ros.settings.node import LOCKABLE  # noqa: E402
from inertial_id_ros.srv import Apply, Save, SetShape, SetTool  # noqa: E402

KINDS = {"apply": Apply, "set_shape": SetShape, "set_tool": SetTool,
         "save": Save}


def test_locked_parameters_are_refused_in_one_sentence_and_stay():
    with Stage() as stage:
        stage.start_node(security__lock_parameters="beliefs")
        for name, value in (("use_sim_time", True), ("precompensated.mass", 1.0),
                            ("estimator.max_mass", 3.0), ("security.lock_parameters", "none")):
            before = get_parameters(stage, name)
            answer = set_parameter(stage, name, value)
            assert not answer.successful and get_parameters(stage, name) == before
            assert f"{name} is locked, because security.lock_parameters is 'beliefs'" in (
                answer.reason)
        for name, said in (("payload.valid", "is written by the node and cannot be set"),
                           ("estimator.max_mas", "unknown setting 'estimator.max_mas'; nearest: "
                            "estimator.max_mass; known: estimator.method")):
            answer = set_parameter(stage, name, True)
            assert not answer.successful and said in answer.reason, answer.reason
            assert "locked" not in answer.reason
        both = SetParametersAtomically.Request(parameters=[
            Parameter(name=name, value=ParameterValue(type=3, double_value=3.0))
            for name in ("estimator.rate", "estimator.max_mass")])
        answer = stage.client.call(SetParametersAtomically, f"{NODE}/set_parameters_atomically",
                                   both).result
        assert not answer.successful and "estimator.max_mass is locked" in answer.reason
        assert get_parameters(stage, "estimator.rate")[0].double_value == Settings().estimator.rate
        assert set_parameter(stage, "estimator.rate", 4.0).successful
        assert not stage.client.node.get_subscriptions_info_by_topic("/clock")


def test_locked_services_refuse_in_one_sentence_and_change_nothing(tmp_path):
    with Stage() as stage:
        stage.start_node(estimator__rate=4.0, security__lock_services="all",
                         security__lock_parameters="all", state__directory=str(tmp_path))
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(4.0)
        wait_for_valid(stage)
        for name in sorted(set(LOCKABLE) - {"identify", "change_state"}):
            answer = stage.client.call(KINDS.get(name, Trigger), f"{NODE}/{name}")
            assert not answer.success
            assert answer.message == f"{name} is locked, because security.lock_services is 'all'"
        goal = ActionClient(stage.client.node, Identify, f"{NODE}/identify")
        assert goal.wait_for_server(20.0)
        asked = goal.send_goal_async(Identify.Goal(mass_accuracy=1.0))
        stage.client.spin_until(asked.done)
        assert not asked.result().accepted
        wait_for_finding(stage, "goal.rejected", "identify is locked")
        goal.destroy()
        assert not set_parameter(stage, "estimator.rate", 2.0).successful
        assert get_estimate(stage).success and list(tmp_path.iterdir()) == []


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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["estimator.max_mass", "precompensated.mass"])
def test_three_thousand_parameter_calls_do_not_starve_the_estimate_and_are_named(name):
    """The second parameter has the data forgotten, each time that it changes."""
    with Stage() as stage:
        stage.start_node(estimator__rate=4.0)
        robot = Robot(stage.client)
        robot.publish_description()
        robot.play(6.0)
        wait_for_valid(stage)
        client = stage.client.node.create_client(SetParameters, f"{NODE}/set_parameters")
        assert client.wait_for_service(20.0)
        got = stage.client.listen(InertialParameters, f"{NODE}/inertial_parameters")
        answers = []

        def call(_stamp):
            for _ in range(2):
                value = ParameterValue(type=3, double_value=20.0 + 0.01 * (len(answers) % 2)
                                       if "max" in name else 1e-4 * (len(answers) % 2))
                answers.append(client.call_async(SetParameters.Request(
                    parameters=[Parameter(name=name, value=value)])))
                stage.client.executor.spin_once(timeout_sec=0.0)

        robot.play(6.0, each=call)
        warning = ("asked_too_often.parameters" if "max" in name else "asked_too_often.data")
        wait_for_finding(stage, warning, "were refused")
        before = len(got)
        for _ in range(20):  # seconds, while the calls go on
            robot.play(1.0, each=call)
            if any(m.valid and not m.stale for m in got[before:]):
                break
        else:
            pytest.fail(f"no fresh estimate in {len(got) - before} messages")
        done = [f.result().results[0] for f in answers if f.done()]
        refused = [r for r in done if not r.successful]
        assert len(answers) >= 3000 and len(refused) > 50  # the client misses most answers
        assert all("more is refused" in r.reason for r in refused)
