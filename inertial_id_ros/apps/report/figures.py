# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Pictures of a report, drawn by matplotlib as SVG."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from ...estimate import Estimate
from ...extras import optional_packages
from ...geometry.shape import Shape
from ...inertia import Array
from .equivalent_box import box_edges, equivalent_box
from .page import Figure

COLOURS = {"x": "#b3261e", "y": "#176639", "z": "#1f56b5", "black": "#1d2330"}
SHADE = "#8a5200"
_JOINT_95 = 2.796  # standard deviations of an ellipsoid that holds 95 % of three normal variables
_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 33)
# Name of each view, and the axes that it shows across and upwards.
_VIEWS = (("from the front", 0, 2), ("from the side", 1, 2), ("from above", 0, 1))


class Curve(NamedTuple):
    """One curve: values (n,) over (n,) of the horizontal axis; NaN is a gap.

    Attributes:
        name: in the legend; empty: not there.
        colour: key of `COLOURS`.
        band: half width (n,) of a band around it; None: none.
        dashed: True if it is drawn with dashes.
    """

    name: str
    time: Array
    value: Array
    colour: str
    band: Array | None = None
    dashed: bool = False


def chart(title: str, unit: str, curves: Sequence[Curve], description: str,
          limits: tuple[float, float], spans: Sequence[tuple[float, float]] = (),
          across: str = "time [s]") -> Figure:
    """A chart of curves.

    Args:
        unit: of the values; description: what there is to see, in words; limits: of the values.
        spans: first and last time [s] of what is shaded; across: name of the horizontal axis.
    """
    drawing, (axes,) = _drawing(4.6, 2.9)
    for first, last in spans:
        axes.axvspan(first, last, color=SHADE, alpha=0.15, linewidth=0)
    for curve in curves:
        colour = COLOURS[curve.colour]
        axes.plot(curve.time, curve.value, "--" if curve.dashed else "-", color=colour,
                  linewidth=1.2, label=curve.name or "_")
        if curve.band is not None:
            axes.fill_between(curve.time, curve.value - curve.band, curve.value + curve.band,
                              color=colour, alpha=0.16, linewidth=0)
    axes.set(title=f"{title} [{unit}]", xlabel=across, ylim=limits)
    axes.margins(x=0.0)
    axes.grid(color="#eceef1")
    if any(curve.name for curve in curves):
        axes.legend(loc="best", ncols=4, frameon=False)
    return _figure(drawing, title, description)


def limits_around(low: Array, high: Array) -> tuple[float, float]:
    """Limits of an axis around values."""
    bottom, top = float(np.min(low)), float(np.max(high))
    margin = 0.06 * (top - bottom) or 0.1 * abs(top) or 1.0
    return bottom - margin, top + margin


def place(estimate: Estimate, shape: Shape | None) -> Figure:
    """The body in the sensor frame, from three sides: centre of mass with its 95 % ellipsoid, the
    box of the same mass and inertia, and the hull of the shape."""
    from scipy.spatial import ConvexHull  # loads slowly

    body = estimate.body
    lengths, turn = equivalent_box(body)
    edges = box_edges(body.com, lengths, turn)
    reach = max(float(np.abs(edges).max()), 0.05)
    drawing, views = _drawing(9.0, 3.2, 3)
    for axes, (name, a, b) in zip(views, _VIEWS, strict=True):
        if shape is not None:
            flat = shape.surface[:, [a, b]]
            axes.fill(*flat[ConvexHull(flat).vertices].T, color="#8b93a1", alpha=0.25)
        for edge in edges:
            axes.plot(edge[:, a], edge[:, b], color=COLOURS["z"], linewidth=1.0,
                      linestyle="-" if estimate.inertia_is_known else "--")
        variance, axis = np.linalg.eigh(estimate.covariance[1:4, 1:4][np.ix_([a, b], [a, b])])
        half = _JOINT_95 * np.sqrt(np.maximum(variance, 0.0)) * axis
        ring = body.com[[a, b]] + np.column_stack([np.cos(_CIRCLE), np.sin(_CIRCLE)]) @ half.T
        axes.fill(*ring.T, color="#c2410c", alpha=0.3)
        axes.plot(*body.com[[a, b]], "+", color="#c2410c", markersize=9)
        for k in (a, b):
            tip = 0.6 * reach * np.eye(3)[k][[a, b]]
            axes.annotate("xyz"[k], xy=(0.0, 0.0), xytext=tip, color=COLOURS["xyz"[k]],
                          arrowprops={"arrowstyle": "<-", "color": COLOURS["xyz"[k]]})
        axes.set(title=name, xlabel=f"{'xyz'[a]} [m]", ylabel=f"{'xyz'[b]} [m]", aspect="equal")
        axes.set_adjustable("datalim")
    com = ", ".join(f"{round(1e3 * v, 1) + 0.0:.1f}" for v in body.com)
    said = (f"axes of {estimate.frame_id}; centre of mass at {com} mm; a box of "
            + " x ".join(f"{1e3 * v:.0f}" for v in lengths) + " mm has the same mass and inertia")
    return _figure(drawing, "Payload in the sensor frame", said)


def _drawing(width: float, height: float, count: int = 1) -> tuple[Any, list[Any]]:
    """A figure of that size [in] with axes side by side (raises MissingPackage)."""
    with optional_packages("drawing a report"):
        from matplotlib.figure import Figure as Drawing
    drawing = Drawing(figsize=(width, height), layout="constrained")
    axes = [drawing.add_subplot(1, count, k + 1) for k in range(count)]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.tick_params(labelsize=8)
        one.title.set_fontsize(9)
        one.xaxis.label.set_fontsize(8)
        one.yaxis.label.set_fontsize(8)
    return drawing, axes


def _figure(drawing: Any, title: str, description: str) -> Figure:
    """A drawing as SVG, which says nothing of when and by what it was made."""
    out = BytesIO()
    drawing.savefig(out, format="svg", metadata=dict.fromkeys(
        ("Date", "Creator", "Format", "Type")))
    return Figure(title, description, b64encode(out.getvalue()).decode())
