# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Real recordings: a Panda's joint torques, and motor currents of a UR10e with and without load."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.robot.reference.known_gains import payload_with_gains
from benchmarks.robot.robots import panda, ur10e
from inertial_id_ros.inertia import is_consistent
from inertial_id_ros.robot.base_parameters import estimate_output_noise, structural_base_parameters
from inertial_id_ros.robot.consistent_fit import Prior, identify, identify_described
from inertial_id_ros.robot.constraints import consistent, consistent_robot
from inertial_id_ros.robot.drive_gains import Gains, gains_from_payload
from inertial_id_ros.robot.feasibility import check_feasibility, correct_to_feasible, fit_feasible
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.mass_points import box_reference, fit_mass_points, uniform_box
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.recording import FilteredRecording, JointRecording, filter_recording
from inertial_id_ros.robot.reference import description_reference
from inertial_id_ros.robot.tilt_and_delay import Alignment, align_recording

TRAINING = 0.7
LOW_PASSES = (0.1, 0.2, 0.4)  # s
PAYLOAD = 2.805  # kg, weighed by those who recorded it
LEAST_SQUARES = "least squares"


class Torques(NamedTuple):
    """The Panda's recording in two parts, and how it stood."""

    model: RobotModel
    training: JointRecording
    validation: JointRecording
    alignment: Alignment


def load_panda(folder: Path) -> Torques:
    """The Panda's description carries no bodies that anybody measured: made-up ones, for scale."""
    data = np.load(folder / "panda_joint_torque" / "excitation.npz")
    recording = JointRecording.from_seconds(data["t"], data["q"], data["tau"])
    training, validation = recording.split(TRAINING)
    model = RobotModel.from_urdf(panda(np.random.default_rng(0)))
    found = align_recording(model, training)
    return Torques(model.with_gravity(found.gravity), training, validation, found)


class TorqueErrors(NamedTuple):
    """Relative torque errors on the validation part, and whether all links are consistent."""

    low_pass: float
    errors: dict[str, float]
    consistent: bool


def panda_errors(torques: Torques, low_pass: float) -> TorqueErrors:
    """Every method trained on the first part and tested on the rest, one filter on both."""
    model = torques.model
    data, rest = (filter_recording(model, part, torques.alignment.delay, low_pass=low_pass
                                   ).compress() for part in (torques.training,
                                                             torques.validation))
    # Of a level robot: what a tilt of 0.3 deg adds, no recording can tell.
    base = structural_base_parameters(model.with_gravity([0.0, 0.0, -9.81]))
    scale = description_reference(model)
    limits = consistent_robot(model, like=scale)

    def error(beta: np.ndarray) -> float:
        phi = np.zeros(model.size)
        phi[base.independent] = beta
        return rest.relative_error(phi)

    noise = estimate_output_noise(data, base)
    plain, weighted = (fit_feasible(data, base, limits, scale, sd) for sd in (None, noise))
    corrected = correct_to_feasible(base, plain.free.beta, limits, scale).beta
    errors = {LEAST_SQUARES: error(plain.free.beta), "BPFC": error(corrected),
              "FBPE-OLS": error(plain.beta),
              "weighted least squares": error(weighted.free.beta),
              "FBPE, weighted": error(weighted.beta)}
    slices = [model.body_slice(k) for k in range(len(model.bodies))]
    boxes, factor = [uniform_box(scale.phi[where]) for where in slices], data.stack(noise)
    robots = {"mass points": fit_mass_points(factor[:, :-1], factor[:, -1], limits, boxes,
                                             box_reference(boxes, scale)),
              "prior everywhere": identify(data, base, limits, Prior(scale)).phi,
              "prior by body": identify_described(data, base, limits, scale, len(slices),
                                                  noise).identified.phi}
    for name, phi in robots.items():
        errors[name] = rest.relative_error(phi)
    # The tests without the margin that the estimates kept.
    good = (all(check_feasibility(base, found.beta, lambda phi: [
                consistent(phi[where], scale.phi[where], margin=0.0) for where in slices],
                scale).feasible for found in (plain, weighted))
            and all(is_consistent(phi[where]) for phi in robots.values() for where in slices))
    return TorqueErrors(low_pass, errors, good)


