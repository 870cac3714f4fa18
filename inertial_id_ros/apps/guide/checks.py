# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The checks of a set-up at rest, as a table of functions.

Each returns what was measured, what was expected, and what to do; None where it measured nothing.
Sign, frame and gravity need a motion, see `by_motion`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np

from ...kinds import KINDS
from ...settings import Settings
from .received import Seen, Stream

LEAST_RATE = 50.0  # Hz; fewer samples do not give accelerations well
LATEST, EARLIEST = 0.5, -0.05  # s from a stamp to its arrival
APART = 2.0  # deviations of the clocks' offset (alignment.delay_sd)
NOISY = 3.0  # times the noise of the data sheet
SHIFTED = 0.002  # m, of a TCP
NEAR_RANGE = 0.9  # share of the range
REST_SPEED = 0.02  # rad/s or m/s
FULL_SPEED = 0.995
FEW = 10  # samples that show no noise
NAMED = 6  # names in a sentence
CHANNELS = ("fx", "fy", "fz", "tx", "ty", "tz")


class Verdict(Enum):
    """Result of a check."""

    PASSED = "ok"
    OPEN = "open"  # it could not be measured well enough
    FAILED = "wrong"


class Row(NamedTuple):
    """One check.

    Attributes:
        name: what is checked; measured, expected: in words, with units.
        advice: what to do where it is wrong or open; empty: nothing.
    """

    name: str
    verdict: Verdict
    measured: str
    expected: str
    advice: str = ""

    def to_json(self) -> dict[str, str]:
        """The fields of a JSON line."""
        return {"check": self.name, "verdict": self.verdict.value, "measured": self.measured,
                "expected": self.expected, "advice": self.advice}


def judged(name: str, is_wrong: object, measured: str, expected: str, advice: str) -> Row:
    """A row that is wrong or right."""
    if is_wrong:
        return Row(name, Verdict.FAILED, measured, expected, advice)
    return Row(name, Verdict.PASSED, measured, expected)


