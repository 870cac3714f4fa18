# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What is wrong with a recording of a robot, or with its description, joint by joint.

Bodies, friction and offsets are so many unknowns that they explain wrong torques almost as well as
right ones. The description tells the two apart: its bodies may be off by tens of percent, but a
joint whose efforts have the wrong sign, or belong to another joint, follows it in no way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from ...errors import InvalidData, NotEnoughData, RecordingError
from ...inertia import Array, body_from_phi, is_consistent
from ...motion.motion import BIN
from ...robot.base_parameters import structural_base_parameters
from ...robot.joint_terms import mean_sign
from ...robot.model import RobotModel
from ...robot.recording import JointRecording, RowFilter, binned_motion
from ..report.results import CONFIDENCE_95, interval
from .fit import RobotFit

_MOVES = 0.01  # rad or m that a joint covers at least
_PAUSE = 20  # bins between two of a slow topic at most; longer is a break
_SPEED = 0.02  # rad/s or m/s from which on a sample counts as motion
_EACH = 2.0  # independent samples for each unknown
_SCALE = 100.0  # times the description's torques, beyond which efforts are in another unit
_OTHER_UNIT = 3.0  # times, from which on a note says so
_BEYOND_LIMIT = 10.0  # times the description's limit, which no root mean square reaches
_LOADED = 0.5  # part of a joint's torque that is the description's, where its scale is judged
_BETTER = float(np.log(2.0))  # by which the sum of the logarithms of all errors falls at least
_FAR_BETTER = 2.0  # the same where no fit confirms it: radians that are right lose 2 and more
_MOST_MISTAKES = 3  # that are named, one after the other
_FITTED, _ALIKE = 3, 1.0  # mistakes that are fitted at most; their sums differ by less than this
_OUTSIDE = 0.1  # share of the samples beyond a limit from which on it is not a few bad samples
_TURNS = 4.0 * np.pi  # rad beyond a limit: encoders may count from another turn
_RANGES = 10.0  # allowed ranges beyond a limit of a prismatic joint
_CONSIDERED = 20_000_000_000  # ns at the beginning that are compared
_MOST_JOINTS = 8  # whose pairs are tried


def check_joints_there(described: Sequence[str], recorded: Sequence[str]) -> None:
    """Raise RecordingError where a recording lacks a joint of the description."""
    lacking = [name for name in described if name not in recorded]
    unknown = [name for name in recorded if name not in described]
    if not lacking:
        return
    alike = get_close_matches(lacking[0], unknown, 1, 0.5)
    meant = f" (is '{alike[0]}', which it has, the same as '{lacking[0]}'?)" if alike else ""
    names = ", ".join(f"'{name}'" for name in lacking)
    there = ",".join(name for name in described if name in recorded)
    raise RecordingError(
        f"the recording lacks {names} of the robot description{meant}; where others "
        f"alone moved, name them: --joints {there or 'A,B,...'}")


def check_position_units(model: RobotModel, q: Array) -> None:
    """Raise InvalidData where positions q (n, joints), as recorded, are two turns or more beyond
    their limits: in degrees or millimetres. Joints without limits are judged by their efforts."""
    for name, own, (low, high), slides in zip(model.joint_names, q.T, model.position_limits,
                                              model.slides, strict=True):
        unit, wrong = ("m", "millimetres") if slides else ("rad", "degrees")
        margin = _RANGES * (high - low) if slides else _TURNS
        if np.mean((own < low - margin) | (own > high + margin)) > _OUTSIDE:
            raise InvalidData(
                f"the positions of '{name}' are from {own.min():.4g} to {own.max():.4g}; the robot "
                f"description allows {low:.4g} to {high:.4g} {unit}: are they in {wrong}?")


def check_recording(model: RobotModel, recording: JointRecording, low_pass: float) -> list[str]:
    """Notes on joints that do not move, and on bodies of the description that cannot exist.

    Raises:
        NotEnoughData: nothing moves, or for too short a time for so many unknowns.
        InvalidData: efforts are not measured or hold no gravity, or angles are in degrees.
    """
    notes = _check_motion(model, recording, low_pass)
    for name, effort in zip(model.joint_names, recording.effort.T, strict=True):
        if np.ptp(effort) == 0.0:
            raise InvalidData(f"the efforts of '{name}' are {effort[0] + 0.0:g} throughout: they "
                              "are not measured")
    part = _beginning(recording)
    now = _follow(model, part, low_pass).score
    for mistake in _in_degrees(model, part.q):
        if now - _follow(model, mistake.undo(part), low_pass).score > _FAR_BETTER:
            raise InvalidData(f"{mistake.text}: taken as degrees, the efforts follow the robot "
                              "description far better; positions must be in rad")
    # Bodies without weight would explain them.
    weightless = model.with_gravity(np.zeros(3))
    if now - _follow(weightless, part, low_pass).score > _FAR_BETTER:
        raise InvalidData("the efforts hold no gravity: they follow the robot description far "
                          "better without it; record what the joints bear in all, with gravity")
    return notes + check_description(model)


