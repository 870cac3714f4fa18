# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How programs end: one line for an error, quietly after a signal; what they print is printable."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inertial_id_ros.cli import exit_status
from inertial_id_ros.errors import InvalidSetting, NotEnoughData, printable

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


@pytest.mark.parametrize(("command", "number", "module", "status"), [
    ("identify_bag", signal.SIGINT, "pinocchio", 130),
    ("inertial_id_node", signal.SIGINT, "numpy", 0)])
def test_a_signal_while_libraries_load_ends_the_program_quietly(
        command: str, number: signal.Signals, module: str, status: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW.format(module=module, command=command)], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == "loading\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=60.0)
    assert (process.returncode, said) == (status, "")


@pytest.mark.parametrize(("failure", "status", "named"), [
    (InvalidSetting("x is 1\n; allowed: 2"), 2, "x is 1"),
    (InvalidSetting("x" * 9000), 2, "x" * 2000),
    (NotEnoughData("too short"), 1, "too short"),
    (KeyboardInterrupt(), 130, "interrupted"),
    (PermissionError(13, "Permission denied", "/a/b"), 2, "/a/b"),
    (OSError(28, "No space left on device"), 2, "No space left"),
    (MemoryError(), 2, "memory")])
def test_a_tool_ends_with_one_line_and_the_status_of_its_kind(
        failure: BaseException, status: int, named: str, capsys: pytest.CaptureFixture[str]
        ) -> None:
    def run() -> int:
        raise failure

    assert exit_status(run) == status
    out, said = capsys.readouterr()
    assert out == "" and named in said and said.count("\n") == 1 and len(said) < 2100


@given(st.text())
def test_what_is_printed_is_one_line_that_a_terminal_shows(text: str) -> None:
    assert printable(text).isprintable()
