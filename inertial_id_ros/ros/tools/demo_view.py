# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The picture of the demo: the estimate over time, beside the truth."""

from __future__ import annotations

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
from .demo_record import Record


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
