# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tables of motion and load as recordings, or as poses at rest: which columns hold what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import InvalidData, InvalidSetting
from ...inertia import Array
from ...io.arrays import as_rotations
from ...io.files import read_yaml
from ...io.sample_blocks import Edges, JointStates, Samples, Wrenches, split_by_time
from ...settings import Settings
from .recording import Part, Recording
from .table_files import Table, read_table

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
WORLD = "world"  # frame in which the poses of a table are given
TOGETHER = 2000  # samples of a part
FEWEST_POSES, MOST_POSES = 6, 118  # a second of the longest window each
STEEP = 0.05  # rad between poses that differ


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
        InvalidSetting: a value of another kind, another number of columns, or two orientations.
    """

    time: str = ""
    wrench: Sequence[str] = ("fx", "fy", "fz", "tx", "ty", "tz")
    position: Sequence[str] = ("x", "y", "z")
    quaternion: Sequence[str] = ()
    rotation: Sequence[str] = ()
    rotation_vector: Sequence[str] = ()
    rpy: Sequence[str] = ()
    joints: Mapping[str, str] = field(default_factory=dict)
    efforts: Mapping[str, str] = field(default_factory=dict)
    frame: str = "sensor"
    rate: float = 0.0
    time_unit: str = "s"
    position_unit: str = "m"

    def __post_init__(self) -> None:
        for item in fields(self):
            name, value = item.name, getattr(self, item.name)
            if name in SIZES:
                counts = (0, 1, SIZES[name], *((2,) if name == "wrench" else ()))
                is_good = (isinstance(value, list | tuple) and len(value) in counts
                           and all(isinstance(n, str) for n in value))
                wanted = f"{SIZES[name]} names of columns, or one that holds as many numbers"
            elif name in ("joints", "efforts"):
                is_good = isinstance(value, Mapping) and all(
                    isinstance(word, str) for pair in value.items() for word in pair)
                wanted = "names of joints and names of columns"
            elif name == "rate":
                is_good, wanted = type(value) in (int, float) and value >= 0.0, "a number above 0"
            else:
                allowed = {"time_unit": SECONDS, "position_unit": METRES}.get(name)
                is_good = isinstance(value, str) and (allowed is None or value in allowed)
                wanted = "text" if allowed is None else "one of " + ", ".join(allowed)
            if not is_good:
                raise InvalidSetting(f"{name} of the columns is {value!s:.200}; it must be "
                                     f"{wanted}")
        if sum(bool(getattr(self, name)) for name in ORIENTATIONS) > 1:
            raise InvalidSetting(f"more than one of {', '.join(ORIENTATIONS)} is named; one is "
                                 "needed")


def columns_from_file(path: Path) -> Columns:
    """Columns from a YAML file; what it does not name keeps its usual name.

    Raises:
        InvalidSetting: unreadable, an unknown key, or a value that is not allowed.
    """
    tree = read_yaml(path, f"file of columns {path}")
    known = [f.name for f in fields(Columns)]
    unknown = [name for name in tree if name not in known] if isinstance(tree, dict) else [tree]
    if unknown:
        raise InvalidSetting(f"file of columns {path}: '{unknown[0]!s:.100}' is not known; "
                             f"allowed: {', '.join(known)}")
    given: dict[str, Any] = {name: (value,) if name in SIZES and isinstance(value, str) else value
                             for name, value in tree.items()}
    return Columns(**given)


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

    def rows(self, names: Sequence[str], size: int) -> Array:
        """Rows (n, size), from a column of each number, or columns of several (raises
        InvalidData)."""
        for name in names:
            if name not in self.table:
                raise InvalidData(f"{self.what} has no column '{name}' (--columns names them); it "
                                  f"has {self.present}")
            count = len(self.table[name])
            self._rows = self._rows or count
            if count != self._rows:
                raise InvalidData(f"column '{name}' of {self.what} has {count} rows; columns "
                                  f"before it have {self._rows}")
        rows = np.column_stack([self.table[name] for name in names])
        if rows.shape[1] != size:
            raise InvalidData(f"column '{names[0]}' of {self.what} gives {rows.shape[1]} numbers "
                              f"in a row; {size} are needed; name one of them: {names[0]}[0]")
        return rows

    def column(self, name: str) -> Array:
        """A column of single numbers (raises InvalidData)."""
        return self.rows([name], 1)[:, 0]

    def joints(self, named: Mapping[str, str]) -> Array:
        """Columns (n, joints) of what is named for each joint; joints that name one vector are its
        first numbers (raises InvalidData)."""
        names = list(named.values())
        if len(names) > 1 == len(set(names)):
            names = [f"{name}[{k}]" for k, name in enumerate(names)]
        return self.rows(names, len(named))

    def orientation(self) -> Array:
        """Unit quaternions (n, 4) x, y, z, w (raises InvalidData)."""
        kind = next((name for name in ORIENTATIONS if getattr(self.columns, name)), None) or next(
            (name for name, usual in ORIENTATIONS.items() if self.table.keys() & usual), None)
        if kind is None:
            raise InvalidData(f"{self.what} tells no motion: it has no column of an orientation "
                              "('qx' and the like); --columns names its columns, or those of the "
                              "time and of joint positions (joints, with --urdf); it has "
                              f"{self.present}")
        rows = self.rows(getattr(self.columns, kind) or ORIENTATIONS[kind], SIZES[kind])
        self.require_numbers(rows, "orientation")
        if kind == "quaternion":
            length = np.linalg.norm(rows, axis=1)
            k = int(np.argmax(np.abs(length - 1.0)))
            if abs(length[k] - 1.0) > UNIT:
                raise InvalidData(f"the quaternion of row {k + 1} of {self.what} has length "
                                  f"{length[k]:.3g}; it must be 1")
            return rows
        if kind == "rotation":
            turn = Rotation.from_matrix(as_rotations(
                f"the rotation of {self.what}", rows.reshape(-1, 3, 3), len(rows)))
        else:
            turn = (Rotation.from_rotvec(rows) if kind == "rotation_vector"
                    else Rotation.from_euler("xyz", rows))
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
        name = self.columns.time or next((n for n in TIMES if n in self.table), "")
        if not name:
            if not self.columns.rate:
                return None
            count = max(map(len, self.table.values()), default=0)
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
        seconds = SECONDS[self.columns.time_unit] * time
        # Of large numbers, the fraction is kept as far as they hold it.
        stamps = np.round(1e9 * (seconds - seconds[0])).astype(np.int64)
        first = round(1e9 * float(seconds[0]))
        return stamps + first + (START if seconds[0] < EARLIEST else 0)


class PosesAtRest(NamedTuple):
    """Poses in which the sensor was at rest: rotation (n, 3, 3) to the world whose z axis points
    up, the mean wrench (n, 6) [N, N m] of each, and the name of the sensor's frame."""

    rotation: Array
    wrench: Array
    frame: str


