# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Time and cost of the solvers: cvxpy on all rows beside what the timer runs, on one core.

    python benchmarks/solvers.py [--all]

prints a Markdown table. The timer's path starts from the factors that the rolling buffer keeps up
to date, so its time does not depend on the length of the window. Costs are evaluated on all rows.
Point masses on all rows of 60 s take cvxpy minutes and gigabytes: only with --all.
"""

from __future__ import annotations

import os

for _threads in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[f"{_threads}_NUM_THREADS"] = "1"

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

sys.path[:0] = [str(Path(__file__).parents[1] / p) for p in ("", "test")]

import numpy as np
from problems import NOISE, Rows, compress, make_rows, motion, residuals
from reference import cvxpy_statements

from inertial_id_ros.estimators.lmi import Lmi
from inertial_id_ros.estimators.pmd import Pmd
from inertial_id_ros.estimators.reference_body import reference_body
from inertial_id_ros.geometry.shape import Shape, shape_from_primitive
from inertial_id_ros.inertia import phi_from_points
from inertial_id_ros.regression.problem import Problem
from inertial_id_ros.settings import Settings
from inertial_id_ros.settings.payload import PmdSettings

RATE = 500
WINDOWS = (1.0, 60.0)
POINTS = (56, 136)
WEIGHT = PmdSettings.regularization
T = TypeVar("T")


def timed(run: Callable[[], T], repeats: int) -> tuple[float, T]:
    """Median time [ms] of repeated runs and the last result; a first run is not counted.

    Processor time, so that other work on the machine does not count.
    """
    if repeats > 1:
        run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = run()
        times.append(time.process_time() - start)
    return 1e3 * float(np.median(times)), result


def recording(seconds: float, shape: Shape) -> Rows:
    """500 Hz of a moderate motion of two point masses in the shape, with noise and biases.

    J is singular, so that the LMI is active however long the window is.
    """
    rng = np.random.default_rng(1)
    phi = phi_from_points(shape.points[rng.choice(len(shape.points), 2)], np.full(2, 0.6))
    moving = motion(rng, round(seconds * RATE), seconds, speed=1.0)
    return make_rows(rng, phi, moving, NOISE, bias=np.repeat([0.5, 0.02], 3))


def squares(rows: Rows, problem: Problem, phi: np.ndarray,
            bias: np.ndarray) -> float:
    """Whitened sum of squares of the full model over all rows, with the prior of the biases."""
    (a, b, y), = residuals(rows, "noise")
    residual = (a @ phi + b @ bias - y) / np.tile(problem.noise, len(rows.wrench))
    prior = (bias - problem.bias_mean) / problem.bias_sd
    return float(residual @ residual + prior @ prior)


def lmi_line(rows: Rows, problem: Problem, label: str) -> str:
    """The ten-parameter LMI: cvxpy on all rows, and the timer's."""
    unit = reference_body(None).unit_phi
    slow, want = timed(lambda: cvxpy_statements.lmi(rows, problem, "noise", unit, 1e-6),
                       3 if len(rows.wrench) > 5000 else 15)
    estimator = Lmi(Settings())
    marginal = problem.marginal("noise")
    build, _ = timed(lambda: problem.marginal("noise"), 500)
    solve, _ = timed(lambda: estimator.solve_marginal(marginal, None), 500)
    fast, got = timed(lambda: estimator.solve(problem, None), 500)
    best = squares(rows, problem, want.phi, want.bias)
    return line(f"LMI, {label}", slow, fast, squares(rows, problem, got.phi, got.bias) / best - 1.0,
                f"{build:.3f} ms biases eliminated, {solve:.3f} ms solved")


def pmd_line(rows: Rows, problem: Problem, shape: Shape, count: int, form: str,
             repeats: int, label: str) -> str:
    """Point masses: cvxpy on all rows (not with repeats = 0), and the timer's."""
    points = shape.spread(count)
    estimator = Pmd(Settings().replace({"pmd.points": count, "pmd.form": form}))
    fast, got = timed(lambda: estimator.solve(problem, shape), 200)
    name = f"PMD {form}, {count} points, {label}"
    if repeats == 0:
        return line(name, None, fast, None, "")
    slow, want = timed(lambda: cvxpy_statements.pmd(
        rows, problem, "noise", points, WEIGHT, True, form), repeats)
    best = squares(rows, problem, want.phi, want.bias)
    return line(name, slow, fast, squares(rows, problem, got.phi, got.bias) / best - 1.0, "")


def line(name: str, slow: float | None, fast: float, difference: float | None, note: str) -> str:
    """One row of the table."""
    if slow is None or difference is None:
        return f"| {name} | - | {fast:.3f} | - | - | {note} |"
    return f"| {name} | {slow:.1f} | {fast:.3f} | {slow / fast:.0f} | {difference:+.0e} | {note} |"


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")  # cvxpy calls a solution inaccurate that is good to 1e-8
    pose = np.eye(4)
    pose[2, 3] = 0.12
    shape = shape_from_primitive("box", (0.1, 0.06, 0.2), pose)
    print("| problem | cvxpy on all rows, ms | timer, ms | ratio | cost difference | |")
    print("|---|---|---|---|---|---|")
    for seconds in WINDOWS:
        rows = recording(seconds, shape)
        problem = compress(rows)
        label = f"{seconds:g} s ({6 * len(rows.wrench)} rows)"
        print(lmi_line(rows, problem, label), flush=True)
        repeats = 3 if seconds < 10.0 else int("--all" in sys.argv)
        for form in ("norm", "squared"):
            for count in POINTS:
                print(pmd_line(rows, problem, shape, count, form, repeats, label), flush=True)


if __name__ == "__main__":
    main()
