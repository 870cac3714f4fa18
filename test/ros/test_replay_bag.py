# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The replay of a recording as a process: content, order, timing, clock, clean exit, errors."""

import functools
import signal
import subprocess
import sys
import threading
import time

import bags
import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy  # noqa: E402
from ros_process import PATIENCE, Listener, environment, own_domain, queued  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from inertial_id_ros.apps.bag.reader import BagReader  # noqa: E402
from inertial_id_ros.ros.tools.replay_bag import Player, replay_qos  # noqa: E402

domain = functools.cache(own_domain)  # chosen when the first test needs it
DURATION = 2.0  # s of the recording
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    """Wrench and joint states at 200 Hz, two latched texts on one topic, a type not installed."""
    texts = [*bags.text_stream("/notes", "first").samples,
             *bags.text_stream("/notes", "second", bags.START + 10**8).samples]
    return bags.joint_bag(tmp_path_factory.mktemp("replay") / "bag", duration=DURATION, extra=[
        bags.reading_stream(), bags.Stream("/notes", bags.TEXT, texts, latched=True)])


@pytest.fixture
def listener():
    """A subscriber in this test's domain; closed after the test."""
    made = Listener(domain())
    yield made
    made.close()


@pytest.fixture
def replay():
    """Starts the tool as a process; kills what a failed test leaves."""
    started = []

    def start(*words):
        started.append(subprocess.Popen(
            [sys.executable, "-m", "inertial_id_ros.ros.tools.replay_bag", *map(str, words)],
            env=environment(domain()), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


def nanoseconds(stamp):
    return stamp.sec * 10**9 + stamp.nanosec


def test_messages_arrive_complete_in_order_unchanged_and_on_time(bag, listener, replay):
    listener.subscribe("/wrench", WrenchStamped)
    listener.subscribe("/joint_states", JointState)
    listener.subscribe("/clock", Clock)
    process = replay(bag, "--rate", "2", "--wait", "10")
    assert listener.spin(lambda: listener.got["/clock"])
    waits = queued(process.pid)
    count = round(200 * DURATION)
    assert listener.spin(lambda: len(listener.got["/wrench"]) == count)
    busy = queued(process.pid) - waits
    listener.spin(lambda: process.poll() is not None)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and err == ""

    arrivals = np.array([t for t, _ in listener.got["/wrench"]])
    messages = [m for _, m in listener.got["/wrench"]]
    assert [nanoseconds(m.header.stamp) for m in messages] == [
        t for t, _ in bags.wrench_stream(DURATION, bags.Payload()).samples]
    written = bags.wrench_stream(DURATION, bags.Payload()).samples
    assert [m.wrench.torque.z for m in messages] == [m.wrench.torque.z for _, m in written]
    positions = [m.position for _, m in listener.got["/joint_states"]]
    assert np.array_equal(positions, bags.angles(bags.times(DURATION, 200.0)))

    schedule = np.arange(count) * 0.005 / 2.0
    lateness = arrivals - arrivals[0] - schedule
    assert np.median(np.abs(lateness - np.median(lateness))) < 0.02 + busy
    assert arrivals[-1] - arrivals[0] == pytest.approx(DURATION / 2.0, abs=0.25 + busy)

    stamps = np.array([nanoseconds(m.clock) for _, m in listener.got["/clock"]])
    playing = stamps[stamps > bags.START]
    assert np.all(np.diff(stamps) >= 0) and stamps[0] == bags.START
    assert len(playing) >= 100 * (0.9 * DURATION / 2.0 - busy)  # 100 Hz of wall time, or more
    assert playing[-1] - bags.START == pytest.approx(DURATION * 1e9, rel=0.05)
    assert "/lab skipped: message type lab_msgs/msg/Reading is not installed" in out
    assert "/wrench (geometry_msgs/msg/WrenchStamped): 400 messages" in out


class Log:
    """A publisher that notes what is published, in one order for several of them."""

    def __init__(self, entries, kind):
        self.entries, self.kind = entries, kind

    def publish(self, message):
        self.entries.append((self.kind, message))


@pytest.mark.parametrize("rate", [4.0, 1000.0])  # on time, and hopelessly behind
def test_the_clock_never_runs_ahead_of_the_next_message(bag, rate):
    entries = []
    with BagReader(bag) as recording:
        player = Player(recording, {"/wrench": Log(entries, "wrench")}, Log(entries, "clock"), rate,
                        threading.Event())
        assert player.play()
    times = iter([t for t, _ in bags.wrench_stream(DURATION, bags.Payload()).samples])
    due = next(times)
    for kind, message in entries:
        if kind == "wrench":
            due = next(times, None)
        else:
            assert due is None or nanoseconds(message.clock) <= due
    assert due is None and sum(kind == "wrench" for kind, _ in entries) == 400


def test_latched_messages_reach_a_subscriber_that_comes_late(bag, listener, replay):
    process = replay(bag, "--topics", "/notes", "/robot_description", "/wrench", "--wait", "0",
                     "--loop")
    for _ in range(2):
        process.stdout.readline()
    time.sleep(1.5)
    listener.subscribe("/notes", String, LATCHED)
    listener.subscribe("/robot_description", String, LATCHED)
    assert listener.spin(lambda: len(listener.got["/notes"]) >= 2
                         and listener.got["/robot_description"])
    assert {m.data for _, m in listener.got["/notes"]} == {"first", "second"}
    assert listener.got["/robot_description"][0][1].data == bags.URDF


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_loop_starts_over_and_a_signal_ends_it_cleanly(bag, listener, replay, number):
    listener.subscribe("/wrench", WrenchStamped)
    listener.subscribe("/clock", Clock)
    process = replay(bag, "--rate", "10", "--loop", "--topics", "wrench", "--wait", "10")
    assert listener.spin(lambda: len(listener.got["/wrench"]) > 900)
    for _ in range(2):  # launch sends it twice
        process.send_signal(number)
        time.sleep(0.05)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and err == ""
    stamps = np.array([nanoseconds(m.header.stamp) for _, m in listener.got["/wrench"]])
    assert np.sum(np.diff(stamps) < 0) >= 2  # it jumped back, and only to the start
    assert set(stamps[1:][np.diff(stamps) < 0]) == {bags.START}
    clock = np.array([nanoseconds(m.clock) for _, m in listener.got["/clock"]])
    assert np.sum(np.diff(clock) < 0) >= 2


def test_nothing_is_sent_before_the_delay_is_over(bag, listener, replay):
    listener.subscribe("/wrench", WrenchStamped)
    listener.subscribe("/clock", Clock)
    replay(bag, "--rate", "10", "--wait", "10", "--delay", "2.0")
    assert listener.spin(lambda: len(listener.got["/wrench"]) > 0)
    standing = [t for t, m in listener.got["/clock"] if nanoseconds(m.clock) == bags.START]
    # A second for the listener to find the clock.
    assert listener.got["/wrench"][0][0] - standing[0] > 1.0
    assert len(standing) > 50  # the clock stands at the start meanwhile, at 100 Hz


def test_latched_topics_are_replayed_latched_and_best_effort_ones_best_effort():
    latched, plain = bags.qos(True), bags.qos(False)
    best_effort = [q._replace(reliability=type(q.reliability).BEST_EFFORT) for q in plain]
    assert replay_qos(latched, 3).durability == DurabilityPolicy.TRANSIENT_LOCAL
    assert replay_qos(latched, 3).depth == 3
    assert replay_qos(plain, 3).durability == DurabilityPolicy.VOLATILE
    assert replay_qos(best_effort, 3).reliability == ReliabilityPolicy.BEST_EFFORT
    assert replay_qos([*best_effort, *plain], 3).reliability == ReliabilityPolicy.RELIABLE
    assert replay_qos([], 3).reliability == ReliabilityPolicy.RELIABLE


@pytest.mark.parametrize(("words", "text"), [
    (["{tmp}/absent"], "recording {tmp}/absent does not exist"),
    (["{tmp}/cut.mcap"], "cut.mcap is cut off"),
    (["{bag}", "--rate", "0"], "--rate is 0; allowed: 0.001 to 1000"),
    (["{bag}", "--rate", "fast"], "argument --rate: invalid float value: 'fast'"),
    (["{bag}", "--delay", "-1"], "--delay is -1 s; allowed: 0 to 86400 s"),
    (["{bag}", "--topics", "/nothing"], "has no topic /nothing; it holds /joint_states (sensor"),
    (["{bag}", "--topics", "/lab"], "holds nothing that can be published"),
    (["{bag}", "--ros-args", "-p"], "ROS arguments: "),
])
def test_user_errors_are_one_sentence_with_status_two(bag, tmp_path, replay, words, text):
    content = bags.storage_file(bag).read_bytes()
    (tmp_path / "cut.mcap").write_bytes(content[:len(content) // 2])
    process = replay(*[w.format(tmp=tmp_path, bag=bag) for w in words])
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert err.startswith("error: ") and text.format(tmp=tmp_path) in err and err.count("\n") == 1
