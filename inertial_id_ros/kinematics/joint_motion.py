# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Motion of the sensor frame from joint positions and the robot description (Pinocchio).

Joint velocities and accelerations are those of local quartics through the positions
(`fit_quartics` in `kinematics/polynomial.py`); the live wrench has a causal filter instead.
Measured velocities are not used: beside a quartic they bring nothing, and many drivers make them by
differences.

Messages that are stamped when they arrive were late by different times, or came in bursts. The
samples were taken regularly all the same, so that over some seconds the stamps scatter about a
straight line over the number of the sample. Its slope is the true period; the mean delay in it is
part of the offset between the clocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from ..errors import InvalidModel, UnknownFrame
from ..inertia import Array
from ..io.sample_blocks import JointStates
from ..limits import MAX_ARM_JOINTS
from ..signals.ring_buffer import (
    HELD,
    JUMPED,
    LATE,
    MISSING_JOINT,
    NOT_FINITE,
    REPEATED,
    Arrival,
    SampleRing,
)
from .frozen_positions import Frozen, FrozenPositions
from .motion import Motion, SampleNoise
from .moving_base import BaseImu, BaseMotion, moved_by_base
from .polynomial import (
    FEW,
    Spacing,
    choose_window,
    fit_quartics,
    gather_samples,
    hann_weights,
    has_coverage,
    is_too_slow,
    measure_spacing,
    misfit,
    parts_in_memory,
    sample_variance,
)
from .position_jumps import PositionJumps, Span
from .robot_description import SAME_NAME, link_names
from .transform_tree import Pose, TransformTree, list_names

BASE_NS = 3_000_000_000  # length of the stamps before a wanted time to which its line is fitted
_FEW = 20  # samples on a line


def even_out(stamps: np.ndarray, wanted: np.ndarray, window: float, spacing: Spacing,
             index: np.ndarray, u: Array, weights: Array, values: Array
             ) -> tuple[Array, Array, np.ndarray]:
    """Replace the times in windows by those of a regular clock where these fit the samples better:
    irregular stamps may also be right.

    Args:
        stamps: (n,) increasing [ns], from `BASE_NS` before the wanted times on, where there are
            some; wanted: (k,) [ns]; window: full length [s]; spacing: of the stamps.
        index, u, weights: (k, w) as `gather_samples` gives them; values: (k, w, d).

    Returns:
        u, weights (k, w), and where they are those of a regular clock (k,).
    """
    inside = weights > 0.0
    even = np.where(inside, _regular_times(stamps, wanted, window, spacing, index), 0.0)
    even_weights = np.where(inside, hann_weights(even), 0.0)
    better = misfit(even, even_weights, values) < misfit(u, weights, values)
    which = better[:, None]
    return np.where(which, even, u), np.where(which, even_weights, weights), better


def _regular_times(stamps: np.ndarray, wanted: np.ndarray, window: float, spacing: Spacing,
                   index: np.ndarray) -> Array:
    """Times (k, w) of samples on the line of each wanted time, relative to it, on the scale of half
    a window; arguments as for `even_out`. It looks half a window ahead, as the quartics do."""
    half = 0.5 * window
    number = np.arange(len(stamps), dtype=float)
    late = (stamps - stamps[0]) * 1e-9 - number * spacing.period  # small, so that sums stay exact
    low = np.searchsorted(stamps, wanted - BASE_NS)
    high = np.searchsorted(stamps, wanted + np.int64(half * 1e9), side="right")
    few = high - low < _FEW

    def mean(x: Array) -> Array:
        sums = np.concatenate([[0.0], np.cumsum(x)])
        return (sums[high] - sums[low]) / np.maximum(high - low, 1)

    middle, shift = mean(number), mean(late)
    spread = np.where(few, 1.0, mean(number * number) - middle**2)
    slope = (mean(number * late) - middle * shift) / spread
    on_line = (number[index] * spacing.period + shift[:, None]
               + slope[:, None] * (number[index] - middle[:, None]))
    line = (on_line - ((wanted - stamps[0]) * 1e-9)[:, None]) / half
    return np.where(few[:, None], (stamps[index] - wanted[:, None]) * (1e-9 / half), line)


