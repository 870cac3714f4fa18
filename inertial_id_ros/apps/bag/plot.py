# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate over time, and the wrench against the model, as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidSetting
from ...estimate import VERDICT_WORDS, Estimate
from ...extras import optional_packages
from ...inertia import Array
from ..report.curves import (
    Curves,
    WrenchCurves,
    estimate_curves,
    last_part,
    wrench_curves,
)
from ..report.held_out import contact_spans
from ..report.results import Identification
from ..report.wording import CONFIDENCE_95, NAMES, round_to_spread, summary
from .output import replace_when_complete

with optional_packages("drawing a plot"):
    import matplotlib

    matplotlib.use("Agg")  # files only: works without a display

    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

_SIZE, _DPI = (12.0, 9.0), 100
_COLORS = ("tab:red", "tab:green", "tab:blue")
_WIDTHS = (2.4, 1.6, 0.8)  # a curve shows beside one that is drawn over it
_MANY = 40  # points beyond which markers only thicken the line
_SETTLED = 4.0  # bands up to this many times the last one fit on the axes
_PANELS = (
    ((0,), "mass [kg]", 1.0, ("black",)),
    ((1, 2, 3), "centre of mass [mm]", 1e3, _COLORS),
    ((4, 7, 9), "moments of inertia\nabout COM [kg m²]", 1.0, _COLORS),
    ((5, 6, 8), "products of inertia\nabout COM [kg m²]", 1.0, _COLORS))


def check_format(path: Path) -> None:
    """Make sure, before a long run, that the file's ending is a known picture format.

    Raises:
        InvalidSetting: it is not.
    """
    known = FigureCanvasAgg.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        raise InvalidSetting(f"--plot {path} ends in '{path.suffix}'; allowed: "
                             f"{', '.join(sorted('.' + k for k in known))}")


def save_plot(path: Path, result: Identification, title: str) -> None:
    """Draw the result and write it to the path.

    Raises:
        InvalidSetting: the file cannot be written.
    """
    figure = draw(result, title)
    with replace_when_complete(path) as temporary:
        figure.savefig(temporary, dpi=_DPI)


