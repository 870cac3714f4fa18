# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Figures of a source from its rows: coverage, z, errors, claims beyond the limits, findings."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from inertial_id_ros.identification.verdict import (
    COM_LENGTH,
    COM_SHARE,
    INERTIA_SHARE,
    MASS_SHARE,
)
from inertial_id_ros.inertia import PARAMETER_NAMES, Array

from ..records import Row

LEVELS = {50: 0.674490, 68: 0.994458, 95: 1.959964}  # percent: standard deviations
GROUPS = {"mass": slice(0, 1), "COM": slice(1, 4), "inertia": slice(4, 10)}


class Summary(NamedTuple):
    """Figures of some runs; each dict by the name of a group of parameters.

    Attributes:
        failed: runs without an estimate; knowable: runs in which the noise lets the mass be known
            within the limit of its verdict [%].
        coverage: percent of the values within the intervals of each of LEVELS.
        z: root mean square of error over standard deviation.
        median, rms: errors of mass [%], of the centre of mass (length) [mm], and of the inertia
            (norm of the tensor's error over the mean principal moment) [%].
        claimed: share of values with a verdict other than unobserved [%]; beyond: share of these
            that are beyond the verdict's limit [%].
        false: runs with a false finding [%]; names: how many runs had each of them; findings: how
            many runs had each other finding above the level of information.
    """

    runs: int
    failed: int
    knowable: float
    coverage: dict[str, tuple[float, ...]]
    z: dict[str, float]
    median: dict[str, float]
    rms: dict[str, float]
    claimed: dict[str, float]
    beyond: dict[str, float]
    false: float
    names: Counter[str]
    findings: Counter[str]
    reasons: Counter[str]


def summarise(rows: list[Row]) -> Summary:
    """The figures of some runs."""
    known = [r for r in rows if not r["failure"]]
    got, sd, true, verdict = (np.array([[r[f"{kind}_{n}"] for n in PARAMETER_NAMES] for r in known]
                                       ).reshape(-1, 10)
                              for kind in ("got", "sd", "true", "verdict"))
    z, errors, limits = (got - true) / sd, _errors(got, true), _limits(true)
    beyond = np.abs(got - true) > limits
    return Summary(
        len(rows), len(rows) - len(known),
        _percent(np.array([2.0 * r["least_mass_sd"] <= MASS_SHARE * r["true_mass"] for r in rows])),
        {g: tuple(_percent(np.abs(z[:, s]) <= level) for level in LEVELS.values())
         for g, s in GROUPS.items()},
        {g: _rms(z[:, s]) for g, s in GROUPS.items()},
        {g: float(np.median(e)) if len(e) else np.nan for g, e in errors.items()},
        {g: _rms(e) for g, e in errors.items()},
        {g: _percent(verdict[:, s] > 0) for g, s in GROUPS.items()},
        {g: _percent(beyond[:, s][verdict[:, s] > 0]) for g, s in GROUPS.items()},
        _percent(np.array([bool(r["false"]) for r in rows])),
        Counter(name for r in rows for name in set(r["false"].split())),
        Counter(name for r in rows for name, _, level in
                {tuple(f.partition(":")) for f in r["findings"].split()}
                if level != "info" and name not in r["false"].split()),
        Counter(r["failure"][:90] for r in rows if r["failure"]))


def _errors(got: Array, true: Array) -> dict[str, Array]:
    gap = got - true
    tensor = gap[:, 4:] * np.sqrt([1.0, 2.0, 2.0, 1.0, 2.0, 1.0])  # norm of the matrix
    return {"mass": 100.0 * np.abs(gap[:, 0]) / true[:, 0],
            "COM": 1e3 * np.linalg.norm(gap[:, 1:4], axis=1),
            "inertia": 100.0 * np.linalg.norm(tensor, axis=1) / _mean_moment(true)}


def _mean_moment(true: Array) -> Array:
    return true[:, [4, 7, 9]].mean(axis=1)


def _limits(true: Array) -> Array:
    """The verdict's own limits (n, 10), of the true values."""
    com = np.maximum(COM_LENGTH, COM_SHARE * np.linalg.norm(true[:, 1:4], axis=1))
    return np.column_stack([MASS_SHARE * true[:, 0], com, com, com,
                            *6 * [INERTIA_SHARE * _mean_moment(true)]])


def _percent(hits: Array) -> float:
    return 100.0 * float(hits.mean()) if hits.size else np.nan


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else np.nan


def line(source: str, s: Summary) -> str:
    """The figures of a source in one line."""
    def groups(values: dict[str, float], form: str) -> str:
        return "/".join(format(v, form) for v in values.values())
    covered = "  ".join("/".join(f"{s.coverage[g][k]:.0f}" for g in GROUPS)
                        for k in range(len(LEVELS)))
    text = (f"{source:15s} {s.failed:3d}/{s.runs:<3d} ({s.knowable:.0f}) | {covered} | "
            f"{groups(s.z, '.1f'):13s} | "
            f"{groups(s.median, '.2g')} | {groups(s.rms, '.2g')} | {groups(s.beyond, '.0f')} of "
            f"{groups(s.claimed, '.0f')} | {s.false:.0f}")
    for label, counts in (("", s.names), ("other: ", s.findings), ("none: ", s.reasons)):
        if counts:
            text += f" | {label}" + ", ".join(f"{n} {name}" for name, n in counts.most_common(5))
    return text


HEADER = ("source          none/runs (% with knowable mass) | in 50 %  68 %  95 % "
          "(mass/COM/inertia) | rms z | median % / mm / % | rms | beyond the limit, % of claimed % "
          "| runs with false findings, % | names")
