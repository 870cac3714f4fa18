# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a recording lacks, or holds of its driver, as `identify_bag` says it."""

import dataclasses
import json
from pathlib import Path

import bags
import numpy as np
import pytest
from rosbags.typesys import get_types_from_msg

from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.cli import NOT_IDENTIFIED
from inertial_id_ros.io.messages import DEFINITIONS

ROOT = Path(__file__).resolve().parents[2]
TRUTH = bags.Payload()
UR_WRENCH = "/force_torque_sensor_broadcaster/wrench"


def run(*words, capsys):
    """Exit status, standard output in one line, and standard error of the command line."""
    status = main([str(w) for w in words])
    out, err = capsys.readouterr()
    return status, " ".join(out.split()), err


DYNAMIC, FRANKA = "control_msgs/msg/DynamicJointState", "franka_msgs/msg/FrankaRobotState"
for _name, _text in {**DEFINITIONS, FRANKA: "geometry_msgs/InertiaStamped inertia_load\n"}.items():
    if _name not in bags.STORE.types:
        bags.STORE.register(get_types_from_msg(_text, _name))
REMOVED = bags.Payload(mass=0.61, com=(0.01, 0.02, 0.05), inertia=np.zeros((3, 3)),
                       bias=(0.0,) * 6)


def payload_states(duration, mass, topic="/dynamic_joint_states"):
    """What a robot states of its configured payload, as Universal Robots do."""
    state, value = bags.STORE.types[DYNAMIC], bags.STORE.types["control_msgs/msg/InterfaceValue"]
    return bags.Stream(topic, DYNAMIC, [
        (s, state(header=bags.header(s, ""), joint_names=["payload"], interface_values=[value(
            interface_names=["mass", "cog.x", "cog.y", "cog.z"],
            values=np.array([mass, *REMOVED.com]))]))
        for s in bags.nanoseconds(bags.times(duration, 100.0))])


def franka_states(duration, mass, topic="/robot_state"):
    """What a Franka states of its load."""
    types = bags.STORE.types
    inertia = types["geometry_msgs/msg/Inertia"](
        m=mass, com=types["geometry_msgs/msg/Vector3"](*REMOVED.com), ixx=0.0, ixy=0.0, ixz=0.0,
        iyy=0.0, iyz=0.0, izz=0.0)
    stamped = types["geometry_msgs/msg/InertiaStamped"]
    return bags.Stream(topic, FRANKA, [
        (s, types[FRANKA](inertia_load=stamped(header=bags.header(s, "fr3_link6"),
                                               inertia=inertia)))
        for s in bags.nanoseconds(bags.times(duration, 100.0))])


def compensated_stream(duration):
    """Wrenches from which the driver has removed the payload that is configured."""
    stream = bags.wrench_stream(duration, TRUTH)
    removed = bags.wrench(bags.times(duration, 200.0), REMOVED)
    for (_, message), row in zip(stream.samples, removed, strict=True):
        for vector, values in ((message.wrench.force, row[:3]), (message.wrench.torque, row[3:])):
            vector.x, vector.y, vector.z = (
                float(v - w) for v, w in zip((vector.x, vector.y, vector.z), values, strict=True))
    return stream


@pytest.mark.slow
@pytest.mark.parametrize(("states", "source"), [
    (payload_states, "dynamic_joint_states"), (franka_states, "franka")])
@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_payload_that_the_recording_states_is_named_and_can_be_added(
        tmp_path, capsys, states, source, storage):
    told = states(5.0, REMOVED.mass)
    streams = [compensated_stream(5.0), bags.joint_stream(5.0),
               bags.text_stream("/robot_description", bags.URDF)]
    bag, result = bags.write_bag(tmp_path / "bag", [*streams, told], storage), tmp_path / "out.json"
    status, out, _ = run(bag, "--json", result, capsys=capsys)
    assert status == NOT_IDENTIFIED and "The result is in doubt:" in out
    rest = TRUTH.mass - REMOVED.mass
    assert json.loads(result.read_text())["mass"] == pytest.approx(rest, abs=2e-3)
    assert f"{told.topic} states that a payload of 0.610 kg is configured" in out
    options = [f"precompensated.source={source}", f"precompensated.topic={told.topic}"]
    assert all(option in out for option in options)
    status, out, _ = run(bag, "--json", result, *(w for o in options for w in ("--set", o)),
                         "--set", "precompensated.frame=sensor", capsys=capsys)
    tree = json.loads(result.read_text())
    assert status == 0 and tree["mass"] == pytest.approx(TRUTH.mass, abs=2e-3)
    np.testing.assert_allclose(tree["com"], TRUTH.com, atol=5e-4)
    assert "is configured on the robot" not in out
    empty = bags.write_bag(tmp_path / "empty", [*streams, states(5.0, 0.0)])
    assert "is configured on the robot" not in run(empty, capsys=capsys)[1]


def without_stamps(stream):
    """The stream as a driver records it that leaves all stamps zero."""
    def clear(part):
        return dataclasses.replace(part, header=bags.header(0, part.header.frame_id))

    return dataclasses.replace(stream, samples=[
        (time, dataclasses.replace(m, transforms=[clear(t) for t in m.transforms])
         if hasattr(m, "transforms") else clear(m)) for time, m in stream.samples])


@pytest.mark.slow
def test_the_configuration_of_ur_works_on_a_recording_without_the_program_topic(tmp_path, capsys):
    bag = bags.write_bag(tmp_path / "bag", [
        bags.wrench_stream(5.0, TRUTH, topic=UR_WRENCH), bags.joint_stream(5.0),
        bags.text_stream("/robot_description", bags.URDF)])
    words = [bag, "--config", ROOT / "config/ur.yaml", "--sensor-frame", "sensor"]
    status, out, _ = run(*words, capsys=capsys)
    assert status == 0
    assert "warning: program topic /io_and_status_controller/robot_program_running is not in" in out
    status, _, err = run(*words, "--set", "precompensated.program_topic=/started", capsys=capsys)
    assert status == 2 and "program topic /started is not in the recording" in err


