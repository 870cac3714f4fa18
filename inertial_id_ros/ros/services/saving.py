# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Files that a node writes: only in one folder, and never in part; and the state in one of them.

Tools and saved estimates have folders of their own in it, so that none replaces another.
Names that services give are plain file names; whatever they lead to, as a symbolic link may, must
lie in the folder too. What changes the state is written before it is used. So a full disk, a folder
that is read-only, or the end of the process leaves the state that was in use before, or the one
that is in use after.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import DamagedFile, InertialIdError, InvalidSetting
from ...findings import FindingLog
from ...identification.make_identifier import AnyIdentifier
from ...identification.state import State, StateFile
from ...io.files import read_report, remove_partial_files, strict_json, user_path, write_atomically
from ...limits import MAX_SAVED_FILES
from ...regression.tool import load_tool
from ...settings import Settings

DEFAULT_NAME = "inertial_parameters.json"
TOOLS, SAVES = "tools", "saves"  # folders in state.directory
STATE_ENDING = ".state.json"  # of the names that the node keeps for itself
_LISTED = 20  # names of files in a message
_LONGEST = 200  # leaves room for the temporary name


class CannotSave(InertialIdError):
    """The file name is not allowed, or the file cannot be written."""


def own_name(node: str, name: str) -> str:
    """The file name that a node gives by itself: behind its namespace, so that nodes of several
    arms that share state.directory do not replace each other's files.

    Args:
        node: name of the node with its namespace.
    """
    return ".".join([*filter(None, node.split("/")[:-1]), name])


def save_json(directory: str, name: str, report: dict[str, Any]) -> Path:
    """Write a report among the saved estimates; returns the file's path.

    Args:
        directory: state.directory; name: plain file name.

    Raises:
        CannotSave: the name is no plain file name, or the system refuses.
    """
    return write_in_folder(directory, SAVES, with_ending(name),
                           lambda path: write_atomically(path, strict_json(report, indent=2)))


def with_ending(name: str) -> str:
    """The name of a JSON file, with that ending once."""
    return name if name.endswith(".json") else f"{name}.json"


