# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Node ``simulate_cobot``: a simulated cobot that publishes what a driver would publish.

``/joint_states`` and ``/wrench`` at the sample rate, ``/tf`` at its own, and latched
``/tf_static``, ``/robot_description`` and ``~/truth`` (the payload's true inertia). A wrench
published on ``~/push`` acts on the payload, in the axes and about the origin of the sensor, until
the next one comes. With ``motion:=commanded`` it also offers what a driver does
(`cobot_driver`). Settings are parameters of the node and options of the command line, which set
the parameters' defaults.
``--write BAG`` writes a bag instead and exits without starting ROS.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from array import array
from collections.abc import Sequence

import numpy as np
import rclpy
from builtin_interfaces.msg import Time
from geometry_msgs.msg import (
    InertiaStamped,
    Quaternion,
    TransformStamped,
    Wrench,
    WrenchStamped,
)
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.duration import Duration
from rclpy.exceptions import InvalidParameterValueException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from ...apps.simulation.cobot import Recording, SimulatedCobot
from ...apps.simulation.command_line import Options, parse, write_simulation
from ...apps.simulation.description import Transform
from ...apps.simulation.payload import Payload
from ...apps.simulation.settings import CobotSettings
from ...cli import INTERRUPTED, exit_status, simulate_cobot
from ...errors import InvalidSetting
from ...inertia import Body
from ...settings.spec import allowed_range, iter_group
from .. import compat
from ..conversions import inertia_message, time_message, vector
from ..program import ignore_signals, leave_in_time, start_ros, stop_flag, without_ros_arguments
from .cobot_driver import CobotDriver

_NAME = "simulate_cobot"
_DEPTH = 100  # samples kept for a receiver on a machine that is busy for a moment
_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# Samples are computed this far ahead: enough to share the cost of a call, and so little that the
# computation (under 1 ms at 500 Hz) fits between two publications.
_AHEAD = 0.1  # s
_AHEAD_COMMANDED = 0.02  # s, where what comes next depends on what the arm is told
_MAX_LAG = 0.5  # s behind schedule after which samples are skipped rather than sent in a burst
_LONGEST_END = 5.0  # s from a signal to the end, whatever the middleware waits for


class SimulateCobotNode(Node):
    """Publishes a simulated cobot in real time from a thread of its own.

    Args:
        defaults: settings where no parameter is given.

    Raises:
        InvalidSetting, InvalidShape: a parameter, or the payload, is not allowed.
    """

    def __init__(self, defaults: CobotSettings) -> None:
        super().__init__(_NAME)
        settings = self._declare_parameters(defaults)
        if self.get_parameter("use_sim_time").value:
            raise InvalidSetting("use_sim_time is true; the simulated cobot runs on the wall clock")
        self.cobot = SimulatedCobot(settings)
        self._publishers_by_name = {
            "joint_states": self.create_publisher(JointState, "joint_states", _DEPTH),
            "wrench": self.create_publisher(WrenchStamped, "wrench", _DEPTH),
            "tf": self.create_publisher(TFMessage, "/tf", _DEPTH),
            "tf_static": self.create_publisher(TFMessage, "/tf_static", _LATCHED),
            "robot_description": self.create_publisher(String, "robot_description", _LATCHED),
            "truth": self.create_publisher(InertiaStamped, "~/truth", _LATCHED),
        }
        self._driver = None if self.cobot.commanded is None else CobotDriver(self, self.cobot)
        self._push = (0.0,) * 6  # of what touches the payload, with the sign of the readings
        self.create_subscription(Wrench, "~/push", self._take_push, 1)
        self._stop, self.finished = threading.Event(), threading.Event()
        self.failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="samples", daemon=True)

    def start(self) -> None:
        """Publishes what is latched, then starts the stream of samples."""
        now = self.get_clock().now().nanoseconds
        publish = self._publishers_by_name
        publish["tf_static"].publish(TFMessage(transforms=[
            _transform_message(t, time_message(now)) for t in self.cobot.static_transforms()]))
        publish["robot_description"].publish(String(data=self.cobot.urdf))
        publish["truth"].publish(
            _truth_message(self.cobot.payload, self.cobot.sensor_frame, time_message(now)))
        settings = self.cobot.settings
        self.get_logger().info(
            f"{settings.motion} with payload '{self.cobot.payload.name}' "
            f"({self.cobot.payload.mass:.3f} kg) at {settings.rate:g} Hz")
        self._thread.start()

    def _take_push(self, message: Wrench) -> None:
        sign = 1.0 if self.cobot.settings.convention == "on_sensor" else -1.0
        f, t = message.force, message.torque
        self._push = tuple(sign * v for v in (f.x, f.y, f.z, t.x, t.y, t.z))

    def stop(self) -> None:
        """Ends the stream of samples."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def _declare_parameters(self, defaults: CobotSettings) -> CobotSettings:
        values = {}
        for name, default, spec in iter_group(defaults):
            # Dynamic typing lets `rate:=500` stand for 500.0; the settings check the type.
            descriptor = ParameterDescriptor(
                description=spec.description, additional_constraints=allowed_range(spec),
                read_only=True, dynamic_typing=True)
            start = list(default) if isinstance(default, tuple) else default
            values[name] = self.declare_parameter(name, start, descriptor).value
        return defaults.replace(values)

    def _run(self) -> None:
        try:
            self._publish_samples()
        except Exception as error:  # handed to the main thread, which reports it
            if self.context.ok():
                self.failure = error
        finally:
            self.finished.set()

    def _publish_samples(self) -> None:
        """Compute samples ahead and publish each when it is due, until stopped."""
        settings, messages = self.cobot.settings, _SampleMessages(self.cobot)
        total = round(settings.duration * settings.rate) if settings.duration else None
        schedule = _Schedule(self.get_clock().now().nanoseconds, settings.rate)
        ahead = _AHEAD if self._driver is None else _AHEAD_COMMANDED
        number, chunk = 0, max(1, round(ahead * settings.rate))
        while not self._stop.is_set() and number != total:
            count = chunk if total is None else min(chunk, total - number)
            block = messages.load(number, count)
            if self._driver is not None:
                self._driver.watch(block, self._push)
            for i in range(count):
                if self._stop.is_set():
                    return
                if schedule.wait_for(number + i):
                    self.get_logger().warning("behind schedule; samples were left out")
                self._publish(messages, i, schedule.stamp(number + i))
            number += count
        for name in ("joint_states", "wrench"):
            self._publishers_by_name[name].wait_for_all_acked(Duration(seconds=1))

    def _publish(self, messages: _SampleMessages, i: int, stamp: int) -> None:
        messages.select(i, stamp, self._push)
        publish = self._publishers_by_name
        publish["joint_states"].publish(messages.joint_state)
        publish["wrench"].publish(messages.wrench)
        if messages.transforms_due(i):
            publish["tf"].publish(messages.transforms(i))


class _Schedule:
    """When each sample is due on the monotonic clock, and its stamp on the ROS clock.

    The stamp is the scheduled time, not the moment of publication, which jitters.
    """

    def __init__(self, ros_now: int, rate: float) -> None:
        self._start, self._ros_start, self._rate = time.monotonic(), ros_now, rate

    def wait_for(self, number: int) -> bool:
        """Sleeps until a sample is due; True where the schedule had to be moved to catch up."""
        delay = self._start + number / self._rate - time.monotonic()
        if delay > 0.0:
            time.sleep(delay)
            return False
        if delay > -_MAX_LAG:
            return False
        self._start -= delay
        self._ros_start -= round(delay * 1e9)
        return True

    def stamp(self, number: int) -> int:
        """Stamp of a sample [ns]."""
        return self._ros_start + round(number / self._rate * 1e9)


class _SampleMessages:
    """The messages of one sample, built once and filled again for every sample.

    All headers share one Time, so that a sample costs few assignments.
    """

    def __init__(self, cobot: SimulatedCobot) -> None:
        self._cobot, self._stamp = cobot, Time()
        self.joint_state = JointState(name=list(cobot.joint_names))
        self.joint_state.header.stamp = self._stamp
        self.wrench = WrenchStamped()
        self.wrench.header.frame_id = cobot.sensor_frame
        self.wrench.header.stamp = self._stamp
        identity = np.array([0.0, 0.0, 0.0, 1.0])
        self._transforms = TFMessage(transforms=[
            _transform_message(Transform(j.parent, j.child, j.translation, identity), self._stamp)
            for j in cobot.description.moving])

    def load(self, start: int, count: int) -> Recording:
        """Computes samples ``start`` to ``start + count``, which it returns."""
        block = self._cobot.samples(start, count)
        self._first = start
        self._q = [array("d", row.tobytes()) for row in block.q]
        self._dq = None if block.dq is None else [array("d", row.tobytes()) for row in block.dq]
        self._effort = [array("d", row.tobytes()) for row in block.effort]
        self._wrench = block.wrench.tolist()
        due = [i for i in range(count) if self.transforms_due(i)]
        quaternions = self._cobot.description.joint_quaternions(block.q[due]).tolist()
        self._quaternions = dict(zip(due, quaternions, strict=True))
        return block

    def transforms_due(self, i: int) -> bool:
        """Whether the i-th loaded sample comes with transforms."""
        return (self._first + i) % self._cobot.tf_step == 0

    def select(self, i: int, stamp: int, push: Sequence[float]) -> None:
        """Fills the messages with the i-th loaded sample; the push (6,) adds to its wrench."""
        self._stamp.sec, self._stamp.nanosec = divmod(stamp, 1_000_000_000)
        self.joint_state.position, self.joint_state.effort = self._q[i], self._effort[i]
        if self._dq is not None:
            self.joint_state.velocity = self._dq[i]
        force, torque = self.wrench.wrench.force, self.wrench.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = (
            a + b for a, b in zip(self._wrench[i], push, strict=True))

    def transforms(self, i: int) -> TFMessage:
        """The transforms of the i-th loaded sample."""
        for message, (x, y, z, w) in zip(
                self._transforms.transforms, self._quaternions[i], strict=True):
            rotation = message.transform.rotation
            rotation.x, rotation.y, rotation.z, rotation.w = x, y, z, w
        return self._transforms


def main(args: Sequence[str] | None = None) -> int:
    """Runs the node, or writes a bag; returns the exit status (2: a setting is not allowed)."""
    arguments = list(sys.argv[1:] if args is None else args)
    return exit_status(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    options = parse(without_ros_arguments(_NAME, arguments))
    if not options.write:
        return _run_node(arguments, options.settings)
    if {"-p", "--param", "--params-file"} & set(arguments):
        raise InvalidSetting(
            "--write takes settings as options (--payload drill), not as ROS parameters")
    return _write(options)


def _write(options: Options) -> int:
    """Write the bag; an interrupt leaves none behind."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the writer then removes its unfinished bag
        signal.signal(number, signal.default_int_handler)
    try:
        write_simulation(options)
    except KeyboardInterrupt:
        print("error: interrupted; the unfinished bag was removed", file=sys.stderr)
        return INTERRUPTED
    return 0


