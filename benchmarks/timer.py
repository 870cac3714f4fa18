# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Time of one solve on the timer's path, for each estimator and for windows of 1 s and 120 s.

    python benchmarks/timer.py

Two identifiers with these windows get the same simulated recording (500 Hz, bias states, by default
all alignment states); after every 50 ms of further data both are asked for an estimate in turn. The
first table gives medians of the whole tick and of the tick from the compressed window on, to the
estimate with covariance and verdict; the second splits the tick of the long window into:
provisional rows, content of the buffer, problem (linearised, noise and alignment), estimator with
its rounds, covariance with verdict and alignment's spread, and all the rest. Processor time, so
that other work on the machine counts for little.
"""

from __future__ import annotations

import os

for _threads in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[f"{_threads}_NUM_THREADS"] = "1"

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from inertial_id_ros.apps.simulation.cobot import Recording, SimulatedCobot
from inertial_id_ros.apps.simulation.settings import CobotSettings
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.wrench import solver
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.identification.wrench.problem_builder import ProblemBuilder
from inertial_id_ros.identification.wrench.provisional_rows import UnsettledBins
from inertial_id_ros.regression.regressor_window import RegressorWindow
from inertial_id_ros.settings import Settings

NO_ALIGNMENT = {"alignment.rotation_sd": 0.0, "alignment.tilt_sd": 0.0, "alignment.delay_sd": 0.0}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "`lmi`": ("lmi", {}), "`lmi`, no alignment states": ("lmi", NO_ALIGNMENT),
    "`density`": ("density", {}), "`density`, no shape": ("density", {"shape.type": "none"}),
    "`manifold`": ("manifold", {}), "`entropic`": ("entropic", {}),
    "`pmd`, 136 points": ("pmd", {"pmd.points": 136}),
    "`pmd`, 56 points": ("pmd", {"pmd.points": 56}),
    "`pmd` squared, 136 points": ("pmd", {"pmd.points": 136, "pmd.form": "squared"}),
    "`pmd` squared, 56 points": ("pmd", {"pmd.points": 56, "pmd.form": "squared"})}
# What is timed within a tick: owner and name of the functions of each part.
PARTS: dict[str, list[tuple[Any, str]]] = {
    "provisional rows": [(UnsettledBins, "provisional_rows")],
    "content": [(RegressorWindow, "content")],
    "problem": [(ProblemBuilder, "build")],
    "estimator": [(solver.Solver, "answer")],
    "covariance, verdict": [(solver, "judge"), (solver.Solver, "nuisance_values")]}
WINDOWS = (1.0, 120.0)
RATE = 500
SOLVES, EVERY = 40, 0.05  # s of data between two solves
SHAPE = {"shape.type": "box", "shape.size": (0.2, 0.1, 0.3), "shape.center": (0.0, 0.0, 0.15)}


def main() -> None:
    """Entry point."""
    cobot = SimulatedCobot(CobotSettings(rate=RATE))
    recording = cobot.run(max(WINDOWS) + 2.0 + SOLVES * EVERY)
    spent = dict.fromkeys(PARTS, 0.0)
    for part, functions in PARTS.items():
        for owner, name in functions:
            setattr(owner, name, _timed(getattr(owner, name), part, spent))
    print("| estimator | whole tick, 1 s, ms | 120 s, ms | ratio | from the window on, 1 s, ms "
          "| 120 s, ms | ratio |\n|---|---|---|---|---|---|---|")
    splits = []
    for label, (method, changes) in METHODS.items():
        whole, parts = _times(cobot, recording, spent,
                              {"estimator.method": method, **SHAPE, **changes})
        short, long = np.median(whole, axis=0)
        gathered = parts["provisional rows"] + parts["content"]
        short_on, long_on = np.median(whole - gathered, axis=0)
        print(f"| {label} | {short:.2f} | {long:.2f} | {long / short:.2f} | {short_on:.2f} | "
              f"{long_on:.2f} | {long_on / short_on:.2f} |", flush=True)
        rest = whole - sum(parts.values())
        splits.append((label, [*parts.values(), rest]))
    print("\n| 120 s, ms | " + " | ".join([*PARTS, "rest"]) + " |\n" + "|---" * 7 + "|")
    for label, columns in splits:
        print(f"| {label} | " + " | ".join(f"{np.median(c[:, 1]):.2f}" for c in columns) + " |")


def _timed(function: Callable[..., Any], part: str,
           spent: dict[str, float]) -> Callable[..., Any]:
    """The function, which adds its time [ms] to that of the part."""
    def timed(*arguments: Any, **named: Any) -> Any:
        began = time.thread_time()
        try:
            return function(*arguments, **named)
        finally:
            spent[part] += 1e3 * (time.thread_time() - began)
    return timed


def _times(cobot: SimulatedCobot, recording: Recording, spent: dict[str, float],
           changes: dict[str, Any]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Times (SOLVES, windows) of whole ticks and of their parts [ms]."""
    identifiers = [_identifier(cobot, {**changes, "buffer.window": window}) for window in WINDOWS]
    step = round(EVERY * RATE)
    start = len(recording) - SOLVES * step
    for identifier in identifiers:
        for k in range(0, start, RATE):
            _push(identifier, cobot, recording, k, min(k + RATE, start))
            identifier.advance()
        identifier.solve()
    whole = np.zeros((SOLVES, len(WINDOWS)))
    parts = {part: np.zeros_like(whole) for part in PARTS}
    for i in range(SOLVES):
        for j, identifier in enumerate(identifiers):
            _push(identifier, cobot, recording, start + i * step, start + (i + 1) * step)
            identifier.advance()
            spent.update(dict.fromkeys(PARTS, 0.0))
            began = time.thread_time()
            outcome = identifier.solve()
            whole[i, j] = 1e3 * (time.thread_time() - began)
            if not isinstance(outcome, Estimate):
                raise SystemExit(f"error: no estimate: {outcome.reason}")
            for part, times in parts.items():
                times[i, j] = spent[part]
    return whole, parts


def _identifier(cobot: SimulatedCobot, changes: dict[str, Any]) -> Identifier:
    identifier = Identifier(Settings().replace(changes))
    identifier.set_robot_description(cobot.urdf)
    for t in cobot.static_transforms():
        identifier.add_static_transform(t.parent, t.child, t.translation, t.quaternion)
    return identifier


def _push(identifier: Identifier, cobot: SimulatedCobot, recording: Recording, first: int,
          end: int) -> None:
    names = list(cobot.joint_names)
    for k in range(first, end):
        stamp = 1_000_000_000_000 + round(recording.t[k] * 1e9)
        identifier.add_joint_state(stamp, names, recording.q[k])
        identifier.add_wrench(stamp, cobot.sensor_frame, recording.wrench[k, :3],
                              recording.wrench[k, 3:])


if __name__ == "__main__":
    main()
