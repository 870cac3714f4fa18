"""Time and cost of the solvers: cvxpy on all rows beside what the timer runs, on one core.

    python benchmarks/solvers.py

prints a Markdown table. The timer's path starts from the factors that the rolling buffer keeps up to
date, so its time does not depend on the length of the window. Costs are evaluated on all rows.
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

sys.path[:0] = [str(Path(__file__).parents[1] / p) for p in ("", "test")]

import numpy as np
from problems import NOISE, compress, make_rows, motion

from inertial_id_ros.estimators import Problem, Solution, create, reference
from inertial_id_ros.estimators.pmd import Pmd
from inertial_id_ros.estimators.reference_body import reference_body
from inertial_id_ros.inertia import phi_from_points
from inertial_id_ros.settings import Settings
from inertial_id_ros.shape import Shape, shape_from_primitive

RATE = 500
WINDOWS = (1.0, 60.0)
POINTS = (56, 136)
WEIGHT = 0.1  # regularisation of the point masses
Timed = tuple[float, object]


def timed(run: Callable[[], object], repeats: int) -> tuple[float, object]:
    """Median time [ms] of repeated runs, after one that is not counted, and the last result."""
    result = run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times)), result


def recording(seconds: float, shape: Shape) -> reference.Rows:
    """500 Hz of a moderate motion of four point masses inside the shape, with noise and biases."""
    rng = np.random.default_rng(1)
    phi = phi_from_points(shape.points[rng.choice(len(shape.points), 4)], np.full(4, 0.3))
    moving = motion(rng, round(seconds * RATE), seconds, speed=1.0)
    return make_rows(rng, phi, moving, NOISE, bias=np.repeat([0.5, 0.02], 3))


def squares(rows: reference.Rows, problem: Problem, phi: np.ndarray, bias: np.ndarray) -> float:
    """Whitened sum of squares of the full model over all rows, with the prior of the biases."""
    (a, b, y), = reference.residuals(rows, "noise")
    residual = (a @ phi + b @ bias - y) / np.tile(problem.noise, len(rows.wrench))
    prior = (bias - problem.bias_mean) / problem.bias_sd
    return float(residual @ residual + prior @ prior)


def lmi_lines(rows: reference.Rows, problem: Problem, label: str) -> list[str]:
    """The ten-parameter LMI: cvxpy on all rows, and the timer's."""
    sensor = reference.Sensor(problem.noise, problem.bias_sd, problem.bias_mean)
    unit = reference_body(None).unit_phi
    slow, want = timed(lambda: reference.lmi(rows, sensor, "noise", unit, 1e-6),
                       5 if len(rows.wrench) > 5000 else 15)
    estimator = create(Settings(), "lmi")
    marginal = problem.marginal("noise")
    build, _ = timed(lambda: problem.marginal("noise"), 300)
    solve, _ = timed(lambda: estimator.solve_marginal(marginal, None), 300)
    fast, got = timed(lambda: estimator.solve(problem, None), 300)
    assert isinstance(want, reference.Answer) and isinstance(got, Solution)
    best = squares(rows, problem, want.phi, want.bias)
    difference = squares(rows, problem, got.phi, got.bias) / best - 1.0
    return [line(f"LMI, {label}", slow, fast, difference,
                 f"{build:.3f} ms biases eliminated, {solve:.3f} ms solved")]


def pmd_lines(rows: reference.Rows, problem: Problem, shape: Shape, label: str) -> list[str]:
    """Point masses with norms and with squares: cvxpy on all rows, and the timer's."""
    sensor = reference.Sensor(problem.noise, problem.bias_sd, problem.bias_mean)
    lines = []
    for count in POINTS:
        points = shape.spread(count)
        for form in ("norm", "squared"):
            repeats = 1 if len(rows.wrench) > 5000 else 3
            slow, want = timed(lambda points=points, form=form: reference.pmd(
                rows, sensor, "noise", points, WEIGHT, True, form), repeats)
            estimator = create(Settings().replace(
                {"pmd.points": count, "pmd.form": form, "pmd.regularization": WEIGHT}), "pmd")
            assert isinstance(estimator, Pmd)
            fast, got = timed(lambda e=estimator: e.solve(problem, shape), 100)
            assert isinstance(want, reference.Answer) and isinstance(got, Solution)
            best = squares(rows, problem, want.phi, want.bias)
            difference = squares(rows, problem, got.phi, got.bias) / best - 1.0
            solver = "reweighted" if form == "norm" else "OSQP"
            lines.append(line(f"PMD {form}, {count} points, {label}", slow, fast, difference, solver))
    return lines


def line(name: str, slow: float, fast: float, difference: float, note: str) -> str:
    """One row of the table."""
    return (f"| {name} | {slow:.1f} | {fast:.3f} | {slow / fast:.0f} | {difference:+.1e} | {note} |")


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    pose = np.eye(4)
    pose[2, 3] = 0.12
    shape = shape_from_primitive("box", (0.1, 0.06, 0.2), pose)
    print("| problem | cvxpy on all rows, ms | timer, ms | ratio | relative cost difference | |")
    print("|---|---|---|---|---|---|")
    for seconds in WINDOWS:
        rows = recording(seconds, shape)
        problem = compress(rows)
        label = f"{seconds:g} s ({6 * len(rows.wrench)} rows)"
        for text in [*lmi_lines(rows, problem, label), *pmd_lines(rows, problem, shape, label)]:
            print(text, flush=True)


if __name__ == "__main__":
    main()
