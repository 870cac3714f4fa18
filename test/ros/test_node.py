# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node as a process: what another process reads from it, the compensated wrench among it."""

import json
import os
from contextlib import closing

import node_client
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from node_client import NODE, PARAMETERS, com_of, get_estimate, hears, tensor_of, wait_for_valid
from ros_process import Client, Robot, Stage, play_until, wait_until
from shape_msgs.msg import SolidPrimitive
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker, MarkerArray

from inertial_id_ros.estimate import VERDICT_WORDS
from inertial_id_ros.inertia import PARAMETER_NAMES
from inertial_id_ros.msg import CompensationState, InertialParameters, InertialSummary
from inertial_id_ros.srv import GetInertialParameters, Save, SetShape, SetTool


@pytest.fixture(scope="module")
def identified(tmp_path_factory):
    """A node that has identified the hammer of a robot that now stands still."""
    folder = tmp_path_factory.mktemp("state")
    with Stage() as stage:
        stage.node = stage.start_node(wrench__sensor="ideal", estimator__rate=2.0,
                                      state__directory=str(folder))
        stage.folder = folder
        stage.robot = Robot(stage.client)
        stage.robot.publish_description()
        plain = stage.client.listen(InertiaStamped, f"{NODE}/inertia", 10)
        stage.robot.play(6.0)
        play_until(stage.robot.play, lambda: hears(stage, lambda: plain))
        node_client.wait_until_all_is_used(stage)
        yield stage


def test_a_late_joiner_gets_the_last_estimate_and_it_is_the_truth(identified):
    with closing(Client(identified.domain)) as late:
        got = late.listen(InertialParameters, PARAMETERS)
        late.spin_until(lambda: got)
    message = got[0]
    assert message.valid
    truth = identified.robot.cobot.carried
    assert node_client.is_physical(message.inertia)
    assert message.inertia.m == pytest.approx(truth.mass, rel=0.01)
    np.testing.assert_allclose(com_of(message.inertia), truth.com, atol=2e-3)
    size = np.abs(truth.inertia_com).max()
    np.testing.assert_allclose(tensor_of(message.inertia), truth.inertia_com, atol=0.3 * size)
    covariance = message.covariance.reshape(10, 10)
    np.testing.assert_allclose(covariance, covariance.T)
    assert np.linalg.eigvalsh(covariance)[0] >= -1e-12
    assert message.header.frame_id == "ft_sensor" and message.samples > 500
    assert message.method == "density" and message.solve_time.sec == 0


def test_the_plain_inertia_topic_carries_the_same_numbers_while_they_are_fresh(identified):
    plain = identified.client.listen(InertiaStamped, f"{NODE}/inertia", 10)
    got = identified.client.listen(InertialParameters, PARAMETERS)
    play_until(identified.robot.play, lambda: hears(
        identified, lambda: plain and got[-1:] and plain[-1].header == got[-1].header))
    assert plain[-1].inertia == got[-1].inertia
    node_client.wait_until_all_is_used(identified)
    count = len(plain)
    wait_for_valid(identified, 3)
    assert len(plain) == count  # it has no mark that could say that the numbers are held


def test_the_service_gives_the_estimate_in_another_frame(identified):
    here, there = get_estimate(identified).parameters, get_estimate(identified, "base_link")
    assert there.success and there.parameters.header.frame_id == "base_link"
    stamp, of_pose = here.header.stamp, there.parameters.header.stamp
    assert (of_pose.sec, of_pose.nanosec) >= (stamp.sec, stamp.nanosec)
    moved = there.parameters.inertia
    # Pose of the sensor at the last sample, from the simulation (its base is not tilted).
    rotation, origin = identified.robot.truth.rotation[-1], identified.robot.truth.position[-1]
    assert moved.m == here.inertia.m
    np.testing.assert_allclose(com_of(moved), rotation @ com_of(here.inertia) + origin, atol=1e-3)
    np.testing.assert_allclose(tensor_of(moved), rotation @ tensor_of(here.inertia) @ rotation.T,
                               atol=1e-3 * np.abs(tensor_of(here.inertia)).max() + 1e-6)
    before = here.covariance.reshape(10, 10)[1:4, 1:4]
    after = there.parameters.covariance.reshape(10, 10)[1:4, 1:4]
    np.testing.assert_allclose(after, rotation @ before @ rotation.T,
                               atol=1e-2 * np.abs(before).max())
    assert there.parameters.bias == here.bias
    assert node_client.is_physical(moved) and there.parameters.valid


