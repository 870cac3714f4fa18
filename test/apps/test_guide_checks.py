# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The checks at rest: a right set-up passes, and each fault makes the row that names it wrong."""

from dataclasses import replace

import numpy as np
import pytest

from inertial_id_ros.apps.guide.checks import PASSED, Driver, Snapshot, check_at_rest, failed
from inertial_id_ros.kinds import Finding
from inertial_id_ros.settings import Settings

SETTINGS = Settings().replace({"wrench.sensor": "ati_gamma", "motion.execute": True})
JOINTS = ("shoulder", "elbow", "wrist")
RNG = np.random.default_rng(3)
N = 1000


def wrench(scale=1.0, offset=0.0):
    rows = scale * RNG.normal(size=(N, 6)) * np.repeat([0.05, 0.002], 3)
    return rows + [1.0, 2.0, -9.0, 0.1, 0.2, 0.0] + offset


def ages(wrench=0.005, joints=0.005):
    return {"wrench": wrench, "joint states": joints}


TOPICS = {"wrench": "/wrench", "joints": "/joint_states"}
SEEN = Snapshot(
    2.0, wrench(), N, TOPICS, ages(), 1e-4, JOINTS, frame="ft_sensor",
    controllers={"/arm_controller": JOINTS}, driver=Driver(0.0, "", 1.0))


def test_a_right_set_up_passes_every_check():
    rows = check_at_rest(SEEN, SETTINGS)
    assert all(row.verdict == PASSED and not row.advice for row in rows), rows
    assert len({row.check for row in rows}) == len(rows) == 14


def test_without_an_arm_only_what_is_missing_has_a_row():
    rows = check_at_rest(Snapshot(2.0, np.empty((0, 6)), 0, TOPICS, missing="nothing"), SETTINGS)
    assert [row.check for row in rows if row.verdict == PASSED] == ["motion is allowed"]
    assert {row.check for row in failed(rows)} == {
        "wrench arrives", "motion arrives", "controller"}


@pytest.mark.parametrize(("change", "name", "measured"), [
    ({"wrench": np.empty((0, 6)), "wrench_topics": ("/ft/raw",)}, "wrench arrives", "2.0 s"),
    ({"wrench": wrench()[:20]}, "wrench arrives", "10 Hz"),
    ({"wrench": np.ones((N, 6))}, "sensor is connected", "1000 readings"),
    ({"wrench": np.zeros((N, 6))}, "sensor is connected", "1000 readings"),
    ({"wrench": wrench(offset=125.0)}, "range of the sensor", "127.2 N"),
    ({"wrench": wrench(scale=5.0)}, "noise at rest", "0.2"),
    ({"ages": ages(1e9)}, "stamps", "1000000000"),
    ({"ages": ages(3.0, -0.1)}, "stamps", "3.000 s"),
    ({"ages": ages(0.3)}, "clocks", "295 ms before"),
    ({"findings": (Finding("streams_mixed.wrench", "error", "two publishers"),)},
     "wrench arrives", "two publishers"),
    ({"joints": 0}, "motion arrives", "2.0 s"),
    ({"speed": 0.3}, "arm at rest", "0.3 rad/s"),
    ({"chain": (), "missing": "no joint states of twist"}, "robot description", "twist"),
    ({"missing": "frame 'ft' is unknown"}, "robot description", "'ft'"),
    ({"driver": Driver(1.2, "", 1.0)}, "payload set on the robot", "1.200 kg"),
    ({"driver": Driver(0.0, "protective stop", 1.0)}, "robot may move", "protective stop"),
    ({"driver": Driver(0.0, "", 0.0)}, "robot may move", "0 %"),
    ({"controllers": {}}, "controller", "no node"),
    ({"controllers": {"/gripper": ("finger",)}}, "controller", "finger"),
    ({"controllers": {**SEEN.controllers, "/other": ()}}, "controller", "/arm_controller"),
    ({"tcp": 0.1}, "frame of the wrench", "100 mm"),
    ({"findings": (Finding("sensor_frame.unknown", "warning", "no frame"),)},
     "frame of the wrench", "no frame"),
    ({"findings": (Finding("motion_slow", "error", "at 5 Hz"),)}, "motion arrives", "at 5 Hz"),
])
def test_a_fault_makes_the_row_wrong_that_names_it(change, name, measured):
    rows = check_at_rest(replace(SEEN, **change), SETTINGS)
    row = next(row for row in rows if row.check == name)
    assert measured in row.measured
    assert row in failed(rows) and row.advice, rows
    assert {r.check for r in failed(rows)} - {name} <= ({"clocks"} if name == "stamps" else set())


def test_a_slower_robot_information_and_an_added_payload_make_nothing_wrong():
    note = (Finding("sensor_frame.unknown", "info", "it is converted"),)
    assert not failed(check_at_rest(replace(SEEN, findings=note), SETTINGS))
    assert not failed(check_at_rest(replace(SEEN, driver=Driver(0.0, "", 0.3)), SETTINGS))
    added = SETTINGS.replace({"precompensated.mass": 1.2})
    assert not failed(check_at_rest(replace(SEEN, driver=Driver(1.2, "", 1.0)), added))


def test_nothing_of_the_controller_is_checked_where_the_arm_is_moved_by_hand():
    seen = replace(SEEN, controllers={}, driver=Driver(0.0, "stopped", 0.0))
    settings = SETTINGS.replace({"motion.execute": False})
    assert not failed(check_at_rest(seen, settings, may_move=False))
    assert {"motion is allowed", "controller"} < {r.check for r in failed(
        check_at_rest(seen, settings))}
