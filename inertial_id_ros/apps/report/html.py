# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Elements of an HTML page, escaped; and its colours, lay-out and few lines of script, none of
which come from the network.

Neither text of the style holds a `<` or an ampersand, so that a page is well-formed XML, too.

`ReportOrigin` says where a report comes from, so that it can be made again.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from html import escape
from importlib import metadata
from typing import NamedTuple

from ...errors import printable
from ...settings import Settings, iter_settings
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


_VOID = frozenset({"meta", "br", "col", "line", "rect", "circle", "path", "polyline", "polygon"})


class Markup(str):
    """Text that is markup already; every other string is escaped."""

    __slots__ = ()


Child = str | Markup


def element(tag: str, *children: Child, **attributes: object) -> Markup:
    """An element; a name of an attribute ends in `_` where Python has that word, and `_` is `-`.

    An attribute that is None is left out; one that is `Markup` may be of any length.
    """
    given = "".join(f" {name.rstrip('_').replace('_', '-')}={_quoted(value)}"
                    for name, value in attributes.items() if value is not None)
    if tag in _VOID and not children:
        return Markup(f"<{tag}{given}/>")
    return Markup(f"<{tag}{given}>{join(children)}</{tag}>")


def _quoted(value: object) -> str:
    """The value of an attribute, in quotes."""
    return f'"{escape(value if isinstance(value, Markup) else printable(str(value)))}"'


def _text(text: str) -> str:
    """A text between tags."""
    return escape(printable(text), quote=False)


def points(places: Iterable[tuple[float, float]]) -> Markup:
    """Points of a line as SVG writes them."""
    return Markup(" ".join(f"{x:.1f},{y:.1f}" for x, y in places))


def join(children: Iterable[Child]) -> Markup:
    """Elements and texts, one after the other."""
    return Markup("".join(child if isinstance(child, Markup) else _text(child)
                          for child in children))


def verbatim(text: str) -> Markup:
    """A text with its line breaks."""
    return Markup("\n".join(map(_text, text.splitlines())))


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Child]],
          classes: str = "") -> Markup:
    """A table whose first column names its rows; a cell may be a whole element `td`."""
    head = element("tr", *(element("th", name, scope="col") for name in heads))
    body = [element("tr", element("th", row[0], scope="row"),
                    *(cell if isinstance(cell, Markup) and cell.startswith("<td")
                      else element("td", cell) for cell in row[1:])) for row in rows]
    inside = element("table", element("caption", caption), element("thead", head),
                     element("tbody", *body), class_=classes or None)
    # A wide table scrolls in its own frame, by keyboard too.
    return element("div", inside, class_="wide", tabindex="0", role="region", aria_label=caption)


def section(heading: str, name: str, *children: Child) -> Markup:
    """A section of the page, with a name to link to."""
    return element("section", element("h2", heading, id=f"{name}-heading"), *children, id=name,
                   aria_labelledby=f"{name}-heading")


def drawing(title: str, description: str, width: float, height: float, *children: Child,
            **attributes: object) -> Markup:
    """An SVG picture, with title and description for those who do not see it."""
    return element("svg", element("title", title), element("desc", description), *children,
                   viewBox=f"0 0 {width:g} {height:g}", role="img",
                   aria_label=f"{title}. {description}", **attributes)


def label(x: float, y: float, text: str, **attributes: object) -> Markup:
    """A text in a picture."""
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", **attributes)


# All on white, or white on them, with a contrast of at least 4.5 : 1 (WCAG 2, level AA).
COLOURS = {
    "good": "#176639", "fair": "#8a5200", "bad": "#b3261e", "ink": "#1d2330", "dim": "#545d6e",
    "line": "#d5d9e0", "x": "#b3261e", "y": "#176639", "z": "#1f56b5", "black": "#1d2330",
    "violet": "#7b3fa0", "teal": "#0b6e7d", "soft": "#f5f6f8"}
