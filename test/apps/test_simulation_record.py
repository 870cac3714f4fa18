# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Bags of simulated recordings, read back, and the command line that writes them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rosbags.interfaces import QosDurability
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.apps.simulation.settings import CobotSettings, parse
from inertial_id_ros.apps.simulation.write import main, write_bag
from inertial_id_ros.arguments import Parser
from inertial_id_ros.errors import RecordingError

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = CobotSettings(payload="hammer", tilt=(5.0, -3.0), seed=4, bias=(1.0, 2, 3, 4, 5, 6))


def read(path):
    """Messages by topic, each with its bag time, and the durability of each topic."""
    store, messages, durability = get_typestore(Stores.ROS2_JAZZY), {}, {}
    with Reader(path) as reader:
        for connection in reader.connections:
            durability[connection.topic] = connection.ext.offered_qos_profiles[0].durability
        for connection, stamp, raw in reader.messages():
            message = store.deserialize_cdr(raw, connection.msgtype)
            messages.setdefault(connection.topic, []).append((stamp, message))
    return messages, durability


def nanoseconds(stamp):
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def xyz(v):
    return [v.x, v.y, v.z]


def matrix(transform):
    """Homogeneous matrix of a TransformStamped."""
    r, out = transform.transform.rotation, np.eye(4)
    out[:3, :3] = Rotation.from_quat([r.x, r.y, r.z, r.w]).as_matrix()
    out[:3, 3] = xyz(transform.transform.translation)
    return out


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("bags") / "bag"
    cobot = SimulatedCobot(SETTINGS)
    write_bag(path, cobot, cobot.run(2.0), start=1000.5)
    return cobot, cobot.run(2.0), *read(path)


def test_bag_holds_every_sample_and_transforms_at_a_hundred_a_second(recorded):
    _, _, messages, durability = recorded
    assert {topic: len(found) for topic, found in messages.items()} == {
        "/joint_states": 1000, "/wrench": 1000, "/tf": 200, "/tf_static": 1,
        "/robot_description": 1, "/simulate_cobot/truth": 1}
    latched = {topic for topic, d in durability.items() if d == QosDurability.TRANSIENT_LOCAL}
    assert latched == {"/tf_static", "/robot_description", "/simulate_cobot/truth"}


def test_readings_and_stamps_in_the_bag_are_those_of_the_recording(recorded):
    cobot, recording, messages, _ = recorded
    stamps = 1_000_500_000_000 + np.arange(1000) * 2_000_000
    for topic in ("/joint_states", "/wrench"):
        assert [stamp for stamp, _ in messages[topic]] == stamps.tolist()
        assert [nanoseconds(m.header.stamp) for _, m in messages[topic]] == stamps.tolist()
    assert [stamp for stamp, _ in messages["/tf"]] == stamps[::5].tolist()
    joints = [m for _, m in messages["/joint_states"]]
    assert tuple(joints[0].name) == cobot.joint_names
    np.testing.assert_array_equal([m.position for m in joints], recording.q)
    np.testing.assert_array_equal([m.velocity for m in joints], recording.dq)
    wrenches = [m for _, m in messages["/wrench"]]
    assert wrenches[0].header.frame_id == "ft_sensor"
    np.testing.assert_array_equal(
        [[*xyz(m.wrench.force), *xyz(m.wrench.torque)] for m in wrenches], recording.wrench)


def test_transforms_in_the_bag_lead_from_world_to_the_sensor(recorded):
    _, recording, messages, _ = recorded
    statics = messages["/tf_static"][0][1].transforms
    moving = messages["/tf"][-1][1].transforms
    links = {t.child_frame_id: t for t in [*statics, *moving]}
    frame, pose = "ft_sensor", np.eye(4)
    while frame != "world":
        pose, frame = matrix(links[frame]) @ pose, links[frame].header.frame_id
    # Transforms come from measured joint positions: encoder noise of 1e-4 rad over 1 m.
    np.testing.assert_allclose(pose[:3, :3], recording.truth.rotation[995], atol=1e-3)
    np.testing.assert_allclose(pose[:3, 3], recording.truth.position[995], atol=1e-3)


def test_latched_messages_hold_the_description_and_the_truth(recorded):
    cobot, _, messages, _ = recorded
    assert messages["/robot_description"][0][1].data == cobot.urdf
    truth = messages["/simulate_cobot/truth"][0][1]
    hammer = PAYLOADS["hammer"]
    assert truth.header.frame_id == "ft_sensor"
    assert truth.inertia.m == hammer.mass
    np.testing.assert_array_equal(xyz(truth.inertia.com), hammer.com)
    assert truth.inertia.iyz == hammer.inertia_com[1, 2]
    assert truth.inertia.izz == hammer.inertia_com[2, 2]


def test_an_existing_folder_is_refused_and_nothing_is_touched(tmp_path):
    cobot = SimulatedCobot()
    (tmp_path / "kept").write_text("x")
    with pytest.raises(RecordingError, match="exists already"):
        write_bag(tmp_path, cobot, cobot.run(0.1))
    assert [p.name for p in tmp_path.iterdir()] == ["kept"]


def test_a_bag_that_is_not_finished_is_removed(tmp_path):
    cobot = SimulatedCobot()
    with pytest.raises(TypeError):
        write_bag(tmp_path / "bag", cobot, cobot.run(0.1)._replace(wrench=np.zeros((2, 5))))
    assert not (tmp_path / "bag").exists()


def test_options_of_the_command_line_become_settings():
    settings, others = parse(Parser(), [
        "--payload", "hammer", "--speed", "1.5", "--bias=-1e-3,2,3,4,5,6", "--noise", "0,0",
        "--seed", "3", "--duration", "2"])
    assert settings == CobotSettings(payload="hammer", speed=1.5, bias=(-1e-3, 2, 3, 4, 5, 6),
                                     noise=(0, 0), seed=3, duration=2.0) and not others


@pytest.mark.parametrize(("words", "named"), [
    (["--write", "bag"], "duration"),
    (["--write", "bag", "--duration", "1", "--payload", "anvil"], "anvil"),
    (["--write", ".", "--duration", "1"], "exists"), (["--write", "a", "--speed", "fast"], "fast"),
    (["--write", "a", "--bias", "1,two"], "1,two"),
    (["--write", "a", "--rate", "1"], "rate is 1 Hz"),
    (["--write", "a", "--frobnicate"], "--frobnicate"), ([], "--write")])
def test_bad_command_line_gives_one_line_and_status_two(words, named, capsys):
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and named in error and error.count("\n") == 1


@pytest.mark.slow
def test_bag_can_be_written_without_ros(tmp_path):
    # An importer that refuses ROS stands for a machine without it.
    code = ("import sys; sys.modules.update(rclpy=None, geometry_msgs=None, sensor_msgs=None);"
            "from inertial_id_ros.apps.simulation.write import main; sys.exit(main())")
    result = subprocess.run(
        [sys.executable, "-c", code, "--write", str(tmp_path / "bag"), "--duration", "0.5"],
        cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(read(tmp_path / "bag")[0]["/wrench"]) == 250
