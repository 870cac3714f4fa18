# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What was sent to which target: one line of JSON for each application, for the record and for
undo."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import InertialIdError
from ...io.files import without_nonfinite
from ..files import CannotSave, own_name, state_folder

FILE = "applications.jsonl"
LONGEST = 10_000_000  # bytes of a file, which then begins anew
TAIL = 1_000_000  # bytes in which the last application is looked for


class NothingToUndo(InertialIdError):
    """There is no application to undo, or it is not known what was there before."""


class History:
    """The file of applications of a node in state.directory: an undo must not reach another arm.

    Args:
        directory: state.directory; node: name of the node with its namespace.
    """

    def __init__(self, directory: str, node: str) -> None:
        self.path: Path = state_folder(directory) / own_name(node, FILE)

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add an application (raises CannotSave)."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and self.path.stat().st_size > LONGEST:
                self.path.replace(self.path.with_suffix(".old.jsonl"))
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(without_nonfinite(dict(entry)), allow_nan=False) + "\n")
        except (OSError, TypeError, ValueError) as error:
            raise CannotSave(f"cannot write {self.path}: "
                             f"{getattr(error, 'strerror', None) or error}") from error

    def last(self, target: str) -> dict[str, Any] | None:
        """The last application to a target that changed something, and was not undone since; None:
        there is none. An undo that failed leaves it to be undone again."""
        entries = [entry for entry in self._entries()
                   if entry.get("target") == target and entry.get("sent")
                   and not (entry.get("undo_of") and entry.get("failure"))]
        return None if not entries or entries[-1].get("undo_of") else entries[-1]

    def before(self, target: str) -> tuple[dict[str, Any], str]:
        """What a target had before the last application, and the time of that (raises
        NothingToUndo)."""
        entry = self.last(target)
        if entry is None:
            raise NothingToUndo(f"nothing was applied to '{target}' that was not undone already; "
                                "nothing is sent")
        before, time = entry.get("before"), str(entry.get("time", "then"))
        if not isinstance(before, dict):
            raise NothingToUndo(f"'{target}' did not tell what it had before the application of "
                                f"{time}; nothing is sent: set it by hand")
        return before, time

    def _entries(self) -> list[dict[str, Any]]:
        """The newest entries; a line that was written in part is left out."""
        try:
            with self.path.open("rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - TAIL))
                lines = file.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return []
        return [entry for line in lines if isinstance(entry := _parsed(line), dict)]


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
