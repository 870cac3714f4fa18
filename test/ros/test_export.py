# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`~/export`: documents of the payload in the answer, in files, and published with the robot."""

import os
import stat

import numpy as np
import payload_documents as read
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
import pinocchio as pin  # noqa: E402
import rclpy  # noqa: E402
from geometry_msgs.msg import TransformStamped  # noqa: E402
from node_client import (  # noqa: E402
    NODE,
    com_of,
    get_estimate,
    tensor_of,
    wait_until_all_is_used,
)
from rcl_interfaces.msg import SetParametersResult  # noqa: E402
from ros_process import LATCHED, PATIENCE, Robot, Stage  # noqa: E402
from shape_msgs.msg import SolidPrimitive  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402

from inertial_id_ros.apps.export_payload import main  # noqa: E402
from inertial_id_ros.export.formats import FORMATS  # noqa: E402
from inertial_id_ros.inertia import Body  # noqa: E402
from inertial_id_ros.srv import Export, Save, SetShape  # noqa: E402

SENSOR = "ft_sensor"


def export(stage, **fields):
    return stage.client.call(Export, f"{NODE}/export", Export.Request(**fields))


def export_with_estimate(stage, frame="", **fields):
    """What is answered, and the estimate that was there before and after it."""
    while True:
        before, answer = get_estimate(stage, frame).parameters, export(stage, **fields)
        after = get_estimate(stage, frame).parameters
        if (before.header, before.inertia, before.stale) == (after.header, after.inertia,
                                                             after.stale):
            return answer, after


def body_of(message):
    return Body(message.inertia.m, com_of(message.inertia), tensor_of(message.inertia))


class StatePublisher:
    """Stands in for robot_state_publisher, as far as its description is concerned: it publishes its
    parameter robot_description, and again whenever that is set."""

    def __init__(self, client, urdf, name="robot_state_publisher", accepts=True, **options):
        self.node = rclpy.create_node(name, context=client.context, **options)
        self.executor, self.accepts = client.executor, accepts
        self.executor.add_node(self.node)
        self._out = self.node.create_publisher(String, "/robot_description", LATCHED)
        self.node.declare_parameter("robot_description", urdf)
        self.node.add_on_set_parameters_callback(self._set)
        self._out.publish(String(data=urdf))

    def _set(self, parameters):
        if not self.accepts:
            return SetParametersResult(successful=False, reason="it is read-only")
        for parameter in parameters:
            self._out.publish(String(data=parameter.value))
        return SetParametersResult(successful=True)

    @property
    def urdf(self):
        return self.node.get_parameter("robot_description").value

    def close(self):
        self.executor.remove_node(self.node)
        self.node.destroy_node()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def stage(folder):
    """A node with an estimate that is saved, and a state publisher that gave it the robot."""
    with Stage() as made:
        made.start_node(state__directory=str(folder), estimator__rate=4.0)
        robot = Robot(made.client)
        made.early = export(made, format="urdf")
        made.publisher = StatePublisher(made.client, robot.cobot.urdf)
        made.original = robot.cobot.urdf
        publish_transforms_only(robot)
        robot.play(6.0)
        wait_until_all_is_used(made)
        made.client.call(Save, f"{NODE}/save", Save.Request(name="bottle.json"))
        yield made
        made.publisher.close()


def publish_transforms_only(robot):
    """The fixed transforms without the description, which the state publisher sends."""
    publish, client = robot.client.publish, robot.client
    client.publish = lambda topic, *rest: topic != "/robot_description" and publish(topic, *rest)
    robot.publish_description()
    client.publish = publish


READERS = {"urdf": lambda t: read.pinocchio_link(t, "payload"),
           "urdf_robot": lambda t: read.mujoco_body(t, "payload"),
           "sdf": lambda t: read.sdf_link(t, "payload"),
           "mjcf": lambda t: read.mujoco_body(t, "payload"),
           "usd": lambda t: read.usd_body(t, "payload"),
           "yaml": lambda t: read.yaml_bodies(t)[1], "franka_desk": read.franka_body}


@pytest.mark.parametrize("name", FORMATS)
def test_the_answer_is_the_estimate_in_that_format(stage, name):
    flange = SENSOR if name == "franka_desk" else ""  # never the sensor's frame by itself
    answer, estimate = export_with_estimate(stage, format=name, parent=flange)
    assert answer.success, answer.message
    read.assert_same(READERS[name](answer.text), body_of(estimate))
    assert answer.path == "" and ("it is stale" in answer.message) == estimate.stale


