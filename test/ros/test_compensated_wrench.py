# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The topics of the compensated wrench, of a node that runs."""

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from node_client import NODE, hears, play_until_valid
from ros_process import Robot, Stage, play_until
from std_srvs.srv import Trigger

from inertial_id_ros.msg import CompensationState


@pytest.fixture(scope="module")
def compensated():
    """A node that knows the payload and publishes the compensated wrench."""
    with Stage() as stage:
        stage.node = stage.start_node(wrench__sensor="ideal", state__restore=False)
        stage.robot = Robot(stage.client)
        stage.robot.publish_description()
        stage.states = stage.client.listen(CompensationState, f"{NODE}/compensation_state")
        stage.wrenches = stage.client.listen(WrenchStamped, f"{NODE}/wrench_compensated", 1000)
        play_until_valid(stage, stage.robot)
        play_until(stage.robot.play, lambda: hears(  # a busy node knows it later than it is sent
            stage, lambda: stage.states[-1].mode == CompensationState.PAYLOAD))
        yield stage


def nanoseconds(message: WrenchStamped) -> int:
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec


def test_each_wrench_comes_back_with_its_stamp_and_frame(compensated):
    wanted: list[int] = []
    compensated.robot.play(1.0, each=wanted.append)
    compensated.client.spin_until(
        lambda: set(wanted) <= {nanoseconds(m) for m in compensated.wrenches})
    stamps = [nanoseconds(m) for m in compensated.wrenches]
    assert stamps == sorted(set(stamps))
    late = compensated.wrenches[-100:]
    assert {m.header.frame_id for m in late} == {"ft_sensor"}
    weight = 9.81 * compensated.robot.cobot.payload.mass
    forces = np.array([[m.wrench.force.x, m.wrench.force.y, m.wrench.force.z] for m in late])
    assert np.sqrt((forces**2).mean()) < 0.02 * weight


def test_the_state_tells_what_is_removed(compensated):
    compensated.robot.play(0.5)
    compensated.client.spin_until(lambda: compensated.states[-1].blend > 0.99)
    state = compensated.states[-1]
    payload = compensated.robot.cobot.payload
    assert state.mode == CompensationState.PAYLOAD and not state.old
    assert state.inertia.m == pytest.approx(payload.mass, rel=0.02)
    assert state.header.frame_id == "ft_sensor" and state.estimate_stamp.sec > 0
    assert 0.0 <= state.age < 60.0 and state.reason


def test_a_reset_is_followed_by_silence_and_a_new_estimate_ends_it(compensated):
    assert compensated.client.call(Trigger, f"{NODE}/reset").success
    compensated.client.spin_until(
        lambda: compensated.states[-1].mode == CompensationState.SILENT)
    silent = compensated.states[-1]
    assert silent.reason and np.isnan(silent.inertia.m)
    count = len(compensated.wrenches)
    compensated.robot.play(0.3)
    assert len(compensated.wrenches) == count
    play_until(compensated.robot.play, lambda: hears(
        compensated, lambda: len(compensated.wrenches) > count))
