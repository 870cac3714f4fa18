# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The verdict on the first screen: what came out, why, and what to do about it.

Where nothing explains the wrench, other frames are tried: the sensor turned, gravity elsewhere. The
weight of any payload is a force of one length that keeps its direction in the room. Fits of
that alone, to readings over the recording, tell which of the frames is wrong: the force depends on
a turned sensor and on a wrong gravity frame in different ways as soon as the sensor turns about two
axes. Accelerations are left out, so this only finds large errors, and only a report says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from ...estimate import IDENTIFIED, UNOBSERVED, Estimate
from ...findings import Finding
from ...identification.accuracy_goal import name_motions
from ...inertia import Array
from ...kinematics.frame_shift import roll_pitch_yaw
from .results import (
    CONFIDENCE_95,
    FORCE,
    HeldOut,
    Identification,
    Trace,
    readings_at_poses,
    round_to_spread,
    summary,
    two_digits,
)

_LEAST_POSES = 8
_TURNED = 0.3  # share of the force's spread that turning of the sensor must cause
_UNEXPLAINED = 0.3  # share of that spread which a right set-up never leaves
_BETTER = 0.4  # of the residual of the declared frames, left by what is to be named
_AS_GOOD = 1.5  # times the least residual: as good an explanation
_STEEPEST = np.cos(np.deg2rad(10.0))  # a smaller tilt is no wrong frame


class Trial(NamedTuple):
    """A set-up that explains the force better than the declared one.

    Attributes:
        kind: "sensor", "gravity" or "transposed".
        text: what it is, in a sentence.
        before, after: rms of the force that declared and other frames leave [N].
    """

    kind: str
    text: str
    before: float
    after: float


def try_frames(trace: Trace, sign: float, sensor: str, gravity: str) -> Trial | None:
    """The other frames that explain the force of a recording; None where those declared do, or no
    others.

    Args:
        sign: of the reading against the force on the payload; sensor, gravity: names of frames.
    """
    _, rotations, readings = readings_at_poses(trace)
    force = sign * readings[:, :3]
    if len(force) < _LEAST_POSES:
        return None
    up = rotations[:, 2]
    spread = _rms(force - force.mean(axis=0))
    before = _fit_along(force, up)[0]
    if before < _UNEXPLAINED * spread or np.ptp(up, axis=0).max() < _TURNED:
        return None
    return explain_force(force, rotations, before, sensor, gravity)


def explain_force(force: Array, rotations: Array, before: float, sensor: str, gravity: str
                  ) -> Trial | None:
    """The other frames that explain a force (n, 3) [N] far better; None where none do.

    Args:
        rotations: (n, 3, 3) from the sensor to the gravity frame; before: what the declared frames
            leave [N]; sensor, gravity: names of frames.
    """
    up = rotations[:, 2]
    trials = [*_try_sensors(force, up, before, sensor),
              *_try_gravity(force, rotations, before, gravity),
              *_try_transposed(force, rotations, before, sensor)]
    # What two faults explain alike, as after a small motion, is likelier a sensor that is turned.
    simple = min(trials, key=lambda trial: trial.after * (
        1.0 if trial.kind == "sensor" else _AS_GOOD), default=None)
    any_turn = _turn_sensor(force, up, before, sensor)
    # A turn by any angle explains what quarter turns do, too: the simplest is the likeliest.
    best = (simple if simple and simple.after < _AS_GOOD * any_turn.after else any_turn)
    return best if best.after < _BETTER * before else None


def quarter_turns() -> Iterator[Array]:
    """The 23 turns (3, 3) by quarters that are none at all excepted."""
    for order, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3)):
        turn = np.zeros((3, 3))
        turn[range(3), order] = signs
        if np.linalg.det(turn) > 0.0 and not np.array_equal(turn, np.eye(3)):
            yield turn


def _try_sensors(force: Array, up: Array, before: float, sensor: str) -> Iterator[Trial]:
    """The sensor turned by quarters: its axes are the columns of the turn, in its frame."""
    for turn in quarter_turns():
        after, weight = _fit_along(force, up @ turn)
        if weight > 0.0:
            axes = ", ".join(_axis(column) for column in turn.T)
            yield Trial("sensor", "the force fits a payload if the axes x, y, z of the sensor lie "
                        f"along {axes} of frame '{sensor}' ({_rpy(turn)})", before, after)


