# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""No test can change the state of the user's robots."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)
NAME = HOME / ".ros" / "inertial_id_ros" / "no_test_can_write_this"


@pytest.mark.parametrize("change", [
    lambda: os.open(NAME, os.O_WRONLY), lambda: os.remove(NAME), lambda: os.mkdir(NAME / "x"),
    lambda: os.rename(NAME, NAME.parent / "other"), lambda: open(NAME / "x", "w")])
def test_the_test_process_cannot_write_there(change) -> None:
    """Without the guard, these would find no such file, and change nothing either."""
    with pytest.raises(PermissionError, match="a test would change"):
        change()


def test_reading_there_and_writing_elsewhere_is_free(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        NAME.read_text()
    (tmp_path / ".ros").mkdir()
    (tmp_path / ".ros" / "x").write_text("")


def test_a_process_of_a_test_never_has_the_home_of_the_user(monkeypatch: pytest.MonkeyPatch
                                                            ) -> None:
    pytest.importorskip("rclpy")
    pytest.importorskip("tf2_msgs.msg")
    from ros_process import environment

    assert environment(1)["HOME"] == os.environ["HOME"] != str(HOME)
    for home in (str(HOME), ""):
        monkeypatch.setenv("HOME", home)
        assert environment(1)["HOME"] not in ("", str(HOME))
    monkeypatch.delenv("HOME")
    assert environment(1)["HOME"] not in ("", str(HOME))
