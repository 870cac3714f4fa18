# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Files that a node writes: only in state.directory, and never in part; tool and tare among them.

Tools and saved estimates have folders of their own in it, so that none replaces another. Names that
services give are plain file names. What changes the state is written before it is used, so that a
full disk leaves the state that was in use before.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import DamagedFile, InertialIdError, InvalidSetting
from ..identify.beliefs import Beliefs
from ..identify.state import load_state, save_state
from ..io.files import read_report, user_path
from ..settings import Settings

TOOLS, SAVES = "tools", "saves"  # folders in state.directory
STATE_ENDING = ".state.json"  # of the names that the node keeps for itself
LISTED = 20  # names of files in a message
LONGEST = 200  # bytes of a name


class CannotSave(InertialIdError):
    """The file name is not allowed, or the file cannot be written."""


def own_name(node: str, name: str) -> str:
    """The file name that a node gives by itself: behind its namespace, so that nodes of several
    arms that share state.directory do not replace each other's files."""
    return ".".join([*filter(None, node.split("/")[:-1]), name])


def with_ending(name: str) -> str:
    """The name of a JSON file, with that ending once."""
    return name if name.endswith(".json") else f"{name}.json"


def check_plain_name(name: str) -> str:
    """The name if it is a plain, visible file name (raises CannotSave)."""
    if name.endswith(STATE_ENDING):
        raise CannotSave(f"name is {name!r}; names that end in {STATE_ENDING} are the node's own")
    if (not name or name.startswith(".") or any(c in name for c in "/\\") or not name.isprintable()
            or len(name.encode()) > LONGEST):
        raise CannotSave(f"name is {name!r}; it must be a plain file name without folder, not "
                         f"beginning with a dot, of at most {LONGEST} bytes")
    return name


def write_in_folder(directory: str, kind: str, name: str, write: Callable[[Path], None]) -> Path:
    """Write a file in a folder of state.directory, which is made if missing; returns its path.

    Args:
        kind: `TOOLS` or `SAVES`; write: writes the file at a path, whole or not at all.

    Raises:
        CannotSave: the name is no plain file name, or the system refuses.
    """
    path = state_folder(directory) / kind / check_plain_name(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
    except OSError as error:
        raise CannotSave(f"cannot write {path}: {error.strerror or error}") from error
    return path


def find(directory: str, kind: str, name: str) -> Path:
    """The file of this name in a folder of state.directory, with or without its ending.

    Raises:
        CannotSave: the name is no plain file name, or there is no such file; names those that there
            are.
    """
    folder = state_folder(directory) / kind
    path = folder / with_ending(check_plain_name(name))
    if path.is_file():
        return path
    there = sorted(path.name for path in folder.glob("*.json"))[:LISTED]
    raise CannotSave(f"there is no '{name}' in {folder}; there are: {', '.join(there) or 'none'}")


def read_saved(directory: str, name: str) -> dict[str, Any]:
    """The report among the saved estimates that has this name (raises CannotSave)."""
    path = find(directory, SAVES, name)
    try:
        return read_report(path)
    except (DamagedFile, OSError) as error:
        raise CannotSave(f"{path} cannot be used: {error}") from error


def state_folder(directory: str) -> Path:
    """The folder of state.directory (raises InvalidSetting)."""
    if not directory:
        raise InvalidSetting("state.directory is ''; it must name a folder")
    return user_path(directory).absolute()


def why_not_writable(directory: str) -> str:
    """Why files cannot be written under state.directory, which need not be there yet; empty where
    they can (raises InvalidSetting)."""
    folder = state_folder(directory)
    there = next(f for f in (folder, *folder.parents) if os.path.lexists(f))
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return ""
    reason = "cannot be written" if there.is_dir() else "is no folder"
    return (f"state.directory is '{directory}', but {there} {reason}; it must be a folder in which "
            "this process may write, or can make")


class StateKeeper:
    """Reads tool and tare at the start, and writes them whenever they change.

    Args:
        node: name of the node with its namespace.

    Attributes:
        why_not: why nothing is kept, where the default folder cannot be written; else empty.

    Raises:
        InvalidSetting: state.directory cannot be used.
    """

    def __init__(self, settings: Settings, node: str) -> None:
        directory = settings.state.directory
        self.why_not = why_not_writable(directory)
        if self.why_not and directory != Settings().state.directory:
            raise InvalidSetting(self.why_not)
        self._restore = settings.state.restore
        self._path = (state_folder(directory)
                      / (node.strip("/").replace("/", ".") + STATE_ENDING))

    def load(self) -> tuple[Beliefs, str]:
        """What an earlier run kept, and what was wrong with it, if anything."""
        return load_state(self._path) if self._restore else (Beliefs(), "")

    def keep(self, beliefs: Beliefs) -> None:
        """Write tool and tare that are about to be used (raises CannotSave; the file holds what it
        held before)."""
        if self.why_not:
            return
        try:
            save_state(self._path, beliefs)
        except OSError as error:
            raise CannotSave(f"cannot write {self._path}: "
                             f"{error.strerror or error}") from error

    def note(self) -> str:
        """What to add to the answer of a service that changed the state; mostly nothing."""
        return f"; the next run will not know, because {self.why_not}" if self.why_not else ""
