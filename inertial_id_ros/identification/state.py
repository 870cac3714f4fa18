# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The state that is kept from run to run: the tool, the tared bias, and the last estimate.

A restored tool is used unchanged. A restored bias is a prior like a tare, but with a fifth of the
standard deviation of an unknown bias, since a sensor drifts and may have been zeroed between the
runs. It is used only in the frame and under the `tare_conditions` in which it was measured. A
restored estimate is shown as stale until there are data, and nothing is computed from it.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DamagedFile
from ..estimate import Estimate, ParameterVerdict
from ..io import fields
from ..io.files import Content, format_document, read_document, write_atomically
from ..regression.tool import Tool, tool_from_content
from ..settings import Settings

FORMAT, VERSION = "inertial_id_ros state", 2
_UNITS = (("days", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))
_LONGEST_AGE = 3.0e9  # s; longer ones are of simulated time
DAMAGED = ".damaged"  # appended to the name of a file that is set aside


@dataclass(frozen=True)
class Tare:
    """A bias that was measured without payload.

    Attributes:
        reading: (6,) [N, N m], sign of the topic; stamp_ns, frame_id: of it.
        conditions: the settings under which it was measured (see `tare_conditions`).
    """

    reading: np.ndarray
    stamp_ns: int
    frame_id: str
    conditions: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def describe_changes(self, settings: Settings) -> str | None:
        """How the conditions differ from these settings, in words; None where they do not."""
        now = tare_conditions(settings)
        changed = [f"{name} was {before!r} and is {now[name]!r}" if before is not None
                   else f"{name} at that time is not known"
                   for name, before in ((name, self.conditions.get(name)) for name in now)
                   if before != now[name]]
        return "; ".join(changed) or None

    @property
    def age(self) -> str:
        """How long ago it was measured, by the clock of this machine, in words."""
        return _describe_age(self.stamp_ns)


def _describe_age(stamp_ns: int) -> str:
    """How long ago a time was, by the clock of this machine, in words."""
    seconds = time.time() - 1e-9 * stamp_ns
    if not 0.0 <= seconds < _LONGEST_AGE:
        return "at an unknown time"
    unit, length = next(u for u in _UNITS if seconds >= u[1] or u is _UNITS[-1])
    return f"{seconds / length:.3g} {unit} ago"


def tare_conditions(settings: Settings) -> dict[str, str]:
    """Settings on which the reading of a sensor without payload depends, beside its frame.

    The convention is among them although the reading has the sign of the topic: a user who changes
    it corrects what was assumed about the topic.
    """
    removed = settings.precompensated
    return {"wrench.topic": settings.dynamic_joint_states.topic or settings.wrench.topic,
            "wrench.convention": settings.wrench.convention,
            "precompensated.source": removed.source,
            "precompensated.mass": f"{removed.mass:g} kg"}


@dataclass(frozen=True)
class State:
    """Tool, tare and estimate of a run; None for those that it did not have.

    Attributes:
        saved_ns: when it was saved, by the clock of the machine; 0: not known.
    """

    tool: Tool | None = None
    tare: Tare | None = None
    estimate: Estimate | None = None
    saved_ns: int = dataclasses.field(default=0, compare=False)

    def describe(self) -> str:
        """Name what this state holds, for the log: tool, age of the tare, mass of the estimate."""
        parts = []
        if self.tool is not None:
            parts.append(self.tool.describe())
        if self.tare is not None:
            parts.append(f"bias of a tare {self.tare.age}")
        if self.estimate is not None:
            parts.append(f"estimate of {self.estimate.body.mass:.3f} kg")
        when = f" (saved {_describe_age(self.saved_ns)})" if self.saved_ns else ""
        return (", ".join(parts) or "nothing") + when


# Called with the state that a change leads to, before anything changes; what it raises prevents
# the change, so that nothing is in use that the next run would not know.
Keep = Callable[[State], None]


def keep_nothing(_state: State) -> None:
    """Let a change happen that no file keeps."""


class StateFile:
    """The file that keeps the state of one node."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def save(self, state: State) -> None:
        """Write the state, whole or not at all (raises OSError)."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, format_document(FORMAT, VERSION, _to_content(state)))

    def read(self) -> State:
        """The state; the file is left as it is.

        Raises:
            DamagedFile: it cannot be used, and why; OSError: it cannot be read.
        """
        return _from_content(read_document(self.path, FORMAT, VERSION, _UPGRADES,
                                           checksum_required=True))

    def load(self) -> tuple[State, str]:
        """The state, empty where there is none, and a sentence about what was wrong, if anything.

        A file that cannot be used is set aside under another name, never used in part.
        """
        try:
            return self.read(), ""
        except FileNotFoundError:
            return State(), ""
        except OSError as error:
            return State(), f"state file {self.path} cannot be read: {error.strerror}"
        except DamagedFile as error:
            return State(), f"state file {self.path} is not used: {error}; {self._set_aside()}"

    def _set_aside(self) -> str:
        """Rename the file so that it is not read again; gives a clause that says so."""
        aside = self.path.with_name(self.path.name + DAMAGED)
        try:
            os.replace(self.path, aside)
        except OSError as error:
            return f"it could not be set aside ({error.strerror})"
        return f"it was set aside as {aside.name}"


