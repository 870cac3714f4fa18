# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report of a session: one HTML file, from what came out to what was checked."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...cli import OK
from ...inertia import PARAMETER_NAMES, Array
from ...io.files import write_atomically
from ..report.charts import Axes, Curve, chart, limits_around
from ..report.html import Markup, element, page, section, table
from ..report.results import two_digits
from .progress import Part
from .proof import FORCE, TORQUE, Proof
from .record import End, Record, Row, Verdict

_AXES = ("x", "y", "z")
_TONES = {Verdict.PASSED: "good", Verdict.OPEN: "fair", Verdict.FAILED: "bad"}
# Unit and factor from SI, for each of the ten numbers.
_UNITS = (("kg", 1.0), *(("mm", 1e3),) * 3, *(("g m²", 1e3),) * 6)


def write_page(folder: Path, record: Record, end: End) -> Path:
    """Write the report into a folder, which is made where it is missing; its path (raises OSError).
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"identify_payload_{time.strftime('%Y%m%d-%H%M%S')}.html"
    write_atomically(path, session_page(record, end))
    return path


def session_page(record: Record, end: End) -> str:
    """The report as HTML."""
    title = "Payload session"
    parts = [element("h1", f"{title} of {time.strftime('%Y-%m-%d %H:%M')}"), _verdict(end, record)]
    known = record.parts or (record.progress[-1].parts if record.progress else ())
    if known:
        parts.append(_cards(known, record.proof))
    if record.report is not None:
        parts.append(_numbers(record))
    if record.proof is not None:
        parts.append(_proof_section(
            "Proof", "proof", record.proof, "what the robot has now", "the new payload",
            "A motion that the estimate has not seen. Solid: measured, without the bias of the "
            "sensor. Dashed: predicted."))
    if record.proof_after is not None:
        parts.append(_proof_section(
            "The driver's own wrench afterwards", "after", record.proof_after, "the payload once "
            "more", "nothing", "Once the driver subtracts the payload, its wrench must stay near "
            "zero while the arm moves."))
    if record.progress:
        parts.append(_progress_section(record))
    parts += [_checks(record.rows), _motions(record)]
    return page(title, *parts)


def _verdict(end: End, record: Record) -> Markup:
    """What came out, in words and colour."""
    good = end.status == OK
    wrong = [row for row in record.rows if row.verdict is Verdict.FAILED]
    advice = [element("dd", f"{row.name}: {row.advice}") for row in wrong]
    advice += [element("dd", end.advice)] if end.advice else []
    todo = [element("dl", element("dt", "What to do"), *advice, class_="todo")] if advice else []
    return element(
        "section", element("p", "✓ Done" if good else "× Not done", class_="word"),
        element("p", end.text, class_="said"), *todo, id="verdict",
        class_=f"verdict {'good' if good else 'bad'}", aria_label="Verdict")


def _cards(parts: Sequence[Part], proof: Proof | None) -> Markup:
    """Mass, centre of mass, inertia against the goal, as they were known last."""
    items = []
    for part in parts:
        width = f"± {two_digits(part.width)} {part.unit}" if part.is_known else "not told by motion"
        tone = "good" if part.is_reached else "fair"
        texts = [*re.split(r"(?<=[\d)]) ", part.value, maxsplit=1), width]  # each stays in a line
        items.append(element("li", element("span", part.name.capitalize()), element(
            "b", *(element("span", f"{text} ") for text in texts)), class_=tone))
    if proof is not None:
        before, after = proof.left
        items.append(element("li", element("span", "Force that is left, on an unseen motion"),
                             element("b", f"{before[0]:.3g} → {two_digits(after[0])} N")))
    return element("ul", *items, class_="cards")


def _numbers(record: Record) -> Markup:
    """The ten numbers with their intervals, and the truth where it is known."""
    assert record.report is not None and record.sigma is not None
    heads = ["", "value", "± 95 %"] + (["truth"] if record.truth is not None else [])
    rows = []
    for k, (name, (unit, factor)) in enumerate(zip(PARAMETER_NAMES, _UNITS, strict=True)):
        row = [f"{name} [{unit}]", f"{record.report[k] * factor:.4g}",
               two_digits(2.0 * record.sigma[k] * factor)]
        if record.truth is not None:
            row.append(f"{record.truth[k] * factor:.4g}")
        rows.append(row)
    applied = [element("p", record.applied)] if record.applied else []
    return section("Payload", "payload", *applied,
                   table(f"In frame '{record.frame}', inertia about the centre of mass", heads,
                         rows))


def _proof_section(heading: str, name: str, proof: Proof, before: str, after: str, said: str
                   ) -> Markup:
    """What is left of the wrench with two payloads, in numbers and as curves."""
    (f0, t0), (f1, t1) = proof.left
    rows = [[label, f"{two_digits(force)} N", f"{two_digits(torque)} N m"]
            for label, force, torque in ((before, f0, t0), (after, f1, t1),
                                         ("explained by the sensor's errors", *proof.allowed))]
    figures = [element("figure", _chart(proof, part, predicted, f"{title}, {label}", unit))
               for title, unit, part in (("Force", "N", FORCE), ("Torque", "N m", TORQUE))
               for label, predicted in ((before, proof.before), (after, proof.after))]
    return section(heading, name, element("p", said),
                   table("Left of the wrench (rms)", ["", "force", "torque"], rows),
                   element("div", *figures, class_="charts"))


def _chart(proof: Proof, part: slice, predicted: Array, title: str, unit: str) -> Markup:
    """Measured and predicted wrench over the time of the motion."""
    measured, model = proof.measured[:, part], predicted[:, part]
    lines = [Curve(name, proof.time, measured[:, k], name) for k, name in enumerate(_AXES)]
    lines += [Curve("predicted" if k == 0 else "", proof.time, model[:, k], "black", dashed=True)
              for k in range(3)]
    both = np.concatenate([proof.measured[:, part], proof.before[:, part], proof.after[:, part]])
    return chart(title, unit, lines, Axes((0.0, float(proof.time[-1])), limits_around(both, both)),
                 f"{title}: measured and predicted over {proof.time[-1]:.1f} s")


def _progress_section(record: Record) -> Markup:
    """How the intervals came down to the goal."""
    known = [p for p in record.progress if p.parts]
    if len(known) < 2:
        return section("On the way", "progress", element("p", "There was no estimate to draw."))
    time_, figures = np.array([p.elapsed for p in known]), []
    for k, (name, colour) in enumerate((("mass", "x"), ("centre of mass", "z"))):
        width = np.array([p.parts[k].width for p in known])
        goal = np.array([p.parts[k].goal for p in known])
        shown = np.minimum(width, 6.0 * goal)
        lines = [Curve("half of the interval", time_, shown, colour),
                 Curve("goal", time_, goal, "black", dashed=True)]
        figures.append(element("figure", chart(
            name.capitalize(), known[0].parts[k].unit, lines,
            Axes((0.0, float(time_[-1])), (0.0, float(1.05 * max(shown.max(), goal.max())))),
            f"the interval of {name} ends at {two_digits(width[-1])}")))
    return section("On the way", "progress", element("div", *figures, class_="charts"))


def _checks(rows: Sequence[Row]) -> Markup:
    """The table of checks."""
    return section("Checks", "checks", table(
        "What was measured, what was expected, what to do",
        ["check", "", "measured", "expected", "what to do"],
        [[row.name, element("td", row.verdict.value, class_=_TONES[row.verdict]),
          *(element("td", text, class_="text") for text in (
              row.measured, row.expected,
              row.advice if row.verdict is not Verdict.PASSED else ""))] for row in rows], "text"))


def _motions(record: Record) -> Markup:
    """What was moved."""
    rows = [[f"{k + 1}", element("td", words, class_="text"),
             f"{seconds:.1f} s" if seconds else "by hand"]
            for k, (words, seconds) in enumerate(record.motions)]
    return section("Motions", "motions", table("In this order", ["", "motion", "time"], rows)
                   if rows else element("p", "Nothing has moved."))