class Currents(NamedTuple):
    """The UR10e's pair of recordings, filtered."""

    model: RobotModel
    unloaded: FilteredRecording
    loaded: FilteredRecording
    makers_gain: np.ndarray


def load_ur10e(folder: Path) -> Currents:
    """The gains that the controller itself uses come from its target currents and torques."""
    pair = [np.load(folder / "ur10e_motor_current" / f"{name}.npz")
            for name in ("unloaded", f"loaded_{PAYLOAD}kg")]
    model = RobotModel.from_urdf(ur10e(np.random.default_rng(0)), JointTerms(drive_inertia=True))
    unloaded, loaded = (filter_recording(
        model, JointRecording.from_seconds(d["t"], d["q"], d["current"])) for d in pair)
    first = pair[0]
    gain = []
    for j in range(model.nv):
        rows = np.column_stack([first["torque_target"][:, j], first["dq"][:, j],
                                np.sign(first["dq"][:, j]), np.ones(len(first["t"]))])
        gain.append(1.0 / np.linalg.lstsq(rows, first["current_target"][:, j])[0][0])
    return Currents(model, unloaded, loaded, np.array(gain))


class Masses(NamedTuple):
    """Gains of the pair with the known mass, and masses found without being told.

    Attributes:
        told: gains from both recordings and the known mass.
        makers: the payload with the controller's own gains.
        halves: with gains of one half of both recordings, the payload of the other half.
    """

    told: Gains
    makers: Gains
    halves: tuple[Gains, Gains]


def ur10e_masses(currents: Currents) -> Masses:
    """Everything that the pair can say about gains and mass."""
    model, free, held, makers = currents
    parts = [[_half(r, k) for r in (free, held)] for k in range(2)]
    halves = []
    for k in range(2):
        gains = gains_from_payload(model, *parts[k], PAYLOAD)
        halves.append(payload_with_gains(model, *parts[1 - k], gains.gain, gains.sigma))
    return Masses(gains_from_payload(model, free, held, PAYLOAD),
                  payload_with_gains(model, free, held, makers), (halves[0], halves[1]))


def _half(recording: FilteredRecording, which: int) -> FilteredRecording:
    middle = len(recording.time) // 2
    return recording.part(slice(0, middle) if which == 0 else slice(middle, None))


def panda_table(folder: Path) -> list[str]:
    """Markdown rows."""
    torques = load_panda(folder)
    found = torques.alignment
    results = [panda_errors(torques, low_pass) for low_pass in LOW_PASSES]
    lean = np.degrees(found.tilt)
    names = list(results[0].errors)
    return [f"Tilt {lean[0]:.2f}, {lean[1]:.2f} deg, efforts {1e3 * found.delay:.1f} ms late "
            "(found on the training part).", "",
            "| low-pass on both sides, s | " + " | ".join(names) + " | all links consistent |",
            "|---|" + "---|" * (len(names) + 1),
            *(f"| {r.low_pass:g} | " + " | ".join(f"{100 * e:.3f} %" for e in r.errors.values())
              + f" | {'yes' if r.consistent else 'no'} |" for r in results)]


def ur10e_table(folder: Path) -> list[str]:
    """Markdown rows."""
    start = time.process_time()
    currents = load_ur10e(folder)
    masses = ur10e_masses(currents)
    told = masses.told
    rows = [("the controller's own", masses.makers),
            *((f"told {PAYLOAD} kg on half {k + 1}, mass on the other half", masses.halves[k])
              for k in range(2))]
    lines = ["| joint | gain from the pair, N m/A | sigma | controller's, N m/A | residual, A |",
             "|---|---|---|---|---|"]
    lines += [f"| {j + 1} | {told.gain[j]:.2f} | {told.sigma[j]:.2f} | "
              f"{currents.makers_gain[j]:.2f} | {told.rms[j]:.3f} |" for j in range(6)]
    lines += ["", f"| gains | mass found, kg ({PAYLOAD} weighed) | sigma |",
              "|---|---|---|"]
    lines += [f"| {name} | {g.payload[0]:.3f} ({100 * (g.payload[0] / PAYLOAD - 1):+.1f} %) | "
              f"{g.payload_sigma[0]:.3f} |" for name, g in rows]
    return [*lines, "", f"({time.process_time() - start:.1f} s)"]