def _try_gravity(force: Array, rotations: Array, before: float, frame: str) -> Iterator[Trial]:
    """Another direction of gravity in its frame: ``force = R' w + bias``, w (3,) free."""
    rows = np.zeros((len(force), 3, 6))
    rows[:, :, :3], rows[:, :, 3:] = np.swapaxes(rotations, 1, 2), np.eye(3)
    solution = np.linalg.lstsq(rows.reshape(-1, 6), force.ravel(), rcond=None)[0]
    up = solution[:3] / max(float(np.linalg.norm(solution[:3])), 1e-9)
    if up[2] < _STEEPEST:
        after = _rms(force - (rows @ solution).reshape(-1, 3))
        direction = ", ".join(f"{value + 0.0:.2f}" for value in np.round(up, 2))
        said = _axis(up) if np.abs(up).max() > _STEEPEST else f"({direction})"
        name = f"frame '{frame}'" if frame else "the gravity frame"
        yield Trial("gravity", f"the force fits a payload if up is along {said} of {name}, not "
                    "along its z axis", before, after)


def _try_transposed(force: Array, rotations: Array, before: float, sensor: str) -> Iterator[Trial]:
    """The rotation of the sensor read the wrong way round."""
    after, weight = _fit_along(force, rotations[:, :, 2])
    if weight > 0.0:
        yield Trial("transposed", "the force fits a payload if the rotation of frame "
                    f"'{sensor}' is transposed", before, after)


def _turn_sensor(force: Array, up: Array, before: float, sensor: str) -> Trial:
    """The sensor turned by any angle (Kabsch): ``force = w T' up + bias``, T the axes of the sensor
    in its frame."""
    across, along = force - force.mean(axis=0), up - up.mean(axis=0)
    u, _, vt = np.linalg.svd(along.T @ across)
    turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
    angles = np.round(np.rad2deg(roll_pitch_yaw(turn))) + 0.0
    return Trial("sensor", "the force fits a payload if the sensor is turned in frame "
                 f"'{sensor}' by roll {angles[0]:.0f}\u00b0, pitch {angles[1]:.0f}\u00b0, yaw "
                 f"{angles[2]:.0f}\u00b0 ({_rpy(turn)})", before, _fit_along(force, up @ turn)[0])


def _rpy(turn: Array) -> str:
    """A turn (3, 3) as a robot description has it [rad]."""
    return 'rpy="' + " ".join(f"{angle + 0.0:.3g}" for angle in roll_pitch_yaw(turn)) + '"'


def _fit_along(force: Array, up: Array) -> tuple[float, float]:
    """What a weight along directions (n, 3), with a bias, leaves of the force [N], and it [N]."""
    across, along = force - force.mean(axis=0), up - up.mean(axis=0)
    weight = float(np.sum(across * along) / max(np.sum(along**2), 1e-12))
    return _rms(across - weight * along), weight


def _rms(vectors: Array) -> float:
    """Root mean square length of vectors (n, 3)."""
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))


def _axis(direction: Array) -> str:
    """The signed axis nearest to a direction (3,)."""
    k = int(np.argmax(np.abs(direction)))
    return ("+" if direction[k] > 0.0 else "\u2212") + "xyz"[k]


GOOD, FAIR, BAD = "good", "fair", "bad"  # tones of the style
# Share of a recording, and time [s], without an estimate that are worth a word.
_LATE, _LATE_TIME = 0.3, 4.0


class Fault(NamedTuple):
    """A fault of the set-up or the recording, as findings name it.

    Attributes:
        names: names or kinds of the findings; said: what it is, in one sentence; mend: what to do.
    """

    names: tuple[str, ...]
    said: str
    mend: str


_FRAMES = Fault(
    ("frame_wrong", "load_unexplained.wrench"),
    "The sensor frame or the gravity frame does not match the wrench.",
    "Compare wrench.sensor_frame with the axes that are drawn on the sensor, and gravity.frame "
    "with the room: its z axis must point up. A rotation that is transposed looks the same.")
