# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.faults.setups`: wrong set-ups, two at a time; whatever is then called valid
and identified, though it is outside of its interval and of the limit of the verdict, is a lie.

Some cannot be told from wrench and motion: wrong units of forces and torques alike, a wrong gain, a
payload that the driver is believed to remove, a tool that is believed to be there. In those runs
the payload was weighed (`load.reference_mass`). A wrench that is expressed elsewhere names its
frame, whose place transforms tell in half of the runs.
"""

from __future__ import annotations

import os

# Small matrices: threads of the linear algebra cost more than they bring.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse  # noqa: E402
import sys  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Mapping  # noqa: E402
from dataclasses import dataclass, field, replace  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402

from inertial_id_ros.api import Identifier  # noqa: E402
from inertial_id_ros.apps.simulation.cobot import Recording, SimulatedCobot  # noqa: E402
from inertial_id_ros.apps.simulation.payload import PAYLOADS  # noqa: E402
from inertial_id_ros.apps.simulation.settings import MOTIONS, CobotSettings  # noqa: E402
from inertial_id_ros.estimate import UNOBSERVED, Estimate, NoEstimate  # noqa: E402
from inertial_id_ros.findings import NUMBERS, Doubt, doubt_of  # noqa: E402
from inertial_id_ros.identification.verdict import allowed_intervals  # noqa: E402
from inertial_id_ros.inertia import Array, phi_from_body  # noqa: E402
from inertial_id_ros.regression.tool import Tool  # noqa: E402
from inertial_id_ros.settings import Settings  # noqa: E402

START_NS = 1_700_000_000_000_000_000
KINDS = ("turned", "shifted", "sign", "kilograms", "mirrored", "tilted", "clock", "swapped joints",
         "gain", "payload not removed", "tool not there")
UNSEEN = {"kilograms", "gain", "payload not removed", "tool not there"}  # without a weighed mass
GROUPS = {"mass": slice(0, 1), "centre of mass": slice(1, 4), "inertia": slice(4, 10)}
TCP = "tool0_controller"
CONFIDENCE_95 = 1.96


@dataclass(frozen=True)
class SetUp:
    """A recording, and what the identifier is told of it.

    Attributes:
        frame: of the wrench; place: its (3,) [m] in the frame of the sensor; None: nobody tells it.
        tool: (10,) phi of what is believed to be there.
    """

    run: Recording
    frame: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    place: Array | None = None
    tool: Array | None = None


def spoil(kind: str, made: SetUp, rng: np.random.Generator) -> SetUp:
    """A set-up with one more error."""
    run = made.run
    force, torque = run.wrench[:, :3], run.wrench[:, 3:]
    if kind == "shifted":
        place = rng.uniform(0.02, 0.15) * unit(rng)
        moved = np.hstack([force, torque - np.cross(place, force)])
        return replace(made, run=replace(run, wrench=moved), frame=TCP,
                       place=place if rng.random() < 0.5 else None)
    if kind == "payload not removed":
        return replace(made, settings={"precompensated.mass": rng.uniform(0.3, 2.0),
                                       "precompensated.com": tuple(0.1 * unit(rng))})
    if kind == "tool not there":
        mass = rng.uniform(0.3, 2.0)
        return replace(made, tool=phi_from_body(mass, 0.06 * unit(rng), 2e-3 * mass * np.eye(3)))
    return replace(made, run=spoil_samples(kind, run, rng))


def spoil_samples(kind: str, run: Recording, rng: np.random.Generator) -> Recording:
    """A recording with one error that is in its samples."""
    force, torque = run.wrench[:, :3], run.wrench[:, 3:]
    if kind == "turned":
        turn = Rotation.from_rotvec(rng.uniform(0.09, np.pi) * unit(rng))
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


def unit(rng: np.random.Generator) -> Array:
    """A direction (3,)."""
    vector = rng.normal(size=3)
    return np.asarray(vector / np.linalg.norm(vector))


def identify(made: SetUp, cobot: SimulatedCobot) -> tuple[Estimate | NoEstimate, Identifier]:
    """The last outcome of one every half second, and the identifier."""
    settings = {"wrench.sensor_frame": cobot.sensor_frame, **made.settings}
    identifier = Identifier(Settings().replace(settings))
    identifier.set_robot_description(cobot.urdf)
    if made.place is not None:
        identifier.add_static_transform(cobot.sensor_frame, TCP, made.place, [0.0, 0.0, 0.0, 1.0])
    if made.tool is not None:
        identifier.set_tool(Tool(cobot.sensor_frame, made.tool, 1e-10 * np.eye(10), START_NS))
    run = made.run
    stamps = START_NS + np.round(run.t * 1e9).astype(np.int64)
    for part in np.array_split(np.arange(len(stamps)), 30):
        identifier.add_joint_states(stamps[part], cobot.joint_names, run.q[part])
        identifier.add_wrenches(stamps[part], made.frame, run.wrench[part])
        outcome = identifier.solve()
    return outcome, identifier


def lies(kinds: tuple[str, ...], seed: int) -> tuple[str, list[str]]:
    """What a run ends as, and the groups of which it then lies."""
    rng = np.random.default_rng(seed)
    tilt = (float(np.rad2deg(rng.uniform(0.09, 0.78))), 0.0) if "tilted" in kinds else (0.0, 0.0)
    cobot = SimulatedCobot(CobotSettings(
        payload=str(rng.choice(sorted(PAYLOADS))), motion=str(rng.choice(MOTIONS)), seed=seed,
        bias=tuple(rng.normal(scale=[3, 3, 3, 0.1, 0.1, 0.1])), tilt_error=tilt))
    made = SetUp(cobot.run(15.0), cobot.sensor_frame)
    for kind in kinds:
        made = spoil(kind, made, rng)
    if UNSEEN & set(kinds):
        made = replace(made, settings={**made.settings, "load.reference_mass": cobot.payload.mass})
    outcome, identifier = identify(made, cobot)
    if not isinstance(outcome, Estimate):
        return "no estimate", []
    if outcome.stale:
        return "held", []
    body = cobot.payload
    truth = np.concatenate([[body.mass], body.com, body.inertia_com[np.triu_indices(3)]])
    error = np.abs(outcome.report - truth)
    wide = np.maximum(allowed_intervals(outcome.phi, outcome.phi_covariance),
                      CONFIDENCE_95 * outcome.sigma)
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