@pytest.mark.slow
def test_the_report_says_how_much_of_the_recording_is_used_and_the_whole_can_be(tmp_path, capsys):
    bag, result = bags.joint_bag(tmp_path / "bag", duration=8.0), tmp_path / "result.json"
    used = {}
    for words in (["--window", "3"], ["--window", "all"], []):
        status, out, _ = run(bag, "--json", result, *words, capsys=capsys)
        tree = json.loads(result.read_text())
        assert status == 0
        assert ("only the last 3 s of 8 s" in out and "--window all" in out) == ("3" in words)
        used["".join(words)] = tree["window"], tree["samples"]
    assert used["--window3"][0] < 4.0 < 7.0 < used["--windowall"][0]
    assert used["--windowall"][1] > 2 * used["--window3"][1]
    assert used["--windowall"] == used[""]
    long = bags.joint_bag(tmp_path / "long", duration=3.0, extra=[bags.text_stream(
        "/end", "", bags.START + 3700 * 10**9)])
    status, out, _ = run(long, "--window", "all", capsys=capsys)
    assert status == 0 and "the last 3600 s of 3700 s" in out and "the most allowed" in out


@pytest.mark.slow
@pytest.mark.parametrize(("bare", "said"), [
    ("wrench", "wrench samples without a stamp"), ("joints", "the joint states have no stamp"),
    ("tf", "the transforms have no stamp")])
def test_samples_without_stamps_are_named_and_the_times_of_recording_mend_it(
        tmp_path, capsys, bare, said):
    streams = {"wrench": bags.wrench_stream(5.0, TRUTH)}
    streams |= ({"tf": bags.tf_stream(5.0)} if bare == "tf" else {"joints": bags.joint_stream(5.0)})
    streams[bare] = without_stamps(streams[bare])
    description = bags.text_stream("/robot_description", bags.URDF)
    bag = bags.write_bag(tmp_path / "bag", [*streams.values(),
                                            *([] if bare == "tf" else [description])])
    status, out, _ = run(bag, capsys=capsys)
    assert status == 1 and said in out and "--stamps recorded" in out
    result = tmp_path / "result.json"
    status, out, _ = run(bag, "--stamps", "recorded", "--json", result, capsys=capsys)
    assert status == 0 and said not in out
    assert json.loads(result.read_text())["mass"] == pytest.approx(TRUTH.mass, abs=2e-3)


@pytest.mark.slow
def test_joint_states_without_a_robot_description_are_named_with_the_option_that_gives_one(
        tmp_path, capsys):
    streams = [bags.wrench_stream(5.0, TRUTH), bags.joint_stream(5.0)]
    bag = bags.write_bag(tmp_path / "bare", streams)
    status, _, err = run(bag, capsys=capsys)
    assert status == 2 and "no robot description (/robot_description)" in err and "--urdf" in err
    (tmp_path / "arm.urdf").write_text(bags.URDF)
    assert run(bag, "--urdf", tmp_path / "arm.urdf", capsys=capsys)[0] == 0
    bag = bags.write_bag(tmp_path / "tf", [*streams, bags.tf_stream(5.0)])
    status, out, _ = run(bag, capsys=capsys)
    assert status == 0 and "taken from the transforms, unless --urdf" in out


@pytest.mark.slow
@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_quality_of_service_that_metadata_states_otherwise_hides_no_topic(
        tmp_path, capsys, storage):
    bag = bags.joint_bag(tmp_path / "bag", storage=storage)
    file = bag / "metadata.yaml"
    text = file.read_text()
    changed = text.replace("depth: 1", "depth: 10").replace("transient_local", "volatile")
    assert changed != text
    file.write_text(changed)
    status, _, _ = run(bag, capsys=capsys)
    assert status == 0


@pytest.mark.slow
def test_the_imu_of_the_base_is_read_where_it_is_named(tmp_path, capsys):
    """It stands upside down in a frame of its own, on a base at rest."""
    kind, types = "sensor_msgs/msg/Imu", bags.STORE.types
    vector, none = types["geometry_msgs/msg/Vector3"], np.zeros(9)
    readings = [(s, types[kind](
        header=bags.header(s, "imu"), orientation=types["geometry_msgs/msg/Quaternion"](0, 0, 0, 1),
        orientation_covariance=none, angular_velocity=vector(0.0, 0.0, 0.0),
        angular_velocity_covariance=none, linear_acceleration=vector(0.0, 0.0, -9.81),
        linear_acceleration_covariance=none)) for s in bags.nanoseconds(bags.times(5.0, 100.0))]
    place = types["tf2_msgs/msg/TFMessage"](transforms=[bags.transform(
        bags.START, "base", "imu", np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))])
    bag = bags.joint_bag(tmp_path / "bag", 5.0, TRUTH, extra=[
        bags.Stream("/imu", kind, readings),
        bags.Stream("/tf_static", "tf2_msgs/msg/TFMessage", [(bags.START, place)], latched=True)])
    result = tmp_path / "result.json"
    status, _, err = run(bag, "--json", result, "--set", "base_imu.topic=/imu", capsys=capsys)
    assert status == 0, err
    assert json.loads(result.read_text())["mass"] == pytest.approx(TRUTH.mass, rel=0.01)
    status, _, err = run(bag, "--set", "base_imu.topic=/other", capsys=capsys)
    assert status == 2 and "base IMU topic /other is not in the recording" in err
