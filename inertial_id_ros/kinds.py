# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Findings: what went wrong or deserves attention; and the table of their kinds.

Code names a kind and numbers, `made` writes the sentence; node, report, guide and docs read the
table. A finding of level ``info`` puts nothing in doubt. A name is a kind, and after a dot what it
is about, where that may be one of several (`samples_late.wrench`).

`withdraw_doubted` is the one rule for all who pass an estimate on: they follow `valid` and the
verdict, which are made there. `docs/make_troubleshooting_page.py` prints the table.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Flag, auto
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from .errors import printable
from .estimate import UNOBSERVED, Estimate, NoEstimate, Outcome, ParameterVerdict


class Doubt(Flag):
    """What a finding puts in doubt.

    MASS, COM, INERTIA: the number, which then counts as unobserved. FRAME: where and along which
    axes the numbers are given; an estimate in doubt of its frame is not valid. PRESENT: whether
    what is measured now is the payload alone; estimates from before are held, and nothing is
    applied meanwhile.
    """

    MASS = auto()
    COM = auto()
    INERTIA = auto()
    FRAME = auto()
    PRESENT = auto()


NOTHING, (MASS, COM, INERTIA, FRAME, PRESENT) = Doubt(0), Doubt
PLACE, EVERYTHING = COM | INERTIA | FRAME, MASS | COM | INERTIA | FRAME
STOPPING = PRESENT | FRAME  # no arm may go on moving by a program
LEVELS = ("info", "warning", "error")


class Finding(NamedTuple):
    """What the user should know; name: see the module; level: ``info``, ``warning`` or ``error``;
    text: one sentence."""

    name: str
    level: str
    text: str

    @property
    def kind(self) -> str:
        """The name without what it is about."""
        return self.name.partition(".")[0]


class Kind(NamedTuple):
    """A kind of finding.

    Attributes:
        level: ``info``, ``warning`` or ``error``.
        text: template of its sentence, see `str.format`; remedy: what a user does about it, empty:
            nothing.
        doubt: what it puts in doubt at other levels than ``info``.
    """

    level: str
    text: str
    remedy: str = ""
    doubt: Doubt = NOTHING


# Motions that tell what an estimate lacks.
TILT = "tilt the sensor by 20 to 30\u00b0 about two axes, for longer if it is noisy"
TURN = "turn the sensor quickly about all three axes, with changes of speed"

INPUTS = {
    "samples_invalid": Kind(
        "warning", "{about}: {count} samples are not usable (NaN, infinity, no rotation or no "
        "stamp) and are dropped", "look at the driver: some publish NaN until the sensor is ready"),
    "samples_saturated": Kind(
        "warning", "{about}: {count} samples are at the limit of the range and are dropped",
        "carry less, move more slowly, or take a sensor with more range; or correct wrench.range"),
    "samples_repeated": Kind(
        "info", "{about}: {count} samples have the stamp of another one; one is used"),
    "samples_reordered": Kind("info", "{about}: {count} samples came out of order and were sorted"),
    "samples_late": Kind(
        "warning", "{about}: {count} samples came after newer ones were used, and are dropped",
        "network or recording delays; a driver with two clocks"),
    "samples_missing": Kind("warning", "{about}: nothing for {seconds:.1f} s; left out",
                            "start its driver; check topic, cable, power, network, a busy machine"),
    "stamp_stray": Kind(
        "warning", "{about}: {count} stamps stray, stand still or are missing; these are dropped",
        "let the driver stamp when it measures, by one clock; use_sim_time for all or for none; "
        "identify_bag --stamps recorded"),
    "streams_mixed": Kind(
        "error", "{about}: readings alternate as of two publishers{where}; none of them is used",
        "one publisher only: `ros2 topic info -v` lists them", EVERYTHING),
    "clocks_differ": Kind(
        "error", "stamps of wrench and motion are {seconds:.1f} s apart",
        "NTP or chrony on both machines; no driver that stamps on arrival", EVERYTHING),
    "input_stuck": Kind(
        "warning", "{about}: the same to the last bit for {seconds:.1f} s of motion; left out",
        "the driver or its network hung; is the sensor connected?", PRESENT),
    "channel_dead": Kind(
        "error", "channel {about} of the wrench never changes, while others do",
        "look at the driver, and at the cable of the sensor", EVERYTHING),
    "motion_frozen": Kind("warning", "{about}: still for {seconds:.1f} s while the wrench moved; "
                          "left out", "the driver or its network hung"),
    "motion_slow": Kind(
        "warning", "the motion comes at {rate:.0f} Hz, too slow for accelerations",
        "raise the rate of the driver (update_rate, publish_rate) to 50 Hz or more", INERTIA),
    "translation_constant": Kind(
        "warning", "transforms turn the sensor and never move it: no inertia, no sure centre of "
        "mass", "give /robot_description and joint states", COM | INERTIA),
    "joint_states_incomplete": Kind(
        "warning", "{count} messages lack a joint that moves the sensor, its position or effort",
        "harmless where another message brings it; else correct the driver or joint_states.topic"),
    "pose_misfit": Kind(
        "warning", "poses {rows} do not fit the others: {force:.2g} N, {torque:.2g} N m off; left "
        "out", "measure these again, at rest, touching nothing"),
    "message_malformed": Kind(
        "warning", "{count} messages cannot be decoded: {why}",
        "a damaged recording, or a type that only has the same name"),
    "wrong_units": Kind(
        "error", "{about}: wrong units: {why}",
        "correct driver, description, or the header of a table: tx [N mm]", EVERYTHING),
    "robot_description_invalid": Kind(
        "error", "the robot description cannot be used: {why}",
        "start robot_state_publisher with that of this robot, or set robot_description.file; check "
        "wrench.sensor_frame and gravity.frame", EVERYTHING),
    "sensor_frame": Kind(
        "warning", "frame of the wrench: {why}", "set wrench.sensor_frame, and publish or record "
        "the transforms that place it; or set the TCP of the robot to zero", PLACE),
}

