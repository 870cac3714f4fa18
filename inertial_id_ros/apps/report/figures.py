# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Charts of a report, drawn by matplotlib as SVG."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple

import numpy as np

from ...extras import optional_packages
from ...inertia import Array
from .page import Figure, Figures
from .prediction import FORCE, TORQUE

COLOURS = {"x": "#b3261e", "y": "#176639", "z": "#1f56b5", "black": "#1d2330"}
SHADE = "#8a5200"


class Curve(NamedTuple):
    """One curve: values (n,) over (n,) of the horizontal axis; NaN is a gap.

    Attributes:
        name: in the legend; empty: not there.
        colour: key of `COLOURS`.
        dashed: True if it is drawn with dashes.
    """

    name: str
    time: Array
    value: Array
    colour: str
    dashed: bool = False


def chart(title: str, unit: str, curves: Sequence[Curve], description: str,
          limits: tuple[float, float], spans: Sequence[tuple[float, float]] = ()) -> Figure:
    """A chart of curves (raises MissingPackage).

    Args:
        unit: of the values; description: what there is to see, in words; limits: of the values.
        spans: first and last time [s] of what is shaded.
    """
    with optional_packages("drawing a report"):
        from matplotlib.figure import Figure as Drawing
    drawing = Drawing(figsize=(4.6, 2.9), layout="constrained")
    axes = drawing.add_subplot()
    for first, last in spans:
        axes.axvspan(first, last, color=SHADE, alpha=0.15, linewidth=0)
    for curve in curves:
        axes.plot(curve.time, curve.value, "--" if curve.dashed else "-", linewidth=1.2,
                  color=COLOURS[curve.colour], label=curve.name or "_")
    axes.set(ylim=limits)
    axes.set_title(f"{title} [{unit}]", fontsize=9)
    axes.set_xlabel("time [s]", fontsize=8)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.0)
    axes.grid(color="#eceef1")
    if any(curve.name for curve in curves):
        axes.legend(loc="best", ncols=4, frameon=False)
    out = BytesIO()
    drawing.savefig(out, format="svg", metadata=dict.fromkeys(  # not when and by what it was made
        ("Date", "Creator", "Format", "Type")))
    return Figure(title, description, b64encode(out.getvalue()).decode())


def wrench_charts(time: Array, measured: Array, predicted: Array,
                  spans: Sequence[tuple[float, float]] = ()) -> Figures:
    """Charts of force and torque: wrenches (n, 6) as measured and predicted, over times (n,)."""
    figures = []
    for title, unit, channels in (("Force", "N", FORCE), ("Torque", "N m", TORQUE)):
        lines = [Curve(name, time, values, name)
                 for name, values in zip("xyz", measured.T[channels], strict=True)]
        lines += [Curve("predicted" if k == 0 else "", time, values, "black", dashed=True)
                  for k, values in enumerate(predicted.T[channels])]
        figures.append(chart(
            title, unit, lines, f"measured and predicted {title.lower()} over time",
            limits_around(measured[:, channels], measured[:, channels]), spans))
    return Figures(figures)


def limits_around(low: Array, high: Array) -> tuple[float, float]:
    """Limits of an axis around values; NaN is left out."""
    bottom, top = float(np.nanmin(low)), float(np.nanmax(high))
    margin = 0.06 * (top - bottom) or 0.1 * abs(top) or 1.0
    return bottom - margin, top + margin
