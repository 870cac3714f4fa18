# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The bounds, all in `BOUNDS`, and the table that judges runs by them.

Limits and tolerances do not change once runs have been judged by them. A bound that is relative to
the runs before is judged on the seeds that both have.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .campaign import Runs

HOW: dict[str, Callable[[np.ndarray], float]] = {
    "mean": lambda v: float(v.mean()), "median": lambda v: float(np.median(v)),
    "most": lambda v: float(v.max()), "sum": lambda v: float(v.sum()),
    "rms": lambda v: float(np.sqrt(np.mean(v**2))),
    "90 %": lambda v: float(np.percentile(v, 90.0, method="higher")),
    # Runs that a share of .9 forgives: one of ten begun, e.g. 4 of 40 and 2 of 16.
    "misses": lambda v: float((v < 0.5).sum()) / math.ceil(0.1 * len(v))}


class Bound(NamedTuple):
    """What is allowed of a metric, over the runs of each row.

    Attributes:
        rows: a row or a group; a bound of a row goes before one of its group. how: see `HOW`.
        most, least: absolute; ratio: at most so many times as before; low_ratio: at least;
        more, less: at most so much above, or below, what was before. None of them: shown only.
    """

    rows: str
    metric: str
    how: str
    text: str
    most: float | None = None
    least: float | None = None
    ratio: float | None = None
    low_ratio: float | None = None
    more: float | None = None
    less: float | None = None


def _errors(rows: str, ratio: float) -> list[Bound]:
    return [Bound(rows, m, "mean", f"mean {t} error, % (Nadeau et al. 2022)", ratio=ratio)
            for m, t in (("e_m", "mass"), ("e_COM", "centre of mass"), ("e_J", "inertia"))]


def _sensors() -> list[Bound]:
    out = [Bound("sensors", "none", "mean", "share of runs without an estimate", more=0.1),
           Bound("sensors", "alarm", "mean", "share of runs with a false finding", more=0.1),
           Bound("sensors", "in_m", "misses",
                 "95 % intervals that miss the mass, over what is forgiven (one in ten)", most=1.0)]
    for group, word in (("COM", "centre of mass"), ("I", "inertia")):
        out.append(Bound("sensors", f"in_{group}", "mean",
                         f"share of 95 % intervals that hold the {word}", least=0.9))
    for group in ("m", "COM", "I"):
        out.append(Bound("sensors", f"z_{group}", "rms", "error over its deviation", most=1.3))
    known = "share of runs that know the mass"
    for rows, least in (("cross-talk-1", 0.9), ("gain", 0.95), ("hysteresis", 0.6),
                        ("cable", 0.45), ("onrobot", 0.3), ("mix-cell", 0.3), ("filter-2-1", 0.85),
                        ("ar-10s", 0.55), ("ur-config", 0.35)):
        out.append(Bound(rows, "claimed_m", "mean", known, least=least))
    out.append(Bound("sensors", "claimed_m", "mean", known, low_ratio=0.95))
    out += [Bound("sensors", m, "median", f"median error of the {w}", ratio=1.3)
            for m, w in (("e_m", "mass, %"), ("e_COM", "centre of mass, mm"))]
    return [*out, Bound("sensors", "claimed_COM", "mean", "share of the centre that is known"),
            Bound("sensors", "claimed_I", "mean", "share of the inertia that is known")]


