# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Small files: whole or not at all; of users every fault is one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inertial_id_ros.errors import DamagedFile
from inertial_id_ros.io.files import (
    format_document,
    parse_yaml,
    read_document,
    write_atomically,
)


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
        fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_atomically(tmp_path / "a.json", "old")

    def refuse(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path if fails == "replace" else os, fails, refuse)
    with pytest.raises(OSError, match="Read-only"):
        write_atomically(tmp_path / "a.json", "new")
    assert (tmp_path / "a.json").read_text() == "old"
    assert [f.name for f in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("version", ["4", "0", "true", "1.0", '"1"', "null", "[1]"])
def test_other_versions_are_refused_by_name(version: str, tmp_path: Path) -> None:
    text = format_document("kind", 3, {}).replace('"version": 3', f'"version": {version}')
    (tmp_path / "a").write_text(text)
    with pytest.raises(DamagedFile, match=r"it has version .*; this program reads version 3"):
        read_document(tmp_path / "a", "kind", 3)


@pytest.mark.parametrize("text", [
    "x: 2001-99-99", "x: !!int abc", "x: " + "9" * 5000, "x: !!timestamp zz",
    "[" * 3000, "!!python/object/apply:os.getcwd []",
    "x: 'open", "<<: 3", "{{a: 1}: 2}", "\x00", "x: 0b_", "--- a\n--- b\n", "? [a, b]\n: c\n"])
def test_every_fault_is_one_short_line(text: str) -> None:
    """Among them dates and numbers that are none, which the parser answers with a ValueError."""
    with pytest.raises(DamagedFile, match="not valid YAML") as caught:
        parse_yaml(text)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
