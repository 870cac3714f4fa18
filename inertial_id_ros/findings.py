# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Findings: what went wrong or deserves attention, by name, counted, one sentence each.

`DOUBTS` says what each puts in doubt, `withdraw_doubted` what becomes of an estimate that is in
doubt. That is the one rule for all who hand an estimate on: messages, parameters, goals, `~/apply`,
exports, the client, the report and exit statuses follow `valid` and the verdict, which are made
here. A finding of level ``info`` puts nothing in doubt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Flag, auto
from functools import reduce
from operator import or_

from .errors import InvalidData, printable
from .estimate import UNOBSERVED, Estimate, NoEstimate, Outcome


class Doubt(Flag):
    """What a finding puts in doubt.

    MASS, COM, INERTIA: the number, which then counts as unobserved. FRAME: where and along which
    axes the numbers are given; an estimate in doubt of its frame is not valid. PRESENT: whether
    what is measured now is the payload alone; estimates from before are held, and nothing is
    applied meanwhile.
    """

    MASS = auto()
    COM = auto()
    INERTIA = auto()
    FRAME = auto()
    PRESENT = auto()


NOTHING = Doubt(0)
NUMBERS = Doubt.MASS | Doubt.COM | Doubt.INERTIA
EVERYTHING = NUMBERS | Doubt.FRAME
STOPPING = Doubt.PRESENT | Doubt.FRAME  # no arm may go on moving by a program

# Kinds or names of findings that put something in doubt; a test holds the others to be named in
# `HARMLESS`. A name goes before its kind.
DOUBTS: dict[str, Doubt] = {
    # The wrench or the motion is not what it is taken for.
    **dict.fromkeys(("sign_wrong", "wrong_units", "reference_contradicted", "frame_wrong",
                     "robot_wrong", "robot_description_invalid.frame", "several_publishers",
                     "streams_mixed.wrench", "clocks_differ"), EVERYTHING),
    **dict.fromkeys(("sensor_frame.shifted", "sensor_frame.unknown"),
                    Doubt.COM | Doubt.INERTIA | Doubt.FRAME),
    # The estimate is of something else than all that is carried.
    **dict.fromkeys(("payload_not_added", "removed_payload.invalid", "mass_at_bound"), NUMBERS),
    **dict.fromkeys(("translation_constant", "motion_slow", "not_rigid"), Doubt.INERTIA),
    **dict.fromkeys(("contact", "load_unexplained", "input_stuck"), Doubt.PRESENT),
}

# Those that leave an estimate as it is: samples that are dropped, errors that are taken into
# account or widen the intervals, what is over, and what concerns the node.
HARMLESS = frozenset("""
    apply_failed blend_without_alignment cable clock_jumped
    clock_offset clock_stopped compensation_old compensation_silent constant_force estimate_lost
    estimate_stale file_not_written goal hysteresis internal_error joint_residual
    joint_states_incomplete joint_states_jumped message_malformed message_too_large misaligned
    motion_frozen motion_stopped mounting_changed newest_left_out no_estimate noise_measured
    noise_model_doubted overload parameters_not_used payload_changed payload_walks
    program_topic_missing removed_payload reset residual_large restored
    robot_description_invalid samples_invalid samples_late samples_missing samples_reordered
    samples_repeated samples_saturated sensor_frame sensor_missing settings_changed
    shape_contradicted soft_mount stamp_missing stamp_stray stamps_still state_damaged
    streams_mixed tare_not_used verdict wrench_filtered zero_moved zero_or_contact
    """.split())

_GROUPS = ((Doubt.MASS, 0, 1), (Doubt.COM, 1, 4), (Doubt.INERTIA, 4, 10))  # of the report (10,)
_WORDS = {Doubt.MASS: "mass", Doubt.COM: "centre of mass", Doubt.INERTIA: "inertia",
          Doubt.FRAME: "frame", Doubt.PRESENT: "what is measured now"}


def doubt_list() -> str:
    """What is put in doubt, and by which findings, as a list in Markdown."""
    return "".join(
        f"- {', '.join(word for part, word in _WORDS.items() if part in doubt)}: "
        f"{', '.join(f'`{name}`' for name, found in DOUBTS.items() if found == doubt)}\n"
        for doubt in dict.fromkeys(DOUBTS.values()))


def doubt_of(finding: Finding) -> Doubt:
    """What a finding puts in doubt."""
    if finding.level == "info":
        return NOTHING
    return DOUBTS.get(finding.name, DOUBTS.get(finding.kind, NOTHING))