def _to_content(state: State) -> Content:
    """The state as plain values for the file."""
    tare = state.tare
    return {
        "tool": state.tool.content() if state.tool is not None else None,
        "tare": None if tare is None else {
            "reading": tare.reading.tolist(), "stamp_ns": tare.stamp_ns,
            "frame_id": tare.frame_id, "conditions": dict(tare.conditions)},
        "saved_ns": time.time_ns(),
        "estimate": None if state.estimate is None else _estimate_content(state.estimate)}


def _from_content(content: Mapping[str, Any]) -> State:
    """The state from the values of a file (raises DamagedFile)."""
    tool, tare, estimate = (_part(content, name) for name in ("tool", "tare", "estimate"))
    return State(
        None if tool is None else tool_from_content(tool),
        None if tare is None else Tare(fields.numbers(tare, "reading", 6),
                                       fields.stamp(tare, "stamp_ns"),
                                       fields.text(tare, "frame_id"), _conditions(tare)),
        None if estimate is None else _estimate(estimate), fields.stamp(content, "saved_ns"))


def _from_version_1(content: Content) -> Content:
    """Version 1 did not say when it was saved; its first files had tares without conditions, which
    are then not used."""
    tare = content.get("tare")
    return {**content, "saved_ns": 0,
            "tare": {"conditions": {}, **tare} if isinstance(tare, dict) else tare}


_UPGRADES = {1: _from_version_1}


def _part(content: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """A group of values by name; None where there is none (raises DamagedFile)."""
    part = content.get(name)
    if part is not None and not isinstance(part, dict):
        raise DamagedFile(f"its '{name}' is not a group of values")
    return part


def _conditions(tare: Mapping[str, Any]) -> dict[str, str]:
    """The conditions of a tare (raises DamagedFile)."""
    conditions = tare.get("conditions")
    if not isinstance(conditions, dict):
        raise DamagedFile("its 'conditions' is not a group of values")
    return {name: fields.text(conditions, name) for name in conditions}


def _estimate_content(estimate: Estimate) -> dict[str, Any]:
    """The fields of an estimate as plain values, without those that belong to its time."""
    out = {}
    for item in dataclasses.fields(estimate):
        value = getattr(estimate, item.name)
        out[item.name] = value.tolist() if isinstance(value, np.ndarray) else value
    out["verdict"] = [int(v) for v in estimate.verdict]
    if not np.isfinite(estimate.condition_number):
        out["condition_number"] = None
    for name in ("findings", "stale", "restored"):
        del out[name]
    return out


def _estimate(content: dict[str, Any]) -> Estimate:
    """The estimate from the values of a file, marked as restored (raises DamagedFile)."""
    verdict = fields.numbers(content, "verdict", 10)
    if not np.isin(verdict, (0.0, 1.0, 2.0)).all():
        raise DamagedFile("its 'verdict' holds other values than 0, 1 and 2")
    if not isinstance(content.get("tool_apart"), bool):
        raise DamagedFile("its 'tool_apart' is neither true nor false")
    condition = content.get("condition_number")
    return Estimate(
        stamp_ns=fields.stamp(content, "stamp_ns"), frame_id=fields.text(content, "frame_id"),
        phi=fields.body(content, "phi"),
        phi_covariance=fields.covariance(content, "phi_covariance"),
        method=fields.text(content, "method"), weighting=fields.text(content, "weighting"),
        verdict=tuple(ParameterVerdict(int(v)) for v in verdict),
        samples=int(fields.number(content, "samples", 0.0)) % 2**32,
        condition_number=(float("inf") if condition is None
                          else fields.number(content, "condition_number")),
        stale=True, restored=True, tool_apart=content["tool_apart"], **_numbers(content))


def _numbers(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of an estimate that say which numbers they hold; files of earlier versions lack
    those that have a default."""
    return {item.name: fields.numbers(content, item.name, *item.metadata["shape"])
            if item.metadata["shape"]
            else fields.number(content, item.name, item.metadata["low"])
            for item in dataclasses.fields(Estimate) if "shape" in item.metadata
            and (item.name in content or item.default is dataclasses.MISSING)}
