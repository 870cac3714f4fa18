# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The checks of a set-up at rest, in the order in which a person corrects what they find.

Sign, frame and gravity need a motion, see `by_motion`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np

from ...kinds import KINDS, Finding
from ...settings import Settings
from .received import Stream

LEAST_RATE = 50.0  # Hz; fewer samples do not give accelerations well
LATEST, EARLIEST = 0.5, -0.05  # s from a stamp to its arrival
APART = 2.0  # deviations of the clocks' offset (alignment.delay_sd)
NOISY = 3.0  # times the noise of the data sheet
SHIFTED = 0.002  # m, of a TCP
NEAR_RANGE = 0.9  # share of the range
REST_SPEED = 0.02  # rad/s or m/s
FEW = 10  # samples that show no noise
NAMED = 6  # names in a sentence
CHANNELS = ("fx", "fy", "fz", "tx", "ty", "tz")


class Verdict(str, Enum):
    """Result of a check."""

    PASSED = "ok"
    OPEN = "open"  # it could not be measured well enough
    FAILED = "wrong"


class Row(NamedTuple):
    """One check.

    Attributes:
        check: its name; measured, expected: in words, with units.
        advice: what to do where it is wrong or open; empty: nothing.
    """

    check: str
    verdict: Verdict
    measured: str
    expected: str
    advice: str = ""


def judged(check: str, is_wrong: object, measured: str, expected: str, advice: str) -> Row:
    """A row that is wrong or right."""
    if is_wrong:
        return Row(check, Verdict.FAILED, measured, expected, advice)
    return Row(check, Verdict.PASSED, measured, expected)


