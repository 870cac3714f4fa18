# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The verdict on the first screen: what came out, why, and what to do about it.

Sentences and advice are those of the table of findings.
"""

from __future__ import annotations

from typing import NamedTuple

from ...estimate import UNOBSERVED, Estimate
from ...kinds import KINDS, Finding, doubt_of, sort_findings
from .results import Identification, is_identified, summary, two_digits

GOOD, FAIR, BAD = "good", "fair", "bad"  # tones of the style
MOST = 3  # findings in the verdict
NO_ADVICE = ("nothing", "fine as it is", "as the text says")  # remedies that ask for nothing
CHANGES = ("payload_changed", "estimate_lost")
TILT = "tilt the sensor by 60\u00b0 and more about two axes"
TURN = "turn the sensor quickly about all three axes, with changes of speed"


class Diagnosis(NamedTuple):
    """The verdict.

    Attributes:
        tone: GOOD, FAIR or BAD; word: for those who do not see colours.
        said: what came out, in one sentence; reasons: why; mends: what to do.
    """

    tone: str
    word: str
    said: str
    reasons: tuple[str, ...]
    mends: tuple[str, ...]


def diagnose(result: Identification) -> Diagnosis:
    """The verdict on a run."""
    outcome, found = result.outcome, worth_saying(result)
    reasons = [sentence(f.text) for f in found]
    mends = list(dict.fromkeys(advice for f in found if (advice := advice_of(f))))
    if not isinstance(outcome, Estimate):
        said = reasons[0] if found and found[0].level == "error" else sentence(outcome.reason)
        if not any(doubt_of(f) for f in found) and outcome.needs_motion:
            mends.append(sentence(TILT))
        return Diagnosis(BAD, "No estimate", said, tuple(r for r in reasons if r != said),
                         tuple(mends))
    if (unseen := result.prediction and result.prediction.residual()) is not None:
        (without, with_), _ = unseen
        reasons.append("On data that it had not seen, the estimate leaves "
                       f"{two_digits(with_)} N of force; without it there are {without:.3g} N.")
    if outcome.stale:
        reasons.append(sentence("the estimate is held: " + (
            outcome.stale_reason or "there are no new data")))
    known = UNOBSERVED not in outcome.verdict or outcome.carries_nothing
    if not found and not outcome.carries_nothing:
        mends += [sentence(motion) for motion, members in (
            (TILT, slice(0, 4)), (TURN, slice(4, 10))) if UNOBSERVED in outcome.verdict[members]]
    tone, word = FAIR, ("Identified, with a reservation" if known else
                        "Mass and centre of mass identified")
    if not is_identified(outcome):
        tone, word = BAD, "Not identified"
    elif known and not outcome.stale and not found:
        tone, word, mends = GOOD, "Identified", []
    return Diagnosis(tone, word, summary(outcome), tuple(reasons), tuple(mends))


def worth_saying(result: Identification) -> list[Finding]:
    """The findings that say most: errors alone, as others follow from them; else those that put
    something in doubt before other warnings, and changes of the payload. Without an estimate also
    those that are over."""
    last = {f.name: f for f in result.findings if f.kind != "no_estimate"}
    if not any(isinstance(item.outcome, Estimate) for item in result.history):
        earlier = {f.name: f for item in result.history for f in item.findings}
        last = {name: f for name, f in earlier.items() if f.level != "info"} | last
    some = [f for f in last.values() if f.level == "error"] or [
        f for f in last.values() if f.level != "info" or f.kind in CHANGES]
    return sorted(sort_findings(some), key=lambda f: not doubt_of(f))[:MOST]


def advice_of(finding: Finding) -> str:
    """What to do about a finding, as a sentence; empty: nothing."""
    kind = KINDS.get(finding.kind)
    return "" if kind is None or kind.remedy.startswith(NO_ADVICE) else sentence(kind.remedy)


def sentence(text: str) -> str:
    """A finding as a sentence."""
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "?")) else ".")
