# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The checks of a set-up at rest: all that can be told before anything moves.

A check looks at numbers of its own, and at the findings that the node has made of the same data:
where there is one that is more than information, its sentence is what was measured. Sign, frame and
gravity are open here; `by_motion` judges them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...findings import Finding
from ...settings import Settings
from ..report.diagnosis import advice_of
from .received import Stream
from .record import Row, Verdict

LEAST_RATE = 50.0  # Hz; fewer samples do not tell accelerations well
_LATEST, _EARLIEST = 0.5, -0.05  # s from a stamp to its arrival
_APART_SDS = 2.0  # standard deviations of the clocks' offset (alignment.delay_sd)
_NOISY = 3.0  # times the noise of the data sheet
_NEAR_RANGE = 0.9  # share of the range
_REST_SPEED = 0.02  # rad/s or m/s
_SAME_POSITION = 0.02  # rad or m between two that tell the same joint
_FULL_SPEED = 0.995
_NAMED = 6  # names in a sentence
PASSED, OPEN, FAILED = Verdict.PASSED, Verdict.OPEN, Verdict.FAILED


@dataclass(frozen=True)
class Controller:
    """A controller that takes trajectories.

    Attributes:
        name: of its action, without /follow_joint_trajectory.
        joints: that it moves; empty: it does not tell.
        positions: where it believes each of them to be [rad or m]; empty: it does not tell.
    """

    name: str
    joints: tuple[str, ...] = ()
    positions: tuple[float, ...] = ()


@dataclass(frozen=True)
class Driver:
    """What the robot's driver tells of itself; None: it does not tell.

    Attributes:
        payload: mass that is configured on the robot [kg].
        stopped: why the robot may not move, in words; empty: it may.
        speed: share of the programmed speed at which it moves.
    """

    payload: float | None = None
    stopped: str | None = None
    speed: float | None = None


class Scene(NamedTuple):
    """The planning scene.

    Attributes:
        names: of its objects; unknown: why they are not known, problem: why they cannot be kept
        clear, in words; empty: they are, and can.
        attached: names of objects that the robot carries.
    """

    names: tuple[str, ...] = ()
    unknown: str = ""
    problem: str = ""
    attached: tuple[str, ...] = ()


NO_SCENE = Scene(unknown="no planning scene is published: only what --keep-out and --floor tell is "
                 "kept clear")


@dataclass(frozen=True, eq=False)
class Seen:
    """Everything that the check looks at.

    Attributes:
        seconds: how long it was listened.
        wrench, joints, transforms: the streams; rows of joints are positions by `names`.
        chain: joints that move the frame of the wrench, root to tip; empty: not known.
        beyond: joints of the description that move something behind that frame.
        missing: why the motion of the sensor is not known, in words; empty: it is.
        has_description: whether a robot description was received.
        is_simulated: whether time comes from /clock.
        findings: of the node.
        controllers: that take trajectories; wrench_topics: other topics of wrenches.
        scene: the planning scene.
    """

    seconds: float
    wrench: Stream
    joints: Stream
    transforms: Stream
    chain: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    missing: str = ""
    has_description: bool = True
    is_simulated: bool = False
    findings: tuple[Finding, ...] = ()
    controllers: tuple[Controller, ...] = ()
    wrench_topics: tuple[str, ...] = ()
    driver: Driver = Driver()
    scene: Scene = NO_SCENE


class Check(NamedTuple):
    """One check: its row, and the findings of the node that make it wrong.

    Attributes:
        look: makes the row of what was seen.
        findings: names or kinds of findings about the same.
    """

    look: Callable[[Seen, Settings], Row]
    findings: tuple[str, ...] = ()


def check_at_rest(seen: Seen, settings: Settings, may_move: bool = True) -> tuple[Row, ...]:
    """The table of all checks at rest, in the order in which a person mends them.

    Args:
        may_move: whether the arm is to be moved by this program, so that a controller is needed.
    """
    checks = CHECKS + (CONTROLLER_CHECKS if may_move else ())
    return tuple(_judge(check, seen, settings) for check in checks)


