# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The command identify_payload beside a simulated cobot: from check to applied payload, and wrong
set-ups, which are named, and in which nothing moves but the wiggle that finds some of them."""

from __future__ import annotations

import json
import signal
import sys

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("control_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from faulty_relay import FaultyRelay, remaps  # noqa: E402
from ros_process import NODE, Client, RosProcess, own_domain  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

COBOT = (sys.executable, "-m", "inertial_id_ros.ros.tools.simulate_cobot")
COMMAND = (sys.executable, "-m", "inertial_id_ros.ros.guide.identify_payload")
SETTINGS = ("-p", "wrench.sensor:=ati_gamma")
# Set-up: row that names it, words of what was measured, words of what to do, whether the wrist must
# wiggle to find it.
WRONG = {
    "sign": ("sign of the wrench", "pulls upwards", "wrench.convention", True),
    "frame turned": ("axes of the sensor", "axes x, y, z of the sensor lie along",
                     "wrench.sensor_frame", True),
    "tilted gravity": ("direction of gravity", "from the z axis", "gravity.frame", True),
    "clock offset": ("clocks", "0.20 s", "synchronise", False),
    "joint order": ("order of the joints", "", "order of the joints", True),
    "wrong link": ("frame of the wrench", "does not move with", "wrench.sensor_frame", False),
    "wrong TCP": ("tool centre point", "150 mm", "TCP", False),
    "stale stamps": ("stamps", "3.0", "synchronise", False),
    "payload set": ("payload set on the robot", "1.200 kg", "to 0 kg", False),
    "saturated": ("range of the sensor", "% of the range", "more range", False),
    "unplugged": ("sensor is connected", "to the last bit", "cable", False),
    "slow TF": ("transforms arrive", "Hz", "rate", False),
    "two publishers": ("publishers", "/other_driver", "Stop", False),
    "protective stop": ("robot may move", "does not run", "teach pendant", False),
    "no controller": ("controller", "nobody offers", "--no-motion", False),
}


class Session:
    """A run of the command: its events, and how it ended."""

    def __init__(self, domain: int, folder, *words: str) -> None:
        process = RosProcess(domain, *COMMAND, "--yes", "--json", "--report", str(folder), *words)
        self.status, self.text = process.finish(150.0)
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


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    """A cobot behind a relay, a node, and a client: one of each for all set-ups."""
    domain = own_domain()
    relay = FaultyRelay(domain)
    cobot = RosProcess(domain, *COBOT, "--ros-args", "-p", "motion:=commanded", "-p", "rate:=250.0",
                       "-p", "sensor:=ati_gamma", *remaps())
    node = RosProcess(domain, *NODE, "--ros-args", *SETTINGS, "-p",
                      f"state.directory:={tmp_path_factory.mktemp('state')}")
    client = Client(domain)
    yield domain, relay, client
    client.close()
    for process in (node, cobot):
        process.stop(signal.SIGINT)
    relay.close()


@pytest.mark.slow
@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_set_up_is_named_and_nothing_is_identified(stage, tmp_path, fault):
    domain, relay, client = stage
    name, measured, advice, wiggles = WRONG[fault]
    relay.set(fault)
    client.call(Trigger, "/inertial_id_node/reset")
    words = ("--controller", "nowhere") if fault == "no controller" else ()
    session = Session(domain, tmp_path, *words)
    assert session.status == 4, session.text
    assert name in session.wrong, session.text
    row = session.wrong[name]
    assert measured in row["measured"] and advice in row["advice"], row
    assert len(session.of("motion")) <= (2 if wiggles else 0), session.text
    assert not {"identify", "prove", "apply"} & {e["name"] for e in session.of("step")}
    assert list(tmp_path.glob("*.html"))
