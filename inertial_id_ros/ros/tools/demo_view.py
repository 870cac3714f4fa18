# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the demo shows: a live table or plain lines, and a plot of the estimate over time."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ...estimate import VERDICT_WORDS
from ...extras import optional_packages
from ...inertia import PARAMETER_NAMES
from .demo_client import Record

with optional_packages("the demo"):
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

# Unit and factor from SI, for each of the ten numbers.
_UNITS = [("kg", 1.0)] + [("mm", 1e3)] * 3 + [("g m^2", 1e3)] * 6
_LINE_EVERY = 1.0  # s between plain lines


class View:
    """A live table on a terminal, else a line a second; a context manager."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, refresh_per_second=4) if console.is_terminal else None
        self._next_line = 0.0

    def __enter__(self) -> View:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, record: Record, elapsed: float) -> None:
        """Show the newest estimate; elapsed: since the start [s]."""
        if self._live is not None:
            self._live.update(table(record, elapsed))
        elif elapsed >= self._next_line:
            self._next_line = elapsed + _LINE_EVERY
            self._console.print(line(record, elapsed), highlight=False, soft_wrap=True)


def table(record: Record, elapsed: float) -> Table:
    """Truth, estimate, deviation and verdict of the ten parameters."""
    out = Table(title=f"payload after {elapsed:4.1f} s", caption=_status(record))
    for column in ("parameter", "truth", "estimate", "± 2σ", "error", ""):
        out.add_column(column, justify="right" if column not in ("parameter", "") else "left")
    values, sigmas, valid = record.values(), record.sigmas(), record.valid
    for k, (name, (unit, factor)) in enumerate(zip(PARAMETER_NAMES, _UNITS, strict=True)):
        truth = "" if record.truth is None else f"{record.truth[k] * factor:.3f}"
        row = [f"{name} [{unit}]".replace("[", r"\["), truth]
        if valid:
            error = values[-1, k] - (np.nan if record.truth is None else record.truth[k])
            row += [f"{values[-1, k] * factor:.3f}", f"{2.0 * sigmas[-1, k] * factor:.3f}",
                    f"{error * factor:+.3f}", VERDICT_WORDS[valid[-1].verdict[k]]]
        out.add_row(*row)
    return out


def line(record: Record, elapsed: float) -> str:
    """Mass, centre of mass and inertia in one line."""
    if not record.valid:
        return f"{elapsed:5.1f} s  {_status(record)}"
    last, truth = record.values()[-1], record.truth
    text = f"{elapsed:5.1f} s  mass {last[0]:.4f} kg  com {_format_millimetres(last[1:4])} mm"
    if truth is None:
        return text
    tensor = np.abs(last[4:] - truth[4:]).max() / np.abs(truth[4:]).max()
    return text + (f"  off by {last[0] / truth[0] - 1.0:+.2%},"
                   f" {np.linalg.norm(last[1:4] - truth[1:4]) * 1e3:.2f} mm, inertia {tensor:.1%}")


def _format_millimetres(metres: np.ndarray) -> str:
    return "(" + ", ".join(f"{v * 1e3:.1f}" for v in metres) + ")"


def _status(record: Record) -> str:
    """The newest status sentence."""
    return record.messages[-1].status if record.messages else "waiting for the node"


def plot(record: Record, title: str, path: Path) -> None:
    """Estimate with its 95 % band over time, beside the truth (raises OSError)."""
    from ...apps.bag.plot import Figure  # costs a second

    figure = Figure(figsize=(8.0, 8.0), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    _draw_parameters(axes[0], record, "mass [kg]", 1.0, (0,))
    _draw_parameters(axes[1], record, "centre of mass [mm]", 1e3, (1, 2, 3))
    _draw_parameters(axes[2], record, "inertia about it [g m²]", 1e3, (4, 5, 6, 7, 8, 9))
    axes[0].set_title(title + "\nestimate with 95 % band; dashed: truth", fontsize="medium")
    axes[-1].set_xlabel("time [s]")
    figure.savefig(path, dpi=130)


def _draw_parameters(ax: Any, record: Record, label: str, factor: float,
                     columns: tuple[int, ...]) -> None:
    """Curves of some of the ten parameters; those of the centre of mass as deviations."""
    from ...apps.bag.plot import draw_band

    times, sigmas = record.times(), record.sigmas()[:, columns] * factor
    truth = np.full(10, np.nan) if record.truth is None else record.truth
    values, truth = record.values()[:, columns] * factor, truth[list(columns)] * factor
    if columns == (1, 2, 3) and np.isfinite(truth).all():  # far apart, and known to a hair
        values, truth, label = values - truth, truth * 0.0, label.replace(" [", " - truth [")
    for k, column in enumerate(columns):
        draw_band(ax, times, values[:, k], 2.0 * sigmas[:, k], color=f"C{k}", lw=2.6 - 0.35 * k,
                  label=PARAMETER_NAMES[column].replace("com.", ""))
        ax.axhline(truth[k], color=f"C{k}", ls="--", lw=1.0)
    band = np.stack([values - 2.0 * sigmas, values + 2.0 * sigmas])[:, len(values) // 5:]
    settled = np.concatenate([band.ravel(), truth])
    _set_limits(ax, settled[np.isfinite(settled)])
    ax.set_ylabel(label)
    ax.grid(alpha=0.3)
    if len(columns) > 1:
        ax.legend(ncols=len(columns), loc="upper right", fontsize="small", frameon=False)


def _set_limits(ax: Any, values: np.ndarray) -> None:
    """Limits that show the settled estimate with its band, not the wide one of the beginning."""
    low, high = float(values.min()), float(values.max())
    margin = max(0.1 * (high - low), 0.002 * max(abs(low), abs(high)), 1e-6)
    ax.set_ylim(low - margin, high + margin)
