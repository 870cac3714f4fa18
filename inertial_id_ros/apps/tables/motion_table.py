# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which columns of a table hold time, wrench and motion; their numbers, checked; and the table as a
recording, so that it takes the same road as one.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidData, InvalidSetting, RecordingError
from ...extras import optional_packages
from ...inertia import Array
from ...io.arrays import as_rotations
from ...settings import Settings
from .read_table import SUFFIXES, Table, is_dataset, read_episode, read_table

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


_START = 1_700_000_000 * 10**9  # ns: added to stamps near zero, which mean "no stamp" in ROS
_EARLIEST = 1e6  # s
_SLOWEST = 0.5  # s between rows; with more, the times are in another unit
_UNIT = 0.05  # by which the length of a quaternion may miss one


class MotionTable(NamedTuple):
    """Load and motion over stamps (n,) [ns].

    Attributes:
        wrench: (n, 6); None where the efforts tell the load.
        position, quaternion: of the sensor in the world, (n, 3) [m] and (n, 4) x, y, z, w; None
            where there are joints. A position that is not known stays at zero.
        joints, efforts: positions and torques of joints, (n,) each [rad, N m], by name.
    """

    stamps: np.ndarray
    wrench: Array | None
    position: Array | None
    quaternion: Array | None
    joints: dict[str, Array]
    efforts: dict[str, Array]


def motion_table(table: Table, columns: Columns, by_efforts: bool, what: str) -> MotionTable:
    """The motion in a table, and the load in it.

    Args:
        by_efforts: whether joint torques tell the load, not a wrench.

    Raises:
        InvalidData: a column is missing or holds what it must not; the text names it.
    """
    stamps = _stamps(_column(table, columns.time_column(list(table)), what), columns, what)
    joints, efforts = ({joint: _column(table, name, what) for joint, name in named.items()}
                       for named in (columns.joints, columns.efforts if by_efforts else {}))
    if by_efforts:
        _require_efforts(joints, efforts, what)
        return MotionTable(stamps, None, None, None, joints, efforts)
    wrench = _vectors(table, columns.wrench, 6, what)
    if joints:
        return MotionTable(stamps, wrench, None, None, joints, {})
    position: Array = np.zeros((len(stamps), 3))
    if any(name in table for name in columns.position):
        position = columns.metres * _vectors(table, columns.position, 3, what)
    elif not any(name in table for name in (*columns.quaternion, *columns.rotation)):
        raise InvalidData(f"{what} tells no motion: it has no column '{columns.position[0]}' of a "
                          f"position and none '{(columns.rotation or columns.quaternion)[0]}' of "
                          "an orientation; --columns names its columns, or those of joint "
                          f"positions (joints, with --urdf); it has {_present(table)}")
    return MotionTable(stamps, wrench, position, _quaternions(table, columns, what), {}, {})


def _require_efforts(joints: dict[str, Array], efforts: dict[str, Array], what: str) -> None:
    """Refuse joints without effort, and efforts without position (raises InvalidData)."""
    if not efforts or set(efforts) != set(joints):
        named = [", ".join(sorted(names)) or "none" for names in (joints, efforts)]
        raise InvalidData(f"{what}: --robot needs position and torque of each joint; "
                          f"--columns names joints: {named[0]}; efforts: {named[1]}")


def _present(table: Table) -> str:
    """The names of the columns that are there."""
    return f"{', '.join(sorted(table)) or 'none':.400}"


def _column(table: Table, name: str, what: str) -> Array:
    """A column of single numbers."""
    if name not in table:
        raise InvalidData(f"{what} has no column '{name}' (--columns names them); it has "
                          f"{_present(table)}")
    column = np.asarray(table[name], dtype=float)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise InvalidData(f"column '{name}' of {what} holds {column.shape[1:]} numbers in a row; "
                          "one is needed")
    return column


def _vectors(table: Table, names: Sequence[str], size: int, what: str) -> Array:
    """Rows of vectors, from a column of each number or one of all."""
    if len(names) == 1 and names[0] in table and np.ndim(table[names[0]]) == 2:
        rows = np.asarray(table[names[0]], dtype=float)
        if rows.shape[1] != size:
            raise InvalidData(f"column '{names[0]}' of {what} holds {rows.shape[1]} numbers in a "
                              f"row; {size} are needed")
        return rows
    rows = np.stack([_column(table, name, what) for name in names], axis=1)
    if rows.shape[1] != size:
        raise InvalidData(f"column '{names[0]}' of {what} holds one number in a row; {size} are "
                          "needed")
    return rows


