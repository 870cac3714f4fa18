# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recorded motions: bags and tables, read without ROS."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from ...io.files import user_path
from ...settings import Settings
from .bags import BagReader, read_bag
from .recording import Recording, StatedPayload
from .table_files import is_dataset, is_table
from .tables import Columns, PosesAtRest, columns_from_file, read_motion

__all__ = ["BagReader", "Columns", "PosesAtRest", "Recording", "StatedPayload",
           "columns_from_file", "is_dataset", "is_table", "open_recording"]


@contextmanager
def open_recording(path: Path, settings: Settings, columns: Columns | None = None, episode: int = 0,
                   asked: Collection[str] = (), recorded_stamps: bool = False
                   ) -> Iterator[Recording | PosesAtRest]:
    """A bag or a table as recording, or the poses at rest of a table.

    Args:
        columns, episode: of a table.
        asked: names of the settings that the user gave for this very recording.
        recorded_stamps: use the times of recording in place of the header stamps.

    Raises:
        InertialIdError: it cannot be read, or lacks something.
    """
    path = user_path(path)
    if is_table(path):
        yield read_motion(path, columns or Columns(), settings, episode)
        return
    with BagReader(path) as bag:
        yield read_bag(bag, settings, asked, recorded_stamps)
