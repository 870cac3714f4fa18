# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Pictures as SVG: curves over time, rows of bars over time, and a body in space that a few lines
of script can turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...inertia import Array
from .html import Markup, drawing, element, label, points

WIDTH, HEIGHT = 420.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 8.0, 38.0, 30.0
_MOST = 400  # points of a curve; more cannot be told apart
_TICKS = 5


class Curve(NamedTuple):
    """One curve: values (n,) at times (n,) [s]; NaN is a gap.

    Attributes:
        name: in the legend; empty: not there.
        colour: name of a colour of the style: x, y, z or black.
        band: half width (n,) of a band around it; None: none.
        dashed: whether it is drawn with dashes.
    """

    name: str
    time: Array
    value: Array
    colour: str
    band: Array | None = None
    dashed: bool = False


class Axes(NamedTuple):
    """Scales of a chart: limits of time [s] and value, and what is written below the former."""

    time: tuple[float, float]
    value: tuple[float, float]
    across: str = "time [s]"

    def x(self, time: Array | float) -> Array:
        """Places across, of times [s]."""
        low, high = self.time
        share = (np.asarray(time, dtype=float) - low) / max(high - low, 1e-9)
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * np.clip(share, 0.0, 1.0)

    def y(self, value: Array | float) -> Array:
        """Places downwards, of values, which stay in the frame."""
        low, high = self.value
        share = (np.asarray(value, dtype=float) - low) / max(high - low, 1e-300)
        return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * np.clip(share, -0.01, 1.01)


def chart(title: str, unit: str, curves: Sequence[Curve], axes: Axes, description: str,
          spans: Sequence[tuple[float, float]] = ()) -> Markup:
    """A chart of curves.

    Args:
        unit: of the values; description: what there is to see, in words.
        spans: first and last time [s] of what is shaded.
    """
    shaded = [element("rect", x=f"{a:.1f}", y=f"{_TOP:g}", width=f"{max(b - a, 1.0):.1f}",
                      height=f"{HEIGHT - _TOP - _BOTTOM:g}", fill="#8a5200", opacity="0.15")
              for a, b in ((float(axes.x(first)), float(axes.x(last))) for first, last in spans)]
    bands = [band for curve in curves for band in _band(curve, axes)]
    lines = [line for curve in curves for line in _lines(curve, axes)]
    return drawing(title, description, WIDTH, HEIGHT,
                   label(_LEFT, 13.0, f"{title} [{unit}]", font_weight="600"), *_legend(curves),
                   *_grid(axes), *shaded, *bands, *lines)


def limits_around(low: Array, high: Array) -> tuple[float, float]:
    """Limits of an axis around values."""
    bottom, top = float(np.min(low)), float(np.max(high))
    margin = 0.06 * (top - bottom) or 0.1 * abs(top) or 1.0
    return bottom - margin, top + margin


def ticks(low: float, high: float, most: int = _TICKS) -> list[float]:
    """Round numbers between two limits, at most `most` and one."""
    span = max(high - low, 1e-300)
    size = 10.0 ** np.floor(np.log10(span / most))
    step = next(k * size for k in (1.0, 2.0, 5.0, 10.0, 20.0) if span / (k * size) <= most)
    first = np.ceil(low / step - 1e-9)
    return [float((first + k) * step) for k in range(int(np.floor(high / step + 1e-9) - first) + 1)]


def tick_text(value: float, values: Sequence[float]) -> str:
    """One of evenly spaced numbers, with as many digits as tell it from the next."""
    step = values[1] - values[0] if len(values) > 1 else abs(value) or 1.0
    return f"{value + 0.0:.{max(0, -int(np.floor(np.log10(step) + 1e-9)))}f}"


def thin(count: int) -> np.ndarray:
    """Indices of the points that are drawn, out of `count`."""
    if count <= _MOST:
        return np.arange(count)
    return np.unique(np.round(np.linspace(0, count - 1, _MOST)).astype(int))


def _legend(curves: Sequence[Curve]) -> list[Markup]:
    """Line and name of each curve, above the frame."""
    out, x = [], _LEFT
    for curve in (curve for curve in curves if curve.name):
        out += [element("line", x1=f"{x:.1f}", y1="25", x2=f"{x + 18:.1f}", y2="25",
                        **_stroke(curve)), label(x + 22.0, 29.0, curve.name)]
        x += 34.0 + 6.6 * len(curve.name)
    return out


