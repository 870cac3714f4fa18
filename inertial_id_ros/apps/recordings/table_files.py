# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Reads tables (CSV, NPZ, Parquet) and episodes of LeRobot datasets: columns by name, as arrays."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InertialIdError, InvalidSetting, RecordingError
from ...extras import optional_packages
from ...inertia import Array
from ...limits import MAX_TABLE_BYTES

INFO = Path("meta") / "info.json"
# Separator (as pandas has it) and decimal point; of those that fit, the one with most columns.
BLANKS = r"\s+"
DIALECTS = tuple((cell, point) for point in ".," for cell in (",", ";", "\t", BLANKS)
                 if cell != point)
UNITS = {"", "-", "1", "s", "ms", "us", "ns", "sec", "n", "nm", "n m", "n*m", "n·m", "nmm", "m",
         "mm", "rad", "deg", "m/s^2", "m/s2", "rad/s", "a", "kg", "hz", "°"}

Table = Mapping[str, Array]  # columns (n,) or (n, k) by name


def is_table(path: Path) -> bool:
    """True if a path is a table, not a bag."""
    return path.suffix.lower() in READERS or is_dataset(path)


def is_dataset(path: Path) -> bool:
    """True if a folder is a LeRobot dataset."""
    return (path / INFO).is_file()


def read_table(path: Path, episode: int = 0) -> Table:
    """The columns of a CSV, NPZ or Parquet file, or of an episode of a dataset.

    Raises:
        RecordingError: it cannot be read as a table of numbers; the text says why.
        InvalidSetting: there is no such episode.
        MissingPackage: pandas, or for Parquet pyarrow, is not installed.
    """
    try:
        if is_dataset(path):
            return _read_episode(path, episode)
        if not path.is_file() or path.stat().st_size > MAX_TABLE_BYTES:
            raise ValueError(f"it is no regular file of at most {MAX_TABLE_BYTES} bytes")
        return READERS[path.suffix.lower()](path)
    except InertialIdError:
        raise
    except Exception as error:  # damaged files raise errors of many kinds
        why = " ".join(str(error).split()) or type(error).__name__
        raise RecordingError(f"table {path} cannot be read: {why:.300}") from error


def read_words(path: Path, name: str) -> tuple[str, ...]:
    """An array of words in an NPZ file that `read_table` reads; empty where it is not there."""
    if path.suffix.lower() != ".npz":
        return ()
    with np.load(path, allow_pickle=False) as file:
        return tuple(map(str, np.ravel(file[name]))) if name in file else ()


def _read_npz(path: Path) -> Table:
    with np.load(path, allow_pickle=False) as file:
        return {name: values.astype(float) for name, values in file.items()
                if values.dtype.kind in "iuf"}


def _read_parquet(path: Path, **selection: Any) -> dict[str, Array]:
    """The columns of numbers, or of lists of numbers of one length."""
    with optional_packages("reading a Parquet file"):
        import pandas as pd
        import pyarrow  # noqa: F401, which pandas uses
    columns: dict[str, Array] = {}
    for name, column in pd.read_parquet(path, **selection).items():
        try:
            columns[str(name)] = np.array(column.tolist(), dtype=float)
        except (TypeError, ValueError):
            continue  # text, images, lists of different lengths
    return columns


def _read_csv(path: Path) -> Table:
    """Columns of numbers below a line of names; what is no number becomes NaN."""
    with optional_packages("reading a table"):
        import pandas as pd
    lines = [line for line in _text(path).splitlines() if line.strip()]
    cell, point, width = _dialect(lines)
    first = next(k for k, line in enumerate(lines)
                 if len(cells := _cells(line, cell)) == width and _are_numbers(cells, point))
    names = _names(lines[:first], cell, width)
    table = pd.read_csv(StringIO("\n".join(lines[first:])), sep=cell, decimal=point, header=None,
                        skipinitialspace=True, index_col=False)
    if table.shape[1] != width:
        raise ValueError(f"a row has {table.shape[1]} columns; others have {width}")
    for k in table.columns:
        if not pd.api.types.is_numeric_dtype(table[k]):  # with words
            table[k] = pd.to_numeric(table[k].astype(str).str.replace(point, "."), errors="coerce")
    return {name: table[k].to_numpy(float) for k, name in enumerate(names) if name}


def _text(path: Path) -> str:
    """The text of a file, as Excel and its like write it."""
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    if b"\0" in data[:1000]:
        raise ValueError("it is no text; save it as CSV in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _dialect(lines: Sequence[str]) -> tuple[str, str, int]:
    """Separator, decimal point and number of columns of a line in the middle of a file."""
    sample = lines[len(lines) // 2] if len(lines) > 1 else ""
    found = [(len(cells), cell, point) for cell, point in DIALECTS
             if len(cells := _cells(sample, cell)) > 1 and _are_numbers(cells, point)]
    if not found:
        what = f"'{lines[0][:60]}' in its first line" if lines else "nothing in it"
        raise ValueError(f"it has {what} and no rows of numbers; names of the columns and rows of "
                         "numbers are needed, separated by commas, semicolons, tabs or blanks")
    width, cell, point = max(found, key=lambda item: item[0])
    return cell, point, width


def _cells(line: str, cell: str) -> list[str]:
    if cell == BLANKS:
        return line.split()
    return [text.strip() for text in next(csv.reader([line], delimiter=cell))]


def _are_numbers(cells: Sequence[str], point: str) -> bool:
    """True if more than half of the cells that hold anything are numbers."""
    def is_number(text: str) -> bool:
        try:
            return bool(float(text.replace(point, ".")) + 1.0)
        except ValueError:
            return False

    full = [is_number(text) for text in cells if text]
    return 2 * sum(full) > len(full)


def _names(above: Sequence[str], cell: str, width: int) -> list[str]:
    """Names of the columns, from the lines above the numbers; below them may be a line of units."""
    heads = [_cells(line.lstrip("# "), cell) for line in above[-5:]]  # NumPy comments
    while len(heads) > 1 and len(heads[-2]) == width and {
            text.lower().strip("[]() ") for text in heads[-1]} <= UNITS:
        del heads[-1]
    names = heads[-1] if heads else []
    if len(names) != width:
        raise ValueError(f"it has {width} columns and {len(names)} names above them")
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        raise ValueError(f"it has two columns with the name '{twice[0]}'; each needs its own")
    return names


def _read_episode(path: Path, episode: int) -> Table:
    """The rows of one episode. A vector with names is there as ``observation.state/gripper``, too
    (raises InvalidSetting)."""
    info = json.loads((path / INFO).read_text(encoding="utf-8"))
    table = _read_parquet(path / "data", filters=[("episode_index", "==", episode)])
    if not len(table["episode_index"]):
        raise InvalidSetting(f"--episode is {episode}; {path} holds "
                             f"{info.get('total_episodes', '?')}, counted from 0")
    apart = dict(table)
    for feature, column in table.items():
        names = info["features"].get(feature, {}).get("names")
        if isinstance(names, dict) and len(names) == 1:  # {"motors": [...]}
            (names,) = names.values()
        if column.ndim == 2 and isinstance(names, list) and len(names) == column.shape[1]:
            apart |= {f"{feature}/{name}": column[:, k] for k, name in enumerate(names)}
    return apart


READERS: dict[str, Callable[[Path], Table]] = {
    ".csv": _read_csv, ".tsv": _read_csv, ".txt": _read_csv, ".npz": _read_npz,
    ".parquet": _read_parquet}
