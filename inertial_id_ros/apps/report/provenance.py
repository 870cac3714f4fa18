# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where a report comes from: set-up, versions and settings, so that it can be made again."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import NamedTuple

from ...settings import Settings, iter_settings
from .html import Markup, element, section, table, verbatim
from .results import Identification

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


def setup_section(result: Identification, settings: Settings) -> Markup:
    """The set-up: what was measured in which frame, and what was told."""
    values = {name: value for name, value, _ in iter_settings(settings)}
    rows = [(text, _shown(values[name])) for name, text in _SETUP]
    frame = result.outcome.frame_id or "not known"
    rows.insert(2, ("frame of the result", frame))
    if result.tool is not None:
        rows.append(("object apart from", result.tool.describe()))
    topics = [(name, str(count)) for name, count in result.counts.items()]
    parts = [table("What was told", ("", "value"), rows, "text")]
    if topics:
        parts.append(table(f"What was read, {result.duration:.1f} s", ("topic", "messages"),
                           topics))
    if result.notes:
        parts.append(element("ul", *(element("li", note) for note in result.notes)))
    return section("Set-up", "setup", *parts)


def provenance_section(origin: ReportOrigin, settings: Settings | None = None) -> Markup:
    """Command, versions, and all settings, where there are any."""
    rows = [(name, version(name)) for name in _PACKAGES]
    rows.append(("Python", f"{platform.python_version()} on {platform.machine()}"))
    parts: list[Markup] = [element("p", "Source: ", origin.source)]
    if origin.command:
        parts.append(element("pre", verbatim(origin.command), tabindex="0"))
    parts.append(table("Versions", ("package", "version"), rows))
    return section("How to reproduce it", "reproduce", *parts,
                   *([] if settings is None else _setting_lists(settings)))


def _setting_lists(settings: Settings) -> list[Markup]:
    """What differs from the defaults, and all."""
    defaults = {name: value for name, value, _ in iter_settings(Settings())}
    every = [(name, value) for name, value, _ in iter_settings(settings)]
    changed = [(name, _shown(value), _shown(defaults[name])) for name, value in every
               if value != defaults[name]]
    parts = [table("Settings other than the default", ("setting", "value", "default"), changed,
                   "text")] if changed else []
    listing = "\n".join(f"{name}: {_shown(value)}" for name, value in every)
    return [*parts, element("details", element("summary", "All settings"),
                            element("pre", verbatim(listing), tabindex="0"))]


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
