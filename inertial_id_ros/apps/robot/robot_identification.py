# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""From a recording of joint torques or motor currents to a robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...errors import InvalidData, InvalidSetting, NotEnoughData
from ...inertia import Array, Body, body_from_phi
from ...robot.base_parameters import BaseParameters, structural_base_parameters
from ...robot.consistent_fit import DescriptionDoubt, Identified
from ...robot.drive_gains import gains_from_payload
from ...robot.joint_terms import JointTerms
from ...robot.model import RobotModel
from ...robot.recording import (
    BREAK_NS,
    LOW_PASS,
    FilteredRecording,
    JointRecording,
    filter_recording,
)
from ...robot.robot_file import IdentifiedRobot, RobotCurrents, robot_model
from ...robot.tilt_and_delay import Alignment, align_recording
from .input_checks import (
    check_angles,
    check_description,
    check_gravity,
    check_joints_there,
    check_measured,
    check_motion,
    check_position_units,
    check_scale,
    find_mistake,
)
from .methods import Approach
from .recording_files import NamedRecording
from .robot_fit import (
    SMALLEST,
    RobotFit,
    compare_with_description,
    fit_robot,
    fit_unconstrained,
)
from .term_choice import TermChoice, choose_terms

# Of data sheets and of controllers: those of a real UR10e differ from gains that were found with a
# known mass by 4 % (docs/robot.md).
GAIN_ERROR = 0.05
# Gains of motors are 5 N m/A and more: efforts whose gains are as near to 1 are torques.
_NEAR_ONE = 0.25
_IS_ONE = 3.0  # standard deviations within which a gain is 1


@dataclass(frozen=True)
class Currents:
    """What is known about the drives of a robot.

    Attributes:
        gains: (joints,) [N m/A]; empty: found from the pair.
        gain_error: standard deviation of the given gains, relative, each joint's its own.
        loaded: recording with a payload on the last link, of this mass [kg].
    """

    gains: tuple[float, ...] = ()
    gain_error: float = GAIN_ERROR
    loaded: NamedRecording | None = None
    mass: float = 0.0


@dataclass(frozen=True)
class Drives:
    """Gains of a robot's drives.

    Attributes:
        gain: (joints,) [N m/A]; covariance: (joints, joints) of them.
    """

    gain: Array
    covariance: Array

    @property
    def spread(self) -> Array:
        """Covariance (joints, joints) of the relative errors of the gains."""
        return np.asarray(self.covariance / np.outer(self.gain, self.gain))

    def torques(self, recording: JointRecording) -> JointRecording:
        """A recording of currents as one of torques."""
        return JointRecording(recording.stamps, recording.q, recording.effort * self.gain)


def find_drives(currents: Currents, model: RobotModel, unloaded: JointRecording, low_pass: float
                ) -> Drives:
    """Gains of all drives: those that are given or, where `currents.loaded` is there, those that
    the payload of known mass tells of the two recordings, without and with it.

    Args:
        model: of the robot without payload; unloaded: its currents.
        low_pass: length of the low-pass [s].

    Raises:
        InvalidSetting: a number of gains that is not the number of joints, or one not positive; an
            error of the gains that is none.
        NotEnoughData: the pair does not determine the gains.
    """
    count = len(model.joint_names)
    if currents.loaded is None:
        gain = np.asarray(currents.gains, dtype=float)
        if gain.shape != (count,) or not (np.isfinite(gain).all() and (gain > 0.0).all()):
            raise InvalidSetting(f"gains are {', '.join(f'{g:g}' for g in currents.gains)} N m/A; "
                                 f"{count} positive numbers are needed, for "
                                 + ", ".join(model.joint_names))
        if not 0.0 <= currents.gain_error < 1.0:
            raise InvalidSetting(f"the error of the gains is {currents.gain_error:g}; allowed: 0 "
                                 "to less than 1, of themselves")
        return Drives(gain, np.diag((currents.gain_error * gain)**2))
    with_drives = model.with_terms(JointTerms(drive_inertia=True))
    pair = [filter_recording(with_drives, recording, 0.0, low_pass)
            for recording in (unloaded, currents.loaded.of_joints(model.joint_names))]
    try:
        found = gains_from_payload(with_drives, pair[0], pair[1], currents.mass)
    except NotEnoughData as error:
        raise NotEnoughData(f"motor currents: {error}; do both recordings move all joints, and "
                            "does only one hold the payload? (Torques need no payload.)") from error
    return Drives(found.gain, found.covariance)