def _judge(check: Check, seen: Seen, settings: Settings) -> Row:
    """The row of a check; a finding of the node goes before what was measured here."""
    row = check.look(seen, settings)
    finding = next((f for f in seen.findings
                    if f.is_one_of(check.findings) and f.level != "info"), None)
    if finding is None or row.verdict is FAILED:
        return row
    return row._replace(verdict=FAILED, measured=finding.text, advice=advice_on(finding))


def advice_on(finding: Finding) -> str:
    """What to do about a finding."""
    return advice_of(finding) or f"See '{finding.name}' in docs/troubleshooting.md."


# ---- the sensor ----------------------------------------------------------------------------------


def _wrench_arrives(seen: Seen, _: Settings) -> Row:
    advice = ("Start the driver of the sensor, look at its cable and power, or name its topic in "
              "wrench.topic.")
    if seen.wrench_topics:
        advice += f" Wrenches come on: {_listed(seen.wrench_topics)}."
    return _rate_row("wrench arrives", seen.wrench, seen.seconds, advice)


def _wrench_lives(seen: Seen, _: Settings) -> Row:
    name, expected = "sensor is connected", "readings that change in their last digits"
    rows = seen.wrench.rows
    if len(rows) < 2:
        return Row(name, OPEN, "no reading", expected)
    still = np.ptp(rows, axis=0) == 0.0
    if still.all():
        what = "zero" if not rows.any() else "the same to the last bit"
        return Row(name, FAILED, f"all six channels are {what} in {len(rows)} readings", expected,
                   "Look at the cable and the power of the sensor: its driver repeats an old value "
                   "or none. Restart the driver.")
    if still.any():
        dead = ", ".join(np.array(CHANNELS)[still])
        return Row(name, FAILED, f"{dead} never changes in {len(rows)} readings", expected,
                   "The channel is broken, saturated or not wired: look at the sensor.")
    return Row(name, PASSED, f"all six channels change in {len(rows)} readings", expected)


def _range(seen: Seen, settings: Settings) -> Row:
    name, wrench = "range of the sensor", settings.wrench
    if not len(seen.wrench):
        return Row(name, OPEN, "no reading", "below 90 % of the range")
    largest = np.abs(seen.wrench.rows).reshape(-1, 2, 3).max(axis=(0, 2))
    measured = f"at most {largest[0]:.1f} N and {largest[1]:.2f} N m"
    if not (wrench.force_range and wrench.torque_range):
        return Row(name, OPEN, measured, "below the range, which is not known",
                   "Name the sensor (wrench.sensor, or the option --sensor), or set "
                   "wrench.range.")
    expected = (f"below {_NEAR_RANGE * wrench.force_range:.0f} N and "
                f"{_NEAR_RANGE * wrench.torque_range:.1f} N m, 90 % of the range")
    used = largest / (wrench.force_range, wrench.torque_range)
    if used.max() >= _NEAR_RANGE:
        return Row(name, FAILED, f"{measured}: {100 * used.max():.0f} % of the range", expected,
                   "Take the load off, zero the sensor without load, or use one with more range. "
                   "Is something pressing on it?")
    return Row(name, PASSED, measured, expected)


def _noise(seen: Seen, settings: Settings) -> Row:
    name, wrench = "noise at rest", settings.wrench
    expected = (f"at most {_NOISY * wrench.force_noise:.2g} N and "
                f"{_NOISY * wrench.torque_noise:.2g} N m, three times the data sheet")
    if len(seen.wrench) < 10 or _fastest(seen.joints)[0] > _REST_SPEED:
        return Row(name, OPEN, "not measured at rest", expected)
    # Half of the mean square of differences is the variance, whatever drifts.
    noise = np.sqrt(0.5 * np.mean(np.diff(seen.wrench.rows, axis=0)**2, axis=0)).reshape(2, 3)
    force, torque = noise.max(axis=1)
    measured = f"{force:.2g} N and {torque:.2g} N m"
    if force > _NOISY * wrench.force_noise or torque > _NOISY * wrench.torque_noise:
        return Row(name, FAILED, measured, expected,
                   "Shield the cable and stiffen the mounting; or name the right sensor "
                   f"(wrench.sensor is '{wrench.sensor}').")
    return Row(name, PASSED, measured, expected)


