# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the running node doubts is told to nobody as a payload."""

from __future__ import annotations

import time

import numpy as np
import pytest
from apply_stage import ApplyStage, told
from node_client import NODE, hears, set_parameter, wait_for_finding
from ros_process import LATCHED, Listener, Robot, play_until, queued

from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.srv import GetInertialParameters, Save

WORDS = "load.reference_mass is 4.000 kg"


@pytest.mark.slow
def test_a_payload_in_doubt_is_neither_valid_nor_applied_nor_saved(tmp_path):
    with ApplyStage() as stage:
        stage.node = stage.start_node(
            state__directory=str(tmp_path), apply__target="admittance_controller",
            load__rated_payload=5.0, load__reference_mass=4.0, estimator__rate=4.0)
        controller = stage.stand_in("admittance_controller")
        stage.robot = Robot(stage.client, motion="commanded")
        stage.robot.publish_description()
        stage.robot.play_to_rest(8.0)
        wait_for_finding(stage, "reference_contradicted", WORDS)
        stage.begin_rest()
        answer = stage.client.call(GetInertialParameters, f"{NODE}/get_inertial_parameters",
                                   GetInertialParameters.Request())
        assert not answer.parameters.valid and WORDS in answer.parameters.status
        answer = stage.apply("", send=True)
        assert not answer.success and WORDS in answer.message and not answer.calls
        answer = stage.client.call(Save, f"{NODE}/save", Save.Request(name="wrong"))
        assert not answer.success
        assert not told(controller)


@pytest.mark.alone
@pytest.mark.slow
def test_a_contact_is_doubted_at_once_at_any_rate_and_not_when_it_is_over(tmp_path):
    """Arms stop by it, and the next estimate is up to ten seconds away: at any rate as fast as the
    contract asks at 2 Hz."""
    def is_doubted(message: InertialParameters) -> bool:
        return bool(message.doubt & InertialParameters.DOUBT_PRESENT)

    with ApplyStage() as stage:
        stage.node = stage.start_node(state__directory=str(tmp_path), motion__execute=True)
        stage.robot = Robot(stage.client, motion="commanded")
        stage.robot.publish_description()
        heard = stage.client.listen(InertialParameters, f"{NODE}/inertial_parameters", LATCHED)
        stage.robot.play_to_rest(10.0)
        play_until(lambda _: stage.robot.play_to_rest(4.0),
                   lambda: hears(stage, lambda: heard and heard[-1].valid))
        listener = Listener(stage.domain)
        listener.subscribe(f"{NODE}/inertial_parameters", InertialParameters, LATCHED)
        got = listener.got[f"{NODE}/inertial_parameters"]
        stage.begin_rest()
        try:
            assert listener.spin(lambda: got and got[-1][1].valid and not got[-1][1].stale)
            assert set_parameter(stage, "estimator.rate", 0.1).successful
            end = time.monotonic() + 3.0
            listener.spin(lambda: time.monotonic() > end)
            assert not is_doubted(got[-1][1]), got[-1][1].diagnostics
            touched, waits = time.monotonic(), queued(stage.node.process.pid)
            stage.contact = np.array([15.0, 0.0, -15.0, 0.0, 0.0, 0.0])
            assert listener.spin(lambda: is_doubted(got[-1][1]))
            noticed, waits = got[-1][0] - touched, queued(stage.node.process.pid) - waits
            assert noticed < 0.8 + waits and got[-1][1].diagnostics, (noticed, waits)
            stage.contact = np.zeros(6)
            assert listener.spin(lambda: not is_doubted(got[-1][1]))
        finally:
            listener.close()