def read_motion(path: Path, columns: Columns, settings: Settings, episode: int = 0
                ) -> Recording | PosesAtRest:
    """The motion and load in a table.

    Args:
        episode: of a dataset of several.

    Raises:
        RecordingError, InvalidData, InvalidSetting: it cannot be read as such a table.
    """
    reader = Reader(read_table(path, episode), columns, f"table {path}")
    by_efforts = settings.load.source == "joint_torque"
    by_pose = not columns.joints and not by_efforts
    stamps = reader.stamps()
    if stamps is None:
        if by_pose:
            return _poses_at_rest(reader)
        raise InvalidData(f"table {path} has no column of the time (--columns names it, or a rate "
                          f"of its rows in Hz); it has {reader.present}")
    period = 1e-9 * float(np.median(np.diff(stamps)))
    if period > SLOWEST:
        if by_pose and columns.time_unit == "s" and not _turns_slowly(reader):
            return _poses_at_rest(reader)
        raise InvalidData(f"the rows of table {path} are {period:.4g} s apart, by time_unit "
                          f"'{columns.time_unit}'; no wrench comes so slowly: set time_unit to ms, "
                          "us or ns in the file of --columns")
    samples: dict[str, Samples] = {}
    if columns.joints:
        samples["joint states"] = _joint_states(reader, stamps, settings)
    else:
        samples["poses"] = Edges(stamps, WORLD, columns.frame, _poses(reader))
    if not by_efforts:
        samples["wrench"] = Wrenches(stamps, columns.frame, reader.rows(columns.wrench, 6))
    notes = (f"the rows of the table are {1e3 * period:.3g} ms apart",) if columns.rate else ()
    return Recording(_parts(list(samples.values()), int(stamps[0])),
                     1e-9 * float(stamps[-1] - stamps[0]), dict.fromkeys(samples, len(stamps)),
                     notes=notes)


def _parts(samples: list[Samples], start: int) -> Iterator[Part]:
    for part in split_by_time(samples, TOGETHER):
        yield Part(part, 1e-9 * (max(int(some.stamps[-1]) for some in part) - start))


def _joint_states(reader: Reader, stamps: np.ndarray, settings: Settings) -> JointStates:
    """Joint positions, with efforts where these tell the load (raises InvalidData,
    InvalidSetting)."""
    columns, efforts = reader.columns, None
    if settings.load.source == "joint_torque":
        if set(columns.efforts) != set(columns.joints):
            raise InvalidData(f"{reader.what}: load.robot needs position and torque of each "
                              f"joint; --columns names joints {', '.join(columns.joints)}; efforts "
                              f"{', '.join(columns.efforts) or 'none'}")
        efforts = reader.joints({name: columns.efforts[name] for name in columns.joints})
    elif not settings.robot_description.file:
        raise InvalidSetting(f"{reader.what} holds joint positions: name the robot description "
                             "with --urdf")
    return JointStates(stamps, tuple(columns.joints), reader.joints(columns.joints), efforts)


def _poses(reader: Reader) -> Array:
    """Position [m] and quaternion (n, 7) (raises InvalidData)."""
    columns, quaternion = reader.columns, reader.orientation()
    if not reader.table.keys() & set(columns.position):
        return np.hstack([np.zeros((len(quaternion), 3)), quaternion])
    metres = METRES[columns.position_unit] * reader.rows(columns.position, 3)
    return np.hstack([metres, quaternion])


def _turns_slowly(reader: Reader) -> bool:
    """True where poses follow one another closely: a motion in another unit of time."""
    turn = Rotation.from_quat(reader.orientation())
    return float(np.median((turn[1:] * turn[:-1].inv()).magnitude())) < STEEP


def _poses_at_rest(reader: Reader) -> PosesAtRest:
    """One pose and mean wrench a row (raises InvalidData)."""
    quaternion = reader.orientation()
    wrench = reader.rows(reader.columns.wrench, 6)
    if not FEWEST_POSES <= len(wrench) <= MOST_POSES:
        raise InvalidData(f"{reader.what} has {len(wrench)} rows, taken for poses at rest; "
                          f"{FEWEST_POSES} to {MOST_POSES} can be used: a column of the time makes "
                          "them a motion")
    reader.require_numbers(wrench, "the wrench")
    return PosesAtRest(Rotation.from_quat(quaternion).as_matrix(), wrench, reader.columns.frame)
