# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The numbers that a table must hold, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...errors import InvalidData
from ...inertia import Array
from ...io.arrays import as_rotations
from .columns import Columns
from .read_table import Table

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
        raise InvalidData(f"{what}: --source joint_torque needs position and torque of each joint; "
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
