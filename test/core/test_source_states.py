# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What streams remember, forget and name beside the motion, on a few seconds of a simulated arm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_source import ARM, FRAME, LAW, NOISE, STAMPS, Q, poses, with_arm

from benchmarks.referee.generator import START_NS
from inertial_id_ros.motion.frames import place_of
from inertial_id_ros.motion.motion import BIN_NS
from inertial_id_ros.motion.source import Streams
from inertial_id_ros.settings import Settings

SOME, SECOND = slice(0, 600), 10**9


def names(streams: Streams) -> set[str]:
    return set(dict(streams.findings()))


def moved(streams: Streams, readings: np.ndarray = NOISE, frame: str = FRAME,
          part: slice = SOME) -> Streams:
    """Wrench and joint states of three seconds."""
    streams.add_wrenches(STAMPS[part], frame, readings[part])
    streams.add_joint_states(STAMPS[part], ARM.names, Q[part])
    return streams


def test_joint_states_that_come_late_take_the_place_of_transforms() -> None:
    streams = with_arm()
    streams.add_wrenches(STAMPS[SOME], FRAME, NOISE[SOME])
    streams.add_transforms(STAMPS[SOME], "link0", FRAME, poses()[SOME])
    assert len(streams.advance()[0].number)
    assert streams.transforms and streams.restarts == 0
    later = slice(600, 1200)
    moved(streams, part=later)
    motion = streams.advance()[0]
    assert streams.restarts == 1 and not streams.transforms
    true = ARM.motion(LAW(1e-9 * (motion.number * BIN_NS + BIN_NS // 2 - START_NS)))
    assert len(motion.number) > 200
    np.testing.assert_allclose(motion.position[20:-20], true.position[20:-20], atol=1e-3)


def test_gravity_is_known_along_a_link_that_stands_and_none_that_moves() -> None:
    plain, base = (moved(with_arm(**changes)).advance(finished=True)[0] for changes in (
        {}, {"gravity.frame": "link0"}))
    assert len(plain.number) > 290
    for one, other in zip(plain, base, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    moving = moved(with_arm(**{"gravity.frame": "link1"}))
    assert not len(moving.advance(finished=True)[0].number)
    assert dict([moving.missing() or ("", {})]).keys() == {"sensor_frame.unknown"}


@pytest.mark.parametrize("moves", [True, False])
def test_readings_that_stay_the_same_are_named_where_the_sensor_turns(moves: bool) -> None:
    held = NOISE.copy()
    held[200:600] = held[200]
    streams = with_arm()
    found = set[str]()
    for k in range(0, 1000, 50):
        part = slice(k, k + 50)
        streams.add_wrenches(STAMPS[part], FRAME, held[part])
        streams.add_joint_states(STAMPS[part], ARM.names, Q[part] if moves else Q[:50] * 0.0)
        streams.advance()
        found |= names(streams)
    assert ("input_stuck.wrench" in found) == moves
    assert bool([fault for fault in streams.take_faults() if fault.kind == "stuck"]) == moves
    assert not streams.take_faults()


def test_a_wrench_of_no_frame_and_in_another_unit_is_named() -> None:
    streams = Streams(Settings())
    assert dict([streams.missing() or ("", {})]).keys() == {"no_wrench"}
    streams.add_wrenches(STAMPS[SOME], "", NOISE[SOME])
    assert dict([streams.missing() or ("", {})]).keys() == {"no_frame"}
    streams = moved(with_arm(**{"wrench.range": (150.0, 10.0)}), 1e6 * NOISE)
    streams.advance()
    assert "wrong_units.wrench" in names(streams)


def test_a_stream_whose_clock_stays_ahead_of_one_that_went_back_is_begun_anew() -> None:
    streams = moved(with_arm())
    streams.advance()
    back = STAMPS[SOME] - 100 * SECOND
    for k in range(0, 600, 50):
        streams.add_joint_states(back[k:k + 50], ARM.names, Q[k:k + 50])
        streams.advance()
    assert streams.restarts == 1
    streams.add_wrenches(back, FRAME, NOISE[SOME])
    _, stamps, _ = streams.advance(finished=True)
    assert (stamps < STAMPS[0]).all() and len(stamps) > 500
    assert streams.newest < STAMPS[0]


def test_streams_that_are_emptied_keep_the_robot_and_what_is_fixed() -> None:
    streams = Streams(Settings())
    place = place_of([0.0, 0.1, 0.2], [0.0, 0.0, 0.0, 1.0])
    streams.add_static_transform("a", "b", place)
    streams.add_static_transform("a", "b", place)  # again, as a latched topic does
    streams.add_wrenches(STAMPS[SOME], FRAME, NOISE[SOME])
    empty = streams.emptied()
    assert empty.frame == FRAME and empty.newest == 0 and empty.chain is None
    assert empty.tree().place("a", "b")[1] is None


def test_a_frame_at_the_tcp_that_nothing_places_is_unknown_and_others_are_replaced() -> None:
    for said, kind in (("tool0_controller", "sensor_frame.unknown"),
                       ("ft", "sensor_frame.replaced")):
        streams = moved(with_arm(**{"wrench.sensor_frame": FRAME}), frame=said)
        streams.advance()
        assert {name for name in names(streams) if name.startswith("sensor_frame")} == {kind}


def test_streams_that_stop_are_named_while_the_other_goes_on() -> None:
    streams = moved(with_arm())
    streams.add_wrenches(STAMPS[600:1200], FRAME, NOISE[600:1200])
    streams.advance()
    assert dict(streams.findings())["samples_missing.motion"]["seconds"] == pytest.approx(3.0)
    streams = moved(with_arm())
    streams.add_joint_states(STAMPS[600:1200], ARM.names, Q[600:1200])
    streams.advance()
    assert dict(streams.findings())["samples_missing.wrench"]["seconds"] == pytest.approx(3.0)


def test_a_tcp_that_is_set_elsewhere_begins_anew_and_small_noise_does_not() -> None:
    """The driver of Universal Robots tells where its TCP lies by transforms alone."""
    streams, rows = with_arm(**{"wrench.sensor_frame": FRAME}), poses()
    turn, restarts = Rotation.from_quat(rows[:, 3:]), list[int]()
    for k in range(0, 1800, 100):
        part, tcp = slice(k, k + 100), [0.0, 0.05, 0.1 + 1e-6 * (k % 3) + 0.1 * (k >= 900)]
        at = np.hstack([rows[part, :3] + turn[part].apply(tcp), rows[part, 3:]])
        streams.add_transforms(STAMPS[part], "link0", "tool0_controller", at)
        moved(streams, frame="tool0_controller", part=part)
        streams.advance()
        restarts.append(streams.restarts)
    assert restarts[8] == 0 and restarts[-1] == 1