@pytest.mark.parametrize("name", ["urdf", "mjcf", "franka_desk"])
def test_another_parent_gets_the_numbers_of_get_inertial_parameters(stage, name):
    """The service of the estimate transforms with covariances, through phi."""
    answer, estimate = export_with_estimate(stage, "wrist_3_link", format=name,
                                            parent="wrist_3_link")
    assert answer.success, answer.message
    read.assert_same(READERS[name](answer.text), body_of(estimate))


def test_a_parent_may_be_known_from_fixed_transforms_alone(stage):
    """A plate, half a turn about z and 0.1 m along x from the sensor."""
    edge = TransformStamped(child_frame_id="plate")
    edge.header.frame_id = SENSOR
    edge.transform.translation.x, edge.transform.rotation.z = 0.1, 1.0
    edge.transform.rotation.w = 0.0
    stage.client.publish("/tf_static", TFMessage(transforms=[edge]), LATCHED)
    answer = {}

    def is_known():
        answer["last"] = export(stage, format="mjcf", parent="/plate")
        return answer["last"].success

    stage.client.spin_until(is_known)
    answer["last"], estimate = export_with_estimate(stage, format="mjcf", parent="/plate")
    body, turn = body_of(estimate), np.diag([-1.0, -1.0, 1.0])
    read.assert_same(read.mujoco_body(answer["last"].text, "payload"), Body(
        body.mass, turn @ (body.com - [0.1, 0.0, 0.0]), turn @ body.inertia_com @ turn))
    refused = export(stage, format="urdf_robot", parent="plate")
    assert "parent 'plate' is no link of the robot description" in refused.message


def test_a_saved_estimate_is_exported_to_a_file_as_the_command_does(stage, folder, tmp_path,
                                                                   capsys):
    answer = export(stage, format="mjcf", estimate="bottle.json", name="bottle.xml")
    assert answer.success and str(folder / "exports" / "bottle.xml") == answer.path
    assert main([str(folder / "saves" / "bottle.json"), "--format", "mjcf"]) == 0
    assert capsys.readouterr().out == answer.text == (folder / "exports" / "bottle.xml").read_text()
    umask = os.umask(0)
    os.umask(umask)
    mode = stat.S_IMODE((folder / "exports" / "bottle.xml").stat().st_mode)
    assert mode == 0o666 & ~umask
    assert (folder / "saves" / "bottle.json").exists()


@pytest.mark.parametrize(("fields", "said"), [
    ({"format": "step"}, "format is 'step'; allowed: urdf, urdf_robot"),
    ({"format": ""}, "format is ''"),
    ({"format": "sdf", "parent": "forearm_link"}, f"moves against '{SENSOR}'"),
    ({"format": "sdf", "parent": "nowhere"}, "'nowhere' is no link of the robot description"),
    ({"format": "sdf", "parent": "a\nb"}, "no link"),
    ({"format": "sdf", "name": "../a"}, "plain file name"),
    ({"format": "sdf", "estimate": "../a"}, "plain file name"),
    ({"format": "sdf", "estimate": "missing.json"}, "there is no saved estimate 'missing.json'"),
    ({"format": "sdf", "estimate": "link.json"}, "is a link to a place outside"),
    ({"format": "sdf", "publish": True}, "only urdf_robot can be published")])
def test_what_cannot_be_done_is_one_sentence_and_leaves_nothing(stage, folder, fields, said):
    if not (folder / "saves" / "link.json").is_symlink():
        (folder / "saves" / "link.json").symlink_to("/etc/hostname")
    before = sorted((folder / "exports").rglob("*"))
    answer = export(stage, **fields)
    assert not answer.success and said in answer.message and "\n" not in answer.message
    assert answer.text == answer.path == "" and sorted((folder / "exports").rglob("*")) == before


def test_before_an_estimate_the_reason_is_told(stage):
    assert not stage.early.success and "there is no estimate to export" in stage.early.message


