# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The load as joint torques measure it, and the problem of it relative to an identified robot.

A row holds the regressor of the whole robot, the identity (a zero of the torques that has moved)
and the torques, of all joints. Where a joint stands or turns back, its friction may be anything
between the two directions': such rows are scaled down as if that were noise.

``tau - Y phi_robot = Y d + Y_last T phi + z``: Y_last are the columns of the body that carries the
payload, T moves the payload's parameters from its frame into that body's, d is what is wrong with
the identified robot, and z by how much the zero of the torques has moved since. d is eliminated
with its covariance, to which is added what friction may have drifted, so that the answer's
covariance holds the uncertainty of the robot; z is zero until it is seen to have moved, and then
anything.

Where torques are motor currents times gains, the gains' relative errors e add ``e tau`` joint by
joint, and d is correlated with them. tau is that of robot and payload by the model there: the
measured one would let all shrink, so that its noise does.

The rows come of a stream of joint states with efforts: bins of torques and regressors of the robot,
by the same steps as `robot.recording.filter_recording`, but in a stream (a quartic through the
positions, and means over 10 ms); the low-pass is that of `segments`.

The rows come of a stream of joint states with efforts: bins of torques and regressors of the robot,
by the same steps as `robot.recording.filter_recording`, but in a stream (a quartic through the
positions, and means over 10 ms); the low-pass is that of `segments`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ...detection.load_model import DisturbanceTexts, LoadModel
from ...errors import InvalidModel, UnknownFrame
from ...inertia import PARAMETERS, Array, transform_matrix
from ...kinematics.polynomial import (
    FEW,
    Spacing,
    choose_window,
    fit_quartics,
    gather_samples,
    has_coverage,
    is_too_slow,
    measure_spacing,
)
from ...linalg import inverse
from ...regression.problem import Marginal, Problem, eliminate, unconstrained_fit, vague_information
from ...regression.regressor_window import Rows
from ...regression.row_layout import BIASES
from ...regression.tool import Tool, covariance_root
from ...robot.factors import Compressed, compress_rows, equivalent_white_noise
from ...robot.joint_terms import COULOMB, OFFSET, VISCOUS
from ...robot.model import RobotModel
from ...robot.rest_rows import coulomb_columns, friction_weight
from ...robot.robot_file import IdentifiedRobot, reduced_model
from ...signals.bins import BIN_NS, BinColumns, bin_samples
from ...signals.low_pass import FilteredRows, ZeroPhaseFilter, make_low_pass
from ...signals.ring_buffer import SampleRing

ZERO_SD = 1000.0  # N m: a zero that has moved may be anywhere
MOTION, ROBOT, FRICTION, GAINS = "motion", "robot", "friction", "gains"  # what leaves a mass open
_MORE = 4.0  # times as much motion
_ROUNDS = 2
_LEAST = 1e-3  # of the robot's own noise: what rows leave at least


class TorqueFit(NamedTuple):
    """The payload's problem, and how well its best payload fits.

    Attributes:
        problem: for the estimators.
        residual_rms: (joints,) root mean square of the torques that it does not explain [N m].
        bare_rms: (joints,) the same of the robot without payload [N m].
    """

    problem: Problem
    residual_rms: Array
    bare_rms: Array