COVERED = "share of fresh estimates that hold it as it is then, two deviations"
BOUNDS = (
    *_errors("tools-high", 1.12), *_errors("accuracy", 1.05), *_sensors(),
    Bound("ideal", "in_m_COM", "mean", "95 % intervals of mass and centre that hold", 0.97, 0.93),
    Bound("ideal", "width", "median", "deviations over the Cramer-Rao bound", most=1.15),
    *(Bound("moving loads", f"in_{g}", "mean", COVERED, least=0.9) for g in ("m", "COM", "I")),
    Bound("moving loads", "named", "mean", "share named within 5 s of motion where felt", less=0.1),
    Bound("moving loads", "wrong_s", "mean", "s of estimates wrong (3 sd, limit), fresh", most=1.0),
    Bound("moving loads", "fresh_s", "mean", "s of fresh estimates, of 22"),
    Bound("faults", "named_s", "most", "s until the fault is named; 9.9: never", more=0.5),
    Bound("faults", "wrong_s", "most", "s of new estimates that are wrong (4 sd, 5 %)", most=1.0),
    Bound("contact in motion", "dropped", "mean", "runs in which > 25 % of the mass goes", most=.1),
    Bound("contacts", "dropped", "mean", "runs in which > 25 % of the mass goes", most=0.0),
    Bound("contact in motion", "mistaken", "mean", "runs that name a change of payload (9.9 s)",
          most=0.1),
    Bound("contacts", "mistaken", "mean", "runs that name a change of payload (9.9 s)", most=0.0),
    Bound("contacts", "known", "mean", "share of wrenches published in the second before"),
    Bound("contacts", "named_s", "median", "s until the contact is named; 9.9: never", more=0.3),
    Bound("contacts", "right_s", "90 %", "s after it until within 1 N for .5 s; 9.9: never",
          more=0.5),
    Bound("contacts", "silent_s", "mean", "s without a compensated wrench from its begin on",
          more=1.0),
    Bound("closed loop", "press_off", "mean", "N between true pressing force and target", more=0.5),
    *(Bound("changes", f"named_{w}_s", "90 %", f"s until the {w} is named", most=0.6)
      for w in ("grip", "release")),
    *(Bound("changes", f"right_{w}_s", "90 %", f"s after the {w} until within 1 N for .5 s",
            most=1.0) for w in ("grip", "release")),
    Bound("changes", "false", "sum", "other events named", most=0.0),
    Bound("ordinary minute", "false", "sum", "events named though nothing happens", most=0.0),
    Bound("ordinary minute", "rms", "mean", "N left in the compensated force", ratio=1.1),
    Bound("drift 5 N/min", "rms", "mean", "N left in the compensated force", most=0.3),
    Bound("set-up", "over_3N_s", "mean", "s published and > 3 N off, of 20", most=1.0),
    Bound("still", "over_1N_s", "mean", "s published and > 1 N off"),
    Bound("still", "silent_s", "mean", "s without a compensated wrench"),
    Bound("real", "e_m", "mean", "error of the mass, %"),
    Bound("real", "in_m", "mean", "mass within its interval", low_ratio=1.0),
    Bound("real", "in_z", "mean", "centre of mass within its interval", low_ratio=1.0),
    Bound("time: estimate, clean", "ms", "mean", "processor time", most=20.0),
    Bound("time: estimate with causes", "ms", "mean", "processor time", most=120.0),
    Bound("time: a minute", "s", "mean", "processor time of a minute at 1 kHz", most=5.0),
    Bound("time: compensated wrench", "ms", "mean", "processor time of one"))
FALSE_CLAIMS, GEOMETRIC = 0.03, 1.05  # share of all claims of the sensors; mean ratio of medians


def value(runs: Runs, row: str, bound: Bound, seeds: set[int] | None = None) -> float:
    """The metric of a row; NaN where no run has it."""
    some = [n[bound.metric] for (name, seed), n in runs.items()
            if name == row and bound.metric in n and (seeds is None or seed in seeds)]
    return HOW[bound.how](np.array(some)) if some else math.nan


def allowed(bound: Bound, before: float) -> tuple[float, float]:
    """Least and most that is allowed; NaN: it depends on what is not known."""
    low = [x for x in (
        bound.least, None if bound.low_ratio is None else bound.low_ratio * before,
        None if bound.less is None else before - bound.less) if x is not None]
    high = [x for x in (
        bound.most, None if bound.ratio is None else bound.ratio * before,
        None if bound.more is None else before + bound.more) if x is not None]
    return (low or [-math.inf])[0], (high or [math.inf])[0]


