# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""How often `manifold` reaches the optimum of `lmi`, and how fast.

Random recordings whose unconstrained optimum is no body, so that the constraint is active. A solve
succeeds when its sum of squares is at most 1e-6 (relative) above that of `lmi`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / p) for p in ("", "test", "test/estimators")]

import numpy as np  # noqa: E402
from test_manifold import active, sum_of_squares  # noqa: E402

from inertial_id_ros.estimators import Estimator, create  # noqa: E402
from inertial_id_ros.inertia import Array, min_eigenvalue  # noqa: E402
from inertial_id_ros.regression.problem import Problem  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402

REPEATS = 3  # the fastest of these counts, so that other load on the machine does not


def timed(estimator: Estimator, problem: Problem) -> tuple[Array, float]:
    """phi (10,) and the time of a solve [s]."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        phi = estimator.solve(problem, None).phi
        times.append(time.perf_counter() - started)
    return phi, min(times)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="problems (default 1000)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    lmi, manifold = create(Settings(), "lmi"), create(Settings(), "manifold")
    excess, seconds, smallest = [], [], []
    for problem in active(np.random.default_rng(options.seed), options.count):
        marginal = problem.marginal("noise")
        wanted, lmi_time = timed(lmi, problem)
        found, own_time = timed(manifold, problem)
        best = sum_of_squares(marginal, wanted)
        excess.append((sum_of_squares(marginal, found) - best) / best)
        seconds.append((own_time, lmi_time))
        smallest.append(min_eigenvalue(found))
    own, other = 1e3 * np.array(seconds).T
    print(f"problems with the constraint active: {options.count}")
    print(f"optimum of lmi reached (1e-6):       {100.0 * np.mean(np.array(excess) <= 1e-6):.1f} %")
    print(f"largest excess over lmi:             {max(excess):.1e}")
    print(f"lowest, where lmi is the worse:      {min(excess):.1e}")
    print(f"positive pseudo-inertias:            {np.sum(np.array(smallest) > 0.0)}")
    print(f"median time of manifold:             {np.median(own):.2f} ms")
    print(f"99 %, largest:                       {np.quantile(own, 0.99):.2f}, {own.max():.2f} ms")
    print(f"median time of lmi:                  {np.median(other):.2f} ms")


if __name__ == "__main__":
    main()
