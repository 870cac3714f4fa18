# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""One stream through the pipeline: what it says, when, and whether anything wrong comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from inertial_id_ros.estimate import UNOBSERVED, Estimate
from inertial_id_ros.findings import Finding
from inertial_id_ros.inertia import is_consistent

from .stream import Stream, Truth, seconds

ADVANCE, SOLVE = 0.05, 0.25  # s
REACTION = 0.6  # s after a change of payload during which the estimate before it may stand
# An estimate is wrong where it misses by more than its 95 % interval twice over and by more than
MASS, COM = 0.05, 0.005  # share, m


@dataclass
class Report:
    """What came out.

    Attributes:
        texts: of the findings now; news: (seconds of arrival, name) of each new text of a finding.
        wrong: (seconds, sentence) of every new estimate that was wrong or inconsistent.
        held: number of wrong ones that were held and marked as stale.
        estimates: number of estimates that were published as valid.
        last: the last outcome; truth: at that time.
    """

    texts: dict[str, str] = field(default_factory=dict)
    news: list[tuple[float, str]] = field(default_factory=list)
    wrong: list[tuple[float, str]] = field(default_factory=list)
    held: int = 0
    estimates: int = 0
    last: Any = None
    truth: Truth | None = None

    def listen(self, now: float, findings: Iterable[Finding]) -> None:
        """Note what is said for the first time, or anew."""
        texts = {f.name: f.text for f in findings}
        self.news += [(now, name) for name, text in texts.items() if self.texts.get(name) != text]
        self.texts = texts

    def found(self, name: str, since: float) -> float | None:
        """Seconds from then on until a finding says something new; None where it does not."""
        return next((t - since for t, n in self.news if n.startswith(name) and t >= since),
                    None)

    @property
    def errors(self) -> tuple[float, float] | None:
        """Error of the last estimate: mass [share], centre of mass [m]; None without one."""
        if not isinstance(self.last, Estimate) or self.truth is None:
            return None
        return (abs(self.last.report[0] / self.truth.mass - 1.0),
                float(np.linalg.norm(self.last.report[1:4] - self.truth.com)))


def run(stream: Stream, changes: dict[str, Any], nothing_is_right: bool = False) -> Report:
    """Play a stream with these settings; `nothing_is_right`: every estimate is wrong."""
    made, report = stream.identifier(changes), Report()
    next_advance = next_solve = 0.0
    for message in stream.messages:
        now = seconds(message)
        getattr(made, message.method)(*message.arguments)
        if now >= next_advance:
            made.advance()
            next_advance = now + ADVANCE
            report.listen(now, made.findings())
        if now >= next_solve:
            next_solve = now + SOLVE
            report.last = made.solve()
            _check(report, stream, now, nothing_is_right)
            report.listen(now, made.findings())
    made.finish()
    report.last, report.truth = made.solve(), stream.truth_at(now)
    return report


def _check(report: Report, stream: Stream, now: float, nothing_is_right: bool) -> None:
    if not isinstance(report.last, Estimate):
        return
    report.estimates += 1
    if not is_consistent(report.last.phi):
        report.wrong.append((now, "no body has these parameters"))
    truths = [stream.truth_at(now), stream.truth_at(max(now - REACTION, 0.0))]
    faults = ["it should not be there"] if nothing_is_right else [
        sentence(report.last, truth) for truth in truths]
    if not all(faults):
        return
    if report.last.stale:
        report.held += 1
    else:
        report.wrong.append((now, faults[0]))


def sentence(estimate: Estimate, truth: Truth) -> str:
    """What is wrong with an estimate; empty if nothing is."""
    value, sigma = estimate.report, estimate.sigma
    if abs(value[0] - truth.mass) > max(MASS * truth.mass, 4.0 * sigma[0]):
        return f"mass {value[0]:.3f} ± {2.0 * sigma[0]:.3f} kg, truth {truth.mass:.3f}"
    for k in range(3):
        if (estimate.verdict[1 + k] != UNOBSERVED
                and abs(value[1 + k] - truth.com[k]) > max(COM, 4.0 * sigma[1 + k])):
            return (f"com.{'xyz'[k]} {value[1 + k]:.4f} ± {2.0 * sigma[1 + k]:.4f} m, "
                    f"truth {truth.com[k]:.4f}")
    return ""


