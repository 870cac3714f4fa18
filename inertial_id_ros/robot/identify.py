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
from .calibration import (
    Alignment,
    Drives,
    align_recording,
    gains_from_payload,
    with_all_terms,
)
from .checks import (
    Followed,
    check_description,
    check_efforts,
    check_motion,
    check_position_units,
    check_scale,
    compare_with_description,
    explain_failure,
)
from .constraints import Bounds
from .fit import METHODS, Prediction, RobotFit, fit_robot
from .model import GRAVITY, JointTerms, RobotModel
from .recording import LOW_PASS, JointRecording, RowFilter, Rows
from .robot_file import IdentifiedRobot

# Of data sheets and of controllers: those of a real UR10e differ from gains that were found with a
# known mass by 4 %.
GAIN_ERROR = 0.05
FADING = 0.01  # rad/s
_UNEXPLAINED = 0.5  # share of a joint's torque from which on a note says so
_RANGES = {"low_pass": (0.02, 2.0), "hold_back": (0.0, 0.9), "coulomb_velocity": (0.0, 10.0),
           "prior_weight": (1e-9, 1e9), "gain_error": (0.0, 0.99), "payload_mass": (1e-3, 1e4)}


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
    loaded: JointRecording | None = None
    payload_mass: float | None = None
    method: str = "lmi"
    constraints: Mapping[str, Any] = field(default_factory=dict)
    prior_weight: float = 1.0

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
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


