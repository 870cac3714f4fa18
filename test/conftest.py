"""Shared test set-up."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A file that is skipped as a whole (no ROS, no launch) has not failed, as colcon would say."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.OK


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
