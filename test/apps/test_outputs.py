# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Files that a tool writes never replace what it reads, nor each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from inertial_id_ros.apps.bag.output import check_outputs, report_file
from inertial_id_ros.errors import InvalidSetting


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    folder = tmp_path / "bag"
    folder.mkdir()
    (folder / "bag.mcap").write_text("data")
    return folder


@pytest.mark.parametrize("name", ["bag/bag.mcap", "other/../bag/bag.mcap", "link.mcap"])
def test_a_file_of_the_recording_is_not_overwritten(recording: Path, name: str) -> None:
    (recording.parent / "other").mkdir()
    (recording.parent / "link.mcap").symlink_to(recording / "bag.mcap")
    with pytest.raises(InvalidSetting, match="--json .* would overwrite the recording"):
        check_outputs({"--json": recording.parent / name}, {"the recording": recording})


def test_the_same_file_is_not_written_twice(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(InvalidSetting, match="--report .* would overwrite the file of --json"):
        check_outputs({"--json": tmp_path / "a", "--report": tmp_path / "b" / ".." / "a"}, {})


def test_other_files_come_back_in_order_and_nothing_stays_nothing(recording: Path) -> None:
    new = recording / "result.json"
    read = {"the recording": recording, "a URDF": None}
    assert check_outputs({"--json": None, "--report": new}, read) == [None, new]


def test_two_reports_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    for run in ("run1", "run2"):
        file = report_file(tmp_path / "reports", tmp_path / run / "rosbag")
        file.write_text(run)
    texts = sorted(file.read_text() for file in (tmp_path / "reports").iterdir())
    assert texts == ["run1", "run2"]
