# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Reports for a terminal, and as one HTML file, which opens from disk without network:
`templates/page.html` with the parts that are defined here, and charts by matplotlib."""

from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...cli import VERSION
from ...errors import printable
from ...estimate import CONFIDENCE_95, Estimate
from ...extras import optional_packages
from ...inertia import Array
from ...samples.wrenches import CHANNELS
from . import results
from .results import Diagnosis, Identification, Prediction, Table, two_digits

Curve = tuple[str, Array, str]  # name in the legend, values (n,), and format of `Axes.plot`
# Errors of the set-up: of `Estimate.alignment`.
ALIGNMENT = (*((f"sensor turned about {axis}", "deg", np.rad2deg(1.0)) for axis in "xyz"),
             *((f"gravity tilted about {axis}", "deg", np.rad2deg(1.0)) for axis in "xy"),
             ("stamps of the wrench early by", "ms", 1e3))
WRENCH_BINS = 1200  # of the end of a recording, in which single motions can be distinguished
UNSEEN = ("Data that the estimate had not seen, outside contacts, in means over 10 ms: predicted "
          "by the newest estimate before, whose bias counts for both payloads.")
SEEN = "Poses at rest, all of which the estimate was made of."


class Figure(NamedTuple):
    """A picture in words, and as the file of an SVG in base64."""

    text: str
    svg: str


Part = str | Table | list[Figure]  # paragraph; table; pictures side by side


class Section(NamedTuple):
    """A section of a page, with a name to link to."""

    heading: str
    name: str
    parts: Sequence[Part]


def print_report(title: str, sections: Sequence[Section], verdict: Diagnosis) -> None:
    """Print what sections hold, without pictures; last the verdict: what came out, and if that is
    not good, why, and what to do."""
    lines = [title]
    for part in (part for section in sections for part in section.parts):
        if isinstance(part, Table):
            rows = [part.heads, *part.rows]
            widths = [max(len(str(cell)) for cell in column) for column in zip(*rows, strict=True)]
            lines += ["", part.caption, *("  ".join(
                str(cell).rjust(width) if k else str(cell).ljust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))) for row in rows)]
        elif isinstance(part, str):
            lines.append(part)
    lines.append(f"{verdict.word}: {verdict.said}")
    if verdict.tone != results.GOOD:
        lines += [*(f"  why: {text}" for text in verdict.reasons),
                  *(f"  to do: {text}" for text in verdict.mends)]
    print("\n".join(map(printable, lines)))


def render(title: str, verdict: Diagnosis, sections: Sequence[Section]) -> str:
    """A whole page, in one file (raises MissingPackage)."""
    with optional_packages("writing a report"):
        from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader(__package__ or ""), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template("page.html").render(
        title=title, verdict=verdict, sections=sections) + "\n"


def chart(title: str, unit: str, time: Array, curves: Sequence[Curve], description: str,
          over: str = "time [s]") -> Figure:
    """A chart of curves over times (n,) [s], or over something else (raises MissingPackage): NaN is
    a gap; no name, no entry in the legend. description: what there is to see."""
    with optional_packages("drawing a report"):
        from matplotlib.figure import Figure as Drawing
    drawing = Drawing(figsize=(4.6, 2.9), layout="constrained")
    axes = drawing.add_subplot()
    for name, values, style in curves:
        axes.plot(time, values, style, linewidth=1.2, label=name or "_")
    axes.set_title(f"{title} [{unit}]", fontsize=9)
    axes.set_xlabel(over, fontsize=8)
    axes.margins(x=0.02)
    axes.grid(color="#eceef1")
    drawing.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    out = BytesIO()
    drawing.savefig(out, format="svg", metadata={"Date": None})
    return Figure(f"{title}: {description}", b64encode(out.getvalue()).decode())


def wrench_section(heading: str, name: str, said: str, prediction: Prediction) -> Section:
    """A wrench as measured and predicted (raises MissingPackage); said: which motion it is of."""
    time, measured, after, shown = *prediction[:2], prediction.after, slice(-WRENCH_BINS, None)
    solid, dashed, over = ("o", "k_", "row") if prediction.at_rest else ("-", "k--", "time [s]")
    return Section(heading, name, [
        f"{said} In colours: measured. Black: predicted by the payload of the estimate.",
        Table("Residual wrench, rms", ("", "force", "torque"), [
            (label, f"{two_digits(force)} N", f"{two_digits(torque)} N m")
            for label, force, torque in prediction.rows()]),
        [chart(title, unit, time[shown], [
            *zip("xyz", measured[shown, channels].T, map("{}{}".format, "rgb", solid * 3),
                 strict=False),
            *zip(("predicted", "", ""), after[shown, channels].T, (dashed,) * 3, strict=True)],
            f"measured and predicted {title.lower()}", over)
            for title, unit, channels in (
                ("Force", "N", slice(0, 3)), ("Torque", "N m", slice(3, 6)))]])


def provenance_section(source: str, command: str) -> Section:
    """What a report was made from, and the command that makes it again."""
    return Section("How to reproduce it", "reproduce", [
        f"Source: {source}. Command: {command}. Made by inertial_id_ros {VERSION}."])


def payload_page(result: Identification, recording: Path, command: str) -> str:
    """The report of a run, as HTML in one file (raises MissingPackage)."""
    *numbers, checks = payload_sections(result)
    wrench = [] if not (result.prediction and result.prediction.residuals) else [wrench_section(
        "Measured and predicted wrench", "wrench", SEEN if result.prediction.at_rest else UNSEEN,
        result.prediction)]
    return render(f"Payload report: {recording.name}", results.diagnose(result), [
        *numbers[:1], *wrench, *numbers[1:], checks, provenance_section(str(recording), command)])


def payload_sections(result: Identification) -> list[Section]:
    """The numbers of an estimate and what limits their accuracy, where there is one, and what was
    read and found; without pictures."""
    found, tool = result.outcome, [] if result.tool is None else [
        f"note: the object is apart from {result.tool.describe()}"]
    checks = Section("Checks", "checks", [
        Table(f"What was read, {result.duration:.1f} s", ("topic", "messages"),
              [(name, str(count)) for name, count in result.counts.items()]),
        *(f"{f.level}: {f.text}" for f in result.findings),
        *(f"note: {note}" for note in result.notes), *tool])
    if not isinstance(found, Estimate):
        return [checks]
    rows = [(name, *results.round_to_spread(scale * value, CONFIDENCE_95 * scale * sigma), unit)
            for (name, unit, scale), value, sigma in zip(
                ALIGNMENT, found.alignment, found.alignment_sigma, strict=False) if sigma]
    limits: list[Part] = [Table("Errors of the set-up, estimated with the payload",
                                ("", "value", "\u00b1 95 %", "unit"), rows)] if rows else []
    if np.any(found.residual_rms):  # joint torques know no channels of a sensor
        limits.append(Table("Sensor", ("channel", "bias", "residual rms", "unit"), [
            (name, f"{round(bias, digits) + 0.0:.{digits}f}", two_digits(rms), unit)
            for name, bias, rms, digits, unit in zip(
                CHANNELS, found.bias, found.residual_rms, (3, 3, 3, 4, 4, 4),
                (*("N",) * 3, *("N m",) * 3), strict=True)]))
    return [Section("Mass, centre of mass, inertia", "parameters", [
        results.parameter_table(found),
        f"In axes of {found.frame_id}; inertia about the centre of mass, off-diagonals as entries "
        f"of the tensor. Method {found.method}, {found.samples} samples, {found.window:.1f} s."]),
        Section("What limits the accuracy", "limits", limits or ["More motion tells more."]),
        checks]
