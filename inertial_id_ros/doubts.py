# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What each finding puts in doubt, and what becomes of an estimate that is in doubt.

This is the one rule for all who hand an estimate on: messages, parameters, goals, `~/apply`,
exports, the client, the report and exit statuses follow `valid` and the verdict, which are made
here. A finding of level ``info`` puts nothing in doubt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Flag, auto

from .estimate import UNOBSERVED, Estimate, NoEstimate, Outcome
from .findings import Finding, sort_findings


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
    **dict.fromkeys(("translation_constant", "motion_slow"), Doubt.INERTIA),
    **dict.fromkeys(("contact", "load_unexplained", "input_stuck"), Doubt.PRESENT),
}

# Those that leave an estimate as it is: samples that are dropped, errors that are taken into
# account or widen the intervals, what is over, and what concerns the node.
HARMLESS = frozenset("""
    apply_failed asked_too_often blend_without_alignment bond_off cable clock_jumped clock_offset
    clock_stopped compensation_old compensation_silent estimate_lost estimate_stale
    file_not_written goal hysteresis internal_error joint_residual joint_states_incomplete
    joint_states_jumped message_malformed message_too_large misaligned motion_frozen motion_stopped
    mounting_changed newest_left_out no_estimate noise_measured noise_model_doubted overload
    parameters_not_used payload_changed program_topic_missing removed_payload reset
    residual_large restored robot_description_invalid samples_invalid samples_late samples_missing
    samples_reordered samples_repeated samples_saturated sensor_frame sensor_missing
    settings_changed shape_contradicted soft_mount stamp_missing stamp_stray stamps_still
    state_damaged streams_mixed tare_not_used verdict wrench_filtered
    zero_moved zero_or_contact
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
