# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""state.directory: the only folder that the node writes to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inertial_id_ros.errors import InertialIdError, InvalidSetting
from inertial_id_ros.ros.apply.gates import History
from inertial_id_ros.ros.services.saving import (
    CannotSave,
    require_writable,
    save_json,
    state_path,
    tool_path,
)


def test_a_folder_that_can_be_made_is_fine_and_not_made_yet(tmp_path: Path) -> None:
    path = state_path(str(tmp_path / "a" / "b"), "/arm/inertial_id_node")
    require_writable(str(tmp_path / "a" / "b"))
    assert path == tmp_path / "a" / "b" / "arm.inertial_id_node.state.json"
    assert not (tmp_path / "a").exists()


def test_home_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_path("~/x", "n").parent == tmp_path / "x"
    assert save_json("~/x", "a.json", {}) == tmp_path / "x" / "saves" / "a.json"
    (tmp_path / "x" / "tools").mkdir()
    (tmp_path / "x" / "tools" / "a.json").write_text("{}")
    assert tool_path("~/x", "a.json") == tmp_path / "x" / "tools" / "a.json"


def test_a_tool_beside_the_folder_of_tools_is_found_unless_there_is_one_in_it(
        tmp_path: Path) -> None:
    """Early versions wrote it there."""
    (tmp_path / "a.json").write_text("early")
    assert tool_path(str(tmp_path), "a.json") == tmp_path / "a.json"
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "a.json").write_text("new")
    assert tool_path(str(tmp_path), "a.json") == tmp_path / "tools" / "a.json"


def test_hidden_files_do_not_fill_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                             ) -> None:
    monkeypatch.setattr("inertial_id_ros.ros.services.saving.MAX_SAVED_FILES", 2)
    save_json(str(tmp_path), "a.json", {})
    for k in range(5):  # as the end of a process leaves them
        (tmp_path / "saves" / f".partial-{k:016x}.json").write_text("{")
    save_json(str(tmp_path), "b.json", {})
    with pytest.raises(CannotSave, match="holds 2 files or more"):
        save_json(str(tmp_path), "c.json", {})
    save_json(str(tmp_path), "b.json", {})  # replaces one


@pytest.mark.parametrize(("name", "said"), [
    ("file", "file is no folder"), ("file/below", "file is no folder"), ("dangling", "no folder"),
    ("fifo/x", "no folder"), ("a\0b", "zero byte"), ("a" * 300, "too long")])
def test_a_folder_that_cannot_be_one_is_told_at_the_start(tmp_path: Path, name: str, said: str
                                                          ) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(InvalidSetting, match=rf"^state\.directory is '.*{said}"):
        require_writable(f"{tmp_path}/{name}")


def test_no_folder_and_a_folder_of_others_are_told(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, said in (("", "is ''; it must name"), ("~nobody-of-this-name/x", "name of no user")):
        with pytest.raises(InvalidSetting, match=rf"^state\.directory .*{said}"):
            require_writable(name)
    with pytest.raises(InvalidSetting, match="cannot be written; it must be a folder in which"):
        require_writable("/proc/x")  # even where its rights say that it can

    def refuse(**_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(InvalidSetting, match="cannot be written; it must be a folder in which"):
        require_writable(str(tmp_path))


@pytest.mark.parametrize("folder", ["~nobody-of-this-name", "a\0b"])
def test_a_service_gets_a_sentence_for_a_folder_that_no_system_has(folder: str) -> None:
    for ask in (lambda: save_json(folder, "a.json", {}), lambda: tool_path(folder, "a.json")):
        with pytest.raises(InertialIdError):
            ask()


def test_what_one_arm_was_told_is_not_undone_by_the_node_of_another(tmp_path: Path) -> None:
    left, right = (History(str(tmp_path), f"/{arm}/inertial_id_node") for arm in ("left", "right"))
    left.append({"target": "universal_robots", "sent": True, "undo": []})
    assert left.last("universal_robots") is not None
    assert right.last("universal_robots") is None
    assert left.path == tmp_path / "left.applications.jsonl"
    assert History(str(tmp_path), "/inertial_id_node").path == tmp_path / "applications.jsonl"
