# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The HTML report of a black box, made by a process of its own."""

from __future__ import annotations

import shlex
from pathlib import Path

from ....errors import RecordingError
from ....settings import Settings
from ...report.html import ReportOrigin
from ...report.payload_page import payload_page
from ..offline import identify_recording
from .files import read_black_box


def page_of_black_box(path: bytes) -> bytes:
    """The report of the black box in a folder, as `identify_bag --report` writes it.

    Raises:
        RecordingError: the folder is no black box, or is damaged.
        InertialIdError: what `identify_recording` raises.
    """
    folder = Path(path.decode())
    box = read_black_box(folder)
    if box is None:
        raise RecordingError(f"{folder} is no black box")
    settings = Settings().replace(dict(box.settings))
    result = identify_recording(folder, settings, keep_trace=True, box=box)
    command = shlex.join(["identify_bag", str(folder), "--report", "."])
    return payload_page(result, settings, ReportOrigin(folder.name, str(folder), command)).encode()