def write_in_folder(directory: str, kind: str, name: str, write: Callable[[Path], None]) -> Path:
    """Write a file in a folder, which is made if missing; returns the file's path.

    Args:
        directory: state.directory; kind: `TOOLS` or `SAVES`.
        write: writes the file at a path, whole or not at all (raises OSError).

    Raises:
        CannotSave: the name is no plain file name, the folder is full, or the system refuses.
    """
    folder = user_path(directory).absolute() / kind
    path = folder / check_plain_name(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise CannotSave(f"{path} is a folder")
        if not path.exists() and _count_visible(folder) >= MAX_SAVED_FILES:
            raise CannotSave(f"{folder} holds {MAX_SAVED_FILES} files or more; remove some")
        write(path)
    except OSError as error:
        raise CannotSave(f"cannot write {path}: {error.strerror or error}") from error
    return path


def _count_visible(folder: Path) -> int:
    """How many files a folder holds, without temporary and other hidden ones."""
    return sum(not path.name.startswith(".") for path in folder.iterdir())


def tool_path(directory: str, name: str) -> Path:
    """The path of a tool file, for reading.

    Early versions wrote tools beside the folder of tools: what is there is read, too.

    Raises:
        CannotSave: the name is no plain file name, or the file is not there, or lies elsewhere.
    """
    folder = user_path(directory).absolute()
    return _inside(folder, _find("tool", name, folder / TOOLS, folder))


def saved_path(directory: str, name: str) -> Path:
    """The path of a saved estimate, for reading.

    Raises:
        CannotSave: the name is no plain file name, or the file is not there, or lies elsewhere.
    """
    folder = user_path(directory).absolute()
    return _inside(folder, _find("saved estimate", name, folder / SAVES))


def _find(what: str, name: str, *folders: Path) -> Path:
    """The file of this name, with or without its ending, in the first of the folders that holds it
    (raises CannotSave, with the names that there are)."""
    names = dict.fromkeys((check_plain_name(name), with_ending(name)))
    for path in (folder / n for folder in folders for n in names):
        if os.path.lexists(path):
            return path
    there = sorted(path.name for path in folders[0].glob("*.json"))
    listed = ", ".join(there[:_LISTED]) + (", ..." if len(there) > _LISTED else "")
    raise CannotSave(f"there is no {what} '{name}' in {folders[0]}; "
                     + (f"there are: {listed}" if there else "there is none at all"))


def _inside(folder: Path, path: Path) -> Path:
    """The path, if what it leads to lies in the folder (raises CannotSave)."""
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise CannotSave(f"{path} is a link to a place outside of {folder}")
    return path


def read_saved(directory: str, name: str) -> dict[str, Any]:
    """The report among the saved estimates that has this name.

    Raises:
        CannotSave: the name is no plain file name, or the file lies elsewhere or cannot be read.
    """
    path = saved_path(directory, name)
    try:
        return read_report(path)
    except (DamagedFile, OSError) as error:
        raise CannotSave(f"{path} cannot be used: {error}") from error


def written_folders(directory: str) -> tuple[Path, ...]:
    """The folders in which files are written (raises InvalidSetting)."""
    folder = _state_folder(directory)
    return folder, *(folder / kind for kind in (TOOLS, SAVES))


def state_path(directory: str, node: str) -> Path:
    """Path of the file with a node's state.

    Args:
        directory: state.directory; node: name of the node with its namespace.

    Raises:
        InvalidSetting: the folder is no path.
    """
    return _state_folder(directory) / (node.strip("/").replace("/", ".") + STATE_ENDING)


def require_writable(directory: str) -> None:
    """Raise InvalidSetting where files cannot be written under state.directory; the folder need not
    be there yet."""
    folder = _state_folder(directory)
    there = next(f for f in (folder, *folder.parents) if os.path.lexists(f))
    try:
        tempfile.TemporaryFile(dir=there).close()  # rights alone say little, of /proc for example
    except OSError:
        reason = "cannot be written" if os.path.isdir(there) else "is no folder"
        raise InvalidSetting(f"state.directory is '{directory}', but {there} {reason}; it must be "
                             "a folder in which this process may write, or can make") from None


def _state_folder(directory: str) -> Path:
    """The folder of state.directory (raises InvalidSetting)."""
    if not directory:
        raise InvalidSetting("state.directory is ''; it must name a folder")
    try:
        return user_path(directory).absolute()
    except InvalidSetting as error:
        raise InvalidSetting(f"state.directory is {directory[:100]!r}: {error}") from None


def check_plain_name(name: str) -> str:
    """The name if it is a plain, visible file name (raises CannotSave)."""
    if name.endswith(STATE_ENDING):
        raise CannotSave(f"name is {name!r}; names that end in {STATE_ENDING} are the node's own")
    if (not name or name.startswith(".") or any(c in name for c in "/\\") or not name.isprintable()
            or len(name.encode()) > _LONGEST):
        raise CannotSave(f"name is {name!r}; it must be a plain file name without folder, not "
                         f"beginning with a dot, of at most {_LONGEST} bytes")
    return name


_NOT_KEPT = "file_not_written.state"


class StateKeeper:
    """Reads the state at the start, and writes it whenever it changes.

    Args:
        node: name of the node with its namespace.
        findings: gets what is wrong with the file.

    Raises:
        InvalidSetting: state.directory cannot be used.
    """

    def __init__(self, settings: Settings, node: str, findings: FindingLog) -> None:
        self._settings, self._findings = settings, findings
        self._not_kept = _why_not_kept(settings.state.directory)
        if self._not_kept:
            findings.set(_NOT_KEPT, "warning",
                         f"the state of this run is not kept: {self._not_kept}")
        self._file = StateFile(state_path(settings.state.directory, node))
        self._tare_is_kept = False
        for folder in written_folders(settings.state.directory):
            remove_partial_files(folder)

    def restore(self, identifier: AnyIdentifier) -> None:
        """Go on with the state of an earlier run, and with the tool that the settings name (raises
        InvalidSetting where that cannot be read)."""
        state = State()
        if self._settings.state.restore:
            state, complaint = self._file.load()
            if complaint:
                self._findings.set("state_damaged", "error", complaint)
        if self._settings.tool.file:
            state = State(load_tool(self._settings.tool.file), state.tare)
        identifier.restore(state)
        self._tare_is_kept = identifier.state().tare is not None

    def keep(self, state: State) -> None:
        """Write a state that is about to be used.

        Where the default folder could not be written from the start, nothing is ever kept: then the
        node goes on without.

        Raises:
            CannotSave: it cannot be written; the file holds what it held before.
        """
        if not self._not_kept:
            self._write(state)

    def note(self) -> str:
        """What to add to the answer of a service that changed the state; mostly nothing."""
        return f"; the next run will not know, because {self._not_kept}" if self._not_kept else ""

    def follow(self, identifier: AnyIdentifier) -> None:
        """Drop the tare in the file once the data have contradicted it, or the sensor was zeroed:
        the next run must not begin with it."""
        if not self._tare_is_kept:
            return
        state = identifier.state()
        if state.tare is not None:
            return
        try:
            self._write(state)
        except CannotSave as error:
            self._findings.set(_NOT_KEPT, "warning", f"the tare is dropped, but the next run will "
                               f"begin with it: {error}")

    def _write(self, state: State) -> None:
        """Write a state (raises CannotSave)."""
        try:
            self._file.save(state)
        except OSError as error:
            raise CannotSave(f"cannot write {self._file.path}: "
                             f"{error.strerror or error}") from error
        self._tare_is_kept = state.tare is not None
        if not self._not_kept:
            self._findings.clear(_NOT_KEPT)


def _why_not_kept(directory: str) -> str:
    """Why nothing is kept; empty where it is. Where the default folder cannot be written, the user
    has made no mistake, and the node runs without (raises InvalidSetting for another folder)."""
    try:
        require_writable(directory)
    except InvalidSetting as error:
        if directory != Settings().state.directory:
            raise
        return str(error)
    return ""