# ---- the motion ----------------------------------------------------------------------------------


def _joints_arrive(seen: Seen, settings: Settings) -> Row:
    if settings.kinematics.source == "tf" or (not len(seen.joints) and len(seen.transforms)):
        return _rate_row("transforms arrive", seen.transforms, seen.seconds,
                         "Publish the joint states, or transforms at 50 Hz or more.")
    return _rate_row("joint states arrive", seen.joints, seen.seconds,
                     "Start the joint_state_broadcaster, or name the topic in "
                     "joint_states.topic.")


def _description(seen: Seen, settings: Settings) -> Row:
    name, expected = "robot description", "a description that holds the frame of the wrench"
    if not seen.missing:
        return Row(name, PASSED, f"{len(seen.chain)} joints move the sensor" if seen.chain else
                   "the motion comes from transforms", expected)
    if seen.has_description and not (len(seen.wrench) or settings.wrench.sensor_frame):
        return Row(name, OPEN, "no wrench names its frame", expected)
    return Row(name, FAILED, seen.missing if seen.has_description else "none was received",
               expected,
               "Start the robot_state_publisher, or name a file in robot_description.file; set "
               "wrench.sensor_frame to the frame at the sensor."
               if not seen.has_description else
               "Set wrench.sensor_frame to the frame of the description that lies at the sensor.")


def _joint_names(seen: Seen, _: Settings) -> Row:
    name, expected = "joint names", "all joints that move the sensor, once each"
    if not seen.chain or not seen.joints.names:
        return Row(name, OPEN, "not known", expected)
    absent = [joint for joint in seen.chain if joint not in seen.joints.names]
    if absent:
        return Row(name, FAILED, f"{_listed(absent)} of the description is not among the joint "
                   f"states, which hold {_listed(seen.joints.names)}", expected,
                   "Use the description of this robot (prefix, hand), or have the driver publish "
                   "these names.")
    return Row(name, PASSED, f"{len(seen.chain)} of {len(seen.joints.names)} joint states move "
               "the sensor", expected)


def _rest(seen: Seen, _: Settings) -> Row:
    name, expected = "arm at rest", f"no joint faster than {_REST_SPEED:g} rad/s"
    speed, joint = _fastest(seen.joints)
    if not joint:
        return Row(name, OPEN, "no joint states", expected)
    measured = f"joint '{joint}' moves at {speed:.3g} rad/s"
    if speed > _REST_SPEED:
        return Row(name, FAILED, measured, expected, "Stop the program that moves the arm.")
    return Row(name, PASSED, f"at most {speed:.1g} rad/s", expected)


def _sensor_frame(seen: Seen, settings: Settings) -> Row:
    name, expected = "frame of the wrench", "a frame behind all joints of the arm"
    frame = settings.wrench.sensor_frame or (seen.wrench.names[0] if seen.wrench.names else "")
    if not seen.chain:
        return Row(name, OPEN, f"'{frame}'" if frame else "not known", expected)
    arm = {joint for controller in seen.controllers for joint in controller.joints}
    beyond = [joint for joint in seen.beyond if joint in arm or joint in seen.joints.names]
    if beyond:
        # A gripper moves behind its sensor, too; what a controller of the arm moves does not.
        verdict = FAILED if arm.intersection(beyond) or not arm else OPEN
        return Row(name, verdict, f"'{frame}' does not move with {_listed(beyond)}", expected,
                   "Set wrench.sensor_frame to the link of the description at the sensor, or have "
                   "its driver name that in frame_id. (Joints of a gripper may lie behind it.)")
    return Row(name, PASSED, f"'{frame}', behind {len(seen.chain)} joints", expected)