def test_a_published_robot_has_the_payload_and_keeps_the_estimate(stage):
    """The node does not take it for another robot, which would forget the data; a second export
    replaces the payload."""
    for _ in range(2):
        answer, before = export_with_estimate(stage, format="urdf_robot", publish=True)
        assert answer.success and "set as robot_description of /robot_state_publisher" in (
            answer.message), answer.message
        assert stage.publisher.urdf == answer.text
        read.assert_same(read.pinocchio_link(answer.text, "payload"), body_of(before))
    begin, end = answer.text.index("<!-- inertial_id_ros payload b"), answer.text.rindex("</robot>")
    assert answer.text[:begin] + answer.text[end:] == stage.original
    got = stage.client.listen(String, "/robot_description")
    stage.client.spin_until(lambda: got and got[-1].data == answer.text)
    again, after = export_with_estimate(stage, format="urdf_robot")  # from its own description
    assert again.success and again.text.count('<link name="payload">') == 1
    assert after.valid and after.samples >= before.samples > 1000
    model = pin.buildModelFromXML(again.text)
    np.testing.assert_allclose(pin.computeTotalMass(model) - pin.computeTotalMass(
        pin.buildModelFromXML(stage.original)), after.inertia.m, rtol=1e-9)


def test_a_publisher_that_refuses_or_is_not_alone_is_named(stage):
    stage.publisher.accepts = False
    answer = export(stage, format="urdf_robot", publish=True)
    assert not answer.success and "it is read-only" in answer.message
    assert "'/robot_state_publisher' refuses robot_description" in answer.message
    other = StatePublisher(stage.client, stage.original, "other")
    answer = {}

    def both_are_found():
        answer["last"] = export(stage, format="urdf_robot", publish=True)
        return "must have one publisher, and has /other, /robot_state_publisher" in (
            answer["last"].message)

    stage.client.spin_until(both_are_found)
    assert not answer["last"].success
    other.close()
    stage.publisher.accepts = True


def test_a_shape_in_use_comes_along_in_usd_as_a_mesh(stage):
    """Of a box: eight corners, in the frame of the sensor."""
    box = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.1, 0.2, 0.3])
    for primitive in (box, SolidPrimitive()):
        request = SetShape.Request(primitive=primitive, bounding=True)
        request.pose.position.z = 0.2
        assert stage.client.call(SetShape, f"{NODE}/set_shape", request).success
        answer = export(stage, format="usd")
        assert answer.success, answer.message
        layer = read.usd_stage(answer.text)
        prims = layer.GetDefaultPrim().GetChildren()
        if primitive is box:
            points = np.array(prims[0].GetAttribute("points").Get())
            np.testing.assert_allclose(points.min(axis=0), [-0.05, -0.1, 0.05], atol=1e-6)
            np.testing.assert_allclose(points.max(axis=0), [0.05, 0.1, 0.35], atol=1e-6)
            assert "hull of the shape in use (box, which only bounds the object)" in answer.message
        else:
            assert prims == []


@pytest.mark.slow
def test_a_publisher_without_parameters_or_answers_is_named():
    """Nobody runs the callbacks of the second one."""
    for options, said in (
            ({"start_parameter_services": False}, "no node '/state' that takes parameters"),
            ({}, "did not answer within 5 s")):
        with Stage() as stage:
            stage.start_node(estimator__rate=4.0)
            robot = Robot(stage.client)
            publisher = StatePublisher(stage.client, robot.cobot.urdf, "state", **options)
            publish_transforms_only(robot)
            robot.play(6.0)
            wait_until_all_is_used(stage)
            stage.client.executor.remove_node(publisher.node)
            answer = export(stage, format="urdf_robot", publish=True)
            assert not answer.success and said in answer.message
            answer = export(stage, format="urdf_robot")  # goes on as before
            assert answer.success, answer.message
            publisher.node.destroy_node()


@pytest.mark.slow
def test_a_node_ends_while_a_publisher_does_not_answer():
    with Stage() as stage:
        node = stage.start_node(estimator__rate=4.0)
        robot = Robot(stage.client)
        publisher = StatePublisher(stage.client, robot.cobot.urdf, "state")
        publish_transforms_only(robot)
        robot.play(6.0)
        wait_until_all_is_used(stage)
        stage.client.executor.remove_node(publisher.node)
        caller = stage.client.node.create_client(Export, f"{NODE}/export")
        assert caller.wait_for_service(PATIENCE)
        asked = caller.call_async(Export.Request(format="urdf_robot", publish=True))
        stage.client.spin_until(lambda: "/state/set_parameters_atomically" in dict(
            stage.client.node.get_client_names_and_types_by_node(NODE[1:], "/")))
        status, said = node.stop()
        assert status == 0 and "Traceback" not in said and not asked.done(), said
        publisher.node.destroy_node()


@pytest.mark.slow
def test_a_locked_service_refuses():
    with Stage() as stage:
        stage.start_node(security__lock_services="export")
        answer = export(stage, format="urdf")
        assert not answer.success and "export is locked" in answer.message
