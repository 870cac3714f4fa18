# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Plots of the results: inertia error by estimator for each group of scenarios, and coverage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from .metrics import ENTRIES  # noqa: E402
from .scenarios import Scenario  # noqa: E402
from .tables import grouped, mean, standard_error  # noqa: E402

_HIGHEST = 1000.0  # percent; worse errors are drawn there, as triangles


def write(rows: list[dict[str, Any]], chosen: list[Scenario], folder: Path) -> None:
    """Write errors.png and coverage.png."""
    present = [s for s in chosen if any(r["scenario"] == s.name for r in rows)]
    _errors(rows, present, folder / "errors.png")
    _coverage(rows, folder / "coverage.png")


def _errors(rows: list[dict[str, Any]], scenarios: list[Scenario], path: Path) -> None:
    cells = grouped(rows, "estimator", "scenario")
    estimators = list(dict.fromkeys(e for e, _ in cells))
    figure, axes = plt.subplots(3, 1, figsize=(max(6.0, 0.32 * len(scenarios) + 2.0), 9.0),
                                sharex=True, constrained_layout=True)
    for axis, key, label in zip(axes, ("e_m", "e_com", "e_J"),
                                ("mass [%]", "centre of mass [%]", "inertia [%]"), strict=True):
        for k, name in enumerate(estimators):
            parts = [cells.get((name, s.name), []) for s in scenarios]
            values = np.array([mean(p, key) if p else np.nan for p in parts])
            spread = np.array([standard_error(p, key) if p else np.nan for p in parts])
            x = np.arange(len(scenarios)) + 0.12 * (k - 0.5 * (len(estimators) - 1)) * 0.7
            inside = values < _HIGHEST
            # On a logarithmic axis a bar must not reach zero.
            bars = np.nan_to_num([np.minimum(spread, 0.9 * values), spread])[:, inside]
            axis.errorbar(x[inside], values[inside], bars, fmt="o", ms=3, lw=0.8, label=name,
                          color=f"C{k}")
            axis.plot(x[values >= _HIGHEST], np.full(np.sum(values >= _HIGHEST), _HIGHEST), "^",
                      ms=3, color=f"C{k}")
        axis.set_yscale("log")
        axis.set_ylim(top=min(axis.get_ylim()[1], 1.3 * _HIGHEST))
        axis.set_ylabel(label)
        axis.grid(axis="y", alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5,
                  fontsize=7)
    axes[-1].set_xticks(np.arange(len(scenarios)), [s.name for s in scenarios], rotation=90,
                        fontsize=7)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _coverage(rows: list[dict[str, Any]], path: Path) -> None:
    """Share of 95 % intervals of `density` that hold the truth, by scenario and parameter."""
    cells = grouped([r for r in rows if r["estimator"] == "density"], "scenario")
    if not cells:
        return
    shares = np.array([[100.0 * mean(part, f"in_{e}") for e in ENTRIES]
                       for part in cells.values()])
    figure, axis = plt.subplots(figsize=(6.0, 1.5 + 0.22 * len(cells)), constrained_layout=True)
    image = axis.imshow(shares, vmin=70.0, vmax=100.0, cmap="viridis", aspect="auto")
    axis.set_xticks(range(len(ENTRIES)), ENTRIES, rotation=60, fontsize=7)
    axis.set_yticks(range(len(cells)), [s for s, in cells], fontsize=7)
    for i, j in np.ndindex(shares.shape):
        if np.isfinite(shares[i, j]):
            axis.text(j, i, f"{shares[i, j]:.0f}", ha="center", va="center", fontsize=6,
                      color="white" if shares[i, j] < 88.0 else "black")
    figure.colorbar(image, label="density: intervals that hold the truth [%]")
    figure.savefig(path, dpi=120)
    plt.close(figure)