_CAPACITY = 65_536  # joint states kept: a window can be gone through again
_SETTLE = 50  # samples after which the period, and with it the window, is taken as known
_IMPOSSIBLE = 1e6  # rad or m: no joint stands there, uninitialised memory does
_BEYOND_LIMIT, _TURN = 1.2, 2.0 * math.pi + 0.5  # of a joint's limit, and rad
_SPARSE_NS, _SPARSE = 10_000_000, 8  # the noise is measured in one of so many spans [ns]


class RobotFrame:
    """A sensor frame on a robot: forward kinematics of the joints between base and sensor.

    Args:
        model: whole robot.
        tree: fixed transforms, for frames that the robot description lacks.
        sensor_frame: frame of the wrench.
        gravity_frame: frame whose z axis points up; empty: the root of the robot description, or
            what lies above it by fixed transforms.
        gravity: magnitude [m/s^2].

    Attributes:
        model: the joints between base and sensor; frame: the sensor's number in it.
        root: the link that all others hang from.
        gravity_frame: that was given, or chosen.
        gravity_axes: its axes, in rows (3, 3), along those of the robot's root.
        imu: pose of the IMU on the base in the robot's root; None: there is none, or it is not
            known yet.
        joint_names: of these joints; revolute, circular: (joints,) whether they turn, and whether
            without limits.

    Raises:
        UnknownFrame: a frame cannot be tied to the robot by fixed transforms.
        InvalidModel: no joint moves the sensor frame.
    """

    def __init__(self, model: pin.Model, tree: TransformTree, sensor_frame: str,
                 gravity_frame: str, gravity: float) -> None:
        link, offset = _attach(model, tree, sensor_frame)
        chain = _joints_above(model, _link(model, link).parentJoint)
        if not chain:
            raise InvalidModel(f"no joint of the robot description moves frame '{sensor_frame}'")
        if len(chain) > MAX_ARM_JOINTS:
            raise InvalidModel(f"{len(chain)} joints of the robot description move frame "
                               f"'{sensor_frame}'; at most {MAX_ARM_JOINTS} are allowed")
        self.gravity = gravity
        self.imu: Pose | None = None
        self.root = _root(model)
        self.gravity_frame = gravity_frame or _static_root(tree, self.root)
        self.gravity_axes = _gravity_axes_in_root(model, tree, self.gravity_frame)
        locked = [j for j in range(1, model.njoints) if j not in chain]
        self._part = model, locked, link, offset
        self._reduce_model()
        names = list(self.model.names)[1:]
        self.joint_names: list[str] = [name.removeprefix(SAME_NAME) for name in names]
        joints = list(self.model.joints)[1:]
        for name, joint in zip(self.joint_names, joints, strict=True):
            if joint.nv != 1:
                raise InvalidModel(f"joint '{name}' has {joint.nv} degrees of freedom; "
                                   "only joints with one are read from joint states")
        self.circular = np.array([j.nq == 2 for j in joints])
        # Largest |position| that is plausible [rad]: infinite for a joint without limits. A whole
        # turn always is, since drivers count them differently.
        limits = np.maximum(np.abs(self.model.lowerPositionLimit),
                            np.abs(self.model.upperPositionLimit))
        self._farthest = np.array([
            np.inf if circular else max(_BEYOND_LIMIT * limits[j.idx_q], _TURN)
            for j, circular in zip(joints, self.circular, strict=True)])
        self.revolute = np.array([not j.shortname().startswith("JointModelP") for j in joints])
        self.velocity_limits: Array = np.array(
            [self.model.velocityLimit[j.idx_v] for j in joints])

    def _reduce_model(self) -> None:
        """Make the model of the joints between base and sensor."""
        model, locked, link, offset = self._part
        self.model = pin.buildReducedModel(model, locked, pin.neutral(model))
        at = _link(self.model, link)
        self.frame = self.model.addFrame(pin.Frame(
            "wrench sensor", at.parentJoint, at.placement * pin.SE3(*offset), pin.OP_FRAME))
        self._data = self.model.createData()

    def __getstate__(self) -> dict[str, Any]:
        """Without the model, which follows from that of the whole robot."""
        return {name: value for name, value in vars(self).items()
                if name not in ("model", "_data")}

    def __setstate__(self, content: dict[str, Any]) -> None:
        vars(self).update(content)
        self._reduce_model()

    def _configuration(self, positions: Array) -> Array:
        """Pinocchio's q (n, nq): continuous joints as cosine and sine."""
        columns: list[Array] = []
        for k, circular in enumerate(self.circular):
            columns += ([np.cos(positions[:, k]), np.sin(positions[:, k])] if circular
                        else [positions[:, k]])
        return np.stack(columns, axis=1)

    def unit_error(self, rows: Array) -> str | None:
        """What is wrong where joint positions (n, joints) can be no radians; None: nothing is.

        One joint a turn beyond its limits is none: it may turn farther than its description says.
        """
        if not (np.abs(rows) > self._farthest).any():  # as nearly always
            return None
        q = np.median(rows, axis=0)
        size = np.where(self.revolute, np.abs(q), 0.0)
        if (size > self._farthest).sum() < 2 and not (size > self._farthest + 2.0 * _TURN).any():
            return None
        worst = int(np.argmax(size - np.where(size > self._farthest, 0.0, np.inf)))
        fits = (np.deg2rad(size) < self._farthest).all()
        return (f"joint '{self.joint_names[worst]}' stands at {q[worst]:.4g}, far beyond its "
                "limits in the robot description: the joint states are "
                + ("in degrees; publish radians" if fits else
                   "not in radians, or the robot description is of another robot"))

    def same_geometry(self, other: RobotFrame) -> bool:
        """Whether joints, links, sensor offset and gravity are those of another robot frame."""
        return (self.model == other.model
                and np.allclose(self.gravity_axes, other.gravity_axes, rtol=0.0, atol=1e-9))

    def pose(self, frame: str, tree: TransformTree, positions: Array) -> Pose:
        """Pose in the robot's root of a frame tied to the robot, at joint positions (joints,).

        Raises:
            UnknownFrame: neither in the robot description nor fixed to it, above or below.
        """
        above = tree.static_pose(self.root, frame)
        if above is not None:
            return above
        link, offset = _attach(self.model, tree, frame)
        pin.forwardKinematics(self.model, self._data, self._configuration(positions[None])[0])
        at = pin.updateFramePlacement(
            self.model, self._data, self.model.getFrameId(link, pin.FrameType.BODY))
        return Pose(at.rotation.copy(), at.translation.copy()) @ offset

    def sensor_pose_covariance(self, positions: Array, variance: Array) -> Array:
        """Covariance (6, 6) of position and orientation of the sensor, in its axes, from the
        variance (joints,) of joint positions (joints,)."""
        columns = pin.computeFrameJacobian(
            self.model, self._data, self._configuration(positions[None])[0], self.frame,
            pin.LOCAL)
        return np.asarray(columns * variance @ columns.T)

    @property
    def gravity_at_rest(self) -> Array:
        """Specific force (3,) of a base at rest, along the axes of the robot's root [m/s^2]."""
        return self.gravity * self.gravity_axes[2]

    def motion(self, positions: Array, velocities: Array, accelerations: Array,
               valid: np.ndarray, base: BaseMotion | None = None) -> Motion:
        """Sensor motion from joint motions (n, joints) [rad, rad/s, rad/s^2 or m, ...].

        Args:
            base: motion of the base at these n times; None: it stands still.
        """
        velocity, change = np.zeros((2, len(positions), 6))
        rotation = np.empty((len(positions), 3, 3))
        rotation[:] = self.gravity_axes.T  # no motion: unit axes
        position = np.zeros((len(positions), 3))
        configuration = self._configuration(positions)
        model, data, frame, local = self.model, self._data, self.frame, pin.LOCAL
        move, place = pin.forwardKinematics, pin.updateFramePlacement
        get_velocity, get_change = pin.getFrameVelocity, pin.getFrameClassicalAcceleration
        for i in np.flatnonzero(valid).tolist():
            move(model, data, configuration[i], velocities[i], accelerations[i])
            at = place(model, data, frame)
            rotation[i], position[i] = at.rotation, at.translation
            velocity[i] = get_velocity(model, data, frame, local).vector
            change[i] = get_change(model, data, frame, local).vector
        if base is not None:
            added = moved_by_base(base, rotation, position, velocity[:, :3], velocity[:, 3:])
            change += np.hstack(added[::2])
            velocity[:, 3:] += added[1]
        return Motion(self.gravity_axes @ rotation, self.gravity, change[:, :3],
                      velocity[:, 3:], change[:, 3:], valid, position @ self.gravity_axes.T)