def failed(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows that are wrong."""
    return tuple(row for row in rows if row.verdict is Verdict.FAILED)


def describe_failed(rows: Iterable[Row]) -> str:
    """Which rows are wrong, in a sentence."""
    names = [row.name for row in failed(rows)]
    return f"{len(names)} check{'s are' if len(names) > 1 else ' is'} wrong: {', '.join(names)}."


class Controller(NamedTuple):
    """A controller that takes trajectories: name of its action without its ending, and joints that
    it moves; empty: not known."""

    name: str
    joints: tuple[str, ...] = ()


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
    they cannot be kept clear; empty: they can. None of it without a scene."""

    names: tuple[str, ...] = ()
    attached: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that the checks read.

    Attributes:
        seconds: for which was listened; wrench, joints, transforms: the streams.
        motion: what they say of the sensor's motion.
        topics, publishers: full name of the topic of wrench, joints and transforms, and names of
            the nodes that publish it.
        has_description: True if a robot description was received.
        is_simulated: True if time comes from /clock.
        controllers: that take trajectories; wrench_topics: on which wrenches come.
        driver, scene: what they say.
    """

    seconds: float
    wrench: Stream
    joints: Stream
    transforms: Stream
    motion: Seen
    topics: dict[str, str]
    publishers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    has_description: bool = True
    is_simulated: bool = False
    controllers: tuple[Controller, ...] = ()
    wrench_topics: tuple[str, ...] = ()
    driver: Driver = Driver()
    scene: Scene | None = None


def check_at_rest(seen: Snapshot, settings: Settings, may_move: bool = True) -> tuple[Row, ...]:
    """The rows of all checks at rest, in the order in which a person corrects them.

    Args:
        may_move: True if the arm is to be moved by this program, so that a controller is needed.
    """
    rows = []
    for check, kinds in (*AT_REST, *(TO_MOVE if may_move else ())):
        row = check(seen, settings)
        finding = next((f for f in seen.motion.findings
                        if f.is_one_of(kinds) and f.level != "info"), None)
        if row is not None and finding is not None and row.verdict is not Verdict.FAILED:
            row = row._replace(verdict=Verdict.FAILED, measured=finding.text,
                               advice=KINDS[finding.kind].remedy)
        rows += [] if row is None else [row]
    return tuple(rows)


# ---- the sensor ----------------------------------------------------------------------------------


def wrench_arrives(seen: Snapshot, _: Settings) -> Row:
    advice = "Start the driver of the sensor, check cable and power, or set wrench.topic."
    if seen.wrench_topics:
        advice += f" Wrenches come on: {listed(seen.wrench_topics)}."
    return _of_rate("wrench arrives", seen.wrench, seen.topics["wrench"], seen.seconds, advice)


def sensor_is_connected(seen: Snapshot, _: Settings) -> Row | None:
    rows = seen.wrench.rows
    if len(rows) < 2:
        return None
    still = np.ptp(rows, axis=0) == 0.0
    dead = ", ".join(np.array(CHANNELS)[still])
    measured = (f"{'all six channels are' if still.all() else f'{dead} is'} the same to the last "
                "bit" if still.any() else "all six channels change")
    return judged("sensor is connected", still.any(), f"{measured} in {len(rows)} readings",
                  "readings that change in their last digits",
                  "Check cable and power of the sensor and restart its driver, which repeats an "
                  "old value; a single channel is broken, saturated or not wired.")


def range_of_the_sensor(seen: Snapshot, settings: Settings) -> Row | None:
    wrench = settings.wrench
    if not len(seen.wrench) or not all(wrench.range):
        return None
    largest = np.abs(seen.wrench.rows).reshape(-1, 2, 3).max(axis=(0, 2))
    used = (largest / wrench.range).max()
    return judged("range of the sensor", used >= NEAR_RANGE,
                  f"{largest[0]:.1f} N and {largest[1]:.2f} N m, {100 * used:.0f} % of the range",
                  f"below {100 * NEAR_RANGE:.0f} % of {wrench.range[0]:g} N and "
                  f"{wrench.range[1]:g} N m",
                  "Take the load off, zero the sensor without load, or use one with more range. Is "
                  "something pressing on it?")


def noise_at_rest(seen: Snapshot, settings: Settings) -> Row | None:
    if len(seen.wrench) < FEW or _fastest(seen.joints)[0] > REST_SPEED:
        return None
    # Half of the mean square of differences is the variance, whatever drifts.
    noise = np.sqrt(0.5 * np.mean(np.diff(seen.wrench.rows, axis=0)**2, axis=0)).reshape(2, 3)
    largest, usual = noise.max(axis=1), np.array(settings.wrench.noise)
    return judged("noise at rest", (largest > NOISY * usual).any(),
                  "{:.2g} N and {:.2g} N m".format(*largest),
                  "at most {:.2g} N and {:.2g} N m, three times the data sheet".format(
                      *(NOISY * usual)),
                  "Shield the cable and stiffen the mounting; or name the right sensor "
                  f"(wrench.sensor is '{settings.wrench.sensor}').")


# ---- the motion ----------------------------------------------------------------------------------


def motion_arrives(seen: Snapshot, settings: Settings) -> Row:
    if settings.kinematics.source == "tf" or (not len(seen.joints) and len(seen.transforms)):
        return _of_rate("transforms arrive", seen.transforms, seen.topics["transforms"],
                        seen.seconds, "Publish the joint states, or transforms at 50 Hz or more.")
    return _of_rate("joint states arrive", seen.joints, seen.topics["joints"], seen.seconds,
                    "Start the joint_state_broadcaster, or set joint_states.topic.")


def robot_description(seen: Snapshot, settings: Settings) -> Row | None:
    if seen.has_description and not (len(seen.wrench) or settings.wrench.sensor_frame):
        return None
    missing = seen.motion.missing
    chain = seen.motion.chain
    measured = (f"{len(chain)} joints move the sensor" if chain else
                "the motion comes from transforms")
    if missing:
        measured = missing if seen.has_description else "none was received"
    return judged("robot description", missing, measured,
                  "a description that holds the frame of the wrench",
                  "Start the robot_state_publisher, or set robot_description.file; set "
                  "wrench.sensor_frame to the link that lies at the sensor.")


def joint_names(seen: Snapshot, _: Settings) -> Row | None:
    chain, names = seen.motion.chain, seen.joints.names
    if not chain or not names:
        return None
    absent = [joint for joint in chain if joint not in names]
    measured = (f"{listed(absent)} of the description is not among {listed(names)}" if absent else
                f"{len(chain)} of {len(names)} joint states move the sensor")
    return judged("joint names", absent, measured, "all joints that move the sensor, once each",
                  "Use the description of this robot (prefix, hand), or have the driver publish "
                  "these names.")


def arm_at_rest(seen: Snapshot, _: Settings) -> Row | None:
    speed, joint = _fastest(seen.joints)
    if not joint:
        return None
    return judged("arm at rest", speed > REST_SPEED, f"joint '{joint}' moves at {speed:.2g} rad/s",
                  f"no joint faster than {REST_SPEED:g} rad/s",
                  "Stop the program that moves the arm.")


def frame_of_the_wrench(seen: Snapshot, _: Settings) -> Row | None:
    chain, frame = seen.motion.chain, seen.motion.frame
    if not chain:
        return None
    arm = {joint for controller in seen.controllers for joint in controller.joints}
    # A gripper moves behind its sensor, too; what a controller of the arm moves does not.
    beyond = [joint for joint in seen.motion.beyond
              if joint in arm or (not arm and joint in seen.joints.names)]
    measured = (f"'{frame}' does not move with {listed(beyond)}" if beyond else
                f"'{frame}', behind {len(chain)} joints")
    if shifted := seen.motion.tcp > SHIFTED:
        measured = f"the TCP of the robot lies {1e3 * seen.motion.tcp:.0f} mm from '{frame}'"
    return judged("frame of the wrench", beyond or shifted, measured,
                  "a frame behind all joints of the arm, in which the wrench is expressed",
                  "Set the TCP of the robot to zero." if shifted else
                  "Set wrench.sensor_frame to the link of the description at the sensor, or have "
                  "its driver name that in frame_id.")


# ---- time ----------------------------------------------------------------------------------------


def stamps(seen: Snapshot, _: Settings) -> Row | None:
    ages, faults = [], []
    for what, stream in (("wrench", seen.wrench), ("joint states", seen.joints)):
        if len(stream):
            fault = _fault_of_stamps(stream, seen.is_simulated)
            faults += [f"{what}: {fault}"] if fault else []
            ages.append(f"{what} {1e3 * stream.lag:.0f} ms")
    if not ages:
        return None
    return judged("stamps", faults, "; ".join(faults) or f"age on arrival: {', '.join(ages)}",
                  f"stamps that go on, at most {LATEST:g} s old when they arrive",
                  "Have the driver stamp when it measures, with the clock of this machine's ROS: "
                  "synchronise both machines (chrony, NTP); in simulation set use_sim_time for all "
                  "or for none.")


def _fault_of_stamps(stream: Stream, is_simulated: bool) -> str:
    """What is wrong with the stamps of a stream; empty where nothing is."""
    if not stream.stamps.all():
        return f"{np.sum(stream.stamps == 0)} of {len(stream)} samples have no stamp"
    if len(stream) > 1 and len(np.unique(stream.stamps)) == 1:
        return f"all {len(stream)} samples have the same stamp"
    if not is_simulated and not EARLIEST <= stream.lag <= LATEST:
        when = "old" if stream.lag > 0.0 else "in the future"
        return f"stamps are {abs(stream.lag):.2f} s {when} when they arrive"
    return ""


CLOCK_ADVICE = ("Have both drivers stamp with one clock, when they measure: synchronise the "
                "machines (chrony, NTP), and take filters with a delay off the wrench.")


def clocks(seen: Snapshot, settings: Settings) -> Row | None:
    motion = seen.joints if len(seen.joints) else seen.transforms
    if not len(seen.wrench) or not len(motion):
        return None
    limit, apart = APART * settings.alignment.delay_sd, seen.wrench.lag - motion.lag
    when = "before" if apart > 0.0 else "after"
    return judged("clocks", abs(apart) > limit, f"the wrench is stamped {1e3 * abs(apart):.0f} ms "
                  f"{when} joint states that arrive with it", f"at most {1e3 * limit:g} ms apart",
                  CLOCK_ADVICE)


def publishers(seen: Snapshot, _: Settings) -> Row | None:
    if not len(seen.wrench):
        return None
    several = [f"{len(nodes)} on '{seen.topics[what]}' ({listed(nodes)})"
               for what, nodes in seen.publishers.items() if len(nodes) > 1]
    return judged("publishers", len(seen.publishers.get("wrench", ())) > 1,
                  "; ".join(several) or "one each", "one for the wrench",
                  "Stop all but one of these nodes, or remap their topics.")


# ---- the robot -----------------------------------------------------------------------------------


def payload_set_on_the_robot(seen: Snapshot, settings: Settings) -> Row | None:
    stated, compensated = seen.driver.payload, settings.precompensated
    if stated is None:
        return None
    is_added = compensated.mass > 0.0 or compensated.source != "settings"
    return judged("payload set on the robot", stated > 1e-3 and not is_added,
                  f"{stated:.3f} kg" + (", which is added" if stated > 1e-3 and is_added else ""),
                  "0 kg, or added by precompensated.*",
                  "The driver compensates this payload in its wrench. Set the payload on the robot "
                  "to 0 kg, or set precompensated.source so that it is added again.")


def motion_is_allowed(_: Snapshot, settings: Settings) -> Row:
    return judged("motion is allowed", not settings.motion.execute,
                  f"motion.execute is {str(settings.motion.execute).lower()}",
                  "motion.execute of the node is true",
                  "Ask whoever runs the node, and set motion.execute to true (ros2 param set). Or "
                  "move by hand: --no-motion.")


def controller(seen: Snapshot, _: Settings) -> Row:
    fitting = [c for c in seen.controllers
               if not c.joints or set(seen.motion.chain) <= set(c.joints)]
    others = "; ".join(f"'{c.name}' moves {listed(c.joints)}" for c in seen.controllers)
    measured = listed(f"'{c.name}'" for c in fitting) or others or (
        "no node offers follow_joint_trajectory")
    return judged("controller", len(fitting) != 1, measured,
                  "one that takes trajectories of the joints that move the sensor",
                  "Name the one to use with --controller." if fitting else
                  "Start it: ros2 control switch_controllers --activate "
                  "joint_trajectory_controller (on UR, External Control must run). Or move by "
                  "hand: --no-motion.")


def speed_scaling(seen: Snapshot, _: Settings) -> Row | None:
    speed = seen.driver.speed
    if speed is None:
        return None
    slower = "" if speed > FULL_SPEED else "; motions take longer, and identify less"
    return judged("speed scaling", speed <= 0.0, f"{100.0 * speed:.0f} %{slower}", "100 %",
                  "Set the speed slider of the teach pendant to 100 %, and end reduced mode.")


def robot_may_move(seen: Snapshot, _: Settings) -> Row | None:
    stopped = seen.driver.stopped
    if stopped is None:
        return None
    return judged("robot may move", stopped, stopped or "the driver says so",
                  "no stop, program running",
                  "Find out why it stopped, clear it on the teach pendant, and start the program "
                  "again.")


def surroundings(seen: Snapshot, _: Settings) -> Row | None:
    scene = seen.scene
    if scene is None:
        return None
    carried = ("; kept clear itself as far as --payload-box holds it, as the robot carries it: "
               + listed(scene.attached) if scene.attached else "")
    return judged("surroundings", scene.problem, scene.problem or (
        f"kept clear of objects of the planning scene: {listed(scene.names) or 'none'}{carried}"),
        "a planning scene that can be read, or none",
        "Correct or remove the object; or stop what publishes the scene, and give its objects by "
        "--keep-out.")


# ---- parts ---------------------------------------------------------------------------------------

# A check, and kinds of findings about the same.
Check = tuple[Callable[[Snapshot, Settings], Row | None], tuple[str, ...]]
AT_REST: tuple[Check, ...] = (
    (wrench_arrives, ("message_malformed",)),
    (sensor_is_connected, ("input_stuck", "samples_invalid.wrench")),
    (range_of_the_sensor, ("samples_saturated", "wrong_units.wrench")),
    (motion_arrives, ("motion_slow", "samples_missing.motion")),
    (robot_description, ("robot_description_invalid",)),
    (joint_names, ("wrong_units.joints", "joint_states_incomplete", "samples_invalid.joints")),
    (frame_of_the_wrench, ("sensor_frame",)),
    (stamps, ("stamp_stray", "clock_stopped")), (clocks, ("clocks_differ",)),
    (publishers, ("streams_mixed",)), (payload_set_on_the_robot, ("payload_not_added",)),
    (arm_at_rest, ()), (noise_at_rest, ()))
TO_MOVE: tuple[Check, ...] = tuple((check, ()) for check in (
    motion_is_allowed, controller, speed_scaling, robot_may_move, surroundings))


def _of_rate(name: str, stream: Stream, topic: str, seconds: float, advice: str) -> Row:
    """Whether a topic is fast enough."""
    expected = f"{LEAST_RATE:g} Hz or more on '{topic}'"
    if not len(stream):
        return Row(name, Verdict.FAILED, f"nothing in {seconds:.1f} s", expected, advice)
    return judged(name, stream.rate < LEAST_RATE, f"{stream.rate:.3g} Hz", expected,
                  "Raise the rate of the driver (update_rate of the controller manager, "
                  "publish_rate of the broadcaster).")


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
