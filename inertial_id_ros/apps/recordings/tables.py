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
from .columns import METRES, SLOWEST, Columns, Reader
from .recording import Part, Recording
from .table_files import read_table

WORLD = "world"  # frame in which the poses of a table are given
TOGETHER = 2000  # samples of a part
FEWEST_POSES, MOST_POSES = 6, 118  # a second of the longest window each
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
        samples["wrench"] = Wrenches(stamps, columns.frame, reader.vectors(columns.wrench, 6))
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
    positions, efforts = reader.joints(reader.columns.joints), None
    if settings.load.source == "joint_torque":
        given = reader.joints(reader.columns.efforts)
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


def _poses(reader: Reader) -> Array:
    """Position [m] and quaternion (n, 7) (raises InvalidData)."""
    columns, quaternion = reader.columns, _orientation(reader)
    if not reader.table.keys() & columns.position:
        return np.hstack([np.zeros((len(quaternion), 3)), quaternion])
    metres = METRES[columns.position_unit] * reader.vectors(columns.position, 3)
    return np.hstack([metres, quaternion])


def _orientation(reader: Reader) -> Array:
    """Quaternions (n, 4) x, y, z, w (raises InvalidData)."""
    quaternion = reader.orientation()
    if quaternion is None:
        raise InvalidData(f"{reader.what} tells no motion: it has no column of an orientation "
                          "('qx' and the like); --columns names its columns, or those of the time "
                          f"and of joint positions (joints, with --urdf); it has {reader.present}")
    return quaternion


def _turns_slowly(reader: Reader) -> bool:
    """True where poses follow one another closely: a motion in another unit of time."""
    turn = Rotation.from_quat(_orientation(reader))
    return float(np.median((turn[1:] * turn[:-1].inv()).magnitude())) < STEEP


def _poses_at_rest(reader: Reader) -> PosesAtRest:
    """One pose and mean wrench a row (raises InvalidData)."""
    quaternion = _orientation(reader)
    wrench = reader.vectors(reader.columns.wrench, 6)
    if not FEWEST_POSES <= len(wrench) <= MOST_POSES:
        raise InvalidData(f"{reader.what} has {len(wrench)} rows, taken for poses at rest; "
                          f"{FEWEST_POSES} to {MOST_POSES} can be used: a column of the time makes "
                          "them a motion")
    reader.require_numbers(wrench, "the wrench")
    return PosesAtRest(Rotation.from_quat(quaternion).as_matrix(), wrench, reader.columns.frame)
