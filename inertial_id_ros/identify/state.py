# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is kept from run to run: tool and tare. An estimate is saved for export and report alone.

A restored tool is used unchanged. A restored tare counts less, since a sensor drifts and may have
been zeroed between the runs; it is used only in the frame and under the conditions in which it was
measured.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import DamagedFile
from ..estimate import Estimate
from ..io import fields
from ..io.files import Content, format_document, read_document, strict_json, write_atomically
from ..model.tool import Tool, tool_from_content
from ..settings import Settings
from .beliefs import Beliefs, Tare

FORMAT, VERSION = "inertial_id_ros state", 3
DAMAGED = ".damaged"  # appended to the name of a file that is set aside


@dataclass(frozen=True)
class State:
    """Tool and tare of a run; None for those that it did not have."""

    tool: Tool | None = None
    tare: Tare | None = None


def state_of(beliefs: Beliefs) -> State:
    """What of these beliefs outlives a run."""
    return State(beliefs.tool, beliefs.tare)


def restored(beliefs: Beliefs, settings: Settings, state: State) -> tuple[Beliefs, str]:
    """Beliefs with what an earlier run kept, and what of it was not used; empty: all was."""
    changes = "" if state.tare is None else state.tare.describe_changes(settings)
    return replace(beliefs, tool=state.tool, tare=None if changes else state.tare), changes


def save_estimate(path: Path, estimate: Estimate) -> None:
    """Write an estimate for export and report (raises OSError)."""
    write_atomically(path, strict_json(estimate.to_json(), 1))


class StateFile:
    """The file that keeps the state of one node."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def save(self, state: State) -> None:
        """Write the state, whole or not at all (raises OSError)."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, format_document(FORMAT, VERSION, _to_content(state)))

    def load(self) -> tuple[State, str]:
        """The state, empty where there is none, and a sentence about what was wrong, if anything.

        A file that cannot be used is set aside under another name, never used in part.
        """
        try:
            return _from_content(read_document(self.path, FORMAT, VERSION)), ""
        except FileNotFoundError:
            return State(), ""
        except OSError as error:
            return State(), f"state file {self.path} cannot be read: {error.strerror}"
        except DamagedFile as error:
            aside = self.path.with_name(self.path.name + DAMAGED)
            try:
                os.replace(self.path, aside)
            except OSError as other:
                return State(), (f"state file {self.path} is not used: {error}; it could not be "
                                 f"set aside ({other.strerror})")
            return State(), (f"state file {self.path} is not used: {error}; it was set aside as "
                             f"{aside.name}")


def _to_content(state: State) -> Content:
    tare = state.tare
    return {"tool": None if state.tool is None else state.tool.content(),
            "tare": None if tare is None else {
                "reading": tare.reading.tolist(), "stamp_ns": tare.stamp_ns,
                "frame_id": tare.frame_id, "conditions": dict(tare.conditions)}}


def _from_content(content: Mapping[str, Any]) -> State:
    tool, tare = content.get("tool"), content.get("tare")
    if not all(part is None or isinstance(part, dict) for part in (tool, tare)):
        raise DamagedFile("its 'tool' or 'tare' is no group of values")
    return State(None if tool is None else tool_from_content(tool),
                 None if tare is None else _tare(tare))


def _tare(content: dict[str, Any]) -> Tare:
    conditions = content.get("conditions")
    if not isinstance(conditions, dict):
        raise DamagedFile("its 'conditions' is no group of values")
    return Tare(fields.numbers(content, "reading", 6), fields.stamp(content, "stamp_ns"),
                fields.text(content, "frame_id"),
                {name: fields.text(conditions, name) for name in conditions}, is_old=True)
