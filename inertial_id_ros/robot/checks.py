# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is wrong with a recording of a robot, or with its description, joint by joint.

Bodies, friction and offsets are so many unknowns that they explain wrong torques almost as well as
right ones. The description tells the two apart: its bodies may be off by tens of percent, but a
joint whose efforts have the wrong sign, or belong to another joint, follows it in no way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from ..errors import InvalidData, NotEnoughData
from ..inertia import Array, body_from_phi, is_consistent
from ..motion.motion import BIN
from .base_parameters import structural_base_parameters
from .fit import Prediction, RobotFit
from .model import RobotModel, mean_sign
from .recording import JointRecording, RowFilter

_MOVES = 0.01  # rad or m that a joint covers at least
_PAUSE = 20  # bins between two of a slow topic at most; longer is a break
_SPEED = 0.02  # rad/s or m/s from which on a sample counts as motion
_EACH = 2.0  # independent samples for each unknown
_SCALE = 100.0  # times the description's torques, beyond which efforts are in another unit
_OTHER_UNIT = 3.0  # times, from which on a note says so
_BEYOND_LIMIT = 10.0  # times the description's limit, which no root mean square reaches
_BETTER = 2.0  # fall of the sum of the logarithms of all errors; times, of one joint by its sign
_OUTSIDE = 0.1  # share of the samples beyond a limit from which on it is not a few bad samples
_RANGES = 10.0  # beyond a limit of a prismatic joint; two turns of others, which may count on
_CONSIDERED = 20.0  # s at the beginning that are compared
_SUSPECT = 0.05  # share of a joint's torque from which on mistakes are looked for
_UNEXPLAINED = 0.3  # share of the torque that may be left
_HALF = 0.5  # the same of a joint that bears bodies; part of a torque that is the description's


def check_position_units(model: RobotModel, q: Array) -> None:
    """Raise InvalidData where positions q (n, joints), as recorded, are two turns or more beyond
    their limits: in degrees or millimetres. Joints without limits are judged by their efforts."""
    for name, own, (low, high), slides in zip(model.joint_names, q.T, model.position_limits,
                                              model.slides, strict=True):
        unit, wrong, margin = ("m", "millimetres", _RANGES * (high - low)) if slides else (
            "rad", "degrees", 4.0 * np.pi)
        if np.mean((own < low - margin) | (own > high + margin)) > _OUTSIDE:
            raise InvalidData(
                f"the positions of '{name}' are from {own.min():.4g} to {own.max():.4g}; the robot "
                f"description allows {low:.4g} to {high:.4g} {unit}: are they in {wrong}?")


def check_motion(model: RobotModel, filtered: RowFilter) -> list[str]:
    """Notes on joints that do not move (raises NotEnoughData: nothing does, or for too short a time
    for so many unknowns)."""
    covered = np.ptp(filtered.motion[0], axis=0)
    if covered.max() < _MOVES:
        raise NotEnoughData(f"no joint moves (at most by {covered.max():.2g} rad); torques at one "
                            "pose tell nothing of the bodies")
    steps = np.minimum(np.diff(filtered.number, append=filtered.number[-1] + 1), _PAUSE)
    moved = float(steps[np.abs(filtered.motion[1]).max(axis=1) > _SPEED].sum()) * BIN
    # A Hann kernel of this length averages as a mean over two thirds of it does.
    needed = filtered.low_pass * (1.0 + _EACH * 2.0 / 3.0 * (
        structural_base_parameters(model).count / model.nv))
    if moved < needed:
        raise NotEnoughData(
            f"the joints move for {moved:.1f} s only; the {len(model.joint_names)} joints of this "
            f"robot need at least {needed:.1f} s of motion, better ten times as much")
    return [f"{name} does not move: its friction, and part of what hangs on it, are not identified"
            for name, most in zip(model.joint_names, covered, strict=True) if most < _MOVES]


