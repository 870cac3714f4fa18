# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Node ``simulate_cobot``: a simulated cobot that publishes what a driver would publish.

``/joint_states`` and ``/wrench`` at the sample rate, ``/tf`` at its own, and latched
``/tf_static``, ``/robot_description`` and ``~/truth`` (the payload's true inertia). A wrench
published on ``~/push`` acts on the payload, in the axes and about the origin of the sensor, until
the next one comes. With ``motion:=commanded`` it also offers what a driver does
(`cobot_driver`). Settings are parameters of the node and options of the command line, which set
the parameters' defaults.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence

import numpy as np
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
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Header, String
from tf2_msgs.msg import TFMessage

from ...apps.simulation.cobot import Recording, SimulatedCobot
from ...apps.simulation.command_line import parse
from ...apps.simulation.description import Transform
from ...apps.simulation.payload import Payload
from ...apps.simulation.settings import CobotSettings
from ...arguments import Parser
from ...cli import exit_status, simulate_cobot
from ...errors import InvalidSetting
from ...inertia import Body
from ...settings.spec import allowed_range, iter_group
from .. import compat
from ..contract import LATCHED
from ..conversions import inertia_message, time_message, vector, wrench_message
from ..program import ignore_signals, start_ros, stop_flag, without_ros_arguments
from .cobot_driver import CobotDriver

_NAME = "simulate_cobot"
_DEPTH = 100  # samples kept for a receiver on a machine that is busy for a moment
# Samples are computed this far ahead: enough to share the cost of a call, and so little that the
# computation (under 1 ms at 500 Hz) fits between two publications.
_AHEAD = 0.1  # s
_AHEAD_COMMANDED = 0.02  # s, where what comes next depends on what the arm is told
_MAX_LAG = 0.5  # s behind schedule after which samples are skipped rather than sent in a burst


class SimulateCobotNode(Node):
    """Publishes a simulated cobot in real time.

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
            "tf_static": self.create_publisher(TFMessage, "/tf_static", LATCHED),
            "robot_description": self.create_publisher(String, "robot_description", LATCHED),
            "truth": self.create_publisher(InertiaStamped, "~/truth", LATCHED),
        }
        self._driver = None if self.cobot.commanded is None else CobotDriver(self, self.cobot)
        self._push = np.zeros(6)  # of what touches the payload, with the sign of the readings
        self.create_subscription(Wrench, "~/push", self._take_push, 1)

    def publish_latched(self) -> None:
        """Publish what every subscriber gets once."""
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

    def _take_push(self, message: Wrench) -> None:
        sign = 1.0 if self.cobot.settings.convention == "on_sensor" else -1.0
        f, t = message.force, message.torque
        self._push = sign * np.array([f.x, f.y, f.z, t.x, t.y, t.z])

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

    def publish_samples(self, stop: threading.Event) -> None:
        """Compute samples ahead and publish each when it is due, until stopped."""
        settings = self.cobot.settings
        total = round(settings.duration * settings.rate) if settings.duration else None
        # Stamps are times of the schedule, not moments of publication, which jitter.
        start, ros_start = time.monotonic(), self.get_clock().now().nanoseconds
        ahead = _AHEAD if self._driver is None else _AHEAD_COMMANDED
        number, chunk = 0, max(1, round(ahead * settings.rate))
        while not stop.is_set() and number != total:
            count = chunk if total is None else min(chunk, total - number)
            block = self.cobot.samples(number, count)
            if self._driver is not None:
                self._driver.watch(block, self._push)
            for i in range(count):
                late = time.monotonic() - start - (number + i) / settings.rate
                if late > _MAX_LAG:
                    start, ros_start = start + late, ros_start + round(late * 1e9)
                    self.get_logger().warning("behind schedule; samples were left out")
                elif stop.wait(max(-late, 0.0)):
                    return
                self._publish(block, i, Header(stamp=time_message(
                    ros_start + round((number + i) / settings.rate * 1e9))),
                    (number + i) % self.cobot.tf_step == 0)
            number += count
        for name in ("joint_states", "wrench"):
            self._publishers_by_name[name].wait_for_all_acked(Duration(seconds=1))

    def _publish(self, block: Recording, i: int, header: Header, with_transforms: bool) -> None:
        """Publish the i-th sample of a block; the push adds to its wrench."""
        publish, cobot = self._publishers_by_name, self.cobot
        publish["joint_states"].publish(JointState(
            header=header, name=cobot.joint_names, position=block.q[i].tolist(),
            velocity=[] if block.dq is None else block.dq[i].tolist(),
            effort=block.effort[i].tolist()))
        publish["wrench"].publish(WrenchStamped(
            header=Header(stamp=header.stamp, frame_id=cobot.sensor_frame),
            wrench=wrench_message(block.wrench[i] + self._push)))
        if with_transforms:
            turns = cobot.description.joint_quaternions(block.q[[i]])[0]
            publish["tf"].publish(TFMessage(transforms=[
                _transform_message(Transform(j.parent, j.child, j.translation, turn), header.stamp)
                for j, turn in zip(cobot.description.moving, turns, strict=True)]))


def main(args: Sequence[str] | None = None) -> int:
    """Runs the node; returns the exit status (2: a setting is not allowed)."""
    arguments = list(sys.argv[1:] if args is None else args)
    return exit_status(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    defaults, _ = parse(Parser(prog=_NAME, description="A simulated cobot with a wrist sensor."),
                        without_ros_arguments(_NAME, arguments))
    stop, ended = stop_flag(), threading.Event()
    start_ros(_NAME, arguments)
    executor = MultiThreadedExecutor(4)
    spinning = threading.Thread(target=compat.spin, args=(executor, ended), name="executor")
    try:
        node = SimulateCobotNode(defaults)
        executor.add_node(node)
        spinning.start()
        node.publish_latched()
        node.publish_samples(stop)
    except InvalidParameterValueException as error:
        raise InvalidSetting(" ".join(str(error).split())) from error
    finally:
        ended.set()
        if spinning.is_alive():
            spinning.join()
        compat.shutdown()
        executor.shutdown()
        ignore_signals()
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
