# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is kept from run to run: tool and tare; no estimate.

A restored tool is used unchanged. A restored tare counts less, since a sensor drifts and may have
been zeroed between the runs; it is used only in the frame and under the conditions in which it was
measured.
"""

from dataclasses import replace
from pathlib import Path

from ..errors import DamagedFile
from ..io import fields
from ..io.files import read_document, write_document
from ..model.tool import tool_from_content
from ..settings import Settings
from .beliefs import Beliefs, Tare, tare_conditions

FORMAT, VERSION = "inertial_id_ros state", 3


def restored(beliefs: Beliefs, settings: Settings, kept: Beliefs) -> tuple[Beliefs, str]:
    """Beliefs with what an earlier run kept, and what of it was not used; empty: all was."""
    now = tare_conditions(settings)
    before = now if kept.tare is None else kept.tare.conditions
    changes = "; ".join(f"{name} was {before.get(name)!r} and is {value!r}"
                        for name, value in now.items() if before.get(name) != value)
    return replace(beliefs, tool=kept.tool, tare=None if changes else kept.tare), changes


def save_state(path: Path, beliefs: Beliefs) -> None:
    """Write what of beliefs outlives a run, whole or not at all (raises OSError)."""
    tool, tare = beliefs.tool, beliefs.tare
    write_document(path, FORMAT, VERSION, {
        "tool": tool and tool.content(),
        "tare": None if tare is None or tare.refuted else {
            "reading": tare.reading.tolist(), "stamp_ns": tare.stamp_ns,
            "frame_id": tare.frame_id, "conditions": dict(tare.conditions)}})


def load_state(path: Path) -> tuple[Beliefs, str]:
    """Tool and tare of an earlier run, and a sentence about what was wrong, if anything.

    A file that cannot be used is never used in part.
    """
    try:
        content = read_document(path, FORMAT, VERSION)
        tool, given = (None if content.get(name) is None else fields.value(content, name, dict)
                       for name in ("tool", "tare"))
        conditions = fields.value({"conditions": {}, **(given or {})}, "conditions", dict)
        tare = None if given is None else Tare(
            fields.numbers(given, "reading", 6), fields.value(given, "stamp_ns", int),
            fields.value(given, "frame_id", str),
            {name: fields.value(conditions, name, str) for name in conditions}, is_old=True)
        return Beliefs(tare, None if tool is None else tool_from_content(tool)), ""
    except FileNotFoundError:
        return Beliefs(), ""
    except OSError as error:
        return Beliefs(), f"state file {path} cannot be read: {error.strerror}"
    except DamagedFile as error:
        return Beliefs(), (f"state file {path} is not used: {error}; the next one that is kept "
                           "takes its place")
