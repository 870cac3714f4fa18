# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Rows of coloured bars over a common time axis, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .charts import ticks
from .elements import Markup, drawing, element, label

WIDTH = 420.0
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