# ---- time ----------------------------------------------------------------------------------------


def _stamps(seen: Seen, _: Settings) -> Row:
    name, expected = "stamps", f"stamps that go on, at most {_LATEST:g} s old when they arrive"
    said = []
    for what, stream in (("wrench", seen.wrench), ("joint states", seen.joints)):
        if not len(stream):
            continue
        fault = _stamp_fault(stream, seen.is_simulated)
        if fault:
            return Row(name, FAILED, f"{what}: {fault}", expected,
                       "Have the driver stamp when it measures, with the clock of this machine's "
                       "ROS: synchronise both machines (chrony, NTP); in simulation set "
                       "use_sim_time for all or for none.")
        said.append(f"{what} {1e3 * stream.lag:.0f} ms")
    return Row(name, PASSED if said else OPEN,
               f"age on arrival: {', '.join(said)}" if said else "no samples", expected)


def _stamp_fault(stream: Stream, is_simulated: bool) -> str:
    """What is wrong with the stamps of a stream; empty where nothing is."""
    if not stream.stamps.all():
        return f"{np.sum(stream.stamps == 0)} of {len(stream)} samples have no stamp"
    if len(stream) > 1 and len(np.unique(stream.stamps)) == 1:
        return f"all {len(stream)} samples have the same stamp"
    if not is_simulated and not _EARLIEST <= stream.lag <= _LATEST:
        when = "old" if stream.lag > 0.0 else "in the future"
        return f"stamps are {abs(stream.lag):.2f} s {when} when they arrive"
    return ""


def _clocks(seen: Seen, settings: Settings) -> Row:
    limit = _APART_SDS * settings.alignment.delay_sd
    name = CLOCKS
    expected = f"stamps of wrench and joint states less than {limit:g} s apart"
    motion = seen.joints if len(seen.joints) else seen.transforms
    if not len(seen.wrench) or not len(motion):
        return Row(name, OPEN, "not known", expected)
    apart = seen.wrench.lag - motion.lag
    if abs(apart) > limit:
        return Row(name, FAILED, f"the wrench is stamped {abs(apart):.2f} s "
                   f"{'before' if apart > 0.0 else 'after'} joint states that arrive with it",
                   expected, CLOCK_ADVICE)
    return Row(name, PASSED, f"{1e3 * abs(apart):.0f} ms apart on arrival", expected)


def _publishers(seen: Seen, _: Settings) -> Row:
    name, expected = "publishers", "one for the wrench; one for each joint"
    found = [f"{len(s.publishers)} on '{s.topic}' ({_listed(s.publishers)})"
             for s in (seen.wrench, seen.joints) if len(s.publishers) > 1]
    if len(seen.wrench.publishers) > 1:
        return Row(name, FAILED, "; ".join(found), expected,
                   "Stop all but one of these nodes, or remap their topics.")
    if not (len(seen.wrench) and len(seen.joints) or found):
        return Row(name, OPEN, "no samples", expected)
    return Row(name, PASSED, "; ".join(found) or "one each", expected)


# ---- the robot -----------------------------------------------------------------------------------


def _payload(seen: Seen, settings: Settings) -> Row:
    name = "payload set on the robot"
    expected = "0 kg, or added by precompensated.*"
    removed, stated = settings.precompensated, seen.driver.payload
    is_added = removed.mass > 0.0 or removed.source != "settings"
    if stated is None:
        return Row(name, OPEN, "the driver does not tell", expected,
                   "Look at the teach pendant: set the payload to 0 kg, or name it in "
                   "precompensated.*.")
    measured = f"{stated:.3f} kg"
    if stated > 1e-3 and not is_added:
        return Row(name, FAILED, measured, expected,
                   "The driver removes this payload from its wrench. Set the payload on the robot "
                   "to 0 kg, or set precompensated.source so that it is added again.")
    return Row(name, PASSED, measured + (", which is added" if stated > 1e-3 else ""), expected)


