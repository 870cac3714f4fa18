# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From recordings of joint torques or motor currents to a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidData, InvalidSetting, NotEnoughData
from ..inertia import Array, Body, body_from_phi, is_consistent
from .base_parameters import structural_base_parameters
from .bounds import Bounds
from .calibration import Alignment, Drives, align_recording, gains_from_payload
from .checks import (
    check_position_units,
    check_recording,
    check_scale,
    compare_with_description,
    explain_failure,
)
from .fit import METHODS, Approach, Prediction, RobotFit, fit_robot
from .model import GRAVITY, JointTerms, RobotModel
from .recording import LOW_PASS, JointRecording, NamedRecording, RowFilter, Rows
from .robot_file import IdentifiedRobot, RobotCurrents
from .terms import TermChoice, choose_terms

# Of data sheets and of controllers: those of a real UR10e differ from gains that were found with a
# known mass by 4 %.
GAIN_ERROR = 0.05
FADING = 0.01  # rad/s
_UNEXPLAINED = 0.5  # share of a joint's torque from which on a note says so


@dataclass(frozen=True)
class Request:
    """How a robot is to be identified.

    Attributes:
        joints: that move, the others locked at zero; empty: all.
        terms: of every joint; None: viscous and Coulomb friction, an offset, and what else predicts
            held-out motion better.
        coulomb_velocity: below which Coulomb friction fades [rad/s], where terms are None.
        gravity: (3,) in axes of the description's root [m/s^2].
        low_pass: length of the filter [s]; align: find tilt of the base and delay of the efforts.
        hold_back: part of the time at the end for the test, of several recordings the last one;
            0: none.
        gains: (joints,) of the drives, where efforts are motor currents [N m/A]; gain_error:
            standard deviation of each, relative.
        loaded: motor currents with a payload of payload_mass [kg] on the last link, from which the
            gains are found.
        method: one of `METHODS`; constraints: what is known of the bodies, see `docs/robot.md`.
        prior_weight: of the description, 1 trusts each body to 100 % of itself.

    Raises:
        InvalidSetting: options that do not go together, or a number out of range.
    """

    joints: tuple[str, ...] = ()
    terms: JointTerms | None = None
    coulomb_velocity: float = FADING
    gravity: tuple[float, ...] = GRAVITY
    low_pass: float = LOW_PASS
    align: bool = True
    hold_back: float = 0.3
    gains: tuple[float, ...] = ()
    gain_error: float = GAIN_ERROR
    loaded: NamedRecording | None = None
    payload_mass: float | None = None
    method: str = "lmi"
    constraints: Mapping[str, Any] = field(default_factory=dict)
    prior_weight: float = 1.0

    def __post_init__(self) -> None:
        for name, value, low, high in (
                ("low_pass", self.low_pass, 0.02, 2.0), ("hold_back", self.hold_back, 0.0, 0.9),
                ("coulomb_velocity", self.coulomb_velocity, 0.0, 10.0),
                ("prior_weight", self.prior_weight, 1e-9, 1e9),
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
        if self.method not in METHODS:
            raise InvalidSetting(f"method is '{self.method}'; allowed: {', '.join(METHODS)}")
        Bounds.from_mapping(self.constraints)  # complains of what is not understood

    @property
    def approach(self) -> Approach:
        """Method, bounds and weight of the description."""
        return Approach(self.method, Bounds.from_mapping(self.constraints), self.prior_weight)


@dataclass(frozen=True)
class RobotResult:
    """What a recording says about a robot.

    Attributes:
        fit: parameters, and what the data say of the description; robot: what is kept in a file.
        beta: (nb,) base parameters and beta_sigma: (nb,) their standard deviations.
        prediction: on all the recording; validation: on a test, or on the last part by a robot
            identified from the rest; None if there was none.
        alignment: tilt and delay, zero where they are not clear of zero.
        notes: what a person should know; choice: of the joint terms.
        drives: gains with which currents became torques; None: efforts are torques.
        unexplained: why this is no robot; None: it is one.
    """

    fit: RobotFit
    robot: IdentifiedRobot
    beta: Array
    beta_sigma: Array
    prediction: Prediction
    validation: Prediction | None
    alignment: Alignment
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
        return np.array([is_consistent(self.fit.phi[self.model.body_slice(name)])
                         for name in self.model.bodies])

    @property
    def bodies(self) -> dict[str, Body]:
        """Mass [kg], centre of mass [m] and inertia about it [kg m^2] of each body, in the frame of
        its link. Joint torques tell base parameters only; the description says the rest."""
        return {name: body_from_phi(self.fit.phi[self.model.body_slice(name)])
                for name in self.model.bodies}

    def check_explained(self) -> None:
        """Raise what says why the torques are not explained, if they are not."""
        if self.unexplained is not None:
            raise self.unexplained


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
    terms = asked.terms or JointTerms(coulomb_velocity=asked.coulomb_velocity)
    level = RobotModel.from_urdf(urdf, terms, False, asked.gravity, asked.joints or None)
    samples, notes = _load(level, recorded, tests, asked)
    samples, drives = _as_torques(level, samples, asked)
    notes += check_scale(level, samples.whole, asked.low_pass)
    alignment = _align(level, samples.whole, asked, notes)
    model, choice = _choose_model(level, samples.first, alignment, asked)
    fit, validation = _fit_and_test(model, level, samples, alignment, drives, asked)
    return _result(fit, level, samples, validation, alignment, choice, drives, asked, notes)


class _Samples(NamedTuple):
    """What the robot is identified from; the part from which it is for the test, and the test."""

    whole: JointRecording
    first: JointRecording
    test: JointRecording | None


def _load(model: RobotModel, recorded: Sequence[NamedRecording], tests: Sequence[NamedRecording],
          asked: Request) -> tuple[_Samples, list[str]]:
    """The samples of the joints of a model, checked, and notes on them."""
    names = model.joint_names
    for source in (*recorded, *tests, *([asked.loaded] if asked.loaded else [])):
        check_position_units(model, source.of_joints(names, wraps=False).q)
    parts = [source.of_joints(names) for source in recorded]
    whole = JointRecording.join(parts)
    samples = _Samples(whole, whole, None)
    if tests:
        held = JointRecording.join([source.of_joints(names) for source in tests])
        samples = _Samples(whole, whole, held)
    elif asked.hold_back and len(parts) > 1:
        samples = _Samples(whole, JointRecording.join(parts[:-1]), parts[-1])
    elif asked.hold_back:
        seconds = 1e-9 * float(whole.stamps[-1] - whole.stamps[0])
        samples = _Samples(whole, *whole.split((1.0 - asked.hold_back) * seconds))
    return samples, check_recording(model, whole, asked.low_pass)


def _as_torques(model: RobotModel, samples: _Samples, asked: Request
                ) -> tuple[_Samples, Drives | None]:
    """The samples with torques in place of motor currents, and the gains of the drives: those that
    are given, or those that a payload of known mass tells of two recordings of currents, without
    and with it (raises InvalidSetting, NotEnoughData)."""
    if asked.loaded is not None and asked.payload_mass is not None:
        with_drives = model.with_terms(JointTerms(drive_inertia=True))
        free, held = (RowFilter(each, 0.0, asked.low_pass).rows(with_drives) for each in (
            samples.first, asked.loaded.of_joints(model.joint_names)))
        drives = gains_from_payload(with_drives, free, held, asked.payload_mass)
    elif asked.gains:
        gain = np.array(asked.gains)
        if len(gain) != model.nv or not (np.isfinite(gain).all() and (gain > 0.0).all()):
            raise InvalidSetting(f"gains are {', '.join(f'{g:g}' for g in gain)} N m/A; {model.nv} "
                                 f"positive numbers are needed, for {', '.join(model.joint_names)}")
        drives = Drives(gain, asked.gain_error**2 * np.eye(model.nv))
    else:
        return samples, None
    whole = samples.whole.times(drives.gain)
    first = whole if samples.first is samples.whole else samples.first.times(drives.gain)
    return _Samples(whole, first, samples.test and samples.test.times(drives.gain)), drives


def _align(model: RobotModel, recording: JointRecording, asked: Request, notes: list[str]
           ) -> Alignment:
    """Tilt and delay of a recording; zero where they are not looked for, or cannot be found."""
    if asked.align:
        try:
            return align_recording(model, RowFilter(recording, 0.0, asked.low_pass))
        except (InvalidData, NotEnoughData) as error:
            notes.append(f"tilt and delay taken as zero: {error}")
    return Alignment(model.gravity)


def _choose_model(level: RobotModel, recording: JointRecording, alignment: Alignment,
                  asked: Request) -> tuple[RobotModel, TermChoice]:
    """The model under the gravity that was found, with terms that predict held-out motion best."""
    model = level.with_gravity(alignment.gravity)
    if asked.terms is not None:
        return model, TermChoice(model.terms, {})
    choice = choose_terms(model, RowFilter(recording, alignment.delay, asked.low_pass))
    return model.with_terms(choice.terms), choice


def _fit_and_test(model: RobotModel, level: RobotModel, samples: _Samples, alignment: Alignment,
                  drives: Drives | None, asked: Request) -> tuple[RobotFit, Prediction | None]:
    """The robot of all samples, and how well that of the first part predicts the test."""
    base = structural_base_parameters(level.with_terms(model.terms))

    def rows(part: JointRecording) -> Rows:
        return RowFilter(part, alignment.delay, asked.low_pass).rows(model)

    fit = fit_robot(model, rows(samples.whole), base, asked.approach,
                    None if drives is None else drives.spread)
    if samples.test is None:
        return fit, None
    first = fit if samples.first is samples.whole else fit_robot(
        model, rows(samples.first), base, asked.approach)
    return fit, first.predict(rows(samples.test))


def _result(fit: RobotFit, level: RobotModel, samples: _Samples, validation: Prediction | None,
            alignment: Alignment, choice: TermChoice, drives: Drives | None, asked: Request,
            notes: list[str]) -> RobotResult:
    """The result, with what speaks against it."""
    model = fit.model
    rows = RowFilter(samples.whole, alignment.delay, asked.low_pass).rows(model)
    prediction = fit.predict(rows)
    notes += compare_with_description(fit)
    notes += [f"{share:.0%} of the torque of {name} is not explained" for name, share in zip(
        model.joint_names, prediction.shares, strict=True) if share > _UNEXPLAINED]
    variance = np.einsum("bp,pq,bq->b", fit.base.matrix, fit.covariance, fit.base.matrix)
    robot = IdentifiedRobot(model.joint_names, model.bodies, model.terms, model.gravity,
                            alignment.delay, asked.low_pass, fit.phi, fit.covariance, fit.noise,
                            None if drives is None else RobotCurrents(
                                drives.gain, drives.spread, fit.follow))
    unexplained = explain_failure(
        level, samples.whole, asked.low_pass, [prediction, *([validation] if validation else [])],
        np.std(rows.regressor @ model.nominal, axis=0))
    return RobotResult(fit, robot, fit.base.matrix @ fit.phi, np.sqrt(np.maximum(variance, 0.0)),
                       prediction, validation, alignment, tuple(notes), choice, drives,
                       unexplained)
