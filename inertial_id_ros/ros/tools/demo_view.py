# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the demo shows: a live table or plain lines, and a plot of the estimate over time."""

from __future__ import annotations

from types import TracebackType

import numpy as np

from ...apps.report.charts import (
    SERIES,
    Axes,
    Curve,
    chart,
    limits_around,
    picture_file,
)
from ...apps.report.html import Markup
from ...apps.report.units import NAMES, PANELS
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


def picture(record: Record, title: str) -> str:
    """Estimate with its 95 % band over time, beside the truth, as the text of an SVG file."""
    return picture_file([title, "estimate with 95 % band; dashed: truth"],
                        [_chart(record, *panel) for panel in PANELS])


def _chart(record: Record, title: str, unit: str, members: tuple[int, ...],
           factor: float) -> Markup:
    """Curves of some of the ten parameters; those of the centre of mass as deviations."""
    times, columns = record.times(), list(members)
    values, bands = record.values()[:, columns] * factor, 2.0 * record.sigmas()[:, columns] * factor
    truth = factor * (np.full(10, np.nan) if record.truth is None else record.truth)[columns]
    if title == "Centre of mass" and np.isfinite(truth).all():  # far apart, and known to a hair
        values, truth, title = values - truth, truth * 0.0, "Centre of mass less truth"
    curves = [Curve(NAMES[i], times, values[:, k], SERIES[k], bands[:, k])
              for k, i in enumerate(members)]
    curves += [Curve("", times, np.full(len(times), truth[k]), SERIES[k], dashed=True)
               for k in range(len(members))]
    band = np.stack([values - bands, values + bands])[:, len(values) // 5:]
    settled = np.concatenate([band.ravel(), truth])  # not the wide band of the beginning
    shown = settled[np.isfinite(settled)]
    return chart(title, unit, curves, Axes((float(times[0]), float(times[-1])),
                                           limits_around(shown, shown)), f"{title} over time")
