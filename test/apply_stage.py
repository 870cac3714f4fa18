# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A running node with an estimate and an arm at rest, to which payloads can be applied, and
stand-ins of the drivers and controllers that take them."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from control_msgs.msg import Float64Values, Keys
from node_client import NODE, PARAMETERS, is_known, wait_for_valid
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from ros_process import LATCHED, PATIENCE, Robot, Stage, spinning
from scipy.spatial.transform import Rotation
from std_msgs.msg import String
from ur_msgs.srv import SetPayload

from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import Apply

# Pose of a frame 'tilted' on the flange: what is told in it is told neither along the axes of the
# sensor nor about its origin, which lies 40 mm in front of the flange.
TILT, SHIFT = Rotation.from_euler("xyz", [0.4, -0.7, 1.1]), np.array([0.02, -0.05, 0.03])
SENSOR = np.array([0.0, 0.0, 0.04])  # origin of the sensor in the flange, whose axes it has
_NOISE = np.repeat([0.02, 0.001], 3)  # of the sensor at rest, in means over 40 ms [N, N m]
_FRAME = """<joint name="tilted_joint" type="fixed"><parent link="tool0"/><child link="tilted"/>
<origin xyz="{}" rpy="{}"/></joint><link name="tilted"/></robot>"""
HELD = {"gravity_compensation.frame.id": "tilted",
        "gravity_compensation.CoG.pos": [0.1, 0.2, 0.3],
        "gravity_compensation.CoG.force": 7.0,
        "enable_parameter_update_without_reactivation": True}
BEFORE = {"mass": 0.4, "com": [0.01, 0.02, 0.03], "inertia": [0.001, 0.0, 0.0, 0.001, 0.0, 0.002]}
ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


