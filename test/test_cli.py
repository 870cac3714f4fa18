# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Entry points before any library is loaded (interrupts, libraries that are missing), and how tools
end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from inertial_id_ros.cli import exit_status
from inertial_id_ros.errors import InvalidSetting, NotEnoughData

ROOT = Path(__file__).resolve().parent.parent
# Importing this module takes a while, and says when it begins.
SLOW = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            print("loading", flush=True)
            time.sleep(20)
sys.meta_path.insert(0, Slow())
from inertial_id_ros.cli import {command}
raise SystemExit({command}())
"""
MISSING = """
import sys
sys.modules[{module!r}] = None
sys.argv = ["program", "/nowhere/bag"]
from inertial_id_ros.cli import {command}
raise SystemExit({command}())
"""


def start(code: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(
        [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.PIPE, env=environment)


@pytest.mark.parametrize(("command", "number", "module", "status"), [
    ("identify_bag", signal.SIGINT, "pinocchio", 130),
    ("inertial_id_node", signal.SIGINT, "numpy", 0),
    ("simulate_cobot", signal.SIGTERM, "numpy", 0),
])
def test_a_signal_while_libraries_load_ends_the_program_quietly(
        command: str, number: signal.Signals, module: str, status: int) -> None:
    process = start(SLOW.format(module=module, command=command))
    assert process.stdout is not None and process.stdout.readline() == "loading\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=60.0)
    assert (process.returncode, said) == (status, "")


@pytest.mark.slow
@pytest.mark.parametrize(("command", "module", "said"), [
    ("identify_bag", "rosbags", "the Python package 'rosbags', which is missing; install it"),
    ("identify_bag", "pinocchio", "the Python package 'pin' is missing"),
    ("inertial_id_node", "rclpy", "the ROS package 'rclpy' is missing; source a ROS 2"),
    ("simulate_cobot", "numpy", "the Python package 'numpy' is missing"),
])
def test_a_missing_library_is_one_sentence(command: str, module: str, said: str) -> None:
    if command != "identify_bag" and module != "rclpy":
        pytest.importorskip("rclpy")
    process = start(MISSING.format(module=module, command=command))
    out, text = process.communicate(timeout=60.0)
    assert process.returncode == 2 and out == ""
    assert text.startswith("error: ") and said in text and text.count("\n") == 1, text


def test_a_missing_part_of_the_package_itself_is_not_explained_away() -> None:
    process = start(MISSING.format(module="inertial_id_ros.errors", command="identify_bag"))
    _, text = process.communicate(timeout=60.0)
    assert process.returncode == 1 and "inertial_id_ros.errors" in text


@pytest.mark.parametrize(("failure", "status", "said"), [
    (InvalidSetting("x is 1; allowed: 2"), 2, "error: x is 1; allowed: 2\n"),
    (InvalidSetting("x" * 9000), 2, f"error: {'x' * 2000} ...\n"),
    (NotEnoughData("too short"), 1, "error: too short\n"),
    (KeyboardInterrupt(), 130, "interrupted\n"),
    (PermissionError(13, "Permission denied", "/a/b"), 2, "error: /a/b: Permission denied\n"),
    (OSError(28, "No space left on device"), 2, "error: No space left on device\n"),
    (MemoryError(), 2, "error: there is not enough memory for this input\n")])
def test_a_tool_ends_with_one_line_and_the_status_of_its_kind(
        failure: BaseException, status: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    def run() -> int:
        raise failure

    assert exit_status(run) == status
    assert capsys.readouterr() == ("", said)