def _check_motion(model: RobotModel, recording: JointRecording, low_pass: float) -> list[str]:
    covered = np.ptp(recording.q, axis=0)
    still = [name for name, most in zip(model.joint_names, covered, strict=True) if most < _MOVES]
    if len(still) == len(covered):
        j = int(np.argmax(covered))
        raise NotEnoughData(f"no joint moves ('{model.joint_names[j]}' moves most, by "
                            f"{covered[j]:.2g} rad); torques at one pose tell nothing of the "
                            "bodies")
    motion = binned_motion(recording)
    steps = np.minimum(np.diff(motion.number, append=motion.number[-1] + 1), _PAUSE)
    moved = float(steps[np.abs(motion.dq).max(axis=1) > _SPEED].sum()) * BIN
    # A Hann kernel of this length averages as a mean over two thirds of it does.
    needed = low_pass + _EACH * 2.0 / 3.0 * low_pass * (
        structural_base_parameters(model).count / model.nv)
    if moved < needed:
        raise NotEnoughData(
            f"the joints move for {moved:.1f} s only; the {len(model.joint_names)} joints of this "
            f"robot need at least {needed:.1f} s of motion, better ten times as much")
    return [f"{name} does not move: its friction, and part of what hangs on it, are not told by "
            "the recording" for name in still]


def check_description(model: RobotModel) -> list[str]:
    """Notes on bodies of the description that cannot exist, with link and values."""
    notes = []
    for k, body in enumerate(model.bodies):
        phi = model.nominal[model.body_slice(k)]
        if is_consistent(phi):
            continue
        if phi[0] <= 0.0:
            notes.append(f"{body} has a mass of {phi[0]:g} kg in the robot description, which is "
                         "not used")
            continue
        moments = np.linalg.eigvalsh(body_from_phi(phi).inertia_com)
        notes.append(f"the inertia of {body} in the robot description is impossible (principal "
                     f"moments {', '.join(f'{m:.3g}' for m in moments)} kg m^2: none may exceed "
                     "the sum of the others); its mass and centre are used")
    return notes


def check_scale(model: RobotModel, recording: JointRecording, low_pass: float) -> list[str]:
    """A note where torques are several times those of the description, or a fraction.

    Raises:
        InvalidData: they are in another unit, of one joint or of all.
    """
    _, scale, loaded = _follow(model, _beginning(recording), low_pass)
    beyond = loaded & ~((1.0 / _SCALE < scale) & (scale < _SCALE))
    for j in np.flatnonzero(beyond)[:1]:
        whose = "all joints" if (beyond == loaded).all() else f"'{model.joint_names[j]}'"
        raise InvalidData(f"the efforts of {whose} are {scale[j]:.2g} times the torques of the "
                          "robot description: are they in another unit than N m?")
    for name, effort, limit in zip(model.joint_names, recording.effort.T, model.effort_limits,
                                   strict=True):
        if 0.0 < limit < float(np.sqrt(np.mean(effort**2))) / _BEYOND_LIMIT:
            raise InvalidData(f"the efforts of '{name}' are more than {_BEYOND_LIMIT:g} times the "
                              f"{limit:g} N m that the robot description allows: are they in "
                              "another unit?")
    usual = float(np.median(scale[loaded])) if loaded.any() else 1.0
    if 1.0 / _OTHER_UNIT < usual < _OTHER_UNIT:
        return []
    return [f"the efforts are {usual:.2g} times the torques of the robot description: are they "
            "torques, and no motor currents (--gains)?"]


def compare_with_description(fit: RobotFit) -> list[str]:
    """Where data and description disagree by more than their intervals, and on which bodies."""
    model, nominal, doubt = fit.model, fit.model.nominal, fit.described.doubt
    notes, others = [], []
    for k, body in enumerate(model.bodies):
        where = model.body_slice(k)
        if not (doubt.differs[k] and is_consistent(nominal[where])):
            continue
        if not doubt.contradicted[k]:
            others.append(body)
            continue
        m, spread = where.start, CONFIDENCE_95 * float(np.sqrt(fit.covariance[where, where][0, 0]))
        mass = (f" (mass {interval(fit.phi[m], spread, True)} kg, described {nominal[m]:.3g} kg)"
                if abs(fit.phi[m] - nominal[m]) > spread else "")
        notes.append(f"the recording contradicts the description of {body} by far{mass}:"
                     " is there a load or gripper that the description lacks?")
    if others:
        notes.append("bodies that differ from the description by more than the intervals of both: "
                     + ", ".join(others))
    if fit.described.eased < 1.0:
        notes.append("no robot like the description explains the torques as well as they can be "
                     "explained, so that it was trusted less; a term of the joints may be missing "
                     "(--terms), or the description may be of another robot")
    return notes


@dataclass(frozen=True)
class Mistake:
    """How a recording may have been written wrongly.

    Attributes:
        text: what it would be; q, effort: (joints, joints) matrices that undo it.
    """

    text: str
    q: Array
    effort: Array

    def undo(self, recording: JointRecording) -> JointRecording:
        """The recording without it."""
        return JointRecording(recording.stamps, recording.q @ self.q,
                              recording.effort @ self.effort)