def _grid(axes: Axes) -> list[Markup]:
    """Lines of the grid, with their numbers."""
    out = []
    values = ticks(*axes.value)
    for value in values:
        y = float(axes.y(value))
        out += [element("line", x1=f"{_LEFT:g}", y1=f"{y:.1f}", x2=f"{WIDTH - _RIGHT:g}",
                        y2=f"{y:.1f}", stroke="#d5d9e0"),
                label(_LEFT - 4.0, y + 4.0, tick_text(value, values), text_anchor="end",
                      class_="dim")]
    for time in ticks(*axes.time, most=6):
        x = float(axes.x(time))
        out += [element("line", x1=f"{x:.1f}", y1=f"{_TOP:g}", x2=f"{x:.1f}",
                        y2=f"{HEIGHT - _BOTTOM:g}", stroke="#eceef1"),
                label(x, HEIGHT - _BOTTOM + 14.0, f"{time + 0.0:.4g}", text_anchor="middle",
                      class_="dim")]
    return [*out, label(WIDTH - _RIGHT, HEIGHT - 3.0, axes.across, text_anchor="end",
                        class_="dim")]


def _stroke(curve: Curve) -> dict[str, object]:
    """Attributes of the line of a curve."""
    return {"stroke": f"var(--{curve.colour})", "fill": "none", "stroke_width": "1.6",
            "stroke_dasharray": "5 3" if curve.dashed else None,
            "opacity": None if curve.dashed or curve.band is not None else "0.75"}


def _lines(curve: Curve, axes: Axes) -> list[Markup]:
    """The line of a curve, in pieces where it has gaps or leaves the frame."""
    out = []
    low, high = axes.value
    inside = (low <= curve.value) & (curve.value <= high)
    for piece in _pieces(np.where(inside, curve.value, np.nan)):
        kept = piece[thin(len(piece))]
        places = zip(axes.x(curve.time[kept]), axes.y(curve.value[kept]), strict=True)
        out.append(element("polyline", points=points(places), **_stroke(curve)))
    return out


def _band(curve: Curve, axes: Axes) -> list[Markup]:
    """The band of a curve, if it has one."""
    if curve.band is None or len(curve.time) == 0:
        return []
    kept = thin(len(curve.time))
    x, value, band = axes.x(curve.time[kept]), curve.value[kept], curve.band[kept]
    outline = [*zip(x, axes.y(value + band), strict=True),
               *zip(x[::-1], axes.y(value - band)[::-1], strict=True)]
    return [element("polygon", points=points(outline), fill=f"var(--{curve.colour})",
                    opacity="0.16")]


def _pieces(value: Array) -> list[np.ndarray]:
    """Indices of the stretches of finite values."""
    known = np.flatnonzero(np.isfinite(value))
    if len(known) == 0:
        return []
    return np.split(known, np.flatnonzero(np.diff(known) > 1) + 1)


_SIDE, _ROW, _BAR, _FOOT = 6.0, 32.0, 12.0, 26.0
TONES = {"good": "#176639", "fair": "#8a5200", "bad": "#b3261e", "none": "#8b93a1",
         "info": "#1f56b5"}


class Bar(NamedTuple):
    """A stretch of time [s] in which something holds.

    Attributes:
        tone: key of `TONES`; word: what holds, for those who do not see colours.
    """

    first: float
    last: float
    tone: str
    word: str


