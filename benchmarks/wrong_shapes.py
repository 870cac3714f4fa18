# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Shapes that are told wrongly: `python benchmarks/wrong_shapes.py [--payloads 60] [--seed 5000]`.

Random composites, of which a bounding box is told: right; moved in a random direction; moved so
that the centre of mass lies outside; scaled; turned. Sinusoids of 0.5 to 1.5 rad/s, 100 Hz, wrench
bias, default settings. Two Markdown tables: `density` by error and length of the data, and the
other estimators that use a shape, over all errors. A cell holds the share of 95 % intervals that
contain the truth (mass, centre of mass, inertia about it), the mean errors of mass and centre of
mass in units of those of `wls`, and the share of runs in which a finding contradicts the shape.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402

from benchmarks.accuracy.metrics import INTERVAL, deviations  # noqa: E402
from benchmarks.accuracy.real_sensors.payloads import Told, random_composite  # noqa: E402
from benchmarks.accuracy.sensors import direction  # noqa: E402
from benchmarks.unknown_shape import SPEEDS, recorded  # noqa: E402
from inertial_id_ros.detection.shape_check import check_shape  # noqa: E402
from inertial_id_ros.errors import InertialIdError  # noqa: E402
from inertial_id_ros.estimators import Estimator, create  # noqa: E402
from inertial_id_ros.findings import FindingLog  # noqa: E402
from inertial_id_ros.geometry.shape import Shape, shape_from_primitive  # noqa: E402
from inertial_id_ros.identification.verdict import judge  # noqa: E402
from inertial_id_ros.inertia import Array, report_from_phi  # noqa: E402
from inertial_id_ros.regression.problem import Problem  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402

SECONDS = (2.0, 5.0, 10.0, 40.0)
OTHERS = {"uniform": {}, "entropic": {}, "pmd": {}, "lmi": {"lmi.support": "box"}}


@dataclass(frozen=True)
class Wrong:
    """How a box is told.

    Attributes:
        moved: in a random direction [mm]; outside: by which the centre of mass lies outside [mm],
            negative: inside; scaled: factor on its lengths; turned: about a random axis [deg].
    """

    name: str
    moved: float = 0.0
    outside: float | None = None
    scaled: float = 1.0
    turned: float = 0.0

    def shape(self, told: Told, rng: np.random.Generator) -> Shape:
        """The box."""
        size = self.scaled * np.array(told.hint["shape.size"])
        pose = np.eye(4)
        pose[:3, :3] = Rotation.from_rotvec(direction(rng) * self.turned, degrees=True).as_matrix()
        pose[:3, 3] = np.array(told.hint["shape.center"]) + 1e-3 * self.moved * direction(rng)
        if self.outside is not None:
            offset = told.phi[1:4] / told.phi[0] - pose[:3, 3]
            axis = int(np.argmin(0.5 * size - np.abs(offset)))  # through the nearest face
            pose[axis, 3] += offset[axis] - np.copysign(0.5 * size[axis] + 1e-3 * self.outside,
                                                        offset[axis])
        return shape_from_primitive("box", size, pose)


ERRORS = [Wrong("right"), *(Wrong(f"moved by {d} mm", moved=d) for d in (1, 3, 10, 30)),
          *(Wrong(f"centre {d:g} mm outside", outside=d) for d in (0.3, 1, 3, 10, 20, 30)),
          *(Wrong(f"{s:g} x as large", scaled=s) for s in (0.7, 0.85, 1.2, 1.5)),
          *(Wrong(f"turned by {a}°", turned=a) for a in (5, 10, 20))]


def answer(estimator: Estimator, problem: Problem, shape: Shape | None, truth: Array) -> Array:
    """Errors of mass [kg] and centre of mass [m]; whether intervals hold mass, centre and inertia
    (10,); whether the shape is contradicted. NaN where there is no answer."""
    marginal, log = problem.marginal("noise"), FindingLog()
    try:
        used = check_shape(shape, Settings().shape, marginal, estimator, log)
        solution = estimator.solve(problem, used)
    except InertialIdError:
        return np.full(13, np.nan)
    found = judge(solution, marginal)
    error = report_from_phi(solution.phi) - report_from_phi(truth)
    inside = np.abs(deviations(solution.phi, found.phi_covariance, truth)) <= INTERVAL
    return np.r_[abs(error[0]), np.linalg.norm(error[1:4]), inside, len(log.all()) > 0]


def cell(rows: list[Array], free: list[Array]) -> str:
    """Text of a cell of answers, beside those of `wls` for the same data."""
    ok = ~np.isnan(np.array(rows)[:, 0])
    got, base = np.array(rows)[ok], np.array(free)[ok]
    if not len(got):
        return "–"
    share = 100.0 * got.mean(axis=0)
    ratio = got[:, :2].mean(axis=0) / base[:, :2].mean(axis=0)
    return (f"{share[2]:.0f}/{share[3:6].mean():.0f}/{share[6:12].mean():.0f}, "
            f"{ratio[0]:.2f}/{ratio[1]:.2f}, {share[12]:.0f}")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--payloads", type=int, default=60, help="random composites")
    parser.add_argument("--seed", type=int, default=5000, help="of the first of them")
    options = parser.parse_args()
    made = {name: create(Settings().replace({"estimator.method": name, **changes}))
            for name, changes in ({"wls": {}, "density": {}} | OTHERS).items()}
    rows: dict[tuple[str, str, float], list[Array]] = {}
    for seed in range(options.seed, options.seed + options.payloads):
        rng = np.random.default_rng(seed)
        told = random_composite(rng)
        shapes = {wrong.name: wrong.shape(told, rng) for wrong in ERRORS}
        for seconds in SECONDS:
            problem = recorded(told.phi, seconds, float(rng.choice(SPEEDS)), rng)
            free = answer(made["wls"], problem, None, told.phi)
            for name, shape in shapes.items():
                rows.setdefault(("wls", name, seconds), []).append(free)
                for method in ("density", *OTHERS):
                    rows.setdefault((method, name, seconds), []).append(
                        answer(made[method], problem, shape, told.phi))
        print(f"{seed - options.seed + 1} of {options.payloads}", end="\r", file=sys.stderr)
    head = " | ".join(f"{seconds:g} s" for seconds in SECONDS)
    print(f"| `density` | {head} |\n|---|{'---|' * len(SECONDS)}")
    for wrong in ERRORS:
        cells = (cell(rows["density", wrong.name, s], rows["wls", wrong.name, s]) for s in SECONDS)
        print(f"| {wrong.name} | {' | '.join(cells)} |")
    print(f"\n| all errors | {head} |\n|---|{'---|' * len(SECONDS)}")
    for method in ("density", *OTHERS):
        cells = (cell([row for w in ERRORS for row in rows[method, w.name, s]],
                      [row for w in ERRORS for row in rows["wls", w.name, s]]) for s in SECONDS)
        print(f"| `{method}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
