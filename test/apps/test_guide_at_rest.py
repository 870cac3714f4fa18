# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The checks at rest: a right set-up passes, and each fault makes the row that names it wrong."""

from dataclasses import replace

import numpy as np
import pytest

from inertial_id_ros.apps.guide.at_rest import (
    Controller,
    Driver,
    Scene,
    Seen,
    check_at_rest,
)
from inertial_id_ros.apps.guide.progress import Wanted, parts_of
from inertial_id_ros.apps.guide.received import Stream
from inertial_id_ros.apps.guide.record import Verdict, failed, replaced
from inertial_id_ros.findings import Finding
from inertial_id_ros.settings import Settings

SETTINGS = Settings().replace({"wrench.sensor": "ati_gamma", "motion.execute": True})
JOINTS = ("shoulder", "elbow", "wrist")
RNG = np.random.default_rng(3)
N, START = 1000, 10**18


def stream(topic, rows, names, delay=0.005, rate=500.0, publishers=("/driver",)):
    stamps = START + np.round(np.arange(len(rows)) / rate * 1e9).astype(np.int64)
    return Stream(topic, publishers, stamps + round(delay * 1e9), stamps, rows, names)


def wrench(scale=1.0, offset=0.0):
    noise = RNG.normal(size=(N, 6)) * np.repeat([0.05, 0.002], 3)
    return scale * noise + [1.0, 2.0, -9.0, 0.1, 0.2, 0.0] + offset


def joints():
    return np.array([0.1, 0.2, 0.3]) + 1e-5 * RNG.normal(size=(N, 3))


SEEN = Seen(
    2.0, stream("/wrench", wrench(), ("ft_sensor",)), stream("/joint_states", joints(), JOINTS),
    stream("/tf", np.empty((N, 0)), ()), JOINTS,
    controllers=(Controller("/arm_controller", JOINTS, (0.1, 0.2, 0.3)),),
    driver=Driver(0.0, "", 1.0), scene=Scene(("table",)))


# What is wrong, too, where something else is.
FOLLOW = {"arm at rest": {"order of the joints"}, "joint names": {"controller"},
          "transforms arrive": {"arm at rest"}, "stamps": {"clocks"}}


def test_a_right_set_up_passes_every_check():
    rows = check_at_rest(SEEN, SETTINGS)
    assert all(row.verdict is Verdict.PASSED for row in rows), rows
    assert len({row.name for row in rows}) == len(rows) == 19


def still():
    return np.tile([1.0, 2.0, -9.0, 0.1, 0.2, 0.0], (N, 1))


def moving():
    rows = joints()
    rows[:, 2] += np.linspace(0.0, 0.3, N)
    return rows


def without_stamps():
    made = stream("/wrench", wrench(), ("ft_sensor",))
    return replace(made, stamps=np.zeros(N, np.int64))


def test_without_an_arm_nothing_passes_that_was_not_seen():
    seen = replace(SEEN, wrench=Stream("/wrench"), joints=Stream("/joint_states"),
                   transforms=Stream("/tf"), chain=(), controllers=(), driver=Driver(),
                   has_description=False, missing="the wrench messages have no frame_id")
    rows = check_at_rest(seen, SETTINGS)
    assert {row.name for row in rows if row.verdict is Verdict.PASSED} <= {
        "motion is allowed", "surroundings"}
    description = next(row for row in rows if row.name == "robot description")
    assert description.verdict is Verdict.FAILED and description.measured == "none was received"
    rows = check_at_rest(replace(seen, has_description=True), SETTINGS)
    description = next(row for row in rows if row.name == "robot description")
    assert description.verdict is Verdict.OPEN and "no wrench names" in description.measured