# The worst first: what comes later may follow from it. Errors go before what is not one.
FAULTS = (
    Fault(("several_publishers.wrench", "streams_mixed.wrench", "several_publishers.joints",
           "streams_mixed.joints"),
          "Two sources share one topic.",
          "Stop one of the publishers, or record each on a topic of its own."),
    Fault(("clocks_differ",), "The stamps of wrench and motion are of different clocks.",
          "Synchronise the clocks of both drivers (NTP, chrony); for this recording try "
          "identify_bag --stamps recorded."),
    Fault(("motion_stopped",), "The motion of the sensor is missing for part of the time.",
          "Look why joint states or transforms stop; record again while they come."),
    Fault(("wrong_units.wrench",), "The wrench is not in newtons and newton metres.",
          "Set the driver to N and N m, or convert its wrench."),
    Fault(("reference_contradicted",), "The mass is not the one that was weighed.",
          "Look at the units, the gain and the sign of the wrench, and at what its driver removes; "
          "or correct load.reference_mass."),
    Fault(("wrong_units.joints",), "The joint positions are not in radians and metres.",
          "Have the driver publish radians, or give the description of this robot."),
    Fault(("motion_slow",), "Joint states or transforms come too slowly.",
          "Raise their rate to 50 Hz or more."),
    Fault(("robot_description_invalid", "robot_description_invalid.frame"),
          "The robot description cannot be used.",
          "Correct it as the sentence above says."),
    Fault(("sensor_frame.shifted",), "The wrench is given in another frame than the one in use.",
          "Set wrench.sensor_frame to the frame in which the wrench is given, or set the TCP of "
          "the robot to zero."),
    Fault(("sensor_frame.unknown",), "It is not known where the frame of the wrench lies.",
          "Publish, or record, the transforms of the robot's driver (/tf), or a fixed transform to "
          "that frame."),
    Fault(("removed_payload.invalid",), "precompensated.* is no possible payload.",
          "Enter mass, centre of mass and inertia as they are configured on the robot."),
    Fault(("sign_wrong", "robot_wrong.mass"), "The wrench has the wrong sign.",
          "Set wrench.convention to the other value; nothing else needs to change."),
    _FRAMES,
    Fault(("robot_wrong", "load_unexplained.joints"), "No payload explains the joint torques.",
          "Give the file of this very robot in load.robot, or run identify_robot again; look "
          "whether anything touches the arm."),
    Fault(("payload_not_added",), "The robot may already remove a payload from this wrench.",
          "Name that payload in precompensated.*, or remove it on the robot; set "
          "precompensated.source to none for a sensor of its own."),
    Fault(("mass_at_bound",), "The mass is as large as estimator.max_mass allows.",
          "Raise estimator.max_mass, or look for what pulls at the payload."),
    Fault(("sensor_frame.replaced",), "It is not known where the frame of the wrench lies.",
          "Set wrench.sensor_frame to the frame that the messages name, or record the transforms "
          "of both."),
    Fault(("input_stuck.wrench",), "The wrench stood still while the arm moved.",
          "Look whether the sensor is connected and its driver runs; record again."),
    Fault(("payload_changed",), "The payload changed during the recording.",
          "The result is of the payload after the last change. For the one before it, end the "
          "recording before the change."),
    Fault(("zero_moved.wrench",), "The sensor was zeroed during the recording.",
          "The result is of the data since. Zero the sensor before the recording, not in it."),
    Fault(("estimate_lost",), "Payload or sensor changed, and no one payload explains all data.",
          "The result is of the data since. Record one payload at a time, and look at the mounting "
          "of sensor and payload."),
    Fault(("cable",), "A cable or hose pulls at the payload.",
          "Lead it along the arm, or fasten it before the sensor; then record again."),
    Fault(("not_rigid",), "A part of the payload swings by itself.",
          "Fasten what is loose, or move more slowly; the inertia of such a payload is not known."),
    Fault(("residual_large.base",), "The base of the robot moved.",
          "Name an IMU on it in base_imu.topic, or record where it stands."),
    Fault(("constant_force",), "Weight and inertia tell different masses.",
          "Look for a balancer or a hand that rests on the payload, and whether the robot "
          "description is this arm's; the interval of the mass holds both."),
    Fault(("payload_walks",), "The payload poured or slid during the recording.",
          "The result is of the end of the recording. Record a payload that does not change."),
    Fault(("hysteresis",), "The reading of the sensor lags behind the load.",
          "Load the sensor less, or use one of a larger range; look for parts that rub."),
    Fault(("shape_contradicted.com", "shape_contradicted.inertia"),
          "The shape that was given does not hold the payload that was found.",
          "Measure the shape again, in the axes of the sensor and in metres."),
    Fault(("translation_constant",), "",
          "Publish the position of the sensor too: joint states, or transforms with translation."),
    Fault(("input_stuck.joints",), "The joint states stand still while the wrench changes.",
          "Look whether the joint states are frozen, or something touches the arm at rest; record "
          "again."),
    Fault(("contact",), "Something touches the payload.",
          "Move clear of it; the data of the contact are left out."),
    Fault(("residual_large",), "The wrench does not fit one payload well.",
          "Look for contact, for another payload within the recording, and at the frames."),
)
# What the estimate allows for, so that it is right all the same.
ALLOWED_FOR = (
    Fault(("clock_offset",), "",
          "Let both drivers stamp with one clock: what uses the wrench live is off by as much."),
    Fault(("misaligned.rotation", "misaligned.gravity", "misaligned.position"), "",
          "Correct the robot description: other programs do not know of it."))
