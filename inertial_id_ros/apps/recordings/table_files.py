# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Reads tables (CSV, NPZ, Parquet) and episodes of LeRobot datasets: columns by name, as arrays."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidSetting, RecordingError
from ...extras import optional_packages
from ...inertia import Array
from ...limits import MAX_TABLE_BYTES

SUFFIXES = (".csv", ".tsv", ".txt", ".npz", ".parquet")
INFO = Path("meta") / "info.json"
# Separator (None: blanks) and decimal point; of those that fit, the one with the most columns.
DIALECTS = tuple((cell, point) for point in ".," for cell in (",", ";", "\t", None)
                 if cell != point)
UNITS = {"", "-", "1", "s", "ms", "us", "ns", "sec", "n", "nm", "n m", "n*m", "n·m", "nmm", "m",
         "mm", "rad", "deg", "m/s^2", "m/s2", "rad/s", "a", "kg", "hz", "°"}

Table = Mapping[str, Array]  # columns (n,) or (n, k) by name


def is_table(path: Path) -> bool:
    """True if a path is a table, not a bag."""
    return path.suffix.lower() in SUFFIXES or is_dataset(path)


def is_dataset(path: Path) -> bool:
    """True if a folder is a LeRobot dataset."""
    return (path / INFO).is_file()


def read_table(path: Path, episode: int = 0) -> Table:
    """The columns of a CSV, NPZ or Parquet file, or of an episode of a dataset.

    Raises:
        RecordingError: it cannot be read as a table of numbers; the text says why.
        InvalidSetting: there is no such episode.
        MissingPackage: a Parquet file, and pyarrow is not installed.
    """
    if is_dataset(path):
        return _read_episode(path, episode)
    if not path.is_file() or path.stat().st_size > MAX_TABLE_BYTES:
        raise RecordingError(f"table {path} is no regular file of at most {MAX_TABLE_BYTES} bytes")
    if path.suffix.lower() == ".parquet":
        return _read_parquet(path)
    if path.suffix.lower() == ".npz":
        return {name: np.asarray(values, dtype=float) for name, values in _arrays(path).items()
                if values.dtype.kind in "iuf"}
    return _read_csv(path)


def read_words(path: Path, name: str) -> tuple[str, ...]:
    """An array of words in an NPZ file that `read_table` reads; empty where it is not there."""
    if path.suffix.lower() != ".npz":
        return ()
    return tuple(map(str, np.ravel(_arrays(path).get(name, np.empty(0)))))


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an NPZ file (raises RecordingError); nothing in the file is executed."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except Exception as error:  # damaged archives raise errors of many kinds
        why = " ".join(str(error).split()) or type(error).__name__
        raise RecordingError(f"table {path} cannot be read: {why:.300}") from error


def _read_parquet(path: Path) -> Table:
    """The columns of numbers, or of lists of numbers of one length (raises RecordingError)."""
    with optional_packages("reading a Parquet file"):
        import pyarrow as pa
        from pyarrow import parquet
    try:
        table = parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise RecordingError(f"table {path} cannot be read: {error}") from error
    columns: dict[str, Array] = {}
    for name in table.column_names:
        try:
            values = table.column(name).to_numpy()
            rows = np.stack(list(values)) if values.dtype == object else values
            columns[name] = np.asarray(rows, dtype=float)
        except (TypeError, ValueError):
            continue  # text, images, lists of different lengths
    return columns


def _read_csv(path: Path) -> Table:
    """Columns of numbers below a line of names; what is no number becomes NaN."""
    lines = [line for line in _text(path).splitlines() if line.strip()]
    cell, point, width = _dialect(path, lines)
    first = next(k for k, line in enumerate(lines)
                 if len(cells := _cells(line, cell)) == width and _are_numbers(cells, point))
    names = _names(path, lines[:first], cell, width)
    rows = lines[first:] if point == "." else [line.replace(",", ".") for line in lines[first:]]
    try:
        table = np.loadtxt(rows, dtype=float, delimiter=cell, ndmin=2, comments=None)
    except ValueError:  # with empty cells, words or quotes
        table = _slowly(path, rows, cell, width)
    return {name: column for name, column in zip(names, table.T, strict=True) if name}


