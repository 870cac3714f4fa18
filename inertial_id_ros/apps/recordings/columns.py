# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which columns of a table hold time, wrench and motion, and their numbers, checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import InvalidData, InvalidSetting
from ...inertia import Array
from ...io.arrays import as_rotations
from ...io.files import read_yaml
from .table_files import Table

TIMES = ("time", "t", "stamp", "timestamp")
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
METRES = {"m": 1.0, "mm": 1e-3}
# Ways to give an orientation, with the usual names of their columns.
ORIENTATIONS = {
    "quaternion": ("qx", "qy", "qz", "qw"),
    "rotation": tuple(f"r{i}{k}" for i in "123" for k in "123"),
    "rotation_vector": ("rx", "ry", "rz"),
    "rpy": ("roll", "pitch", "yaw")}
SIZES = {"wrench": 6, "position": 3, **{k: len(v) for k, v in ORIENTATIONS.items()}}
UNIT = 0.05  # by which the length of a quaternion may miss one
SLOWEST = 0.5  # s between rows; slower ones are poses at rest, or in another unit
START = 1_700_000_000 * 10**9  # ns: added to stamps near zero, which mean "no stamp" in ROS
EARLIEST = 1e6  # s


@dataclass(frozen=True)
class Columns:
    """Names of columns. A single name stands for a column that holds a vector in each row, and
    ``name[2]`` for the third number of a vector.

    Attributes:
        time: of the stamps; empty: the first of time, t, stamp, timestamp that is there.
        wrench: force and torque [N, N m], in the frame and with the sign of the settings.
        position: of the sensor in the world [m]; may be missing.
        quaternion, rotation, rotation_vector, rpy: its orientation: x, y, z, w; the matrix row by
            row; axis times angle, or roll, pitch, yaw [rad]. One of them; empty: that whose usual
            names are there.
        joints: column by name of joint [rad], in place of a pose; needs a robot description.
        efforts: column by name of joint [N m], in place of the wrench.
        frame: name of the sensor's frame.
        rate: of the rows [Hz], where no column holds the time; 0: rows are poses at rest then.
        time_unit: s, ms, us or ns; position_unit: m or mm.

    Raises:
        InvalidSetting: an unknown unit, another number of columns, or two orientations.
    """

    time: str = ""
    wrench: tuple[str, ...] = ("fx", "fy", "fz", "tx", "ty", "tz")
    position: tuple[str, ...] = ("x", "y", "z")
    quaternion: tuple[str, ...] = ()
    rotation: tuple[str, ...] = ()
    rotation_vector: tuple[str, ...] = ()
    rpy: tuple[str, ...] = ()
    joints: Mapping[str, str] = field(default_factory=dict)
    efforts: Mapping[str, str] = field(default_factory=dict)
    frame: str = "sensor"
    rate: float = 0.0
    time_unit: str = "s"
    position_unit: str = "m"

    def __post_init__(self) -> None:
        for name, unit, known in (("time_unit", self.time_unit, SECONDS),
                                  ("position_unit", self.position_unit, METRES)):
            if unit not in known:
                raise InvalidSetting(f"{name} is '{unit}'; allowed: {', '.join(known)}")
        for name, size in SIZES.items():
            count = len(getattr(self, name))
            if count not in (0, 1, size) and (name, count) != ("wrench", 2):
                others = ", ".join(other for other in ORIENTATIONS if SIZES[other] == count)
                more = f"; {count} are those of {others}" if name in ORIENTATIONS and others else ""
                raise InvalidSetting(f"{name} names {count} columns; it needs {size}, or one that "
                                     f"holds {size} numbers in each row{more}")
        if sum(bool(getattr(self, name)) for name in ORIENTATIONS) > 1:
            raise InvalidSetting(f"more than one of {', '.join(ORIENTATIONS)} is named; one is "
                                 "needed")

    @property
    def seconds(self) -> float:
        """Of a unit of time [s]."""
        return SECONDS[self.time_unit]


def columns_from_file(path: Path) -> Columns:
    """Columns from a YAML file; what it does not name keeps its usual name.

    Raises:
        InvalidSetting: unreadable, an unknown key, or a value that is not allowed.
    """
    tree = read_yaml(path, f"file of columns {path}")
    known = [f.name for f in fields(Columns)]
    unknown = [name for name in tree if name not in known] if isinstance(tree, dict) else [tree]
    if unknown:
        raise InvalidSetting(f"file of columns {path}: '{str(unknown[0]):.100}' is not known; "
                             f"allowed: {', '.join(known)}")
    return Columns(**{name: _value(path, name, value) for name, value in tree.items()})


def _value(path: Path, name: str, value: Any) -> Any:
    """The value of a key in the type that it needs (raises InvalidSetting)."""
    wanted, fits = "text", isinstance(value, str)
    if name in SIZES:
        value = (value,) if isinstance(value, str) else value
        wanted, fits = "a list of names, or one name", isinstance(value, list | tuple) and all(
            isinstance(n, str) for n in value)
    elif name in ("joints", "efforts"):
        wanted, fits = "names of joints and names of columns", isinstance(value, dict) and all(
            isinstance(x, str) for pair in value.items() for x in pair)
    elif name == "rate":
        wanted, fits = "a number above 0", type(value) in (int, float) and value > 0.0
    if not fits:
        raise InvalidSetting(f"file of columns {path}: {name} is {str(value):.200}; it must be "
                             f"{wanted}")
    return tuple(value) if name in SIZES else value


