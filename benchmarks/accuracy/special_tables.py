# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tables that put scenarios side by side: clock offset, point-to-point moves, density and wls."""

from __future__ import annotations

from typing import Any

import numpy as np

from .families import objects
from .records import Row
from .scenarios import SCENARIOS

# Traversaro et al. (2016), Table I: Ixx, Ixy, Ixz, Iyy, Iyz, Izz [kg m^2] about the sensor by the
# time of a move [s], without constraints and on the manifold.
PUBLISHED_MOVES = {
    10.0: ((0.580, 0.593, -0.541, 1.022, 0.190, -0.129),
           (0.215, 0.012, -0.064, 0.227, 0.038, 0.028)),
    5.0: ((0.128, -0.018, -0.125, 0.125, 0.026, -0.001),
          (0.166, 0.001, -0.089, 0.216, 0.001, 0.050)),
    2.0: ((0.065, 0.001, -0.035, 0.066, 0.006, 0.007),
          (0.067, 0.001, -0.030, 0.086, 0.003, 0.014)),
    1.0: ((0.032, 0.0014, -0.017, 0.036, 0.002, 0.008),
          (0.034, 0.001, -0.015, 0.042, 0.001, 0.009)),
    0.5: ((0.033, 0.003, -0.014, 0.035, 0.000, 0.008),
          (0.037, 0.001, -0.013, 0.039, 0.000, 0.008))}
_INERTIA = [f"phi_{k}" for k in range(4, 10)]


MISS, WORSE = 2.0, 1.1  # ms, and ratio of e_J to that without an offset, wanted of `density`


def clock(rows: list[Row]) -> list[str]:
    """Offset found and error of every estimator, beside the error without an offset."""
    rows = [r for r in rows if r["scenario"].startswith("clock-") and not r["failure"]]
    names = list(dict.fromkeys(r["estimator"] for r in rows))
    scenarios = list(dict.fromkeys(r["scenario"] for r in rows))
    if "clock-0" not in scenarios:
        return []
    out = ["", "## Clock offset", "",
           "Offset found, mean ± standard deviation over runs and objects, and the largest miss of "
           "one run; negative: the stamps of the wrench are late. `ratio`: e_J over that of "
           "clock-0.", "",
           "| scenario | estimator | true, ms | found, ms | largest miss, ms | e_J | ratio |",
           "|---|---|---|---|---|---|---|"]
    for scenario in scenarios:
        true = 0.0 - 1e3 * SCENARIOS[scenario].errors.clock_offset
        for name in names:
            own = [r for r in rows if (r["scenario"], r["estimator"]) == (scenario, name)]
            base = [r["e_J"] for r in rows if (r["scenario"], r["estimator"]) == ("clock-0", name)]
            if not own or not base:
                continue
            found = 1e3 * np.array([r["align_5"] for r in own])
            told = (f"{found.mean():.2f} ± {found.std():.2f} | {np.abs(found - true).max():.2f}"
                    if found.any() else "not asked | -")
            error = np.mean([r["e_J"] for r in own])
            out.append(f"| {scenario} | `{name}` | {true:.0f} | {told} | {error:.3g} | "
                       f"{error / np.mean(base):.2f} |")
            if (scenario, name) == ("clock-40", "density"):
                reached = (np.abs(found - true).max() <= MISS
                           and error <= WORSE * np.mean(base))
    if "clock-40" in scenarios and "density" in names:
        out += ["", f"`density` within {MISS:g} ms, and at most {WORSE:g} times the error without "
                f"an offset: {'**yes**' if reached else '**no**'}"]
    return out


def moves(rows: list[Row]) -> list[str]:
    """Point-to-point moves: is the free answer a body, and how far is the constrained one."""
    parts = [_moves(rows, prefix, text) for prefix, text in (
        ("moves-", "sensor mounted 0.5° off, gravity 0.25°, as on a real arm"),
        ("exact-moves-", "exact set-up"))]
    if not any(parts):
        return []
    return ["", "## Unconstrained and constrained answers to point-to-point moves", "",
            "`distance`: norm of the difference to the answer of `wls` in the six inertia entries "
            "about the sensor, over the norm of the true ones; published: the same of Traversaro "
            "et al. (2016, Table I), against their answer to the fastest path.",
            *(line for part in parts for line in part)]


def _moves(rows: list[Row], prefix: str, text: str) -> list[str]:
    scenarios = [s for s in SCENARIOS.values() if s.name.startswith(prefix)]
    reference = np.linalg.norm(PUBLISHED_MOVES[0.5][1])
    lines = []
    for scenario in scenarios:
        by = {(r["estimator"], r["run"]): r for r in rows
              if r["scenario"] == scenario.name and not r["failure"]}
        runs = sorted({k for name, k in by
                       if all((e, k) in by for e in ("wls", "lmi", "manifold"))})
        if not runs:
            continue
        free = [by["wls", k] for k in runs]
        distances = [_distance([by[name, k] for k in runs], free, scenario.family)
                     for name in ("manifold", "lmi")]
        published = (np.linalg.norm(np.subtract(*PUBLISHED_MOVES[scenario.pace])) / reference)
        errors = [np.mean([by[name, k]["e_J"] for k in runs]) for name in ("wls", "manifold")]
        lines.append(f"| {scenario.pace:g} s | {sum(r['consistent'] for r in free)} of {len(runs)}"
                     f" | {distances[0]:.2g} | {distances[1]:.2g} | {published:.2g} | "
                     f"{errors[0]:.3g} | {errors[1]:.3g} |")
    if not lines:
        return []
    return ["", f"{text[0].upper()}{text[1:]}:", "",
            "| moves of | wls a body | distance of manifold | of lmi | published | e_J wls | "
            "e_J manifold |", "|---|---|---|---|---|---|---|", *lines]


def _distance(ours: list[Row], free: list[Row], family: str) -> float:
    scale = np.linalg.norm(objects(family)[0].phi[4:])
    return float(np.mean([np.linalg.norm(_inertia(a) - _inertia(b)) / scale
                          for a, b in zip(ours, free, strict=True)]))


def _inertia(row: Row) -> Any:
    return np.array([row[k] for k in _INERTIA])