def _slowly(path: Path, rows: Sequence[str], cell: str | None, width: int) -> Array:
    table = []
    for k, line in enumerate(rows):
        cells = _cells(line, cell)
        if len(cells) != width:
            raise RecordingError(f"row {k + 1} of table {path} has {len(cells)} columns; the "
                                 f"others have {width}")
        table.append([np.nan if (value := _number(text)) is None else value for text in cells])
    return np.array(table)


def _text(path: Path) -> str:
    """The text of a file, as Excel and its like write it (raises RecordingError)."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordingError(f"table {path} cannot be read: {error.strerror}") from error
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    if b"\0" in data[:1000]:
        raise RecordingError(f"table {path} is no text; save it as CSV in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _dialect(path: Path, lines: Sequence[str]) -> tuple[str | None, str, int]:
    """Separator, decimal point and number of columns of a line in the middle of a file (raises
    RecordingError)."""
    sample = lines[len(lines) // 2] if len(lines) > 1 else ""
    found = [(len(cells), cell, point) for cell, point in DIALECTS
             if len(cells := _cells(sample, cell)) > 1 and _are_numbers(cells, point)]
    if not found:
        what = f"'{lines[0][:60]}' in its first line" if lines else "nothing in it"
        raise RecordingError(f"table {path} cannot be read: it has {what} and no rows of numbers; "
                             "names of the columns and rows of numbers are needed, separated by "
                             "commas, semicolons, tabs or blanks")
    width, cell, point = max(found, key=lambda item: item[0])
    return cell, point, width


def _cells(line: str, cell: str | None) -> list[str]:
    if cell is None:
        return line.split()
    return [text.strip() for text in next(csv.reader([line], delimiter=cell))]


def _are_numbers(cells: Sequence[str], point: str) -> bool:
    """True if more than half of the cells that hold anything are numbers."""
    full = [_number(text.replace(point, ".")) for text in cells if text]
    return 2 * sum(value is not None for value in full) > len(full)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _names(path: Path, above: Sequence[str], cell: str | None, width: int) -> list[str]:
    """Names of the columns, from the lines above the numbers; below them may be a line of units
    (raises RecordingError)."""
    heads = [_cells(line.lstrip("# "), cell) for line in above[-5:]]  # NumPy comments
    while len(heads) > 1 and len(heads[-2]) == width and {
            text.lower().strip("[]() ") for text in heads[-1]} <= UNITS:
        del heads[-1]
    names = heads[-1] if heads else []
    if len(names) != width:
        raise RecordingError(f"table {path} has {width} columns and {len(names)} names above them")
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        raise RecordingError(f"table {path} has two columns with the name '{twice[0]}'; each needs "
                             "a name of its own")
    return names


def _read_episode(path: Path, episode: int) -> Table:
    """The rows of one episode. A feature with names gives a column for each of them, too (raises
    RecordingError, InvalidSetting)."""
    try:
        info = json.loads((path / INFO).read_text(encoding="utf-8"))
        features = {name: dict(described) for name, described in info["features"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise RecordingError(f"{path / INFO} cannot be read, or names no features: {error}"
                             ) from error
    for file in sorted((path / "data").rglob("*.parquet")):
        table = _read_parquet(file)
        rows = table.get("episode_index", np.empty(0)) == episode
        if rows.any():
            return _with_names({name: column[rows] for name, column in table.items()}, features)
    total = info.get("total_episodes", "?")
    raise InvalidSetting(f"--episode is {episode}; {path} holds {total}, counted from 0")


def _with_names(table: dict[str, Array], features: dict[str, dict[str, Any]]) -> Table:
    """The columns, and those of vectors apart: ``observation.state/gripper``."""
    apart = dict(table)
    for feature, column in table.items():
        names = features.get(feature, {}).get("names")
        if isinstance(names, dict) and len(names) == 1:  # {"motors": [...]}
            (names,) = names.values()
        if column.ndim == 2 and isinstance(names, list) and len(names) == column.shape[1]:
            apart |= {f"{feature}/{name}": column[:, k] for k, name in enumerate(names)}
    return apart