def find_mistake(model: RobotModel, recording: JointRecording, low_pass: float,
                 errors: Callable[[JointRecording], Array], order: Sequence[int]) -> str:
    """Mistakes without which a robot explains a recording far better; empty where there are none.

    Args:
        errors: gives the torques (joints,) that a fit leaves of a recording [N m].
        order: of the joints, those first of whose torque most is unexplained.
    """
    texts: list[str] = []
    part = _beginning(recording)
    while len(texts) < _MOST_MISTAKES:
        found = _best_mistakes(model, part, low_pass, errors, order)
        texts += [", or ".join(mistake.text for mistake in found)] if found else []
        if len(found) != 1:
            break
        part = found[0].undo(part)
    return "; and ".join(texts)


def _best_mistakes(model: RobotModel, part: JointRecording, low_pass: float,
                   errors: Callable[[JointRecording], Array], order: Sequence[int]
                   ) -> list[Mistake]:
    """The mistakes, about as likely as each other, without each of which a robot explains the
    recording far better: by the description, and then by a fit."""
    likely = [*_in_degrees(model, part.q), *_mistakes(model.joint_names, order[:_MOST_JOINTS])]
    for score in (lambda each: _follow(model, each, low_pass).score,
                  lambda each: float(np.sum(np.log(errors(each))))):
        scores = np.array([score(mistake.undo(part)) for mistake in likely])
        limit = min(score(part) - _BETTER, scores.min() + _ALIKE)
        best = np.argsort(scores, kind="stable")[:_FITTED]
        likely = [likely[k] for k in best if scores[k] < limit]
        if not likely:
            break
    return likely


def _in_degrees(model: RobotModel, q: Array) -> list[Mistake]:
    """Positions (n, joints) in degrees, where joints turn: the sine of an angle shows its unit,
    whatever the masses, gains and limits."""
    turns, covered = ~model.slides, np.ptp(q, axis=0)
    if not turns.any():
        return []
    j = int(np.argmax(np.where(turns, covered, -1.0)))
    return [Mistake(f"the positions of all joints are in degrees ('{model.joint_names[j]}' goes "
                    f"from {q[:, j].min():.4g} to {q[:, j].max():.4g})",
                    np.diag(np.where(turns, np.pi / 180.0, 1.0)), np.eye(len(turns)))]


def _mistakes(names: Sequence[str], suspects: Sequence[int]) -> Iterator[Mistake]:
    """What may have gone wrong with some joints."""
    n = len(names)
    same = np.eye(n)
    yield Mistake("the efforts of all joints have the opposite sign", same, -same)
    for j in suspects:
        turned = np.diag(np.where(np.arange(n) == j, -1.0, 1.0))
        yield Mistake(f"the efforts of '{names[j]}' have the opposite sign", same, turned)
        yield Mistake(f"the positions of '{names[j]}' have the opposite sign", turned, same)
        yield Mistake(f"positions and efforts of '{names[j]}' have the opposite sign: its axis "
                      "is described the other way round", turned, turned)
    for i, k in combinations(suspects, 2):
        order = np.arange(n)
        order[[i, k]] = k, i
        swap, both = same[:, order], f"'{names[i]}' and '{names[k]}'"
        yield Mistake(f"the efforts of {both} are those of each other", same, swap)
        yield Mistake(f"{both} are named as each other", swap, swap)


def _beginning(recording: JointRecording) -> JointRecording:
    """The part that is compared with the description."""
    end = int(np.searchsorted(recording.stamps, recording.stamps[0] + _CONSIDERED))
    return recording.part(slice(0, end))


class _Followed(NamedTuple):
    """How the efforts of each joint follow the torques of the description, beside friction.

    Attributes:
        score: sum of the logarithms of what is left of each joint's effort.
        scale: (joints,) efforts over the description's torques; loaded: (joints,) True where most
        of the effort is the description's, so that its scale says something.
    """

    score: float
    scale: Array
    loaded: np.ndarray


def _follow(model: RobotModel, recording: JointRecording, low_pass: float) -> _Followed:
    """Efforts fitted by the description's torque, the speed, and its sign; no factor is negative,
    as friction brakes."""
    def columns(q: Array, dq: Array, ddq: Array) -> Array:
        torque = model.described_torque(q, dq, ddq)
        return np.stack([torque, dq, mean_sign(dq, ddq, _SPEED, BIN)], axis=-1)

    filtered = RowFilter(recording, 0.0, low_pass)
    rows = filtered.regressor(columns)
    rows, effort = rows - rows.mean(axis=0), filtered.effort - filtered.effort.mean(axis=0)
    fits = [nnls(rows[:, j], effort[:, j]) for j in range(model.nv)]
    scale = np.array([factors[0] for factors, _ in fits])
    return _Followed(sum(float(np.log(max(left, 1e-12))) for _, left in fits), scale,
                     scale * rows[:, :, 0].std(axis=0) > _LOADED * effort.std(axis=0))
