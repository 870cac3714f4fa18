# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Black boxes as files: whole, checked, and read by other tools."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

pytest.importorskip("rosbags")
from rosbags.highlevel import AnyReader  # noqa: E402

from inertial_id_ros.apps.bag import black_box as files  # noqa: E402
from inertial_id_ros.apps.bag.black_box import (
    BlackBox,
    LoggedMessage,  # noqa: E402
    LoggedTopic,
    read_black_box,
    settings_to_keep,
    write_black_box,
)
from inertial_id_ros.apps.bag.identify_bag import main as identify_bag  # noqa: E402
from inertial_id_ros.apps.bag.identify_bag import read_settings_file  # noqa: E402
from inertial_id_ros.apps.bag.reader import standard_types  # noqa: E402
from inertial_id_ros.cli import USER_ERROR  # noqa: E402
from inertial_id_ros.errors import RecordingError  # noqa: E402
from inertial_id_ros.identification.state import State  # noqa: E402
from inertial_id_ros.io.files import format_document  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402

STRING = "std_msgs/msg/String"


def string(text: str) -> bytes:
    """A serialised message."""
    store = standard_types()
    return bytes(store.serialize_cdr(store.types[STRING](text), STRING))


def write(folder: Path, topics: list[LoggedTopic] | None = None,
          messages: list[LoggedMessage] | None = None) -> Path:
    settings = Settings().replace({"wrench.topic": "/ft", "shape.size": [0.1, 0.2, 0.3]})
    hello = [LoggedMessage(0, 10, string("hello"))]
    return write_black_box(
        folder, topics or [LoggedTopic("/text", STRING, True)], messages or hello,
        BlackBox(settings_to_keep(settings), State(), True, ("12:00:00 reset",)),
        {"reason": "a test", "residual": float("nan")})


def test_a_black_box_is_a_recording_that_other_tools_read(tmp_path: Path) -> None:
    box = write(tmp_path / "box")
    with AnyReader([box]) as reader:
        got = [(c.topic, t, reader.deserialize(d, c.msgtype).data)
               for c, t, d in reader.messages()]
    assert got == [("/text", 10, "hello")]
    assert [p.name for p in tmp_path.iterdir()] == ["box"]  # nothing half-written beside it
    report = json.loads((box / "report.json").read_text())["content"]
    assert report["reason"] == "a test" and report["residual"] is None
    assert "numpy" in report["versions"]


def test_settings_and_commands_come_back(tmp_path: Path) -> None:
    read = read_black_box(write(tmp_path / "box"))
    assert read is not None and read.complete and read.commands == ("12:00:00 reset",)
    settings = Settings().replace(dict(read.settings))
    assert settings.wrench.topic == "/ft"
    assert tuple(settings.shape.size) == (0.1, 0.2, 0.3)
    assert "reset" in read.notes(False)[-1]


def test_the_settings_file_is_one_that_nodes_and_tools_read(tmp_path: Path) -> None:
    box = write(tmp_path / "box")
    assert read_settings_file(box / "settings.yaml")["wrench.topic"] == "/ft"


def test_another_of_the_same_name_replaces_the_first(tmp_path: Path) -> None:
    write(tmp_path / "box")
    (tmp_path / "box" / "other").write_text("of the first")
    write(tmp_path / "box")
    assert not (tmp_path / "box" / "other").exists()


@pytest.mark.parametrize("name", ["settings.yaml", "state.json", "report.json", "box.mcap"])
def test_a_changed_file_is_refused(tmp_path: Path, name: str,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    box = write(tmp_path / "box")
    data = bytearray((box / name).read_bytes())
    data[len(data) // 2] ^= 1
    (box / name).write_bytes(data)
    with pytest.raises(RecordingError, match="black box .* cannot be read"):
        read_black_box(box)
    assert identify_bag([str(box)]) == USER_ERROR
    assert "cannot be read" in capsys.readouterr().err


def test_a_state_of_another_version_is_named_and_the_evidence_stays_as_it_was(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By a program that is newer than this one."""
    box = write(tmp_path / "box")
    state, report = box / "state.json", box / "report.json"
    state.write_text(state.read_text().replace('"version": 2', '"version": 99'))
    text = json.loads(report.read_text())["content"]
    text["sha256"]["state.json"] = hashlib.sha256(state.read_bytes()).hexdigest()
    report.write_text(format_document(files.FORMAT, files.VERSION, text))
    before = {file.name: file.read_bytes() for file in box.iterdir()}
    assert identify_bag([str(box)]) == USER_ERROR
    message, = capsys.readouterr().err.strip().splitlines()
    assert "state.json" in message and "version 99" in message and "set aside" not in message
    assert {file.name: file.read_bytes() for file in box.iterdir()} == before


def test_other_recordings_are_no_black_boxes(tmp_path: Path) -> None:
    assert read_black_box(tmp_path) is None
    assert read_black_box(tmp_path / "missing.mcap") is None


def test_a_type_that_is_not_standard_is_written_with_its_definition(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an installed package, with a type in it that is not standard either."""
    messages = tmp_path / "share" / "robot_msgs" / "msg"
    messages.mkdir(parents=True)
    (messages / "State.msg").write_text("std_msgs/Header header\nPart[] parts\n")
    (messages / "Part.msg").write_text("geometry_msgs/Point place\nfloat64 value\n")
    monkeypatch.setattr(files, "package_roots", lambda: (tmp_path / "share",))
    kind = "robot_msgs/msg/State"
    store = files.type_definitions(kind)
    header = store.types["std_msgs/msg/Header"](
        store.types["builtin_interfaces/msg/Time"](1, 2), "base")
    part = store.types["robot_msgs/msg/Part"](store.types["geometry_msgs/msg/Point"](1, 2, 3), 4.0)
    data = bytes(store.serialize_cdr(store.types[kind](header, [part]), kind))
    box = write(tmp_path / "box", [LoggedTopic("/state", kind, False)],
                [LoggedMessage(0, 10, data)])
    with AnyReader([box]) as reader:
        (connection, _, raw), = reader.messages()
        assert reader.deserialize(raw, connection.msgtype).parts[0].value == 4.0


def test_a_type_that_is_not_installed_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="definition of robot_msgs/msg/State is not installed"):
        write(tmp_path / "box", [LoggedTopic("/state", "robot_msgs/msg/State", False)],
              [LoggedMessage(0, 10, b"")])
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match="cannot be written"):
        write(tmp_path / "file" / "box")
