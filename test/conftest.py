# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Shared test set-up: one thread a process, a home of its own, a ROS domain of its own, marks."""

import os

# Before numpy is imported; the processes that tests start inherit it. Threads of several processes
# that wait for each other on a few cores cost half of the processor time.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import importlib.util
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from inertial_id_ros.extras import EXTRAS

ROOT = Path(__file__).resolve().parent.parent
# Where programs write without being asked: each names a folder below that of this test run.
FOLDERS = ("HOME", "ROS_HOME", "ROS_LOG_DIR", "MPLCONFIGDIR", "TMPDIR")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the room `ros` and those that need recordings; begin with the files that
    take the longest. Coverage makes computing half as slow again: of slow cases that differ in
    numbers alone it counts the first."""
    counted = set()
    for item in items:
        if ROOT / "test" / "ros" in item.path.parents:
            item.add_marker("ros")
        if "data_folder" in getattr(item, "fixturenames", ()):
            item.add_marker("recordings")
        values = item.callspec.params.values() if hasattr(item, "callspec") else ()
        case = (item.nodeid.partition("[")[0],
                *(repr(value) for value in values if type(value) not in (int, float)))
        if case in counted and item.get_closest_marker("slow"):
            item.add_marker("no_cover")
        counted.add(case)
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: (-slow[item.path], item.path))


# What tests need beside the core: rosdep, and so a ROS workspace, has few of it.
OPTIONAL = {*(module for modules in EXTRAS.values() for module in modules), "example_robot_data",
            "pxr", "control_msgs", "tf2_msgs"}


def is_installed(module: str) -> bool:
    """Whether a top-level module can be imported."""
    return importlib.util.find_spec(module) is not None


# Tests between processes need ROS and the messages.
collect_ignore_glob = [] if is_installed("rclpy") and is_installed("inertial_id_ros.msg") else [
    "ros/*"]


def missing_package(text: str) -> str:
    """The optional package that is not installed, by the text of an error; empty: another error."""
    named = re.findall(r"needs the Python package '([\w-]+)'|No module named '(\w+)", text)
    for name in {name for pair in named for name in pair if name}:
        if name in OPTIONAL and not is_installed(name):
            return name
    return ""


def skipped(node: pytest.Collector | pytest.Item, error: BaseException | None = None
            ) -> Iterator[None]:
    """Skip a file or a test that needs an optional package that is not installed."""
    outcome = yield
    report = outcome.get_result()
    if report.failed and (name := missing_package(str(error or report.longrepr))):
        report.outcome = "skipped"
        report.longrepr = (str(node.path), 0, f"Skipped: needs the package {name}")


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Of files."""
    yield from skipped(collector)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Of tests."""
    yield from skipped(item, call.excinfo and call.excinfo.value)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A file that is skipped as a whole (no ROS, no launch) has not failed, as colcon would say."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.OK


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty home folder for all tests and the processes that they start."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in FOLDERS:
            patch.setenv(variable, str(tmp_path_factory.mktemp(variable.lower())))
        patch.setattr(tempfile, "tempdir", os.environ["TMPDIR"])
        yield Path(os.environ["HOME"])
        assert_empty(Path(os.environ["HOME"]))


@pytest.fixture(autouse=True)
def home_stays_empty(home: Path) -> Iterator[None]:
    """Fail a test that leaves something in the home folder of the user."""
    yield
    assert_empty(home)


def assert_empty(home: Path) -> None:
    """Fail if there is something in the home folder, and remove it."""
    left = sorted(str(path.relative_to(home)) for path in home.rglob("*"))
    for path in home.iterdir():  # the next test is not to blame
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert not left, f"left in the home folder: {', '.join(left)}"


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder with the recordings; tests that need it are skipped where it is missing."""
    folder = Path(os.environ.get("INERTIAL_ID_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"recordings not found under {folder} (set INERTIAL_ID_DATA)")
    return folder


@pytest.fixture()
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(7)
