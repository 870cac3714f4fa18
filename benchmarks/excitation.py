# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Optimised motions of the simulated arm beside the sinusoids of Nadeau et al. (2022).

All last as long. Speeds, contacts and errors come from MuJoCo: its own velocities of the tool
point, its own collision test, its own wrenches, identified by the pipeline of the product.

    python benchmarks/excitation.py [--duration 10] [--runs 5] [--starts 4]
"""

from __future__ import annotations

import os

for _threads in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[f"{_threads}_NUM_THREADS"] = "1"

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import mujoco
import numpy as np

from benchmarks.accuracy.metrics import Errors, errors
from inertial_id_ros.api import Identifier
from inertial_id_ros.apps.excitation.arm import Arm, CarriedLoad
from inertial_id_ros.apps.excitation.limits import Excess, Limits
from inertial_id_ros.apps.excitation.objective import (
    Objective,
    PayloadInformation,
    information_gain,
)
from inertial_id_ros.apps.excitation.optimise import Basis, SearchEffort, dense_times, plan_motion
from inertial_id_ros.apps.simulation.cobot import Recording, SimulatedCobot
from inertial_id_ros.apps.simulation.description import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import (
    START_POSE,
    TOOL_POINT,
    Motion,
    Sinusoid,
    SmoothStart,
)
from inertial_id_ros.apps.simulation.payload import PAYLOADS, Payload
from inertial_id_ros.apps.simulation.settings import CobotSettings
from inertial_id_ros.errors import InertialIdError
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.estimators.reference_body import body_coordinates
from inertial_id_ros.inertia import Array, phi_from_body
from inertial_id_ros.settings import Settings

SPEED = 0.25  # m/s of the tool point
RATE = 500.0  # Hz
PUBLISHED_PACE = 1.28  # of the paper's sinusoids, for a mean angular speed of 1 rad/s
RAMP = 1.0  # s in which the sinusoids gain their speed
WRIST = np.array([3, 4, 5])
NOISE = np.repeat([0.1, 0.005], 3)  # of the simulated sensor
BIAS_SD = np.repeat([5.0, 0.5], 3)
METHODS = ("lmi", "density")
FADING = 0.003  # rad/s below which Coulomb friction fades in the model
START_NS = 1_000_000_000_000


def gain_of(motion: Motion, objective: Objective, rate: float, duration: float) -> float:
    """Information gain [nats] of a motion of some length [s], sampled densely."""
    return information_gain(objective.rows(*motion(dense_times(duration))), rate * duration)


class Checked(NamedTuple):
    """What MuJoCo says of a motion: peak speed of the tool point [m/s], instants with contact."""

    speed: float
    contacts: int


def check(motion: Motion, duration: float, rate: float = 1000.0) -> Checked:
    """Independent check: MuJoCo's velocities and contacts, densely sampled.

    Neighbours in the chain of links, and the pair of links whose shapes overlap in every pose, are
    no contacts.
    """
    spec = mujoco.MjSpec.from_string(load_description().urdf)
    spec.compiler.fusestatic = False
    spec.compiler.discardvisual = True
    spec.body(SENSOR_FRAME).add_site(name="tool", pos=TOOL_POINT)
    model = spec.compile()
    data = mujoco.MjData(model)
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, "tool")
    peak, touching = 0.0, 0
    always = _always_touching(model, data)
    velocity = np.zeros(6)
    for q, dq, _ in zip(*motion(np.arange(0.0, duration, 1.0 / rate)), strict=True):
        data.qpos[:], data.qvel[:] = q, dq
        mujoco.mj_forward(model, data)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, site, velocity, 0)
        peak = max(peak, float(np.linalg.norm(velocity[3:])))
        touching += bool(_pairs(data, model) - always)
    return Checked(peak, touching)


def _pairs(data: mujoco.MjData, model: mujoco.MjModel) -> set[frozenset[int]]:
    """Pairs of bodies that touch, neighbours left out (fixed frames count as their body)."""
    found = set()
    for contact in data.contact[:data.ncon]:
        if contact.dist > 0.0:
            continue
        bodies = [model.body_weldid[model.geom_bodyid[g]] for g in contact.geom]
        parents = [model.body_weldid[model.body_parentid[b]] for b in bodies]
        if bodies[0] not in (bodies[1], parents[1]) and bodies[1] != parents[0]:
            found.add(frozenset(int(b) for b in bodies))
    return found


def _always_touching(model: mujoco.MjModel, data: mujoco.MjData) -> set[frozenset[int]]:
    rng = np.random.default_rng(1)
    found: set[frozenset[int]] | None = None
    for _ in range(100):
        data.qpos[:] = rng.uniform(-np.pi, np.pi, model.nq)
        mujoco.mj_forward(model, data)
        now = _pairs(data, model)
        found = now if found is None else found & now
    return found or set()


def peak_speed(motion: Motion, duration: float) -> float:
    """Peak speed of the tool point [m/s], from the chain of the packaged arm."""
    arm = load_description()
    q, dq, _ = motion(np.arange(0.0, duration, 0.005))
    return float(np.linalg.norm(arm.tool_velocity(q, dq, TOOL_POINT).linear, axis=1).max())


def sinusoid_in_time(duration: float) -> Sinusoid:
    """The published sinusoids at the fastest pace within the speed."""
    return _fastest(duration, lambda f: Sinusoid(SmoothStart(f, RAMP)), 4.0)


def sinusoid_in_size(duration: float) -> Sinusoid:
    """The published sinusoids at their own pace, their amplitudes as large as the speed allows."""
    plain = Sinusoid(SmoothStart(PUBLISHED_PACE, RAMP))
    return _fastest(duration, lambda f: Sinusoid(plain.timing, amplitude=f * plain.amplitude), 4.0)


def _fastest(duration, make, most: float) -> Sinusoid:  # noqa: ANN001
    low, high = 0.0, most
    for _ in range(30):
        middle = 0.5 * (low + high)
        within = middle > 0.0 and peak_speed(make(middle), duration) <= SPEED
        low, high = (middle, high) if within else (low, middle)
    return make(low)


def planning_arm() -> Arm:
    """The packaged arm."""
    return Arm(load_description().urdf, SENSOR_FRAME, CarriedLoad())


def payload_objective(arm: Arm) -> PayloadInformation:
    """Information about a ball of 1 kg and of 5 cm (root mean square along each axis)."""
    ball = phi_from_body(1.0, np.zeros(3), 2.0 * 0.05**2 * np.eye(3))
    return PayloadInformation(arm, body_coordinates(ball).to_phi, NOISE, BIAS_SD)


def optimised(arm: Arm, duration: float, harmonics: int, effort: SearchEffort) -> Motion:
    """The planner's motion of the last three joints."""
    limits = Limits(tool_speed=SPEED, tool_points=((0.0, 0.0, float(TOOL_POINT[2])),),
                    link_speed=np.inf)  # as those of the sinusoids
    excess = Excess(arm, limits, START_POSE)
    return plan_motion(Basis(duration, harmonics), START_POSE, WRIST, payload_objective(arm),
                       excess, RATE, effort).motion


