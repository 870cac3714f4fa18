# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Reports of saved estimates, made from their black boxes in another process."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from ...errors import InertialIdError, InvalidData
from ...findings import FindingLog
from ...io.child_process import Bounds, ChildProcess
from ...io.files import write_atomically
from .saving import SAVES, write_in_folder

ENDING = ".html"  # behind the name of the saved estimate
_MAKE = "inertial_id_ros.apps.bag.black_box.page:page_of_black_box"
_BOUNDS = Bounds(processor=120, clock=300.0, memory=2_000_000_000)


class SavedReports:
    """Makes the reports of a node, one after the other.

    Args:
        directory: state.directory; findings: gets what prevented a report.
    """

    def __init__(self, directory: str, findings: FindingLog) -> None:
        self._directory, self._findings = directory, findings
        self._child = ChildProcess(_BOUNDS)

    def write(self, written: Future[Path], name: str) -> None:
        """Write the report of a black box under this name; in the thread that has written it."""
        if written.exception() is not None:
            return  # that is a finding already
        try:
            page = self._child.run(_MAKE, str(written.result()).encode(), "the report", InvalidData)
            write_in_folder(self._directory, SAVES, name,
                            lambda path: write_atomically(path, page.decode()))
        except InertialIdError as error:
            self._findings.set("file_not_written.report", "warning",
                                    f"there is no report of the saved estimate: {error}")
        else:
            self._findings.clear("file_not_written.report")

    def stop(self) -> None:
        """End the other process, and start none."""
        self._child.stop()
