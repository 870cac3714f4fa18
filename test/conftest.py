"""Shared test set-up: a UR5-like robot made here, motions, and closed-form wrenches."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent


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
