# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Reading a robot description from a file."""

from __future__ import annotations

from pathlib import Path

from ..errors import DamagedFile, InvalidModel, InvalidSetting
from ..limits import MAX_URDF_BYTES
from .files import read_text


def read_description(path: Path) -> str:
    """The text of a URDF file.

    Raises:
        InvalidSetting: no such file, or not readable.
        InvalidModel: not text, or too large.
    """
    try:
        return read_text(path, MAX_URDF_BYTES)
    except OSError as error:
        raise InvalidSetting(f"robot description file {path} cannot be read: "
                             f"{error.strerror}") from error
    except DamagedFile as error:
        raise InvalidModel(f"robot description file {path} cannot be used: {error}") from error