def leave_out_unit_gains(drives: Drives) -> tuple[Drives | None, str]:
    """The drives, or None where their gains are 1 within their errors: the efforts are torques
    then; and what the user should know of gains near 1, or nothing."""
    gain = drives.gain
    off = np.abs(gain - 1.0)
    if off.max() > _NEAR_ONE:
        return drives, ""
    found = f"the gains that the payload tells are {gain.min():.2f} to {gain.max():.2f}: "
    if (off <= _IS_ONE * np.sqrt(np.diag(drives.covariance))).all():
        return None, found + "the efforts are torques, and were taken as they are"
    return drives, (found + "the efforts are torques whose scale is a little off, and were "
                    "corrected by them; to take them as they are, give no payload")


FADINGS = (0.0, 0.003, 0.01, 0.03, 0.1)  # rad/s that `find_coulomb_velocity` tries
_TINY = 1e-12  # N m
SPAN = 0.15  # s, over which speeds are taken
_CLEAR = 3.0  # standard deviations from which tilt and delay are believed
_UNEXPLAINED = 0.3  # share of the torque that may be left
_OF_A_JOINT = 0.5  # the same of one joint, if the description has _EXPECTED of its torque
_EXPECTED = 0.3
_SUSPECT = 0.05  # share of a joint's torque from which on mistakes are looked for


@dataclass(frozen=True)
class Prediction:
    """Torques of a recording against those of a robot, per joint (joints,) [N m].

    Attributes:
        torque: root mean square of the measured torque; error: of measured less predicted.
        time: (r,) [s]; measured: (r, joints) low-passed; left: (r, joints) measured less predicted.
    """

    torque: Array
    error: Array
    time: Array
    measured: Array
    left: Array

    @property
    def relative(self) -> float:
        """``|measured - predicted| / |measured|`` over all joints."""
        return float(np.linalg.norm(self.error) / max(float(np.linalg.norm(self.torque)), _TINY))

    @property
    def shares(self) -> Array:
        """The same of each joint (joints,)."""
        return np.asarray(self.error / np.maximum(self.torque, _TINY))


@dataclass(frozen=True)
class RobotResult:
    """What a recording says about a robot.

    Attributes:
        model: with the gravity that was found; robot: what is kept in a file.
        identified: parameters, sigma and shares; consistent: (bodies,) whether each body can exist.
        doubt: where the data contradict the description.
        base: base parameters of the level robot; beta: (nb,) and beta_sigma: (nb,) their values.
        prediction: on all the recording; validation: of the last part, by a robot identified from
        the rest; None if no part was held back.
        alignment: tilt and delay, zero where they are not clear of zero; None if not asked for.
        speeds: (joints,) largest of the recording [rad/s].
        notes: what a person should know.
        expected: (joints,) by how much the description's own torques vary, rms [N m].
        choice: of the joint terms; None if they were given.
        drives: gains with which currents became torques; None: efforts are torques.
        mistake: with which the recording was written, as it seems; empty: none.
    """

    model: RobotModel
    robot: IdentifiedRobot
    identified: Identified
    consistent: np.ndarray
    doubt: DescriptionDoubt
    base: BaseParameters
    beta: Array
    beta_sigma: Array
    prediction: Prediction
    validation: Prediction | None
    alignment: Alignment | None
    speeds: Array
    notes: tuple[str, ...]
    expected: Array
    choice: TermChoice | None = None
    drives: Drives | None = None
    mistake: str = ""

    @property
    def bodies(self) -> dict[str, Body]:
        """Mass [kg], centre of mass [m] and inertia about it [kg m^2] of each body, in the frame of
        its link. Joint torques tell base parameters only; the description says the rest."""
        return {name: body_from_phi(self.identified.phi[self.model.body_slice(name)])
                for name in self.model.bodies}

    def check_explained(self) -> None:
        """Raise NotEnoughData where the robot leaves much of the torque unexplained, InvalidData
        where a mistake in the recording is the reason."""
        if self.mistake:
            raise InvalidData(f"{self.mistake}: undone, the recording fits the robot description "
                              "far better")
        tests = [p for p in (self.prediction, self.validation) if p is not None]
        left = max(p.relative for p in tests)
        shares = np.max([p.shares for p in tests], axis=0)
        names = ", ".join(f"'{self.model.joint_names[j]}' ({shares[j]:.0%})"
                          for j in np.argsort(-shares)[:2] if shares[j] > _UNEXPLAINED)
        if left > _UNEXPLAINED:
            raise NotEnoughData(
                f"the robot description leaves {left:.0%} of the torque unexplained (at most "
                f"{_UNEXPLAINED:.0%} is accepted), most in {names}: are the efforts torques, in "
                "the order and with the sign of the joints, and does the arm move?")
        known = self.expected > _EXPECTED * self.prediction.torque
        wrong = known & (shares > _OF_A_JOINT)
        if wrong.any():
            raise NotEnoughData(
                f"most of the torque is unexplained of {names}, although the description alone "
                "asks for much of it: are these efforts torques, and of this joint?")