@pytest.mark.parametrize(("change", "name", "measured", "advice"), [
    ({"wrench": Stream("/wrench"), "wrench_topics": ("/ft/raw",)}, "wrench arrives",
     "nothing in 2.0 s", "/ft/raw"),
    ({"wrench": stream("/wrench", wrench(), ("ft_sensor",), rate=10.0)}, "wrench arrives", "10 Hz",
     "update_rate"),
    ({"wrench": stream("/wrench", still(), ("ft_sensor",))}, "sensor is connected",
     "same to the last bit", "cable"),
    ({"wrench": stream("/wrench", 0.0 * still(), ("ft_sensor",))}, "sensor is connected", "zero",
     "cable"),
    ({"wrench": stream("/wrench", wrench(offset=125.0), ("ft_sensor",))}, "range of the sensor",
     "% of the range", "more range"),
    ({"wrench": stream("/wrench", wrench(scale=5.0), ("ft_sensor",))}, "noise at rest", "N m",
     "Shield"),
    ({"wrench": without_stamps()}, "stamps", "no stamp", "stamp when it measures"),
    ({"wrench": stream("/wrench", wrench(), ("ft_sensor",), delay=3.0)}, "stamps", "3.00 s old",
     "synchronise"),
    ({"wrench": stream("/wrench", wrench(), ("ft_sensor",), delay=0.3)}, "clocks",
     "0.30 s before joint states", "synchronise"),
    ({"wrench": stream("/wrench", wrench(), ("ft_sensor",), publishers=("/a", "/b"))},
     "publishers", "/a, /b", "Stop all but one"),
    ({"joints": Stream("/joint_states")}, "transforms arrive", "50 Hz", ""),
    ({"joints": stream("/joint_states", moving(), JOINTS)}, "arm at rest", "joint 'wrist' moves",
     "Stop the program"),
    ({"chain": ("shoulder", "elbow", "twist")}, "joint names", "twist of the description",
     "description of this robot"),
    ({"chain": ("shoulder", "elbow"), "beyond": ("wrist",)}, "frame of the wrench",
     "does not move with wrist", "wrench.sensor_frame"),
    ({"missing": "frame 'ft' is unknown"}, "robot description", "frame 'ft' is unknown",
     "wrench.sensor_frame"),
    ({"driver": Driver(1.2, "", 1.0)}, "payload set on the robot", "1.200 kg", "to 0 kg"),
    ({"driver": Driver(0.0, "protective stop", 1.0)}, "robot may move", "protective stop",
     "teach pendant"),
    ({"driver": Driver(0.0, "", 0.3)}, "speed scaling", "30 %", "slider"),
    ({"controllers": ()}, "controller", "nobody offers", "--no-motion"),
    ({"controllers": (Controller("/gripper", ("finger",)),)}, "controller",
     "'/gripper' moves finger", "--no-motion"),
    ({"controllers": (Controller("/arm_controller", JOINTS, (0.1, 0.3, 0.2)),)},
     "order of the joints", "sees joint 'elbow' at 0.300", "order of"),
    ({"scene": Scene(problem="the planning scene has an octomap")}, "surroundings", "octomap",
     "--keep-out"),
    ({"findings": (Finding("sensor_frame.shifted", "warning", "the TCP lies 100 mm away"),)},
     "frame of the wrench", "the TCP lies 100 mm away", "TCP"),
    ({"findings": (Finding("motion_slow", "error", "transforms come at 5 Hz"),)},
     "joint states arrive", "transforms come at 5 Hz", "50 Hz"),
])
def test_a_fault_makes_the_row_wrong_that_names_it(change, name, measured, advice):
    rows = check_at_rest(replace(SEEN, **change), SETTINGS)
    row = next(row for row in rows if row.name == name)
    if advice:
        assert row.verdict is Verdict.FAILED, rows
    assert measured in row.measured + row.expected and advice in row.advice
    others = {r.name for r in failed(rows)} - {name}
    assert others <= FOLLOW.get(name, set()), others


def test_information_of_the_node_makes_nothing_wrong():
    finding = Finding("sensor_frame.shifted", "info", "it is converted")
    assert not failed(check_at_rest(replace(SEEN, findings=(finding,)), SETTINGS))


def test_nothing_of_the_controller_is_checked_where_the_arm_is_moved_by_hand():
    seen = replace(SEEN, controllers=(), driver=Driver(0.0, "stopped", 0.0))
    assert not failed(check_at_rest(seen, SETTINGS, may_move=False))


def test_no_motion_beside_a_node_that_does_not_allow_it():
    settings = SETTINGS.replace({"motion.execute": False})
    row, = failed(check_at_rest(SEEN, settings))
    assert row.name == "motion is allowed" and "--no-motion" in row.advice
    assert not failed(check_at_rest(SEEN, settings, may_move=False))


def test_what_the_driver_does_not_tell_is_open_and_not_wrong():
    rows = check_at_rest(replace(SEEN, driver=Driver()), SETTINGS)
    assert not failed(rows)
    assert sum(row.verdict is Verdict.OPEN for row in rows) == 3


def test_rows_of_a_motion_replace_the_open_ones():
    rows = check_at_rest(SEEN, SETTINGS)
    newer = rows[3]._replace(measured="newer")
    assert replaced(rows, [newer]) == (*rows[:3], newer, *rows[4:])
    other = newer._replace(name="other")
    assert replaced(rows, [other]) == (*rows, other)


def test_a_bar_is_full_at_the_goal_and_empty_two_decades_before():
    body = np.array([2.0, 0.01, 0.0, 0.1, 0.02, 0.0, 0.0, 0.02, 0.0, 0.01])
    known, unknown = [2] * 10, [0] * 10

    def part(sigma, verdicts=known, share=0.02):
        return parts_of(body, np.array([sigma] + [0.001] * 9), verdicts, Wanted(share, 0.003))[0]

    assert part(0.02).is_reached and part(0.02).share == 1.0  # 1.96 sigma = 0.039 kg < 2 %
    assert part(0.2 / 0.98).share == pytest.approx(0.5, abs=0.01) and not part(0.2).is_reached
    assert part(2.0 / 0.98).share == pytest.approx(0.0)
    assert part(0.1, unknown).share < 1.0 and not part(0.1, unknown).is_reached
    assert part(0.1, unknown, 0.2).is_reached  # no more was asked for than 20 %, it is 10 %
