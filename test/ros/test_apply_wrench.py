# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The compensated wrench while a driver begins to remove the payload itself."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from apply_stage import ApplyStage
from geometry_msgs.msg import WrenchStamped
from node_client import NODE, hears
from ros_process import play_until, wait_until

from inertial_id_ros.apps.simulation.payload import load_payload
from inertial_id_ros.msg import CompensationState

pytestmark = pytest.mark.slow
BOUND = 0.25 * 9.81 * load_payload("hammer").mass  # of the force: far below the payload twice
# When the driver's wrench changes: so long after it has printed a word [s].
REST_NS = 100_000_000  # length of what the arm at rest publishes with the same reading
BEFORE, AT_ONCE, AFTER = ("{", 0.2), ("answered", 0.0), ("answered", 0.1)
READ_BACK = {"precompensated__source": "dynamic_joint_states",
             "precompensated__topic": "dynamic_joint_states", "precompensated__frame": "tool0"}


def change_wrench(stage, driver, word, delay, changed):
    """Publish a wrench without the payload, this long [s] after the driver has printed a word, and
    note the stamp [ns] of the first one."""
    wait_until(lambda: word in driver.text)
    time.sleep(delay)
    stage.share = 0.0
    changed.append(stage.robot.newest_ns + REST_NS)


def forces_since(wrenches, stamp):
    """Magnitudes of the forces [N] that were published with this stamp [ns] or later."""
    return [float(np.linalg.norm([m.wrench.force.x, m.wrench.force.y, m.wrench.force.z]))
            for m in wrenches if m.header.stamp.sec * 10**9 + m.header.stamp.nanosec >= stamp]


@pytest.mark.parametrize(("moment", "settings"), [
    (BEFORE, {"precompensated__source": "settings"}), (BEFORE, READ_BACK), (AT_ONCE, READ_BACK),
    (AFTER, READ_BACK)])
def test_what_the_driver_removes_from_then_on_is_not_removed_twice(tmp_path, moment, settings):
    """Silence, with the reason, from before the call until there are data from after it."""
    with ApplyStage() as stage:
        driver = stage.stand_in("driver", "late")
        stage.begin(state__directory=str(tmp_path), **settings)
        states = stage.client.listen(CompensationState, f"{NODE}/compensation_state")
        wrenches = stage.client.listen(WrenchStamped, f"{NODE}/wrench_compensated", 10000)
        stage.apply_once_known("universal_robots")
        stage.client.spin_until(lambda: wrenches and states[-1].mode == CompensationState.PAYLOAD)
        changed: list[int] = []
        watcher = threading.Thread(target=change_wrench, args=(stage, driver, *moment, changed))
        watcher.start()
        answer = stage.apply("universal_robots", send=True)
        watcher.join()
        assert answer.success, answer.message
        assert any(state.mode == CompensationState.SILENT
                   and "a payload is being applied to universal_robots" in state.reason
                   for state in states)
        stage.client.spin_until(lambda: states[-1].mode == CompensationState.SILENT)
        stage.end_rest()
        stage.robot.play_to_rest(8.0, np.zeros(6))
        if settings is READ_BACK:  # a payload that is wholly compensated
            play_until(lambda _: stage.robot.play_to_rest(2.0, np.zeros(6)), lambda: hears(
                stage, lambda: states[-1].mode == CompensationState.PAYLOAD
                and forces_since(wrenches, changed[0])))
        stage.apply("universal_robots")  # answered after all that came before
        assert not [force for force in forces_since(wrenches, changed[0]) if force > BOUND]
