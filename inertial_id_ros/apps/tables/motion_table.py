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
    """Stamps (n,) [ns]; wrench (n, 6); either the pose of the sensor in the world, position (n, 3)
    [m] and quaternion (n, 4) x, y, z, w, or joint positions (n, k) [rad] by name."""

    stamps: np.ndarray
    wrench: Array
    position: Array | None
    quaternion: Array | None
    joints: dict[str, Array]


def motion_table(table: Table, columns: Columns, what: str) -> MotionTable:
    """The motion and wrench in a table.

    Raises:
        InvalidData: a column is missing or holds what it must not; the text names it.
    """
    stamps = _stamps(_column(table, columns.time_column(list(table)), what), columns, what)
    wrench = _vectors(table, columns.wrench, 6, what)
    if columns.joints:
        joints = {joint: _column(table, name, what) for joint, name in columns.joints.items()}
        return MotionTable(stamps, wrench, None, None, joints)
    if not any(name in table for name in columns.position):
        raise InvalidData(f"{what} has no column '{columns.position[0]}' of a position; --columns "
                          "names its columns, or those of joint positions (joints, with --urdf); "
                          f"it has {_present(table)}")
    position = columns.metres * _vectors(table, columns.position, 3, what)
    return MotionTable(stamps, wrench, position, _quaternions(table, columns, what), {})


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
