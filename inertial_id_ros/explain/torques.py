# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Torques of an identified robot in place of a wrench: their rows, and the errors of the robot.

Where a joint stands or turns back, its friction may be anything between the two directions': such
rows are scaled down as if that were noise.
"""

import numpy as np

from ..model.history import Window
from ..model.noise import TIMES
from ..model.rows import STEP, Rows
from ..model.setup import Setup, SetupError, Sheet
from ..motion.motion import BIN, Array
from ..robot.least_squares import friction_weight
from ..robot.robot_file import TorqueLoad
from .fit import Prior, fit
from .setup_errors import Model
from .terms import Effect, Place, Term, Usual, linear

Robot = tuple[TorqueLoad, bool]  # True: the zeros of the torques are not those of its file
LEAST = 1e-3  # of the noise: deviation of zeros that did not move


class JointRows(Rows):
    """Rows of j joints, smoothed, and their slow modes, as those of a wrench.

    Attributes:
        torque, own: (n, j) of the payload, measured, and of the robot; load: that made them.
        own_modes: (k, j) of the robot; errors: (k, j, e) by errors of the robot, see `TorqueLoad`.
    """

    of_joints = True

    def __init__(self, window: Window, load: TorqueLoad) -> None:
        self.load = load
        super().__init__(window, Setup())

    def _fill(self, window: Window, setup: Setup) -> None:
        self.torque, self.own, sign, A, errors = self.load.columns(self.smooth(window.wrench))
        weight = friction_weight(sign, self.load.friction / self.load.robot.noise)
        self.y, self.own_modes = self.modes(self.torque * weight), self.modes(self.own * weight)
        self.steady = A * weight[..., None]
        self.A, self.errors = self.modes(self.steady), self.modes(errors * weight[..., None])

    def of(self, window: Window) -> "JointRows":
        return JointRows(window, self.load)


class RobotErrors(Term):
    """Errors of the robot and of the gains of its currents, in units of their deviations."""

    name, place = "robot", Place.CALIBRATION

    def __init__(self, load: TorqueLoad) -> None:
        self.in_proportion = load.in_proportion
        self.mean, self.sd = np.outer((0.0, 1.0), np.ones(self.in_proportion.shape[1]))

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        assert isinstance(rows, JointRows)
        slopes = rows.errors + (rows.own_modes + load)[..., None] * self.in_proportion
        gain = (self.in_proportion @ values)[:, None]
        return Effect(slopes, slopes @ values, lambda more: more * gain)


def torque_sheet(load: TorqueLoad) -> Sheet:
    """Noise is that of low-passed rows, offsets drift as much in a minute. It says as much as what
    the robot's fit left: what is slow in that is as strong as this noise at low frequencies."""
    times = np.sqrt([STEP, BIN * STEP / (2.0 * TIMES[1]), 1.0])  # a row is the mean of bins
    noise, accuracy, drift = map(tuple, np.outer(times, load.robot.noise).tolist())
    return Sheet(noise, accuracy, drift, 0.0, 0.0, (0.0, 0.0), np.zeros(load.joints),
                 load.typical + load.robot.noise, 0.0, 0.0, 0.0, 0.0, 0.0, (0.0,))


def as_identified(window: Window, prior: Prior, load: TorqueLoad, zero_moved: bool) -> Model:
    """The payload beside the robot as it was identified."""
    rows = JointRows(window, load)
    # A zero that has moved may be anywhere within what was measured.
    zeros = np.abs(rows.torque).max(0) if zero_moved else LEAST * load.robot.noise
    bias = Usual("bias", zeros, Place.ZERO, np.inf, lambda rows, _, values, load: linear(
        rows.constant[:, None, None] * np.eye(len(values)), values))
    found = fit(rows, [RobotErrors(load), bias], prior)
    return Model(found, found.evidence, SetupError())