SETUP = {
    "sign_wrong": Kind(
        "error", "the best mass is {mass:.2f} kg: the wrench has the opposite sign, or the driver "
        "compensates more than is carried", "set wrench.convention to the other sign; or set "
        "precompensated.*, or the payload on the robot to 0", EVERYTHING),
    "frame_wrong": Kind(
        "error", "the wrench does not turn as its frames do: {why}",
        "correct driver or frame, and run again with the same data", EVERYTHING),
    "reference_contradicted": Kind(
        "error", "the best mass is {mass:.3f} kg, load.reference_mass is {reference:.3f} kg: "
        "{ratio:.3g} times as much", "correct load.reference_mass, units, gain or sign "
        "of the wrench, or precompensated.*; is this the body?", EVERYTHING),
    "shape_contradicted": Kind(
        "warning", "no body in the shape fits: the nearest is {deviations:.0f} deviations off",
        "correct shape.*", MASS | COM | INERTIA),
    "load_unexplained": Kind(
        "warning", "nothing has explained the wrench for {seconds:.0f} s: {force:.2g} N remain",
        "is anything touching the payload? check sensor frame and gravity frame", PRESENT),
    "robot_wrong": Kind(
        "error", "no payload explains the joint torques well: {why}", "is anything touching the "
        "arm? check wrench.sensor_frame; run identify_robot again", EVERYTHING),
    "clock_offset": Kind(
        "info", "stamps of the wrench are late by {milliseconds:.0f} ms; taken into account",
        "let the driver of the wrench, or of the joints, stamp samples when it takes them"),
    "wrench_filtered": Kind(
        "info", "the sensor filters its readings: {cutoff:.2g} Hz, order {order:.0f}; allowed for"),
    "base_moves": Kind(
        "warning", "the base of the robot moves (AGV, crane): accelerations of {acceleration:.2g} "
        "m/s^2 rms, allowed for", "identify while the base stands still"),
    "bias_drifts": Kind(
        "warning", "the zero of the sensor drifts by {force_rate:.2g} N, {torque_rate:.2g} N m a "
        "minute", "let the sensor warm up; look for a loose mount or changing temperatures"),
    "hysteresis": Kind(
        "warning", "the reading lags behind its own changes by {share:.1%} of them; intervals are "
        "wider", "tighten the mounting, or use a sensor with less hysteresis"),
    "cable": Kind(
        "warning", "something pulls towards one point of the room with {tension:.2g} N; intervals "
        "are wider", "lead cables and hoses along the arm"),
    "constant_force": Kind(
        "warning", "a force of {force:.2g} N is constant in the room; the interval of the mass "
        "allows for it", "look for a balancer or a hand; check the robot description"),
    "removed_payload": Kind(
        "warning", "the driver compensates {mass:.3f} kg; what is published is the sum",
        "remove the payload on the robot, or set precompensated.* to it: results are better then"),
    "payload_not_added": Kind(
        "warning", "payload compensated by the driver: {why}",
        "set precompensated.*, or remove the payload on the robot", MASS | COM | INERTIA),
}

