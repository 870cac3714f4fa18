# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Findings as diagnostics and as log lines, once a second."""

import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.lifecycle import LifecycleNode
from rclpy.logging import get_logger

from ..estimate import Estimate, Outcome
from ..kinds import INPUTS, LEVELS, Finding
from .conversions import payload_text
from .estimation import Estimation

PERIOD = 1.0  # s between two reports
LOG_PERIOD = 10.0  # s between log lines of one finding, or of the payload
STATUS = (DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR)  # as `LEVELS`


class Diagnostics:
    """Two statuses, `inputs` and `estimate`, each with its findings and numbers."""

    def __init__(self, node: LifecycleNode, estimation: Estimation) -> None:
        self._node, self._estimation = node, estimation
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._counted, self._counts = time.monotonic(), dict[str, int]()
        self._logged = dict[str, float]()  # time of the last report, by name

    def report(self) -> None:
        """Publish what is found now, and log what is new."""
        estimation, io = self._estimation, self._estimation.io
        findings = (estimation.notes.copy() | {f.name: f for f in estimation.findings_now}).values()
        message = DiagnosticArray(status=[
            self._status("inputs", [f for f in findings if f.kind in INPUTS], *self._inputs()),
            self._status("estimate", [f for f in findings if f.kind not in INPUTS],
                         *_numbers(estimation.outcome))])
        clock = (self._node if io is None else io.node).get_clock()
        message.header.stamp = clock.now().to_msg()
        self._publisher.publish(message)
        news, now = list(findings), time.monotonic()
        if not getattr(outcome := estimation.outcome, "is_finding", False):
            verdict = getattr(outcome, "verdict", "")  # the payload, when that changes
            news.append(Finding(f"payload.{verdict}", "info", payload_text(outcome)))
        for finding in news:
            if finding.name not in self._logged:
                # Of a logger of its own, as rclpy refuses another severity from the same line.
                getattr(get_logger(self._node.get_logger().name), finding.level)(finding.text)
            self._logged[finding.name] = now
        self._logged = {name: time_of for name, time_of in self._logged.items()
                        if now - time_of < LOG_PERIOD}

    def _inputs(self) -> tuple[dict[str, str], bool, str]:
        """Numbers on what arrives, whether that is well, and a text."""
        io, before, period = self._estimation.io, self._counts, -self._counted
        self._counted = time.monotonic()
        if io is None:
            return {}, False, "no message arrives: the node is inactive"
        self._counts = {topic.setting.removesuffix(".topic"): n for topic, n in io.counts.items()}
        rates = {name: max(count - before.get(name, 0), 0) / (period + self._counted)
                 for name, count in self._counts.items()}
        load = io.load_topic.setting.removesuffix(".topic")
        numbers = {f"{name} [Hz]": f"{rate:.1f}" for name, rate in rates.items()} | {
            f"{name} [messages]": str(count) for name, count in self._counts.items()}
        return numbers, rates[load] > 0.0, (
            "receiving" if rates[load] else f"no message arrives: {load}")

    def _status(self, name: str, findings: list[Finding], values: dict[str, str], fine: bool,
                otherwise: str) -> DiagnosticStatus:
        """A status as its worst finding, if worse than info; else fine or a warning, otherwise."""
        status = DiagnosticStatus(
            name=f"{self._node.get_fully_qualified_name().lstrip('/')}: {name}", message=otherwise,
            level=STATUS[not fine], values=[KeyValue(key=key, value=value) for key, value in (
                values | {f.name: f.text for f in findings}).items()])
        worst = max(findings, key=lambda f: LEVELS.index(f.level), default=None)
        if worst is not None and worst.level != "info":
            status.message, status.level = worst.text, STATUS[LEVELS.index(worst.level)]
        return status


def _numbers(outcome: Outcome) -> tuple[dict[str, str], bool, str]:
    """Those of an outcome, whether it is an estimate, and a text."""
    if not isinstance(outcome, Estimate):
        return {"valid": "false"}, False, outcome.reason
    return {"valid": "true", "stale": str(outcome.stale).lower(), "method": outcome.method,
            "mass [kg]": f"{outcome.body.mass:.4f}", "samples": str(outcome.samples),
            "buffer length [s]": f"{outcome.window:.2f}",
            "solve time [s]": f"{outcome.solve_time:.5f}",
            "condition number": f"{outcome.condition_number:.3g}"}, True, payload_text(outcome)
