# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The checks of a set-up at rest, in the order in which a person corrects what they find.

Sign, frame and gravity need a motion, see `motion_checks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...kinds import KINDS, Finding
from ...samples.wrenches import CHANNELS
from ...settings import Settings

LEAST_RATE = 50.0  # Hz; fewer samples do not give accelerations well
LATEST, EARLIEST = 0.5, -0.05  # s from a stamp to its arrival
NOISY = 3.0  # times the noise of the data sheet
SHIFTED = 0.002  # m, of a TCP
NEAR_RANGE = 0.9  # share of the range
REST_SPEED = 0.02  # rad/s of the sensor
PASSED, OPEN, FAILED = "ok", "open", "wrong"  # open: it could not be measured well enough


class Row(NamedTuple):
    """One check."""

    check: str
    verdict: str  # PASSED, OPEN or FAILED
    measured: str  # in words, with units
    expected: str
    advice: str = ""  # what to do where it is wrong or open; empty: nothing


def judged(check: str, is_wrong: object, measured: str, expected: str, advice: str) -> Row:
    """A row that is wrong or right."""
    return Row(check, FAILED, measured, expected, advice) if is_wrong else Row(
        check, PASSED, measured, expected)


def failed(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows that are wrong."""
    return tuple(row for row in rows if row.verdict == FAILED)


class Driver(NamedTuple):
    """What the robot's driver says of itself; None: nothing."""

    payload: float | None = None  # mass that is configured on the robot [kg]
    stopped: str | None = None  # why the robot may not move, in words; empty: it may
    speed: float | None = None  # share of the programmed speed at which it moves


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that the checks read."""

    seconds: float  # for which was listened
    wrench: Array  # readings (n, 6) [N, N m]
    joints: int  # number of joint states
    topics: dict[str, str]  # full names of both
    ages: dict[str, float] = field(default_factory=dict)  # median, from stamp to arrival [s]
    joint_names: tuple[str, ...] = ()  # that joint states have
    speed: float | None = None  # of the sensor [rad/s], root mean square
    chain: tuple[str, ...] = ()  # joints that move the frame of the wrench
    beyond: tuple[str, ...] = ()  # joints that only all of these carry
    frame: str = ""  # of the wrench
    tcp: float = 0.0  # how far the TCP lies from it [m]
    missing: str = ""  # why the motion of the sensor is not known, in words; empty: it is
    findings: tuple[Finding, ...] = ()  # about the samples
    publishers: dict[str, tuple[str, ...]] = field(default_factory=dict)  # nodes, by topic
    # Joints (empty: not known) of those that take trajectories, by their actions without ending.
    controllers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    wrench_topics: tuple[str, ...] = ()  # on which wrenches come
    driver: Driver = Driver()

    @property
    def fitting(self) -> list[str]:
        """Names of the controllers that move all joints which move the sensor."""
        return [name for name, joints in self.controllers.items()
                if not joints or set(self.chain) <= set(joints)]


# A check: its name; true where it is wrong; what was measured, what is expected; what to do, empty:
# what the first kind of finding about the same says; these kinds.
Check = tuple[str, object, str, str, str, tuple[str, ...]]


def check_at_rest(seen: Snapshot, settings: Settings, may_move: bool = True) -> tuple[Row, ...]:
    """The rows of all checks at rest; may_move: True if a program is to move the arm."""
    rows = []
    for group in (_wrench, _motion, _clocks, _payload, _program)[:5 if may_move else 4]:
        for name, is_wrong, measured, expected, advice, kinds in group(seen, settings):
            finding = next((f for f in seen.findings
                            if f.is_one_of(kinds) and f.level != "info"), None)
            advice = advice or (KINDS[kinds[0]].remedy if kinds else "")
            if finding is not None and not is_wrong:
                is_wrong, measured, advice = True, finding.text, KINDS[finding.kind].remedy
            rows.append(judged(name, is_wrong, measured, expected, advice))
    return tuple(rows)


def _rate(seen: Snapshot, name: str, count: int, topic: str, advice: str, *kinds: str) -> Check:
    """A stream that is silent, or too slow, is wrong."""
    rate, expected = count / seen.seconds, f"{LEAST_RATE:g} Hz or more on '{topic}'"
    if count:
        advice = ("Raise the rate of the driver (update_rate of the controller manager, "
                  "publish_rate of the broadcaster).")
    return (name, rate < LEAST_RATE, f"{rate:.3g} Hz" if count else
            f"nothing in {seen.seconds:.1f} s", expected, advice, kinds)


def _wrench(seen: Snapshot, settings: Settings) -> Iterator[Check]:
    """The sensor and its readings."""
    limits, readings = settings.wrench.range, seen.wrench
    others = f" Wrenches come on: {listed(seen.wrench_topics)}." if seen.wrench_topics else ""
    yield _rate(seen, "wrench arrives", len(readings), seen.topics["wrench"],
                "Start the driver of the sensor, check cable and power, or set "
                f"wrench.topic.{others}", "message_malformed")
    if len(readings) < 2:
        return
    still = np.ptp(readings, axis=0) == 0.0
    same = f"{listed(np.array(CHANNELS)[still])} the same to the last bit" if still.any() else (
        "all six channels change")
    yield ("sensor is connected", still.any(), f"in {len(readings)} readings {same}",
           "readings that change in their last digits", "", ("input_stuck",
                                                             "samples_invalid.wrench"))
    if all(limits):
        largest = np.abs(readings).reshape(-1, 2, 3).max(axis=(0, 2))
        yield ("range of the sensor", (largest / limits).max() >= NEAR_RANGE,
               "{:.1f} N and {:.2f} N m".format(*largest),
               f"below {100.0 * NEAR_RANGE:.0f} % of {limits[0]:g} N and {limits[1]:g} N m", "",
               ("samples_saturated", "wrong_units.wrench"))
    if (seen.speed or 0.0) <= REST_SPEED:
        # Half of the mean square of differences is the variance, whatever drifts.
        noise = np.sqrt(0.5 * np.mean(np.diff(readings, axis=0)**2, axis=0)).reshape(2, 3)
        largest, allowed = noise.max(axis=1), NOISY * np.array(settings.wrench.noise)
        yield ("noise at rest", (largest > allowed).any(), "{:.2g} N and {:.2g} N m".format(
            *largest), "at most {:.2g} N and {:.2g} N m, three times the data sheet".format(
                *allowed), "Shield the cable and stiffen the mounting; or name the right sensor "
               f"(wrench.sensor is '{settings.wrench.sensor}').", ())


def _motion(seen: Snapshot, settings: Settings) -> Iterator[Check]:
    """The motion of the sensor, and its frame."""
    yield _rate(seen, "motion arrives", seen.joints, seen.topics["joints"],
                "Start the joint_state_broadcaster, or set joint_states.topic.", "motion_slow",
                "samples_missing.motion", "wrong_units.joints", "joint_states_incomplete",
                "samples_invalid.joints")
    if len(seen.wrench) or settings.wrench.sensor_frame:
        yield ("robot description", seen.missing,
               seen.missing or f"{len(seen.chain)} joints move the sensor",
               "a description that holds the frame of the wrench",
               "Start the robot_state_publisher, or set robot_description.file, with the "
               "description of this robot (prefix, hand); set wrench.sensor_frame to the link at "
               "the sensor.", ("robot_description_invalid",))
    if not seen.chain:
        return
    arm = {joint for joints in seen.controllers.values() for joint in joints}
    # A gripper moves behind its sensor, too; what a controller of the arm moves does not.
    beyond = [joint for joint in seen.beyond if joint in (arm or seen.joint_names)]
    measured, advice = f"'{seen.frame}', behind {len(seen.chain)} joints", ""
    if beyond:
        measured = f"'{seen.frame}' does not move with {listed(beyond)}"
    if seen.tcp > SHIFTED:
        measured = f"the TCP of the robot lies {1e3 * seen.tcp:.0f} mm from '{seen.frame}'"
        advice = "Set the TCP of the robot to zero."
    yield ("frame of the wrench", beyond or advice, measured,
           "a frame behind all joints of the arm, in which the wrench is expressed", advice,
           ("sensor_frame",))
    if seen.speed is not None:
        yield ("arm at rest", seen.speed > REST_SPEED,
               f"the sensor turns at {seen.speed:.2g} rad/s", f"at most {REST_SPEED:g} rad/s",
               "Stop the program that moves the arm.", ())


def _clocks(seen: Snapshot, settings: Settings) -> Iterator[Check]:
    """Stamps, clocks, and who publishes."""
    if not seen.ages:
        return
    ages, limit = list(seen.ages.values()), 2.0 * settings.alignment.delay_sd
    yield ("stamps", min(ages) < EARLIEST or max(ages) > LATEST, "age on arrival: " + ", ".join(
        f"{what} {age:.3f} s" for what, age in seen.ages.items()),
           f"stamps other than 0 that go on, at most {LATEST:g} s old when they arrive",
           "Have the driver stamp when it measures; synchronise both machines (chrony, NTP); in "
           "simulation set use_sim_time for all or for none.", ("stamp_stray", "clock_stopped"))
    if len(ages) == 2:
        apart = ages[0] - ages[1]
        yield ("clocks", abs(apart) > limit, f"the wrench is stamped {1e3 * abs(apart):.0f} ms "
               f"{'before' if apart > 0.0 else 'after'} joint states that arrive with it",
               f"at most {1e3 * limit:g} ms apart", "", ("clocks_differ",))
    several = [f"{len(nodes)} on '{seen.topics[what]}' ({listed(nodes)})"
               for what, nodes in seen.publishers.items() if len(nodes) > 1]
    yield ("publishers", len(seen.publishers.get("wrench", ())) > 1, "; ".join(several) or
           "one each", "one for the wrench", "", ("streams_mixed",))


def _payload(seen: Snapshot, settings: Settings) -> Iterator[Check]:
    """The payload that the driver compensates."""
    stated, compensated = seen.driver.payload, settings.precompensated
    if stated is not None:
        is_added = compensated.mass > 0.0 or compensated.source != "settings"
        yield ("payload set on the robot", stated > 1e-3 and not is_added, f"{stated:.3f} kg",
               "0 kg, or added by precompensated.*", "", ("payload_not_added",))


def _program(seen: Snapshot, settings: Settings) -> Iterator[Check]:
    """What a program needs to move the arm."""
    yield ("motion is allowed", not settings.motion.execute,
           f"motion.execute is {str(settings.motion.execute).lower()}",
           "motion.execute of the node is true", "Ask whoever runs the node, and set "
           "motion.execute to true (ros2 param set). Or move by hand: --no-motion.", ())
    others = "; ".join(f"'{name}' moves {listed(joints)}"
                       for name, joints in seen.controllers.items())
    yield ("controller", len(seen.fitting) != 1, listed(seen.fitting) or others or
           "no node offers follow_joint_trajectory",
           "one that takes trajectories of the joints that move the sensor",
           "Name the one to use with --controller." if seen.fitting else
           "Start it: ros2 control switch_controllers --activate joint_trajectory_controller (on "
           "UR, External Control must run). Or move by hand: --no-motion.", ())
    stopped, speed = seen.driver.stopped, seen.driver.speed
    if stopped is not None or speed is not None:
        at = "" if speed is None else f", at {100.0 * speed:.0f} % of the programmed speed"
        yield ("robot may move", stopped or speed == 0.0, (stopped or "nothing stops it") + at,
               "no stop, program running",
               "Find out why it stopped, clear it on the teach pendant, raise its speed slider, "
               "and start the program again.", ())


def listed(names: Iterable[object], most: int = 6) -> str:
    """Some names in a sentence."""
    words = [str(name) for name in names]
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more
