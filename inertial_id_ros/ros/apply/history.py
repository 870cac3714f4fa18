# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What was sent to which target: one line of JSON for each application, for the record and for
undo."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import InertialIdError
from ...io.files import user_path, without_nonfinite
from ...targets.target import Call, call_from_json
from ..services.saving import CannotSave, own_name

FILE = "applications.jsonl"
_LONGEST = 10_000_000  # bytes of a file that is read; it then begins anew
_TAIL = 1_000_000  # bytes in which the last application is looked for


class History:
    """The file of applications of a node in state.directory: an undo must not reach another arm.

    Args:
        directory: state.directory; node: name of the node with its namespace.
    """

    def __init__(self, directory: str, node: str) -> None:
        self.path: Path = user_path(directory).absolute() / own_name(node, FILE)

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add an application (raises CannotSave)."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and self.path.stat().st_size > _LONGEST:
                self.path.replace(self.path.with_suffix(".old.jsonl"))
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(without_nonfinite(dict(entry)), allow_nan=False) + "\n")
                file.flush()
        except OSError as error:
            raise CannotSave(f"cannot write {self.path}: {error.strerror or error}") from error

    def last(self, target: str) -> dict[str, Any] | None:
        """The last application to a target that changed something, and was not undone since; None:
        there is none. An undo that failed leaves it to be undone again."""
        newest = next((entry for entry in self._changes(target)
                       if not (is_undo(entry) and entry.get("failure"))), None)
        return None if newest is None or is_undo(newest) else newest

    def newest(self, target: str) -> dict[str, Any] | None:
        """The last application to a target that changed something, or the last undo of one."""
        return next(self._changes(target), None)

    def _changes(self, target: str) -> Iterator[dict[str, Any]]:
        """Applications to a target that changed something, and undos of them, newest first."""
        return (entry for entry in reversed(self._entries())
                if entry.get("target") == target and entry.get("sent"))

    def _entries(self) -> list[dict[str, Any]]:
        """The newest entries; a line that was written in part is left out."""
        try:
            with self.path.open("rb") as file:
                file.seek(0, 2)
                file.seek(max(0, file.tell() - _TAIL))
                lines = file.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return []
        entries = []
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                entries.append(entry)
        return entries


def is_undo(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is about giving back what was there before."""
    evidence = entry.get("evidence")
    return isinstance(evidence, Mapping) and "undo_of" in evidence


class NothingToUndo(InertialIdError):
    """There is no application to undo, or it is not known what was there before."""


def undo_calls(entry: Mapping[str, Any] | None, target: str) -> tuple[Call, ...]:
    """The calls that give back what a target had before an application (raises NothingToUndo)."""
    if entry is None:
        raise NothingToUndo(f"nothing was applied to '{target}' that was not undone already; "
                            "nothing is sent")
    if not entry.get("undo"):
        raise NothingToUndo(f"'{target}' did not tell what it had before the application of "
                            f"{entry.get('time', 'then')}; nothing is sent: set it by hand")
    try:
        return tuple(call_from_json(call) for call in entry["undo"])
    except (KeyError, TypeError, ValueError) as error:
        raise NothingToUndo(f"the record of the last application to '{target}' is damaged; "
                            "nothing is sent") from error