class TorqueProblem:
    """Builds the payload's problem, for one robot and one frame.

    Args:
        robot: identified; urdf: its description; frame: link, fixed to a body of the robot.
        drift: what friction may have changed since, relative to it.

    Attributes:
        zero_moved: whether the zero of the torques is no longer that of the robot file.

    Raises:
        InvalidModel: another description, or no moving body carries the frame.
        UnknownFrame: the description has no such link.
    """

    def __init__(self, robot: IdentifiedRobot, urdf: str, frame: str, drift: float) -> None:
        self.model = robot.model(urdf)
        self.robot = robot
        self._made_from = urdf, frame, drift
        self.zero_moved = False
        where, placement = _find_body(self.model, urdf, frame)
        n, p = self.model.nv, self.model.size
        self._payload = np.zeros((p + n, PARAMETERS))
        self._payload[self.model.body_slice(where)] = transform_matrix(placement.rotation,
                                                                       placement.translation)
        self._robot_errors = np.zeros((p + n, p))
        covariance = robot.covariance
        if robot.currents is not None:  # whose errors torques and robot have in common
            covariance = covariance - robot.currents.covariance
        self._robot_errors[:p] = covariance_root(
            covariance + np.diag(_friction_drift_sd(self.model, robot.phi, drift)**2))
        self._known = np.concatenate([robot.phi, np.zeros(n)])
        self._gain_errors = self._with_gain_errors(drift)

    def matrix(self, tool: Tool | None = None) -> Array:
        """Matrix (p + joints + 1, 10 + s + 1) from columns of rows ``[Y | 1 | tau]`` to
        ``[payload | unit errors (s) | torque not known]``.

        Args:
            tool: removed, as known to its covariance; None: none.
        """
        n = self.model.nv
        zero = np.zeros((len(self._known), n))
        zero[-n:] = ZERO_SD * self.zero_moved * np.eye(n)
        parts, known = [self._payload, self._robot_errors, zero], self._known
        if tool is not None:
            known = known + self._payload @ tool.phi
            parts.append(self._payload @ tool.root)
        columns = np.concatenate(parts, axis=1)
        bottom = np.append(np.zeros(columns.shape[1]), 1.0)
        return np.concatenate([np.column_stack([columns, -known]), bottom[None]])

    def _with_gain_errors(self, drift: float) -> Array | None:
        """Square root (p + joints, p + joints) of the covariance of the robot's and of the gains'
        relative errors; None where torques are measured."""
        currents = self.robot.currents
        if currents is None or not currents.spread.any():
            return None
        own = self.robot.covariance + np.diag(_friction_drift_sd(self.model, self.robot.phi,
                                                                 drift)**2)
        across = -currents.follow @ currents.spread
        return covariance_root(np.block([[own, across], [across.T, currents.spread]]))

    def _add_gains(self, rows: Array, matrix: Array, payload: Array) -> tuple[Array, Array]:
        """Rows with a column of each joint's torque before the last one, and the matrix for them.

        Args:
            payload: (10,) parameters of the payload, about.
        """
        assert self._gain_errors is not None
        n, p = self.model.nv, self.model.size
        torque = rows[..., :p + n] @ (self._known + self._payload @ payload)
        wide = np.concatenate([rows[..., :-1], torque[..., None] * np.eye(n), rows[..., -1:]],
                              axis=2)
        taller = np.insert(matrix, np.full(n, p + n), 0.0, axis=0)
        errors = np.zeros((len(taller), p + n))
        errors[np.r_[:p, p + n:p + 2 * n]] = self._gain_errors
        return wide, np.concatenate([taller[:, :PARAMETERS], errors,
                                     taller[:, PARAMETERS + p:]], axis=1)

    def build(self, rows: Array, tool: Tool | None, motion: float = 1.0) -> TorqueFit:
        """Build the problem of a window.

        Args:
            rows: ``[Y | 1 | tau]`` (r, joints, p + joints + 1), which may be scaled.
            tool: removed, as known to its covariance; None: none.
            motion: as if there were so many times as much of it.
        """
        matrix = self.matrix(tool)
        data = compress_rows(rows[..., :-1], rows[..., -1])
        linear = rows @ matrix
        noise, least = self.robot.noise, _LEAST * self.robot.noise
        scale = np.einsum("rjj->rj", rows[..., self.model.size:-1])
        full = np.maximum(_rms(scale), _LEAST)  # of a row that was not scaled down
        for _ in range(_ROUNDS):
            residual, payload = _residual_torques(linear, data, matrix, noise)
            noise = np.maximum(equivalent_white_noise(residual, least) / full, least)
        if self._gain_errors is not None:
            rows, matrix = self._add_gains(rows, matrix, payload)
            data = compress_rows(rows[..., :-1], rows[..., -1])
        marginal = _marginal(data, matrix, noise / np.sqrt(motion))
        return TorqueFit(Problem.from_marginal(marginal, len(rows)), _rms(residual),
                         _rms(linear[..., -1]))

    @property
    def causes(self) -> tuple[str, ...]:
        """What may leave a mass open."""
        return (MOTION, ROBOT, FRICTION, *((GAINS,) if self._gain_errors is not None else ()))

    def mass_sd(self, rows: Array, tool: Tool | None, mass: float, without: Collection[str]
                ) -> float:
        """Standard deviation of the mass [kg] without some of the `causes`: with `_MORE` times the
        motion, and without errors of the robot, of its friction or of its gains.

        Args:
            rows, tool: as for `build`; mass: about [kg].
        """
        urdf, frame, drift = self._made_from
        robot = self.robot
        errors, of_gains = robot.covariance, np.zeros_like(robot.covariance)
        if robot.currents is not None:
            of_gains = robot.currents.covariance
            if GAINS in without:
                errors, of_gains = errors - of_gains, np.zeros_like(of_gains)
                robot = replace(robot, currents=replace(
                    robot.currents, spread=np.zeros_like(robot.currents.spread)))
        robot = replace(robot, covariance=of_gains if ROBOT in without else errors)
        made = TorqueProblem(robot, urdf, frame, 0.0 if FRICTION in without else drift)
        made.zero_moved = self.zero_moved
        fit = made.build(rows, tool, _MORE if MOTION in without else 1.0)
        information = fit.problem.marginal("noise").information
        return float(np.sqrt(inverse(information + vague_information(mass))[0, 0]))


