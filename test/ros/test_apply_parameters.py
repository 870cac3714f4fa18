# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payloads reach controllers of ros2_control through their parameters, and come back by undo."""

from __future__ import annotations

import json

import numpy as np
import pytest
from apply_stage import TILT, ApplyStage, told
from node_client import use
from ros_process import wait_until
from stand_in import FALLS_SILENT, PARAMETERS, READ_ONLY, REFUSES

from inertial_id_ros.apps.simulation.payload import PAYLOADS

pytestmark = pytest.mark.slow
TRUE = PAYLOADS["hammer"]
# Both filters take the centre of mass from the origin of the sensor, along the axes of their frame.
COM = TILT.inv().apply(TRUE.com)
SAVED = "hammer.json"  # an arm at rest is known for as long as the window holds its motion
MASS_TOLERANCE, COM_TOLERANCE = 0.02, 0.004  # kg, m


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    with ApplyStage() as stage:
        stage.folder = tmp_path_factory.mktemp("state")
        stage.begin(state__directory=str(stage.folder), apply__target="admittance_controller",
                    wrench__topic="/wrench")
        stage.save(SAVED)
        yield stage


@pytest.fixture(scope="module")
def admittance(stage):
    return stage.stand_in("admittance_controller")


@pytest.fixture(scope="module")
def broadcaster(stage):
    return stage.stand_in("force_torque_sensor_broadcaster")


def entries(stage):
    return [json.loads(line)
            for line in (stage.folder / "applications.jsonl").read_text().splitlines()]


def test_the_admittance_controller_takes_newtons_about_the_sensor_and_gives_them_back(
        stage, admittance):
    """The target is that of the settings."""
    rehearsal = stage.apply("", estimate=SAVED)
    assert rehearsal.success and len(rehearsal.calls) == 2 and rehearsal.left_out
    assert all(line.startswith("ros2 param set /admittance_controller gravity_compensation.CoG.")
               for line in rehearsal.calls)
    assert not told(admittance) and not (stage.folder / "applications.jsonl").exists()
    answer = stage.apply("", send=True, estimate=SAVED)
    assert answer.success, answer.message
    (got,) = told(admittance, 1)
    assert got["gravity_compensation.CoG.force"] == pytest.approx(
        9.81 * TRUE.mass, abs=9.81 * MASS_TOLERANCE)
    np.testing.assert_allclose(got["gravity_compensation.CoG.pos"], COM, atol=COM_TOLERANCE)
    entry = entries(stage)[-1]
    assert entry["sent"] and entry["before"]["gravity_compensation.CoG.force"] == 7.0
    assert entry["after"]["gravity_compensation.CoG.force"] == pytest.approx(
        got["gravity_compensation.CoG.force"])
    assert entry["evidence"]["mass"] == pytest.approx(TRUE.mass, abs=MASS_TOLERANCE)
    undone = stage.apply("", send=True, undo=True)
    assert undone.success, undone.message
    assert told(admittance, 2)[-1] == {
        name: PARAMETERS["admittance_controller"][name]
        for name in ("gravity_compensation.CoG.pos", "gravity_compensation.CoG.force")}
    assert not stage.apply("", send=True, undo=True).success and len(told(admittance)) == 2


@pytest.mark.parametrize(("name", "words"), [
    (READ_ONLY, "gravity_compensation.CoG.force"), (REFUSES, "not while I run"),
    ("force_torque_sensor_broadcaster", "gravity_compensation.frame.id"), ("nobody", "/nobody")])
def test_a_node_that_cannot_take_it_is_named_with_the_parameter(stage, broadcaster, name, words):
    use(stage, "apply.service", name)
    if name in (READ_ONLY, REFUSES):
        stage.stand_in(name)
    answer = stage.apply("admittance_controller", send=True, estimate=SAVED)
    assert not answer.success and not answer.sent and words in answer.message, answer.message


def test_what_was_sent_and_cannot_be_read_back_was_sent(stage):
    use(stage, "apply.service", FALLS_SILENT)
    stand_in = stage.stand_in(FALLS_SILENT)
    wait_until(lambda: stage.apply("admittance_controller", estimate=SAVED).success)
    answer = stage.apply("admittance_controller", send=True, estimate=SAVED)
    assert len(told(stand_in)) == 1
    assert answer.success and "sent, not confirmed" in answer.message, answer.message
    assert entries(stage)[-1]["sent"] and not entries(stage)[-1]["failure"]