@dataclass(frozen=True)
class RobotResult:
    """What a recording says about a robot.

    Attributes:
        fit: parameters, and what the data say of the description; robot: what is kept in a file.
        beta: (nb,) base parameters and beta_sigma: (nb,) their standard deviations.
        prediction: on all the recording; validation: on a test, or on the last part by a robot
            identified from the rest; None if there was none.
        alignment: tilt and delay, zero where they are not clear of zero.
        notes: what a person should know.
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
    unexplained: InvalidData | NotEnoughData | None

    @property
    def model(self) -> RobotModel:
        """With the gravity that was found."""
        return self.fit.model

    @property
    def drives(self) -> Drives | None:
        """Gains with which currents became torques; None: efforts are torques."""
        return self.robot.currents

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


def identify_described_robot(urdf: str, recorded: Sequence[JointRecording],
                             request: Request | None = None,
                             tests: Sequence[JointRecording] = ()) -> RobotResult:
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
    samples = _load(level, recorded, tests, asked)
    start = RowFilter(samples.whole, 0.0, asked.low_pass)
    notes = check_motion(level, start, asked.low_pass) + check_description(level)
    followed = check_efforts(level, samples.whole, asked.low_pass)
    drives = _find_gains(level, start, samples, asked)
    if drives is not None:
        samples, followed = samples.times(drives.gain), followed.times(drives.gain)
        start = RowFilter(samples.whole, 0.0, asked.low_pass)
    notes += check_scale(level, samples.whole.effort, followed)
    alignment = _align(level, start, asked, notes)
    filtered = RowFilter(samples.whole, alignment.delay, asked.low_pass)
    model = level.with_gravity(alignment.gravity)
    if asked.terms is None:
        model = with_all_terms(model, filtered, samples.first(filtered))
    rows, base = filtered.rows(model), structural_base_parameters(level.with_terms(model.terms))
    bounds, spread = Bounds.from_mapping(asked.constraints), drives and drives.spread
    fit = fit_robot(rows, base, asked.method, bounds, asked.prior_weight, spread)
    validation = None
    if samples.test is not None:
        test = RowFilter(samples.test, alignment.delay, asked.low_pass).rows(model)
        validation = fit.predict(test)
    elif samples.cut is not None:
        before, after = filtered.split(samples.cut)
        first = fit_robot(rows[before], base, asked.method, bounds, asked.prior_weight)
        validation = first.predict(rows[after])
    return _result(fit, rows, level, followed, validation, alignment, drives, asked, notes)


class _Samples(NamedTuple):
    """What the robot is identified from; recordings for the test, or when it begins [ns]."""

    whole: JointRecording
    test: JointRecording | None
    cut: int | None

    def times(self, gain: Array) -> _Samples:
        """With torques in place of currents."""
        return self._replace(whole=self.whole.times(gain), test=self.test and self.test.times(gain))

    def first(self, filtered: RowFilter) -> slice:
        """The rows of the whole before the test."""
        return slice(None) if self.cut is None else filtered.split(self.cut)[0]


def _load(model: RobotModel, recorded: Sequence[JointRecording], tests: Sequence[JointRecording],
          asked: Request) -> _Samples:
    """The samples of the joints of a model, in the right unit."""
    parts, held = ([each.of_joints(model.joint_names) for each in some]
                   for some in (recorded, tests))
    for each in (*parts, *held):
        check_position_units(model, each.q)
    whole = JointRecording.join(parts)
    first, last = int(whole.stamps[0]), int(whole.stamps[-1])
    if tests:
        return _Samples(whole, JointRecording.join(held), None)
    if not asked.hold_back:
        return _Samples(whole, None, None)
    if len(parts) > 1:
        return _Samples(whole, None, int(whole.stamps[-len(parts[-1].stamps)]))
    return _Samples(whole, None, first + int((1.0 - asked.hold_back) * (last - first)))


def _find_gains(model: RobotModel, filtered: RowFilter, samples: _Samples, asked: Request
                ) -> Drives | None:
    """Gains of the drives: those that are given, or those that a payload of known mass tells of two
    recordings of currents, without and with it (raises InvalidSetting, NotEnoughData)."""
    if asked.loaded is not None and asked.payload_mass is not None:
        loaded = asked.loaded.of_joints(model.joint_names)
        check_position_units(model, loaded.q)
        with_drives = model.with_terms(JointTerms(drive_inertia=True))
        gain, spread = gains_from_payload(
            filtered.rows(with_drives)[samples.first(filtered)],
            RowFilter(loaded, 0.0, asked.low_pass).rows(with_drives), asked.payload_mass)
    elif asked.gains:
        gain = np.array(asked.gains)
        if len(gain) != model.nv or not (np.isfinite(gain).all() and (gain > 0.0).all()):
            raise InvalidSetting(f"gains are {', '.join(f'{g:g}' for g in gain)} N m/A; {model.nv} "
                                 f"positive numbers are needed, for {', '.join(model.joint_names)}")
        spread = asked.gain_error**2 * np.eye(model.nv)
    else:
        return None
    return Drives(gain, spread, np.zeros((0, model.nv)))


def _align(model: RobotModel, filtered: RowFilter, asked: Request, notes: list[str]) -> Alignment:
    """Tilt and delay of a recording; zero where they are not looked for, or cannot be found."""
    if asked.align:
        try:
            return align_recording(model, filtered)
        except (InvalidData, NotEnoughData) as error:
            notes.append(f"tilt and delay taken as zero: {error}")
    return Alignment(model.gravity)


def _result(fit: RobotFit, rows: Rows, level: RobotModel, followed: Followed,
            validation: Prediction | None, alignment: Alignment, drives: Drives | None,
            asked: Request, notes: list[str]) -> RobotResult:
    """The result, with what speaks against it."""
    model, prediction = fit.model, fit.predict(rows)
    notes += compare_with_description(fit)
    notes += [f"{share:.0%} of the torque of {name} is not explained" for name, share in zip(
        model.joint_names, prediction.shares, strict=True) if share > _UNEXPLAINED]
    variance = np.einsum("bp,pq,bq->b", fit.base.matrix, fit.covariance, fit.base.matrix)
    robot = IdentifiedRobot(model.joint_names, model.bodies, model.terms, model.gravity,
                            alignment.delay, asked.low_pass, fit.phi, fit.covariance, fit.noise,
                            drives and drives._replace(follow=fit.follow))
    unexplained = explain_failure(level, followed, [prediction, *([validation] if validation
                                                                  else [])],
                                  np.std(rows.regressor @ model.nominal, axis=0))
    return RobotResult(fit, robot, fit.base.matrix @ fit.phi, np.sqrt(np.maximum(variance, 0.0)),
                       prediction, validation, alignment, tuple(notes), unexplained)
