# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The load as joint torques measure it: the payload, and the errors of the robot's parameters.

A row holds the regressor of the whole robot, the identity (a zero of the torques that has moved)
and the torques, of all joints. Where a joint stands or turns back, its friction may be anything
between the two directions': such rows are scaled down as if that were noise.
"""

from __future__ import annotations

import numpy as np

from ...detection.load_model import DisturbanceTexts, LoadModel
from ...inertia import PARAMETERS, Array
from ...regression.problem import vague_information
from ...regression.regressor_window import Rows
from ...robot.recording import coulomb_columns, friction_weight
from ...signals.bins import BIN_NS
from ...signals.low_pass import FilteredRows, ZeroPhaseFilter, make_low_pass
from .problem import ZERO_SD, TorqueProblem

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