PAYLOAD = {
    "contact": Kind(
        "warning", "the wrench has not fitted the payload for {seconds:.1f} s: something is "
        "touched; that time is left out ({count} so far)",
        "move freely, so that contact and payload can be told apart", PRESENT),
    "payload_changed": Kind(
        "info", "the payload changed by {change:+.2f} kg; data from before are dropped ({count} so "
        "far)", "move, so that it becomes known"),
    "zero_moved": Kind(
        "info", "{about}: the zero moved ({count} so far)", "tare or zero at rest only"),
    "zero_or_contact": Kind(
        "warning", "a constant offset in the axes of the sensor: a contact that moves with it, or "
        "another zero; it stays in the compensated wrench", "~/reset if the sensor was zeroed"),
    "payload_walks": Kind(
        "info", "mass or centre of mass are changing slowly; the estimate is the present one"),
    "not_rigid": Kind(
        "warning", "{share:.0%} of the payload swing at {frequency:.1f} Hz; the inertia is unknown",
        "move more slowly, fill up or fasten what is loose; stiffen the mount", INERTIA),
    "estimate_lost": Kind(
        "warning", "nothing explained the wrench for long; all data are dropped", "move freely"),
    "tare_not_used": Kind(
        "warning", "the tare is not used: {why}", "tare again, at rest, nothing attached"),
}

CHECKS = {  # of identify_payload, beside the others
    "sensor_noisy": Kind("warning", "the sensor is noisier than its data sheet says",
                         "shield its cable, stiffen its mount, or correct wrench.sensor"),
    "arm_moves": Kind("warning", "the arm moves", "stop the program that moves it"),
    "motion_forbidden": Kind("warning", "motion.execute is false",
                             "set it (ros2 param), or move by hand: --no-motion"),
    "controller_missing": Kind(
        "warning", "no single controller takes trajectories of the joints that move the sensor",
        "start it (ros2 control switch_controllers; UR: joint_trajectory_controller, with External "
        "Control), name it (--controller), or move by hand: --no-motion"),
    "robot_stopped": Kind("warning", "the robot may not move", "clear the stop on the teach "
                          "pendant, raise its speed slider, start its program"),
}

RUN = {
    "reset": Kind("info", "data were dropped: {why}"),
    "file_failed": Kind(
        "warning", "a file cannot be used: {why}",
        "disk, permissions of state.directory; set tool and tare again"),
}

SECTIONS = {"Inputs": INPUTS, "Frames, signs, set-up": SETUP, "Payload, zero, contact": PAYLOAD,
            "Checks": CHECKS, "Estimate and node": RUN}
KINDS: dict[str, Kind] = {name: kind for kinds in SECTIONS.values() for name, kind in kinds.items()}
# What `why` says: by the word that code gives for it, or by the name; other texts are of errors.
WHY = {
    "frame_wrong": "{share:.0%} of the force remain",
    "frame_wrong.axes_mirrored": "{axes} are mirrored (left-handed axes); turn them in the driver",
    "frame_wrong.wrench_in_base_axes": "it is in axes of the base; the driver must turn it",
    "frame_wrong.sensor_turned": "the sensor is turned by roll {roll:.0f}, pitch {pitch:.0f}, yaw "
    "{yaw:.0f} deg against its frame; turn that, or set wrench.sensor_frame",
    "frame_wrong.gravity_elsewhere": "up is ({x:.3f}, {y:.3f}, {z:.3f}) in axes of the base, not z "
    "(robot on a wall, a slope); set gravity.frame to a frame whose z axis points up",
    "gravity_reversed": "up is -z of the base (robot on a ceiling): set gravity.frame; or the "
    "driver compensates more than is carried, which looks alike: set precompensated.*",
    "frame_wrong.quaternion_order": "orientations have w first; their order is x, y, z, w",
    "frame_wrong.poses_inverted": "poses are those of the base in the sensor; invert them",
    "wrong_units.joints": "positions of two joints are over three turns: they are in degrees",
    "other_units": "forces and torques seem to be in {units}; they must be in N and N m",
    "too_heavy": "forces and torques fit {mass:.3g} kg; they must be in N and N m",
    "beyond_range": "most readings are far beyond wrench.range; they must be in N and N m",
    "nothing_left": "the mass fits as {mass:.3f} kg, as if the driver compensates all of it",
    "loaded": "readings contradict it; was a payload attached, or the sensor zeroed since?",
    "stated": "{topic} states {mass:.3f} kg, compensated in the wrench of its driver (is it this "
    "one: precompensated.source={source}, precompensated.topic={topic}; else source=none)",
    "clock_back": "stamps went back, as of a clock that was set",
    "frame_unplaced": "messages name '{said}', which no transform places; '{used}' is used instead",
    "robot_wrong": "{times:.0f} times the noise of the identified robot remain in '{joint}'",
    "robot_wrong.residual": "{times:.0f} times its noise remain in '{joint}': contact, friction?",
    "robot_wrong.mass": "the best mass is {mass:.3f} kg; was the robot identified with a payload?",
    "robot_wrong.sign": "efforts of {joints} have the opposite sign of those that move the robot"}
