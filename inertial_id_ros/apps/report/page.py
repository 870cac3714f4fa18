# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A report as HTML in one file: parts that `templates/page.html` shows, and sections of several.

`ReportOrigin` says where a report comes from, so that it can be made again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import scipy

from ...arguments import VERSION
from ...errors import printable
from ...estimate import VERDICT_WORDS, Estimate
from ...extras import optional_packages
from ...settings import Settings, iter_settings
from .diagnosis import Diagnosis
from .results import CONFIDENCE_95, NAMES, SCALES, UNITS, round_to_spread, two_digits

TONES = ("bad", "fair", "good")  # of the verdicts
CHANNELS = ("fx", "fy", "fz", "tx", "ty", "tz")


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


class Folded(NamedTuple):
    """A part that is shown on demand."""

    summary: str
    part: Table


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


Part = str | Table | Note | Folded | Figures


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
        return printable(value) if plain else value

    environment = Environment(loader=PackageLoader(__package__ or ""), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, finalize=shown)
    environment.filters["kind"] = lambda part: type(part).__name__
    return environment.get_template("page.html").render(
        title=title, verdict=verdict, sections=sections, cards=cards) + "\n"


def provenance_section(origin: ReportOrigin, settings: Settings | None = None) -> Section:
    """Command, versions, and the settings that were changed."""
    parts: list[Part] = [
        f"Source: {origin.source}. Command: {origin.command or 'none'}. Made by inertial_id_ros "
        f"{VERSION}, numpy {np.__version__}, scipy {scipy.__version__}, pin {pin.__version__}."]
    if settings is not None:
        defaults = {name: value for name, value, _ in iter_settings(Settings())}
        parts.append(Table("Settings other than the default", ("setting", "value", "default"), [
            (name, Cell(json.dumps(value), "text"), Cell(json.dumps(defaults[name]), "text"))
            for name, value, _ in iter_settings(settings) if value != defaults[name]]))
    return Section("How to reproduce it", "reproduce", parts)


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
    for k, name in enumerate(CHANNELS):
        digits, unit = (3, "N") if k < 3 else (4, "N m")
        rows.append((name, f"{round(estimate.bias[k], digits) + 0.0:.{digits}f}",
                     two_digits(estimate.residual_rms[k]), unit))
    return Table("Sensor", ("channel", "bias", "residual rms", "unit"), rows)