def check_description(model: RobotModel) -> list[str]:
    """Notes on bodies of the description that cannot exist, with link and values."""
    notes = []
    for body in model.bodies:
        phi = model.nominal[model.body_slice(body)]
        if phi[0] <= 0.0:
            notes.append(f"{body} has a mass of {phi[0]:g} kg in the robot description, which is "
                         "not used")
        elif not is_consistent(phi):
            moments = np.linalg.eigvalsh(body_from_phi(phi).inertia_com)
            notes.append(
                f"the inertia of {body} in the robot description is impossible (principal moments "
                f"{', '.join(f'{m:.3g}' for m in moments)} kg m^2: none may exceed the sum of the "
                "others); its mass and centre are used")
    return notes


class Followed(NamedTuple):
    """How the efforts of each joint follow the torques of the description, beside friction.

    Attributes:
        effort, residual, turned: (joints,) norms, of the efforts about their means, of what is left
            of them, and of what is left of efforts of the opposite sign.
        scale: (joints,) efforts over the description's torques; NaN where these are not most of the
            effort.
    """

    effort: Array
    residual: Array
    turned: Array
    scale: Array

    @property
    def score(self) -> float:
        """Sum of the logarithms of the residuals."""
        return float(np.sum(np.log(np.maximum(self.residual, 1e-12))))


def follow(model: RobotModel, filtered: RowFilter, unit: Array | float = 1.0,
           order: np.ndarray | slice = slice(None)) -> Followed:
    """Efforts fitted by the description's torque, the speed, and its sign; no factor is negative,
    as friction brakes.

    Args:
        unit: of positions (joints,) in rad; order: of the joints in the recording.
    """
    def columns(*motion: Array) -> Array:
        q, dq, ddq = (unit * each[:, order] for each in motion)
        return np.stack([model.described_torque(q, dq, ddq), dq, mean_sign(dq, ddq, _SPEED, BIN)],
                        axis=-1)

    rows, effort = filtered.mean(columns), filtered.effort[:, order]
    rows, effort = rows - rows.mean(axis=0), effort - effort.mean(axis=0)
    fits, turned = ([nnls(rows[:, j], sign * effort[:, j]) for j in range(model.nv)]
                    for sign in (1.0, -1.0))
    scale = np.array([factors[0] for factors, _ in fits])
    loaded = scale * rows[:, :, 0].std(axis=0) > _HALF * effort.std(axis=0)
    return Followed(np.linalg.norm(effort, axis=0), np.array([norm for _, norm in fits]),
                    np.array([norm for _, norm in turned]), np.where(loaded, scale, np.nan))


def check_efforts(model: RobotModel, recording: JointRecording, low_pass: float, notes: list[str]
                  ) -> Followed:
    """How the efforts of a recording follow the description; adds a note where they are several
    times its torques, or a fraction.

    Raises:
        InvalidData: efforts are not measured, in another unit or without gravity, angles are in
            degrees, or two joints in a row are named as each other.
    """
    for name, effort in zip(model.joint_names, recording.effort.T, strict=True):
        if np.ptp(effort) == 0.0:
            raise InvalidData(f"the efforts of '{name}' are {effort[0] + 0.0:g} throughout: they "
                              "are not measured")
    part = RowFilter(recording.beginning(_CONSIDERED), 0.0, low_pass)
    found = follow(model, part)
    for why, other in _mistakes(model, part):
        if found.score - other.score > _BETTER:
            raise InvalidData(f"{why} (taken that way, the efforts follow the robot description "
                              "far better)")
    loaded, limits = np.isfinite(found.scale), model.effort_limits
    beyond = loaded & ~((1.0 / _SCALE < found.scale) & (found.scale < _SCALE))
    for j in np.flatnonzero(beyond)[:1]:
        whose = "all joints" if (beyond == loaded).all() else f"'{model.joint_names[j]}'"
        raise InvalidData(f"the efforts of {whose} are {found.scale[j]:.2g} times the torques of "
                          "the robot description: are they in another unit than N m?")
    rms = np.sqrt(np.mean(recording.effort**2, axis=0))
    for j in np.flatnonzero(rms > _BEYOND_LIMIT * limits)[:1]:
        raise InvalidData(f"the efforts of '{model.joint_names[j]}' are more than "
                          f"{_BEYOND_LIMIT:g} times the {limits[j]:g} N m that the robot "
                          "description allows: are they in another unit?")
    usual = float(np.median(found.scale[loaded])) if loaded.any() else 1.0
    if not 1.0 / _OTHER_UNIT < usual < _OTHER_UNIT:
        notes.append(f"the efforts are {usual:.2g} times the torques of the robot description: are "
                     "they torques, and no motor currents (--gains)?")
    return found


