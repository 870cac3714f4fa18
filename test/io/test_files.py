# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Files of this package: whole or not at all, with the rights that the user asks for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from inertial_id_ros.errors import DamagedFile
from inertial_id_ros.io.files import (
    format_document,
    read_document,
    write_atomically,
)


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