def _stamps(time: Array, columns: Columns, what: str) -> np.ndarray:
    """Stamps [ns], increasing."""
    name = columns.time or "time"
    if len(time) < 2:
        raise InvalidData(f"{what} has {len(time)} rows; it needs at least two")
    if not np.isfinite(time).all():
        raise InvalidData(f"the {name} of row {int(np.argmin(np.isfinite(time))) + 1} of {what} is "
                          "not a number")
    seconds = columns.seconds * time
    back = np.flatnonzero(np.diff(seconds) < 0.0)
    if len(back):
        before, now = time[back[0]:back[0] + 2].tolist()
        raise InvalidData(f"the {name} of row {back[0] + 2} of {what} is {now}, below {before} "
                          "before it; time must not go back")
    typical = float(np.median(np.diff(seconds)))
    if typical > _SLOWEST and columns.time_unit == "s":
        raise InvalidData(f"the {name} of {what} grows by {typical:.4g} from row to row, which "
                          "time_unit takes for seconds; no wrench comes so slowly: set time_unit "
                          "to ms, us or ns in the file of --columns")
    stamps = np.round(1e9 * seconds).astype(np.int64)
    return stamps + _START if seconds[0] < _EARLIEST else stamps


def _quaternions(table: Table, columns: Columns, what: str) -> Array:
    """Unit quaternions x, y, z, w."""
    if columns.rotation:
        from scipy.spatial.transform import Rotation  # slow to load

        rows = _vectors(table, columns.rotation, 9, what)
        matrices = as_rotations(f"the rotation of {what}", rows.reshape(-1, 3, 3), len(rows))
        return Rotation.from_matrix(matrices).as_quat()
    rows = _vectors(table, columns.quaternion, 4, what)
    wrong = np.abs(np.linalg.norm(rows, axis=1) - 1.0) > _UNIT
    if wrong.any():
        k = int(np.argmax(wrong))
        raise InvalidData(f"the quaternion of row {k + 1} of {what} has length "
                          f"{np.linalg.norm(rows[k]):.3g}; it must be 1")
    return rows


_WORLD = "world"  # frame in which the poses of a table are given


def is_table(path: Path) -> bool:
    """Whether a path is a table, not a recording."""
    return path.suffix in SUFFIXES or is_dataset(path)


@contextmanager
def as_recording(path: Path, columns: Columns, settings: Settings, episode: int = 0
                 ) -> Iterator[Path]:
    """The recording of a table, which is removed at the end; a recording stays as it is.

    Args:
        columns: of the table; settings: name the topics; episode: of a dataset of several.

    Raises:
        RecordingError, InvalidData, InvalidSetting: it cannot be read as such a table.
    """
    if not is_table(path):
        yield path
        return
    table = read_episode(path, episode) if is_dataset(path) else read_table(path)
    motion = motion_table(table, columns, settings.load.source == "joint_torque",
                          f"table {path}")
    if motion.joints and not settings.robot_description.file:
        raise InvalidSetting(f"table {path} holds joint positions: name the robot description "
                             "with --urdf")
    folder = Path(tempfile.mkdtemp(prefix="inertial_id_ros_"))
    try:
        _write(folder / path.stem, motion, columns, settings)
        yield folder / path.stem
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(path: Path, motion: MotionTable, columns: Columns, settings: Settings) -> None:
    """Write a table as a bag of wrenches and transforms, or wrenches and joint states."""
    with optional_packages("reading a table"):
        from rosbags.rosbag2 import StoragePlugin, Writer
    from ...io.bag_writing import JOINTS, TRANSFORMS, WRENCH, MessageWriter

    names, frame = list(motion.joints), columns.frame
    joints, efforts = (np.stack(list(held.values()), axis=1) if held else
                       np.empty((len(motion.stamps), 0))
                       for held in (motion.joints, {n: motion.efforts[n] for n in names
                                                    if motion.efforts}))
    try:
        with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            bag = MessageWriter(writer)
            moves = (bag.add_topic(settings.joint_states.topic, JOINTS) if names else
                     bag.add_topic(settings.tf.topic, TRANSFORMS))
            load = (None if motion.wrench is None else
                    bag.add_topic(settings.wrench.topic, WRENCH))
            for k, stamp in enumerate(motion.stamps.tolist()):
                if motion.position is not None and motion.quaternion is not None:
                    message = bag.transforms([bag.transform(
                        stamp, _WORLD, frame, motion.position[k], motion.quaternion[k])])
                else:
                    message = bag.joints(stamp, names, joints[k], np.empty(0), efforts[k])
                bag.write(moves, stamp, message)
                if load is not None and motion.wrench is not None:
                    bag.write(load, stamp, bag.wrench(stamp, frame, motion.wrench[k]))
    except OSError as error:
        raise RecordingError(f"no room for the recording of a table: {error}") from error
