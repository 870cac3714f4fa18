# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""identify_robot --execute: a simulated arm with friction is moved, recorded and identified."""

from __future__ import annotations

import json
import signal
import sys

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("control_msgs.action")
from ros_process import RosProcess, own_domain  # noqa: E402
from yaml import safe_dump  # noqa: E402

pytestmark = pytest.mark.slow
COULOMB, VISCOUS = 2.0, 3.0  # N m, N m s/rad
# Shorter than what a user waits for: plans of 8 s, two sweeps. A simulated arm may be late where
# the machine is busy.
COMMAND = ("from inertial_id_ros.apps.guide import robot_motions; "
           "from inertial_id_ros.ros import motion_execution; motion_execution.DELAY = 1.0; "
           "robot_motions.BUDGET, robot_motions.EXCITATION = {budget}, 8.0; "
           "from inertial_id_ros.ros.guide import identify_robot; identify_robot.SWEEPS = 3; "
           "raise SystemExit(identify_robot.main())")


@pytest.fixture(scope="module")
def domain(tmp_path_factory):
    """A domain with an arm that carries next to nothing."""
    nothing = tmp_path_factory.mktemp("payload") / "nothing.yaml"
    nothing.write_text(safe_dump({"name": "nothing", "parts": [
        {"shape": "sphere", "size": [0.005], "density": 2000.0}]}))
    made = own_domain()
    cobot = RosProcess(made, sys.executable, "-m", "inertial_id_ros.ros.tools.simulate_cobot",
                       "--motion", "commanded", "--payload", str(nothing), "--rate", "250",
                       "--friction", f"{COULOMB},{VISCOUS}")
    yield made
    cobot.stop(signal.SIGINT)


def command(domain, *words, budget: float = 1.5) -> RosProcess:
    return RosProcess(domain, sys.executable, "-c", COMMAND.format(budget=budget),
                      *map(str, words), "--silence", "0.6")


@pytest.mark.alone
def test_the_friction_and_the_torques_of_another_motion_are_found(domain, tmp_path):
    out = tmp_path / "result.json"
    status, text = command(domain, "--execute", tmp_path / "robot", "--yes", "--json", out,
                           "--terms", "viscous,coulomb,offset", budget=12.0).finish(300.0)
    assert status == 0, text
    assert {path.name for path in (tmp_path / "robot").iterdir()} == {
        "robot.urdf", "motion.npz", "friction.npz", "test.npz"}
    result = json.loads(out.read_text())
    assert result["held_back_relative_error"] < 0.02, text
    found = {entry["name"]: entry for entry in result["parameters"]}
    for joint in result["joints"]:
        for term, truth in (("coulomb", COULOMB), ("viscous", VISCOUS)):
            entry = found[f"{term}({joint})"]
            assert abs(entry["value"] - truth) < max(4.0 * entry["sigma"], 0.02 * truth), entry
            assert entry["sigma"] < 0.1 * truth, entry


def test_nothing_moves_where_nobody_agrees(domain, tmp_path):
    status, text = command(domain, "--execute", tmp_path).finish(120.0)
    events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert status == 130 and not [e for e in events if e["event"] == "motion"], text
    assert not list(tmp_path.glob("*.npz"))


@pytest.mark.alone
def test_interrupted_on_its_way_it_leaves_a_robot_at_rest(domain, tmp_path):
    process = command(domain, "--execute", tmp_path, "--yes")
    process.wait_for_text('"event": "motion"', 120.0)
    process.process.send_signal(signal.SIGINT)
    status, text = process.finish(30.0)
    assert status == 130 and "Traceback" not in text, text
    assert not list(tmp_path.glob("*.npz"))


@pytest.mark.parametrize(("words", "said"), [
    (("recording.npz", "--execute", "folder"), "leave out RECORDING"),
    (("--execute", "folder", "--link-speed", "9"), "--link-speed is 9"),
    ((), "--execute FOLDER"),
])
def test_a_mistake_in_the_command_is_one_sentence(words, said):
    status, text = RosProcess(own_domain(), "identify_robot", *words).finish()
    assert status == 2 and said in text and "Traceback" not in text, text
