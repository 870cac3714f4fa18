# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Reading recordings and choosing topics."""

import os
import shutil

import bags
import numpy as np
import pytest

from inertial_id_ros.apps.bag.reader import BagReader, RecordedTopic
from inertial_id_ros.apps.bag.topics import select_topics
from inertial_id_ros.errors import RecordingError
from inertial_id_ros.settings import Settings
from inertial_id_ros.signals.message_adapter import (
    JOINT_STATES,
    ROBOT_DESCRIPTION,
    STATIC_TRANSFORMS,
    TRANSFORMS,
    WRENCH,
)

STORAGES = ("mcap", "sqlite3")


@pytest.fixture(scope="module", params=STORAGES)
def bag(request, tmp_path_factory):
    """A recording with four topics, one of a type that is installed nowhere."""
    return bags.joint_bag(tmp_path_factory.mktemp(request.param) / "bag", duration=1.0,
                          storage=request.param, extra=[bags.reading_stream()])


def read(path, types):
    with BagReader(path) as recording:
        return list(recording.messages(types))


def test_messages_of_two_topics_come_merged_by_log_time_with_the_written_values(bag):
    messages = read(bag, {"/wrench": bags.WRENCH, "/joint_states": bags.JOINTS})
    times = [m.log_time for m in messages]
    assert times == sorted(times) and len(messages) == 400
    positions = np.array([m.content.position for m in messages if m.topic == "/joint_states"])
    assert np.array_equal(positions, bags.angles(bags.times(1.0, 200.0)))
    forces = np.array([m.content.wrench.force.z for m in messages if m.topic == "/wrench"])
    truth = bags.wrench(bags.times(1.0, 200.0), bags.Payload())[:, 2]
    assert 0.01 < np.std(forces - truth) < 0.1  # the noise that was added


def test_a_bare_storage_file_reads_like_its_folder(bag):
    from_folder = read(bag, {"/wrench": bags.WRENCH})
    from_file = read(bags.storage_file(bag), {"/wrench": bags.WRENCH})
    assert [(m.log_time, m.content.wrench.force.x) for m in from_folder] == [
        (m.log_time, m.content.wrench.force.x) for m in from_file]


def test_a_folder_without_metadata_reads_its_only_file_and_says_so(bag, tmp_path):
    shutil.copytree(bag, tmp_path / "bag")
    (tmp_path / "bag" / "metadata.yaml").unlink()
    with BagReader(tmp_path / "bag") as recording:
        assert len(list(recording.raw_of({"/wrench": bags.WRENCH}))) == 200
        assert "no metadata.yaml" in recording.notes[0]


def test_topics_duration_and_start_are_those_written(bag):
    with BagReader(bag) as recording:
        assert RecordedTopic("/lab", "lab_msgs/msg/Reading", 5) in recording.topics
        assert RecordedTopic("/wrench", bags.WRENCH, 200) in recording.topics
        assert recording.start == bags.START
        assert recording.duration == pytest.approx(0.995, abs=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.0005, 0.01, 0.3, 0.7, 0.99, 0.9999])
def test_a_cut_off_recording_is_one_clear_error(bag, tmp_path, share):
    cut = tmp_path / "bag"
    shutil.copytree(bag, cut)
    file = bags.storage_file(cut)
    content = file.read_bytes()
    file.write_bytes(content[:int(share * len(content))])
    for path in (cut, file):
        with pytest.raises(RecordingError, match="is cut off|is empty|cannot be read"):
            read(path, {"/wrench": bags.WRENCH})


@pytest.mark.parametrize("seed", range(12))
def test_damaged_bytes_never_raise_anything_but_a_recording_error(bag, tmp_path, seed):
    damaged = tmp_path / "bag"
    shutil.copytree(bag, damaged)
    file = bags.storage_file(damaged)
    content = bytearray(file.read_bytes())
    rng = np.random.default_rng(seed)
    for _ in range(4):
        at = int(rng.integers(0, len(content) - 400))
        content[at:at + 400] = rng.bytes(400)
    file.write_bytes(bytes(content))
    try:
        read(damaged, {"/wrench": bags.WRENCH, "/joint_states": bags.JOINTS})
    except RecordingError as error:
        assert "\n" not in str(error)


def test_a_message_too_short_for_its_type_is_a_recording_error(tmp_path):
    short = bags.Stream("/wrench", bags.WRENCH, [(bags.START, b"\x00\x01\x00\x00\x01\x02")])
    path = bags.write_bag(tmp_path / "bag", [short])
    with pytest.raises(RecordingError, match="/wrench .* cannot be decoded"):
        read(path, {"/wrench": bags.WRENCH})


@pytest.mark.parametrize(("name", "text"), [
    ("absent", "does not exist"),
    ("empty_folder", "is not a rosbag2 recording"),
    ("notes.txt", "is not a recording"),
    ("old.bag", "is a ROS 1 bag"),
    ("garbage.mcap", "cannot be read"),
    ("garbage.db3", "cannot be read"),
    ("two", "run 'ros2 bag reindex"),
    ("metadata_list", "cannot be read"),
    ("metadata_broken", "cannot be read"),
])
def test_what_is_no_recording_is_named(tmp_path, name, text):
    path = tmp_path / name
    if name in ("empty_folder", "two") or name.startswith("metadata"):
        path.mkdir()
    elif name != "absent":
        path.write_bytes(b"not what the name says" * 10)
    if name == "two":
        (path / "a.mcap").touch()
        (path / "b.mcap").touch()
    if name == "metadata_list":
        (path / "metadata.yaml").write_text("[1, 2]")
    if name == "metadata_broken":
        (path / "metadata.yaml").write_text("a: [1, 2")
    with pytest.raises(RecordingError, match=text):
        BagReader(path)


