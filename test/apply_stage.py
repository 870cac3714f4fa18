# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A running node with an estimate and an arm at rest, to which payloads can be applied."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

import numpy as np
from node_client import NODE, PARAMETERS, wait_for_valid
from ros_process import LATCHED, PATIENCE, Robot, RosProcess, Stage, wait_until
from scipy.spatial.transform import Rotation
from std_msgs.msg import String

from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import Apply, Save

# Pose of a frame 'tilted' on the flange: what is told in it is told neither along the axes of the
# sensor nor about its origin, which lies 40 mm in front of the flange.
TILT, SHIFT = Rotation.from_euler("xyz", [0.4, -0.7, 1.1]), np.array([0.02, -0.05, 0.03])
SENSOR = np.array([0.0, 0.0, 0.04])  # origin of the sensor in the flange, whose axes it has
_NOISE = np.repeat([0.02, 0.001], 3)  # of the sensor at rest, in means over 40 ms [N, N m]
_FRAME = """<joint name="tilted_joint" type="fixed"><parent link="tool0"/><child link="tilted"/>
<origin xyz="{}" rpy="{}"/></joint><link name="tilted"/></robot>"""


class ApplyStage(Stage):
    """A stage with a node, and a robot that carries a hammer.

    Attributes:
        contact: (6,) what is read beside the weight [N, N m]; share: of the weight that is read;
            frame: of the wrench, where it is not that of the sensor.
    """

    contact = np.zeros(6)
    share = 1.0
    frame: str | None = None
    _rng = np.random.default_rng(5)

    def __init__(self) -> None:
        super().__init__()
        self.refusals: list[str] = []

    def begin(self, **settings: object) -> None:
        """Start the node, move the arm until there is an estimate, and let it rest."""
        self.node = self.start_node(
            **{"load__rated_payload": 5.0, "estimator__rate": 2.0, **settings})
        self.robot = Robot(self.client, motion="commanded")
        words = (" ".join(map(str, SHIFT)), " ".join(map(str, TILT.as_euler("xyz"))))
        urdf = self.robot.cobot.urdf.replace("</robot>", _FRAME.format(*words))
        self.robot.publish_description()
        self.client.publish("/robot_description", String(data=urdf), LATCHED)
        self.identify()

    def identify(self) -> None:
        """Move the arm until there is an estimate, and let it rest: at rest it is known for as long
        as the window holds the motion."""
        self.robot.play_to_rest(8.0)
        wait_for_valid(self)
        self.begin_rest()
        heard = self.client.listen(InertialParameters, PARAMETERS)
        count = len(heard) + 4
        self.client.spin_until(lambda: len(heard) >= count and heard[-1].valid and all(
            v == InertialParameters.IDENTIFIED for v in heard[-1].verdict[:4]))

    def save(self, name: str) -> None:
        """Save the estimate under a name."""
        answer = self.client.call(Save, f"{NODE}/save", Save.Request(name=name))
        assert answer.success, answer.message

    def begin_rest(self) -> None:
        """Have a thread publish the arm at rest."""
        self._ended = threading.Event()
        self._rest = threading.Thread(target=self._play_rest, daemon=True)
        self._rest.start()

    def _play_rest(self) -> None:
        """Publish the arm where it is, with the weight that the sensor then reads: the simulated
        samples are of motion. One of them alone would leave its noise in the zero for good."""
        samples = self.robot.cobot.samples(self.robot.next_sample, 500)
        zero = (samples.wrench + samples.truth.wrench).mean(axis=0)
        up = samples.truth.rotation[0].T @ np.array([0.0, 0.0, 9.81])
        body = PAYLOADS["hammer"]
        still = np.concatenate([body.mass * up, np.cross(body.com, body.mass * up)])
        reading = zero - still
        while not self._ended.is_set():
            noise = _NOISE * self._rng.normal(size=6)  # or the window is known too well
            self.robot.play(0.04, self.share * reading + self.contact + noise, self.frame,
                            rest=True, speed=1.0)

    def end_rest(self) -> None:
        """Publish nothing any more."""
        self._ended.set()
        self._rest.join()

    def stand_in(self, name: str, *words: str) -> RosProcess:
        """Start a stand-in of a driver or controller (`stand_in`)."""
        process = RosProcess(self.domain, sys.executable,
                             str(Path(__file__).with_name("stand_in.py")), name, *words)
        self.processes.append(process)
        process.wait_for_text("ready")
        return process

    def apply(self, target: str, **fields: object) -> Apply.Response:
        """What ~/apply answers; asked again while a busy machine has the node busy."""
        request = Apply.Request(target=target, **fields)
        end = time.monotonic() + PATIENCE
        while True:
            answer = self.client.call(Apply, f"{NODE}/apply", request)
            if not answer.message.startswith("busy with") or time.monotonic() > end:
                return answer

    def apply_once_known(self, target: str, **fields: object) -> Apply.Response:
        """What ~/apply answers when it succeeds, with more motion after each refusal.

        A busy machine loses samples, or takes so long that the window holds nothing but rest.
        """
        while not (answer := self.apply(target, **fields)).success:
            assert len(self.refusals) < 8, self.refusals
            self.refusals.append(answer.message)
            self.move_again()
        return answer

    def move_again(self) -> None:
        """Move the resting arm for a while."""
        self.end_rest()
        self.robot.play_to_rest(4.0, frame=self.frame)
        self.begin_rest()

    def __exit__(self, *error: object) -> None:
        if hasattr(self, "_rest"):
            self.end_rest()
        super().__exit__(*error)


def told(process: RosProcess, least: int = 0) -> list[dict]:
    """What a stand-in was told, in order; waits for so many calls, as its answer may come before
    what it prints."""
    def lines() -> list[str]:
        return [line for line in process.text.splitlines() if line.startswith("{")]

    wait_until(lambda: len(lines()) >= least)
    return [json.loads(line) for line in lines()]
