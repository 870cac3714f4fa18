# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Grips and releases with faults of the inputs between them: does the compensated wrench jump, when
is it right again, and is a payload ever removed that is gone?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.faults.fault import Fault
from benchmarks.faults.injected import FAULTS
from benchmarks.faults.stream import (
    JOINTS,
    START_NS,
    TRANSFORM,
    WRENCH,
    Simulation,
    Stream,
    seconds,
)
from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.payload import PAYLOADS, Part, Payload
from inertial_id_ros.identification.compensation.live_compensation import (
    LiveCompensation,
    PreparedLoad,
    Status,
    inputs_of,
)
from inertial_id_ros.identification.compensation.load_latch import Load, LoadInUse, Mode
from inertial_id_ros.inertia import Array
from inertial_id_ros.kinematics.causal.features import features_of
from inertial_id_ros.kinematics.joint_motion import RobotFrame
from inertial_id_ros.kinematics.robot_description import parse_urdf
from inertial_id_ros.kinematics.transform_tree import TransformTree

RATE, END = 200.0, 40.0  # Hz; s of a run
CHANGES = ((0.0, 0), (12.0, 1), (24.0, 2))  # s, payload: bare gripper, gripped, released
NOISE = np.repeat((0.1, 0.005), 3)  # N, N m
_ADVANCE, _SOLVE = 0.1, 0.5  # s
_RIGHT, _STEADY = 2.0, 0.5  # standard deviations of the force, s for which it is that near
_MOVING = 0.1  # rad/s
_CONSECUTIVE = 0.05  # s between messages of which one follows the other
_QUIET = 2.0  # s between a fault and a change that it shall not touch


class Change(NamedTuple):
    """A grip or a release.

    Attributes:
        fault: that was injected in this run; near: whether it lies about the change.
        noticed: s until the load before is removed no longer, blended away; inf: never.
        right: s of motion until the wrench is right again; inf: not before the next change.
    """

    fault: str
    near: bool
    noticed: float
    right: float


def gripper() -> Payload:
    """What stays when a payload is released."""
    return Payload("gripper", (Part("box", (0.08, 0.06, 0.1), 600.0, (0.0, 0.0, 0.05)),))


