# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Keeps the state of the node in a file, so that the next run goes on with it.

What changes the state is written before it is used. So a full disk, a folder that is read-only, or
the end of the process leaves the state that was in use before, or the one that is in use after.
"""

from __future__ import annotations

from ...errors import InvalidSetting
from ...findings import FindingLog
from ...identification.make_identifier import AnyIdentifier
from ...identification.state import State, StateFile
from ...io.files import remove_partial_files
from ...regression.tool import load_tool
from ...settings import Settings
from .saving import CannotSave, require_writable, state_path, written_folders

_NOT_KEPT = "state_not_kept"


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
