# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A report as HTML in one file: parts that `templates/page.html` shows, and sections of several.

`ReportOrigin` says where a report comes from, so that it can be made again.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib import metadata
from typing import Any, NamedTuple

from ...errors import printable
from ...estimate import VERDICT_WORDS, Estimate
from ...extras import optional_packages
from ...settings import Settings, iter_settings
from .diagnosis import Diagnosis
from .results import (
    CHANNELS,
    CONFIDENCE_95,
    NAMES,
    SCALES,
    UNITS,
    Identification,
    round_to_spread,
    two_digits,
)

TONES = ("bad", "fair", "good")  # of the verdicts
_PACKAGES = ("inertial_id_ros", "numpy", "scipy", "pin")
_SETUP = (("wrench.topic", "topic of the wrench"), ("wrench.sensor_frame", "sensor frame"),
          ("wrench.sensor", "sensor"), ("wrench.convention", "sign of the wrench"),
          ("gravity.frame", "gravity frame"), ("load.robot", "robot file"),
          ("precompensated.source", "payload that the driver removes"), ("shape.type", "shape"),
          ("tool.file", "tool"), ("estimator.method", "method"), ("buffer.window", "window [s]"))


class ReportOrigin(NamedTuple):
    """What a report is made of.

    Attributes:
        title: of the page; source: the recording, or the node; command: that makes it again.
    """

    title: str
    source: str
    command: str


class Cell(NamedTuple):
    """A text with a tone: good, fair or bad, none, or `text`, which is aligned to the left."""

    text: str
    tone: str


class Card(NamedTuple):
    """One of the most important numbers, with the tone of its verdict."""

    name: str
    text: str
    tone: str = ""


class Table(NamedTuple):
    """A table whose first column names its rows."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]


class Note(NamedTuple):
    """A paragraph of small print."""

    text: str


class Code(NamedTuple):
    """A text with its line breaks."""

    text: str


class Items(NamedTuple):
    """A list of texts."""

    items: Sequence[str | Cell]


class Folded(NamedTuple):
    """A part that is shown on demand."""

    summary: str
    part: Table | Code


class Figure(NamedTuple):
    """A picture, and in words what it shows.

    Attributes:
        svg: the file, base64.
    """

    title: str
    description: str
    svg: str


class Figures(NamedTuple):
    """Pictures side by side."""

    figures: Sequence[Figure]


Part = str | Table | Note | Code | Items | Folded | Figures


class Section(NamedTuple):
    """A section of a page, with a name to link to; a part that is a string is a paragraph."""

    heading: str
    name: str
    parts: Sequence[Part]


def render(title: str, verdict: Diagnosis, sections: Sequence[Section],
           cards: Sequence[Card] = ()) -> str:
    """A whole page, in one file (raises MissingPackage)."""
    with optional_packages("writing a report"):
        from jinja2 import Environment, PackageLoader, StrictUndefined

    def shown(value: Any) -> Any:
        """Texts hold names from outside: without characters that no page may hold."""
        plain = isinstance(value, str) and not hasattr(value, "__html__")  # which markup has
        return "\n".join(map(printable, value.split("\n"))) if plain else value

    environment = Environment(loader=PackageLoader(__package__ or ""), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, finalize=shown)
    environment.filters["kind"] = lambda part: type(part).__name__
    return environment.get_template("page.html").render(
        title=title, verdict=verdict, sections=sections, cards=cards) + "\n"


def setup_section(result: Identification, settings: Settings) -> Section:
    """The set-up: what was measured in which frame, and what was stated."""
    values = {name: value for name, value, _ in iter_settings(settings)}
    rows = [(text, Cell(_shown(values[name]), "text")) for name, text in _SETUP]
    rows.insert(2, ("frame of the result", Cell(result.outcome.frame_id or "not known", "text")))
    if result.tool is not None:
        rows.append(("object apart from", Cell(result.tool.describe(), "text")))
    parts: list[Part] = [Table("Settings of the set-up", ("", "value"), rows)]
    if result.counts:
        parts.append(Table(f"What was read, {result.duration:.1f} s", ("topic", "messages"),
                           [(name, str(count)) for name, count in result.counts.items()]))
    return Section("Set-up", "setup", [*parts, *([Items(result.notes)] if result.notes else [])])


def provenance_section(origin: ReportOrigin, settings: Settings | None = None) -> Section:
    """Command, versions, and all settings, where there are any."""
    parts: list[Part] = [f"Source: {origin.source}"]
    if origin.command:
        parts.append(Code(origin.command))
    rows = [(name, version(name)) for name in _PACKAGES]
    rows.append(("Python", f"{platform.python_version()} on {platform.machine()}"))
    parts.append(Table("Versions", ("package", "version"), rows))
    if settings is not None:
        every = {name: _shown(value) for name, value, _ in iter_settings(settings)}
        defaults = {name: _shown(value) for name, value, _ in iter_settings(Settings())}
        changed = [(name, Cell(value, "text"), Cell(defaults[name], "text"))
                   for name, value in every.items() if value != defaults[name]]
        if changed:
            parts.append(Table("Settings other than the default", ("setting", "value", "default"),
                               changed))
        listing = "\n".join(f"{name}: {value}" for name, value in every.items())
        parts.append(Folded("All settings", Code(listing)))
    return Section("How to reproduce it", "reproduce", parts)


def version(package: str) -> str:
    """The version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed as a package"


def _shown(value: object) -> str:
    """The value of a setting as one writes it in YAML."""
    if isinstance(value, tuple):
        return "[" + ", ".join(_shown(v) for v in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.12g}"
    return str(value) if value != "" else "\u2013"


def parameter_table(estimate: Estimate) -> Table:
    """Value, 95 % interval, unit and verdict of the ten reported parameters."""
    rows = []
    for k, name in enumerate(NAMES):
        value, spread = round_to_spread(SCALES[k] * estimate.report[k],
                                        CONFIDENCE_95 * SCALES[k] * estimate.sigma[k])
        verdict = estimate.verdict[k]
        rows.append((name, value, f"\u00b1 {spread}", UNITS[k].replace("^2", "\u00b2"),
                     Cell(VERDICT_WORDS[verdict], TONES[verdict])))
    return Table("Payload", ("parameter", "value", "95 %", "unit", "verdict"), rows)


def sensor_table(estimate: Estimate) -> Table:
    """Bias and residual of the six wrench channels."""
    rows = []
    for k, (name, bias, rms) in enumerate(zip(CHANNELS, estimate.bias, estimate.residual_rms,
                                              strict=True)):
        digits, unit = (3, "N") if k < 3 else (4, "N m")
        rows.append((name, f"{round(bias, digits) + 0.0:.{digits}f}", two_digits(rms), unit))
    return Table("Sensor", ("channel", "bias", "residual rms", "unit"), rows)
