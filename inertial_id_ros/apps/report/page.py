# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A report as HTML in one file: the parts that `templates/page.html` shows, and those that several
reports have."""

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
    """A table whose first column names its rows; folded: True if it is shown on demand."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    folded: bool = False


class Figure(NamedTuple):
    """A picture (svg: the file, base64), and in words what it shows."""

    title: str
    description: str
    svg: str


Part = str | Table | list[Figure]  # paragraph; table; pictures side by side


class Section(NamedTuple):
    """A section of a page, with a name to link to."""

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
    return environment.get_template("page.html").render(
        title=title, verdict=verdict, sections=sections, cards=cards) + "\n"


def provenance_section(source: str, command: str, settings: Settings | None = None) -> Section:
    """What a report was made from, the command that makes it again, versions, and the settings that
    were changed."""
    parts: list[Part] = [
        f"Source: {source}. Command: {command}. Made by inertial_id_ros {VERSION}, numpy "
        f"{np.__version__}, scipy {scipy.__version__}, pin {pin.__version__}."]
    if settings is not None:
        defaults = {name: value for name, value, _ in iter_settings(Settings())}
        parts.append(Table("Settings other than the default", ("setting", "value", "default"), [
            (name, Cell(json.dumps(value), "text"), Cell(json.dumps(defaults[name]), "text"))
            for name, value, _ in iter_settings(settings) if value != defaults[name]]))
    return Section("How to reproduce it", "reproduce", parts)


def parameter_table(estimate: Estimate) -> Table:
    """Value, 95 % interval, unit and verdict of the ten reported parameters."""
    rows = []
    for name, unit, scale, value, sigma, verdict in zip(
            NAMES, UNITS, SCALES, estimate.report, estimate.sigma, estimate.verdict, strict=True):
        shown, spread = round_to_spread(scale * value, CONFIDENCE_95 * scale * sigma)
        rows.append((name, shown, f"\u00b1 {spread}", unit.replace("^2", "\u00b2"),
                     Cell(VERDICT_WORDS[verdict], TONES[verdict])))
    return Table("Payload", ("parameter", "value", "95 %", "unit", "verdict"), rows)


def sensor_table(estimate: Estimate) -> Table:
    """Bias and residual of the six wrench channels."""
    rows = [(name, f"{round(bias, digits) + 0.0:.{digits}f}", two_digits(rms), unit)
            for name, bias, rms, digits, unit in zip(
                CHANNELS, estimate.bias, estimate.residual_rms, (3, 3, 3, 4, 4, 4),
                (*("N",) * 3, *("N m",) * 3), strict=True)]
    return Table("Sensor", ("channel", "bias", "residual rms", "unit"), rows)