def test_an_unknown_frame_is_named_and_no_numbers_are_given(identified):
    response = get_estimate(identified, "nowhere")
    assert not response.success and "nowhere" in response.message
    assert not response.parameters.valid and node_client.all_numbers_nan(response.parameters)


def test_parameter_queries_give_the_same_as_the_topic(identified):
    message = wait_for_valid(identified)
    mass, centre, inertia, sigma, valid, frame, stamp = node_client.get_parameters(
        identified, *(f"payload.{n}" for n in (
            "mass", "com", "inertia", "sigma", "valid", "frame_id", "stamp")))
    i = message.inertia
    assert mass.double_value == i.m and valid.bool_value and frame.string_value == "ft_sensor"
    assert list(centre.double_array_value) == com_of(i).tolist()
    is_known = InertialParameters.UNOBSERVED not in message.verdict[4:]
    np.testing.assert_array_equal(inertia.double_array_value, [
        i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz] if is_known else [np.nan] * 6)
    np.testing.assert_allclose(np.square(sigma.double_array_value),
                               np.diag(message.covariance.reshape(10, 10)), rtol=1e-9)
    assert stamp.integer_value == node_client.stamp_of(message)


@pytest.mark.parametrize(("name", "value", "said"), [
    ("estimator.rate", 500.0, "estimator.rate"),
    ("wrench.topic", "/ft", "wrench.topic"),
    ("load.rated_payload", -2.0, "load.rated_payload"),
    ("estimator.method", "pmd", "'pmd'"),
    ("use_sim_time", True, "use_sim_time"), ("payload.mass", 3.0, "payload.mass: read-only"),
])
def test_a_bad_value_while_running_is_refused_with_its_name(identified, name, value, said):
    before = node_client.get_parameters(identified, name)[0]
    result = node_client.set_parameter(identified, name, value)
    assert not result.successful and said in result.reason
    assert node_client.get_parameters(identified, name)[0] == before


def test_a_setting_changed_while_running_takes_effect_and_lasts(identified):
    """Also where the newest estimate that was due is of the same samples: each is, at 10 Hz."""
    got = identified.client.listen(InertialParameters, PARAMETERS)

    def change(name, value, holds=lambda m: True):
        assert node_client.set_parameter(identified, name, value).successful
        for until in range(len(got) + 1, len(got) + 4):
            identified.client.spin_until(
                lambda until=until: len(got) >= until and holds(got[-1]))

    change("estimator.rate", 10.0)
    assert node_client.get_parameters(identified, "estimator.rate")[0].double_value == 10.0
    identified.robot.play(0.5)
    node_client.wait_until_all_is_used(identified)
    change("load.reference_mass", 9.0, lambda m: not m.valid)
    change("load.reference_mass", 0.0, lambda m: m.valid)
    change("estimator.method", "lmi", lambda m: m.method == "lmi")
    change("estimator.method", "density", lambda m: m.method == "density")


def test_saving_writes_the_last_estimate(identified):
    response = identified.client.call(Save, f"{NODE}/save", Save.Request(name="hammer.json"))
    assert response.success, response.message
    assert response.path == str(identified.folder / "saves" / "hammer.json")
    report = json.loads((identified.folder / "saves" / "hammer.json").read_text())
    message = wait_for_valid(identified)
    assert report["mass"] == message.inertia.m and report["com"] == com_of(message.inertia).tolist()
    names = sorted(str(p.relative_to(identified.folder)) for p in identified.folder.rglob("*"))
    assert names == ["saves", "saves/hammer.json"]  # all whole


def test_a_shape_is_placed_by_its_frame(identified):
    box = SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[0.1, 0.2, 0.3])
    request = SetShape.Request(frame_id="base_link", primitive=box, bounding=True)
    turn = identified.robot.truth.rotation[-1]
    p = request.pose.position
    p.x, p.y, p.z = identified.robot.truth.position[-1].tolist()
    response = identified.client.call(SetShape, f"{NODE}/set_shape", request)
    assert response.success
    lengths = np.abs(turn.T) @ [0.1, 0.2, 0.3]  # bounding box along the sensor's axes
    said = response.message.split("bounding box ")[1].split(" m")[0].split(" x ")
    np.testing.assert_allclose([float(x) for x in said], lengths, atol=2e-3)
    forgotten = identified.client.call(SetShape, f"{NODE}/set_shape")
    assert forgotten.success and forgotten.message != response.message


