# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From recordings of joint torques or motor currents to a robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ...errors import InvalidData, InvalidSetting, NotEnoughData
from ...inertia import Array, Body, body_from_phi, is_consistent
from ...robot.base_parameters import BaseParameters, structural_base_parameters
from ...robot.drive_gains import Drives, gains_from_payload
from ...robot.joint_terms import JointTerms
from ...robot.model import RobotModel
from ...robot.recording import (
    LOW_PASS,
    FilteredRecording,
    JointRecording,
    RowFilter,
    filter_recording,
)
from ...robot.robot_file import IdentifiedRobot, RobotCurrents, robot_model
from ...robot.tilt_and_delay import Alignment, align_recording
from .checks import (
    check_joints_there,
    check_position_units,
    check_recording,
    check_scale,
    compare_with_description,
    find_mistake,
)
from .fit import Prediction, RobotFit, fit_robot, fit_unconstrained
from .methods import Approach
from .recording_files import NamedRecording
from .term_choice import FADINGS, TermChoice, choose_terms

# Of data sheets and of controllers: those of a real UR10e differ from gains that were found with a
# known mass by 4 %.
GAIN_ERROR = 0.05
_CLEAR = 3.0  # standard deviations from which tilt and delay are believed
_UNEXPLAINED = 0.3  # share of the torque that may be left
_OF_A_JOINT = 0.5  # the same of one joint, if the description has _EXPECTED of its torque
_EXPECTED = 0.3
_SUSPECT = 0.05  # share of a joint's torque from which on mistakes are looked for
_NEAR_ONE = 0.25  # gains of motors are 5 N m/A and more
_FADING = 0.01  # rad/s, before the speed that fits best is known


@dataclass(frozen=True)
class Request:
    """How a robot is to be identified.

    Attributes:
        joints: that move, the others locked at zero; empty: those of the first recording.
        terms: of every joint; None: viscous and Coulomb friction, an offset, and what else predicts
            held-out motion better.
        coulomb_velocity: below which Coulomb friction fades [rad/s]; None: what fits best.
        gravity: (3,) in axes of the description's root [m/s^2].
        low_pass: length of the filter [s]; align: find tilt of the base and delay of the efforts.
        hold_back: part of the time at the end for the test, of several recordings the last one;
            0: none.
        gains: (joints,) of the drives, where efforts are motor currents [N m/A]; gain_error:
        standard deviation of each, relative.
        loaded: motor currents with a payload of payload_mass [kg] on the last link, from which the
        gains are found.
        approach: method, weight of the description, and what is known of the robot.

    Raises:
        InvalidSetting: options that do not go together, or a number out of range.
    """

    joints: tuple[str, ...] = ()
    terms: JointTerms | None = None
    coulomb_velocity: float | None = None
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    low_pass: float = LOW_PASS
    align: bool = True
    hold_back: float = 0.3
    gains: tuple[float, ...] = ()
    gain_error: float = GAIN_ERROR
    loaded: NamedRecording | None = None
    payload_mass: float | None = None
    approach: Approach = field(default_factory=Approach)

    def __post_init__(self) -> None:
        for name, value, low, high in (
                ("low_pass", self.low_pass, 0.02, 2.0), ("hold_back", self.hold_back, 0.0, 0.9),
                ("coulomb_velocity", self.coulomb_velocity, 0.0, 10.0),
                ("prior_weight", self.approach.weight, 1e-9, 1e9),
                ("gain_error", self.gain_error, 0.0, 0.99),
                ("payload_mass", self.payload_mass, 1e-3, 1e4)):
            if value is not None and not low <= value <= high:
                raise InvalidSetting(f"{name} is {value:g}; allowed: {low:g} to {high:g}")
        if (self.loaded is None) != (self.payload_mass is None):
            raise InvalidSetting("loaded and payload_mass belong together: gains come from a "
                                 "recording with a payload and its mass")
        if self.loaded is not None and self.gains:
            raise InvalidSetting("gains are given, and loaded is to find them; leave one of them "
                                 "out")


