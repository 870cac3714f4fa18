# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A wrench that is expressed elsewhere than in the sensor frame of the settings is converted to it
by the place that the transforms tell; where only a suspicion is left, it is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from live_stream import Live
from scipy.spatial.transform import Rotation
from synthetic import (
    BODY,
    SECOND,
    START,
    Placement,
    Recording,
    Scene,
    identifier,
    joint_messages,
    stamps,
    texts,
    transform_messages,
    wrench_messages,
)

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier

SHIFTED = Placement(Rotation.identity(), (0.0, 0.0, 0.16))
BOTH = Placement(Rotation.from_euler("xyz", [20.0, -30.0, 130.0], degrees=True),
                 (0.04, -0.08, 0.08))
TURNED = Placement(Rotation.from_euler("z", 90.0, degrees=True), (0.0, 0.0, 0.0))


def recording(tcp: Placement, said: str, seconds: float = 4.0, start: float = 0.0,
              push: Any = 0.0, by_joints: bool = True) -> Recording:
    """A wrench at the TCP, which transforms tell, with a push (6,)."""
    scene, t = Scene(mount=tcp), stamps(seconds, 100.0, start=start)
    samples = wrench_messages(scene, BODY, t, frame=said, bias=push)
    samples += transform_messages(*scene.sensor_in_world(t), t, "base_link", "tool0_controller")
    if by_joints:
        samples += joint_messages(scene, t)
    else:
        samples += transform_messages(*scene.flange_in_base(t), t, "base_link", "tool0")
    return samples.sorted()


def solved(tcp: Placement, said: str, by_joints: bool = True, **changes: str) -> Identifier:
    """An identifier after four seconds, solved twice a second."""
    made = identifier(**changes) if by_joints else identifier(None, **changes)
    for stamp, method, arguments in recording(tcp, said, by_joints=by_joints).messages:
        getattr(made, method)(*arguments)
        if stamp % 500_000_000 == 0:
            made.advance()
            made.solve()
    made.finish()
    made.solve()
    return made


@pytest.mark.slow
@pytest.mark.parametrize("by_joints", [True, False])
@pytest.mark.parametrize(("tcp", "words"), [
    (SHIFTED, "160 mm from 'tool0' (x 0, y 0, z 160 mm); it is converted"),
    (TURNED, "0 mm from 'tool0' (x 0, y 0, z 0 mm) and is turned by 90.0° (roll 0, pitch 0, yaw "
     "90°); it is converted"),
    (BOTH, "120 mm from 'tool0' (x 40, y -80, z 80 mm) and is turned by")])
def test_a_wrench_at_the_tcp_is_converted_to_the_flange(tcp: Placement, words: str,
                                                        by_joints: bool) -> None:
    made = solved(tcp, "tool0_controller", by_joints, wrench__sensor_frame="tool0")
    found = {f.name: f for f in made.findings()}
    assert words in found["sensor_frame.shifted"].text
    assert found["sensor_frame.shifted"].level == "info" and "sensor_frame.replaced" not in found
    outcome = made.solve()
    assert isinstance(outcome, Estimate) and outcome.frame_id == "tool0"
    at_flange = tcp.rotation.apply(BODY.report[1:4]) + tcp.translation
    assert outcome.body.mass == pytest.approx(BODY.report[0], rel=0.01)
    np.testing.assert_allclose(outcome.body.com, at_flange, atol=2e-3)


@pytest.mark.slow
def test_a_wrench_at_a_tcp_of_which_no_transform_tells_the_place_is_refused() -> None:
    made = identifier(wrench__sensor_frame="tool0")
    samples = recording(SHIFTED, "tool0_controller", 8.0)
    untold = samples.select(lambda stamp, method: method != "add_transform"
                            or stamp > START + 4 * SECOND)
    untold.select(lambda stamp, _: stamp < START + 4 * SECOND).feed(made, 0.1)
    assert not made.solve().valid
    assert "no transform tells where that lies in 'tool0'" in texts(made)["sensor_frame.unknown"]
    untold.select(lambda stamp, _: stamp >= START + 4 * SECOND).feed(made, 0.1)
    outcome = made.solve()  # once they come, it is as if they had been there from the beginning
    assert isinstance(outcome, Estimate) and "sensor_frame.unknown" not in texts(made)
    np.testing.assert_allclose(outcome.body.com, BODY.report[1:4] + SHIFTED.translation, atol=2e-3)


@pytest.mark.slow
def test_the_compensated_wrench_stays_in_the_frame_of_the_topic() -> None:
    """Of a wrench that is converted, a push is left as the topic would give it alone."""
    push = np.array([5.0, -3.0, 2.0, 0.1, 0.2, -0.3])
    made = Live(identifier(wrench__sensor_frame="tool0"))
    made.play(recording(BOTH, "tool0_controller", 6.0))
    heard = made.play(recording(BOTH, "tool0_controller", 1.0, 6.0, push))
    assert len(heard.t) > 50
    np.testing.assert_allclose(np.median(heard.wrench, axis=0), push, atol=0.1)  # of 14 N


@pytest.mark.slow
def test_a_driver_that_calls_its_tcp_tool0_is_suspected() -> None:
    made = solved(SHIFTED, "tool0")
    assert "whatever its frame_id" in texts(made)["sensor_frame.shifted"]
    assert not made.solve().valid


@pytest.mark.slow
@pytest.mark.parametrize(("tcp", "changes"), [
    (Placement(), {"wrench__sensor_frame": "tool0"}), (SHIFTED, {})])
def test_a_tcp_at_the_flange_or_the_frame_of_the_tcp_itself_needs_no_word(
        tcp: Placement, changes: dict[str, str]) -> None:
    found = texts(solved(tcp, "tool0_controller", **changes))
    assert not {"sensor_frame.shifted", "sensor_frame.replaced"} & set(found)
