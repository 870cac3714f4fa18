# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The transform tree against compositions written out, and against analytic motions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from synthetic import START, Placement

from inertial_id_ros.errors import InvalidData, UnknownFrame
from inertial_id_ros.kinematics.transform_tree import Pose, TransformTree
from inertial_id_ros.limits import MAX_FRAMES, MAX_MOVING_FRAMES, MAX_NAME

A = Placement(Rotation.from_euler("xyz", [0.3, -0.2, 1.0]), (0.1, 0.2, 0.3))
B = Placement(Rotation.from_euler("xyz", [-1.0, 0.5, 0.4]), (-0.3, 0.0, 0.2))
C = Placement(Rotation.from_euler("xyz", [2.0, 0.1, -0.7]), (0.0, 0.5, -0.1))


def _place(at: Placement, points: np.ndarray) -> np.ndarray:
    return at.rotation.apply(points) + at.translation


def _tree(*edges: tuple[str, str, Placement]) -> TransformTree:
    tree = TransformTree()
    for parent, child, at in edges:
        tree.set_static(parent, child, at.translation, at.quaternion)
    return tree


def test_a_pose_maps_points_along_a_chain_and_back(rng: np.random.Generator) -> None:
    tree = _tree(("world", "base", A), ("base", "tool", B), ("tool", "sensor", C))
    points = rng.normal(size=(5, 3))
    expected = _place(A, _place(B, _place(C, points)))
    pose = tree.newest("world", "sensor")
    np.testing.assert_allclose(points @ pose.rotation.T + pose.translation, expected, atol=1e-12)
    back = tree.newest("sensor", "world")
    np.testing.assert_allclose(expected @ back.rotation.T + back.translation, points, atol=1e-12)


def test_frames_on_two_branches_meet_at_their_common_ancestor(rng: np.random.Generator) -> None:
    tree = _tree(("world", "left", A), ("world", "right", B), ("right", "tip", C))
    points = rng.normal(size=(5, 3))
    pose = tree.newest("left", "tip")
    seen = _place(A, points @ pose.rotation.T + pose.translation)
    np.testing.assert_allclose(seen, _place(B, _place(C, points)), atol=1e-12)


def test_a_pose_times_its_inverse_is_the_identity() -> None:
    pose = Pose(A.rotation.as_matrix(), np.array(A.translation))
    both = pose @ pose.inverse()
    np.testing.assert_allclose(both.rotation, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(both.translation, 0.0, atol=1e-14)


def test_a_quaternion_of_any_length_is_a_rotation() -> None:
    tree = TransformTree()
    tree.set_static("a", "b", [0, 0, 0], [2.0 * q for q in A.quaternion])
    np.testing.assert_allclose(tree.newest("a", "b").rotation, A.rotation.as_matrix(), atol=1e-14)


def test_an_unknown_frame_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownFrame, match=r"frame 'elbow' is unknown; known: base, tool"):
        _tree(("base", "tool", A)).newest("base", "elbow")


def test_an_empty_tree_knows_no_frames() -> None:
    with pytest.raises(UnknownFrame, match="known: none"):
        TransformTree().newest("a", "b")


def test_frames_that_nothing_connects_are_an_error() -> None:
    tree = _tree(("a", "b", A), ("c", "d", B))
    with pytest.raises(UnknownFrame, match="'b' and 'd' are not connected"):
        tree.newest("b", "d")


def test_a_loop_of_frames_is_an_error_and_no_endless_loop() -> None:
    tree = _tree(("a", "b", A), ("b", "c", B), ("c", "a", C))
    with pytest.raises(UnknownFrame, match="loop"):
        tree.ancestors("a")


@pytest.mark.parametrize(("parent", "child", "translation", "quaternion"), [
    ("a", "b", [np.nan, 0, 0], [0, 0, 0, 1]),
    ("a", "b", [0, 0, 0], [0, 0, np.inf, 1]),
    ("a", "b", [0, 0, 0], [0, 0, 0, 0]),
    ("a", "b", [0, 0, 0], [0, 0, 1e300, 1e300]),
    ("a", "b", [0, 0, 0], [0, 0, 1e-300, 0]),
    ("a", "b", [0, 1e200, 0], [0, 0, 0, 1]),
    ("a", "a", [0, 0, 0], [0, 0, 0, 1]),
    ("a", "", [0, 0, 0], [0, 0, 0, 1]),
])
def test_a_transform_that_is_no_pose_is_refused_and_changes_nothing(
        parent: str, child: str, translation: list[float], quaternion: list[float]) -> None:
    tree = TransformTree()
    with pytest.raises(InvalidData, match=repr(parent) if parent == child or not child else parent):
        tree.set_static(parent, child, translation, quaternion)
    with pytest.raises(InvalidData):
        tree.add(START, parent, child, translation, quaternion)
    assert not tree.frames()