def doubt_in(findings: Iterable[Finding]) -> Doubt:
    """All that these findings put in doubt."""
    return reduce(or_, map(doubt_of, findings), NOTHING)


def doubting_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that put something in doubt: those that must stop an arm first, of each errors
    first."""
    doubting = [f for f in sort_findings(findings) if doubt_of(f)]
    return tuple(sorted(doubting, key=lambda f: not doubt_of(f) & STOPPING))


def first_doubt(findings: Iterable[Finding], doubt: Doubt) -> Finding | None:
    """The worst finding that puts this in doubt; None: there is none."""
    return next((f for f in sort_findings(findings) if doubt_of(f) & doubt), None)


def withdraw_doubted(outcome: Outcome, findings: Iterable[Finding]) -> Outcome:
    """The outcome as it may be handed on: no estimate where its frame is in doubt, and parameters
    in doubt as unobserved."""
    if not isinstance(outcome, Estimate):
        return outcome
    findings = tuple(findings)
    framed = first_doubt(findings, Doubt.FRAME)
    if framed is not None:
        return NoEstimate(outcome.stamp_ns, outcome.frame_id, framed.text, outcome.findings,
                          is_finding=True)
    verdict = list(outcome.verdict)
    worst = first_doubt(findings, Doubt.MASS | Doubt.COM)
    for finding in findings:
        for doubt, begin, end in _GROUPS:
            if doubt_of(finding) & doubt:
                verdict[begin:end] = [UNOBSERVED] * (end - begin)
    return replace(outcome, verdict=tuple(verdict),
                   doubted=outcome.doubted if worst is None else worst.text)


if __name__ == "__main__":
    print(doubt_list(), end="")


LEVELS = ("info", "warning", "error")


@dataclass(frozen=True)
class Finding:
    """What the user should know: level is ``info``, ``warning`` or ``error``; text one sentence,
    in which names from outside are fit to print.

    Attributes:
        name: its kind, and after a dot what it is about, where that may be one of several.
    """

    name: str
    level: str
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", printable(self.text))

    @property
    def kind(self) -> str:
        """The name without what it is about."""
        return self.name.partition(".")[0]

    def is_one_of(self, names: Iterable[str]) -> bool:
        """Whether its name or its kind is among these."""
        return any(name in (self.name, self.kind) for name in names)


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings, errors first."""
    return tuple(sorted(findings, key=lambda f: -LEVELS.index(f.level)))


@dataclass(frozen=True)
class Missing:
    """What an input still lacks before it can be used, in one sentence.

    Attributes:
        is_finding: whether a finding says so, too.
    """

    text: str
    is_finding: bool = False


class FindingLog:
    """The present findings by name: the last text of each, and how often it was counted.

    They are for people: what a stage has found out and others act upon, it says by values of its
    own, so nobody can ask here for a name.
    """

    def __init__(self) -> None:
        self._findings: dict[str, Finding] = {}
        self._counts: dict[str, int] = {}

    def set(self, name: str, level: str, text: str) -> None:
        """Record a finding in place of the earlier one of that name."""
        self._findings[name] = Finding(name, level, text)

    def count(self, name: str, text: str, level: str = "warning") -> None:
        """Record a finding about an event, with how often the event has happened so far."""
        self._counts[name] = self._counts.get(name, 0) + 1
        n = self._counts[name]
        times = "once" if n == 1 else f"{n} times"
        self._findings[name] = Finding(name, level, f"{text} ({times})")

    def set_or_clear(self, name: str, level: str, text: str) -> None:
        """Record a finding where there is a text, and remove it where there is none."""
        if text:
            self.set(name, level, text)
        else:
            self.clear(name)

    def lower(self, name: str, level: str) -> None:
        """Give a finding that is over, if it is there, a lower level."""
        if name in self._findings:
            self._findings[name] = replace(self._findings[name], level=level)

    def error(self, name: str, text: str) -> InvalidData:
        """Record a finding of level ``error``; returns the exception to raise with its text."""
        self.set(name, "error", text)
        return InvalidData(text, is_finding=True)

    def clear(self, *names: str) -> None:
        """Remove findings and their counts by name."""
        for name in names:
            self._findings.pop(name, None)
            self._counts.pop(name, None)

    def clear_all(self) -> None:
        """Remove all findings and their counts."""
        self._findings.clear()
        self._counts.clear()

    def all(self) -> tuple[Finding, ...]:
        """All findings, errors first."""
        return sort_findings(self._findings.values())
