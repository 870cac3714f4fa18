# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node simulate_cobot as a process: rates, stamps, latched topics, clean exit, user errors."""

import functools
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("rclpy")
TFMessage = pytest.importorskip("tf2_msgs.msg").TFMessage
from geometry_msgs.msg import InertiaStamped, WrenchStamped  # noqa: E402
from ros_process import LATCHED, PATIENCE, Listener, environment, own_domain  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from inertial_id_ros.apps.simulation.cobot import SimulatedCobot  # noqa: E402
from inertial_id_ros.apps.simulation.payload import PAYLOADS  # noqa: E402
from inertial_id_ros.apps.simulation.settings import CobotSettings  # noqa: E402

domain = functools.cache(own_domain)  # chosen when the first test needs it
TYPES = {"/joint_states": JointState, "/wrench": WrenchStamped, "/tf": TFMessage,
         "/tf_static": TFMessage, "/robot_description": String,
         "/simulate_cobot/truth": InertiaStamped}


def start(*words, **options):
    """The node as a process of its own, in this test's domain."""
    return subprocess.Popen(
        [sys.executable, "-m", "inertial_id_ros.ros.tools.simulate_cobot", *words],
        env=environment(domain()), stderr=subprocess.PIPE, text=True, **options)


@pytest.fixture
def listen():
    """Makes a listener to every topic of the node; closes it after the test."""
    made = []

    def make():
        made.append(Listener(domain()))
        for topic, kind in TYPES.items():
            qos = LATCHED if topic not in ("/joint_states", "/wrench", "/tf") else 5000
            made[-1].subscribe(topic, kind, qos)
        return made[-1]

    yield make
    for listener in made:
        listener.close()


def seconds(stamp):
    return stamp.sec + 1e-9 * stamp.nanosec


def finish(process, number, times=1):
    for _ in range(times):
        process.send_signal(number)
        time.sleep(0.05)
    try:
        errors = process.communicate(timeout=PATIENCE)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, errors


@pytest.mark.alone
def test_node_publishes_its_samples_at_the_wanted_rate_with_transforms_at_100_hz(listen):
    listener = listen()
    offset = time.monotonic() - time.time()
    words = ["--payload", "hammer", "--seed", "3", "--ros-args", "-p", "convention:=on_environment",
             "-p", "rate:=200"]
    process = start(*words)
    try:
        listener.spin(lambda: len(listener.got["/wrench"]) > 40)
        for messages in listener.got.values():
            if len(messages) > 1:
                messages.clear()
        # A node that is too slow falls behind its stamps and stays there; one that waited for its
        # turn catches up.
        assert listener.spin(lambda: len(listener.got["/wrench"]) > 800 and min(
            t - seconds(m.header.stamp) for t, m in listener.got["/wrench"][-20:]) < offset + 0.1)
    finally:
        status, errors = finish(process, signal.SIGINT)
    assert status == 0 and "Traceback" not in errors
    got = listener.got
    for topic, rate in (("/joint_states", 200.0), ("/wrench", 200.0), ("/tf", 100.0)):
        arrivals = np.array([t for t, _ in got[topic]])
        headers = [(m.transforms[0] if topic == "/tf" else m).header for _, m in got[topic]]
        stamps = np.array([seconds(h.stamp) for h in headers])
        assert np.all(arrivals >= stamps + offset - 1e-3), "a message came before its stamp"
        # Nothing is lost, and stamps follow the schedule rather than the jitter of the process.
        np.testing.assert_allclose(np.diff(stamps), 1 / rate, atol=1e-6)
        assert abs(stamps[0] - time.time()) < 60.0

    cobot = SimulatedCobot(CobotSettings(payload="hammer", seed=3, rate=200.0,
                                         convention="on_environment"))
    expected = cobot.run(len(got["/wrench"]) / 200.0 + PATIENCE).wrench
    readings = np.array([[m.wrench.force.x, m.wrench.force.y, m.wrench.force.z, m.wrench.torque.x,
                          m.wrench.torque.y, m.wrench.torque.z] for _, m in got["/wrench"]])
    first = np.flatnonzero(np.all(expected == readings[0], axis=1))
    assert len(first) == 1, "the first reading is none of the simulated samples"
    np.testing.assert_array_equal(readings, expected[first[0]:first[0] + len(readings)])
    assert got["/wrench"][0][1].header.frame_id == "ft_sensor"
    assert tuple(got["/joint_states"][0][1].name) == cobot.joint_names


def test_latched_topics_reach_a_late_listener(listen):
    process = start("--payload", "drill", "--tilt", "10,0")
    late = ("/tf_static", "/robot_description", "/simulate_cobot/truth")
    try:
        assert "drill" in process.stderr.readline()  # logged after they were published
        listener = listen()
        listener.spin(lambda: all(listener.got[topic] for topic in late))
    finally:
        status, errors = finish(process, signal.SIGTERM)
    assert status == 0 and "Traceback" not in errors
    assert listener.got["/robot_description"][0][1].data == SimulatedCobot().urdf
    frames = [(t.header.frame_id, t.child_frame_id)
              for t in listener.got["/tf_static"][0][1].transforms]
    assert frames == [("world", "base_link"), ("wrist_3_link", "tool0"), ("tool0", "ft_sensor")]
    truth = listener.got["/simulate_cobot/truth"][0][1]
    drill = PAYLOADS["drill"]
    assert truth.header.frame_id == "ft_sensor"
    assert (truth.inertia.m, truth.inertia.com.z) == (drill.mass, drill.com[2])
    assert (truth.inertia.ixz, truth.inertia.iyy) == (
        drill.inertia_com[0, 2], drill.inertia_com[1, 1])


def test_node_ends_by_itself_after_its_duration():
    process = start("--ros-args", "-p", "duration:=1.0")
    assert "drill" in process.stderr.readline()
    began = time.monotonic()
    errors = process.communicate(timeout=PATIENCE)[1]
    assert (process.returncode, errors) == (0, "")
    assert time.monotonic() - began > 0.9


@pytest.mark.parametrize(("words", "text"), [
    (["--ros-args", "-p", "payload:=anvil"], "payload is 'anvil'; allowed: cylinder, hammer"),
    (["--ros-args", "-p", "rate:=fast"], "rate is 'fast'; it must be a number"),
    (["--ros-args", "-p", "use_sim_time:=true"], "use_sim_time is true"),
    (["--ros-args", "-p"], "ROS arguments: "),
])
def test_bad_setting_gives_one_line_and_status_two(words, text, tmp_path):
    process = start(*words, cwd=tmp_path)
    errors = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 2
    assert errors.startswith("error: ") and text in errors and errors.count("\n") == 1
