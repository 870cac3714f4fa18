# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What other nodes have and answer, asked by a node of this process."""

import json
import threading
import time
from functools import partial
from unittest.mock import MagicMock

import pinocchio as pin
import pytest
import rclpy
from builtin_interfaces.msg import Time
from control_msgs.msg import Float64Values, Keys
from rcl_interfaces.msg import SetParametersResult
from rclpy.callback_groups import ReentrantCallbackGroup
from robot_graph import in_sensor
from ros_process import LATCHED, own_domain, spinning, wait_until
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Header, String
from std_srvs.srv import SetBool, Trigger

from inertial_id_ros.apps.export_payload import main
from inertial_id_ros.apps.guide.checks import Driver
from inertial_id_ros.apps.simulation.cobot import load_description
from inertial_id_ros.cli import OK, USER_ERROR
from inertial_id_ros.errors import InvalidData, InvalidSetting
from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.ros.conversions import PROMISED
from inertial_id_ros.ros.guide import node_link
from inertial_id_ros.ros.guide.identify_payload import Session, parse
from inertial_id_ros.ros.guide.node_link import NodeLink
from inertial_id_ros.ros.guide.robot import Robot
from inertial_id_ros.ros.io_thread import IoThread
from inertial_id_ros.ros.ros_client import NoAnswer, NoResponse, Rehearsal, RosClient
from inertial_id_ros.settings import Settings
from inertial_id_ros.srv import Apply


@pytest.fixture
def make_node(monkeypatch):
    """Nodes in a domain, which is also that of what this process starts."""
    context, domain = rclpy.Context(), own_domain()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    rclpy.init(context=context, domain_id=domain)
    yield partial(rclpy.create_node, context=context)
    rclpy.shutdown(context=context)


@pytest.fixture
def client(make_node):
    """Of a node beside one that has a latched topic, a parameter and two services."""
    node, other = (make_node(name, cli_args=["--ros-args", "-r", "values:=/arm/values"])
                   for name in ("asks", "other"))
    other.create_publisher(String, "names", LATCHED).publish(String(data="first"))
    other.declare_parameter("gains", [1.0, 2.0])
    released = threading.Event()

    def answer(request, response):
        released.wait(0.0 if request.data else None)
        response.success, response.message = True, "done"
        return response

    other.create_service(SetBool, "switch", answer, callback_group=ReentrantCallbackGroup())
    with spinning(node, other, threads=4):
        yield RosClient(node)
        released.set()


def test_a_topic_name_that_is_none_leaves_no_node_behind(make_node):
    owner = make_node("owner")
    with pytest.raises(InvalidSetting) as _kept:  # as the node keeps it
        IoThread(owner, Settings().replace({"wrench.topic": "no name"}), False, float)
    assert owner.get_node_names() == ["owner"]


def test_a_message_of_long_ago_is_received_from_a_latched_topic_only(client):
    """As the names of a state_interfaces_broadcaster, which are published once."""
    kind = "std_msgs/msg/String"
    assert client.wait_for_message(kind, "names", 10.0, latched=True).data == "first"
    assert client.wait_for_message(kind, "names", 0.5) is None
    with pytest.raises(InvalidSetting):
        client.wait_for_message("no_msgs/msg/None", "names")
    assert client.resolve("values", "topic") == "/arm/values"  # as it is remapped


def test_a_service_that_does_not_answer_is_not_one_that_is_not_there(client):
    kind = "std_srvs/srv/SetBool"
    assert client.call(kind, "switch", {"data": True}).message == "done"
    assert client.request_fields("switch") == {"data": "boolean"}
    assert not client.request_fields("nowhere")
    begin = time.monotonic()
    with pytest.raises(NoResponse):
        client.call(kind, "switch", {"data": False}, 0.4, times=2)
    assert time.monotonic() - begin >= 0.4
    with pytest.raises(NoAnswer) as caught:
        client.call(Trigger, "nowhere", {}, 0.2)
    assert not isinstance(caught.value, NoResponse)
    with pytest.raises(InvalidData):
        client.call(kind, "switch", {"text": ""})


@pytest.mark.slow
def test_a_node_that_runs_is_waited_for_and_only_where_there_is_none_one_is_started(
        monkeypatch, make_node):
    """Two nodes of one name would both answer. One that is not configured has no services yet."""
    children, said, stop = MagicMock(), [], threading.Event()
    children.describe_ended.return_value = ""
    runs, late = make_node("runs"), make_node("runs")

    def configure(node) -> None:
        node.create_service(Trigger, "~/apply", lambda request, response: response)

    with spinning(runs, late, threads=4), NodeLink("/runs", stop) as link:
        configured = threading.Timer(node_link.LOOK + 1.0, configure, [runs])
        configured.start()
        link.connect(children, [], said.append)
        assert configured.finished.is_set() and not children.start.called and not said
        publisher = runs.create_publisher(InertialParameters, "~/inertial_parameters", PROMISED)
        runs.create_timer(0.1, lambda: publisher.publish(InertialParameters()))
        wait_until(lambda: not link.doubt())
        configure(late)
        wait_until(link.doubt)
    with NodeLink("/runs_not", stop) as link:
        monkeypatch.setattr(node_link, "LOOK", 0.5)
        monkeypatch.setattr(node_link, "START", 0.5)
        with pytest.raises(NoAnswer):
            link.connect(children, ["word"], said.append)
        children.start.assert_called_once_with("inertial_id_node", ["word"])
        assert said


