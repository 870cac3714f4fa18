# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Findings as diagnostics and as log lines."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from ..estimate import Estimate, Outcome
from ..findings import LEVELS, Finding
from ..kinds import INPUTS
from .conversions import payload_text

_LEVELS = {"info": DiagnosticStatus.OK, "warning": DiagnosticStatus.WARN,
           "error": DiagnosticStatus.ERROR}
WARNED = "warnings"  # key whose value names the findings that are more than information
_LOG_PERIOD = 10.0  # s between log lines of one finding


class Rate:
    """The rate of a topic.

    Attributes:
        count: of its messages.
    """

    def __init__(self) -> None:
        self.count, self._marks = 0, list[tuple[float, int]]()

    def update(self, count: int, now: float) -> float:
        """Rate since the call about two seconds ago [Hz]; now: monotonic [s]."""
        self.count = count
        self._marks = [m for m in self._marks if now - m[0] <= 2.5] + [(now, count)]
        then, before = self._marks[0]
        return (count - before) / (now - then) if now > then else 0.0


def statuses(node_name: str, findings: Iterable[Finding], outcome: Outcome,
             rates: Mapping[str, tuple[float, int]], longest: float) -> list[DiagnosticStatus]:
    """Two statuses, `inputs` and `estimate`, each with its findings and numbers.

    Args:
        rates: rate [Hz] and number of the messages of each topic, that which brings the load first.
        longest: of the rounds of the worker [s].
    """
    findings = tuple(findings)
    about_inputs = [f for f in findings if f.kind in INPUTS]
    values = {f"{topic} [Hz]": f"{rate:.1f}" for topic, (rate, _) in rates.items()}
    values |= {f"{topic} [messages]": str(n) for topic, (_, n) in rates.items()}
    inputs = _status(f"{node_name}: inputs", about_inputs, "receiving", values)
    load = next(iter(rates), "wrench")
    if inputs.level == DiagnosticStatus.OK and rates.get(load, (0.0, 0))[0] == 0.0:
        inputs.level, inputs.message = DiagnosticStatus.WARN, f"no message arrives: {load}"
    return [inputs, _estimate_status(
        node_name, [f for f in findings if f not in about_inputs], outcome, longest)]


def _estimate_status(node_name: str, findings: list[Finding], outcome: Outcome, longest: float
                     ) -> DiagnosticStatus:
    """The status of the estimate; a warning where there is none."""
    values = {"longest round [s]": f"{longest:.4f}"}
    if isinstance(outcome, Estimate):
        body = outcome.body
        values |= {"valid": "true", "stale": str(outcome.stale).lower(),
                   "method": outcome.method, "mass [kg]": f"{body.mass:.4f}",
                   "samples": str(outcome.samples), "buffer length [s]": f"{outcome.window:.2f}",
                   "solve time [s]": f"{outcome.solve_time:.5f}",
                   "condition number": f"{outcome.condition_number:.3g}"}
        return _status(f"{node_name}: estimate", findings, f"{body.mass:.3f} kg", values)
    status = _status(f"{node_name}: estimate", findings, outcome.reason, values | {
        "valid": "false"})
    if status.level == DiagnosticStatus.OK:
        status.level, status.message = DiagnosticStatus.WARN, outcome.reason
    return status


def _status(name: str, findings: list[Finding], otherwise: str,
            values: Mapping[str, str]) -> DiagnosticStatus:
    """A status at the level of its worst finding, with that one's text."""
    worst = max(findings, key=lambda f: _LEVELS[f.level][0], default=None)
    status = DiagnosticStatus(level=DiagnosticStatus.OK, name=name, message=otherwise)
    if worst is not None and worst.level != "info":
        status.level, status.message = _LEVELS[worst.level], worst.text
    pairs = {**values, **{f.name: f.text for f in findings}}
    warned = [f.name for f in findings if f.level != "info"]
    if warned:
        pairs[WARNED] = ", ".join(warned)
    status.values = [KeyValue(key=key, value=value) for key, value in pairs.items()]
    return status


class FindingLogger:
    """Logs each finding when it comes up or gets worse, and its changes at most every 10 s.

    Args:
        logger: of the node.
    """

    def __init__(self, logger: Any) -> None:
        self._logger = logger
        self._logged: dict[str, tuple[Finding, float]] = {}
        self._present: dict[str, str] = {}

    def update(self, findings: Iterable[Finding]) -> bool:
        """Log new findings; True where one appeared, disappeared or changed its level."""
        now, present = time.monotonic(), {}
        for finding in findings:
            present[finding.name] = finding.level
            if self._is_due(finding, now):
                self._write(finding.level, finding.text)
                self._logged[finding.name] = (finding, now)
        for name in [n for n, (_, at) in self._logged.items()
                     if n not in present and now - at >= _LOG_PERIOD]:
            del self._logged[name]
        changed, self._present = present != self._present, present
        return changed

    def _write(self, level: str, text: str) -> None:
        # rclpy knows a call by its line and refuses another severity from the same line.
        if level == "error":
            self._logger.error(text)
        elif level == "warning":
            self._logger.warning(text)
        else:
            self._logger.info(text)

    def _is_due(self, finding: Finding, now: float) -> bool:
        """Whether to log a finding: it is new, it got worse, or it changed some time ago."""
        if finding.name not in self._logged:
            return True
        last, at = self._logged[finding.name]
        if LEVELS.index(finding.level) > LEVELS.index(last.level):
            return True
        return finding != last and now - at >= _LOG_PERIOD


class PayloadLogger:
    """Logs mass and centre of mass with their intervals when what is known of them changes."""

    def __init__(self, logger: Any) -> None:
        self._logger = logger
        self._verdict: tuple[int, ...] | None = None
        self._at = -_LOG_PERIOD

    def update(self, outcome: Outcome) -> None:
        """Log an estimate whose verdict is another than that of the last one logged."""
        if not isinstance(outcome, Estimate) or outcome.verdict == self._verdict:
            return
        now = time.monotonic()
        if now - self._at >= _LOG_PERIOD:
            self._verdict, self._at = outcome.verdict, now
            self._logger.info(payload_text(outcome))
