# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.faults.setups`: wrong set-ups, two at a time; whatever is then called valid
and identified, though it is outside of its interval and of the limit of the verdict, is a lie.

Wrong units of forces and torques alike, or a wrong gain, cannot be told from wrench and motion: in
those runs the payload was weighed (`load.reference_mass`).

A frame that is only shifted, and a payload that is stated wrongly, look like another payload to the
wrench alone; the former is told by transforms, the latter by drivers, and both have tests.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from inertial_id_ros.api import Identifier
from inertial_id_ros.apps.simulation.cobot import Recording, SimulatedCobot
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.apps.simulation.settings import MOTIONS, CobotSettings
from inertial_id_ros.doubts import NUMBERS, Doubt, doubt_of
from inertial_id_ros.estimate import UNOBSERVED, Estimate
from inertial_id_ros.identification.verdict import allowed_intervals
from inertial_id_ros.settings import Settings

START_NS = 1_700_000_000_000_000_000
KINDS = ("turned", "sign", "kilograms", "mirrored", "tilted", "clock", "swapped joints", "gain")
GROUPS = {"mass": slice(0, 1), "centre of mass": slice(1, 4), "inertia": slice(4, 10)}


def spoil(kind: str, run: Recording, rng: np.random.Generator) -> Recording:
    """A recording with one error of the set-up."""
    force, torque = run.wrench[:, :3], run.wrench[:, 3:]
    if kind == "turned":
        axis = rng.normal(size=3)
        turn = Rotation.from_rotvec(rng.uniform(0.09, np.pi) * axis / np.linalg.norm(axis))
        return replace(run, wrench=np.hstack([turn.apply(force), turn.apply(torque)]))
    if kind == "mirrored":
        flip = np.where(np.arange(3) == rng.integers(3), -1.0, 1.0)
        return replace(run, wrench=np.hstack([flip * force, flip * torque]))
    if kind == "clock":
        late = int(rng.uniform(0.05, 3.0) / (run.t[1] - run.t[0]))
        return replace(run, wrench=np.roll(run.wrench, late, axis=0))
    if kind == "swapped joints":
        order = rng.permutation(6)
        return replace(run, q=run.q[:, order], dq=None)
    factor = {"sign": -1.0, "kilograms": 1.0 / 9.81, "gain": rng.uniform(0.7, 0.95)}
    return replace(run, wrench=factor.get(kind, 1.0) * run.wrench)


def lies(kinds: tuple[str, ...], seed: int) -> tuple[str, list[str]]:
    """What a run ends as, and the groups of which it then lies."""
    rng = np.random.default_rng(seed)
    tilt = (float(np.rad2deg(rng.uniform(0.09, 0.78))), 0.0) if "tilted" in kinds else (0.0, 0.0)
    settings = CobotSettings(
        payload=str(rng.choice(sorted(PAYLOADS))), motion=str(rng.choice(MOTIONS)), seed=seed,
        bias=tuple(rng.normal(scale=[3, 3, 3, 0.1, 0.1, 0.1])), tilt_error=tilt)
    cobot = SimulatedCobot(settings)
    run = cobot.run(15.0)
    for kind in kinds:
        run = spoil(kind, run, rng)
    weighed = cobot.payload.mass if {"kilograms", "gain"} & set(kinds) else 0.0
    identifier = Identifier(Settings().replace({"load.reference_mass": weighed}))
    identifier.set_robot_description(cobot.urdf)
    stamps, found = START_NS + np.round(run.t * 1e9).astype(np.int64), []
    for part in np.array_split(np.arange(len(stamps)), 30):  # a solve every half second
        identifier.add_joint_states(stamps[part], cobot.joint_names, run.q[part])
        identifier.add_wrenches(stamps[part], cobot.sensor_frame, run.wrench[part])
        found.append(identifier.solve())
    outcome = found[-1]
    if not isinstance(outcome, Estimate):
        return "no estimate", []
    if outcome.stale:
        return "held", []
    body = cobot.payload
    truth = np.concatenate([[body.mass], body.com, body.inertia_com[np.triu_indices(3)]])
    error = np.abs(outcome.report - truth)
    wide = np.maximum(allowed_intervals(outcome.phi, outcome.phi_covariance), 2.6 * outcome.sigma)
    wrong = [name for name, group in GROUPS.items() if UNOBSERVED not in outcome.verdict[group]
             and (error[group] > wide[group]).any()]
    doubted = any(doubt_of(f) & NUMBERS & ~Doubt.INERTIA for f in identifier.findings())
    known = UNOBSERVED not in outcome.verdict[:4]
    return "in doubt" if doubted else "identified" if known else "not identified", wrong


def main() -> int:
    """Run the campaign; returns 1 where anything lied."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=30000)
    options = parser.parse_args()
    ends: Counter[str] = Counter()
    lied = []
    for seed in range(options.seed, options.seed + options.runs):
        rng = np.random.default_rng([seed, 1])
        kinds = tuple(rng.choice(KINDS, size=2, replace=False))
        end, wrong = lies(kinds, seed)
        ends[end] += 1
        if wrong:
            lied.append(f"seed {seed}, {' and '.join(kinds)}: {', '.join(wrong)}")
            print(lied[-1], flush=True)
    print(f"{options.runs} runs: " + ", ".join(f"{n} {end}" for end, n in ends.most_common()))
    print(f"{len(lied)} lied")
    return int(bool(lied))


if __name__ == "__main__":
    sys.exit(main())
