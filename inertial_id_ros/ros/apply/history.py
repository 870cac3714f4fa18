# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The applications of a node, for the record and for undo: one line of JSON each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...errors import InertialIdError
from ...io.files import without_nonfinite
from ..files import CannotSave, own_name, state_folder

FILE = "applications.jsonl"


class NothingToUndo(InertialIdError):
    """There is no application to undo, or it is not known what was there before."""


class History:
    """The file of applications of a node in state.directory: an undo must not reach another arm.

    Args:
        directory: state.directory; node: name of the node with its namespace.
    """

    def __init__(self, directory: str, node: str) -> None:
        self.path = state_folder(directory) / own_name(node, FILE)

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add an application (raises CannotSave)."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(without_nonfinite(dict(entry))) + "\n")
        except OSError as error:
            raise CannotSave(f"cannot write {self.path}: {error.strerror}") from error

    def last(self, target: str) -> dict[str, Any] | None:
        """The last application to a target that changed something, and was not undone since; None:
        there is none. An undo that failed leaves it to be undone again."""
        try:
            lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return None
        for line in reversed(lines):
            try:
                entry = json.loads(line)
            except ValueError:  # written in part
                continue
            if entry.get("target") == target and entry.get("sent"):
                if not entry.get("undo_of"):
                    return dict(entry)
                if not entry.get("failure"):
                    return None
        return None

    def before(self, target: str) -> tuple[dict[str, Any], str]:
        """What a target had before the last application, and the time of that (raises
        NothingToUndo)."""
        entry = self.last(target)
        if entry is None:
            raise NothingToUndo(f"nothing was applied to '{target}' that was not undone already; "
                                "nothing is sent")
        if entry["before"] is None:
            raise NothingToUndo(f"'{target}' did not tell what it had before the application of "
                                f"{entry['time']}; nothing is sent: set it by hand")
        return entry["before"], entry["time"]