_CSS = f":root {{ {' '.join(f'--{name}: {value};' for name, value in COLOURS.items())} }}" + """
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 0 1rem 3rem; max-width: 72rem; color: var(--ink);
  background: white; font: 1rem/1.45 system-ui, sans-serif; }
h1 { font-size: 1.1rem; font-weight: 600; margin: 1rem 0 .6rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; border-bottom: 2px solid var(--line); }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; }
p { margin: .4rem 0 .7rem; max-width: 65ch; }
a { color: #1f56b5; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; background: white; }
.verdict { border-left: .6rem solid var(--tone); background: var(--soft); padding: .7rem 1rem; }
.verdict p { max-width: 75ch; }
.verdict .word { color: white; background: var(--tone); border-radius: .3rem; font-weight: 700;
  padding: .1rem .6rem; display: inline-block; margin: 0; }
.verdict .said { font-size: 1.35rem; font-weight: 650; line-height: 1.25; margin: .5rem 0; }
.good { --tone: var(--good); } .fair { --tone: var(--fair); } .bad { --tone: var(--bad); }
td.good, td.fair, td.bad, .finding strong { color: var(--tone); font-weight: 650; }
dl.todo { display: grid; grid-template-columns: max-content 1fr; gap: .25rem .8rem; margin: 0; }
dl.todo dt { font-weight: 650; grid-column: 1; }
dl.todo dd { margin: 0; max-width: 70ch; grid-column: 2; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .7rem;
  margin: .8rem 0; padding: 0; list-style: none; }
.cards li { border: 1px solid var(--line); border-top: .3rem solid var(--tone, var(--line));
  padding: .5rem .8rem; }
.cards b { display: block; font-size: 1.2rem; overflow-wrap: anywhere; }
.cards b span { white-space: pre; display: inline-block; font-weight: 700; color: var(--ink);
  font-size: inherit; }
.cards li > span { color: var(--dim); font-size: .9rem; }
.charts { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem 1.5rem; }
.charts > * { min-width: 0; }
figure { margin: 0; min-width: 0; } figcaption, .note { color: var(--dim); font-size: .92rem; }
svg { width: 100%; height: auto; display: block; font: 12px system-ui, sans-serif; }
svg text { fill: var(--ink); } svg .dim { fill: var(--dim); }
.wide { overflow-x: auto; } .wide:focus-visible, button:focus-visible, svg:focus-visible,
summary:focus-visible { outline: 3px solid #1f56b5; outline-offset: 2px; }
table { border-collapse: collapse; margin: .6rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .2rem 0; }
th, td { padding: .22rem .7rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
th:first-child, td.text, th[scope=row] { text-align: left; }
td.text { white-space: normal; min-width: 12rem; }
.dense th, .dense td { padding: .2rem .4rem; font-size: .88rem; }
tbody th { font-weight: 500; } table.text th { text-align: left; }
table.text td { text-align: left; white-space: normal; overflow-wrap: break-word; }
ul.findings { padding-left: 1.1rem; } ul.findings li { margin: .3rem 0; max-width: 75ch; }
pre { background: var(--soft); padding: .7rem; overflow-x: auto; font-size: .85rem; }
button { font: inherit; min-width: 2.75rem; min-height: 2.75rem; margin-right: .3rem;
  background: var(--soft); color: var(--ink); border: 1px solid var(--dim); border-radius: .3rem; }
.sides { display: grid; grid-template-columns: repeat(3, 1fr); gap: .5rem; }
.views svg { touch-action: pan-y; max-width: 34rem; } .turn { display: none; }
.script .turn { display: block; }
@media (max-width: 44rem) { .charts { grid-template-columns: 1fr; } body { padding: 0 .7rem 2rem; }
  dl.todo, .cards { grid-template-columns: 1fr; }
  dl.todo dd { margin-bottom: .4rem; grid-column: 1; }
  th, td { padding: .2rem .3rem; font-size: .84rem; } .verdict .said { font-size: 1.2rem; } }
@media print { body { max-width: none; font-size: 10pt; } .turn, .skip { display: none !important; }
  figure, table, .verdict, .cards { break-inside: avoid; } h2 { break-after: avoid; }
  .numbers { display: block; } .numbers .views svg { max-width: 20rem; }
  .wide { overflow: visible; } pre { white-space: pre-wrap; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""

# Turns the view in space: the points of each part stand in data-p, as x,y,z [m] from its middle.
_SCRIPT = """
document.documentElement.className = 'script';
for (const svg of document.querySelectorAll('svg[data-scale]')) {
  const scale = +svg.dataset.scale, half = +svg.dataset.half, start = [-35, 25];
  let turn = +start[0], lift = +start[1];
  const parts = [...svg.querySelectorAll('[data-p]')].map(function (part) {
    return [part, part.dataset.p.split(' ').map(function (p) { return p.split(',').map(Number); })];
  });
  function place(p) {
    const a = turn * Math.PI / 180, b = lift * Math.PI / 180;
    const across = Math.cos(a) * p[0] - Math.sin(a) * p[1];
    const deep = Math.sin(a) * p[0] + Math.cos(a) * p[1];
    return [half + scale * across, half - scale * (Math.cos(b) * p[2] + Math.sin(b) * deep)];
  }
  function draw() {
    for (const [part, points] of parts) {
      const at = points.map(place);
      if (part.tagName === 'text') {
        part.setAttribute('x', at[0][0].toFixed(1)); part.setAttribute('y', at[0][1].toFixed(1));
      } else if (part.tagName === 'circle') {
        part.setAttribute('cx', at[0][0].toFixed(1)); part.setAttribute('cy', at[0][1].toFixed(1));
      } else {
        part.setAttribute('points', at.map(function (p) {
          return p[0].toFixed(1) + ',' + p[1].toFixed(1); }).join(' '));
      }
    }
  }
  function by(right, up) {
    turn += right; lift = Math.max(-90, Math.min(90, lift + up)); draw();
  }
  const keys = {ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, 10], ArrowDown: [0, -10]};
  svg.addEventListener('keydown', function (event) {
    if (keys[event.key]) { by(...keys[event.key]); event.preventDefault(); }
  });
  svg.addEventListener('pointermove', function (event) {
    if (event.buttons) { by(0.5 * event.movementX, 0.5 * event.movementY); }
  });
  for (const button of svg.parentElement.querySelectorAll('button')) {
    button.addEventListener('click', function () {
      const to = button.dataset.to.split(',').map(Number);
      turn = to[0]; lift = to[1]; draw();
    });
  }
}
"""


def page(title: str, *body: Child) -> str:
    """A whole page, in one file."""
    head = element(
        "head", element("meta", charset="utf-8"), element("title", title),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        # Nothing may be loaded, whatever a name from outside says.
        element("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; "
                "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"),
        element("style", Markup(_CSS)))
    skip = element("a", "Skip to the verdict", href="#verdict", class_="skip")
    content = element("body", skip, element("main", *body), element("script", Markup(_SCRIPT)))
    return f"<!DOCTYPE html>\n{element('html', head, content, lang='en')}\n"
