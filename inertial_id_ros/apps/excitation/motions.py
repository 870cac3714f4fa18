# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Moves from rest to rest: their limits, what a trajectory violates, and the next motion.

Between two poses the path is straight in joint space. The speed on it rises in a ramp, stays, and
falls: where a bias drifts, information grows with the square of the speed. No ramp is so short that
the low-pass of the pipeline would remove what it identifies.

The next motion is that of many candidates which gains most information per second: random moves
around the present pose, single ones; a few to and fro; and swings, which first go to a pose and
then there to and fro. Joints before the wrist move only where no motion of the wrist helps.
"""

from operator import itemgetter
from typing import NamedTuple

import numpy as np

from ...errors import InvalidData
from ...inertia import PARAMETERS, Array
from ..simulation.motion import Trajectory
from .arm import Arm
from .information import Knowledge

COBOT_SPEED = 0.25  # m/s, the reduced speed beside people (ISO 10218-1)
POINTS = 0.02  # s between points of a trajectory
NODES = np.linspace(0.0, 1.0, 11)  # along a move, at which its speed is found
PEAK = 1.02  # for a peak between two of them
RAMP = 0.4  # s, at both ends of a move, whose speed is 3 x^2 - 2 x^3 of that between them
SHORTEST = 2.0 * RAMP  # s, of a move
SMALLEST = np.radians(0.5)  # a joint that turns by less is left out of the words
ANGLE = np.radians(18.0)  # to either side of a wiggle
SLOW = 1.1  # s at least, of a move of a wiggle: accelerations hardly count then
WRIST = 3  # joints before the frame that move first
STEP = 0.01  # s between the samples of a trajectory that are checked
ROUNDING = 1.01  # of a limit: differences of samples, and rounding of a message
REST = 1e-6  # rad/s, rad/s^2
START = 0.02  # rad, between where a trajectory starts and where the arm is
DRAWN = 144  # motions of a kind
LONGEST = 4.0  # s, of a motion: what goes on where nobody can stop it any more
TRIES = 48  # candidates, best first, that are checked
ALL = np.full(PARAMETERS, 1e-9)  # wanted deviations of a payload: all that can be known
LEAST_GAIN = 0.02  # nats a second: less is not worth a motion of the wrist
SLACK = 0.02  # rad from the limits of position
STEPS = (0.2, 3.0)  # rad, smallest and largest move
NO_ROOM = "no motion from here is within the limits: move the arm to where it has more room"
# Kinds of motions: through which of the pose now, a random one, and one that is random about that.
KINDS = ((0, 1), (0, 1, 0), (0, 1, 0, 1, 0), (0, 1, 2, 1, 2, 1))


class MotionLimits(NamedTuple):
    """Limits of a motion, beside those of the robot description."""

    link_speed: float = COBOT_SPEED  # m/s, of every point of every link and of the payload
    joint_speed: float = 2.0  # rad/s or m/s
    joint_acceleration: float = 5.0  # rad/s^2 or m/s^2
    share: float = 0.8  # of the description's limits of speed and effort that may be used
    range: float = 1.5  # rad or m, of a joint from where the motion starts
    clearance: float = 0.01  # m, between shapes, at least


def moves(poses: Array, durations: Array) -> Trajectory:
    """Moves of all joints from pose to pose (k + 1, joints), at rest in each, of durations (k,)
    [s]; points are the poses, and the ends of the ramps between them."""
    ends, speed = np.cumsum(durations), np.diff(poses, axis=0) / (durations - RAMP)[:, None]
    risen = ends - durations + RAMP
    stamps = np.stack([risen, np.maximum(ends - RAMP, risen), ends], axis=1)
    q, dq = np.repeat(poses, 3, axis=0)[2:], np.repeat(0.0 * poses, 3, axis=0)[2:]
    dq[1::3] = dq[2::3] = speed
    q[1::3] += 0.5 * RAMP * speed - np.diff(poses, axis=0)
    q[2::3] -= 0.5 * RAMP * speed
    return Trajectory(np.append(0.0, stamps), q, dq, 0.0 * dq)


def points_for_controller(arm: Arm, motion: Trajectory) -> Trajectory:
    """Dense points, of the joints that move the frame, of moves of all joints."""
    stamps = np.linspace(0.0, motion.duration, int(np.ceil(motion.duration / POINTS)) + 2)
    q, dq, ddq = (part[:, arm.moving] for part in motion.sample(stamps))
    dq[[0, -1]] = ddq[[0, -1]] = 0.0  # what remains there is rounding
    turns = [f"{name} by {np.degrees(angle):.0f}°" for name, angle in zip(
        arm.chain, np.ptp(q, axis=0), strict=True) if angle >= SMALLEST]
    return Trajectory(stamps, q, dq, ddq, arm.chain, f"turn {', '.join(turns)}")


def shortest_moves(arm: Arm, limits: MotionLimits, poses: Array, least: float = SHORTEST) -> Array:
    """Durations (..., k), at least so long [s], of moves through poses (..., k + 1, joints) within
    all limits of speed and acceleration."""
    step = np.diff(poses, axis=-2)[..., None, :]
    q, dq = (part.reshape(-1, poses.shape[-1]) for part in np.broadcast_arrays(
        poses[..., :-1, None, :] + NODES[:, None] * step, step))
    reach = arm.link_speed(q, dq).reshape(*step.shape[:-2], -1).max(axis=-1)
    allowed = np.minimum(min(limits.joint_speed, limits.joint_acceleration * RAMP / 1.5),
                         limits.share * arm.speed)
    return RAMP + np.maximum.reduce([
        np.full(reach.shape, least - RAMP), PEAK * reach / limits.link_speed,
        (np.abs(step[..., 0, :]) / allowed).max(axis=-1)])


def violations(arm: Arm, motion: Trajectory, pose: Array, limits: MotionLimits) -> tuple[str, ...]:
    """What is wrong with a motion from a pose (joints,) of all joints, a sentence each.

    The one check of planner, guide and execution: it samples the quintics between the points that a
    controller is sent, of all joints of the chain, and compares the collision shapes."""
    if not all(np.isfinite(part).all() for part in motion[:4]):
        return ("the trajectory holds numbers that are not finite",)
    if max(np.abs(part[[0, -1]]).max() for part in motion[2:4]) > REST:
        return ("the trajectory does not begin and end at rest",)
    away = np.abs(motion.positions[0] - pose[arm.moving])
    if away.max() > START:
        return (f"the trajectory starts {away.max():.3f} rad from where "
                f"{arm.chain[int(np.argmax(away))]} is",)
    t = np.linspace(0.0, motion.duration, int(np.ceil(motion.duration / STEP)) + 1)
    q, dq, ddq = state = np.zeros((3, len(t), len(pose)))
    state[0] = pose
    state[:, :, arm.moving] = motion.sample(t)
    found = [f"{what} {name} would be {value:.3g} {unit}, and may be {limit:.3g}"
             for what, unit, values, allowed in (
                 ("speed of", "rad/s", dq, np.minimum(limits.share * arm.speed,
                                                         limits.joint_speed)),
                 ("acceleration of", "rad/s^2", ddq, np.full_like(pose, limits.joint_acceleration)),
                 ("torque of", "N m", arm.described_torque(q, dq, ddq),
                  limits.share * arm.effort_limits),
                 ("speed of what moves with", "m/s", arm.link_speed(q, dq),
                  np.full_like(pose, limits.link_speed)))
             for name, value, limit in zip(arm.joint_names, np.abs(values).max(axis=0), allowed,
                                           strict=True) if value > ROUNDING * limit]
    found += [f"{arm.joint_names[k]} would leave {arm.lower[k]:.3f} to {arm.upper[k]:.3f} rad"
              for k in np.flatnonzero(((q < arm.lower) | (q > arm.upper)).any(axis=0)).tolist()]
    if not found:
        # Between two samples each shape moves by no more than its speed times half the time.
        margin = limits.clearance + limits.link_speed * STEP
        near = np.flatnonzero(arm.near(q, margin).any(axis=0)).tolist()
        found = [f"{one} would come within {1e3 * margin:.1f} mm of {other}"
                 for one, other in (arm.pairs[k] for k in near)]
    return tuple(found)


class MotionPlanner:
    """Plans motions of a robot from rest to rest, around a pose `home`. Poses are (joints,) [rad or
    m]; `known` is what is known of the payload by all that was planned (raises InvalidData: the
    pose itself is beyond the limits)."""

    def __init__(self, arm: Arm, limits: MotionLimits, home: Array, known: Knowledge,
                 seed: int | None = None) -> None:
        self.arm, self.limits, self.known = arm, limits, known
        self._rng = np.random.default_rng(seed)
        self._lower = np.maximum(arm.lower + SLACK, home - limits.range)
        self._upper = np.minimum(arm.upper - SLACK, home + limits.range)
        rest = moves(np.tile(home[arm.moving], (2, 1)), np.array([SHORTEST]))
        if problems := violations(arm, rest, home, limits):
            raise InvalidData(f"no motion can start here: {problems[0]}")

    def wiggle(self, start: Array) -> list[Trajectory]:
        """Two small motions to and fro, of one joint of the wrist each, first that which turns
        gravity most in the sensor (raises InvalidData: none is within the limits)."""
        turns = ANGLE * np.eye(len(start))[self.arm.moving[-WRIST:]]
        poses, out = np.vstack([start, start + turns]), list[Trajectory]()
        felt = self.arm.motion(poses, 0.0 * poses, 0.0 * poses)[0]
        for k in np.argsort(-np.linalg.norm(felt[1:] - felt[0], axis=1)):
            poses = start + np.outer([0.0, 1.0, -1.0, 0.0], turns[k])
            motion = points_for_controller(self.arm, moves(
                poses, shortest_moves(self.arm, self.limits, poses, SLOW)))
            if len(out) < 2 and not violations(self.arm, motion, start, self.limits):
                out.append(motion)
        if not out:
            raise InvalidData(NO_ROOM)
        return out

    def next_motion(self, start: Array, wanted: Array = ALL, longest: float = LONGEST
                    ) -> Trajectory:
        """The motion within the limits, of at most so many seconds, that tells most of a payload to
        be known to deviations (10,); it counts as made (raises InvalidData: there is none)."""
        if longest < SHORTEST:
            raise InvalidData(f"--duration {longest:g}: a motion lasts {SHORTEST} s at least")
        most, best = -np.inf, list[Trajectory]()  # gain; moves, and points of a controller
        for active in (self.arm.moving[-WRIST:], self.arm.moving):
            for gain, motion in self._candidates(start, active, wanted, longest):
                points = points_for_controller(self.arm, motion)
                if gain > most and not violations(self.arm, points, start, self.limits):
                    most, best = gain, [motion, points]
                    break
            if most > LEAST_GAIN:
                break
        if not best:
            raise InvalidData(NO_ROOM)
        self.known = self.known.after(self.arm, best[0])
        return best[1]

    def _candidates(self, start: Array, active: np.ndarray, wanted: Array, longest: float
                    ) -> list[tuple[float, Trajectory]]:
        """Random moves, of at most so many seconds, within the limits of position and speed, and
        their gains [nats/s]; best first."""
        rng, out = self._rng, list[Trajectory]()
        for kind in KINDS:
            direction = rng.normal(size=(DRAWN, 2, len(active)))
            # Some turn few joints: a single one may go farther.
            direction *= rng.random((DRAWN, 1, len(active))) < rng.choice(
                [0.35, 1.0], (DRAWN, 1, 1))
            length = np.exp(rng.uniform(np.log(STEPS[0]), np.log(STEPS[1]), (DRAWN, 2, 1)))
            steps = length * direction / np.maximum(
                np.linalg.norm(direction, axis=2, keepdims=True), 1e-9)
            poses = np.tile(start, (DRAWN, 3, 1))
            poses[:, 1:, active] = np.clip(start[active] + np.cumsum(steps, axis=1),
                                           self._lower[active], self._upper[active])
            poses = poses[:, kind]
            durations = shortest_moves(self.arm, self.limits, poses)
            within = (durations.sum(axis=1) <= longest) & (np.ptp(poses, axis=1).max(axis=1) > 0.0)
            out += map(moves, poses[within], durations[within])
        gains = [self.known.gain(self.arm, motion, wanted) for motion in out]
        return sorted(zip(gains, out, strict=True), key=itemgetter(0), reverse=True)[:TRIES]