def failed(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows that are wrong."""
    return tuple(row for row in rows if row.verdict is Verdict.FAILED)


class Driver(NamedTuple):
    """What the robot's driver says of itself; None: nothing.

    Attributes:
        payload: mass that is configured on the robot [kg].
        stopped: why the robot may not move, in words; empty: it may.
        speed: share of the programmed speed at which it moves.
    """

    payload: float | None = None
    stopped: str | None = None
    speed: float | None = None


class Scene(NamedTuple):
    """The planning scene: names of its objects, and of those that the robot carries; problem: why
    they cannot be kept clear; empty: they can."""

    names: tuple[str, ...] = ()
    attached: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that the checks read.

    Attributes:
        seconds: for which was listened; wrench, joints: the streams.
        chain: joints that move the frame of the wrench; beyond: joints that only all of these
            carry; frame: of the wrench; tcp: how far the TCP lies from it [m].
        missing: why the motion of the sensor is not known, in words; empty: it is.
        findings: about the samples.
        topics, publishers: full name of the topic of wrench and joints, and names of the nodes that
            publish it.
        controllers: joints of those that take trajectories, by the name of their action without its
            ending; empty: not known.
        wrench_topics: on which wrenches come; driver, scene: what they say, None: nothing.
    """

    seconds: float
    wrench: Stream
    joints: Stream
    topics: dict[str, str]
    chain: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    frame: str = ""
    tcp: float = 0.0
    missing: str = ""
    findings: tuple[Finding, ...] = ()
    publishers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    controllers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    wrench_topics: tuple[str, ...] = ()
    driver: Driver = Driver()
    scene: Scene | None = None

    @property
    def fitting(self) -> list[str]:
        """Names of the controllers that move all joints which move the sensor."""
        return [name for name, joints in self.controllers.items()
                if not joints or set(self.chain) <= set(joints)]


# True where something is wrong; what was measured, what is expected; what to do, empty: what the
# first kind of finding about the same says.
Result = tuple[object, str, str, str]
Judge = Callable[[Snapshot, Settings], Result | None]  # None: nothing was measured
# Name, function, kinds of findings about the same, True if only an arm moved by a program needs it.
CHECKS: list[tuple[str, Judge, tuple[str, ...], bool]] = []


def _check(name: str, *kinds: str, to_move: bool = False) -> Callable[[Judge], object]:
    return lambda judge: CHECKS.append((name, judge, kinds, to_move))


def check_at_rest(seen: Snapshot, settings: Settings, may_move: bool = True) -> tuple[Row, ...]:
    """The rows of all checks at rest.

    Args:
        may_move: True if the arm is to be moved by this program, so that a controller is needed.
    """
    rows = []
    for name, judge, kinds, to_move in CHECKS:
        result = judge(seen, settings) if may_move or not to_move else None
        if result is None:
            continue
        is_wrong, measured, expected, advice = result
        finding = next((f for f in seen.findings
                        if f.is_one_of(kinds) and f.level != "info"), None)
        if finding is not None and not is_wrong:
            is_wrong, measured, advice = True, finding.text, KINDS[finding.kind].remedy
        rows.append(judged(name, is_wrong, measured, expected, advice or KINDS[kinds[0]].remedy))
    return tuple(rows)


@_check("wrench arrives", "message_malformed")
def _wrench(seen: Snapshot, _: Settings) -> Result:
    others = f" Wrenches come on: {listed(seen.wrench_topics)}." if seen.wrench_topics else ""
    return _rate(seen, "wrench", "Start the driver of the sensor, check cable and power, or set "
                 f"wrench.topic.{others}")


@_check("sensor is connected", "input_stuck", "samples_invalid.wrench")
def _connected(seen: Snapshot, _: Settings) -> Result | None:
    if len(seen.wrench) < 2:
        return None
    still = np.ptp(seen.wrench.rows, axis=0) == 0.0
    same = f"{listed(np.array(CHANNELS)[still])} the same to the last bit" if still.any() else (
        "all six channels change")
    return (still.any(), f"in {len(seen.wrench)} readings {same}",
            "readings that change in their last digits", "")


@_check("range of the sensor", "samples_saturated", "wrong_units.wrench")
def _range(seen: Snapshot, settings: Settings) -> Result | None:
    limits = settings.wrench.range
    if not len(seen.wrench) or not all(limits):
        return None
    largest = np.abs(seen.wrench.rows).reshape(-1, 2, 3).max(axis=(0, 2))
    return ((largest / limits).max() >= NEAR_RANGE,
            "{:.1f} N and {:.2f} N m".format(*largest),
            f"below {100.0 * NEAR_RANGE:.0f} % of {limits[0]:g} N and {limits[1]:g} N m", "")


@_check("motion arrives", "motion_slow", "samples_missing.motion", "wrong_units.joints",
        "joint_states_incomplete", "samples_invalid.joints")
def _motion(seen: Snapshot, _: Settings) -> Result:
    return _rate(seen, "joints", "Start the joint_state_broadcaster, or set joint_states.topic.")


@_check("robot description", "robot_description_invalid")
def _description(seen: Snapshot, settings: Settings) -> Result | None:
    if not (len(seen.wrench) or settings.wrench.sensor_frame):
        return None
    return (seen.missing, seen.missing or f"{len(seen.chain)} joints move the sensor",
            "a description that holds the frame of the wrench",
            "Start the robot_state_publisher, or set robot_description.file, with the description "
            "of this robot (prefix, hand); set wrench.sensor_frame to the link at the sensor.")


@_check("frame of the wrench", "sensor_frame")
def _frame(seen: Snapshot, _: Settings) -> Result | None:
    if not seen.chain:
        return None
    arm = {joint for joints in seen.controllers.values() for joint in joints}
    # A gripper moves behind its sensor, too; what a controller of the arm moves does not.
    beyond = [joint for joint in seen.beyond if joint in (arm or seen.joints.names)]
    expected = "a frame behind all joints of the arm, in which the wrench is expressed"
    if seen.tcp > SHIFTED:
        return (True, f"the TCP of the robot lies {1e3 * seen.tcp:.0f} mm from '{seen.frame}'",
                expected, "Set the TCP of the robot to zero.")
    return (beyond, f"'{seen.frame}' does not move with {listed(beyond)}" if beyond else
            f"'{seen.frame}', behind {len(seen.chain)} joints", expected, "")


@_check("stamps", "stamp_stray", "clock_stopped")
def _stamps(seen: Snapshot, _: Settings) -> Result | None:
    ages = {what: stream.lag for what, stream in (
        ("wrench", seen.wrench), ("joint states", seen.joints)) if len(stream)}
    is_wrong = not all(EARLIEST <= age <= LATEST for age in ages.values())
    return (is_wrong, "age on arrival: " + ", ".join(
        f"{what} {age:.3f} s" for what, age in ages.items()),
        f"stamps other than 0 that go on, at most {LATEST:g} s old when they arrive",
        "Have the driver stamp when it measures; synchronise both machines (chrony, NTP); in "
        "simulation set use_sim_time for all or for none.") if ages else None


@_check("clocks", "clocks_differ")
def _clocks(seen: Snapshot, settings: Settings) -> Result | None:
    if not len(seen.wrench) or not len(seen.joints):
        return None
    limit, apart = APART * settings.alignment.delay_sd, seen.wrench.lag - seen.joints.lag
    return (abs(apart) > limit, f"the wrench is stamped {1e3 * abs(apart):.0f} ms "
            f"{'before' if apart > 0.0 else 'after'} joint states that arrive with it",
            f"at most {1e3 * limit:g} ms apart", "")


@_check("publishers", "streams_mixed")
def _publishers(seen: Snapshot, _: Settings) -> Result | None:
    if not len(seen.wrench):
        return None
    several = [f"{len(nodes)} on '{seen.topics[what]}' ({listed(nodes)})"
               for what, nodes in seen.publishers.items() if len(nodes) > 1]
    return (len(seen.publishers.get("wrench", ())) > 1, "; ".join(several) or "one each",
            "one for the wrench", "")


@_check("payload set on the robot", "payload_not_added")
def _payload(seen: Snapshot, settings: Settings) -> Result | None:
    stated, compensated = seen.driver.payload, settings.precompensated
    is_added = compensated.mass > 0.0 or compensated.source != "settings"
    return None if stated is None else (stated > 1e-3 and not is_added, f"{stated:.3f} kg",
                                        "0 kg, or added by precompensated.*", "")


@_check("arm at rest")
def _rest(seen: Snapshot, _: Settings) -> Result | None:
    speed, joint = _fastest(seen.joints)
    return (speed > REST_SPEED, f"joint '{joint}' moves at {speed:.2g} rad/s",
            f"no joint faster than {REST_SPEED:g} rad/s", "Stop the program that moves the arm."
            ) if joint else None


@_check("noise at rest")
def _noise(seen: Snapshot, settings: Settings) -> Result | None:
    if len(seen.wrench) < FEW or _fastest(seen.joints)[0] > REST_SPEED:
        return None
    # Half of the mean square of differences is the variance, whatever drifts.
    noise = np.sqrt(0.5 * np.mean(np.diff(seen.wrench.rows, axis=0)**2, axis=0)).reshape(2, 3)
    largest, allowed = noise.max(axis=1), NOISY * np.array(settings.wrench.noise)
    return ((largest > allowed).any(), "{:.2g} N and {:.2g} N m".format(*largest),
            "at most {:.2g} N and {:.2g} N m, three times the data sheet".format(*allowed),
            "Shield the cable and stiffen the mounting; or name the right sensor "
            f"(wrench.sensor is '{settings.wrench.sensor}').")


@_check("motion is allowed", to_move=True)
def _allowed(_: Snapshot, settings: Settings) -> Result:
    return (not settings.motion.execute,
            f"motion.execute is {str(settings.motion.execute).lower()}",
            "motion.execute of the node is true",
            "Ask whoever runs the node, and set motion.execute to true (ros2 param set). Or move "
            "by hand: --no-motion.")


@_check("controller", to_move=True)
def _controller(seen: Snapshot, _: Settings) -> Result:
    others = "; ".join(f"'{name}' moves {listed(joints)}"
                       for name, joints in seen.controllers.items())
    return (len(seen.fitting) != 1, listed(seen.fitting) or others or
            "no node offers follow_joint_trajectory",
            "one that takes trajectories of the joints that move the sensor",
            "Name the one to use with --controller." if seen.fitting else
            "Start it: ros2 control switch_controllers --activate joint_trajectory_controller (on "
            "UR, External Control must run). Or move by hand: --no-motion.")


@_check("robot may move", to_move=True)
def _may_move(seen: Snapshot, _: Settings) -> Result | None:
    stopped, speed = seen.driver.stopped, seen.driver.speed
    if stopped is None and speed is None:
        return None
    at = "" if speed is None else f", at {100.0 * speed:.0f} % of the programmed speed"
    return (stopped or speed == 0.0, (stopped or "nothing stops it") + at,
            "no stop, program running",
            "Find out why it stopped, clear it on the teach pendant, raise its speed slider, and "
            "start the program again.")


@_check("surroundings", to_move=True)
def _surroundings(seen: Snapshot, _: Settings) -> Result | None:
    scene = seen.scene
    if scene is None:
        return None
    carried = ("; kept clear itself as far as --payload-box holds it, as the robot carries it: "
               + listed(scene.attached) if scene.attached else "")
    return (scene.problem, scene.problem or (
        f"kept clear of objects of the planning scene: {listed(scene.names) or 'none'}{carried}"),
        "a planning scene that can be read, or none",
        "Correct or remove the object; or stop what publishes the scene, and give its objects by "
        "--keep-out.")


def _rate(seen: Snapshot, what: str, advice: str) -> Result:
    """True where a stream is silent, or too slow."""
    stream, expected = getattr(seen, what), f"{LEAST_RATE:g} Hz or more on '{seen.topics[what]}'"
    if not len(stream):
        return True, f"nothing in {seen.seconds:.1f} s", expected, advice
    return (stream.rate < LEAST_RATE, f"{stream.rate:.3g} Hz", expected,
            "Raise the rate of the driver (update_rate of the controller manager, publish_rate of "
            "the broadcaster).")


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


def listed(names: Iterable[object]) -> str:
    """Some names in a sentence."""
    words = [str(name) for name in names]
    more = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return ", ".join(words[:NAMED]) + more
