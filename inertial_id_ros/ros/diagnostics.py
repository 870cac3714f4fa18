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

WARNED = "warnings"  # key whose value names the findings that are more than information
_LOG_PERIOD = 10.0  # s between log lines of one finding


class Rate:
    """The rate of a topic."""

    def __init__(self) -> None:
        self._marks = list[tuple[float, int]]()

    def update(self, count: int, now: float) -> float:
        """Rate since the call about two seconds ago [Hz]; now: monotonic [s]."""
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
    about_inputs, others = list[Finding](), list[Finding]()
    for finding in findings:
        (about_inputs if finding.kind in INPUTS else others).append(finding)
    values = {f"{topic} [Hz]": f"{rate:.1f}" for topic, (rate, _) in rates.items()}
    values |= {f"{topic} [messages]": str(n) for topic, (_, n) in rates.items()}
    load = next(iter(rates), "wrench")
    silent = rates.get(load, (0.0, 0))[0] == 0.0
    inputs = _status(f"{node_name}: inputs", about_inputs, values, not silent,
                     f"no message arrives: {load}" if silent else "receiving")
    values = {"longest round [s]": f"{longest:.4f}"}
    if isinstance(outcome, Estimate):
        mass = outcome.body.mass
        values |= {"valid": "true", "stale": str(outcome.stale).lower(),
                   "method": outcome.method, "mass [kg]": f"{mass:.4f}",
                   "samples": str(outcome.samples), "buffer length [s]": f"{outcome.window:.2f}",
                   "solve time [s]": f"{outcome.solve_time:.5f}",
                   "condition number": f"{outcome.condition_number:.3g}"}
        return [inputs, _status(f"{node_name}: estimate", others, values, True, f"{mass:.3f} kg")]
    return [inputs, _status(f"{node_name}: estimate", others, values | {"valid": "false"}, False,
                            outcome.reason)]


def _status(name: str, findings: list[Finding], values: Mapping[str, str], fine: bool,
            otherwise: str) -> DiagnosticStatus:
    """A status at the level of its worst finding, with that one's text.

    Args:
        fine, otherwise: False for a warning, and the text, where no finding is one.
    """
    warned = [f for f in findings if f.level != "info"]
    status = DiagnosticStatus(name=name, message=otherwise, level=(
        DiagnosticStatus.OK if fine else DiagnosticStatus.WARN))
    if warned:
        worst = max(warned, key=lambda f: LEVELS.index(f.level))
        status.message, status.level = worst.text, (
            DiagnosticStatus.ERROR if worst.level == "error" else DiagnosticStatus.WARN)
        values = {**values, WARNED: ", ".join(f.name for f in warned)}
    pairs = {**values, **{f.name: f.text for f in findings}}
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

    def update(self, findings: Iterable[Finding]) -> None:
        """Log what is new."""
        now, present = time.monotonic(), set()
        for finding in findings:
            present.add(finding.name)
            last, at = self._logged.get(finding.name, (None, 0.0))
            if last is None or LEVELS.index(finding.level) > LEVELS.index(last.level) or (
                    finding != last and now - at >= _LOG_PERIOD):
                self._write(finding.level, finding.text)
                self._logged[finding.name] = (finding, now)
        self._logged = {name: (finding, at) for name, (finding, at) in self._logged.items()
                        if name in present or now - at < _LOG_PERIOD}

    def _write(self, level: str, text: str) -> None:
        # rclpy knows a call by its line and refuses another severity from the same line.
        if level == "error":
            self._logger.error(text)
        elif level == "warning":
            self._logger.warning(text)
        else:
            self._logger.info(text)


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
