# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A body in space, as lines that a few lines of script can turn, and three views from the side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....inertia import Array
from .elements import Markup, drawing, element, points

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