# ---- choice of topics ---------------------------------------------------------------------------

def select(topics, asked=(), **changes):
    settings = Settings().replace({k.replace("__", "."): v for k, v in changes.items()})
    return select_topics([RecordedTopic(*t, 5) for t in topics], settings, frozenset(asked))


def test_the_topic_of_the_settings_is_found_with_and_without_leading_slash():
    topics = [("/ft/wrench", bags.WRENCH), ("/other", bags.WRENCH)]
    for name in ("/ft/wrench", "ft/wrench"):
        chosen = select(topics, wrench__topic=name)
        assert chosen.name_of(WRENCH) == "/ft/wrench" and chosen.notes == ()


def test_the_only_wrench_topic_is_taken_with_a_note():
    chosen = select([("/ft/wrench", bags.WRENCH), ("/joint_states", bags.JOINTS)])
    assert chosen.name_of(WRENCH) == "/ft/wrench"
    assert chosen.name_of(JOINT_STATES) == "/joint_states"
    assert "/ft/wrench, the only wrench topic" in chosen.notes[0]


def test_a_wrench_topic_asked_for_is_never_replaced_by_another():
    with pytest.raises(RecordingError, match="/ft/wrnch is not in the recording.*mean /ft/wrench"):
        select([("/ft/wrench", bags.WRENCH)], asked=["wrench.topic"], wrench__topic="ft/wrnch")


@pytest.mark.parametrize(("topics", "text"), [
    ([("/a", bags.WRENCH), ("/b", bags.WRENCH)], "2 wrench topics: /a, /b; choose one"),
    ([("/joint_states", bags.JOINTS)], r"holds no wrench .*/joint_states \(sensor_msgs/msg/Joint"),
    ([], "no topics at all"),
    ([("/wrench", "geometry_msgs/msg/Wrench"), ("/ft", bags.WRENCH)],
     "/wrench is of type geometry_msgs/msg/Wrench; it must be .*WrenchStamped .*/ft"),
])
def test_a_recording_without_a_clear_wrench_topic_is_refused(topics, text):
    with pytest.raises(RecordingError, match=text):
        select(topics)


def test_a_wrench_topic_without_messages_is_refused():
    with pytest.raises(RecordingError, match="holds no messages"):
        select_topics([RecordedTopic("/wrench", bags.WRENCH, 0)], Settings())


def test_robot_description_and_tf_are_found_in_a_namespace():
    chosen = select([("/wrench", bags.WRENCH), ("/lbr/robot_description", bags.TEXT),
                     ("/lbr/tf", bags.TF), ("/lbr/tf_static", bags.TF), ("/notes", bags.TEXT)])
    assert chosen.name_of(ROBOT_DESCRIPTION) == "/lbr/robot_description"
    assert chosen.name_of(TRANSFORMS) == "/lbr/tf"
    assert chosen.name_of(STATIC_TRANSFORMS) == "/lbr/tf_static"


def test_of_several_joint_state_topics_none_is_guessed():
    chosen = select([("/wrench", bags.WRENCH), ("/a/joint_states", bags.JOINTS),
                     ("/b/joint_states", bags.JOINTS)])
    assert chosen.name_of(JOINT_STATES) == "" and "--joint-states-topic" in chosen.notes[0]


def test_a_robot_description_file_replaces_the_topic():
    chosen = select([("/wrench", bags.WRENCH), ("/robot_description", bags.TEXT)],
                    robot_description__file="robot.urdf")
    assert chosen.name_of(ROBOT_DESCRIPTION) == ""


def test_a_message_above_the_limit_is_refused(bag, monkeypatch):
    monkeypatch.setattr("inertial_id_ros.apps.bag.reader.MAX_MESSAGE_BYTES", 100)
    with pytest.raises(RecordingError, match=r"message of /robot_description has \d+ bytes; at"):
        read(bag, {"/robot_description": bags.TEXT})
    assert len(read(bag, {"/wrench": bags.WRENCH})) == 200  # these are smaller


def test_files_above_the_limit_are_refused_before_they_are_read(bag, monkeypatch):
    monkeypatch.setattr("inertial_id_ros.apps.bag.reader.MAX_BAG_BYTES", 100)
    with pytest.raises(RecordingError, match="at most 100"):
        BagReader(bag)


def test_a_named_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x.mcap")
    with pytest.raises(RecordingError, match="neither a folder nor a regular file"):
        BagReader(tmp_path / "x.mcap")
    with pytest.raises(RecordingError, match="no regular file"):
        BagReader(tmp_path)


def test_one_topic_is_not_taken_for_two_things() -> None:
    topics = [RecordedTopic("/x", bags.WRENCH, 10), RecordedTopic("/x", bags.TF, 10)]
    settings = Settings().replace({"wrench.topic": "/x", "tf.topic": "/x"})
    with pytest.raises(RecordingError, match="/x is chosen for two things"):
        select_topics(topics, settings)


def test_a_folder_of_others_is_one_sentence(tmp_path, monkeypatch):
    """As its path is seen by a user who may not look into it."""
    def refused(self):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.exists", refused)
    with pytest.raises(RecordingError, match="cannot be read: .*Permission denied"):
        BagReader(tmp_path / "x.mcap")