# What the estimate allows for by wider intervals, so that less is identified.
WIDENED = Fault(("residual_large.raised",), "More is left of the wrench than the sensor explains.",
                "Look for a cable or hose that pulls, for light contact, and whether wrench.sensor "
                "names the sensor.")
_LOOK_UP = "docs/troubleshooting.md says of each finding what to do; its sentence is above."
FRAME_MENDS = {
    "sensor": "Name the frame whose axes are those of the sensor in wrench.sensor_frame; if there "
              "is none, add one to the robot description, fixed to this frame with that rpy.",
    "gravity": "Name a frame whose z axis points up in gravity.frame, or give the mounting of the "
               "robot in the transforms above its base.",
    "transposed": "Publish the rotation of the sensor in its parent frame, not the reverse."}
_FRAMES_SAID = {
    "sensor": "The sensor is turned against its frame.",
    "gravity": "The gravity frame is wrong: its z axis does not point up.",
    "transposed": "The rotation of the sensor frame is transposed."}


class Diagnosis(NamedTuple):
    """The verdict.

    Attributes:
        tone: GOOD, FAIR or BAD; word: for those who do not see colours.
        said: what came out, in one sentence; reasons: why; mends: what to do.
    """

    tone: str
    word: str
    said: str
    reasons: tuple[str, ...]
    mends: tuple[str, ...]


def diagnose(result: Identification, trial: Trial | None, found: HeldOut | None) -> Diagnosis:
    """The verdict on a run.

    Args:
        trial: frames that explain the force better than those declared.
        found: what the estimate leaves of the wrench.
    """
    outcome = result.outcome
    fault, finding = _find_fault(result)
    said, mend = (fault.said, fault.mend) if fault else ("", "")
    reasons = [sentence(finding.text)] if finding else []
    if fault is _FRAMES and trial is not None:
        said, mend = _FRAMES_SAID[trial.kind], FRAME_MENDS[trial.kind]
        reasons = [f"{sentence(trial.text)[:-1]}: {two_digits(trial.after)} N are left then, where "
                   f"the declared frames leave {two_digits(trial.before)} N."]
    if finding and fault and fault.names[0] in ("payload_changed", "estimate_lost"):
        reasons += _earlier_payloads(result)
    mends = [mend] if mend else []
    if not isinstance(outcome, Estimate):
        silent = [topic for topic, count in result.counts.items() if count == 0]
        if fault is None and silent:
            said = f"Nothing is recorded on {' and '.join(silent)}."
            mends = ["Record these topics too, or name those that tell the same in wrench.topic, "
                     "joint_states.topic and tf.topic."]
        return Diagnosis(BAD, "No estimate", said or "The payload is not identified.",
                         tuple(reasons or [sentence(outcome.reason)]),
                         tuple(mends or ["Record longer, and tilt and turn the sensor more."]))
    late = _late_start(result)
    if late:
        reasons.append(late)
        mends.append("Record wrench and motion from the beginning on, and tilt and turn the "
                     "sensor soon.")
    return _judge_estimate(outcome, result, fault, found, said, reasons, mends)


