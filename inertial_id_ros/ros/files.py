# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Files that a node writes: only in state.directory, and never in part. Tool and tare are used also
where they cannot be kept."""

import os
from dataclasses import replace
from pathlib import Path

from ..errors import InvalidData, InvalidSetting
from ..identify.beliefs import Beliefs
from ..identify.identifier import Identifier
from ..identify.state import load_state, restored, save_state
from ..io.files import user_path
from ..motion.robot import read_description
from ..settings import Settings

TOOLS, SAVES = "tools", "saves"  # folders in state.directory


class Files:
    """Files of a node of a full name (raises InvalidSetting: state.directory cannot be used)."""

    def __init__(self, settings: Settings, node: str) -> None:
        directory, (_, *self._spaces, name) = settings.state.directory, node.split("/")
        self._folder = user_path(directory).absolute()
        self._state = self.own(f"{name}.state.json")
        there = next(f for f in (self._folder, *self._folder.parents) if os.path.lexists(f))
        if not directory or not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise InvalidSetting(f"state.directory is '{directory}'; it must be a folder in which "
                                 "this process may write")

    def own(self, name: str) -> Path:
        """A file of this node alone, also where those of several arms share state.directory."""
        return self._folder / ".".join([*self._spaces, name])

    def path(self, kind: str, name: str) -> Path:
        """That of a file of a kind, named with or without ending (raises InvalidData: no name)."""
        if Path(name).name != name or not name or name.startswith(".") or not name.isprintable():
            raise InvalidData(f"name is {name!r}; it must be a plain file name without folder, not "
                             "beginning with a dot")
        return self._folder / kind / f"{name.removesuffix('.json')}.json"

    def find(self, kind: str, name: str) -> Path:
        """As `path`, of a file that is there (raises InvalidData, naming those that there are)."""
        path = self.path(kind, name)
        there = sorted(path.name for path in path.parent.glob("*.json"))
        if path.name not in there:
            raise InvalidData(f"there is no '{name}' in {path.parent}; there are: "
                             f"{', '.join(there) or 'none'}")
        return path

    def make_identifier(self, settings: Settings) -> tuple[Identifier, str, str]:
        """An identifier with tool and tare of an earlier run; what was wrong with these, and why
        the tare is not used; empty: nothing (raises InertialIdError: a bad setting, or file)."""
        identifier = Identifier(settings)
        kept, wrong = load_state(self._state)
        beliefs, unused = restored(identifier.beliefs, settings, kept)
        identifier.believe(replace(beliefs, tool=identifier.beliefs.tool or beliefs.tool))
        if name := settings.robot_description.file:
            identifier.set_robot_description(read_description(user_path(name)))
        return identifier, wrong, unused

    def keep(self, beliefs: Beliefs) -> str:
        """Write tool and tare; what an answer must add."""
        try:
            save_state(self._state, beliefs)
        except OSError as error:
            return f"; the next run will not know: {self._state}: {error.strerror or error}"
        return ""
