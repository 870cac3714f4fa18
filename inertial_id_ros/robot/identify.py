# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From recordings of joint torques or motor currents to a robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InvalidData, InvalidSetting, NotEnoughData
from ..inertia import Array, Body, body_from_phi, is_consistent
from .base_parameters import structural_base_parameters
from .calibration import (
    Alignment,
    align_recording,
    gains_from_payload,
    with_all_terms,
)
from .checks import (
    check_description,
    check_efforts,
    check_motion,
    check_position_units,
    compare_with_description,
    explain_failure,
)
from .constraints import Bounds
from .fit import METHODS, Prediction, RobotFit, fit_robot
from .model import GRAVITY, JointTerms, RobotModel
from .recording import LOW_PASS, JointRecording, RowFilter
from .robot_file import Drives, IdentifiedRobot

# Of data sheets and of controllers: those of a real UR10e differ from gains that were found with a
# known mass by 4 %.
GAIN_ERROR = 0.05
FADING = 0.01  # rad/s
_RANGES = {"low_pass": (0.02, 2.0), "hold_back": (0.0, 0.9), "coulomb_velocity": (0.0, 10.0),
           "prior_weight": (1e-9, 1e9), "gain_error": (0.0, 0.99), "payload_mass": (1e-3, 1e4)}


@dataclass(frozen=True)
class Request:
    """How a robot is to be identified.

    Attributes:
        joints: that move, the others locked at zero; empty: all.
        terms: of every joint; None: all, Coulomb friction fading below coulomb_velocity [rad/s].
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
        fit: parameters, and what the data say of the description.
        prediction: on all the recording; validation: on a test, or on the last part by a robot
            identified from the rest; None if there was none.
        alignment: tilt and delay, zero where they are not clear of zero.
        drives: gains with which currents became torques; None: efforts are torques.
        notes: what a person should know; unexplained: why this is no robot; None: it is one.
    """

    fit: RobotFit
    prediction: Prediction
    validation: Prediction | None
    alignment: Alignment
    drives: Drives | None
    notes: tuple[str, ...]
    unexplained: InvalidData | NotEnoughData | None

    @property
    def model(self) -> RobotModel:
        """With the gravity that was found."""
        return self.fit.model

    @property
    def robot(self) -> IdentifiedRobot:
        """What is kept in a file."""
        fit, model = self.fit, self.model
        return IdentifiedRobot(model.joint_names, model.bodies, model.terms, model.gravity,
                               self.alignment.delay, fit.phi, fit.covariance,
                               fit.noise, self.drives and self.drives._replace(follow=fit.follow))

    @property
    def beta(self) -> Array:
        """Base parameters (nb,)."""
        return self.fit.base.matrix @ self.fit.phi

    @property
    def beta_sigma(self) -> Array:
        """Their standard deviations (nb,)."""
        matrix = self.fit.base.matrix
        return np.sqrt(np.maximum(np.sum((matrix @ self.fit.covariance) * matrix, axis=1), 0.0))

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
    parts, held = _of_joints(level, recorded), _of_joints(level, tests)
    cut = None if held else _hold_back(parts, asked.hold_back)
    whole, low_pass = JointRecording.join(parts), asked.low_pass
    notes = check_motion(level, RowFilter(whole, 0.0, low_pass)) + check_description(level)
    drives = _find_gains(level, whole, cut, asked)
    if drives is not None:
        whole, held = whole.times(drives.gain), [each.times(drives.gain) for each in held]
    followed = check_efforts(level, whole, low_pass, notes)
    alignment = Alignment(level.gravity)
    if asked.align:
        try:
            alignment = align_recording(level, RowFilter(whole, 0.0, low_pass))
        except (InvalidData, NotEnoughData) as error:
            notes.append(f"tilt and delay taken as zero: {error}")
    filtered = RowFilter(whole, alignment.delay, low_pass)
    before, after = filtered.split(cut)
    model = level.with_gravity(alignment.gravity)
    if asked.terms is None:
        model = with_all_terms(model, filtered, before)
    rows = filtered.rows(model)
    how = (structural_base_parameters(level.with_terms(model.terms)), asked.method,
           Bounds.from_mapping(asked.constraints), asked.prior_weight)
    fit = fit_robot(rows, *how, drives and drives.spread)
    validation = None
    if held:
        validation = fit.predict(RowFilter(JointRecording.join(held), alignment.delay,
                                           low_pass).rows(model))
    elif cut is not None:
        validation = fit_robot(rows[before], *how).predict(rows[after])
    prediction = fit.predict(rows)
    unexplained = explain_failure(level, followed, [prediction, validation or prediction],
                                  np.std(rows.regressor @ model.nominal, axis=0))
    return RobotResult(fit, prediction, validation, alignment, drives,
                       (*notes, *compare_with_description(fit, prediction)), unexplained)


def _of_joints(model: RobotModel, recorded: Sequence[JointRecording]) -> list[JointRecording]:
    """The samples of the joints of a model, in the right unit (raises RecordingError, InvalidData).
    """
    parts = [each.of_joints(model.joint_names) for each in recorded]
    for each in parts:
        check_position_units(model, each.q)
    return parts


def _hold_back(parts: Sequence[JointRecording], share: float) -> int | None:
    """Stamp [ns] in the recordings, one after the other, where the test begins; None: nowhere."""
    if not share:
        return None
    whole = JointRecording.join(parts).stamps
    if len(parts) > 1:
        return int(whole[-len(parts[-1].stamps)])
    return int(whole[0]) + int((1.0 - share) * int(whole[-1] - whole[0]))


def _find_gains(model: RobotModel, whole: JointRecording, cut: int | None, asked: Request
                ) -> Drives | None:
    """Gains of the drives: those that are given, or those that a payload of known mass tells of two
    recordings of currents, without and with it (raises InvalidSetting, NotEnoughData)."""
    if asked.loaded is not None and asked.payload_mass is not None:
        with_drives = model.with_terms(JointTerms(drive_inertia=True))
        free, loaded = (RowFilter(each, 0.0, asked.low_pass) for each in (
            whole, *_of_joints(model, [asked.loaded])))
        return gains_from_payload(free.rows(with_drives)[free.split(cut)[0]],
                                  loaded.rows(with_drives), asked.payload_mass)
    if not asked.gains:
        return None
    gain = np.array(asked.gains)
    if len(gain) != model.nv or not (np.isfinite(gain).all() and (gain > 0.0).all()):
        raise InvalidSetting(f"gains are {', '.join(f'{g:g}' for g in gain)} N m/A; {model.nv} "
                             f"positive numbers are needed, for {', '.join(model.joint_names)}")
    return Drives(gain, asked.gain_error**2 * np.eye(model.nv))