def identify_described_robot(urdf: str, recorded: NamedRecording | Sequence[NamedRecording],
                             joints: Sequence[str] = (),
                             terms: JointTerms | None = None, find_fading: bool = True,
                             gravity: Array | tuple[float, ...] = (0.0, 0.0, -9.81),
                             low_pass: float = LOW_PASS, aligned: bool = True,
                             held_back: float = 0.3, prior_weight: float = 1.0,
                             choose: bool = False, tests: Sequence[NamedRecording] = (),
                             currents: Currents | None = None, locked: bool = False,
                             approach: Approach | None = None) -> RobotResult:
    """Identify the robot of a description from one recording or several.

    Args:
        joints: that move, in the order of the description, the others locked at zero; empty: all.
        terms: of every joint; None: viscous and Coulomb friction, and an offset.
        choose: add the terms that the part not held back asks for, see `choose_terms`.
        find_fading: use the speed below which Coulomb friction fades that fits best, in place of
            the one of the terms.
        gravity: (3,) in axes of the description's root [m/s^2].
        held_back: part of the time at the end for the test, of several recordings the last one;
            0: none.
        tests: recordings that the robot is tested on and not identified from; none is held back
            then.
        currents: efforts are motor currents; None: they are torques. Gains are found from what is
            not held back.
        locked: without `joints`, lock those that the recording does not name.
        approach: method and what is known of the robot; None: `lmi`, bodies that exist.
        low_pass, aligned, prior_weight: as for `identify_robot`.

    Raises:
        InvalidModel: the description cannot be used, or lacks a joint.
        RecordingError: a recording lacks a joint.
        NotEnoughData: too little moves. InvalidData: efforts of a joint are not measured, or in
            another unit.
        InertialIdError: what `identify_robot` and `find_drives` raise.
    """
    sources = [recorded] if isinstance(recorded, NamedRecording) else list(recorded)
    moving, used = tuple(joints), terms if terms is not None else JointTerms()
    if not moving and sources[0].names:
        described = robot_model(urdf).joint_names
        check_joints_there(described, sources[0].names, locked)
        moving = tuple(n for n in described if n in sources[0].names)

    def make_model(fading: float) -> RobotModel:
        return robot_model(urdf, moving or None, replace(used, coulomb_velocity=fading), gravity)

    def samples_of(source: NamedRecording) -> JointRecording:
        return source.of_joints(model.joint_names)

    model = make_model(used.coulomb_velocity)
    parts = [samples_of(source) for source in sources]
    samples = JointRecording.join(parts)
    held_back = 0.0 if tests else _last_share(parts) if len(parts) > 1 and held_back else held_back
    first = samples.split(1.0 - held_back)[0] if held_back > 0.0 else samples
    test = JointRecording.join([samples_of(t) for t in tests]) if tests else None
    for source in (*sources, *tests, *([currents.loaded] if currents and currents.loaded else [])):
        check_position_units(model, *source.positions(model.joint_names))
    notes = check_motion(model, samples, low_pass)
    check_measured(model, samples)
    check_angles(model, samples, low_pass)
    drives = None if currents is None else find_drives(currents, model, first, low_pass)
    if drives is not None and currents is not None and currents.loaded is not None:
        drives, note = leave_out_unit_gains(drives)
        notes += [note] if note else []
    if drives is not None:
        samples, first = drives.torques(samples), drives.torques(first)
        test = test and drives.torques(test)
    notes += check_scale(model, samples, low_pass)
    check_gravity(model, samples, low_pass)
    notes += check_description(model)
    plain, fades = model, find_fading and used.coulomb
    if find_fading:
        model = make_model(find_coulomb_velocity(make_model, first, low_pass) if fades else 0.0)
    choice = None
    if choose:
        choice = _choose_terms(model, first, low_pass, aligned, fades)
        model = model.with_terms(choice.terms)
    result = identify_robot(model, samples, low_pass, aligned, held_back, prior_weight, test,
                            drives, approach)
    return replace(result, choice=choice, notes=(*notes, *result.notes),
                   mistake=_mistake_in(samples, plain, low_pass, result))


