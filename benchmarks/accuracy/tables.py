# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tables of results: every run, every object, and a summary in Markdown and CSV."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from inertial_id_ros.estimators import create
from inertial_id_ros.settings import ESTIMATORS, Settings

from . import special_tables
from .metrics import ENTRIES
from .records import Row
from .scenarios import Scenario

SUMMARY = ("e_m", "e_com", "e_J", "e_J_com")


def mean(rows: list[Row], key: str) -> float:
    """Mean over rows that have an answer; NaN without any."""
    values = [r[key] for r in rows if not r["failure"]]
    return float(np.mean(values)) if values else float("nan")


def standard_error(rows: list[Row], key: str) -> float:
    """Standard error of the mean, from the spread of the means of runs."""
    runs: dict[int, list[float]] = defaultdict(list)
    for r in rows:
        if not r["failure"]:
            runs[r["run"]].append(r[key])
    means = [np.mean(v) for v in runs.values()]
    return float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else float("nan")


def grouped(rows: list[Row], *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by the values of keys, in order of appearance."""
    out: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for r in rows:
        out[tuple(r[k] for k in keys)].append(r)
    return dict(out)


def summarise(rows: list[Row]) -> Row:
    """Means, standard errors, ratios to the bounds, coverage of one group of rows."""
    good = [r for r in rows if not r["failure"]]
    out: Row = {"rows": len(rows), "failed": len(rows) - len(good)}
    for key in SUMMARY:
        out[key] = mean(rows, key)
    out["se_J"] = standard_error(rows, "e_J")
    for kind in ("crb", "bcrb"):
        for name, key in (("m", "e_m"), ("com", "e_com"), ("J", "e_J")):
            out[f"{key}/{kind}"] = mean(rows, key) / mean(rows, f"{kind}_{name}")
    for entry in ENTRIES:
        out[f"in_{entry}"] = 100.0 * mean(rows, f"in_{entry}")
    out["consistent"] = 100.0 * mean(rows, "consistent")
    out["ms"] = float(np.median([r["ms"] for r in good])) if good else float("nan")
    return out


def write(rows: list[Row], chosen: list[Scenario], folder: Path) -> None:
    """Write objects.csv, summary.csv and summary.md."""
    folder.mkdir(parents=True, exist_ok=True)
    by_object = [{"scenario": s, "object": o, "estimator": e, **summarise(part)}
                 for (s, o, e), part in grouped(rows, "scenario", "object", "estimator").items()]
    _csv(folder / "objects.csv", by_object)
    summary = [{"scenario": s, "estimator": e, **summarise(part)}
               for (s, e), part in grouped(rows, "scenario", "estimator").items()]
    _csv(folder / "summary.csv", summary)
    (folder / "summary.md").write_text(markdown(rows, chosen), encoding="utf-8")


def _csv(path: Path, rows: list[Row]) -> None:
    fields = list(dict.fromkeys(k for r in rows for k in r))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields, restval="")
        writer.writeheader()
        writer.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in r.items()}
                         for r in rows)


def markdown(rows: list[Row], chosen: list[Scenario]) -> str:
    """The summary as one Markdown page."""
    parts = ["# Accuracy", "",
             "Errors in percent (mass / centre of mass / inertia about the sensor origin), means "
             "over objects and runs; ± is the standard error of the inertia error. `bound` is the "
             "mean error over the mean of the Cramér-Rao bound (mass, centre of mass, inertia), "
             "unbiased and Bayesian (prior of the true shape's width, an oracle): white noise of "
             "the wrench, motion, clock and mounting known exactly, so that noisy accelerations "
             "and wrong mountings keep every estimator above 1; a prior may fall below the "
             "unbiased one. `covered`: share of 95 % intervals that hold the truth: mass, "
             "centre of mass, inertia, and the worst single entry of one object.", "",
             *estimators(), ""]
    by_scenario = grouped(rows, "scenario")
    group = ""
    for scenario in chosen:
        part = by_scenario.get((scenario.name,), [])
        if not part:
            continue
        if scenario.group != group:
            group = scenario.group
            parts += ["", f"## {group}"]
        parts += ["", *_scenario(scenario, part)]
    parts += ["", *_ratios(rows), *special_tables.clock(rows), *special_tables.moves(rows)]
    return "\n".join(parts) + "\n"


def estimators() -> list[str]:
    """What each estimator needs and guarantees."""
    out = ["| estimator | needs a shape |", "|---|---|"]
    for name in ESTIMATORS:
        e = create(Settings(), name)
        out.append(f"| `{name}` | {'yes' if e.needs_shape else 'no'} |")
    return [*out, "", "`entropic-true` is `entropic` told the true shape, which makes its prior "
            "correct (the evenly filled shape, as the published comparisons assume); the others "
            "get what the scenario tells. Noise levels given are those of the data sheet, which "
            "are right here except for what kinematics add."]


def _scenario(scenario: Scenario, rows: list[Row]) -> list[str]:
    runs = len({r["run"] for r in rows})
    out = [f"### {scenario.name}", "",
           f"{scenario.seconds:g} s at {scenario.rate:g} Hz, noise {scenario.noise}, {runs} runs "
           f"of {len({r['object'] for r in rows})} objects."]
    for label, text in (("Best published", scenario.published),
                        ("Wanted of `density`", scenario.reach)):
        if text:
            out.append(f"{label}: {text}.")
    out += ["", "| estimator | e_m | e_COM | e_J | e_J at COM | bound | Bayesian bound | covered "
            "m, COM, J, worst | consistent | failed | ms |", "|" + "---|" * 11]
    for (name,), part in grouped(rows, "estimator").items():
        s = summarise(part)
        com = np.mean([s[f"in_{k}"] for k in ENTRIES[1:4]])
        inertia = np.mean([s[f"in_{k}"] for k in ENTRIES[4:]])
        worst, where = worst_coverage(part)
        out.append(
            f"| `{name}` | {_number(s['e_m'])} | {_number(s['e_com'])} | {_number(s['e_J'])} "
            f"± {_number(s['se_J'])} | {_number(s['e_J_com'])} | "
            + " ".join(f"{s[k + '/crb']:.2f}" for k in SUMMARY[:3]) + " | "
            + " ".join(f"{s[k + '/bcrb']:.2f}" for k in SUMMARY[:3])
            + f" | {s['in_mass']:.0f} {com:.0f} {inertia:.0f}, {worst:.0f} ({where}) | "
            f"{s['consistent']:.0f} % | {s['failed']} | {s['ms']:.1f} |")
    for (name, reason), part in grouped([r for r in rows if r["failure"]], "estimator",
                                        "failure").items():
        out += ["", f"`{name}` failed {len(part)} times: {reason}"]
    return out


def worst_coverage(rows: list[Row]) -> tuple[float, str]:
    """Lowest coverage [%] of one entry of one object, and which it is."""
    worst, where = float("inf"), "-"
    for (name,), part in grouped(rows, "object").items():
        for entry in ENTRIES:
            value = 100.0 * mean(part, f"in_{entry}")
            if value < worst:
                worst, where = value, f"{name} {entry}"
    return (worst if where != "-" else float("nan")), where


def _number(value: float) -> str:
    return "-" if not np.isfinite(value) else f"{value:.3g}"


def _ratios(rows: list[Row]) -> list[str]:
    """How `density` compares with `wls`, cell by cell, where the worst cells are."""
    cells = []
    for (scenario, name), part in grouped(rows, "scenario", "object").items():
        ours, theirs = ([r for r in part if r["estimator"] == e] for e in ("density", "wls"))
        if ours and theirs:
            ratio = mean(ours, "e_J") / mean(theirs, "e_J")
            cells.append((ratio, scenario, name, len(ours)))
    cells = sorted((c for c in cells if np.isfinite(c[0])), reverse=True)
    if not cells:
        return []
    out = ["## density against wls", "",
           f"Ratio of e_J in {len(cells)} cells (scenario, object); "
           f"{sum(c[0] > 1.1 for c in cells)} above 1.1. The largest:", "",
           "| scenario | object | runs | ratio |", "|---|---|---|---|"]
    return out + [f"| {s} | {o} | {n} | {r:.2f} |" for r, s, o, n in cells[:10]]
