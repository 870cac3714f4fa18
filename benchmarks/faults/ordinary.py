# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.faults.ordinary`: hours of ordinary motion; whatever is found is false.

Each run draws payload, motion, speed, rests, rates, noises, sign, small errors of the set-up and a
zero that drifts with temperature, and goes through the pipeline as a recording would.
"""

from __future__ import annotations

import os

# Small matrices: threads of the linear algebra cost more than they bring.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402

from inertial_id_ros.apps.simulation.cobot import Recording, SimulatedCobot  # noqa: E402
from inertial_id_ros.apps.simulation.payload import PAYLOADS, Part, Payload  # noqa: E402
from inertial_id_ros.apps.simulation.settings import MOTIONS, CobotSettings  # noqa: E402
from inertial_id_ros.estimate import Estimate  # noqa: E402
from inertial_id_ros.identification.wrench.identifier import Identifier  # noqa: E402
from inertial_id_ros.inertia import Array, is_consistent  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402

from .run import RESULTS  # noqa: E402
from .stream import START_NS, Truth  # noqa: E402
from .trial import sentence  # noqa: E402

LENGTH, CHUNK = 300.0, 1.0  # s of one run, and of what is handed over at once
RANGE = 250.0  # N
BASE, SENSOR = "base_link", "ft_sensor"
# What must not be said of ordinary motion.
ALARMS = ("contact", "payload_changed", "zero_moved.wrench", "estimate_lost",
          "load_unexplained.wrench",
          "frame_wrong", "sign_wrong", "residual_large", "samples_saturated.wrench",
          "shape_contradicted.com",
          "mass_at_bound", "samples_missing.wrench", "samples_missing.motion", "reset",
          "mounting_changed")
LIGHT = Payload("light", (Part("box", (0.06, 0.05, 0.04), 1000.0, (0.0, 0.01, 0.03)),))
CARRIED = (*PAYLOADS.values(), LIGHT)


class Rates(NamedTuple):
    """Samples a second: of the wrench, one in `step` of the motion; `tf`: by transforms alone."""

    wrench: float
    step: int
    tf: bool = False

    def __str__(self) -> str:
        return f"{self.wrench:g} + {self.wrench / self.step:g} Hz{' of TF' * self.tf}"


RATES = (Rates(120.0, 4), Rates(480.0, 16), Rates(125.0, 1), Rates(500.0, 4), Rates(500.0, 1),
         Rates(1000.0, 2), Rates(1000.0, 1), Rates(500.0, 5, tf=True))


@dataclass(frozen=True)
class Run:
    """One run.

    Attributes:
        drift: (6,) amplitude of the zero's drift [N, N m], with a period of 20 minutes.
        settings: of the identifier; cobot: of the simulation.
    """

    seed: int
    rates: Rates
    cobot: CobotSettings
    payload: Payload
    drift: Array
    settings: Settings

    def __str__(self) -> str:
        c = self.cobot
        return (f"seed {self.seed}: {self.rates}, {self.payload.name}, {c.motion} at "
                f"{c.speed:.2f} rad/s, rests of {c.rest:g} s, encoders {c.encoder_noise:g} rad, "
                f"force {c.noise[0]:g} N (set {self.settings.wrench.force_noise:g} N), "
                f"{c.convention}")


def draw(seed: int) -> Run:
    """A run at random."""
    rng = np.random.default_rng([seed, 17])
    rates = RATES[seed % len(RATES)]
    noise = np.array([(0.02, 0.001), (0.1, 0.005), (0.5, 0.02)][rng.integers(3)])
    convention = str(rng.choice(["on_sensor", "on_environment"]))
    cobot = CobotSettings().replace({
        "seed": seed, "rate": rates.wrench, "convention": convention,
        "motion": str(rng.choice(MOTIONS)), "speed": float(rng.uniform(0.2, 2.0)),
        "tool_speed": float(rng.uniform(0.1, 0.8)),
        "rest": float(rng.choice([0.2, 1.0, 5.0, 20.0])),
        "ramp": float(rng.uniform(0.4, 2.0)), "noise": noise.tolist(),
        "encoder_noise": float(rng.choice([1e-5, 1e-4, 3e-4, 1e-3])),
        "bias": np.r_[rng.normal(0.0, 5.0, 3), rng.normal(0.0, 0.3, 3)].tolist(),
        "sensor_rotation_error": rng.normal(0.0, 0.5, 3).tolist(),
        "tilt_error": rng.normal(0.0, 0.25, 2).tolist(),
        "clock_offset": float(rng.normal(0.0, 0.003))})
    declared = noise if rng.random() < 0.5 else np.array(Settings().wrench.noise)
    settings = Settings().replace({
        "wrench.convention": convention, "wrench.noise": tuple(declared.tolist()),
        "wrench.range": (RANGE, 0.0)})
    drift = np.r_[rng.uniform(0.05, 0.3) * _unit(rng), rng.uniform(0.001, 0.01) * _unit(rng)]
    return Run(seed, rates, cobot, CARRIED[rng.integers(len(CARRIED))], drift, settings)


def _unit(rng: np.random.Generator) -> Array:
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


@dataclass
class Report:
    """What came out: findings by name, the first texts of alarms, wrong estimates, estimates."""

    run: Run
    findings: Counter[str] = field(default_factory=Counter)
    alarms: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    estimates: int = 0


def play(run: Run, length: float) -> Report:
    """Hand a run over and note what is said."""
    cobot = SimulatedCobot(run.cobot, payload=run.payload)
    made, report = Identifier(run.settings), Report(run)
    if run.rates.tf:
        made.add_static_transform("flange", SENSOR, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0])
    else:
        made.set_robot_description(cobot.urdf)
    truth, texts = Truth(run.payload.mass, np.asarray(run.payload.com)), dict[str, str]()
    for number, block in enumerate(_blocks(cobot, run, length)):
        _hand_over(made, cobot, run, block)
        made.advance()
        outcome = made.solve()
        now = {f.name: f.text for f in made.findings()}
        news = [n for n, text in now.items() if texts.get(n) != text]
        report.findings.update(n for n in now if n not in texts)
        report.alarms += [f"{(number + 1) * CHUNK:.0f} s: {n}: {now[n]}" for n in news
                          if n in ALARMS]
        texts = now
        if isinstance(outcome, Estimate):
            report.estimates += 1
            fault = sentence(outcome, truth)
            if not is_consistent(outcome.phi):
                fault = "no body has these parameters"
            report.wrong += [f"{(number + 1) * CHUNK:.0f} s: {fault}"] if fault else []
    return report


def _blocks(cobot: SimulatedCobot, run: Run, length: float) -> Iterator[Recording]:
    return cobot.blocks(length, round(CHUNK * run.cobot.rate))


def _hand_over(made: Identifier, cobot: SimulatedCobot, run: Run, block: Recording) -> None:
    names, frame, step = cobot.joint_names, cobot.sensor_frame, run.rates.step
    wave = np.sin(2.0 * np.pi * block.t / 1200.0 + run.seed)
    wrench = block.wrench + wave[:, None] * run.drift
    first = round(block.t[0] * run.cobot.rate)
    for k, (t, w) in enumerate(zip(block.t, wrench, strict=True)):
        stamp = START_NS + round(t * 1e9)
        if (first + k) % step == 0:
            if run.rates.tf:
                turn = Rotation.from_matrix(_measured(block, k, run)).as_quat()
                made.add_transform(stamp, BASE, "flange", block.truth.position[k].tolist(),
                                   turn.tolist())
            else:
                made.add_joint_state(stamp, names, block.q[k].tolist())
        made.add_wrench(stamp, frame, w[:3].tolist(), w[3:].tolist())


def _measured(block: Recording, k: int, run: Run) -> Array:
    """Rotation (3, 3) of the sensor with the noise that encoders bring into it."""
    noise = (block.q[k] - block.truth.q[k])[3:]  # of as many joints as a rotation has axes
    return block.truth.rotation[k] @ Rotation.from_rotvec(noise).as_matrix()


def text(reports: list[Report], length: float) -> str:
    """Markdown of the runs."""
    hours = len(reports) * length / 3600.0
    alarms = Counter(a.split(": ")[1] for r in reports for a in r.alarms)
    findings = sum((r.findings for r in reports), Counter[str]())
    other = {n: c for n, c in findings.items() if n not in ALARMS}
    lines = [f"- {len(reports)} runs, {hours:.2f} h of simulated time; estimates published: "
             f"{sum(r.estimates for r in reports)}",
             "- false alarms: " + (", ".join(f"{n} {c}" for n, c in alarms.items()) or "none"),
             "- other findings, how often they came: "
             + ", ".join(f"{n} {c}" for n, c in sorted(other.items())),
             f"- wrong estimates: {sum(len(r.wrong) for r in reports)}"]
    for report in reports:
        if report.alarms or report.wrong:
            lines.append(f"  - {report.run}")
            lines += [f"    - {line}" for line in report.alarms[:6]]
            lines += [f"    - {len(report.wrong)} wrong, first at {line}"
                      for line in report.wrong[:1]]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit status is 1 where there was an alarm or a wrong estimate."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults.ordinary",
                                     description=__doc__)
    parser.add_argument("--hours", type=float, default=2.0, help="simulated, in all")
    parser.add_argument("--length", type=float, default=LENGTH, help="of one run [s]")
    parser.add_argument("--seed", type=int, nargs="+", default=[], help="these runs only")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the table")
    options = parser.parse_args(arguments)
    seeds = options.seed or range(max(1, round(options.hours * 3600.0 / options.length)))
    reports: list[Report] = []
    begun = time.monotonic()
    for seed in seeds:
        reports.append(play(draw(seed), options.length))
        alarms = sum(len(r.alarms) for r in reports)
        print(f"\r{len(reports)} of {len(seeds)} runs, {alarms} alarms, "
              f"{time.monotonic() - begun:.0f} s", end="", file=sys.stderr)
    print(file=sys.stderr)
    table = text(reports, options.length)
    print(table)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "ordinary.md").write_text(table)
    return int(any(r.alarms or r.wrong for r in reports))


if __name__ == "__main__":
    raise SystemExit(main())