def _residual_torques(linear: Array, data: Compressed, matrix: Array, noise: Array
                      ) -> tuple[Array, Array]:
    """Torques (r, joints) that the best payload and the most probable errors do not explain, and
    that payload's parameters (10,)."""
    marginal = _marginal(data, matrix, noise)
    phi, _ = unconstrained_fit(marginal.information, marginal.matrix.T @ marginal.target)
    errors = marginal.states(phi)[BIASES:]
    return np.asarray(linear[..., -1] - linear[..., :-1] @ np.r_[phi, errors]), phi


def _rms(rows: Array) -> Array:
    """Root mean square (k,) of each column of rows (r, k)."""
    return np.asarray(np.sqrt(np.mean(rows**2, axis=0)))


def _marginal(data: Compressed, matrix: Array, noise: Array) -> Marginal:
    """The problem in phi alone, unit errors eliminated; the biases of a sensor are zero."""
    wide = np.concatenate([matrix[:, :PARAMETERS], np.zeros((len(matrix), BIASES)),
                           matrix[:, PARAMETERS:]], axis=1)
    states = wide.shape[1] - 1 - PARAMETERS
    prior = np.zeros((states, wide.shape[1]))
    prior[:, PARAMETERS:-1] = np.eye(states)
    return eliminate(np.concatenate([data.stack(noise) @ wide, prior]))


def _friction_drift_sd(model: RobotModel, phi: Array, share: float) -> Array:
    """Standard deviations (p,) by which friction may have changed since identification.

    Args:
        share: of the friction itself; offsets change by that share of the Coulomb friction.
    """
    out = np.zeros(model.size)
    for joint in model.joint_names:
        for term, like in ((VISCOUS, VISCOUS), (COULOMB, COULOMB), (OFFSET, COULOMB)):
            if term in model.terms.names and like in model.terms.names:
                out[model.term_index(joint, term)] = share * abs(phi[model.term_index(joint, like)])
    return out