class StandIn(Node):
    """A node that keeps what it is sent.

    Attributes:
        sent: in order; released: set when it may answer what it keeps back.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.sent: list[dict[str, Any]] = []
        self.released = threading.Event()


class Controller(StandIn):
    """The admittance controller of ros2_control, as its public definition has it. With the name
    ``read_only`` (its weight) or ``refuses`` (every change) it does that."""

    def __init__(self, name: str = "admittance_controller", **options: Any) -> None:
        super().__init__(name, **options)
        for parameter, value in HELD.items():
            self.declare_parameter(parameter, value, ParameterDescriptor(
                read_only=name == "read_only" and parameter.endswith("force")))
        self.add_on_set_parameters_callback(self._check)

    def _check(self, parameters: list) -> SetParametersResult:
        if self.get_name() == "refuses":
            return SetParametersResult(successful=False, reason="not while I run")
        self.sent.append({p.name: list(p.value) if hasattr(p.value, "__len__") else p.value
                          for p in parameters})
        return SetParametersResult(successful=True)


class Driver(StandIn):
    """ur_robot_driver, with its service, and its payload from a state_interfaces_broadcaster, as on
    ROS 2 Lyrical (on `dynamic_joint_states`, as before, the simulated cobot states it).

    Args:
        behaviour: ``mistake`` (takes another mass than is sent); ``refuse``; ``silent`` (does not
            answer); ``late`` (answers after a second).
        before: it has had a payload; None: it had none, and publishes nothing.
    """

    def __init__(self, behaviour: str = "", before: bool | None = True, **options: Any) -> None:
        super().__init__("driver", **options)
        self._behaviour, self.has_answered = behaviour, False
        self._now = dict(BEFORE) if before else {"mass": 0.0, "com": [0.0] * 3,
                                                 "inertia": [0.0] * 6}
        self.create_service(SetPayload, "io_and_status_controller/set_payload", self._answer)
        if before is not None:
            names, self._values = (
                self.create_publisher(kind, f"state_interfaces_broadcaster/{topic}", qos)
                for kind, topic, qos in ((Keys, "names", LATCHED), (Float64Values, "values", 10)))
            names.publish(Keys(keys=[f"payload/{name}" for name in (
                "mass", "cog.x", "cog.y", "cog.z", *(f"inertia.{name}" for name in ENTRIES))]))
            self.create_timer(0.05, self._publish)

    def _answer(self, request: Any, response: Any) -> Any:
        com = request.center_of_gravity
        got = {"mass": request.mass, "com": [com.x, com.y, com.z],
               "inertia": [getattr(request, name) for name in ENTRIES]}
        self.sent.append(got)
        if self._behaviour in ("silent", "late"):
            self.released.wait(None if self._behaviour == "silent" else 1.0)
        response.success = self._behaviour != "refuse"
        if response.success:
            self._now = {**got, "mass": request.mass + 0.1 * (self._behaviour == "mistake")}
            self.has_answered = True
        return response

    def _publish(self) -> None:
        self._values.publish(Float64Values(values=[float(x) for x in (
            self._now["mass"], *self._now["com"], *self._now["inertia"])]))


class ApplyStage(Stage):
    """A stage with a node, and a robot that carries a hammer.

    Attributes:
        contact: (6,) what is read beside the weight [N, N m]; share: of the weight that is read.
    """

    contact = np.zeros(6)
    share = 1.0
    _rng = np.random.default_rng(5)

    def begin(self, **settings: object) -> None:
        """Start the node, move the arm until there is an estimate, and let it rest: it is known for
        as long as the window holds the motion."""
        self.node = self.start_node(
            **{"load__rated_payload": 5.0, "estimator__rate": 2.0, **settings})
        self.robot = Robot(self.client, motion="commanded")
        words = (" ".join(map(str, SHIFT)), " ".join(map(str, TILT.as_euler("xyz"))))
        urdf = self.robot.cobot.robot.urdf.replace("</robot>", _FRAME.format(*words))
        self.robot.publish_description()
        self.client.publish("/robot_description", String(data=urdf), LATCHED)
        self.robot.play_to_rest(8.0)
        wait_for_valid(self)
        self.begin_rest()
        heard = self.client.listen(InertialParameters, PARAMETERS)
        count = len(heard) + 4
        self.client.spin_until(lambda: len(heard) >= count and is_known(heard[-1]))

    def begin_rest(self) -> None:
        """Have a thread publish the arm at rest."""
        self._ended = threading.Event()
        self._rest = threading.Thread(target=self._play_rest, daemon=True)
        self._rest.start()

    def _play_rest(self) -> None:
        """Publish the arm where it is, with the weight that the sensor then reads: the simulated
        samples are of motion. One of them alone would leave its noise in the zero for good."""
        cobot, first = self.robot.cobot, self.robot.next_sample
        (_, readings, *_), = cobot.samples(first, 500).parts
        truth = cobot.truth((first + np.arange(500)) / cobot.rate)
        zero = (readings.rows + truth.wrench).mean(axis=0)
        up = truth.rotation[0].T @ np.array([0.0, 0.0, 9.81])
        body = PAYLOADS["hammer"]
        still = np.concatenate([body.mass * up, np.cross(body.com, body.mass * up)])
        reading = zero - still
        while not self._ended.is_set():
            noise = _NOISE * self._rng.normal(size=6)  # or the window is known too well
            self.robot.play(0.04, self.share * reading + self.contact + noise,
                            rest=True, speed=1.0)

    def end_rest(self) -> None:
        """Publish nothing any more."""
        self._ended.set()
        self._rest.join()

    @contextmanager
    def with_stand_in(self, kind: type[StandIn], *options: Any) -> Iterator[Any]:
        """A stand-in that runs in a thread of its own, and ends."""
        node = kind(*options, context=self.client.context)
        with spinning(node):
            try:
                yield node
            finally:
                node.released.set()

    def apply(self, target: str, **fields: object) -> Apply.Response:
        """What ~/apply answers; asked again while a busy machine has the node busy."""
        request = Apply.Request(target=target, **fields)
        end = time.monotonic() + PATIENCE
        while True:
            answer = self.client.call(Apply, f"{NODE}/apply", request)
            if not answer.message.startswith("busy with") or time.monotonic() > end:
                return answer

    def move_again(self) -> None:
        """Move the resting arm for a while."""
        self.end_rest()
        self.robot.play_to_rest(4.0)
        self.begin_rest()

    def __exit__(self, *error: object) -> None:
        if hasattr(self, "_rest"):
            self.end_rest()
        super().__exit__(*error)