def _mistake_in(recording: JointRecording, model: RobotModel, low_pass: float,
                result: RobotResult) -> str:
    """A mistake in the recording that explains what its robot does not; empty: there is none.

    Args:
        model: with the usual terms.
    """
    def errors(part: JointRecording) -> Array:
        rows = filter_recording(model, part, 0.0, low_pass)
        return _predict_with(fit_robot(model, rows, model, 1.0), rows).error

    shares = result.prediction.shares
    if shares.max() < _SUSPECT:
        return ""
    return find_mistake(model, recording, low_pass, errors, np.argsort(-shares).tolist())


def _choose_terms(model: RobotModel, recording: JointRecording, low_pass: float, aligned: bool,
                  fades: bool) -> TermChoice:
    """The terms that a recording asks for, with the speed of fading that then fits best.

    Friction that falls off with speed, left out, looks like Coulomb friction that fades early, and
    the other way round: each is chosen again where the other has changed.
    """
    stands = _stand(model, recording, low_pass)[0] if aligned else None
    delay = 0.0 if stands is None else stands.delay
    leaning = model if stands is None else model.with_gravity(stands.gravity)
    tried: dict[object, TermChoice] = {}
    while True:
        speed = leaning.terms.coulomb_velocity
        tried[speed] = choice = choose_terms(leaning, recording, low_pass, delay)

        like = leaning.with_terms(choice.terms)
        found = find_coulomb_velocity(partial(_fade, like), recording, low_pass, delay
                                      ) if fades else speed
        if found in tried:
            return tried[found]
        leaning = leaning.with_terms(replace(leaning.terms, coulomb_velocity=found))


def _fade(model: RobotModel, speed: float) -> RobotModel:
    """A model with this speed of fading."""
    return model.with_terms(replace(model.terms, coulomb_velocity=speed))


def _last_share(parts: Sequence[JointRecording]) -> float:
    """Share of the time of joined recordings at the end of which the last one lies, with half the
    break before it."""
    joined = JointRecording.join(parts).stamps
    begin = joined[-len(parts[-1].stamps)] - BREAK_NS
    return float(joined[-1] - begin) / float(joined[-1] - joined[0])


def identify_robot(model: RobotModel, recording: JointRecording, low_pass: float,
                   aligned: bool = True, held_back: float = 0.3, prior_weight: float = 1.0,
                   test: JointRecording | None = None, drives: Drives | None = None,
                   approach: Approach | None = None) -> RobotResult:
    """Identify, and test on a part that was held back.

    The prior is the description, as far as the data do not contradict it.

    Args:
        low_pass: length of the filter [s]; aligned: find tilt and delay first.
        held_back: part of the time at the end for the test; 0: none.
        prior_weight: of the description, see `identify_described`.
        test: another recording to test the robot on.
        drives: with which currents became torques; None: efforts were torques.
        approach: see `fit_robot`.

    Raises:
        NotEnoughData: too short. InvalidData: see `align_recording` and `filter_recording`.
        InfeasibleProblem: the constraints contradict each other.
    """
    found, notes = _stand(model, recording, low_pass) if aligned else (None, [])
    delay = 0.0 if found is None else found.delay
    level = model
    model = model if found is None else model.with_gravity(found.gravity)

    def rows_of(part: JointRecording) -> FilteredRecording:
        return filter_recording(model, part, delay, low_pass)

    validation = None
    if held_back > 0.0:
        first, rest = recording.split(1.0 - held_back)
        validation = _predict_with(fit_robot(model, rows_of(first), level, prior_weight,
                                             approach=approach), rows_of(rest))
    rows = rows_of(recording)
    fitted = fit_robot(model, rows, level, prior_weight,
                       None if drives is None else drives.spread, approach)
    if test is not None:
        validation = _predict_with(fitted, rows_of(test))
    identified, covariance = fitted.described.identified, fitted.covariance
    notes += compare_with_description(model, fitted.described, covariance)
    explained = _predict_with(fitted, rows)
    notes += [f"{share:.0%} of the torque of {name} is not explained" for name, share in zip(
        model.joint_names, explained.shares, strict=True) if share > _OF_A_JOINT]
    base = structural_base_parameters(level)
    robot = IdentifiedRobot(model.joint_names, model.bodies, model.terms, model.gravity, delay,
                            low_pass, identified.phi, covariance, identified.noise,
                            None if drives is None else RobotCurrents(drives.gain, drives.spread,
                                                                      fitted.follow))
    spread = base.matrix @ covariance @ base.matrix.T
    return RobotResult(
        model, robot, identified, identified.consistent(len(model.bodies)),
        fitted.described.doubt, base,
        base.matrix @ identified.phi, np.sqrt(np.maximum(np.diag(spread), 0.0)),
        explained, validation, found,
        _largest_speeds(recording), tuple(notes),
        np.std(rows.regressor @ model.nominal, axis=0), drives=drives)


