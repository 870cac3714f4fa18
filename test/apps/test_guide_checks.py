# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The checks at rest: a right set-up passes, and each fault makes the row that names it wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from inertial_id_ros.apps.guide.checks import (
    Driver,
    Scene,
    Snapshot,
    Verdict,
    check_at_rest,
    failed,
)
from inertial_id_ros.apps.guide.received import Stream
from inertial_id_ros.kinds import Finding
from inertial_id_ros.settings import Settings

SETTINGS = Settings().replace({"wrench.sensor": "ati_gamma", "motion.execute": True})
JOINTS = ("shoulder", "elbow", "wrist")
RNG = np.random.default_rng(3)
N, START = 1000, 10**18


def stream(rows, names=(), delay=0.005, rate=500.0):
    stamps = START + np.round(np.arange(len(rows)) / rate * 1e9).astype(np.int64)
    return Stream(stamps + round(delay * 1e9), stamps, rows, names)


def wrench(scale=1.0, offset=0.0, **more):
    rows = scale * RNG.normal(size=(N, 6)) * np.repeat([0.05, 0.002], 3)
    return stream(rows + [1.0, 2.0, -9.0, 0.1, 0.2, 0.0] + offset, ("ft_sensor",), **more)


def joints(travel=0.0, **more):
    rows = np.array([0.1, 0.2, 0.3]) + 1e-5 * RNG.normal(size=(N, 3))
    rows[:, 2] += np.linspace(0.0, travel, N)
    return stream(rows, JOINTS, **more)


def still(value=1.0):
    return stream(np.full((N, 6), value), ("ft_sensor",))


TOPICS = {"wrench": "/wrench", "joints": "/joint_states"}
SEEN = Snapshot(
    2.0, wrench(), joints(), TOPICS, JOINTS, frame="ft_sensor",
    publishers={"wrench": ("/driver",), "joints": ("/driver",)},
    controllers={"/arm_controller": JOINTS}, driver=Driver(0.0, "", 1.0), scene=Scene(("table",)))


def test_a_right_set_up_passes_every_check():
    rows = check_at_rest(SEEN, SETTINGS)
    assert all(row.verdict is Verdict.PASSED and not row.advice for row in rows), rows
    assert len({row.check for row in rows}) == len(rows) == 16


def test_without_an_arm_only_what_is_missing_has_a_row():
    seen = Snapshot(2.0, Stream(), Stream(), TOPICS, missing="nothing")
    rows = check_at_rest(seen, SETTINGS)
    assert [r.check for r in rows if r.verdict is Verdict.PASSED] == ["motion is allowed"]
    assert {row.check for row in failed(rows)} == {
        "wrench arrives", "motion arrives", "controller"}


@pytest.mark.parametrize(("change", "name", "measured"), [
    ({"wrench": Stream(), "wrench_topics": ("/ft/raw",)}, "wrench arrives", "2.0 s"),
    ({"wrench": wrench(rate=10.0)}, "wrench arrives", "10 Hz"),
    ({"wrench": still()}, "sensor is connected", "1000 readings"),
    ({"wrench": still(0.0)}, "sensor is connected", "1000 readings"),
    ({"wrench": wrench(offset=125.0)}, "range of the sensor", "127.2 N"),
    ({"wrench": wrench(scale=5.0)}, "noise at rest", "0.2"),
    ({"wrench": replace(wrench(), stamps=np.zeros(N, np.int64))}, "stamps", "1000000001"),
    ({"wrench": wrench(delay=3.0)}, "stamps", "3.000 s"),
    ({"wrench": wrench(delay=0.3)}, "clocks", "295 ms before"),
    ({"publishers": {"wrench": ("/a", "/b")}}, "publishers", "/a, /b"),
    ({"joints": Stream()}, "motion arrives", "2.0 s"),
    ({"joints": joints(travel=0.3)}, "arm at rest", "'wrist'"),
    ({"chain": (), "missing": "no joint states of twist"}, "robot description", "twist"),
    ({"chain": ("shoulder", "elbow"), "beyond": ("wrist",)}, "frame of the wrench", "wrist"),
    ({"missing": "frame 'ft' is unknown"}, "robot description", "'ft'"),
    ({"driver": Driver(1.2, "", 1.0)}, "payload set on the robot", "1.200 kg"),
    ({"driver": Driver(0.0, "protective stop", 1.0)}, "robot may move", "protective stop"),
    ({"driver": Driver(0.0, "", 0.0)}, "robot may move", "0 %"),
    ({"controllers": {}}, "controller", "no node"),
    ({"controllers": {"/gripper": ("finger",)}}, "controller", "finger"),
    ({"controllers": {**SEEN.controllers, "/other": ()}}, "controller", "/arm_controller"),
    ({"scene": Scene(problem="the planning scene has an octomap")}, "surroundings", "octomap"),
    ({"tcp": 0.1}, "frame of the wrench", "100 mm"),
    ({"findings": (Finding("sensor_frame.unknown", "warning", "no frame"),)},
     "frame of the wrench", "no frame"),
    ({"findings": (Finding("motion_slow", "error", "at 5 Hz"),)}, "motion arrives", "at 5 Hz"),
])
def test_a_fault_makes_the_row_wrong_that_names_it(change, name, measured):
    rows = check_at_rest(replace(SEEN, **change), SETTINGS)
    row = next(row for row in rows if row.check == name)
    assert measured in row.measured
    assert row.verdict is Verdict.FAILED and row.advice, rows
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


def test_what_nobody_says_has_no_row():
    names = {row.check for row in check_at_rest(SEEN, SETTINGS)}
    few = {row.check for row in check_at_rest(replace(SEEN, driver=Driver(), scene=None), SETTINGS)}
    assert names - few == {"payload set on the robot", "robot may move", "surroundings"}