@dataclass(frozen=True)
class RobotResult:
    """What a recording says about a robot.

    Attributes:
        fit: parameters, and what the data say of the description; robot: what is kept in a file.
        base: base parameters of the level robot; beta: (nb,) and beta_sigma: (nb,) their values.
        prediction: on all the recording; validation: on a test, or on the last part by a robot
        identified from the rest; None if there was none.
        alignment: tilt and delay, zero where they are not clear of zero; None if not found.
        notes: what a person should know; choice: of the joint terms.
        drives: gains with which currents became torques; None: efforts are torques.
        unexplained: why this is no robot; None: it is one.
    """

    fit: RobotFit
    robot: IdentifiedRobot
    base: BaseParameters
    beta: Array
    beta_sigma: Array
    prediction: Prediction
    validation: Prediction | None
    alignment: Alignment | None
    notes: tuple[str, ...]
    choice: TermChoice
    drives: Drives | None
    unexplained: InvalidData | NotEnoughData | None

    @property
    def model(self) -> RobotModel:
        """With the gravity that was found."""
        return self.fit.model

    @property
    def consistent(self) -> np.ndarray:
        """True (bodies,) for bodies that can exist."""
        return np.array([is_consistent(part) for part in np.split(
            self.fit.phi[:10 * len(self.model.bodies)], len(self.model.bodies))])

    def check_explained(self) -> None:
        """Raise what says why the torques are not explained, if they are not."""
        if self.unexplained is not None:
            raise self.unexplained

    @property
    def bodies(self) -> dict[str, Body]:
        """Mass [kg], centre of mass [m] and inertia about it [kg m^2] of each body, in the frame of
        its link. Joint torques tell base parameters only; the description says the rest."""
        return {name: body_from_phi(self.fit.phi[self.model.body_slice(name)])
                for name in self.model.bodies}


def identify_described_robot(urdf: str, recorded: Sequence[NamedRecording],
                             request: Request | None = None,
                             tests: Sequence[NamedRecording] = ()) -> RobotResult:
    """Identify the robot of a description from one recording or several.

    Args:
        tests: recordings that the robot is tested on and not identified from; none is held back
            then.

    Raises:
        InvalidModel: the description cannot be used, or lacks a joint.
        RecordingError: a recording lacks a joint.
        NotEnoughData: too little moves. InvalidData: efforts of a joint are not measured, or in
            another unit. InfeasibleProblem: the constraints contradict each other.
    """
    asked = request or Request()
    level = _described_model(urdf, recorded[0], asked)
    samples, notes = _load(level, recorded, tests, asked)
    samples, drives = _as_torques(level, samples, asked, notes)
    alignment = _align(level, samples.whole, asked, notes)
    model, choice = _choose_model(level, samples.first, alignment, asked)
    fit, validation = _fit_and_test(model, level, samples, alignment, drives, asked)
    return _result(fit, level, samples, validation, alignment, choice, drives, asked, notes)


class _Samples(NamedTuple):
    """What the robot is identified from; the part from which it is for the test, and the test."""

    whole: JointRecording
    first: JointRecording
    test: JointRecording | None


def _described_model(urdf: str, recorded: NamedRecording, asked: Request) -> RobotModel:
    """The model of the joints that move, with the terms that every joint has anyway."""
    moving = asked.joints
    if not moving and recorded.names:
        described = robot_model(urdf).joint_names
        check_joints_there(described, recorded.names)
        moving = tuple(n for n in described if n in recorded.names)
    speed = _FADING if asked.coulomb_velocity is None else asked.coulomb_velocity
    terms = replace(asked.terms or JointTerms(), coulomb_velocity=speed)
    return robot_model(urdf, moving or None, terms, asked.gravity)


def _load(model: RobotModel, recorded: Sequence[NamedRecording], tests: Sequence[NamedRecording],
          asked: Request) -> tuple[_Samples, list[str]]:
    """The samples of the joints of a model, checked, and notes on them."""
    for source in (*recorded, *tests, *([asked.loaded] if asked.loaded else [])):
        check_position_units(model, source.positions(model.joint_names))
    parts = [source.of_joints(model.joint_names) for source in recorded]
    whole = JointRecording.join(parts)
    if tests:
        samples = _Samples(whole, whole, JointRecording.join(
            [source.of_joints(model.joint_names) for source in tests]))
    elif not asked.hold_back:
        samples = _Samples(whole, whole, None)
    elif len(parts) > 1:
        samples = _Samples(whole, JointRecording.join(parts[:-1]), parts[-1])
    else:
        samples = _Samples(whole, *whole.split(1.0 - asked.hold_back))
    return samples, check_recording(model, whole, asked.low_pass)