def _largest_speeds(recording: JointRecording) -> Array:
    """Largest speed (joints,) over `SPAN` [rad/s]."""
    t = recording.stamps * 1e-9
    last = np.searchsorted(t, t + SPAN)
    whole = last < len(t)
    first, last = np.flatnonzero(whole), last[whole]
    took = t[last] - t[first]
    near = took < 2.0 * SPAN  # not across a break
    if not near.any():
        return np.ones(recording.q.shape[1])
    moved = np.abs(recording.q[last[near]] - recording.q[first[near]]) / took[near, None]
    return np.maximum(moved.max(axis=0), 1e-6)


def _stand(model: RobotModel, recording: JointRecording, low_pass: float
           ) -> tuple[Alignment | None, list[str]]:
    """Tilt and delay of a recording, None where they cannot be found, and notes on that."""
    if not np.allclose(model.gravity[:2], 0.0):
        return None, ["tilt and delay taken as zero: gravity was given with a tilt"]
    try:
        free = fit_unconstrained(model, filter_recording(model, recording, 0.0, low_pass))
        found = align_recording(model, recording, low_pass=low_pass, weights=free.weights)
        return _keep_significant(found, model, recording, low_pass), []
    except (InvalidData, NotEnoughData) as error:
        return None, [f"tilt and delay taken as zero: {error}"]


def _keep_significant(found: Alignment, model: RobotModel, recording: JointRecording,
                      low_pass: float) -> Alignment:
    """The alignment, with tilt or delay of less than three standard deviations set to zero."""
    rows = filter_recording(model.with_gravity(found.gravity), recording, found.delay, low_pass)
    free = fit_unconstrained(model, rows)
    sigma = found.sigma * float(np.linalg.norm(free.noise) / np.linalg.norm(free.rms))
    leans = bool(np.linalg.norm(found.tilt / sigma[:2]) > _CLEAR)
    late = abs(found.delay) > _CLEAR * sigma[2]
    return Alignment(found.gravity if leans else model.gravity, found.delay if late else 0.0,
                     found.tilt if leans else np.zeros(2), sigma)


def find_coulomb_velocity(make_model: Callable[[float], RobotModel], recording: JointRecording,
                          low_pass: float, delay: float = 0.0) -> float:
    """The speed below which Coulomb friction fades that explains a recording best [rad/s].

    Args:
        make_model: the model for such a speed; delay: of the efforts [s].
    """
    scores = []
    for speed in FADINGS:
        model = make_model(speed)
        rows = filter_recording(model, recording, delay, low_pass)
        free = fit_unconstrained(model, rows)
        size = np.maximum(np.std(rows.effort, axis=0), 1e-9)
        # Of all rows alike: with weights, speeds win that call many rows doubtful.
        error = np.sqrt(np.mean((rows.effort - rows.regressor @ free.phi)**2, axis=0))
        scores.append(float(np.sum(np.log(np.maximum(error / size, SMALLEST)))))
    return FADINGS[int(np.argmin(scores))]


def predict(rows: FilteredRecording, phi: Array, weights: Array | None = None) -> Prediction:
    """How well parameters (p,) predict a recording whose rows have weights (r, joints)."""
    error = rows.effort - rows.regressor @ phi
    w = np.ones_like(error) if weights is None else weights
    total = np.sum(w**2, axis=0)
    return Prediction(np.sqrt(np.sum((w * rows.effort)**2, axis=0) / total),
                      np.sqrt(np.sum((w * error)**2, axis=0) / total), rows.time, rows.effort,
                      error)


def _predict_with(fitted: RobotFit, rows: FilteredRecording) -> Prediction:
    """How well a robot predicts a recording, rows near rest weighted as in its fit."""
    return predict(rows, fitted.described.identified.phi, fitted.weights(rows))
