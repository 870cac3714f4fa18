# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is to be read, whatever kind of recording it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ...io.files import user_path
from ...settings import Settings
from .bag_reader import BagReader
from .bags import read_bag
from .columns import Columns
from .recording import Recording
from .table_files import is_table
from .tables import PosesAtRest, read_motion


@dataclass(frozen=True)
class Source:
    """What is to be read.

    Attributes:
        path: of a bag or a table; columns, episode: of a table.
        recorded_stamps: use the times of recording in place of the header stamps.
        whole: make buffer.window as long as the recording.
        asked: names of the settings that the user gave for this very recording.
    """

    path: Path
    columns: Columns = field(default_factory=Columns)
    episode: int = 0
    recorded_stamps: bool = False
    whole: bool = False
    asked: Collection[str] = ()


@contextmanager
def opened(source: Source, settings: Settings) -> Iterator[Recording | PosesAtRest]:
    """The recording, or the poses at rest of a table (raises InertialIdError)."""
    path = user_path(source.path)
    if is_table(path):
        yield read_motion(path, source.columns, settings, source.episode)
        return
    with BagReader(path) as bag:
        yield read_bag(bag, settings, source.asked, source.recorded_stamps)