def _as_torques(model: RobotModel, samples: _Samples, asked: Request, notes: list[str]
                ) -> tuple[_Samples, Drives | None]:
    """The samples with torques in place of motor currents, and the gains of the drives."""
    drives = None
    if asked.gains or asked.loaded:
        drives = _find_drives(asked, model, samples.first)
        samples = _Samples(drives.torques(samples.whole), drives.torques(samples.first),
                           samples.test and drives.torques(samples.test))
        if np.abs(drives.gain - 1.0).max() < _NEAR_ONE:
            notes.append("the gains of the drives are near 1: the efforts seem to be torques "
                         "already; give no payload and no gains then")
    notes += check_scale(model, samples.whole, asked.low_pass)
    return samples, drives


def _find_drives(asked: Request, model: RobotModel, unloaded: JointRecording) -> Drives:
    """Gains of all drives: those that are given, or those that the payload of known mass tells of
    two recordings of currents, without and with it (raises InvalidSetting, NotEnoughData)."""
    if asked.loaded is None or asked.payload_mass is None:
        gain, count = np.array(asked.gains), len(model.joint_names)
        if gain.shape != (count,) or not (np.isfinite(gain).all() and (gain > 0.0).all()):
            raise InvalidSetting(f"gains are {', '.join(f'{g:g}' for g in gain)} N m/A; {count} "
                                 f"positive numbers are needed, for {', '.join(model.joint_names)}")
        return Drives(gain, np.diag((asked.gain_error * gain)**2))
    with_drives = model.with_terms(JointTerms(drive_inertia=True))
    free, held = (filter_recording(with_drives, recording, 0.0, asked.low_pass) for recording in (
        unloaded, asked.loaded.of_joints(model.joint_names)))
    try:
        return gains_from_payload(with_drives, free, held, asked.payload_mass)
    except NotEnoughData as error:
        raise NotEnoughData(f"motor currents: {error}; do both recordings move all joints, and "
                            "does only one hold the payload? (Torques need no payload.)") from error


def _align(model: RobotModel, recording: JointRecording, asked: Request, notes: list[str]
           ) -> Alignment | None:
    """Tilt and delay of a recording, those of less than three standard deviations set to zero; None
    where they are not looked for, or cannot be found."""
    if not asked.align:
        return None
    filtered = RowFilter(recording, 0.0, asked.low_pass)
    try:
        free = fit_unconstrained(model, filtered.rows(model))
        found = align_recording(model, filtered, free.weights)
    except (InvalidData, NotEnoughData) as error:
        notes.append(f"tilt and delay taken as zero: {error}")
        return None
    # Residuals repeat themselves for many samples.
    sigma = found.sigma * float(np.linalg.norm(free.noise) / np.linalg.norm(free.rms))
    leans = bool(np.linalg.norm(found.tilt / sigma[:2]) > _CLEAR)
    late = abs(found.delay) > _CLEAR * sigma[2]
    return Alignment(found.gravity if leans else model.gravity, found.delay if late else 0.0,
                     found.tilt if leans else np.zeros(2), sigma)


def _delay(alignment: Alignment | None) -> float:
    return 0.0 if alignment is None else alignment.delay


def _choose_model(level: RobotModel, recording: JointRecording, alignment: Alignment | None,
                  asked: Request) -> tuple[RobotModel, TermChoice]:
    """The model under the gravity that was found, with terms that predict held-out motion best."""
    model = level if alignment is None else level.with_gravity(alignment.gravity)
    speeds = [level.terms.coulomb_velocity]
    if asked.coulomb_velocity is None:
        speeds = list(FADINGS) if level.terms.coulomb else [0.0]
    choice = TermChoice(model.terms, {})
    if asked.terms is None or len(speeds) > 1:
        filtered = RowFilter(recording, _delay(alignment), asked.low_pass)
        choice = choose_terms(model, filtered, speeds, asked.terms is None)
    return model.with_terms(choice.terms), choice


