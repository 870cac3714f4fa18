# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Bags are read whole or refused in one sentence, and the topics that can be meant are used."""

import os
import re
import shutil
import sqlite3
from pathlib import Path

import bags
import numpy as np
import pytest
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from scenes import dotted

from inertial_id_ros.apps.recordings.bags import Bag, read_bag, select_topics
from inertial_id_ros.errors import RecordingError
from inertial_id_ros.io.decoding import decode
from inertial_id_ros.io.inputs import JOINT_STATES, ROBOT_DESCRIPTION, TRANSFORMS, WRENCH
from inertial_id_ros.settings import Settings


@pytest.fixture(params=["mcap", "sqlite3"])
def bag(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return bags.tf_bag(tmp_path / "bag", duration=0.5, storage=request.param)


def test_messages_come_in_the_order_of_recording_with_what_was_written(bag: Path) -> None:
    with Bag(bag) as reader:
        assert {name: count for (name, _), count in reader.topics.items()} == {
            "/wrench": 100, "/tf": 50, "/tf_static": 1}
        assert reader.duration == pytest.approx(0.495)
        messages = list(reader.messages({"/wrench": WRENCH.type, "/tf": TRANSFORMS.type}))
        times = [time for _, time, _ in messages]
        assert times == sorted(times) and len(times) == 150
        first = next(data for topic, _, data in messages if topic == "/tf")
        (edge,) = decode(TRANSFORMS, [first]).samples
        assert edge.rows[0, :3] == pytest.approx(bags.motion(0.1, 100.0).position[0])


@pytest.mark.parametrize("metadata", [
    None, ("storage_identifier: [a-z0-9]+", "storage_identifier: ''"), ("depth: 1", "depth: 7")])
def test_metadata_that_lacks_or_is_of_another_tool_hides_no_message(
        bag: Path, metadata: tuple[str, str] | None) -> None:
    """Without the kind of storage, or with another quality of service."""
    file, paths = bag / "metadata.yaml", [bag, bags.storage_file(bag)]
    if metadata is None:
        file.unlink()
    else:
        file.write_text(re.sub(*metadata, file.read_text()))
        paths.append(file)
    for path in paths:
        with Bag(path) as reader:
            assert len(list(reader.messages(dict(list(reader.topics))))) == 151


def test_a_bag_in_several_files_is_one(tmp_path: Path) -> None:
    for k in range(2):
        part = bags.tf_bag(tmp_path / f"part_{k}", duration=0.5)
        shutil.copy(bags.storage_file(part), tmp_path)
    with Bag(tmp_path) as reader:
        assert sum(reader.topics.values()) == 2 * 151


def test_a_bag_of_ros_1_holds_the_same_samples(tmp_path: Path) -> None:
    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms",
                                      "tf/msg/tfMessage"))
    streams, found = [bags.wrench_stream(0.1), bags.tf_stream(0.1)], []
    new = bags.write_bag(tmp_path / "bag", streams)
    with Writer(tmp_path / "a.bag") as writer:
        for stream, kind in zip(streams, (WRENCH.type, "tf/msg/tfMessage"), strict=True):
            connection = writer.add_connection(stream.name, kind, typestore=store)
            for stamp, message in stream.messages:
                for part in getattr(message, "transforms", [message]):
                    part.header = store.types["std_msgs/msg/Header"](
                        7, part.header.stamp, part.header.frame_id)
                writer.write(connection, stamp, bytes(store.serialize_ros1(message, kind)))
    for path in (tmp_path / "a.bag", new):
        found.append(read_bag(path, Settings()).of_kind(object))
    assert len(found[0]) == len(found[1]) == 2
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.rows, other.rows)
        np.testing.assert_array_equal(one.stamps, other.stamps)


@pytest.mark.parametrize("share", [0.0, 0.7])
def test_a_cut_off_bag_is_one_clear_error(bag: Path, share: float) -> None:
    file = bags.storage_file(bag)
    file.write_bytes(file.read_bytes()[:int(share * file.stat().st_size)])
    with pytest.raises(RecordingError), Bag(bag) as reader:
        list(reader.messages({"/wrench": WRENCH.type}))


@pytest.mark.parametrize("name", ["nothing", "empty", "old.bag", "a.xyz", "pipe.mcap", "zero.mcap"])
def test_what_is_no_bag_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    for file in ("old.bag", "a.xyz"):
        (tmp_path / file).write_text("x")
    (tmp_path / "zero.mcap").touch()
    os.mkfifo(tmp_path / "pipe.mcap")
    with pytest.raises(RecordingError, match=name):
        Bag(tmp_path / name)


# ---- topics --------------------------------------------------------------------------------------

def selected(tmp_path: Path, streams: list[bags.Topic], **changes: object
             ) -> tuple[dict[str, object], list[str]]:
    notes: list[str] = []
    settings = Settings().replace(dotted(changes))
    with Bag(bags.write_bag(tmp_path / "bag", streams)) as reader:
        return dict(select_topics(reader, settings, notes)), notes


def test_topics_of_the_settings_or_the_only_ones_are_used(tmp_path: Path) -> None:
    streams = [bags.wrench_stream(0.1, topic="/arm/ft"),
               bags.joint_stream(0.1, topic="/arm/joint_states"),
               bags.text_stream("/arm/robot_description", bags.URDF), bags.tf_stream(0.1)]
    topics, notes = selected(tmp_path, streams, wrench__topic="arm/ft")
    assert topics == {"/arm/ft": WRENCH, "/arm/joint_states": JOINT_STATES, "/tf": TRANSFORMS,
                      "/arm/robot_description": ROBOT_DESCRIPTION}
    assert len(notes) == 2


WRENCHES = bags.wrench_stream(0.1)
JOINTS, DESCRIPTION = bags.joint_stream(0.1), bags.text_stream("/robot_description", bags.URDF)


def wrenches(*topics: str) -> list[bags.Topic]:
    return [bags.tf_stream(0.1), *(bags.wrench_stream(0.1, topic=name) for name in topics)]


@pytest.mark.parametrize(("streams", "changes", "named"), [
    (wrenches(), {}, "WrenchStamped"), (wrenches("/a", "/b"), {}, "/a .*/b "),
    (wrenches("/wrench"), {"wrench__topic": "/wrenhc"}, "/wrenhc"),
    ([bags.joint_stream(0.1, topic="/wrench"), bags.tf_stream(0.1)], {}, JOINT_STATES.type),
    ([WRENCHES], {}, "/joint_states.*/tf"), ([WRENCHES, JOINTS], {}, "/robot_description.*--urdf"),
    ([WRENCHES, JOINTS, DESCRIPTION], {"precompensated__source": "inertia",
                                       "precompensated__topic": "/payload"}, "/payload")])
def test_what_a_recording_lacks_is_named(tmp_path: Path, streams: list[bags.Topic],
                                         changes: dict[str, object], named: str) -> None:
    with pytest.raises(RecordingError, match=named):
        selected(tmp_path, streams, **changes)


def test_a_definition_that_cannot_be_parsed_refuses_no_bag(tmp_path: Path) -> None:
    file = bags.storage_file(bags.tf_bag(tmp_path / "bag", duration=0.5, storage="sqlite3"))
    with sqlite3.connect(file) as db:
        db.execute("UPDATE message_definitions SET encoded_message_definition = '?? [] x'")
    assert sum(len(part) for part in read_bag(file, Settings()).parts)
