# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The payload that is to be told: of the newest estimate, or of one that was saved."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from ...errors import DamagedFile, InvalidData, NotEnoughData
from ...estimate import IDENTIFIED, UNOBSERVED, Estimate, Outcome
from ...identification.verdict import allowed_intervals
from ...inertia import Array, report_jacobian
from ...regression.tool import Tool
from ...settings import Settings
from ...targets.target import TargetFrame, TargetPayload, payload_of, payload_of_report
from ..estimation import Estimation
from ..services.saving import read_saved

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
        bias: (6,) of the sensor, as in `Payload`.
    """
    jacobian = report_jacobian(tool.phi)
    sd = np.sqrt(np.maximum((jacobian @ tool.covariance @ jacobian.T).diagonal(), 0.0))
    known = 2.0 * sd <= allowed_intervals(tool.phi, tool.covariance)
    mass, com, inertia = (IDENTIFIED if known[group].all() else UNOBSERVED
                          for group in (slice(0, 1), slice(1, 4), slice(4, 10)))
    return TargetPayload(tool.frame_id, tool.phi, mass, com, inertia, bias)


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


def place(estimation: Estimation, payload: TargetPayload, placement: TargetFrame) -> TargetPayload:
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
