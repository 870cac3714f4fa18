# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What ~/apply refuses: every condition that does not depend on the kind of the target.

A condition that is not met says so in one sentence, and nothing is sent. Refused by an error: no
estimate, one that is restored or stale, a saved one that cannot be used (`find_evidence`); a frame
that is not known or moves against the sensor (`place`); nothing to undo (`undo_calls`). Refused by
a gate of its name: mass, centre of mass, max_mass, max_com, removed_payload, record, doubt, rest.
Taking back what was sent passes only those that do not depend on the payload. Targets add their own
(`Target.ready`, `TargetPlan.gates`, errors of their `plan`); `Graph.survey` closes a gate where
services or parameters of theirs, or the node that has them, are missing. Before all that
`ApplyService` refuses while it is inactive or busy, and `load_target` a target that is not there.

The payload that is to be told is that of the newest estimate, or of one that was saved.

What was sent to which target stands in the `History`: one line of JSON for each application, for
the record and for undo.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import DamagedFile, InertialIdError, InvalidData, InvalidSetting, NotEnoughData
from ...estimate import IDENTIFIED, UNOBSERVED, Estimate, Outcome
from ...findings import Doubt, Finding
from ...identification.verdict import COM_LENGTH, COM_SHARE, allowed_intervals
from ...inertia import Array, report_jacobian
from ...io.files import user_path, without_nonfinite
from ...io.messages import DynamicJointStates
from ...kinds import first_doubt
from ...regression.tool import Tool
from ...settings import Settings
from ...targets.ratings import payload_limit
from ...targets.target import (
    Call,
    Gate,
    PayloadFrame,
    Reading,
    Target,
    TargetPayload,
    call_from_json,
    payload_of,
    payload_of_report,
)
from ..estimation import Estimation
from ..services.saving import CannotSave, own_name, read_saved, require_writable

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
        except (OSError, TypeError, ValueError) as error:
            raise CannotSave(f"cannot write {self.path}: "
                             f"{getattr(error, 'strerror', None) or error}") from error

    def last(self, target: str) -> dict[str, Any] | None:
        """The last application to a target that changed something, and was not undone since; None:
        there is none. An undo that failed leaves it to be undone again."""
        newest = next((entry for entry in self._changes(target)
                       if not (is_undo(entry) and entry.get("failure"))), None)
        return None if newest is None or is_undo(newest) else newest

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


_WAIT = 2.0  # s for the worker
_FRESH_TIME, _POLL = 2.0, 0.05  # s for a fresh estimate, and between two looks


class PayloadEvidence(NamedTuple):
    """A payload, and the numbers that it stands on, for the record."""

    payload: TargetPayload
    record: dict[str, Any]


def find_evidence(estimation: Estimation, settings: Settings, name: str,
                  takes_tool: bool) -> PayloadEvidence:
    """The payload of a saved estimate, or, without a name, of the newest one.

    Args:
        takes_tool: the target takes tool and object together.

    Raises:
        NotEnoughData: there is no estimate, or it is old.
        CannotSave: the saved estimate cannot be read; InvalidData: it is without its tool.
    """
    if name:
        return _saved(settings.state.directory, name, takes_tool)
    outcome = _newest_outcome(estimation)
    if not isinstance(outcome, Estimate):
        raise NotEnoughData(f"there is no estimate: {outcome.reason}")
    if outcome.restored:
        raise NotEnoughData("the estimate is of an earlier run; move the arm for a new one, or "
                            "name a saved one")
    if outcome.stale:
        raise NotEnoughData("the estimate is stale"
                            + (f": {outcome.stale_reason}" if outcome.stale_reason else ""))
    tool = estimation.identifier.tool if takes_tool and outcome.tool_apart else None
    record = {**outcome.to_json(), "sigma": outcome.sigma.tolist(),
              "with_tool": tool.describe() if tool is not None else None}
    if tool is not None and outcome.carries_nothing:
        return PayloadEvidence(payload_of_tool(tool, outcome.bias), record)
    return PayloadEvidence(payload_of(outcome, None if tool is None else tool.phi), record)


def payload_of_tool(tool: Tool, bias: Array) -> TargetPayload:
    """What is told of a tool that carries nothing: of it alone, as far as its file tells it.

    Args:
        bias: (6,) of the sensor, as in `TargetPayload`.
    """
    jacobian = report_jacobian(tool.phi)
    sd = np.sqrt(np.maximum((jacobian @ tool.covariance @ jacobian.T).diagonal(), 0.0))
    known = 2.0 * sd <= allowed_intervals(tool.phi, tool.covariance)
    mass, com, inertia = (IDENTIFIED if known[group].all() else UNOBSERVED
                          for group in (slice(0, 1), slice(1, 4), slice(4, 10)))
    return TargetPayload(tool.frame_id, tool.phi, mass, com, inertia, 2.0 * float(sd[1:4].max()),
                         bias)