def judge(now: Runs, before: Runs, groups: dict[str, str]) -> tuple[list[str], int]:
    """Lines of the table, and how many bounds are broken."""
    lines = [f"{'row':27} {'metric':17} {'before':>8} {'now':>8} {'ratio':>6}  allowed"]
    broken, ratios = 0, []
    texts = {}
    for row in dict.fromkeys(name for name, _ in now):
        done: set[str] = set()
        same = {seed for name, seed in now if name == row and (row, seed) in before}
        for bound in sorted(BOUNDS, key=lambda b: b.rows != row):
            if bound.rows not in (row, groups.get(row)) or bound.metric in done:
                continue
            done.add(bound.metric)
            relative = bound.most is None and bound.least is None
            was = value(before, row, bound, same or None)
            is_ = value(now, row, bound, same if relative and same else None)
            if math.isnan(is_) and math.isnan(was):
                continue
            low, high = allowed(bound, was)
            skip = relative and not same
            # A metric that has vanished is broken, too, where something is asked of it.
            ok = low - 1e-9 <= is_ <= high + 1e-9 or skip or (relative and math.isnan(was)) or (
                math.isinf(low) and math.isinf(high))
            broken += not ok
            if same and bound.how == "median" and bound.metric in ("e_m", "e_COM") and (
                    was > 0.0 and is_ > 0.0):
                ratios.append(math.log(is_ / was))
            lines.append(_line(row, f"{bound.metric}, {bound.how}", was, is_, low, high,
                               "?" if skip else "" if ok else "BROKEN"))
            texts[bound.metric, bound.text] = bound
    broken += _all_together(lines, now, before, groups, ratios)
    lines += ["", f"{broken} bounds are broken. ?: not judged, other seeds than before.", ""]
    return lines + [f"{metric:16} {bound.how:7} {text}" for (metric, text), bound in
                    texts.items()], broken


def _all_together(lines: list[str], now: Runs, before: Runs, groups: dict[str, str],
                  ratios: list[float]) -> int:
    """Adds the lines about all rows; how many are broken."""
    rows = []

    def share(runs: Runs) -> float:
        some = [n for (row, _), n in runs.items() if groups.get(row) == "sensors"]
        return sum(n.get("false", 0.0) for n in some) / max(sum(n.get("claims", 0.0)
                                                                for n in some), 1.0)
    rows.append(("all sensors", "false claims", share(before), share(now), FALSE_CLAIMS))
    if ratios:
        rows.append(("all sensors", "e_m, e_COM ratio", 1.0, math.exp(float(np.mean(ratios))),
                     GEOMETRIC))
    rows.append(("all", "failed", *(sum(n.get("failed", 0.0) for n in r.values())
                                    for r in (before, now)), 0.0))
    for row, metric, was, is_, most in rows:
        lines.append(_line(row, metric, was, is_, -math.inf, most,
                           "" if is_ <= most else "BROKEN"))
    lines.append(f"{'all':27} {'cpu_s':17} {sum(n['cpu_s'] for n in before.values()):8.4g} "
                 f"{sum(n['cpu_s'] for n in now.values()):8.4g}")
    return sum(is_ > most for _, _, _, is_, most in rows)


def _line(row: str, metric: str, was: float, is_: float, low: float, high: float, mark: str) -> str:
    ratio = f"{is_ / was:6.2f}" if was and math.isfinite(is_ / was) else "      "
    limits = " and ".join(f"{word} {x:.3g}" for word, x in ((">=", low), ("<=", high))
                          if math.isfinite(x))
    return f"{row:27} {metric:17} {was:8.4g} {is_:8.4g} {ratio}  {limits or '-':22} {mark}".rstrip()