def test_the_summary_says_what_the_parameters_say(identified):
    got = identified.client.listen(InertialSummary, f"{NODE}/summary")
    message = wait_for_valid(identified)
    identified.client.spin_until(lambda: got and got[-1].sequence >= message.sequence)
    said = next(m for m in got if m.valid)
    i = message.inertia
    np.testing.assert_allclose(said.values[:4], [i.m, i.com.x, i.com.y, i.com.z], rtol=1e-3,
                               atol=1e-4)
    assert list(said.names) == list(PARAMETER_NAMES)
    assert said.text.startswith(f"mass {said.values[0]:.3f} ± ") and "centre of mass" in said.text
    assert said.header.frame_id == "ft_sensor" and set(said.verdicts) <= set(VERDICT_WORDS)


def test_markers_show_a_box_with_the_inertia_of_the_payload(identified):
    got = identified.client.listen(MarkerArray, f"{NODE}/markers")
    said = identified.client.listen(InertialParameters, PARAMETERS, 100)

    def are_of_one_estimate():
        return (got and said and said[-1].valid and got[-1].markers[1].action == Marker.ADD
                and got[-1].markers[0].header.stamp == said[-1].header.stamp)

    play_until(identified.robot.play, lambda: hears(identified, are_of_one_estimate))
    (ball, cuboid, text), inertia = got[-1].markers, said[-1].inertia
    x, y, z = cuboid.scale.x, cuboid.scale.y, cuboid.scale.z
    moments = inertia.m / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    np.testing.assert_allclose(np.sort(moments), np.linalg.eigvalsh(tensor_of(inertia)), rtol=1e-6)
    assert (ball.pose.position.x, ball.pose.position.z) == (inertia.com.x, inertia.com.z)
    assert cuboid.header.frame_id == "ft_sensor"
    assert text.text.startswith(f"{inertia.m:.3f} ± ") and "identified" in text.text


def test_diagnostics_warn_when_the_sensor_is_silent(identified):
    got = identified.client.listen(DiagnosticArray, "/diagnostics", 10)

    def level():
        return next((s.level for m in got[-1:] for s in m.status if s.name.endswith("inputs")), b"")

    identified.client.spin_until(lambda: level() == DiagnosticStatus.WARN)
    identified.robot.play(0.5)
    identified.client.spin_until(lambda: level() == DiagnosticStatus.OK)


# ---- the compensated wrench; the last test makes the node forget ---------------------------------


@pytest.fixture(scope="module")
def compensated(identified):
    """The node publishes the compensated wrench."""
    identified.states = identified.client.listen(CompensationState, f"{NODE}/compensation_state")
    identified.wrenches = identified.client.listen(
        WrenchStamped, f"{NODE}/wrench_compensated", 1000)
    play_until(identified.robot.play, lambda: hears(  # a busy node knows it later than it is sent
        identified, lambda: identified.wrenches and identified.states and (
            identified.states[-1].mode == CompensationState.PAYLOAD)))
    return identified


def test_each_wrench_comes_back_with_its_stamp_and_frame(compensated):
    wanted: list[int] = []
    compensated.robot.play(1.0, each=wanted.append)
    compensated.client.spin_until(
        lambda: set(wanted) <= {node_client.stamp_of(m) for m in compensated.wrenches})
    stamps = [node_client.stamp_of(m) for m in compensated.wrenches]
    assert stamps == sorted(set(stamps))
    late = compensated.wrenches[-100:]
    assert {m.header.frame_id for m in late} == {"ft_sensor"}
    weight = 9.81 * compensated.robot.cobot.carried.mass
    forces = np.array([[m.wrench.force.x, m.wrench.force.y, m.wrench.force.z] for m in late])
    assert np.sqrt((forces**2).mean()) < 0.02 * weight


