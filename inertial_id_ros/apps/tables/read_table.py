# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Reads tables, and episodes of LeRobot datasets: columns by name, as arrays."""

from __future__ import annotations

import csv
import json
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidSetting, RecordingError
from ...extras import optional_packages
from ...inertia import Array

SUFFIXES = (".csv", ".tsv", ".txt", ".npz", ".parquet")
_DELIMITERS = ",;\t "
_DECIMAL_COMMA = re.compile(r"(?:^|[;\t ])-?\d+,\d+(?:$|[;\t ])", re.MULTILINE)
_PEEK = 10_000  # bytes that are searched for it

Table = Mapping[str, Array]  # columns (n,) or (n, k) by name


def read_table(path: Path) -> Table:
    """The columns of a CSV, NPZ or Parquet file.

    Raises:
        RecordingError: it cannot be read as a table of numbers; the text says why.
        MissingPackage: a Parquet file, and pyarrow is not installed.
    """
    try:
        if path.suffix == ".npz":
            return _read_npz(path)
        if path.suffix == ".parquet":
            return read_parquet(path)
        return _read_csv(path)
    except OSError as error:
        raise RecordingError(f"table {path} cannot be read: {error.strerror or error}") from error


def read_parquet(path: Path) -> Table:
    """The columns of numbers, or of lists of numbers of one length, in a Parquet file."""
    with optional_packages("reading a Parquet file"):
        import pyarrow as pa
        from pyarrow import parquet
    try:
        table = parquet.read_table(path)
    except pa.ArrowException as error:
        raise RecordingError(f"table {path} cannot be read: {error}") from error
    columns: dict[str, Array] = {}
    for name in table.column_names:
        values = table.column(name).to_numpy()
        try:
            rows = np.stack(list(values)) if values.dtype == object else values
            columns[name] = np.asarray(rows, dtype=float)
        except (TypeError, ValueError):
            continue  # text, images, lists of different lengths
    return columns


def _read_npz(path: Path) -> Table:
    """Arrays of numbers; nothing in the file is executed."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: np.asarray(file[name], dtype=float) for name in file.files
                    if file[name].dtype.kind in "iuf"}
    except Exception as error:  # damaged archives raise errors of many kinds
        why = " ".join(str(error).split()) or type(error).__name__
        raise RecordingError(f"table {path} cannot be read: {why:.300}") from error


def read_words(path: Path, name: str) -> tuple[str, ...]:
    """An array of words in an NPZ file that `read_table` reads; empty where it is not there."""
    with np.load(path, allow_pickle=False) as file:
        return tuple(map(str, np.ravel(file[name]))) if name in file.files else ()


def _read_csv(path: Path) -> Table:
    """Columns of numbers below one line of names; empty cells are not a number."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = file.readline().lstrip("# ")  # NumPy writes names as a comment
            delimiter = max(_DELIMITERS, key=first.count)
            names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
            _check_names(path, names)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of a table without rows
                rows = np.genfromtxt(file, delimiter=None if delimiter == " " else delimiter,
                                     dtype=float, ndmin=2)
    except (UnicodeDecodeError, ValueError, csv.Error) as error:
        why = " ".join(str(error).split())
        raise RecordingError(f"table {path} cannot be read: {why:.300}") from error
    if not rows.size:
        raise RecordingError(f"table {path} has no rows below its first line")
    if rows.shape[1] != len(names):
        raise RecordingError(f"table {path} has {len(names)} names in its first line and "
                             f"{rows.shape[1]} columns below")
    _check_numbers(path, names, rows)
    return dict(zip(names, rows.T, strict=True))


def _check_numbers(path: Path, names: list[str], rows: Array) -> None:
    """Raise RecordingError where columns hold numbers that have a comma for the decimal point."""
    empty = [name for name, column in zip(names, rows.T, strict=True) if np.isnan(column).all()]
    if not empty:
        return
    with path.open(encoding="utf-8-sig") as file:
        below = "".join(file.readlines(_PEEK)[1:])
    if _DECIMAL_COMMA.search(below):
        raise RecordingError(f"table {path} writes numbers with a decimal comma, in column "
                             f"'{empty[0]}' for example; write them with a point")


def _check_names(path: Path, names: list[str]) -> None:
    """Raise RecordingError where the first line of a table names no columns."""
    numbers = [name for name in names if _is_number(name)]
    if numbers or not any(names):
        raise RecordingError(f"table {path} has no names in its first line "
                             f"('{', '.join(names[:4])}'); it must name the columns")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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
