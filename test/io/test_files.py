# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Small files: whole or not at all; of users every fault is one sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from inertial_id_ros.apps.bag.options import read_settings_file
from inertial_id_ros.errors import DamagedFile, InvalidSetting
from inertial_id_ros.io.files import (
    format_document,
    parse_yaml,
    read_document,
    user_path,
    write_atomically,
)
from inertial_id_ros.limits import MAX_YAML_BYTES


@pytest.fixture(params=[0o022, 0o077, 0o002])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_a_new_file_has_the_rights_that_the_umask_leaves(umask: int, tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.json", "{}")
    (tmp_path / "plain").write_text("")
    rights = [(tmp_path / name).stat().st_mode & 0o777 for name in ("a.json", "plain")]
    assert rights[0] == rights[1] == 0o666 & ~umask


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


def test_a_home_folder_is_found_and_one_of_nobody_is_refused() -> None:
    assert user_path("~/x") == Path.home() / "x" and user_path("a/b") == Path("a/b")
    with pytest.raises(InvalidSetting):
        user_path("~nobody-of-this-name/x")


@pytest.mark.parametrize(("text", "values"), [
    ("a: 1e-6\nb: [1, .nan]\n", None), ("x: 1e3", {"x": 1000.0}), ("", None), ("- a", ["a"]),
    ("x: &name 3", {"x": 3})])
def test_plain_values_are_read(text: str, values: object) -> None:
    got = parse_yaml(text)
    assert got == values if values is not None or not text else got["a"] == 1e-6


@pytest.mark.parametrize("text", [
    "x: 2001-99-99", "x: !!int abc", "x: " + "9" * 5000, "x: !!timestamp zz",
    "[" * 3000, "!!python/object/apply:os.getcwd []",
    "x: 'open", "<<: 3", "{{a: 1}: 2}", "\x00", "x: 0b_", "--- a\n--- b\n", "? [a, b]\n: c\n"])
def test_every_fault_is_one_short_line(text: str) -> None:
    """Among them dates and numbers that are none, which the parser answers with a ValueError."""
    with pytest.raises(DamagedFile, match="not valid YAML") as caught:
        parse_yaml(text)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.slow
@pytest.mark.parametrize("text", ["x: 2001-99-99\n", "[" * 3000, "\xff"])
def test_a_file_of_settings_is_refused_by_name(text: str, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(InvalidSetting, match="x.yaml cannot be used: it is not"):
        read_settings_file(file)


def test_a_file_above_the_limit_is_not_parsed(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("# " + "x" * MAX_YAML_BYTES)
    with pytest.raises(InvalidSetting, match=f"more than {MAX_YAML_BYTES} bytes"):
        read_settings_file(file)
