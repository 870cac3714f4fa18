# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How programs end: one line for an error, quietly after a signal; what they print is printable."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inertial_id_ros import cli
from inertial_id_ros.cli import exit_status
from inertial_id_ros.errors import InvalidSetting, MissingPackage, NotEnoughData, printable

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


PROGRAMS = {
    "export_payload": "apps.export_payload", "identify_bag": "apps.bag.identify_bag",
    "identify_payload": "ros.guide.identify_payload", "identify_robot": "apps.robot.identify_robot",
    "inertial_id_demo": "ros.tools.demo", "inertial_id_node": "ros.main",
    "plan_excitation": "apps.excitation.plan_excitation",
    "simulate_cobot": "ros.tools.simulate_cobot"}


@pytest.fixture()
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Stands in for every program; the signals and threads of this process stay as they are."""
    stand_in = ModuleType("stand_in")
    stand_in.loaded = []  # type: ignore[attr-defined]

    def load(name: str) -> ModuleType:
        stand_in.loaded.append(name)  # type: ignore[attr-defined]
        return stand_in

    monkeypatch.setattr(cli, "import_module", load)
    monkeypatch.setattr(signal, "signal", lambda number, action: handlers.update({number: action}))
    handlers: dict[int, object] = {}
    stand_in.handlers = handlers  # type: ignore[attr-defined]
    return stand_in


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_executable_runs_its_program_which_interrupts_end_in_its_own_way(
        name: str, program: ModuleType) -> None:
    module = Path(cli.__file__).parent / f"{PROGRAMS[name].replace('.', '/')}.py"
    assert "def main(" in module.read_text(encoding="utf-8")
    program.main = lambda: 3
    assert getattr(cli, name)() == 3
    assert program.loaded == [f"inertial_id_ros.{PROGRAMS[name]}"]
    own = program.handlers[signal.SIGINT] is signal.default_int_handler
    assert own == PROGRAMS[name].startswith("apps")  # rclpy takes over the signals itself


@pytest.mark.parametrize("missing", ["rclpy", "tf2_msgs.msg", "inertial_id_ros.msg", "pinocchio",
                                     "numpy"])
def test_what_cannot_be_imported_is_named_with_the_way_to_get_it(
        missing: str, program: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> int:
        raise ModuleNotFoundError(name=missing)

    program.main = main
    assert cli.identify_bag() == cli.USER_ERROR
    said = capsys.readouterr().err
    wanted = {"pinocchio": "pip install pin`", "numpy": "pip install numpy`",
              "inertial_id_ros.msg": "colcon build"}.get(missing, missing.partition(".")[0])
    assert wanted in said and said.count("\n") == 1


def test_a_package_of_one_feature_is_named_and_a_fault_of_ours_is_none_of_the_users(
        program: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    def main(error: Exception) -> int:
        raise error

    program.main = lambda: main(MissingPackage("reading needs rosbags"))
    assert cli.identify_bag() == cli.USER_ERROR and "rosbags" in capsys.readouterr().err
    program.main = lambda: main(ModuleNotFoundError(name="inertial_id_ros.nowhere"))
    with pytest.raises(ModuleNotFoundError):
        cli.identify_bag()


def test_a_reader_that_leaves_early_is_no_error() -> None:
    code = ("from inertial_id_ros.cli import exit_status\n"
            "def run():\n    while True: print('x' * 1000)\n"
            "raise SystemExit(exit_status(run))")
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert (process.wait(timeout=60.0), process.stderr.read()) == (0, b"")
    process.stderr.close()