def test_long_lists_of_frames_are_shortened() -> None:
    tree = _tree(*[("root", f"frame_{k:02d}", A) for k in range(20)])
    assert tree.describe().endswith("and 9 more") and "frame_00" in tree.describe()


def _spin(t: np.ndarray) -> tuple[Rotation, np.ndarray]:
    """A steady turn and a straight path, which interpolation follows exactly."""
    turn = A.rotation * Rotation.from_rotvec(np.outer(t, [0.3, -0.5, 0.8]))
    return turn, np.outer(t, [0.1, 0.2, -0.3]) + A.translation


def _add(tree: TransformTree, t: np.ndarray, parent: str, child: str) -> None:
    turn, shift = _spin(t)
    for s, p, q in zip(t, shift, turn.as_quat(), strict=True):
        tree.add(START + round(s * 1e9), parent, child, p.tolist(), q.tolist())


def test_a_series_has_the_stamps_of_the_slowest_edge_and_interpolates_the_others() -> None:
    tree = _tree(("world", "base", B), ("flange", "sensor", C))
    fast, slow = np.arange(0.003, 2.0, 0.01), np.arange(0.0, 2.0, 0.04)
    _add(tree, fast, "base", "arm")
    _add(tree, slow, "arm", "flange")
    series = tree.series("world", "sensor", START, START + 2_000_000_000)
    t = (series.stamps - START) * 1e-9
    inside = slow[(slow >= fast[0]) & (slow <= fast[-1])]
    np.testing.assert_allclose(t, inside, atol=1e-8)
    turn, shift = _spin(t)
    point = np.array([0.1, -0.2, 0.3])
    twice = turn.apply(turn.apply(_place(C, point)) + shift) + shift
    seen = series.rotation @ point + series.translation
    np.testing.assert_allclose(seen, _place(B, twice), atol=1e-7)


def test_a_series_may_go_up_one_branch_and_down_another() -> None:
    tree = TransformTree()
    t = np.arange(0.0, 1.0, 0.02)
    _add(tree, t, "torso", "arm")
    _add(tree, t, "torso", "head")
    series = tree.series("head", "arm", START, START + 10**9)
    assert len(series.stamps) == len(t)
    np.testing.assert_allclose(series.rotation, np.broadcast_to(np.eye(3), (len(t), 3, 3)),
                               atol=1e-12)
    np.testing.assert_allclose(series.translation, 0.0, atol=1e-12)


def test_a_series_needs_a_moving_edge() -> None:
    with pytest.raises(UnknownFrame, match="'b' does not move against 'a'"):
        _tree(("a", "b", A)).series("a", "b", 0, 1)


def test_a_pose_is_static_only_if_nothing_on_the_way_moves() -> None:
    tree = _tree(("world", "base", A), ("tool", "sensor", B))
    _add(tree, np.array([0.0]), "base", "tool")
    assert tree.static_pose("world", "tool") is None
    assert tree.static_pose("nowhere", "tool") is None
    pose = tree.static_pose("tool", "sensor")
    assert pose is not None
    np.testing.assert_allclose(pose.translation, B.translation)
    assert tree.moving_edges("world", "sensor") == ["tool"]


def test_a_frame_follows_the_last_kind_of_transform_that_came() -> None:
    tree = _tree(("base", "tool", A))
    _add(tree, np.array([0.0, 0.1]), "base", "tool")
    assert tree.moving_edges("base", "tool") == ["tool"]
    tree.set_static("other", "tool", B.translation, B.quaternion)
    assert tree.moving_edges("other", "tool") == [] and tree.ancestors("tool") == ["tool", "other"]