def _allowed(_: Seen, settings: Settings) -> Row:
    name, expected = "motion is allowed", "motion.execute of the node is true"
    if not settings.motion.execute:
        return Row(name, FAILED, "motion.execute is false", expected,
                   "Ask whoever runs the node, and set motion.execute to true (ros2 param set). Or "
                   "move by hand: --no-motion.")
    return Row(name, PASSED, "motion.execute is true", expected)


def _surroundings(seen: Seen, _: Settings) -> Row:
    name, expected, scene = "surroundings", "a planning scene that can be read, or none", seen.scene
    if scene.problem:
        return Row(name, FAILED, scene.problem, expected,
                   "Mend or remove the object; or end what publishes the scene, and tell its "
                   "objects by --keep-out.")
    if scene.unknown:
        return Row(name, OPEN, scene.unknown, expected)
    carried = ("; kept clear itself as far as --payload-box holds it, as the robot carries it: "
               + _listed(scene.attached) if scene.attached else "")
    return Row(name, PASSED, "kept clear of objects of the planning scene: "
               + (_listed(scene.names) or "it has none") + carried, expected)


def _controller(seen: Seen, _: Settings) -> Row:
    name, expected = "controller", "one that takes trajectories of the joints that move the sensor"
    fitting = [c for c in seen.controllers if not c.joints or set(seen.chain) <= set(c.joints)]
    if not fitting:
        others = "; ".join(f"'{c.name}' moves {_listed(c.joints)}" for c in seen.controllers)
        return Row(name, FAILED, others or "nobody offers follow_joint_trajectory", expected,
                   "Start it: ros2 control switch_controllers --activate "
                   "joint_trajectory_controller (on UR: scaled_joint_trajectory_controller, and "
                   "External Control must run). Or move by hand: identify_payload --no-motion.")
    if len(fitting) > 1:
        return Row(name, FAILED, f"{len(fitting)}: {_listed(c.name for c in fitting)}", expected,
                   "Name the one to use with --controller.")
    return Row(name, PASSED, f"'{fitting[0].name}'", expected)


def _joint_order(seen: Seen, _: Settings) -> Row:
    name, expected = JOINT_ORDER, "the controller sees each joint where the joint states have it"
    telling = [c for c in seen.controllers if c.positions]
    if not telling or not len(seen.joints):
        return Row(name, OPEN, "the controller does not tell where it sees the joints", expected,
                   "Compare the positions on the teach pendant with the joint states.")
    where = dict(zip(seen.joints.names, seen.joints.rows[-1], strict=True))
    wrong = _contradiction(telling, where)
    if wrong:
        return Row(name, FAILED, wrong, expected, ORDER_ADVICE)
    return Row(name, PASSED, f"'{telling[0].name}' agrees on {len(telling[0].joints)} joints",
               expected)


def _contradiction(controllers: list[Controller], where: dict[str, float]) -> str:
    """Which joint a controller sees elsewhere than the joint states, in words; empty: none."""
    for controller in controllers:
        for joint, position in zip(controller.joints, controller.positions, strict=True):
            other = where.get(joint)
            # Turns are counted differently by different drivers.
            if other is not None and abs((position - other + np.pi) % (2.0 * np.pi)
                                         - np.pi) > _SAME_POSITION:
                return (f"'{controller.name}' sees joint '{joint}' at {position:.3f}, the joint "
                        f"states at {other:.3f}")
    return ""


def _speed(seen: Seen, _: Settings) -> Row:
    name, expected, speed = "speed scaling", "100 %", seen.driver.speed
    if speed is None:
        return Row(name, OPEN, "the driver does not tell", expected)
    measured = f"{100.0 * speed:.0f} %"
    if speed < _FULL_SPEED:
        return Row(name, FAILED, measured, expected,
                   "Set the speed slider of the teach pendant to 100 %, and end reduced mode: "
                   "slower motions tell less.")
    return Row(name, PASSED, measured, expected)


