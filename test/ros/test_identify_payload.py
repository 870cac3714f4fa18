# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The command identify_payload beside a simulated cobot: from check to applied payload, and wrong
set-ups, which are named, and in which nothing moves but the wiggle that finds some of them."""

from __future__ import annotations

import json
import signal
import sys
import time

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("control_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from faulty_relay import FaultyRelay, remaps  # noqa: E402
from geometry_msgs.msg import Vector3, Wrench  # noqa: E402
from ros_process import NODE, Client, RosProcess, own_domain  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from inertial_id_ros.apps.simulation.payload import PAYLOADS  # noqa: E402

pytestmark = pytest.mark.alone

COBOT = (sys.executable, "-m", "inertial_id_ros.ros.tools.simulate_cobot")
COMMAND = (sys.executable, "-m", "inertial_id_ros.ros.guide.identify_payload")
SETTINGS = ("-p", "wrench.sensor:=ati_gamma")
DRIVER = ("-p", "precompensated.source:=dynamic_joint_states", "-p",
          "precompensated.topic:=dynamic_joint_states", "-p", "precompensated.frame:=tool0", "-p",
          "apply.target:=universal_robots", "-p", "apply.max_mass:=5.0", "-p",
          "alignment.position_sd:=0.001", "-p", "alignment.orientation_sd:=0.0")
# Set-up: row that names it, words of what was measured, words of what to do, whether the wrist must
# wiggle to find it.
WRONG = {
    "sign": ("sign of the wrench", "pulls upwards", "wrench.convention", True),
    "frame turned": ("axes of the sensor", "axes x, y, z of the sensor lie along",
                     "wrench.sensor_frame", True),
    "tilted gravity": ("direction of gravity", "from the z axis", "gravity.frame", True),
    "clock offset": ("clocks", "s after", "synchronise", False),
    "joint order": ("order of the joints", "", "order of the joints", True),
    "wrong link": ("frame of the wrench", "does not move with", "wrench.sensor_frame", False),
    "wrong TCP": ("tool centre point", "150 mm", "TCP", False),
    "stale stamps": ("stamps", "s old", "synchronise", False),
    "payload set": ("payload set on the robot", "1.200 kg", "to 0 kg", False),
    "saturated": ("range of the sensor", "% of the range", "more range", False),
    "unplugged": ("sensor is connected", "to the last bit", "cable", False),
    "slow TF": ("transforms arrive", "Hz", "rate", False),
    "two publishers": ("publishers", "/other_driver", "Stop", False),
    "protective stop": ("robot may move", "protective stop", "teach pendant", False),
    "no controller": ("controller", "nobody offers", "--no-motion", False),
}


class Session:
    """A run of the command: its events, and how it ended."""

    def __init__(self, domain: int, folder, *words: str) -> None:
        process = RosProcess(domain, *COMMAND, "--yes", "--json", "--silence", "0.5", "--report",
                             str(folder), *words)
        self.status, self.text = process.finish(400.0)
        lines = [line for line in self.text.splitlines() if line.startswith("{")]
        self.events = [json.loads(line) for line in lines]

    def of(self, event: str) -> list[dict]:
        return [e for e in self.events if e["event"] == event]

    def rows(self) -> dict[str, dict]:
        """The last row of each check."""
        return {row["check"]: row for row in self.of("check")}

    @property
    def wrong(self) -> dict[str, dict]:
        return {name: row for name, row in self.rows().items() if row["verdict"] == "wrong"}


class Stage:
    """A cobot behind a relay, a node, and a client: one of each for all set-ups."""

    def __init__(self, domain: int, state) -> None:
        self.domain, self.relay = domain, FaultyRelay(domain)
        self.state = ("-p", f"state.directory:={state}")
        self._processes = [
            RosProcess(domain, *NODE, "--ros-args", *SETTINGS, *self.state),
            RosProcess(domain, *COBOT, "--ros-args", "-p", "motion:=commanded", "-p",
                       "rate:=125.0", "-p", "sensor:=ati_gamma", *remaps())]
        self.client = Client(domain)

    def run(self, fault: str, folder) -> Session:
        """A session in a faulty set-up."""
        self.relay.set(fault)
        self.client.call(Trigger, "/inertial_id_node/reset")
        words: tuple[str, ...] = ("--ros-args", *SETTINGS, *self.state)
        if fault == "no controller":
            words = ("--controller", "nowhere", *words)
        if fault == "wrong TCP":  # a node keeps the frame of its first wrench
            words = ("--node", "/node_of_this_session", *words)
        if fault != "protective stop":
            return Session(self.domain, folder, *words)
        for force in (80.0, 0.0):
            self.client.publish("/simulate_cobot/push", Wrench(force=Vector3(x=force)), 1)
            time.sleep(0.5)  # samples with it
        try:
            return Session(self.domain, folder, *words)
        finally:
            self.client.call(Trigger, "/simulate_cobot/unlock")

    def close(self) -> None:
        self.client.close()
        for process in self._processes:
            process.stop(signal.SIGINT)
        self.relay.close()


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    made = Stage(own_domain(), tmp_path_factory.mktemp("state"))
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_set_up_is_named_and_nothing_is_identified(stage, tmp_path, fault):
    name, measured, advice, wiggles = WRONG[fault]
    session = stage.run(fault, tmp_path)
    assert session.status == 4, session.text
    assert name in session.wrong, session.text
    row = session.wrong[name]
    assert measured in row["measured"] and advice in row["advice"], row
    assert len(session.of("motion")) <= (2 if wiggles else 0), session.text
    assert not {"identify", "prove", "apply"} & {e["name"] for e in session.of("step")}
    assert list(tmp_path.glob("*.html"))


@pytest.mark.slow
def test_a_session_leads_to_a_robot_that_knows_its_payload(tmp_path):
    """The drill of 1.404 kg is identified, proved, told to the driver, and its wrench is zero."""
    pytest.importorskip("ur_msgs.srv")
    domain = own_domain()
    cobot = RosProcess(domain, *COBOT, "--ros-args", "-p", "motion:=commanded", "-p",
                       "sensor:=ati_gamma", "-p", "bias:=[2.0, -1.5, 3.0, 0.05, -0.08, 0.03]")
    try:
        session = Session(domain, tmp_path, "--timeout", "300", "--ros-args", *SETTINGS, "-p",
                          f"state.directory:={tmp_path}", *DRIVER)
    finally:
        cobot.stop(signal.SIGINT)
    assert session.status == 0, session.text
    assert not session.wrong
    proofs = session.of("proof")
    assert proofs[0]["given"] and proofs[0]["left_before"][0] > 10 * proofs[0]["left_after"][0]
    told = next(e["text"] for e in session.of("note") if "was told" in e["text"])
    assert float(told.split("was told ")[1].split(" kg")[0]) == pytest.approx(
        PAYLOADS["drill"].mass, rel=0.03)
    assert "it tells the same" in told
    wrench = next(e for e in session.of("note") if "driver's own wrench" in e["text"])
    assert wrench["good"], wrench
    assert list(tmp_path.glob("*.html")) and list(tmp_path.glob("saves/*.json"))