@pytest.mark.parametrize(("name", "keys"), [
    ("payload", ["left_payload/cog.x", "left_payload/mass"]),
    ("left_payload", ["left_payload/mass", "right_payload/mass"])])
def test_the_guide_hears_the_driver_of_its_arm_by_the_clock_and_topics_of_its_ros_arguments(
        make_node, name, keys):
    def publish(topic, message):
        publisher = driver.create_publisher(type(message), topic, LATCHED)
        driver.create_timer(0.05, lambda: publisher.publish(message))

    driver, stamp = make_node("driver"), Time(sec=500)
    publish("clock", Clock(clock=stamp))
    publish("robot/joints", JointState(name=["a"], position=[0.0], header=Header(stamp=stamp)))
    publish("right/io/robot_program_running", Bool())
    publish("left/broadcaster/names", Keys(keys=keys))
    publish("left/broadcaster/values", Float64Values(
        values=[1.5 if key == "left_payload/mass" else 0.3 for key in keys]))
    options = parse(["--node", "/left/none"], [
        "-p", "use_sim_time:=true", "-r", "joint_states:=/robot/joints"])
    with spinning(driver), NodeLink(options.node, threading.Event(), options.ros) as link:
        link.settings = Settings().replace({"precompensated.name": name})
        wait_until(lambda: link.client.topics().get("/right/io/robot_program_running"))
        robot = Robot(link, options)
        wait_until(lambda: robot.discover() or robot.driver.payload)
        wait_until(lambda: robot.recorder.facts()["ages"].get("joint states") == 0.0)
        assert robot.driver == Driver(payload=1.5)


@pytest.mark.parametrize(("success", "sent"), [(True, True), (False, True), (False, False)])
def test_a_session_whose_payload_may_have_been_sent_says_so(success, sent):
    link = MagicMock(settings=Settings(), doubt=lambda *_: "")
    link.apply.side_effect = [Apply.Response(success=True),
                              Apply.Response(success=success, sent=sent, message="late")]
    ended = Session(link, parse(["--target", "universal_robots"]), MagicMock()).apply()
    assert (ended.status == OK) == success and bool(ended.advice) == (sent and not success)


def test_a_node_that_does_not_answer_may_have_sent_the_payload(monkeypatch, make_node):
    """As beside a driver that answers after 45 s."""
    node, released = make_node("runs"), threading.Event()
    node.create_service(Apply, "~/apply", lambda request, response: released.wait() and response)
    with spinning(node):
        for name, is_there in (("/runs", True), ("/nobody", False)):
            with NodeLink(name, threading.Event()) as link:
                if is_there:
                    wait_until(link.client.services)
                monkeypatch.setattr(node_link, "APPLY", 1.0)
                answers = [link.apply("universal_robots", "", send) for send in (True, False)]
                assert not any(answer.success for answer in answers)
                assert [answer.sent for answer in answers] == [is_there, False]
        released.set()


@pytest.mark.slow
@pytest.mark.parametrize(("words", "status", "said"), [
    ([], OK, ""), (["/refuses"], USER_ERROR, "not while I run"),
    (["nobody"], USER_ERROR, "nobody")])
def test_a_payload_is_published_with_the_description_by_a_node_that_takes_it(
        tmp_path, make_node, capsys, words, status, said):
    arm, saved = tmp_path / "arm.urdf", tmp_path / "saved.json"
    payload = in_sensor(frame_id="tool0")
    arm.write_text(load_description().urdf)
    saved.write_text(json.dumps(payload.to_json()))
    nodes = [make_node("robot_state_publisher"), make_node("refuses")]
    for node in nodes:
        node.declare_parameter("robot_description", "")
    nodes[1].add_on_set_parameters_callback(lambda _: SetParametersResult(reason="not while I run"))
    with spinning(*nodes):
        got = main([str(saved), "--format", "urdf_robot", "--robot", str(arm), "--publish", *words])
    printed = capsys.readouterr()
    assert got == status and said in printed.err and not printed.out
    published, other = (node.get_parameter("robot_description").value for node in nodes)
    assert bool(published) == (status == OK) and not other
    before, after = (pin.computeTotalMass(pin.buildModelFromXML(text))
                     for text in (arm.read_text(), published or arm.read_text()))
    assert after - before == pytest.approx(payload.body.mass * (status == OK))


def test_a_rehearsal_reads_and_changes_nothing(client):
    rehearsal = Rehearsal(client)
    assert rehearsal.parameters("other", ["gains"]) == {"gains": [1.0, 2.0]}
    rehearsal.set_parameters("/other", {"gains": [3.0, 1e-5]})
    rehearsal.call("std_srvs/srv/SetBool", "switch", {"data": True})
    assert client.parameters("other", ["gains"]) == {"gains": [1.0, 2.0]}
    assert rehearsal.lines == [
        "ros2 param set /other gains '[3.0, 1.0e-05]'",
        "ros2 service call /switch std_srvs/srv/SetBool '{data: true}'"]
    client.set_parameters("other", {"gains": [3.0, 4.0]})
    assert client.parameters("other", ["gains"]) == {"gains": [3.0, 4.0]}
    with pytest.raises(InvalidData):
        client.set_parameters("other", {"unknown": 1.0})
