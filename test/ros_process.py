# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Helpers for tests of ROS processes: start one, feed it a simulated robot, listen, call, stop."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from inertial_id_ros.apps.simulation.cobot import Scenario
from inertial_id_ros.apps.simulation.motion import START_POSE, Trajectory
from inertial_id_ros.apps.simulation.write import by_time, topics_of
from inertial_id_ros.ros.conversions import LATCHED, time_message

ROOT = Path(__file__).resolve().parent.parent
NODE = (sys.executable, "-m", "inertial_id_ros.cli", "inertial_id_node")
# s that a test waits for an event before it fails: long, for a machine that is busy.
PATIENCE = 60.0
_SHAKE = 1e-5  # rad, noise of encoders at rest


def own_domain() -> int:
    """A random ROS domain in which nobody on this machine seems to be: the ports of its first
    participants are free (DDSI-RTPS 2.5, 9.6.1.1)."""
    for domain in random.SystemRandom().sample(range(1, 101), 100):
        with contextlib.suppress(OSError):
            for participant in range(16):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                    probe.bind(("", 7410 + 250 * domain + 2 * participant))
            return domain
    raise RuntimeError("every ROS domain of this machine is in use")


def queued(*processes: int) -> float:
    """Seconds for which threads of this process and of others (ids) were ready to run so far, and
    the machine was busy or the host of this machine ran another: what a promise in real time cannot
    count. 0 where Linux does not tell."""
    total = 0.0
    for process in (os.getpid(), *processes):
        for path in Path(f"/proc/{process}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):  # a thread that has ended
                total += 1e-9 * int(path.read_text().split()[1])
    with contextlib.suppress(OSError):
        stolen = int(Path("/proc/stat").read_text().split(maxsplit=9)[8])
        total += stolen / os.sysconf("SC_CLK_TCK")
    return total


# `make coverage` counts what processes run, too.
COVERAGE = {"COVERAGE_PROCESS_START": str(Path(__file__).with_name("nodes.coveragerc"))} if (
    "COVERAGE_FILE" in os.environ) else {}


class RosProcess:
    """A process of these sources in a ROS domain of this machine, the leader of its group; its
    output is collected as text."""

    def __init__(self, domain: int, *command: str) -> None:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            command, env={**os.environ, "ROS_DOMAIN_ID": str(domain), "PYTHONPATH": path,
                          "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "PYTHONUNBUFFERED": "1",
                          "ROS_PYTHON_CHECK_FIELDS": "1", **COVERAGE},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.append(line)

    @property
    def text(self) -> str:
        """Everything it wrote so far."""
        return "".join(self._lines)

    def wait_for_text(self, text: str, timeout: float = PATIENCE) -> None:
        """Wait until it wrote a text."""
        with contextlib.suppress(AssertionError):
            wait_until(lambda: text in self.text or self.process.poll() is not None, timeout)
        assert text in self.text, f"no '{text}' in: {self.text}"

    def finish(self, timeout: float = PATIENCE) -> tuple[int, str]:
        """Wait for its end; exit status and output."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self._reader.join(2.0)
        return status, self.text

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """Send a signal and wait for its end."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.finish()


class Client:
    """A node of the test's own process, in a context of its own."""

    def __init__(self, domain: int) -> None:
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain,
                   signal_handler_options=SignalHandlerOptions.NO)
        self.node = rclpy.create_node("client", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.received: dict[str, list] = {}
        self._publishers: dict[str, object] = {}

    def listen(self, kind: type, topic: str, qos: QoSProfile | int = LATCHED) -> list:
        """The list of messages of a topic, which grows while `spin_until` runs."""
        if topic not in self.received:
            self.received[topic] = []
            self.node.create_subscription(kind, topic, self.received[topic].append, qos)
        return self.received[topic]

    def listen_with_times(self, kind: type, topic: str) -> list:
        """The same with the steady time of each [s]."""
        got: list = []
        self.node.create_subscription(
            kind, topic, lambda message: got.append((time.monotonic(), message)), 5000)
        return got

    def publish(self, topic: str, message: object, qos: QoSProfile | int = 100) -> None:
        """Publish on a topic; waits for the first subscriber when the topic is new."""
        if topic not in self._publishers:
            publisher = self.node.create_publisher(type(message), topic, qos)
            self._publishers[topic] = publisher
            wait_until(lambda: publisher.get_subscription_count() > 0)
        self._publishers[topic].publish(message)  # type: ignore[attr-defined]

    def spin_until(self, condition, timeout: float = PATIENCE) -> None:
        """Run callbacks until the condition holds; fails after the timeout [s]."""
        wait_until(condition, timeout, lambda: self.executor.spin_once(timeout_sec=0.05))

    def call(self, kind: type, service: str, request: object | None = None,
             timeout: float = PATIENCE):
        """The response of a service."""
        client = self.node.create_client(kind, service)
        try:
            assert client.wait_for_service(timeout), f"no service {service}"
            future = client.call_async(kind.Request() if request is None else request)
            self.spin_until(future.done, timeout)
            return future.result()
        finally:
            self.node.destroy_client(client)

    def close(self) -> None:
        """Leave the ROS graph."""
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@contextlib.contextmanager
def spinning(*nodes: Node, threads: int = 2) -> Iterator[None]:
    """Nodes whose callbacks run in threads of their own, and which leave the ROS graph."""
    executor = MultiThreadedExecutor(threads, context=nodes[0].context)
    for node in nodes:
        executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    try:
        yield
    finally:
        executor.shutdown()
        thread.join(10.0)
        for node in nodes:
            node.destroy_node()


class Robot:
    """A simulated cobot whose samples the test's client publishes, faster than real time.

    Attributes:
        newest_ns: stamp of the newest sample [ns]; next_sample: number of the sample of the motion
            that comes next, and at which the arm rests.
    """

    def __init__(self, client: Client, start_ns: int | None = None, **settings) -> None:
        defaults = {"payload": "hammer", "rate": 250.0, "speed": 1.5}
        self.cobot = Scenario(**{**defaults, **settings})
        self.client = client
        self.newest_ns = time.time_ns() if start_ns is None else start_ns
        self.next_sample = 0
        self._rng = np.random.default_rng(8)

    def publish_description(self) -> None:
        """Publish the robot description and the fixed transforms."""
        for _, topic, data in by_time(topics_of(self.cobot.record(0.01, self.newest_ns))):
            if kind := {"robot_description": String, "/tf_static": TFMessage}.get(topic):
                self.client.publish("/" + topic.lstrip("/"), deserialize_message(data, kind),
                                    LATCHED)

    def play(self, seconds: float, wrench: np.ndarray | None = None, rest: bool = False,
             speed: float = 2.0, each=None) -> None:
        """Publish the next seconds of motion.

        Args:
            wrench: (6,) reading to publish in place of the simulated one, with last digits that
                change, as those of every sensor do.
            rest: the arm stands still where it is, but for noise of its encoders.
            speed: times real time; each: called with the stamp [ns] before each sample.
        """
        count, step = round(seconds * self.cobot.rate), 1.0 / self.cobot.rate
        numbers = self.next_sample, 1 if rest else count
        (block, readings, *_), = self.cobot.samples(*numbers).parts
        begin = time.monotonic()
        for i in range(count):
            k = 0 if rest else i
            self.newest_ns += round(step * 1e9)
            if each is not None:
                each(self.newest_ns)
            q = block.positions[k]
            if rest:
                q = q + _SHAKE * self._rng.normal(size=len(q))
            joints = JointState(name=list(block.names), position=array("d", q.tolist()))
            joints.header.stamp = time_message(self.newest_ns)
            self.client.publish("/joint_states", joints, 1000)
            self.client.publish("/wrench", wrench_message(
                self.newest_ns, self.cobot.sensor_frame,
                readings.rows[k] if wrench is None else wrench + 1e-6 * self._rng.normal(size=6)),
                1000)
            time.sleep(max(0.0, begin + i * step / speed - time.monotonic()))
        self.truth = self.cobot.truth(np.array([sum(numbers) - 1]) * step)
        self.next_sample += 0 if rest else count

    def play_to_rest(self, seconds: float, wrench: np.ndarray | None = None) -> None:
        """Publish moves of a commanded arm from pose to pose until it rests again: one that stopped
        at once would be an impact."""
        rate, moves = self.cobot.rate, round(0.5 * seconds)
        now = self.cobot.path(self.next_sample / rate).q
        poses = np.concatenate([now, START_POSE + self._rng.uniform(-0.8, 0.8, (moves, 6))])
        rest = np.zeros_like(poses)
        begin = self.cobot.path.follow(
            Trajectory(2.0 * np.arange(moves + 1), poses, rest, rest))
        self.play(begin + 2.0 * moves + 0.1 - self.next_sample / rate, wrench)


class Stage:
    """One ROS domain with a client and any number of processes; a context manager."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.domain = own_domain()
        self.processes: list[RosProcess] = []
        self.client = Client(self.domain)

    def start_node(self, **parameters: object) -> RosProcess:
        """Start inertial_id_node with parameters; ``wrench__topic`` stands for ``wrench.topic``."""
        words = []
        if "state__directory" not in parameters:  # what another test has kept is not for this one
            parameters = {"state__directory": tempfile.mkdtemp(dir=self._folder.name),
                          **parameters}
        for name, value in parameters.items():
            words += ["-p", f"{name.replace('__', '.')}:={value}"]
        process = self.start(*NODE, "--ros-args", *words)
        process.wait_for_text("[inertial_id_node]")
        return process

    def start(self, *command: str) -> RosProcess:
        """Start a process."""
        self.processes.append(RosProcess(self.domain, *command))
        return self.processes[-1]

    def __enter__(self) -> "Stage":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            if COVERAGE:  # a process that is killed writes nothing
                process.process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.process.wait(5.0)
            process.process.kill()
            process.process.wait(5.0)
        self.client.close()
        self._folder.cleanup()


def wait_until(condition, timeout: float = PATIENCE, step=lambda: time.sleep(0.005)) -> None:
    """Make steps until a condition holds; fails after the timeout [s]."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"not within {timeout:g} s"
        step()


def play_until(play, condition, seconds: float = PATIENCE) -> None:
    """Play half seconds of motion until a condition holds; fails after so many seconds of it."""
    for _ in range(round(2.0 * seconds)):
        if condition():
            return
        play(0.5)
    assert condition(), f"not within {seconds:g} s of motion"


def wrench_message(stamp: int, frame: str, reading: np.ndarray) -> WrenchStamped:
    """Wrench message of a reading (6,)."""
    message = WrenchStamped()
    message.header.frame_id, message.header.stamp = frame, time_message(stamp)
    f, t = message.wrench.force, message.wrench.torque
    f.x, f.y, f.z, t.x, t.y, t.z = (float(v) for v in reading)
    return message