class Reader:
    """Reads numbers out of the columns of a table.

    Args:
        what: of the table, for messages.
    """

    def __init__(self, table: Table, columns: Columns, what: str) -> None:
        self.columns, self.what = columns, what
        self.present = f"{', '.join(sorted(table)) or 'none':.400}"  # names, for messages
        self.table = {name: np.atleast_1d(column) for name, column in table.items()}
        self._rows = 0
        for name, column in table.items():
            if column.ndim == 2:
                self.table |= {f"{name}[{k}]": values for k, values in enumerate(column.T)}

    @property
    def time_column(self) -> str:
        """The column of the stamps; empty: there is none."""
        return self.columns.time or next((n for n in TIMES if n in self.table), "")

    def column(self, name: str) -> Array:
        """A column of single numbers (raises InvalidData)."""
        column = self._there(name)
        if column.ndim == 1:
            return column
        width = column.shape[1]
        if width == 1:
            return column[:, 0]
        raise InvalidData(f"column '{name}' of {self.what} holds {width} numbers in a row; name "
                          f"one of them: {name}[0] to {name}[{width - 1}]")

    def _there(self, name: str) -> Array:
        if name not in self.table:
            raise InvalidData(f"{self.what} has no column '{name}' (--columns names them); it has "
                              f"{self.present}")
        column = self.table[name]
        self._rows = self._rows or len(column)
        if len(column) != self._rows:
            raise InvalidData(f"column '{name}' of {self.what} has {len(column)} rows; columns "
                              f"before it have {self._rows}")
        return column

    def vectors(self, names: Sequence[str], size: int) -> Array:
        """Rows (n, size), from a column of each number, or columns of several (raises
        InvalidData)."""
        rows = np.column_stack([self._there(name) for name in names])
        if rows.shape[1] != size:
            raise InvalidData(f"column '{names[0]}' of {self.what} gives {rows.shape[1]} numbers "
                              f"in a row; {size} are needed")
        return rows

    def joints(self, named: Mapping[str, str]) -> dict[str, Array]:
        """Columns (n,) by name of joint. Joints that name one vector are its first numbers, in
        their order (raises InvalidData)."""
        names, out = list(named.values()), {}
        for k, (joint, name) in enumerate(named.items()):
            shared = self._there(name).ndim == 2 and names.count(name) > 1
            out[joint] = self.column(f"{name}[{names[:k].count(name)}]" if shared else name)
        return out

    def orientation(self) -> Array | None:
        """Unit quaternions (n, 4) x, y, z, w; None where no column tells an orientation (raises
        InvalidData)."""
        said = [name for name in ORIENTATIONS if getattr(self.columns, name)] or [
            name for name, usual in ORIENTATIONS.items() if self.table.keys() & usual]
        if not said:
            return None
        kind = said[0]
        rows = self.vectors(getattr(self.columns, kind) or ORIENTATIONS[kind], SIZES[kind])
        self.require_numbers(rows, "orientation")
        if kind == "quaternion":
            length = np.linalg.norm(rows, axis=1)
            k = int(np.argmax(np.abs(length - 1.0)))
            if abs(length[k] - 1.0) > UNIT:
                raise InvalidData(f"the quaternion of row {k + 1} of {self.what} has length "
                                  f"{length[k]:.3g}; it must be 1")
            return rows
        if kind == "rotation":
            rows = as_rotations(f"the rotation of {self.what}", rows.reshape(-1, 3, 3), len(rows))
        turn = {"rotation": Rotation.from_matrix, "rotation_vector": Rotation.from_rotvec,
                "rpy": lambda angles: Rotation.from_euler("xyz", angles)}[kind](rows)
        return np.asarray(turn.as_quat())

    def require_numbers(self, rows: Array, name: str) -> None:
        """Raise InvalidData where a row (n, k) holds what is no number."""
        good = np.isfinite(rows).all(axis=1)
        if not good.all():
            raise InvalidData(f"{name} of row {int(np.argmin(good)) + 1} of {self.what} is not a "
                              "number")

    def stamps(self) -> np.ndarray | None:
        """Stamps (n,) [ns], increasing; None where there is neither a time nor a rate (raises
        InvalidData)."""
        name = self.time_column
        if not name:
            if not self.columns.rate:
                return None
            lengths = Counter(len(column) for column in self.table.values())
            count = max(lengths, key=lambda n: lengths[n], default=0)  # of most columns
            return START + np.round(1e9 * np.arange(count) / self.columns.rate).astype(np.int64)
        time = self.column(name)
        if len(time) < 2:
            raise InvalidData(f"{self.what} has {len(time)} rows; it needs at least two")
        self.require_numbers(time[:, None], f"column '{name}'")
        back = np.flatnonzero(np.diff(time) < 0.0)
        if len(back):
            before, now = time[back[0]:back[0] + 2].tolist()
            raise InvalidData(f"column '{name}' of row {back[0] + 2} of {self.what} is {now}, below"
                              f" {before} before it; time must not go back")
        seconds = self.columns.seconds * time
        # Of large numbers, the fraction is kept as far as they hold it.
        stamps = np.round(1e9 * (seconds - seconds[0])).astype(np.int64)
        first = round(1e9 * float(seconds[0]))
        return stamps + first + (START if seconds[0] < EARLIEST else 0)
