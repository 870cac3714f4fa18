# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What an application means for the node: which payload is removed, which zero is true."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("inertial_id_ros.msg")
from synthetic import NOISE, STILL, PointMasses, Scene, identifier, recording  # noqa: E402

from inertial_id_ros.ros.apply import application as module  # noqa: E402
from inertial_id_ros.ros.apply.application import changing_wrench  # noqa: E402
from inertial_id_ros.ros.apply.gates import removal_gate  # noqa: E402
from inertial_id_ros.ros.services.saving import CannotSave  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402
from inertial_id_ros.targets.registry import load_target  # noqa: E402

NOTHING = PointMasses(np.zeros((1, 3)), np.zeros(1))
NO_HISTORY = SimpleNamespace(last=lambda name: None)
UR = load_target("universal_robots")


@pytest.mark.parametrize(("change", "closed"), [
    ({}, True), ({"precompensated.mass": 1.0}, True), ({"precompensated.source": "none"}, False)])
def test_nothing_is_sent_while_the_topic_with_the_payload_of_the_robot_is_silent(change, closed):
    """What is left of a payload that the driver removes would be sent for the whole."""
    gate = removal_gate("ur", UR, Settings().replace(change), None, "/states", NO_HISTORY)
    assert bool(gate.closed) == closed
    assert not closed or "nothing is heard on '/states'" in gate.closed


SILENT = SimpleNamespace(withhold=lambda reason: None)


def estimation_with_tare(keep):
    """What `changing_wrench` needs of an estimation, whose sensor was tared."""
    made = identifier()
    recording(3.0, Scene(motion=STILL), NOTHING, noise=NOISE,
              rng=np.random.default_rng(1)).feed(made)
    made.tare()
    assert made.state().tare is not None
    return SimpleNamespace(
        identifier=made, state=SimpleNamespace(keep=keep), solve_after_change=lambda: None,
        worker=SimpleNamespace(post=lambda job: job()))


@pytest.mark.parametrize("target", ["force_torque_sensor_broadcaster", "universal_robots"])
def test_what_sets_another_zero_ends_the_tare_which_was_of_the_zero_before(monkeypatch, target):
    """Universal Robots zeroes its sensor when it is told a payload."""
    monkeypatch.setattr(module, "_SETTLING", 0.0)
    kept = []
    estimation = estimation_with_tare(kept.append)
    with changing_wrench(estimation, SILENT, "it", load_target(target), Settings()) as forget:
        forget()
    assert estimation.identifier.state().tare is None and kept[-1].tare is None


@pytest.mark.parametrize("target", ["xarm", "admittance_controller"])
def test_what_does_not_change_the_wrench_leaves_the_tare(target):
    estimation = estimation_with_tare(lambda state: None)
    with changing_wrench(estimation, SILENT, "it", load_target(target), Settings()) as forget:
        forget()
    assert estimation.identifier.state().tare is not None


def test_a_tare_ends_where_that_cannot_be_written_too(monkeypatch):
    monkeypatch.setattr(module, "_SETTLING", 0.0)

    def fail(state):
        raise CannotSave("the disk is full")

    estimation = estimation_with_tare(fail)
    target = load_target("force_torque_sensor_broadcaster")
    with changing_wrench(estimation, SILENT, "it", target, Settings()) as forget:
        forget()
    assert estimation.identifier.state().tare is None