def measure(runs: int, first: int = 1000) -> None:
    """Print what was found in so many runs of 40 s with seeds from a first one on."""
    changes: list[Change] = []
    jumps: list[tuple[float, str, float]] = []
    faults: list[Fault | None] = [None, *(f for f in FAULTS if TRANSFORM not in f.on)]
    for k in range(runs):
        fault = faults[k % len(faults)]
        found, jump = _run(first + k, fault)
        changes += found
        jumps.append((jump, fault.name if fault else "none", first + k))
        print(f"\r{k + 1}/{runs}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    jumps.sort(reverse=True)
    print(f"{runs * END / 3600.0:.2f} h, {len(changes)} grips and releases\n")
    print("| | 50 % | 95 % | most |\n|---|---|---|---|")
    print("| largest change of what is removed between two messages at a switch, in standard "
          f"deviations | {_row([j for j, _, _ in jumps])} |")
    for near in (False, True):
        some = [c for c in changes if c.near is near]
        words = "with a fault about it" if near else "without"
        print(f"| time until a payload that is gone is removed no longer, {words} ({len(some)}), s "
              f"| {_row([c.noticed for c in some])} |")
        print(f"| motion until the wrench is right again, {words}, s "
              f"| {_row([c.right for c in some])} |")
    print("\nlargest jumps: " + ", ".join(f"{j:.2f} ({name}, {seed})"
                                          for j, name, seed in jumps[:5]))
    late = sorted(changes, key=lambda c: -c.right)[:8]
    print("latest: " + ", ".join(f"{c.right:.1f} s ({c.fault})" for c in late))
    late = sorted(changes, key=lambda c: -c.noticed)[:8]
    print("longest in use after its end: " + ", ".join(
        f"{c.noticed:.1f} s ({c.fault})" for c in late))


def _row(values: list[float]) -> str:
    """Median, 95 % and largest."""
    if not values:
        return " | | "
    return " | ".join(f"{v:.2f}" for v in (*np.percentile(values, [50, 95], method="higher"),
                                           max(values)))


class _Log:
    """What the live compensation did with each wrench.

    Args:
        robot: of the stream.

    Attributes:
        t: arrivals [s]; left: (6,) of each, NaN where nothing was published.
        learnt: stamp of the estimate whose payload is removed [s]; infinite: of none, or a blend
            of several, -inf.
        moving: whether the arm moves; jump: largest change of what is removed because of another
            load, from one message to the next, in standard deviations.
    """

    def __init__(self, robot: RobotFrame) -> None:
        self.t: list[float] = []
        self.left: list[Array] = []
        self.learnt: list[float] = []
        self.moving: list[bool] = []
        self.jump = 0.0
        self._robot = robot
        self._recent: list[tuple[float, Array]] = []
        self._load: Load | None = None

    def add_positions(self, now: float, positions: Array) -> None:
        """Note joint positions (6,)."""
        if len(positions) == len(self._robot.joint_names):
            self._recent = [*self._recent[-20:], (now, positions)]

    def add(self, now: float, wrench: Array, out: Sequence[float] | None, status: Status,
            use: LoadInUse) -> None:
        """Note what came of a wrench (6,)."""
        load = None if out is None else status.load
        if (load is not None and self._load is not None and now - self.t[-1] < _CONSECUTIVE
                and load is not self._load):
            self.jump = max(self.jump, self._step(self._load, load, wrench, use))
        self._load = load
        self.t.append(now)
        self.left.append(np.full(6, np.nan) if out is None else np.array(out))
        self.learnt.append(
            np.inf if out is None else -np.inf if status.share < 1.0 else
            np.inf if status.mode is not Mode.PAYLOAD else 1e-9 * (status.estimate_ns - START_NS))
        self.moving.append(self._is_moving())

    def _step(self, before: Load, load: Load, wrench: Array, use: LoadInUse) -> float:
        """Difference between a wrench without the one and without the other load, the arm being at
        rest where it is."""
        still = np.zeros((1, len(self._robot.joint_names)))
        motion = self._robot.motion(self._recent[-1][1][None], still, still, np.array([True]))
        inputs = inputs_of(wrench, features_of(
            np.zeros(3), motion.gravity * motion.axes[0], np.zeros(3), np.zeros(3)))
        one, other = (PreparedLoad(x, use, -1.0).remove(inputs) for x in (before, load))
        return float((np.abs(other - one) / NOISE).max())

    def _is_moving(self) -> bool:
        """Whether the joints have moved lately."""
        if len(self._recent) < 2:
            return False
        (begin, first), (end, last) = self._recent[0], self._recent[-1]
        return bool(end > begin and np.abs(last - first).max() > _MOVING * (end - begin))


def _run(seed: int, fault: Fault | None) -> tuple[list[Change], float]:
    rng = np.random.default_rng([seed, 5])
    motion = ("point_to_point", "sinusoid", "stop_and_go")[seed % 3]
    names = list(PAYLOADS)
    gripped = PAYLOADS[names[rng.integers(len(names))]]
    simulation = Simulation((gripper(), gripped, gripper()), seed, motion, RATE)
    stream = simulation.stream(list(CHANGES), END)
    at = float(rng.uniform(6.0, END - 6.0))
    if fault is not None:
        stream = fault.inject(stream, at, np.random.default_rng([seed, 6]))
    cobot = SimulatedCobot()
    robot = RobotFrame(parse_urdf(cobot.urdf), TransformTree(), cobot.sensor_frame, "", 9.81)
    log = _play(stream, dict(fault.changes) if fault is not None else {}, robot)
    lasts = fault.lasts if fault is not None else 0.0
    changes = []
    for k, (when, _) in enumerate(CHANGES[1:], 1):
        until = CHANGES[k + 1][0] if k + 1 < len(CHANGES) else END
        near = fault is not None and at - _QUIET < until and at + lasts + _QUIET > when
        changes.append(Change(fault.name if fault else "none", near,
                              *_after(log, when, until, at, at + lasts if fault else at)))
    return changes, log.jump


def _play(stream: Stream, settings: dict[str, object], robot: RobotFrame) -> _Log:
    """Play a stream as a node does."""
    made, log, now = stream.identifier(settings), _Log(robot), [0.0]
    live = LiveCompensation(made.settings, lambda: now[0])
    live.begin()
    use = made.load_in_use()
    due_advance = due_solve = 0.0
    for message in stream.messages:
        now[0] = seconds(message)
        getattr(made, message.method)(*message.arguments)
        if message.method == JOINTS:
            stamp, names, positions = message.arguments[:3]
            live.add_joint_state(stamp, tuple(names), positions)
            log.add_positions(now[0], np.array(positions))
        elif message.method == WRENCH:
            stamp, frame, force, torque = message.arguments
            wrench = np.array([*force, *torque], dtype=float)
            out = live.compensate(stamp, frame, wrench.tolist())
            log.add(now[0], wrench, out, live.status(), use)
        if now[0] >= due_advance:
            due_advance = now[0] + _ADVANCE
            made.advance()
            if now[0] >= due_solve:
                due_solve = now[0] + _SOLVE
                made.solve()
            use = made.load_in_use()
            live.use(use)
    return log


def _after(log: _Log, when: float, until: float, begins: float, ends: float
           ) -> tuple[float, float]:
    """Times as `Change` gives them, of a change at a time, before the next one; a fault lasts from
    `begins` to `ends` [s], during which the wrench itself is wrong."""
    t = np.array(log.t)
    some = np.flatnonzero((t >= when) & (t < until))
    gone = next((t[k] - when for k in some if log.learnt[k] >= when), np.inf)
    left = np.array([log.left[k] for k in some]) / NOISE
    excused = (t[some] > begins) & (t[some] < ends + 1.0)
    width = round(_STEADY * RATE)
    good = np.isfinite(left[:, 0])
    squares = np.where(good, (left[:, :3]**2).mean(axis=1), np.inf)
    for k in range(len(some) - width):
        part = slice(k, k + width)
        if not excused[part].any() and squares[part].mean() < _RIGHT**2:
            return gone, sum(log.moving[j] for j in some[:k]) / RATE
    return gone, np.inf
