# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Episodes of LeRobot datasets (versions 2 and 3): ``meta/info.json`` and Parquet files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidSetting, RecordingError
from .read_table import Table, read_parquet

_INFO = Path("meta") / "info.json"


def is_dataset(path: Path) -> bool:
    """Whether a folder is a LeRobot dataset."""
    return (path / _INFO).is_file()


def read_episode(path: Path, episode: int) -> Table:
    """The rows of one episode. A feature with names gives a column for each of them, too.

    Raises:
        RecordingError: it cannot be read.
        InvalidSetting: there is no such episode.
    """
    info = _read_info(path)
    for file in sorted((path / "data").rglob("*.parquet")):
        table = read_parquet(file)
        if "episode_index" not in table:
            raise RecordingError(f"{file} has no column 'episode_index'")
        rows = table["episode_index"] == episode
        if rows.any():
            return _with_names({name: column[rows] for name, column in table.items()}, info)
    total = info.get("total_episodes", "?")
    raise InvalidSetting(f"--episode is {episode}; {path} holds {total}, counted from 0")


def _read_info(path: Path) -> dict[str, Any]:
    try:
        info = json.loads((path / _INFO).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecordingError(f"{path / _INFO} cannot be read: {error}") from error
    if not isinstance(info, dict) or not isinstance(info.get("features"), dict):
        raise RecordingError(f"{path / _INFO} names no features")
    return info


def _with_names(table: Table, info: dict[str, Any]) -> Table:
    """The columns, and those of vectors apart: ``observation.state/gripper``."""
    apart: dict[str, np.ndarray] = dict(table)
    for feature, column in table.items():
        names = info["features"].get(feature, {}).get("names")
        if column.ndim == 2 and isinstance(names, list) and len(names) == column.shape[1]:
            apart |= {f"{feature}/{name}": column[:, k] for k, name in enumerate(names)}
    return apart
