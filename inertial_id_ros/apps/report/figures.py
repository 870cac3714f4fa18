# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Charts of a report, drawn by matplotlib as SVG."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO

import numpy as np

from ...extras import optional_packages
from ...inertia import Array
from .page import Figure
from .prediction import FORCE, TORQUE

Curve = tuple[str, Array, str]  # name in the legend, values (n,), and format of `Axes.plot`
MARGIN = 0.06  # of the range of values, above and below


def chart(title: str, unit: str, time: Array, curves: Sequence[Curve], description: str,
          spans: Sequence[tuple[float, float]] = ()) -> Figure:
    """A chart of curves over times (n,) [s] (raises MissingPackage).

    Args:
        curves: NaN is a gap; no name, no entry in the legend. The range is that of those that are
            not dashed.
        unit: of the values; description: what there is to see, in words.
        spans: first and last time [s] of what is shaded.
    """
    with optional_packages("drawing a report"):
        from matplotlib.figure import Figure as Drawing
    drawing = Drawing(figsize=(4.6, 2.9), layout="constrained")
    axes = drawing.add_subplot()
    for first, last in spans:
        axes.axvspan(first, last, color="tab:orange", alpha=0.15, linewidth=0)
    for name, values, style in curves:
        axes.plot(time, values, style, linewidth=1.2, label=name or "_")
    solid = np.concatenate([values for _, values, style in curves if "--" not in style])
    low, high = float(np.nanmin(solid)), float(np.nanmax(solid))
    margin = MARGIN * (high - low) or 0.1 * abs(high) or 1.0
    axes.set(ylim=(low - margin, high + margin))
    axes.set_title(f"{title} [{unit}]", fontsize=9)
    axes.set_xlabel("time [s]", fontsize=8)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.0)
    axes.grid(color="#eceef1")
    axes.legend(loc="best", ncols=4, frameon=False)
    out = BytesIO()
    drawing.savefig(out, format="svg", metadata=dict.fromkeys(  # not when and by what it was made
        ("Date", "Creator", "Format", "Type")))
    return Figure(title, description, b64encode(out.getvalue()).decode())


def wrench_charts(time: Array, measured: Array, predicted: Array,
                  spans: Sequence[tuple[float, float]] = ()) -> list[Figure]:
    """Charts of force and torque: wrenches (n, 6) as measured and predicted, over times (n,)."""
    figures = []
    for title, unit, channels in (("Force", "N", FORCE), ("Torque", "N m", TORQUE)):
        lines = [(name, values, style) for name, values, style in zip(
            "xyz", measured.T[channels], ("r-", "g-", "b-"), strict=True)]
        lines += [(name, values, "k--") for name, values in zip(
            ("predicted", "", ""), predicted.T[channels], strict=True)]
        figures.append(chart(title, unit, time, lines, "measured and predicted "
                             f"{title.lower()} over time", spans))
    return figures