def _fit_and_test(model: RobotModel, level: RobotModel, samples: _Samples,
                  alignment: Alignment | None, drives: Drives | None, asked: Request
                  ) -> tuple[RobotFit, Prediction | None]:
    """The robot of all samples, and how well that of the first part predicts the test."""
    base = structural_base_parameters(level.with_terms(model.terms))

    def rows(part: JointRecording) -> FilteredRecording:
        return filter_recording(model, part, _delay(alignment), asked.low_pass)

    fit = fit_robot(model, rows(samples.whole), base, asked.approach,
                    None if drives is None else drives.spread)
    if samples.test is None:
        return fit, None
    first = fit if samples.first is samples.whole else fit_robot(
        model, rows(samples.first), base, asked.approach)
    return fit, first.predict(rows(samples.test))


def _result(fit: RobotFit, level: RobotModel, samples: _Samples, validation: Prediction | None,
            alignment: Alignment | None, choice: TermChoice, drives: Drives | None,
            asked: Request, notes: list[str]) -> RobotResult:
    """The result, with what speaks against it."""
    model, delay = fit.model, _delay(alignment)
    rows = filter_recording(model, samples.whole, delay, asked.low_pass)
    prediction = fit.predict(rows)
    notes += compare_with_description(fit)
    notes += [f"{share:.0%} of the torque of {name} is not explained" for name, share in zip(
        model.joint_names, prediction.shares, strict=True) if share > _OF_A_JOINT]
    variance = np.einsum("bp,pq,bq->b", fit.base.matrix, fit.covariance, fit.base.matrix)
    robot = IdentifiedRobot(model.joint_names, model.bodies, model.terms, model.gravity, delay,
                            asked.low_pass, fit.phi, fit.covariance, fit.noise,
                            None if drives is None else RobotCurrents(
                                drives.gain, drives.spread, fit.follow))
    unexplained: InvalidData | NotEnoughData | None = None
    if prediction.shares.max() > _SUSPECT:
        mistake = find_mistake(level, samples.whole, asked.low_pass, lambda part: _left(
            level, part, asked), np.argsort(-prediction.shares).tolist())
        unexplained = InvalidData(f"{mistake}: undone, the recording fits the robot description "
                                  "far better") if mistake else None
    expected = np.std(rows.regressor @ model.nominal, axis=0)
    return RobotResult(fit, robot, fit.base, fit.base.matrix @ fit.phi,
                       np.sqrt(np.maximum(variance, 0.0)), prediction, validation, alignment,
                       tuple(notes), choice, drives,
                       unexplained or _unexplained(model, prediction, validation, expected))


def _left(model: RobotModel, part: JointRecording, asked: Request) -> Array:
    """Torques (joints,) that a fit with the usual terms leaves of a recording [N m]."""
    rows = filter_recording(model, part, 0.0, asked.low_pass)
    return fit_robot(model, rows, structural_base_parameters(model), Approach()).predict(rows).error


def _unexplained(model: RobotModel, prediction: Prediction, validation: Prediction | None,
                 expected: Array) -> NotEnoughData | None:
    """Why much of the torque is not explained; None where it is.

    Args:
        expected: (joints,) by how much the description's own torques vary, rms [N m].
    """
    tests = [p for p in (prediction, validation) if p is not None]
    left = max(p.relative for p in tests)
    shares = np.max([p.shares for p in tests], axis=0)
    names = ", ".join(f"'{model.joint_names[j]}' ({shares[j]:.0%})"
                      for j in np.argsort(-shares)[:2] if shares[j] > _UNEXPLAINED)
    if left > _UNEXPLAINED:
        return NotEnoughData(
            f"the robot description leaves {left:.0%} of the torque unexplained (at most "
            f"{_UNEXPLAINED:.0%} is accepted), most in {names}: are the efforts torques, in "
            "the order and with the sign of the joints, and does the arm move?")
    if ((expected > _EXPECTED * prediction.torque) & (shares > _OF_A_JOINT)).any():
        return NotEnoughData(
            f"most of the torque is unexplained of {names}, although the description alone "
            "asks for much of it: are these efforts torques, and of this joint?")
    return None