def _find_body(model: RobotModel, urdf: str, frame: str) -> tuple[str, pin.SE3]:
    """Find the body that carries a link, and the pose of the link in the frame of that body."""
    full = reduced_model(urdf, model.joint_names)
    if not full.existFrame(frame, pin.FrameType.BODY):
        raise UnknownFrame(f"the robot description has no link '{frame}', in which the payload is "
                           "to be given (wrench.sensor_frame)")
    at = full.frames[full.getFrameId(frame, pin.FrameType.BODY)]
    if at.parentJoint == 0:
        raise InvalidModel(f"no joint moves '{frame}' (wrench.sensor_frame)")
    return model.bodies[at.parentJoint - 1], at.placement


_CAPACITY = 65_536  # samples kept until they settle
_REORDER_NS = 20_000_000  # a sample may overtake others by this much
_SETTLE = 50  # samples after which the rate of the topic is known


class TorqueStream:
    """Stores joint states and turns them into bins once they have settled.

    The columns of the bins (k, joints (1 + p)) are torques [N m], then the regressor, joint by
    joint.

    Args:
        model: of the robot without payload.
        delay: by which efforts are stamped late [s].
        window: length of the quartic [s], longer where samples are sparse.

    Attributes:
        ring: samples of positions and efforts (2 joints,).
    """

    def __init__(self, model: RobotModel, delay: float, window: float) -> None:
        self._model, self._delay_ns, self._wish = model, int(delay * 1e9), window
        self.ring = SampleRing(2 * model.nv, _CAPACITY)
        self.begin_with_oldest()

    def begin_with_oldest(self) -> None:
        """Begin the bins with the oldest sample in the ring."""
        self._next: int | None = None

    @property
    def newest(self) -> int | None:
        """Newest stamp [ns] of the joint states that are stored, settled or not; None: none is."""
        return self.ring.newest if len(self.ring) else None

    def too_slow(self) -> Spacing | None:
        """The spacing of the joint states if they come too slowly for accelerations."""
        spacing = measure_spacing(self.ring.stamps)
        window = choose_window(spacing, self._wish)
        return spacing if len(self.ring) >= FEW and is_too_slow(spacing, window) else None

    def take(self, finished: bool = False) -> BinColumns:
        """The bins that have settled since the last call.

        Args:
            finished: whether no sample will come any more.
        """
        if len(self.ring) < (2 if finished else _SETTLE):
            return self.no_bins
        window = choose_window(measure_spacing(self.ring.stamps), self._wish)
        half = int(0.5e9 * window)
        ahead = 0 if finished else _REORDER_NS + half + abs(self._delay_ns)
        end = (self.ring.newest - ahead) // BIN_NS + (1 if finished else 0)
        if self._next is None:
            self._next = int(self.ring.stamps[0]) // BIN_NS
        if end <= self._next:
            return self.no_bins
        bins = self._make_bins(self._next, end, window)
        self._next = end
        self.ring.closed_until = end * BIN_NS - 1 - half - abs(self._delay_ns)
        return bins

    def _make_bins(self, begin: int, end: int, window: float) -> BinColumns:
        """The bins with numbers in [begin, end), where the quartic covers them."""
        bins = bin_samples(self.ring, begin, end)
        if not len(bins.number):
            return self.no_bins
        n = self._model.nv
        wanted = bins.stamps - self._delay_ns
        reach = int(0.5e9 * window) + 1
        near = self.ring.between(int(wanted[0]) - reach, int(wanted[-1]) + reach)
        if not len(self.ring.stamps[near]):
            return self.no_bins
        positions = np.unwrap(self.ring.rows[near, :n], axis=0)  # some drivers wrap to +-pi
        index, u, weights = gather_samples(self.ring.stamps[near], wanted, window)
        good = has_coverage(u, weights)
        if not good.any():
            return self.no_bins
        q, dq, ddq = fit_quartics(u[good], weights[good], positions[index[good]], window)
        y = self._model.regressor(q, dq, ddq)
        return BinColumns(bins.number[good], bins.samples[good].astype(float), np.concatenate(
            [bins.mean[good, n:], y.reshape(len(y), -1)], axis=1))

    @property
    def no_bins(self) -> BinColumns:
        """Bins without any content."""
        n, p = self._model.nv, self._model.size
        return BinColumns(np.empty(0, np.int64), np.empty(0), np.empty((0, n * (1 + p))))