def identified(recording: Recording, cobot: SimulatedCobot, method: str) -> Array:
    """phi (10,) that the pipeline finds; raises InertialIdError where it finds none."""
    settings = Settings().replace({"wrench.sensor_frame": SENSOR_FRAME, "estimator.method": method})
    identifier = Identifier(settings)
    identifier.set_robot_description(cobot.urdf)
    stamps = (START_NS + np.round(recording.t * 1e9)).astype(np.int64)
    identifier.add_joint_states(stamps, cobot.joint_names, recording.q)
    identifier.add_wrenches(stamps, SENSOR_FRAME, recording.wrench)
    identifier.finish()
    outcome = identifier.solve()
    if not isinstance(outcome, Estimate):
        raise InertialIdError(outcome.reason)
    return outcome.phi


def lengths(payload: Payload) -> Array:
    """Lengths (3,) of the bounding box [m]."""
    low, high = payload.bounding_box
    return np.asarray(high) - np.asarray(low)


def mean_errors(motion: Motion, duration: float, runs: int, method: str,
                payloads: list[str]) -> Errors:
    """Mean errors [%] over payloads and runs, each with its own noise and bias."""
    found = []
    for name in payloads:
        payload = PAYLOADS[name]
        for seed in range(runs):
            bias = np.random.default_rng(seed).normal(size=6) * [1, 1, 1, 0.05, 0.05, 0.05]
            cobot = SimulatedCobot(CobotSettings(seed=seed, rate=RATE, bias=tuple(bias)),
                                   payload=payload, motion=motion)
            found.append(errors(identified(cobot.run(duration), cobot, method), payload.phi,
                                lengths(payload)))
    return Errors(*np.mean(found, axis=0))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", type=float, default=10.0, help="s (default 10)")
    parser.add_argument("--harmonics", type=int, default=5, help="default 5")
    parser.add_argument("--runs", type=int, default=5, help="for each payload (default 5)")
    parser.add_argument("--starts", type=int, default=4, help="of the planner (default 4)")
    parser.add_argument("--iterations", type=int, default=90, help="of each start (default 90)")
    options = parser.parse_args()
    arm, duration = planning_arm(), options.duration
    objective = payload_objective(arm)
    motions: dict[str, Motion] = {
        "sinusoids as published": Sinusoid(SmoothStart(PUBLISHED_PACE, RAMP)),
        "sinusoids, pace up to the limit": sinusoid_in_time(duration),
        "sinusoids, size up to the limit": sinusoid_in_size(duration),
        "optimised": optimised(arm, duration, options.harmonics,
                               SearchEffort(options.starts, options.iterations, 600.0))}
    print(f"{duration:g} s, {RATE:g} Hz, last three joints; errors in percent, mean of "
          f"{options.runs} runs of each of {', '.join(PAYLOADS)}\n")
    print("| motion | gain, nats | peak tool speed, m/s | instants with contact | "
          + " | ".join(f"{m} e_m | {m} e_COM | {m} e_J" for m in METHODS) + " |")
    print("|---|---|---|---|" + "---|---|---|" * len(METHODS))
    for name, motion in motions.items():
        told, seen = gain_of(motion, objective, RATE, duration), check(motion, duration)
        cells = []
        for method in METHODS:
            e = mean_errors(motion, duration, options.runs, method, list(PAYLOADS))
            cells += [f"{e.mass:.3f}", f"{e.com:.3f}", f"{e.inertia:.2f}"]
        print(f"| {name} | {told:.1f} | {seen.speed:.3f} | {seen.contacts} | "
              + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
