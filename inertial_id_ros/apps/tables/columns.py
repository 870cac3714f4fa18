# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which columns of a table hold time, wrench and motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ...errors import InvalidSetting

_TIMES = ("time", "t", "stamp", "timestamp")
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_METRES = {"m": 1.0, "mm": 1e-3}
_SIZES = {"wrench": 6, "position": 3, "quaternion": 4, "rotation": 9}


@dataclass(frozen=True)
class Columns:
    """Names of columns. A single name stands for a column that holds a vector in each row.

    Attributes:
        time: of the stamps; empty: the first of time, t, stamp, timestamp that is there.
        wrench: force and torque [N, N m], in the frame and with the sign of the settings.
        position, quaternion, rotation: of the sensor in the world: [m]; x, y, z, w; or the matrix
            row by row. Quaternion or rotation, not both; the position may be missing.
        joints: column by name of joint [rad], in place of a pose; needs a robot description.
        efforts: column by name of joint [N m], in place of the wrench.
        frame: name of the sensor's frame.
        time_unit: s, ms, us or ns; position_unit: m or mm.
    """

    time: str = ""
    wrench: tuple[str, ...] = ("fx", "fy", "fz", "tx", "ty", "tz")
    position: tuple[str, ...] = ("x", "y", "z")
    quaternion: tuple[str, ...] = ("qx", "qy", "qz", "qw")
    rotation: tuple[str, ...] = ()
    joints: Mapping[str, str] = field(default_factory=dict)
    efforts: Mapping[str, str] = field(default_factory=dict)
    frame: str = "sensor"
    time_unit: str = "s"
    position_unit: str = "m"

    def __post_init__(self) -> None:
        for name, unit, known in (("time_unit", self.time_unit, _SECONDS),
                                  ("position_unit", self.position_unit, _METRES)):
            if unit not in known:
                raise InvalidSetting(f"{name} is '{unit}'; allowed: {', '.join(known)}")
        for name, size in _SIZES.items():
            if len(getattr(self, name)) not in (0, 1, size):
                raise InvalidSetting(f"{name} names {len(getattr(self, name))} columns; it needs "
                                     f"{size}, or one that holds {size} numbers in each row")

    @property
    def seconds(self) -> float:
        """Of a unit of time [s]."""
        return _SECONDS[self.time_unit]

    @property
    def metres(self) -> float:
        """Of a unit of length [m]."""
        return _METRES[self.position_unit]

    def time_column(self, present: Sequence[str]) -> str:
        """The column of the stamps among those of a table; the first usual name if none is set."""
        return self.time or next((name for name in _TIMES if name in present), _TIMES[0])


def columns_from_file(path: Path) -> Columns:
    """Columns from a YAML file; what it does not name keeps its usual name.

    Raises:
        InvalidSetting: unreadable, an unknown key, or a value that is not allowed.
    """
    from ...io.yaml_files import read_yaml  # loading is needed for a file alone

    tree = read_yaml(path, f"file of columns {path}")
    known = {f.name for f in fields(Columns)}
    if not isinstance(tree, dict) or set(tree) - known:
        wrong = ", ".join(map(str, sorted(set(tree) - known))) if isinstance(tree, dict) else tree
        raise InvalidSetting(f"file of columns {path}: '{wrong}' is not known; allowed: "
                             f"{', '.join(sorted(known))}")
    return Columns(**{name: _value(path, name, value) for name, value in tree.items()})


def _value(path: Path, name: str, value: Any) -> Any:
    """The value of a key in the type that it needs."""
    if name in ("joints", "efforts"):
        if not isinstance(value, dict) or not all(
                isinstance(x, str) for pair in value.items() for x in pair):
            raise InvalidSetting(f"file of columns {path}: {name} must map names of joints to "
                                 "names of columns")
        return value
    if name in _SIZES:
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
            raise InvalidSetting(f"file of columns {path}: {name} must be a list of names, or one "
                                 "name")
        return tuple(names)
    if not isinstance(value, str):
        raise InvalidSetting(f"file of columns {path}: {name} is {value!r}; it must be text")
    return value