def draw(result: Identification, title: str) -> Figure:
    """Mass, centre of mass, inertia with 95 % bands, and force and torque with the model."""
    figure = Figure(figsize=_SIZE, dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(3, 2)
    curves = estimate_curves(result)
    for axis, (indices, label, scale, colors) in zip(axes[:2].flat, _PANELS, strict=True):
        _draw_parameters(axis, curves, indices, label, scale, colors)
        axis.set_xlim(0.0, max(result.duration, 1e-3))
    wrench = last_part(wrench_curves(result.trace))
    _draw_wrench(axes[2, 0], wrench, slice(0, 3), "force [N]")
    _draw_wrench(axes[2, 1], wrench, slice(3, 6), "torque [N m]")
    _shade_contact(axes.flat, contact_spans(result.history))
    for axis in axes[2]:
        axis.set_xlabel("time since start of recording [s]")
    figure.suptitle(_heading(result, title), fontsize=12)
    return figure


def _heading(result: Identification, title: str) -> str:
    """Title, mass and centre of mass with the method, and the verdict."""
    outcome = result.outcome
    if not isinstance(outcome, Estimate):
        return f"{title}\n{textwrap.fill(summary(outcome), 120)}"
    mass, spread = round_to_spread(outcome.body.mass, CONFIDENCE_95 * outcome.sigma[0])
    com = ", ".join(f"{1e3 * c:.1f}" for c in outcome.body.com)
    return (f"{title}: {mass} ± {spread} kg, centre of mass ({com}) mm in {outcome.frame_id} "
            f"({outcome.method})\n{summary(outcome)}")


def _draw_parameters(axis: Axes, curves: Curves, indices: Sequence[int], label: str, scale: float,
                     colors: Sequence[str]) -> None:
    """Draw some of the ten parameters over time, with their bands, labels and verdicts."""
    axis.set_ylabel(label)
    axis.grid(alpha=0.3)
    if len(curves.time) == 0:
        _draw_text(axis, "no valid estimate")
        return
    verdict = curves.verdict
    for index, color, width in zip(indices, colors, _WIDTHS, strict=False):
        value = scale * curves.value[:, index]
        spread = scale * CONFIDENCE_95 * curves.sigma[:, index]
        draw_band(axis, curves.time, value, spread, color=color, linewidth=width,
                  marker="." if len(curves.time) <= _MANY else None,
                  label=f"{NAMES[index]} ({VERDICT_WORDS[verdict[index]]})")
    axis.set_ylim(*_limits(curves, list(indices), scale))
    axis.ticklabel_format(axis="y", scilimits=(-3, 4), useOffset=False)
    axis.legend(loc="upper right", fontsize=8, ncols=len(indices), title="value and 95 % band",
                title_fontsize=8)


def draw_band(axis: Axes, time: Array, value: Array, spread: Array, color: str,
              **line: Any) -> None:
    """Draw a curve (n,) over time, with a band of its spread (n,) on both sides."""
    axis.plot(time, value, color=color, **line)
    axis.fill_between(time, value - spread, value + spread, color=color, alpha=0.15,
                      linewidth=0.0)


def _limits(curves: Curves, indices: list[int], scale: float) -> tuple[float, float]:
    """Range of an axis that shows the settled values: the first bands are often a hundred times
    wider."""
    value = scale * curves.value[:, indices]
    spread = scale * CONFIDENCE_95 * curves.sigma[:, indices]
    shown = spread <= _SETTLED * spread[-1]  # the last estimate always is
    low, high = (value - spread)[shown].min(), (value + spread)[shown].max()
    margin = 0.1 * (high - low) or 0.1 * abs(high) or 1.0
    return float(low - margin), float(high + 3.0 * margin)  # room for the legend


def _draw_wrench(axis: Axes, curves: WrenchCurves, channels: slice, label: str) -> None:
    """Draw three channels of the wrench, as measured and as the model says."""
    axis.set_ylabel(label)
    axis.grid(alpha=0.3)
    if len(curves.time) == 0:
        _draw_text(axis, "no wrench")
        return
    for name, color, measured, model in zip(
            "xyz", _COLORS, curves.measured[:, channels].T, curves.model[:, channels].T,
            strict=True):
        axis.plot(curves.time, measured, color=color, alpha=0.45, linewidth=1.0,
                  label=f"{name} measured")
        axis.plot(curves.time, model, color=color, linestyle="--", linewidth=1.3,
                  label=f"{name} model" if np.isfinite(model).any() else None)
    low, high = axis.get_ylim()
    axis.set_ylim(low, high + 0.3 * (high - low))
    axis.set_xlim(curves.time[0], curves.time[-1])
    axis.legend(loc="upper right", fontsize=8, ncols=3)


def _shade_contact(axes: Iterable[Axes], spans: Sequence[tuple[float, float]]) -> None:
    """Shade the time of contacts, of which the estimate uses nothing, and name the first one."""
    for axis in axes:
        shown = axis.get_xlim()
        inside = [span for span in spans if span[0] < shown[1] and span[1] > shown[0]]
        for first, last in inside:
            axis.axvspan(first, last, color="gray", alpha=0.2, linewidth=0.0)
        if inside:
            axis.annotate("contact", (max(inside[0][0], shown[0]), 0.0), (2, 3),
                          xycoords=axis.get_xaxis_transform(), textcoords="offset points",
                          fontsize=8, color="dimgray")
        axis.set_xlim(shown)


def _draw_text(axis: Axes, text: str) -> None:
    axis.text(0.5, 0.5, text, transform=axis.transAxes, ha="center", va="center", color="gray",
              fontsize=14)