def _mistakes(model: RobotModel, part: RowFilter) -> Iterator[tuple[str, Followed]]:
    """Mistakes that fits of many unknowns may hide, and how efforts follow the description then."""
    # The sine of an angle shows its unit, whatever the masses, gains and limits.
    yield ("the positions are in degrees; they must be in rad",
           follow(model, part, np.where(model.slides, 1.0, np.pi / 180.0)))
    # Bodies without weight would explain them.
    yield ("the efforts hold no gravity; record what the joints bear in all, with gravity",
           follow(model.with_gravity(np.zeros(3)), part))
    for k, pair in enumerate(pairwise(model.joint_names)):
        order = np.arange(model.nv)
        order[k:k + 2] = k + 1, k
        yield (f"'{pair[0]}' and '{pair[1]}' are named as each other",
               follow(model, part, order=order))


def explain_failure(model: RobotModel, found: Followed, tests: Sequence[Prediction],
                    expected: Array) -> InvalidData | NotEnoughData | None:
    """Why much of the torque is not explained; None where it is.

    Args:
        tests: of the robot that was found, that on the recording first.
        expected: (joints,) by how much the description's own torques vary, rms [N m].
    """
    if tests[0].shares.max() > _SUSPECT:
        turned = found.residual > _BETTER * found.turned
        wrong = [f"'{model.joint_names[j]}'" for j in np.flatnonzero(turned)]
        if wrong:
            return InvalidData(
                f"the efforts of {'all joints' if turned.all() else ', '.join(wrong)} "
                "have the opposite sign: with it, they follow the robot description far better")
        share = float(np.linalg.norm(found.residual) / np.linalg.norm(found.effort))
        if share > _UNEXPLAINED:
            return InvalidData(
                f"the robot description and friction leave {share:.0%} of the efforts unexplained: "
                "are positions and efforts those of the joints that are named, in the same order?")
    share = max(test.relative for test in tests)
    shares = np.max([test.shares for test in tests], axis=0)
    names = ", ".join(f"'{model.joint_names[j]}' ({shares[j]:.0%})"
                      for j in np.argsort(-shares)[:2] if shares[j] > _UNEXPLAINED)
    needed = (expected > _UNEXPLAINED * tests[0].torque) & (shares > _HALF)
    if share > _UNEXPLAINED or needed.any():
        return NotEnoughData(
            f"the robot leaves {share:.0%} of the torque unexplained (at most {_UNEXPLAINED:.0%} "
            f"is accepted, and {_HALF:.0%} of a joint that bears bodies), most in {names}: "
            "are these efforts torques, and of these joints, and does the arm move?")
    return None


def compare_with_description(fit: RobotFit, found: Prediction) -> list[str]:
    """Where the data contradict the description, and on which bodies; which joints are not
    explained."""
    model, notes = fit.model, []
    for body in (model.bodies[k] for k in np.flatnonzero(fit.contradicted)):
        m, nominal = model.body_slice(body).start, model.nominal[model.body_slice(body)]
        if is_consistent(nominal):
            notes.append(
                f"the recording contradicts the description of {body} by far (mass "
                f"{fit.phi[m]:.3g} kg, described {nominal[0]:.3g} kg): is there a load or gripper "
                "that the description lacks?")
    if fit.eased < 1.0 and not fit.contradicted.any():
        notes.append("no robot like the description explains the torques as well as they can be "
                     "explained, so that it was trusted less; a term of the joints may be missing "
                     "(--terms)")
    return notes + [f"{share:.0%} of the torque of {name} is not explained" for name, share in zip(
        model.joint_names, found.shares, strict=True) if share > _HALF]