def test_no_wrench_is_lost_while_a_service_is_called_twenty_times_a_second(compensated):
    """It needs the worker, as the frame moves; nothing but the calls waits for that."""
    client, wanted, asked = compensated.client, list[int](), []
    service = client.node.create_client(GetInertialParameters, f"{NODE}/get_inertial_parameters")
    client.spin_until(service.service_is_ready)

    def each(stamp):
        wanted.append(stamp)
        if len(wanted) % 12 == 0:  # of 250 a second
            asked.append(service.call_async(GetInertialParameters.Request(
                target_frame="base_link")))
        for _ in range(3):  # ten answers may wait, and a thousand wrenches
            client.executor.spin_once(timeout_sec=0.0)

    compensated.robot.play(3.0, speed=1.0, each=each)
    client.spin_until(lambda: node_client.stamp_of(compensated.wrenches[-1]) == wanted[-1] and (
        sum(one.done() for one in asked) > 30))
    assert all(one.result().success for one in asked if one.done())
    stamps = [node_client.stamp_of(message) for message in compensated.wrenches]
    assert stamps[stamps.index(wanted[0]):] == wanted
    client.node.destroy_client(service)


def test_the_state_tells_what_is_removed(compensated):
    compensated.robot.play(0.5)
    compensated.client.spin_until(lambda: compensated.states[-1].blend > 0.99)
    state = compensated.states[-1]
    assert state.mode == CompensationState.PAYLOAD and not state.old
    assert state.inertia.m == pytest.approx(compensated.robot.cobot.carried.mass, rel=0.02)
    assert state.header.frame_id == "ft_sensor" and state.estimate_stamp.sec > 0
    assert 0.0 <= state.age < 60.0 and state.reason


def test_the_wrench_is_silent_while_the_worker_hangs(compensated):
    """The payload may be released meanwhile. It hangs on a tool file that nobody writes."""
    client, play = compensated.client, compensated.robot.play
    file = compensated.folder / "tools" / "never.json"
    file.parent.mkdir()
    os.mkfifo(file)
    service = client.node.create_client(SetTool, f"{NODE}/set_tool")
    client.spin_until(service.service_is_ready)
    asked = service.call_async(SetTool.Request(action=SetTool.Request.LOAD, name=file.name))
    play_until(play, lambda: hears(
        compensated, lambda: compensated.states[-1].mode == CompensationState.SILENT), 10.0)
    since = compensated.robot.newest_ns
    play(0.5)
    assert hears(compensated, lambda: (
        node_client.stamp_of(compensated.wrenches[-1]) <= since and not asked.done()))
    file.write_text("")
    play_until(play, lambda: hears(compensated, lambda: (
        asked.done() and node_client.stamp_of(compensated.wrenches[-1]) > since)))


def test_a_reset_forgets_everything_until_new_data_come(compensated):
    client, first = compensated.client, wait_for_valid(compensated)
    assert client.call(Trigger, f"{NODE}/reset").success
    got = client.listen(InertialParameters, PARAMETERS)
    plain = client.listen(InertiaStamped, f"{NODE}/inertia", 10)
    client.spin_until(lambda: not got[-1].valid)
    assert node_client.all_numbers_nan(got[-1]) and got[-1].status
    refused = get_estimate(compensated)
    assert not refused.success and refused.message
    assert node_client.all_numbers_nan(refused.parameters)
    assert not client.call(Save, f"{NODE}/save").success
    counts = len(got) + 3, len(plain)
    client.spin_until(lambda: len(got) >= counts[0])
    assert len(plain) == counts[1]  # nobody is given the forgotten payload
    wait_until(lambda: not node_client.get_parameters(compensated, "payload.valid")[0].bool_value)
    assert np.isnan(node_client.get_parameters(compensated, "payload.mass")[0].double_value)
    client.spin_until(lambda: compensated.states[-1].mode == CompensationState.SILENT)
    silent, count = compensated.states[-1], len(compensated.wrenches)
    assert silent.reason and np.isnan(silent.inertia.m)
    compensated.robot.play(0.3)
    assert len(compensated.wrenches) == count
    play_until(compensated.robot.play, lambda: hears(
        compensated, lambda: len(compensated.wrenches) > count and got[-1].valid))
    assert got[-1].inertia.m == pytest.approx(first.inertia.m, rel=0.02)