MILD = ("sensor_frame.replaced", "robot_wrong.residual")  # as asked for; it doubts but little
# Names whose samples are left out before anything is made of them.
_LEFT_OUT = ("streams_mixed.joints", "streams_mixed.transforms")


def made(name: str, known: Mapping[str, Any] | None = None, **numbers: Any) -> Finding:
    """The finding of a name with these numbers in its sentence; usual ones may be lacking.

    Raises:
        KeyError: there is no such kind, or its sentence needs another number.
    """
    kind, _, about = name.partition(".")
    row = KINDS[kind]
    given = {"about": about, "why": "", "where": "", "seconds": 0.0, **(known or {}), **numbers}
    if why := WHY.get(given["why"] or name):
        given["why"] = why.format(**given)
    text = printable(row.text.format(**given))  # it may hold names from outside
    return Finding(name, "info" if name in MILD else row.level, text)


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings, errors first."""
    return tuple(sorted(findings, key=lambda f: -LEVELS.index(f.level)))


def doubt_of(finding: Finding) -> Doubt:
    """What a finding puts in doubt."""
    if finding.level == "info" or finding.name in _LEFT_OUT or finding.kind not in KINDS:
        return NOTHING
    return KINDS[finding.kind].doubt


def doubt_in(findings: Iterable[Finding]) -> Doubt:
    """All that these findings put in doubt."""
    return reduce(or_, map(doubt_of, findings), NOTHING)


def doubting_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that put something in doubt: those that must stop an arm first, of each errors
    first."""
    doubting = [f for f in sort_findings(findings) if doubt_of(f)]
    return tuple(sorted(doubting, key=lambda f: not doubt_of(f) & STOPPING))


def first_doubt(findings: Iterable[Finding], doubt: Doubt) -> Finding | None:
    """The worst finding that puts this in doubt; None: there is none."""
    return next((f for f in sort_findings(findings) if doubt_of(f) & doubt), None)


def withdraw_doubted(outcome: Outcome, findings: Sequence[Finding]) -> Outcome:
    """The outcome as it may be passed on: no estimate where its frame is in doubt, and parameters
    in doubt as unobserved."""
    if not isinstance(outcome, Estimate):
        return outcome
    framed = first_doubt(findings, FRAME)
    if framed is not None:
        return NoEstimate(outcome.stamp_ns, outcome.frame_id, framed.text, outcome.findings,
                          is_finding=True)
    worst = first_doubt(findings, MASS | COM)
    return replace(outcome, verdict=without_doubted(outcome.verdict, doubt_in(findings)),
                   doubted=outcome.doubted if worst is None else worst.text)


def without_doubted(verdict: Sequence[ParameterVerdict], doubt: Doubt
                    ) -> tuple[ParameterVerdict, ...]:
    """The verdicts (10,), UNOBSERVED where there is a doubt."""
    flags = (MASS, *3 * [COM], *6 * [INERTIA])
    return tuple(UNOBSERVED if flag in doubt else v for v, flag in zip(verdict, flags, strict=True))


def with_findings(outcome: Outcome, findings: Sequence[Finding]) -> Outcome:
    """The outcome with these findings, and without what they put in doubt."""
    texts = tuple(finding.text for finding in findings)
    return withdraw_doubted(replace(outcome, findings=texts), findings)
