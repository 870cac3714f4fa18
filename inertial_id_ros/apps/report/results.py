# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is reported of a run over a recording: names, units and digits; the estimate over time, what
was measured, and how well the estimate predicts what it has not seen.

The compensated wrench of a bin is made with the newest estimate before it, so every number of
`HeldOut` is of data that its estimate did not hold (Dawid 1984, the prequential principle).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...estimate import NOTHING_CARRIED, Estimate, NoEstimate, Outcome
from ...findings import Finding
from ...geometry.shape import Shape
from ...identification.verdict import summarise_verdict
from ...inertia import PARAMETERS, Array
from ...regression.newton_euler import static_regressor
from ...regression.tool import Tool
from ...signals.bins import BIN_NS

CONFIDENCE_95 = 1.96  # standard deviations on either side that hold 95 % of a normal distribution

NAMES = ("mass", "COM x", "COM y", "COM z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
# In tables, whose inertia is copied into files that want kg m^2.
UNITS = ("kg", *("mm",) * 3, *("kg m^2",) * 6)
SCALES = (1.0, *(1e3,) * 3, *(1.0,) * 6)
INERTIA_UNIT, INERTIA_SCALE = "g m\u00b2", 1e3  # in charts and on the card, to be read
# Charts over time: title, unit, members and factor from SI.
PANELS = (("Mass", "kg", (0,), 1.0), ("Centre of mass", "mm", (1, 2, 3), 1e3),
          ("Moments of inertia about the COM", INERTIA_UNIT, (4, 7, 9), INERTIA_SCALE),
          ("Products of inertia about the COM", INERTIA_UNIT, (5, 6, 8), INERTIA_SCALE))
CHANNELS = ("fx", "fy", "fz", "tx", "ty", "tz")


def summary(outcome: Estimate | NoEstimate) -> str:
    """The verdict in one sentence, or why there is no estimate."""
    if isinstance(outcome, Estimate):
        if outcome.doubted:
            return f"The result is in doubt: {outcome.doubted}."
        text = (NOTHING_CARRIED if outcome.carries_nothing
                else summarise_verdict(outcome.verdict))
        walk = f", and changes: {outcome.walk}" if outcome.walk else ""
        return f"{text[0].upper()}{text[1:]}{walk}."
    return f"No valid estimate: {outcome.reason}"


def percent(part: float, whole: float) -> str:
    """A part as percentage of a whole, with two significant digits below 10 %.

    Examples:
        >>> percent(0.13, 13.8), percent(7.1, 6.92)
        ('0.94 %', '103 %')
    """
    share = 100.0 * part / max(whole, 1e-300)
    return f"{share:.2g} %" if share < 9.95 else f"{share:.0f} %"


def two_digits(value: float) -> str:
    """A number to its second significant digit, with an exponent only from a million on.

    Examples:
        >>> two_digits(123.4), two_digits(0.0447)
        ('120', '0.045')
    """
    shown = float(f"{value:.2g}")
    return f"{shown:.0f}" if 100.0 <= abs(shown) < 1e6 else f"{shown:.2g}"


def round_to_spread(value: float, spread: float) -> tuple[str, str]:
    """Round a value and its spread to the second significant digit of the spread.

    Examples:
        >>> round_to_spread(0.93312, 0.00447)
        ('0.9331', '0.0045')
    """
    if not np.isfinite(spread) or spread <= 0.0:
        return f"{value:.6g}", f"{spread:g}"
    decimals = 1 - int(np.floor(np.log10(spread)))
    if -4 <= decimals < 0:
        return f"{round(value, decimals) + 0.0:.0f}", two_digits(spread)
    if not 0 <= decimals <= 9:
        return f"{value:.3g}", f"{spread:.2g}"
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


@dataclass(frozen=True)
class Snapshot:
    """What was known at one tick.

    Attributes:
        time: since the start of the recording [s].
        findings: those at that time, where a trace is kept.
    """

    time: float
    outcome: Outcome
    findings: tuple[Finding, ...] = ()


@dataclass
class Trace:
    """Wrenches over time, for plot and report.

    Attributes:
        origin: stamp of the start of the recording [ns].
        stamps: (n,) [ns] and measured: (n, 6) wrenches as recorded [N, N m].
        settled_stamps: arrays of stamps [ns] and compensated: arrays (k, 6) of wrenches, averaged
            over the pipeline's bins, with the payload's part and the bias removed [N, N m].
        poses: now and then, a stamp [ns] and the rotation (3, 3) from sensor to gravity frame.
    """

    origin: int = 0
    stamps: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    measured: Array = field(default_factory=lambda: np.empty((0, 6)))
    settled_stamps: list[np.ndarray] = field(default_factory=list)
    compensated: list[Array] = field(default_factory=list)
    poses: list[tuple[int, Array]] = field(default_factory=list)


@dataclass(frozen=True)
class Identification:
    """The result of a run over a recording.

    Attributes:
        outcome: the last estimate, or why there is none.
        history: the outcome at each tick of the timer, oldest first.
        findings: of the recording, and of the pipeline at the end.
        duration: length of the recording [s].
        counts: messages read, by topic.
        frames: names of all frames in the transforms and the robot description.
        trace: wrenches over time; empty unless asked for.
        notes: choices that were made for the user.
        tool: that was taken out of the estimate; None: none.
        shape: of the object, as it was known at the end; None: not known.
    """

    outcome: Outcome
    history: tuple[Snapshot, ...]
    findings: tuple[Finding, ...]
    duration: float
    counts: dict[str, int]
    frames: frozenset[str]
    trace: Trace
    notes: tuple[str, ...]
    tool: Tool | None
    shape: Shape | None = None


WRENCH_SECONDS = 12.0  # the wrench is shown for the end of the recording
_HALF_NS = 20_000_000  # readings this near to a pose are averaged


class Curves(NamedTuple):
    """Estimates over time: time (n,) [s], value (n, 10), sigma (n, 10), last verdict (10,)."""

    time: Array
    value: Array
    sigma: Array
    verdict: tuple[int, ...]


class WrenchCurves(NamedTuple):
    """Wrenches over time: time (k,) [s], measured (k, 6), model (k, 6) [N, N m].

    Attributes:
        weight_only: whether the model is that of the weight, without accelerations.
    """

    time: Array
    measured: Array
    model: Array
    weight_only: bool = False

    @property
    def is_predicted(self) -> bool:
        """Whether the model says anything."""
        return bool(np.isfinite(self.model).any())


def estimate_curves(result: Identification) -> Curves:
    """The valid estimates of the history."""
    valid = [(s.time, s.outcome) for s in result.history if isinstance(s.outcome, Estimate)]
    return Curves(np.array([time for time, _ in valid]),
                  np.array([e.report for _, e in valid]).reshape(-1, 10),
                  np.array([e.sigma for _, e in valid]).reshape(-1, 10),
                  valid[-1][1].verdict if valid else ())


def wrench_curves(trace: Trace) -> WrenchCurves:
    """Measured wrench in the pipeline's bins, and what the model says of them.

    The pipeline gives the compensated wrench, which is measured minus model; the measured one is
    averaged over the same bins here. The model is NaN where the pipeline had no estimate.
    """
    if not len(trace.stamps):
        return WrenchCurves(np.empty(0), np.empty((0, 6)), np.empty((0, 6)))
    rows = trace.measured
    number, inverse, count = np.unique(trace.stamps // BIN_NS, return_inverse=True,
                                       return_counts=True)
    sums = np.column_stack([np.bincount(inverse, weights=rows[:, c]) for c in range(6)])
    measured: Array = sums / count[:, None]
    model: Array = np.full(measured.shape, np.nan)
    if trace.compensated:
        settled = np.concatenate(trace.settled_stamps) // BIN_NS
        compensated = np.concatenate(trace.compensated)
        _, here, there = np.intersect1d(number, settled, return_indices=True)
        model[here] = measured[here] - compensated[there]
    time = ((number + 0.5) * BIN_NS - trace.origin) * 1e-9
    return WrenchCurves(time, measured, model)


def last_part(curves: WrenchCurves) -> WrenchCurves:
    """The end of a long recording, in which single motions can be distinguished."""
    if len(curves.time) == 0:
        return curves
    kept = curves.time >= curves.time[-1] - WRENCH_SECONDS
    return WrenchCurves(curves.time[kept], curves.measured[kept], curves.model[kept],
                        curves.weight_only)


def readings_at_poses(trace: Trace) -> tuple[np.ndarray, Array, Array]:
    """Stamps (n,) [ns], rotations (n, 3, 3) from sensor to gravity frame, and readings (n, 6)."""
    stamps = trace.stamps
    at, rotations, readings = [], [], []
    for stamp, rotation in trace.poses:
        first, last = np.searchsorted(stamps, (stamp - _HALF_NS, stamp + _HALF_NS))
        if last > first:
            at.append(stamp)
            rotations.append(rotation)
            readings.append(np.mean(trace.measured[first:last], axis=0))
    return (np.array(at, dtype=np.int64), np.array(rotations).reshape(-1, 3, 3),
            np.array(readings).reshape(-1, 6))


def weight_curves(result: Identification, sign: float, gravity: float) -> WrenchCurves:
    """Measured wrench at the poses of a trace, and what the weight of the newest estimate before
    makes of it: for recordings in which no estimate could compensate.

    Args:
        sign: of the reading against the wrench on the payload; gravity: [m/s^2].
    """
    stamps, rotations, measured = readings_at_poses(result.trace)
    time = (stamps - result.trace.origin) * 1e-9
    estimates = [(s.time, s.outcome) for s in result.history if isinstance(s.outcome, Estimate)]
    tool = np.zeros(PARAMETERS) if result.tool is None else result.tool.phi
    model = np.full(measured.shape, np.nan)
    for k, rotation in enumerate(rotations):
        before = [estimate for made, estimate in estimates if made < time[k] - 1e-3]
        if before:
            a = static_regressor(-gravity * rotation[2])
            model[k] = sign * a @ (before[-1].phi + tool) + before[-1].bias
    return WrenchCurves(time, measured, model, weight_only=True)


_LEAST, _LEAST_POSES = 20, 5  # bins, or poses


class HeldOut(NamedTuple):
    """What is left of the wrench, without and with the estimate.

    Attributes:
        wrenches: how many wrenches; left_out: how many more, during a contact.
        without, with_: rms (6,) per channel [N, N m].
        weight_only: whether the estimate predicts the weight alone.
    """

    wrenches: int
    left_out: int
    without: Array
    with_: Array
    weight_only: bool

    def lengths(self, channels: slice) -> tuple[float, float]:
        """Rms length of the force, or of the torque, without and with the estimate."""
        return (float(np.linalg.norm(self.without[channels])),
                float(np.linalg.norm(self.with_[channels])))


FORCE, TORQUE = slice(0, 3), slice(3, 6)


def contact_spans(history: tuple[Snapshot, ...]) -> list[tuple[float, float]]:
    """First and last time [s] of the stretches in which a contact lasted."""
    spans: list[tuple[float, float]] = []
    before = 0.0
    for item in history:
        if any(f.name == "contact" and f.level == "warning" for f in item.findings):
            if spans and spans[-1][1] == before:
                spans[-1] = (spans[-1][0], item.time)
            else:
                spans.append((before, item.time))
        before = item.time
    return spans


def held_out(curves: WrenchCurves, bias: Array, history: tuple[Snapshot, ...]) -> HeldOut | None:
    """What is left of the wrench of a recording; None where too little was predicted.

    Args:
        bias: (6,) reading without load [N, N m], which is taken from the wrench either way.
    """
    predicted = np.isfinite(curves.model[:, 0])
    touched = np.zeros(len(predicted), dtype=bool)
    for first, last in contact_spans(history):
        touched |= (curves.time >= first) & (curves.time <= last)
    used = predicted & ~touched
    if used.sum() < (_LEAST_POSES if curves.weight_only else _LEAST):
        return None
    measured, model = curves.measured[used], curves.model[used]
    return HeldOut(int(used.sum()), int((predicted & touched).sum()),
                   _rms(measured - bias), _rms(measured - model), curves.weight_only)


def _rms(values: Array) -> Array:
    """Root mean square (6,) of rows (n, 6)."""
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))
