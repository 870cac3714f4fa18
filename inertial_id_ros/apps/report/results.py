# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The result of a run over a recording, its numbers with the digits that they deserve, and how well
estimates predict what they have not seen (Dawid 1984, the prequential principle)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...estimate import CONFIDENCE_95, NOTHING_CARRIED, UNOBSERVED, VERDICT_WORDS, Estimate, Outcome
from ...identify.identifier import Identifier
from ...inertia import PARAMETERS, Array
from ...kinds import KINDS, TILT, TURN, Finding, doubt_of, sort_findings
from ...model.history import LONGEST
from ...model.newton_euler import GRAVITY, static_wrench
from ...model.newton_euler import regressor_of as regressor_of
from ...model.tool import Tool
from ...motion.motion import BIN, BIN_NS

NAMES = ("mass", "COM x", "COM y", "COM z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
# In tables, whose inertia is copied into files that want kg m^2.
UNITS = ("kg", *("mm",) * 3, *("kg m^2",) * 6)
SCALES = (1.0, *(1e3,) * 3, *(1.0,) * 6)
GROUPS = (("mass", slice(0, 1)), ("centre of mass", slice(1, 4)), ("inertia", slice(4, 10)))
LEAST = 50  # bins that must be predicted: half a second
TIMES = 2.0  # the errors of the sensor that may remain in a proof
GOOD, FAIR, BAD = "good", "fair", "bad"  # tones of the style
TONES = (BAD, FAIR, GOOD)  # of the verdicts
MOST = 3  # findings in the verdict
NOTEWORTHY = ("payload_changed", "estimate_lost", "clock_offset")  # though no warnings


class Snapshot(NamedTuple):
    """What was known at a time [s] since the start of the recording."""

    time: float
    outcome: Outcome
    findings: tuple[Finding, ...] = ()


class Identification(NamedTuple):
    """The result of a run over a recording."""

    outcome: Outcome  # the last estimate, or why there is none
    history: tuple[Snapshot, ...]  # in between, oldest first
    findings: tuple[Finding, ...]  # of the recording, and of the identifier at the end
    duration: float  # of the recording [s]
    counts: dict[str, int]  # messages read, by topic
    notes: tuple[str, ...] = ()  # choices that were made for the user
    tool: Tool | None = None  # that was taken out of the estimate
    prediction: "Prediction | None" = None  # of the wrench at the end of the recording


def summary(outcome: Estimate) -> str:
    """What came out in one sentence."""
    if outcome.doubted:
        return f"The result is in doubt: {outcome.doubted}."
    walk = f", and changes: {outcome.walk}" if outcome.walk else ""
    if outcome.carries_nothing:
        return f"{NOTHING_CARRIED[0].upper()}{NOTHING_CARRIED[1:]}{walk}."
    unknown = [name for name, part in GROUPS if UNOBSERVED in outcome.verdict[part]]
    known = [name for name, _ in GROUPS if name not in unknown]
    said = ", but ".join(
        f"{verb} {word.join(names).replace(word, ', ', len(names) - 2)}" for verb, word, names in (
            ("identifies", " and ", known), ("does not identify", " or ", unknown)) if names)
    return f"This motion {said}{walk}."


def is_identified(outcome: Outcome) -> bool:
    """True if mass and centre of mass are known, or that the tool carries nothing."""
    return isinstance(outcome, Estimate) and (
        outcome.carries_nothing or UNOBSERVED not in outcome.verdict[:4])


def two_digits(value: float) -> str:
    """A number to its second significant digit, with an exponent only from a million on.

    Examples:
        >>> two_digits(123.4), two_digits(0.0447)
        ('120', '0.045')
    """
    return f"{float(f'{value:.2g}'):g}"


def round_to_spread(value: float, spread: float) -> tuple[str, str]:
    """Round a value and its spread to the second significant digit of the spread, or to integers.

    Examples:
        >>> round_to_spread(0.93312, 0.00447)
        ('0.9331', '0.0045')
    """
    if not np.isfinite(spread) or spread <= 0.0:
        return f"{value:.6g}", f"{spread:g}"
    decimals = max(1 - int(np.floor(np.log10(spread))), 0)
    shown = round(value, decimals) + 0.0  # + 0.0 makes 0.0 of -0.0
    return f"{shown:.{decimals}f}", f"{spread:.{decimals}f}"


def interval(value: float, spread: float, positive: bool = False) -> str:
    """A value with its interval, which does not reach below zero where that cannot be.

    Examples:
        >>> interval(0.93312, 0.00447), interval(3.71, 7.28, True)
        ('0.9331 ± 0.0045', '3.7 (0 to 11.0)')
    """
    shown, about = round_to_spread(value, spread)
    if positive and value < spread:
        return f"{shown} (0 to {round_to_spread(value + spread, spread)[0]})"
    return f"{shown} ± {about}"


class Cell(NamedTuple):
    """A text with a tone: good, fair or bad, none, or `text`, which is aligned to the left."""

    text: str
    tone: str

    def __str__(self) -> str:
        return self.text


class Table(NamedTuple):
    """A table whose first column names its rows."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]


def parameter_table(estimate: Estimate) -> Table:
    """Value, 95 % interval, unit and verdict of the ten reported parameters."""
    rows = []
    for name, unit, scale, value, sigma, verdict in zip(
            NAMES, UNITS, SCALES, estimate.report, estimate.sigma, estimate.verdict, strict=True):
        shown, spread = round_to_spread(scale * value, CONFIDENCE_95 * scale * sigma)
        rows.append((name, shown, f"\u00b1 {spread}", unit.replace("^2", "\u00b2"),
                     Cell(VERDICT_WORDS[verdict], TONES[verdict])))
    return Table("Payload", ("parameter", "value", "95 %", "unit", "verdict"), rows)


class Prediction(NamedTuple):
    """The wrench of a motion in bins of 10 ms, and what two payloads make of it [N, N m]; NaN:
    nothing measured or predicted, or something touched."""

    time: Array  # (n,) [s]
    measured: Array  # (n, 6)
    before: Array  # (n, 6) of the payload without the estimate: none, or what the robot has
    after: Array  # (n, 6) of the estimate
    allowed: tuple[float, ...] = ()  # rms force and torque that errors of the sensor explain
    at_rest: bool = False  # True: time is a row of poses at rest, and the estimate has seen them

    @property
    def residuals(self) -> tuple[tuple[float, ...], ...]:
        """Rms of force [N] and torque [N m] that remain without and with the estimate, where it
        predicts; empty: in too few bins."""
        used = np.isfinite(self.measured[:, 0] + self.after[:, 0])
        return () if used.sum() < LEAST and not self.at_rest else tuple(
            rms_lengths((self.measured - model)[used]) for model in (self.before, self.after))

    @property
    def is_proof(self) -> bool:
        """True if the estimate leaves no more than is allowed, nor than there is without it."""
        return all(after <= allowed and after <= max(before, allowed / TIMES)
                   for before, after, allowed in zip(*self.residuals, self.allowed, strict=True))

    def rows(self) -> list[tuple[str, float, float]]:
        """What remains of force [N] and torque [N m], by payload."""
        names = "without the estimate", "with the estimate", "explained by the sensor's errors"
        return [(name, force, torque) for name, (force, torque) in zip(
            names, filter(None, (*self.residuals, self.allowed)), strict=False)]


def rms_lengths(wrench: Array) -> tuple[float, ...]:
    """Root mean square lengths of force [N] and torque [N m] of wrenches (n, 6)."""
    squares = np.square(wrench).reshape(-1, 2, 3)
    return tuple(np.sqrt(squares.sum(axis=2).mean(axis=0)).tolist())


def prediction_of(identifier: Identifier, outcomes: Sequence[Outcome], origin: int
                  ) -> Prediction | None:
    """Predict the wrench of the present payload that an identifier still has, each bin by the last
    estimate before it among outcomes, oldest first; None: it has none; origin: stamp of 0 s [ns].
    """
    history, tool = identifier.course.history, identifier.beliefs.tool
    window = history.window(identifier.course.ready, LONGEST)
    motion, n = window.motion, len(window.used)
    if not n or identifier.settings.load.robot:
        return None
    rows, sign = regressor_of(motion), identifier.settings.wrench.sign
    beside = np.zeros(PARAMETERS) if tool is None else tool.phi
    valid = [e for e in outcomes if isinstance(e, Estimate) and not e.stale]
    last = np.searchsorted([e.stamp_ns // BIN_NS for e in valid], motion.number) - 1
    before, after = np.full((2, n, 6), np.nan)
    for k in np.flatnonzero(window.used & (last >= 0)).tolist():
        estimate = valid[last[k]]
        late = round(-sum(estimate.alignment[5:]) / BIN)  # bins, of the wrench; empty: not known
        if 0 <= k - late < n:
            before[k] = estimate.bias
            after[k] = estimate.bias + sign * rows[k - late] @ (estimate.phi + beside)
    measured = np.where(window.used[:, None], sign * window.wrench, np.nan)
    return Prediction((motion.number + 0.5) * BIN - 1e-9 * origin, measured, before, after)


def prediction_at_rest(outcome: Outcome, tool: Tool | None, turn: Array, wrench: Array, sign: float
                       ) -> Prediction | None:
    """The wrenches (n, 6) of poses at rest (n, 3, 3), as read, and what the estimate that was made
    of them predicts; None: there is none; sign: of readings against W + bias."""
    if not isinstance(outcome, Estimate):
        return None
    phi = outcome.phi if tool is None else outcome.phi + tool.phi
    before = np.tile(outcome.bias, (len(turn), 1))
    return Prediction(np.arange(len(turn)) + 1.0, wrench, before, before + sign * static_wrench(
        phi, -GRAVITY @ turn), at_rest=True)


class Diagnosis(NamedTuple):
    """The verdict."""

    tone: str  # GOOD, FAIR or BAD
    word: str  # for those who do not see colours
    said: str  # what came out, in one sentence
    reasons: tuple[str, ...]
    mends: tuple[str, ...]  # what to do


def diagnose(result: Identification) -> Diagnosis:
    """The verdict on a run, with the findings that say most: errors alone, as others follow from
    them; else those that put something in doubt before other warnings, and changes of the payload.
    """
    outcome, last = result.outcome, {f.name: f for f in result.findings}
    if not any(isinstance(item.outcome, Estimate) for item in result.history):
        earlier = {f.name: f for item in result.history for f in item.findings}  # that are over
        last = {name: f for name, f in earlier.items() if f.level != "info"} | last
    found = [f for f in last.values() if f.level == "error"] or [
        f for f in last.values() if f.level != "info" or f.kind in NOTEWORTHY]
    found = sorted(sort_findings(found), key=lambda f: not doubt_of(f))[:MOST]
    reasons = [sentence(f.text) for f in found]
    mends = list(dict.fromkeys(sentence(kind.remedy) for f in found if (
        kind := KINDS.get(f.kind)) and kind.remedy))
    if not isinstance(outcome, Estimate):
        said = reasons[0] if found and found[0].level == "error" else sentence(outcome.reason)
        if outcome.needs_motion and not any(map(doubt_of, found)):
            mends.append(sentence(TILT))
        return Diagnosis(BAD, "No estimate", said, tuple(r for r in reasons if r != said),
                         tuple(mends))
    predicted = result.prediction
    unseen = predicted.residuals if predicted and not predicted.at_rest else ()
    if unseen and not any(f.kind == "removed_payload" for f in found):  # which is not predicted
        (without, _), (with_, _) = unseen
        reasons.append("On data that it had not seen, the estimate leaves "
                       f"{two_digits(with_)} N of force; without it there are {without:.3g} N.")
    if outcome.stale:
        reasons.append(sentence("the estimate is held: " + (
            outcome.stale_reason or "there are no new data")))
    known = UNOBSERVED not in outcome.verdict or outcome.carries_nothing
    if not any(map(doubt_of, found)) and not outcome.carries_nothing:
        mends = [sentence(motion) for motion, members in (
            (TILT, slice(0, 4)), (TURN, slice(4, 10))) if UNOBSERVED in outcome.verdict[members]
                 ] + mends
    tone, word = FAIR, ("Identified, with a reservation" if known else
                        "Mass and centre of mass identified")
    if not is_identified(outcome):
        tone, word = BAD, ("Not identified" if outcome.verdict[0] == UNOBSERVED else
                           "Mass alone identified")
    elif known and not outcome.stale and not found:
        tone, word, mends = GOOD, "Identified", []
    return Diagnosis(tone, word, summary(outcome), tuple(reasons), tuple(mends))


def sentence(text: str) -> str:
    """A finding as a sentence."""
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "?")) else ".")
