# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The same recording played to the running node and read offline gives the same answer."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from ros_process import RosProcess, Stage

from inertial_id_ros.apps.bag.identify_bag import main as identify_bag
from inertial_id_ros.apps.simulation.cobot import CobotSettings, SimulatedCobot
from inertial_id_ros.apps.simulation.write import write_bag
from inertial_id_ros.msg import InertialParameters

PLAYER = Path(__file__).parents[1] / "play_bag.py"
DURATION = 6.0  # s
LOST = 0.7  # s of data that the live node may lack: its last estimate is up to .5 s earlier


def live(bag: Path, report: dict, **parameters: str) -> InertialParameters:
    """Last message of the node while a recording is played at its own speed with /clock; played
    again where the middleware lost messages, as it does on a machine that has no time for it."""
    for _ in range(4):
        message = play(bag, **parameters)
        if message.window > report["window"] - LOST:
            break
    return message


def play(bag: Path, **parameters: str) -> InertialParameters:
    """Last message of the node while a recording is played once."""
    with Stage() as stage:
        node = stage.start_node(use_sim_time="true", estimator__rate="2.0", **parameters)
        received = stage.client.listen(
            InertialParameters, "/inertial_id_node/inertial_parameters")
        player = RosProcess(stage.domain, sys.executable, str(PLAYER), str(bag))
        stage.processes.append(player)

        stage.client.spin_until(lambda: player.process.poll() is not None)
        assert player.process.returncode == 0, player.text
        ended = time.monotonic()
        stage.client.spin_until(lambda: time.monotonic() > ended + 0.5)
        assert received and received[-1].valid, received[-1:] or node.text
        last = received[-1]
        node.stop()
        return last


def offline(bag: Path, folder: Path, *options: str) -> dict:
    """The JSON report of identify_bag, with as many estimates a second as the node."""
    assert identify_bag([str(bag), "--json", str(folder / "out.json"), "--quiet",
                         "--set", "estimator.rate=2.0", *options]) in (0, 3)
    return json.loads((folder / "out.json").read_text())


def assert_same(message: InertialParameters, report: dict) -> None:
    """Mass to 0.1 %, centre of mass to 0.2 mm, on the offline estimate of the same time."""
    stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
    entry = min((h for h in report["history"] if h["valid"]),
                key=lambda h: abs(1e9 * h["stamp"] - stamp))
    com = [message.inertia.com.x, message.inertia.com.y, message.inertia.com.z]
    for same in (entry, report):
        assert message.inertia.m == pytest.approx(same["mass"], rel=1e-3)
        np.testing.assert_allclose(com, same["com"], atol=2e-4)


def test_a_simulated_recording_live_and_offline_agree(tmp_path: Path) -> None:
    """Joint states with a robot description, a biased sensor, a tilted base, the other sign."""
    convention = "on_environment"
    cobot = SimulatedCobot(CobotSettings(**{
        "payload": "hammer", "convention": convention, "speed": 1.5, "tilt": (4.0, -3.0),
        "bias": (3.0, -2.0, 4.0, 0.1, -0.2, 0.05), "rate": 250.0}))
    bag = tmp_path / "bag"
    write_bag(bag, cobot, cobot.run(DURATION))
    report = offline(bag, tmp_path, "--set", f"wrench.convention={convention}")
    assert report["mass"] == pytest.approx(cobot.payload.mass, rel=0.01)
    np.testing.assert_allclose(report["com"], cobot.payload.com, atol=2e-3)
    message = live(bag, report, wrench__convention=convention)
    assert_same(message, report)


def test_a_real_recording_live_and_offline_agree(tmp_path: Path, data_folder: Path) -> None:
    """TF alone, 700 Hz wrench of an ATI Gamma on a KUKA LBR Med."""
    bag = data_folder / "kuka_ati_gamma" / "baseline"
    report = offline(bag, tmp_path, "--set", "wrench.topic=/ft_sensor/wrench")
    assert report["mass"] == pytest.approx(0.933, rel=0.03)
    assert report["com"][2] == pytest.approx(0.0439, abs=2e-3)
    assert set(report["verdict"][4:]) == {"unobserved"}
    message = live(bag, report, wrench__topic="/ft_sensor/wrench")
    assert_same(message, report)