_SHORTEST_ZERO = round(2.5e9 / BIN_NS)  # bins; the torques of a push may be constant for a while
_TEXTS = DisturbanceTexts(
    contact="contact: the joint torques do not fit the estimate and are left out",
    doubted="no payload explains the joint torques while the arm moves: contact that lasts, a "
    "robot file of another robot, or a wrench.sensor_frame that another body carries",
    zeroed="the zero of the joint torques moved, or their driver restarted: offsets of the joints "
    "are estimated beside the payload from now on",
    lost="the joint torques did not fit the estimate for",
    another_setup="the joint torques follow the motion in another way than before, which neither "
    "another payload nor other zeros explain alone (both at once, or other gains of the drives)",
    gap="gaps in joint states of more than",
    zeroed_name="zero_moved.joints", gap_name="samples_missing.joints",
    doubted_name="load_unexplained.joints")


class TorqueModel(LoadModel):
    """The `LoadModel` of joint torques: one channel for each joint, with errors of the robot."""

    texts, detector_kernel = _TEXTS, 0.15
    weight_channels = slice(None)
    # A driver that zeroes its torques sets the robot's own weight to zero, not the reading.
    shortest_zero, zeroed_under_load = _SHORTEST_ZERO, False

    def __init__(self, problem: TorqueProblem) -> None:
        self._problem = problem
        self._joints, self._size = problem.model.nv, problem.model.size
        robot = problem.robot
        # The robot's noise is that of one low-passed row of its own, which many samples make up;
        # here a sample is a bin, so that it does not matter how often the driver publishes.
        self.noise = robot.noise * np.sqrt(self.make_filter(robot.low_pass).step)
        self.floor = robot.noise
        self.bias_sd = self.walk = np.zeros(self._joints)
        self._friction = coulomb_columns(problem.model)
        self.groups: tuple[slice, ...] = tuple(slice(k, k + 1) for k in range(self._joints))
        self.zero_columns = slice(self._size, self._size + self._joints)
        self.zero_sd = np.full(self._joints, ZERO_SD)
        states = problem.matrix().shape[1] - 1
        self.prior: Array = np.eye(states)
        self.prior[:PARAMETERS, :PARAMETERS] = vague_information(1.0)

    def make_filter(self, length: float) -> ZeroPhaseFilter:
        """The low-pass for torques and regressor of all joints; length of its kernel [s]."""
        return make_low_pass(length, self._joints * (1 + self._size))

    def make_rows(self, filtered: FilteredRows) -> Rows:
        """Rows for the window; without the static model and the dynamism weight."""
        n, p, r = self._joints, self._size, len(filtered.number)
        columns = filtered.columns
        full = np.concatenate([
            columns[:, n:].reshape(r, n, p), np.broadcast_to(np.eye(n), (r, n, n)),
            columns[:, :n, None]], axis=2)
        full *= self._weight(full)[..., None]
        return Rows(filtered.number, filtered.samples, full, full[:, :0], np.ones(r))

    def _weight(self, full: Array) -> Array:
        """Weight (r, joints) of rows, smaller where a joint reverses under the kernel."""
        out = np.ones(full.shape[:2])
        for joint, term in self._friction.items():
            ratio = self._problem.robot.phi[term] / self.floor[joint]
            out[:, joint] = friction_weight(full[:, joint, term], ratio)
        return out

    def make_detector_rows(self, filtered: FilteredRows, step: int) -> Rows:
        """Rows for the detector, one sample a bin, however often the driver publishes."""
        return self.make_rows(filtered._replace(samples=np.full(len(filtered.number), float(step))))

    def linearise(self, phi: Array) -> Array:
        """Matrix from columns of rows to ``[states | torques]``, the same at every phi."""
        del phi
        return self._problem.matrix()
