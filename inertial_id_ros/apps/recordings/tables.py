# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tables of motion and load as recordings, or as poses at rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import InvalidData, InvalidSetting
from ...inertia import Array
from ...io.sample_blocks import Edges, JointStates, Samples, Wrenches, split_by_time
from ...settings import Settings
from .columns import SLOWEST, Columns, Reader
from .recording import Part, Recording
from .table_files import read_table

WORLD = "world"  # frame in which the poses of a table are given
TOGETHER = 2000  # samples of a part
FEWEST_POSES = 6
STEEP = 0.05  # rad between poses that differ


@dataclass(frozen=True)
class PosesAtRest:
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
    stamps = reader.stamps()
    if stamps is None and not columns.joints and not by_efforts:
        return _poses_at_rest(reader)
    if stamps is None:
        raise InvalidData(f"table {path} has no column of the time (--columns names it, or a rate "
                          f"of its rows in Hz); it has {reader.present}")
    period = 1e-9 * float(np.median(np.diff(stamps)))
    if period > SLOWEST:
        if not columns.joints and not by_efforts and columns.time_unit == "s" and not _turns_slowly(
                reader):
            return _poses_at_rest(reader)
        raise InvalidData(f"the rows of table {path} are {period:.4g} s apart, by time_unit "
                          f"'{columns.time_unit}'; no wrench comes so slowly: set time_unit to ms, "
                          "us or ns in the file of --columns")
    samples = [_motion(reader, stamps, settings), *_load(reader, stamps, by_efforts)]
    kinds = {Wrenches: "wrench", JointStates: "joint states", Edges: "poses"}
    return Recording(_parts(samples, int(stamps[0])), 1e-9 * float(stamps[-1] - stamps[0]),
                     {kinds[type(some)]: len(stamps) for some in samples},
                     notes=_notes(reader, period))


def _notes(reader: Reader, period: float) -> tuple[str, ...]:
    return (f"the rows of the table are {1e3 * period:.3g} ms apart",) if reader.columns.rate else (
        ())


def _parts(samples: list[Samples], start: int) -> Iterator[Part]:
    for part in split_by_time(samples, TOGETHER):
        yield Part(part, 1e-9 * (max(int(some.stamps[-1]) for some in part) - start))


def _motion(reader: Reader, stamps: np.ndarray, settings: Settings) -> Samples:
    """Joint positions, with efforts where these tell the load, or poses (raises InvalidData)."""
    columns = reader.columns
    if columns.joints:
        positions, efforts = reader.joints(columns.joints), None
        if settings.load.source == "joint_torque":
            given = reader.joints(columns.efforts)
            if set(given) != set(positions):
                raise InvalidData(f"{reader.what}: load.robot needs position and torque of each "
                                  f"joint; --columns names joints {', '.join(positions)}; efforts "
                                  f"{', '.join(given) or 'none'}")
            efforts = np.stack([given[name] for name in positions], axis=1)
        elif not settings.robot_description.file:
            raise InvalidSetting(f"{reader.what} holds joint positions: name the robot description "
                                 "with --urdf")
        return JointStates(stamps, tuple(positions), np.stack(list(positions.values()), axis=1),
                           efforts)
    poses = np.zeros((len(stamps), 7))
    quaternion = reader.orientation()
    if reader.has_any(columns.position):
        poses[:, :3] = _metres(columns) * reader.vectors(columns.position, 3)
    if quaternion is None:
        raise InvalidData(f"{reader.what} tells no motion: it has no column '{columns.position[0]}'"
                          " of a position and none of an orientation ('qx' and the like); "
                          "--columns names its columns, or those of joint positions (joints, with "
                          f"--urdf); it has {reader.present}")
    poses[:, 3:] = quaternion
    return Edges(stamps, WORLD, columns.frame, poses)


def _metres(columns: Columns) -> float:
    return 1e-3 if columns.position_unit == "mm" else 1.0


def _load(reader: Reader, stamps: np.ndarray, by_efforts: bool) -> list[Samples]:
    columns = reader.columns
    return [] if by_efforts else [
        Wrenches(stamps, columns.frame, reader.vectors(columns.wrench, 6))]


def _turns_slowly(reader: Reader) -> bool:
    """True where poses follow one another closely: a motion in another unit of time."""
    quaternion = reader.orientation()
    if quaternion is None:
        return True
    steps = (Rotation.from_quat(quaternion[1:]) * Rotation.from_quat(quaternion[:-1]).inv())
    return float(np.median(steps.magnitude())) < STEEP


def _poses_at_rest(reader: Reader) -> PosesAtRest:
    """One pose and mean wrench a row (raises InvalidData)."""
    quaternion = reader.orientation()
    if quaternion is None:
        raise InvalidData(f"{reader.what} has neither a column of the time nor of an orientation "
                          f"(--columns names them); it has {reader.present}")
    wrench = reader.vectors(reader.columns.wrench, 6)
    if len(wrench) < FEWEST_POSES:
        raise InvalidData(f"{reader.what} has {len(wrench)} rows, taken for poses at rest; at "
                          f"least {FEWEST_POSES} are needed")
    if not np.isfinite(wrench).all():
        k = int(np.argmin(np.isfinite(wrench).all(axis=1)))
        raise InvalidData(f"the wrench of row {k + 1} of {reader.what} is not a number")
    return PosesAtRest(Rotation.from_quat(quaternion).as_matrix(), wrench, reader.columns.frame)