def _newest_outcome(estimation: Estimation) -> Outcome:
    """The newest outcome; one that is stale only because a solver takes long is waited for."""
    end = time.monotonic() + _FRESH_TIME
    while True:
        outcome = estimation.watchdog.outcome
        if time.monotonic() > end or (isinstance(outcome, Estimate) and not outcome.stale):
            return outcome
        time.sleep(_POLL)


def _saved(directory: str, name: str, takes_tool: bool) -> PayloadEvidence:
    report = read_saved(directory, name)
    try:
        payload, tool_apart = payload_of_report(report)
    except DamagedFile as error:
        raise InvalidData(f"saved estimate '{name}' cannot be used: {error}") from error
    if tool_apart and takes_tool:
        raise InvalidData(f"saved estimate '{name}' is of the object without its tool, and the "
                          "target takes both")
    return PayloadEvidence(payload, {**report, "saved_as": name})


def place(estimation: Estimation, payload: TargetPayload, placement: PayloadFrame) -> TargetPayload:
    """A payload where a target wants it.

    Raises:
        UnknownFrame: that frame is not known; InvalidData: it moves against the sensor.
    """
    frame = placement.frame.lstrip("/")
    if frame in ("", payload.frame_id):
        return payload
    rotation, translation, moment = estimation.worker.call(
        lambda: estimation.identifier.lookup(frame, payload.frame_id), _WAIT)
    if moment is not None:
        raise InvalidData(f"frame '{frame}' moves against the sensor; a payload is told in one "
                          "that does not")
    return (payload.turned(frame, rotation) if placement.axes_only
            else payload.placed(frame, rotation, translation))


# Messages of a topic by its type and name, until they are enough or a time [s] is over.
Listen = Callable[[str, str, float, Callable[[list[Any]], bool]], list[Any]]
# Half widths of 95 % intervals of the centre of mass that may be sent: [m], and as share of its
# distance. Twice what the verdict asks for: more than a robot's own wrench tells, and still less to
# the torques of an arm of 0.2 m or more than 5 % of the mass, which is the verdict's limit.
_COM_LENGTH, _COM_SHARE = 2.0 * COM_LENGTH, 2.0 * COM_SHARE
_LEAST = 1e-3  # kg; less is no payload
_SHARE = 0.01  # by which two masses that are meant to be the same may differ
_REST_TIME = 0.3  # s for which the joints are watched
_SILENCE = 1.5  # s without joint states, after which it is not known whether they move


def gates_of_payload(payload: TargetPayload, settings: Settings, target: Target,
                     urdf: str) -> list[Gate]:
    """Whether what is sent is known well enough, and inside of the limits of the robot.

    Args:
        payload: in the frame of the target.
        urdf: the robot description; empty: there is none.
    """
    farthest = settings.apply.max_com
    origin = payload.origin or payload.frame_id
    distance = float(np.linalg.norm(payload.com))
    return [
        Gate("mass", "the mass is unobserved: the motion so far does not tell it"
             if payload.mass_verdict is UNOBSERVED else ""),
        Gate("centre of mass", _com_unknown(payload, distance)),
        Gate("max_mass", _mass_too_large(payload.mass, settings, target, urdf)),
        Gate("max_com", "" if distance <= farthest else
             f"the centre of mass is {distance:.4g} m from '{origin}', farther than "
             f"{farthest:g} m: a frame or a unit is wrong")]


def _com_unknown(payload: TargetPayload, distance: float) -> str:
    """Why a centre of mass may not be sent; empty where it may. distance: from the origin [m]."""
    allowed = max(_COM_LENGTH, _COM_SHARE * distance)
    if payload.com_verdict is not UNOBSERVED or payload.com_width <= allowed:
        return ""
    known = ("" if math.isinf(payload.com_width) else
             f" (± {1e3 * payload.com_width:.2g} mm, where ± {1e3 * allowed:.2g} mm may be sent)")
    return f"the centre of mass is unobserved{known}: the motion so far does not tell it"


def _mass_too_large(mass: float, settings: Settings, target: Target, urdf: str) -> str:
    """Why a mass [kg] may not be sent; empty where it may."""
    limit = payload_limit(settings, target.ratings, urdf)
    if limit.mass == 0.0:
        return (f"the mass that the robot may carry is not known, since {limit.source}; set "
                "load.rated_payload" if target.needs_limits else "")
    return "" if mass <= limit.mass else (f"the mass is {mass:.4g} kg; {limit.source} allows "
                                          f"{limit.mass:g} kg")


