# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Elements of an HTML page, as text that is also well-formed XML; whatever comes in is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from ....errors import printable

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
    return quoteattr(value if isinstance(value, Markup) else printable(str(value)))


def points(places: Iterable[tuple[float, float]]) -> Markup:
    """Points of a line as SVG writes them."""
    return Markup(" ".join(f"{x:.1f},{y:.1f}" for x, y in places))


def join(children: Iterable[Child]) -> Markup:
    """Elements and texts, one after the other."""
    return Markup("".join(child if isinstance(child, Markup) else escape(printable(child))
                          for child in children))


def verbatim(text: str) -> Markup:
    """A text with its line breaks."""
    return Markup("\n".join(escape(printable(line)) for line in text.splitlines()))


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
