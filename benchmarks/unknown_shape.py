# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`density` without a shape beside `wls` and `lmi`: `python benchmarks/unknown_shape.py`.

Twenty bodies: the modular and the poorly known ones of the accuracy benchmark with their shape
withheld, and some that are small, far from the sensor, long, or behind it. The row `one ball` is
`density` told that the body lies in one ball of radius 0.5 m. Prints a Markdown table: mean and
median errors; share of 95 % intervals that hold the truth; of inertia entries, the share called
identified or prior-dominated, and the share called so that is off by more than 30 % of the mean
moment.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np  # noqa: E402

from benchmarks.accuracy import sensors  # noqa: E402
from benchmarks.accuracy.motions import sensor_motion, sinusoid  # noqa: E402
from benchmarks.accuracy.objects import objects  # noqa: E402
from benchmarks.accuracy.product import from_recording  # noqa: E402
from inertial_id_ros.estimate import UNOBSERVED  # noqa: E402
from inertial_id_ros.estimators import Solution, create  # noqa: E402
from inertial_id_ros.geometry.shape import shape_from_primitive  # noqa: E402
from inertial_id_ros.identification.verdict import judge  # noqa: E402
from inertial_id_ros.identification.wrench.solver import Solver  # noqa: E402
from inertial_id_ros.inertia import Array, phi_from_body, report_from_phi  # noqa: E402
from inertial_id_ros.inertia import report_jacobian as jacobian_of  # noqa: E402
from inertial_id_ros.regression.problem import Problem  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402

RATE, SPEEDS, SECONDS = 100.0, (0.5, 1.0, 1.5), (1.0, 3.0, 10.0, 30.0)
INTERVAL, FAR_OFF = 1.96, 0.3
ROWS = ("wls", "lmi", "density", "one ball")


def bodies() -> dict[str, Array]:
    """phi (10,) by name."""
    def filled(mass: float, size: tuple[float, ...], com: tuple[float, ...]) -> Array:
        a = np.array(size)
        return phi_from_body(mass, np.array(com), mass / 12.0 * np.diag(a @ a - a**2))

    known = {f"{family} {o.name}": o.phi for family in ("modular", "poor")
             for o in objects(family)}
    return known | {
        "small, 0.2 m in front": filled(0.2, (0.03, 0.03, 0.03), (0.0, 0.0, 0.2)),
        "small, 0.2 m aside": filled(0.5, (0.03, 0.03, 0.03), (0.2, 0.0, 0.05)),
        "small, near": filled(0.3, (0.05, 0.05, 0.05), (0.0, 0.0, 0.04)),
        "bar": filled(0.6, (0.4, 0.03, 0.03), (0.15, 0.0, 0.05)),
        "tool": filled(1.0, (0.08, 0.08, 0.15), (0.0, 0.01, 0.075)),
        "heavy": filled(3.0, (0.1, 0.1, 0.1), (0.02, -0.03, 0.12)),
        "light": filled(0.1, (0.05, 0.05, 0.1), (0.0, 0.0, 0.05)),
        "behind": filled(0.8, (0.1, 0.1, 0.1), (0.0, 0.0, -0.15))}


def recorded(phi: Array, seconds: float, speed: float, rng: np.random.Generator) -> Problem:
    """The compressed problem of a sinusoid, with all settings at their default."""
    t = np.arange(round(seconds * RATE)) / RATE
    exact = sensor_motion(sinusoid(speed, rng)(t))
    q = exact.q + sensors.ENCODER_NOISE * rng.normal(size=exact.q.shape)
    wrench = sensors.rigid_body_wrench(phi, exact)
    noise = sensors.MODERATE.wrench * rng.normal(size=wrench.shape)
    settings = Settings().replace({"buffer.window": 40.0})
    data = from_recording(t, q, sensors.random_bias(rng) + noise - wrench, settings, None)
    return Solver(settings, None, data.low_pass).problems.build(data.window)


def score(solution: Solution, problem: Problem, phi: Array) -> Array:
    """Errors of mass [%], com [mm], inertia about the sensor [% of the mean moment]; coverage of
    mass, com, inertia; share of inertia entries called known, and called so and far off."""
    verdict = judge(solution, problem.marginal("noise"))
    slope = jacobian_of(solution.phi)
    sd = np.sqrt(np.diag(slope @ verdict.phi_covariance @ slope.T))
    got, want = report_from_phi(solution.phi), report_from_phi(phi)
    error, inside = np.abs(got - want), np.abs(got - want) < INTERVAL * sd
    known = np.array(verdict.verdict[4:]) != UNOBSERVED
    wrong = known & (error[4:] > FAR_OFF * want[[4, 7, 9]].mean())
    return np.array([
        100.0 * error[0] / want[0], 1e3 * error[1:4].mean(),
        100.0 * np.abs(solution.phi - phi)[4:].mean() / phi[[4, 7, 9]].mean(),
        inside[0], inside[1:4].mean(), inside[4:].mean(), known.mean(), wrong.mean()])


def main() -> None:
    """Run and print."""
    ball = shape_from_primitive("sphere", [0.5], np.eye(4))
    made = {name: create(Settings(), "density" if name == "one ball" else name) for name in ROWS}
    print("| data | method | mass % | COM mm | inertia % | median | mass in | COM in | inertia in "
          "| known | known and off |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for seconds in SECONDS:
        rows: dict[str, list[Array]] = {name: [] for name in ROWS}
        for speed in SPEEDS:
            for run in range(3):
                for index, phi in enumerate(bodies().values()):
                    rng = np.random.default_rng([run, index, int(10 * seconds), int(10 * speed)])
                    problem = recorded(phi, seconds, speed, rng)
                    for name in ROWS:
                        shape = ball if name == "one ball" else None
                        rows[name].append(score(made[name].solve(problem, shape), problem, phi))
        for name in ROWS:
            mean, median = np.mean(rows[name], axis=0), np.median(rows[name], axis=0)
            cells = [f"{mean[0]:.2g}", f"{mean[1]:.2g}", f"{mean[2]:.3g}", f"{median[2]:.2g}",
                     *(f"{100.0 * v:.0f}" for v in mean[3:7]), f"{100.0 * mean[7]:.1f}"]
            print(f"| {seconds:g} s | `{name}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
