# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A wrench that is expressed elsewhere than in the sensor frame of the settings is named, with the
place that the transforms tell."""

from __future__ import annotations

import pytest
from scipy.spatial.transform import Rotation
from synthetic import (
    BODY,
    Placement,
    Scene,
    identifier,
    joint_messages,
    stamps,
    texts,
    transform_messages,
    wrench_messages,
)

from inertial_id_ros.identification.wrench.identifier import Identifier

SHIFTED = Placement(Rotation.identity(), (0.0, 0.0, 0.16))
TURNED = Placement(Rotation.from_euler("z", 90.0, degrees=True), (0.0, 0.0, 0.0))


def solved(tcp: Placement, said: str, by_joints: bool = True, **changes: str) -> Identifier:
    """An identifier after four seconds of a wrench at the TCP, which transforms tell."""
    scene, t = Scene(mount=tcp), stamps(4.0, 100.0)
    samples = wrench_messages(scene, BODY, t, frame=said)
    samples += transform_messages(*scene.sensor_in_world(t), t, "base_link", "tool0_controller")
    if by_joints:
        samples += joint_messages(scene, t)
    else:
        samples += transform_messages(*scene.flange_in_base(t), t, "base_link", "tool0")
    made = identifier(**changes) if by_joints else identifier(None, **changes)
    samples.sorted().feed(made, 0.5)
    made.solve()
    return made


@pytest.mark.slow
@pytest.mark.parametrize("by_joints", [True, False])
def test_a_tcp_that_is_not_at_the_flange_is_named_with_its_place(by_joints: bool) -> None:
    made = solved(SHIFTED, "tool0_controller", by_joints, wrench__sensor_frame="tool0")
    text = texts(made)["sensor_frame_shifted"]
    assert "160 mm from 'tool0' (x 0, y 0, z 160 mm), turned by 0.0°" in text
    assert "set wrench.sensor_frame to 'tool0_controller'" in text
    assert "sensor_frame_replaced" not in texts(made)


@pytest.mark.slow
def test_a_driver_that_calls_its_tcp_tool0_is_suspected() -> None:
    assert "whatever its frame_id" in texts(solved(SHIFTED, "tool0"))["sensor_frame_shifted"]


@pytest.mark.slow
def test_a_tcp_that_is_only_turned_is_named() -> None:
    made = solved(TURNED, "tool0_controller", wrench__sensor_frame="tool0")
    assert "0 mm from 'tool0'" in (text := texts(made)["sensor_frame_shifted"])
    assert "turned by 90.0°" in text


@pytest.mark.slow
@pytest.mark.parametrize(("tcp", "changes"), [
    (Placement(), {"wrench__sensor_frame": "tool0"}), (SHIFTED, {})])
def test_a_tcp_at_the_flange_or_the_frame_of_the_tcp_itself_needs_no_word(
        tcp: Placement, changes: dict[str, str]) -> None:
    found = texts(solved(tcp, "tool0_controller", **changes))
    assert not {"sensor_frame_shifted", "sensor_frame_replaced"} & set(found)