def time_axis(title: str, rows: Sequence[tuple[str, Sequence[Bar]]], duration: float) -> Markup:
    """A picture of rows: a name each, and its bars below it.

    Args:
        duration: end of the axis [s].
    """
    height = _ROW * len(rows) + _FOOT
    width = WIDTH - 2.0 * _SIDE

    def x(time: float) -> float:
        return _SIDE + width * min(max(time / max(duration, 1e-9), 0.0), 1.0)

    out: list[Markup] = []
    for time in ticks(0.0, duration, most=8):
        out += [element("line", x1=f"{x(time):.1f}", y1="0", x2=f"{x(time):.1f}",
                        y2=f"{height - _FOOT:.1f}", stroke="#eceef1"),
                label(x(time), height - 10.0, f"{time:g} s", class_="dim",
                      text_anchor="middle" if time > 0.0 else "start")]
    for k, (name, bars) in enumerate(rows):
        top = k * _ROW
        out.append(label(_SIDE, top + 12.0, name))
        for bar in bars:
            span = f"{bar.word}, {bar.first:.1f} to {bar.last:.1f} s"
            out.append(element("rect", element("title", f"{name}: {span}"), x=f"{x(bar.first):.1f}",
                               y=f"{top + 16.0:.1f}", height=f"{_BAR:g}", rx="2",
                               width=f"{max(x(bar.last) - x(bar.first), 2.0):.1f}",
                               fill=TONES[bar.tone]))
    said = "; ".join(f"{name}: " + ", ".join(f"{b.word} {b.first:.1f} to {b.last:.1f} s"
                                             for b in bars) for name, bars in rows)
    return drawing(title, said[:2000], WIDTH, height, *out, style="max-width:35rem")


SIZE = 420.0
START = (-35.0, 25.0)  # deg: turned about the upward axis, seen from above
# Name, turn and lift [deg] of the views from the side; what is to be seen across and upwards.
VIEWS = (("from the front", "x", "z", 0.0, 0.0), ("from the side", "y", "z", -90.0, 0.0),
         ("from above", "x", "y", 0.0, 90.0))


class Line(NamedTuple):
    """A line through points (n, 3) [m].

    Attributes:
        colour: of the style, or of SVG; width: of the line; dashed, closed: as they say.
        fill: opacity of its inside; 0: none.
    """

    points: Array
    colour: str
    width: float = 1.2
    dashed: bool = False
    closed: bool = False
    fill: float = 0.0


class Mark(NamedTuple):
    """A word at a point (3,) [m]."""

    point: Array
    word: str


def project(points: Array, turn: float, lift: float) -> Array:
    """Places (n, 2) across and upwards of points (n, 3), seen turned and from above [deg]."""
    a, b = np.deg2rad(turn), np.deg2rad(lift)
    x, y, z = np.asarray(points, dtype=float).T
    deep = np.sin(a) * x + np.cos(a) * y
    return np.column_stack([np.cos(a) * x - np.sin(a) * y, np.cos(b) * z + np.sin(b) * deep])


def space_view(title: str, description: str, lines: Sequence[Line], marks: Sequence[Mark],
               view: tuple[float, float] = START, turns: bool = True) -> Markup:
    """A picture of lines and words in space.

    Args:
        view: turn and lift [deg]; turns: whether the script may turn it.
    """
    everything = np.concatenate([line.points for line in lines])
    middle = 0.5 * (everything.min(axis=0) + everything.max(axis=0))
    reach = float(np.linalg.norm(everything - middle, axis=1).max())
    scale = 0.46 * SIZE / max(reach, 1e-6)

    def places(corners: Array) -> Array:
        flat = project(np.atleast_2d(corners) - middle, *view)
        return np.column_stack([0.5 * SIZE + scale * flat[:, 0], 0.5 * SIZE - scale * flat[:, 1]])

    def data(corners: Array) -> Markup | None:
        return Markup(" ".join(",".join(f"{v:.5f}" for v in p)
                               for p in np.atleast_2d(corners) - middle)) if turns else None

    parts = [element("polygon" if line.closed else "polyline",
                     points=points(places(line.points)),
                     data_p=data(line.points), stroke=line.colour, stroke_width=line.width,
                     stroke_dasharray="4 3" if line.dashed else None, stroke_linejoin="round",
                     fill=line.colour if line.fill else "none", fill_opacity=line.fill or None)
             for line in lines]
    words = [element("text", mark.word, x=f"{places(mark.point)[0, 0]:.1f}",
                     y=f"{places(mark.point)[0, 1]:.1f}", data_p=data(mark.point))
             for mark in marks]
    extra = {"data_scale": f"{scale:.4f}", "data_half": f"{0.5 * SIZE:g}",
             "tabindex": "0"} if turns else {}
    return drawing(title, description, SIZE, SIZE, *parts, *words, **extra)


def turning_buttons() -> Markup:
    """Buttons for the views that the script shows."""
    views = (("oblique", *START), *((name, turn, lift) for name, _, _, turn, lift in VIEWS))
    return element("p", *(element("button", name, type="button", data_to=f"{turn:g},{lift:g}")
                          for name, turn, lift in views), class_="turn")