def removal_gate(name: str, target: Target, settings: Settings, told: Reading | None, silent: str,
                 history: History) -> Gate:
    """Whether the estimate is of all that hangs on the arm: a driver that has a payload already
    removes it from its wrench, and what is left of it must not replace the whole.

    Args:
        told: what the target has now, as far as it tells.
        silent: name of the topic on which it should tell that; empty: it speaks, or there is none.
    """
    removed = settings.precompensated
    if not removes_from_wrench(target, settings) or removed.source != "settings":
        return Gate("removed_payload")
    if silent:
        return Gate("removed_payload",
                    f"nothing is heard on '{silent}' (or its type is not installed here), so that "
                    "it is not known which payload the driver removes from its wrench; set "
                    "apply.topic, or precompensated.source 'none' for a sensor of its own")
    last = history.last(name)
    if told is not None:
        mass, says = float(told.values["mass"]), "tells"
    elif last is not None:
        mass, says = float(last.get("mass") or 0.0), "was told"
    else:  # only the settings say it
        return Gate("removed_payload")
    if abs(mass - removed.mass) <= max(_LEAST, _SHARE * mass):
        return Gate("removed_payload")
    return Gate("removed_payload",
                f"the robot {says} a payload of {mass:.3f} kg, which its driver removes from its "
                f"wrench, and precompensated.mass is {removed.mass:.3f} kg, so that the estimate "
                "is not of the whole; set precompensated.source to read it back, or .mass, .com "
                "and .inertia, or source 'none' for a sensor of its own")


def record_gate(history: History) -> Gate:
    """Whether an application could be recorded: without that, nothing is sent."""
    try:
        require_writable(str(history.path.parent))
    except InvalidSetting as error:
        return Gate("record", str(error))
    return Gate("record")


def doubt_gate(findings: Iterable[Finding], doubtful_zero: str) -> Gate:
    """Whether no finding puts the payload, its frame or what is measured now in doubt; a saved
    estimate was measured with the same set-up.

    Args:
        doubtful_zero: what of the reading may be contact, though estimates hold it for a bias, in
            one sentence; empty: nothing.
    """
    found = first_doubt(findings, Doubt.MASS | Doubt.COM | Doubt.FRAME | Doubt.PRESENT)
    return Gate("doubt", doubtful_zero if found is None else found.text)


def rest_gate(listen: Listen, settings: Settings, joints: Collection[str]) -> Gate:
    """Whether the arm is at rest, by what its joints say from now on.

    Args:
        joints: that move the sensor, as a topic may carry those of other arms; empty: all.
    """
    dynamic = settings.dynamic_joint_states
    topic = dynamic.topic or settings.joint_states.topic
    kind = "control_msgs/msg/DynamicJointState" if dynamic.topic else "sensor_msgs/msg/JointState"
    states = DynamicJointStates(dynamic)
    begin: list[float] = []

    def enough(messages: Sequence[Any]) -> bool:
        if messages and not begin:
            begin.append(time.monotonic())
        if not begin or time.monotonic() - begin[0] < _REST_TIME or len(messages) < 3:
            return False
        heard = Counter(name for m in messages for name in split(m)[0])
        return all(heard[name] > 1 for name in joints)

    def split(message: Any) -> tuple[Sequence[str], Sequence[float]]:
        if dynamic.topic:
            return states.split(message.joint_names, message.interface_values)[1:3]
        return message.name, message.position

    messages = listen(kind, topic, _SILENCE, enough)
    if len(messages) < 3:
        return Gate("rest", f"'{topic}' is silent, so that it is not known whether the arm is at "
                    "rest")
    names, positions = zip(*map(split, messages), strict=True)
    return Gate("rest", _describe_motion(names, positions, joints, settings.apply.rest_speed))


def _describe_motion(names: Sequence[Sequence[str]], positions: Sequence[Sequence[float]],
                     joints: Collection[str], speed: float) -> str:
    """Which of these joints moves, in words; empty where all are at rest.

    Args:
        names, positions: of each message [rad or m]; topics that several nodes share may carry
            joints in turn.
    """
    ranges: dict[str, list[float]] = {}
    for message_names, values in zip(names, positions, strict=True):
        for name, value in zip(message_names, values, strict=False):
            if not joints or name in joints:
                ranges.setdefault(name, []).append(value)
    if not ranges:
        return "no joint that moves the sensor is among the joint states"
    missing = [name for name in sorted(joints) if len(ranges.get(name, ())) < 2]
    if missing:
        return (f"joint '{missing[0]}' is not among the joint states, so that it is not known "
                "whether the arm is at rest")
    for name, values in ranges.items():
        moved = float(np.ptp(values)) / _REST_TIME
        if not moved <= speed:
            return (f"the arm moves: joint '{name}' by {moved:.3g} per second; at rest it "
                    f"does by {speed:g} at most")
    return ""


def changes_wrench(target: Target, settings: Settings) -> bool:
    """Whether the wrench that the node receives changes with what the target is told: a driver of
    which the settings say that it removes a payload will remove the new one, too."""
    removed = settings.precompensated
    if target.needs_limits and removed.source == "none":  # the sensor is not the driver's
        return False
    return target.changes_wrench or (target.needs_limits and removed.mass > 0.0)


def removes_from_wrench(target: Target, settings: Settings) -> bool:
    """Whether the target is a driver that removes the payload from the wrench that the node
    receives."""
    return target.needs_limits and changes_wrench(target, settings)