def _run_node(arguments: list[str], defaults: CobotSettings) -> int:
    stop = stop_flag()
    leave_in_time(stop, _LONGEST_END, lambda: compat.exit_process(0))
    start_ros(_NAME, arguments)
    node = None
    try:
        node = SimulateCobotNode(defaults)
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        node.start()
        while rclpy.ok() and not stop.is_set() and not node.finished.is_set():
            executor.spin_once(timeout_sec=0.2)
    except InvalidParameterValueException as error:
        raise InvalidSetting(" ".join(str(error).split())) from error
    finally:
        if node is not None:
            node.stop()
            node.destroy_node()
        compat.shutdown()
        ignore_signals()
    if node is not None and node.failure is not None:
        print(f"error: {type(node.failure).__name__}: {node.failure}", file=sys.stderr)
        return 1
    return 0


def _transform_message(transform: Transform, stamp: Time) -> TransformStamped:
    message = TransformStamped(child_frame_id=transform.child)
    message.header.frame_id, message.header.stamp = transform.parent, stamp
    message.transform.translation = vector(transform.translation)
    x, y, z, w = (float(v) for v in transform.quaternion)
    message.transform.rotation = Quaternion(x=x, y=y, z=z, w=w)
    return message


def _truth_message(payload: Payload, frame: str, stamp: Time) -> InertiaStamped:
    body = Body(payload.mass, payload.com, payload.inertia_com)
    message = InertiaStamped(inertia=inertia_message(body))
    message.header.frame_id, message.header.stamp = frame, stamp
    return message


if __name__ == "__main__":
    raise SystemExit(simulate_cobot())