def test_the_version_changes_with_the_structure_and_not_with_motion() -> None:
    tree = _tree(("world", "base", A))
    version = tree.version
    tree.set_static("world", "base", A.translation, A.quaternion)
    assert tree.version == version
    tree.set_static("world", "base", B.translation, B.quaternion)
    assert tree.version > version
    _add(tree, np.array([0.0]), "base", "tool")
    version = tree.version
    _add(tree, np.array([0.1, 0.2]), "base", "tool")
    assert tree.version == version
    tree.add(START, "elsewhere", "tool", [0, 0, 0], [0, 0, 0, 1])
    assert tree.version > version


def test_forgetting_motion_keeps_fixed_transforms() -> None:
    tree = _tree(("world", "base", A))
    _add(tree, np.array([0.0]), "base", "tool")
    tree.begin_motion()
    assert tree.frames() == {"world", "base"}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bad", [(np.nan, np.inf, 0, 1), (np.inf, -np.inf, 0, 1), (1e308,) * 4])
def test_quaternions_of_no_number_are_refused_without_a_warning(bad: tuple[float, ...]) -> None:
    with pytest.raises(InvalidData, match="not a pose"):
        TransformTree().add(1, "a", "b", (0.0, 0.0, 0.0), bad)


# ---- frames without end -------------------------------------------------------------------------

HERE = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


def _publish_arm(tree: TransformTree, stamp: int) -> None:
    """A robot's own frames, the sensor at the end of them."""
    tree.add(stamp, "world", "shoulder", *HERE)
    tree.add(stamp, "shoulder", "wrist", *HERE)


def test_frames_without_end_push_out_no_frame_that_leads_to_the_sensor() -> None:
    tree = TransformTree()
    tree.set_static("wrist", "sensor", *HERE)
    _publish_arm(tree, START)
    tree.want("sensor")
    for k in range(3 * MAX_FRAMES):
        tree.add(START, "world", f"moving_{k}", *HERE)
        tree.set_static("world", f"fixed_{k}", *HERE)
        if k % 100 == 0:
            tree.want("sensor")
    assert tree.moving_edges("world", "sensor") == ["wrist", "shoulder"]
    assert len(tree.frames()) <= MAX_FRAMES + MAX_MOVING_FRAMES + 5


def test_a_robot_that_comes_after_frames_without_end_is_known_with_all_its_samples() -> None:
    tree = TransformTree()
    for k in range(2 * MAX_FRAMES):
        tree.add(START, "world", f"moving_{k}", *HERE)
        tree.set_static("world", f"fixed_{k}", *HERE)
    tree.set_static("wrist", "sensor", *HERE)
    for k in range(1000):
        _publish_arm(tree, START + k * 1_000_000)
        tree.add(START + k, "world", f"another_{k}", *HERE)
        tree.want("sensor")
    assert len(tree.series("world", "sensor", START, 2 * START).stamps) == 1000


def test_among_many_frames_only_those_that_are_wanted_keep_many_samples() -> None:
    tree = TransformTree()
    tree.want("wanted")
    for k in range(300):
        tree.add(START + k, "world", "before", *HERE)
    assert len(tree.ring("before")) == 300  # an ordinary robot: nothing is saved
    for k in range(40):
        tree.add(START, "world", f"f{k}", *HERE)
    for k in range(300, 600):
        tree.add(START + k, "world", "before", *HERE)
        tree.add(START + k, "world", "wanted", *HERE)
        tree.want("wanted")
    assert len(tree.ring("wanted")) == 300 and len(tree.ring("before")) == 64


def test_the_last_fixed_frame_is_known_and_so_are_the_first_ones() -> None:
    tree = TransformTree()
    for k in range(3 * MAX_FRAMES):
        tree.set_static("world", f"fixed_{k}", *HERE)
        assert tree.knows(f"fixed_{k}")
    assert tree.knows("fixed_0") and tree.knows("fixed_1000")
    assert not tree.knows(f"fixed_{2 * MAX_FRAMES}") and len(tree.frames()) <= MAX_FRAMES + 1


def test_a_frame_whose_name_is_a_text_is_refused() -> None:
    for parent, child in (("x" * (MAX_NAME + 1), "a"), ("a", "x" * (MAX_NAME + 1))):
        with pytest.raises(InvalidData, match=f"a name of more than {MAX_NAME} characters"):
            TransformTree().set_static(parent, child, *HERE)
