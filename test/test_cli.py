# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How programs start and end: one line for an error or a missing package, none after a signal."""

import signal
import subprocess
import sys
from collections.abc import Collection

import conftest
import pytest

from inertial_id_ros import cli
from inertial_id_ros.cli import exit_status
from inertial_id_ros.errors import InvalidSetting, NotEnoughData
from inertial_id_ros.extras import EXTRAS
from inertial_id_ros.ros.guide.identify_payload import parse


def run(code: str, without: Collection[str] = ()) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own in which none of some top-level modules can be imported."""
    hidden = f"import sys\nsys.modules.update(dict.fromkeys({list(without)!r}))\n"
    return subprocess.run([sys.executable, "-c", hidden + code], cwd=conftest.ROOT,
                          capture_output=True, text=True, timeout=120.0)


def run_program(name: str, word: str, without: Collection[str] = ()
                ) -> subprocess.CompletedProcess[str]:
    """Run a program with a word."""
    return run(f"sys.argv = [{name!r}, {word!r}]\nfrom inertial_id_ros.cli import main\n"
               "raise SystemExit(main())", without)


@pytest.mark.slow
@pytest.mark.parametrize("name", cli.PROGRAMS)
def test_each_program_starts_and_prints_its_help(name: str) -> None:
    """Those beside the node without ROS."""
    is_ros = cli.PROGRAMS[name].startswith("ros.")
    if is_ros:
        pytest.importorskip("rclpy")
    done = run_program(name, "--help", () if is_ros else {"rclpy"})
    assert done.returncode == 0 and f"usage: {name}" in done.stdout, done.stderr


LOADING = """
import sys, time
from inertial_id_ros import cli
assert not {{"numpy", "rclpy"}} & sys.modules.keys()
cli.import_module = lambda name: (print("loading", flush=True), time.sleep(20))
raise SystemExit(cli.run_program({command!r}))
"""


@pytest.mark.parametrize("command", ["identify_bag", "inertial_id_node"])
def test_an_interrupt_while_libraries_load_ends_the_program_in_one_line(command: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LOADING.format(command=command)], text=True, cwd=conftest.ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == "loading\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60.0)
    assert process.returncode == cli.INTERRUPTED and said.count("\n") == 1


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


@pytest.mark.slow
@pytest.mark.parametrize(("missing", "name"), [
    ("rclpy", "inertial_id_node"), ("inertial_id_ros.msg", "inertial_id_node"),
    ("numpy", "identify_bag")])
def test_what_cannot_be_imported_is_named(missing: str, name: str) -> None:
    if missing == "inertial_id_ros.msg":
        pytest.importorskip("rclpy")
    done = run_program(name, "x", without={missing})
    assert done.returncode == cli.USER_ERROR and missing in done.stderr
    assert done.stderr.count("\n") == 1
    late = run("from inertial_id_ros import cli\nimport inertial_id_ros.apps.export_payload as p\n"
               "p.main = lambda: p.publish('', 'x')\ncli.run_program('export_payload')", {"rclpy"})
    assert "rclpy" in late.stderr and late.stderr.count("\n") == 1


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


@pytest.mark.parametrize("words", [
    ("--link-speed", "0"), ("--link-speed", "nan"), ("--silence", "2"), ("--link-speed", "fast"),
    ("--timeout", "1"), ("--nothing", "1"), ("--silence",), ("--payload-box", "1,2")])
def test_a_mistake_names_its_option_and_value(words: tuple[str, ...]) -> None:
    with pytest.raises(InvalidSetting) as caught:
        parse(words)
    assert all(word in str(caught.value) for word in words)


OPTIONAL = {*(module for modules in EXTRAS.values() for module in modules), "rtree", "embreex"}


@pytest.mark.slow
def test_the_library_and_the_node_need_none_of_them() -> None:
    modules = ["api", "export", "targets.target"]
    modules += ["ros.node", "client"] if conftest.is_installed("rclpy") else []
    done = run("".join(f"import inertial_id_ros.{module}\n" for module in modules), OPTIONAL)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("module", "extra", "use"), [
    ("rosbags", "bags", "sys.argv = ['identify_bag', 'x']\n"
     "from inertial_id_ros.cli import main; raise SystemExit(main())"),
    ("trimesh", "shapes", "import numpy\nfrom inertial_id_ros.geometry.shape import "
     "shape_from_primitive\nshape_from_primitive('box', [.1, .1, .1], numpy.eye(4))"),
    ("cvxpy", "methods", "from inertial_id_ros.api import Settings\n"
     "from inertial_id_ros.estimators import create\n"
     "create(Settings().replace({'estimator.method': 'pmd'}))"),
    ("mujoco", "simulation", "from inertial_id_ros.apps.simulation.cobot import Scenario")])
def test_a_feature_says_which_package_it_misses_and_how_to_get_it(
        module: str, extra: str, use: str) -> None:
    said = run(use, {module}).stderr.strip().splitlines()[-1]
    assert module in said and f'pip install "inertial-id-ros[{extra}]"' in said