class JointMotion:
    """Sensor motion at any time, from a stream of joint states.

    Attributes:
        robot: whose joints move the sensor; ring: positions (joints,) of the joint states.
        window: length of the quartics [s].
        base: readings of an IMU on the base, to which `robot.imu` belongs; None: it stands still.
    """

    def __init__(self, robot: RobotFrame, window: float, base: BaseImu | None = None) -> None:
        self.robot, self.base = robot, base
        self._requested_window = self.window = window
        self._samples, self._spacing = 0, Spacing(math.inf, math.inf)
        self.ring = SampleRing(len(robot.joint_names), _CAPACITY)
        self._orders: dict[tuple[str, ...], list[int] | None] = {}
        self._watch_positions()
        self._doubtful: int | None = None  # stamp of the oldest sample after what may be a jump

    def _watch_positions(self) -> None:
        """Judge positions from here on."""
        self._jumps = PositionJumps(self.robot.velocity_limits, self.robot.revolute)
        self._frozen = FrozenPositions(len(self.robot.joint_names))

    def add(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float]) -> Arrival:
        """Add a joint state; says what became of it."""
        key = tuple(names)
        if key not in self._orders:
            if len(self._orders) > 100:  # a publisher that invents names must not grow memory
                self._orders.clear()
            self._orders[key] = self._order(names)
        order = self._orders[key]
        if order is None or len(positions) < len(names):
            return MISSING_JOINT
        row = [positions[k] for k in order]
        for x in row:  # plain comparisons, which NaN fails: this runs for each sample
            if not -_IMPOSSIBLE < x < _IMPOSSIBLE:
                return NOT_FINITE
        if stamp_ns <= self.ring.newest:  # late, or out of order
            self._jumps.contradict(self.ring, stamp_ns, np.array(row))
        result = self.ring.append(stamp_ns, row)
        if result == JUMPED:
            self._watch_positions()
        if result not in (LATE, REPEATED, HELD):
            self._samples += 1
            if self._samples == _SETTLE:
                self._spacing = measure_spacing(self.ring.stamps)
                self.window = choose_window(self._spacing, self._requested_window)
        return result

    def fits(self, block: JointStates) -> bool:
        """Whether `add` would store these joint states one after the other."""
        order = self._orders.get(block.names)
        return (order is not None and block.positions.shape[1] >= len(block.names)
                and self._samples >= _SETTLE
                and bool((np.abs(block.positions[:, order]) < _IMPOSSIBLE).all())
                and self.ring.would_store_all(block.stamps))

    def add_block(self, block: JointStates) -> None:
        """Add joint states that fit (see `fits`)."""
        self.ring.extend(block.stamps, block.positions[:, self._orders[block.names]])
        self._samples += len(block.stamps)

    def _order(self, names: Sequence[str]) -> list[int] | None:
        """Where the robot's joints are among these names; None where one is missing."""
        index = {name: k for k, name in enumerate(names)}
        wanted = self.robot.joint_names
        return [index[j] for j in wanted] if all(j in index for j in wanted) else None

    def too_slow(self) -> Spacing | None:
        """The spacing of the joint states if they come too slowly for accelerations."""
        if len(self.ring) < FEW:
            return None
        settled = self._samples >= _SETTLE
        spacing = self._spacing if settled else measure_spacing(self.ring.stamps)
        window = choose_window(spacing, self._requested_window)
        return spacing if is_too_slow(spacing, window) else None

    def settled_until(self) -> int | None:
        """Newest time [ns] with half a window of samples after it."""
        if self._samples < _SETTLE:
            return None
        newest = self.ring.newest if self._doubtful is None else self._doubtful - 1
        settled = newest - self.provisional_ns
        if self.base is None:
            return settled
        of_base = self.base.settled_until(self._requested_window)
        return None if of_base is None else min(settled, of_base)

    def judge_positions(self) -> list[Span]:
        """Judge the positions that came since the last call; gives those found to be wrong, for
        which there is no motion from now on."""
        if self._samples < _SETTLE:
            return []
        found = self._jumps.judge(self.ring, self._spacing, self._context_ns)
        doubtful = self._jumps.doubtful(self.ring, self._spacing, self._context_ns)
        self._doubtful = doubtful[0].last if doubtful else None
        self._frozen.judge(self.ring)
        freeze = self._frozen.lasting
        if freeze is not None:
            self._doubtful = min(freeze.first, self._doubtful or freeze.first)
        return found

    @property
    def frozen(self) -> Frozen | None:
        """The joint that is frozen; None: there is none."""
        freeze = self._frozen.lasting
        return freeze and Frozen(f"joint '{self.robot.joint_names[freeze.column]}'", freeze.why)

    @property
    def still(self) -> float:
        """Time [s] for which no joint has moved to the last bit."""
        return self._frozen.still

    @property
    def mixed_positions(self) -> Span | None:
        """The newest positions, if they have contradicted each other for a while; else None."""
        return self._jumps.mixed(self.ring.newest)

    @property
    def _context_ns(self) -> int:
        """Time [ns] before and after a step within which its speed is compared."""
        return self.provisional_ns // 2

    def newest(self) -> int | None:
        """Newest stamp [ns]."""
        return self.ring.newest if len(self.ring) else None

    def close(self, until_ns: int) -> None:
        """Treat samples up to half a window before that time [ns] as late from now on."""
        for ring in (self.ring, *([] if self.base is None else [self.base.ring])):
            ring.closed_until = max(ring.closed_until, until_ns - self.provisional_ns)

    @property
    def provisional_ns(self) -> int:
        """Length [ns] of the newest motion, not settled yet: half a window."""
        return int(0.5e9 * self.window)

    def motion_at(self, stamps: np.ndarray) -> Motion:
        """Motion at stamps (n,) [ns]."""
        return self._motion(stamps, int(stamps[-1]) + self.provisional_ns + 1, False)

    def provisional_motion(self, stamps: np.ndarray, end_ns: int) -> Motion:
        """Motion at stamps (n,) [ns] from samples before `end_ns` alone, where the future half of
        the quartic may be missing."""
        return self._motion(stamps, end_ns, True)

    def _motion(self, stamps: np.ndarray, end_ns: int, ends: bool) -> Motion:
        """Motion at stamps (n,) [ns] from samples before `end_ns`; ends: none follow these yet."""
        irregular = self._spacing.block > 1
        before = max(BASE_NS, self.provisional_ns) if irregular else self.provisional_ns
        near = self.ring.between(int(stamps[0]) - before - 1, end_ns)
        times, rows = self.ring.stamps[near], self.ring.rows[near].copy()
        if len(times) == 0:
            still = np.zeros((len(stamps), rows.shape[1]))
            return self.robot.motion(still, still, still, np.zeros(len(stamps), dtype=bool))
        turning = self.robot.revolute
        steps = np.abs(rows[1:, turning] - rows[:-1, turning])
        if steps.max(initial=0.0) > np.pi:  # some drivers wrap to +-pi
            rows[:, turning] = np.unwrap(rows[:, turning], axis=0)
        fits = np.zeros((3, len(stamps), rows.shape[1]))
        valid = np.zeros(len(stamps), dtype=bool)
        sums, count = np.zeros(rows.shape[1]), 0
        doubtful = (self._jumps.doubtful(self.ring, self._spacing, self._context_ns, end_ns)
                    if ends else [])
        for part in parts_in_memory(times, stamps, self.window):
            index, u, weights = gather_samples(times, stamps[part], self.window)
            even = np.zeros(len(u), dtype=bool)
            if irregular:
                u, weights, even = even_out(times, stamps[part], self.window, self._spacing,
                                            index, u, weights, rows[index])
            good = has_coverage(u, weights, near.start == 0 and index[:, 0] == 0, ends)
            good &= ~(self._jumps.mask(stamps[part], self.provisional_ns, doubtful)
                      | self._frozen.mask(stamps[part], self.provisional_ns))
            fits[:, part] = fit_quartics(u, weights, rows[index], self.window)
            valid[part] = good
            if ends:
                continue
            judged = good & (stamps[part] // _SPARSE_NS % _SPARSE == 0)
            for which, block in ((even, 1), (~even, self._spacing.block)):
                some = np.flatnonzero(judged & which)
                if len(some):
                    sums += len(some) * sample_variance(u[some], weights[some], rows[index[some]],
                                                        block)
                    count += len(some)
        base = None
        if self.base is not None:
            assert self.robot.imu is not None
            base, is_known = self.base.motion_at(
                stamps, end_ns if ends else None, self._requested_window, self.robot.imu,
                self.robot.gravity_at_rest)
            valid &= is_known
        motion = self.robot.motion(fits[0], fits[1], fits[2], valid, base)
        if not count:
            return motion
        somewhere = fits[0, np.argmax(valid)]
        covariance = self.robot.sensor_pose_covariance(somewhere, sums / count)
        return motion._replace(noise=SampleNoise(
            covariance, self._spacing.period, self.window, count))


def _joints_above(model: pin.Model, joint: int) -> list[int]:
    """A joint, its parent, and so on up to the root."""
    chain = []
    while joint > 0:
        chain.append(joint)
        joint = model.parents[joint]
    return chain


def _root(model: pin.Model) -> str:
    """The link that all others hang from."""
    return next(name for name in link_names(model) if _link(model, name).parentJoint == 0)


def _link(model: pin.Model, name: str) -> pin.Frame:
    """The frame of a link."""
    return model.frames[model.getFrameId(name, pin.FrameType.BODY)]


def _attach(model: pin.Model, tree: TransformTree, frame: str) -> tuple[str, Pose]:
    """The robot's frame to which a frame is fixed, and its pose in it."""
    names = link_names(model)
    if frame in names:
        return frame, Pose(np.eye(3), np.zeros(3))
    for ancestor in tree.ancestors(frame):
        pose = tree.static_pose(ancestor, frame) if ancestor in names else None
        if pose is not None:
            return ancestor, pose
    raise UnknownFrame(
        f"frame '{frame}' is neither in the robot description nor fixed to it by static "
        "transforms; "
        f"robot frames: {list_names(names)}; transform frames: {tree.describe()}")


def _gravity_axes_in_root(model: pin.Model, tree: TransformTree, gravity_frame: str) -> Array:
    """Axes of the gravity frame, in rows (3, 3), along the axes of the robot's root."""
    names = link_names(model)
    if gravity_frame in names:
        frame = _link(model, gravity_frame)
        if frame.parentJoint != 0:
            raise UnknownFrame(f"gravity.frame '{gravity_frame}' moves with the robot; "
                               "it must be fixed to its base")
        return frame.placement.rotation.T
    root = _root(model)
    pose = tree.static_pose(root, gravity_frame)
    if pose is None:
        raise UnknownFrame(
            f"gravity.frame '{gravity_frame}' is neither in the robot description nor tied to its "
            f"root '{root}' by static transforms; transform frames: {tree.describe()}")
    return pose.rotation.T


def _static_root(tree: TransformTree, frame: str) -> str:
    """The last frame above a frame that only fixed transforms lead to (a tilted mounting)."""
    if not tree.knows(frame):
        return frame
    above = [f for f in tree.ancestors(frame) if tree.static_pose(f, frame) is not None]
    return above[-1]
