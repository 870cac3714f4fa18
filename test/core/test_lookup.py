# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where one frame lies in another: by description and joint states, and by transforms."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from benchmarks.referee.generator import FRAME, Scenario
from inertial_id_ros.errors import UnknownFrame
from inertial_id_ros.motion.source import Streams
from inertial_id_ros.settings import Settings

LATE = 3_000_000_000


def streams_with_samples() -> Streams:
    recording = Scenario("white", 400_500, (2.0,), ("joints",)).record()
    streams = Streams(Settings())
    streams.set_robot_description(recording.arm.urdf)
    streams.add_static_transform("map", "link0", pin.SE3(np.eye(3), np.array([1.0, 2.0, 3.0])))
    streams.add_static_transform(FRAME, "camera", pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1])))
    streams.add_wrenches(recording.stamps, FRAME, recording.wrench)
    streams.add_joint_states(recording.joint_stamps, recording.arm.names, recording.positions)
    streams.add_transforms(np.array([LATE]), "map", "cart", np.array([[4.0, 5, 6, 0, 0, 0, 1]]))
    streams.advance()
    return streams


def test_links_lie_where_the_joints_put_them() -> None:
    streams = streams_with_samples()
    model = pin.buildModelFromXML(streams.urdf)
    data, at = model.createData(), streams.newest_positions()
    q = np.array([at[name][1] for name in model.names[1:]])
    pin.framesForwardKinematics(model, data, q)
    tree, expected = streams.tree(), data.oMf[model.getFrameId(FRAME)]
    place, stamp = tree.place("link0", FRAME)
    assert place.isApprox(expected, 1e-9)
    assert stamp == min(s for s, _ in at.values())
    assert tree.place(FRAME, "link0")[0].isApprox(expected.inverse(), 1e-9)
    place, _ = tree.place("map", "camera")
    shifted = expected.translation + [1.0, 2.0, 3.0] + expected.rotation @ [0.0, 0.0, 0.1]
    np.testing.assert_allclose(place.translation, shifted, atol=1e-9)


def test_what_stays_has_no_stamp_and_what_moves_has_its_own() -> None:
    tree = streams_with_samples().tree()
    place, stamp = tree.place(FRAME, "camera")
    assert stamp is None
    np.testing.assert_allclose(place.translation, [0.0, 0.0, 0.1])
    assert tree.place("cart", "map")[1] == LATE
    np.testing.assert_allclose(tree.place("cart", "link0")[0].translation, [-3.0, -3.0, -3.0])


@pytest.mark.parametrize("frame", ["nowhere", ""])
def test_unknown_frames_are_named(frame: str) -> None:
    tree = streams_with_samples().tree()
    assert frame not in tree
    with pytest.raises(UnknownFrame, match=repr(frame)):
        tree.place("map", frame)