def _judge_estimate(estimate: Estimate, result: Identification, fault: Fault | None,
                    found: HeldOut | None, said: str, reasons: list[str], mends: list[str]
                    ) -> Diagnosis:
    """The verdict on an estimate.

    Args:
        fault: of the run; said, reasons, mends: what there is to say of it.
    """
    known = _is_known(estimate)
    usable = UNOBSERVED not in estimate.verdict[:4]
    if found is not None:
        without, with_ = found.lengths(FORCE)
        reasons.append(f"On data that it had not seen, the estimate leaves {two_digits(with_)} N "
                       f"of force; without it there are {without:.3g} N.")
    notes = list(_allowed_for(result))
    reasons += [sentence(finding.text) for _, finding in notes]
    mends += dict.fromkeys(note.mend for note, _ in notes)
    reasons += [text for text in (sentence(f.text) for f in result.findings if f.name == "contact")
                if text not in reasons]
    if known and fault is None and not estimate.stale:
        return Diagnosis(GOOD, "Identified", "Mass, centre of mass and inertia are identified.",
                         tuple(reasons or [summary(estimate)]),
                         ("The payload can be used.", *mends) if mends else
                         ("Nothing; the payload can be used.",))
    if estimate.stale:
        said = said or "The estimate is held; the newest data could not be used."
        reasons += [sentence(estimate.stale_reason)] if estimate.stale_reason else []
    reasons.append(summary(estimate))
    if not known and (fault in (None, WIDENED) or fault.names[0] == "payload_changed"
                      or (not usable and not fault.said)):
        mends += [sentence(motion) for motion in name_motions(estimate)]
    word = "Identified, with a reservation" if known else (
        "Partly identified" if usable else "Not identified")
    said = said or ("Mass and centre of mass are identified; inertia is not." if usable else
                    f"The motion does not tell {_unknown(estimate)}.")
    return Diagnosis(FAIR if usable else BAD, word, said, tuple(reasons), tuple(mends))


def sentence(text: str) -> str:
    """A finding as a sentence."""
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "?")) else ".")


def _find_fault(result: Identification) -> tuple[Fault | None, Finding | None]:
    """The worst fault of a run, and the finding that names it."""
    last = {f.name: f for f in result.findings if _counts(f)}
    earlier = {f.name: f for item in result.history for f in item.findings if _counts(f)}
    has_estimated = any(isinstance(item.outcome, Estimate) for item in result.history)
    # What was found earlier and is over did not spoil the result, if there was one.
    present = last if has_estimated else earlier | last
    named = [(fault, finding) for fault in FAULTS for name in fault.names
             for finding in present.values() if finding.is_one_of([name])]
    errors = [pair for pair in named if pair[1].level == "error"]
    if errors:
        return errors[0]
    worst = next((f for f in result.findings if f.level == "error"), None)
    if worst is not None:
        return Fault((worst.name,), "The data cannot be used.", _LOOK_UP), worst
    if named:
        return named[0]
    raised = next((f for f in result.findings if f.name in WIDENED.names), None)
    if raised is None or (isinstance(result.outcome, Estimate) and _is_known(result.outcome)):
        return None, None
    return WIDENED, raised


def _unknown(estimate: Estimate) -> str:
    """What of mass and centre of mass is not identified."""
    named = {"mass": estimate.verdict[:1], "centre of mass": estimate.verdict[1:4]}
    return " and ".join(name for name, verdicts in named.items() if UNOBSERVED in verdicts)


def _is_known(estimate: Estimate) -> bool:
    """Whether all ten parameters are identified."""
    return all(v == IDENTIFIED for v in estimate.verdict)


def _allowed_for(result: Identification) -> Iterable[tuple[Fault, Finding]]:
    """What is wrong with the set-up although the estimate is right."""
    for fault in ALLOWED_FOR:
        for finding in result.findings:
            if finding.is_one_of(fault.names) and finding.level == "warning":
                yield fault, finding


def _counts(finding: Finding) -> bool:
    """Whether a finding speaks of a fault: a contact that is over, for instance, does not."""
    return finding.level != "info" or finding.name == "payload_changed"


def _late_start(result: Identification) -> str:
    """Why much of the recording passed without an estimate, in one sentence; else empty."""
    first = next((k for k, item in enumerate(result.history)
                  if isinstance(item.outcome, Estimate)), 0)
    if first == 0 or result.history[first].time < max(_LATE * result.duration, _LATE_TIME):
        return ""
    before = result.history[first // 2]  # in the midst of the time without
    assert not isinstance(before.outcome, Estimate)
    return (f"There was no estimate until {result.history[first].time:.1f} s of "
            f"{result.duration:.1f} s: {before.outcome.reason}.")


def _earlier_payloads(result: Identification) -> Iterable[str]:
    """The last estimate before each change, in words."""
    before: tuple[float, Estimate] | None = None
    for item in result.history:
        outcome = item.outcome
        if isinstance(outcome, Estimate) and not outcome.stale:
            before = item.time, outcome
        elif not isinstance(outcome, Estimate) and before is not None:
            mass, spread = round_to_spread(before[1].body.mass, CONFIDENCE_95 * before[1].sigma[0])
            yield f"Until {before[0]:.1f} s the mass was {mass} \u00b1 {spread} kg."
            before = None