def _protective_stop(seen: Seen, _: Settings) -> Row:
    name, expected, stopped = "robot may move", "no stop, program running", seen.driver.stopped
    if stopped is None:
        return Row(name, OPEN, "the driver does not tell", expected)
    if stopped:
        return Row(name, FAILED, stopped, expected,
                   "Find out why it stopped, clear it on the teach pendant, and start the program "
                   "again.")
    return Row(name, PASSED, "the driver says so", expected)


# ---- parts ---------------------------------------------------------------------------------------

CHANNELS = ("fx", "fy", "fz", "tx", "ty", "tz")
SIGN, FRAME, GRAVITY, CLOCKS = ("sign of the wrench", "axes of the sensor", "direction of gravity",
                                "clocks")
JOINT_ORDER = "order of the joints"
ORDER_ADVICE = ("Names and positions of the joint states do not belong together: look at the order "
                "of the joints in the configuration of the driver or its relay.")
CLOCK_ADVICE = ("Have both drivers stamp with one clock, when they measure: synchronise the "
                "machines (chrony, NTP), and take filters with a delay off the wrench.")
CHECKS = (
    Check(_wrench_arrives, ("message_malformed.wrench",)),
    Check(_wrench_lives, ("input_stuck.wrench", "samples_invalid.wrench")),
    Check(_range, ("samples_saturated.wrench", "wrong_units.wrench")),
    Check(_joints_arrive, ("motion_slow", "motion_stopped", "joint_states_incomplete")),
    Check(_description, ("robot_description_invalid", "robot_description_invalid.frame")),
    Check(_joint_names, ("wrong_units.joints", "joint_states_incomplete.names",
                         "samples_invalid.joints")),
    Check(_sensor_frame, ("sensor_frame.changed", "sensor_frame.replaced",
                          "sensor_frame.shifted")),
    Check(_stamps, ("stamps_still.wrench", "stamps_still.joints", "stamp_missing.wrench",
                    "stamp_missing.joints", "clock_stopped.silent", "clock_stopped")),
    Check(_clocks, ("clocks_differ",)),
    Check(_publishers, ("several_publishers.wrench", "several_publishers.joints",
                        "streams_mixed.wrench",
                        "streams_mixed.joints")),
    Check(_payload, ("payload_not_added", "removed_payload.invalid")),
    Check(_rest),
    Check(_noise),
)
CONTROLLER_CHECKS = (Check(_allowed), Check(_controller), Check(_joint_order), Check(_speed),
                     Check(_protective_stop), Check(_surroundings))


def _rate_row(name: str, stream: Stream, seconds: float, advice: str) -> Row:
    """Whether a topic is fast enough."""
    expected = f"{LEAST_RATE:g} Hz or more on '{stream.topic}'"
    if not len(stream):
        return Row(name, FAILED, f"nothing in {seconds:.1f} s", expected, advice)
    if stream.rate < LEAST_RATE:
        return Row(name, FAILED, f"{stream.rate:.3g} Hz", expected,
                   "Raise the rate of the driver (update_rate of the controller manager, "
                   "publish_rate of the broadcaster).")
    return Row(name, PASSED, f"{stream.rate:.0f} Hz", expected)


def _fastest(joints: Stream) -> tuple[float, str]:
    """Mean speed of the joint that moves most [rad/s], and its name; empty without samples."""
    if len(joints) < 2 or not joints.names:
        return 0.0, ""
    # Medians of parts: noise of encoders is no speed.
    parts = [np.median(part, axis=0) for part in np.array_split(joints.rows, min(len(joints), 10))]
    seconds = max((joints.arrivals[-1] - joints.arrivals[0]) * 1e-9, 1e-3)
    travel = np.abs(np.diff(parts, axis=0)).max(axis=0) * len(parts) / seconds
    k = int(np.argmax(travel))
    return float(travel[k]), joints.names[k]


def _listed(names: object) -> str:
    """Some names in a sentence."""
    words = [str(name) for name in names]  # type: ignore[attr-defined]
    more = f" and {len(words) - _NAMED} more" if len(words) > _NAMED else ""
    return ", ".join(words[:_NAMED]) + more
