# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The interface through which the detector sees a load, measured as wrenches or joint torques.

Contact, changes of payload and moved zeros show in the residual of a linear model. How they are
found does not depend on what measures the load; everything that does is in this interface.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from ..inertia import Array
from ..regression.regressor_window import Rows
from ..signals.low_pass import FilteredRows, ZeroPhaseFilter


class DisturbanceTexts(NamedTuple):
    """Texts and names of the findings about one kind of load.

    Attributes:
        contact: a contact lasts; doubted: nothing explains the load in motion.
        zeroed: the zero moved; lost: the load has not fitted for, followed by a time.
        another_setup: the load follows the motion in another way than before.
        gap: samples are missing for more than, followed by a time.
        zeroed_name, gap_name, doubted_name: names of the findings.
        offset: the zero moved, or a contact turns with the sensor.
    """

    contact: str
    doubted: str
    zeroed: str
    lost: str
    another_setup: str
    gap: str
    zeroed_name: str
    gap_name: str
    doubted_name: str
    offset: str = ""


class LoadModel(ABC):
    """Linear model of a load: rows (n, c, k) of c channels, whose last column is the measurement.

    Attributes:
        texts: of the findings.
        noise: (c,) standard deviation of one sample [N, N m].
        floor: (c,) standard deviation of the errors of a row that no filter averages out [N, N m].
        gain_error: share of a change of load that even a confirmed model may miss.
        cross_talk: (c, c) variance of what a channel (row) reads of the load of one (column) of
            another group.
        walk: (c,) variance by which the zeros walk a second, by the data sheet [N^2/s, ...].
        swing: (c,) by how much the zeros may differ at places that are 1 apart (see `place`).
        zero_states: the states of the zeros; None: they do not walk.
        detector_kernel: length of the kernel of the detector's rows [s], at most half of that of
            the window's rows.
        groups: channels with the same noise.
        weight_channels: channels in which the payload's weight turns with the sensor.
        prior: (s, s) information about all states before the data, the ten parameters first.
        bias_sd: (c,) prior standard deviation of the zeros [N, N m].
        zero_columns: columns of the zeros in a row.
        zero_sd: (c,) standard deviation of a zero that has moved [N, N m]: anything is possible.
        shortest_zero: bins for which an offset must last before it counts as a moved zero.
        zeroed_under_load: whether a driver may set its reading to zero while it carries a load.
    """

    texts: DisturbanceTexts
    noise: Array
    floor: Array
    gain_error: float = 0.0
    cross_talk: Array | None = None
    walk: Array
    swing: Array | float = 0.0
    zero_states: slice | None = None
    detector_kernel: float
    groups: tuple[slice, ...]
    weight_channels: slice
    prior: Array
    bias_sd: Array
    zero_columns: slice
    zero_sd: Array
    shortest_zero: int
    zeroed_under_load: bool

    @abstractmethod
    def make_filter(self, length: float) -> ZeroPhaseFilter:
        """The low-pass filter of this model's columns; length of its kernel [s]."""

    @abstractmethod
    def make_rows(self, filtered: FilteredRows) -> Rows:
        """Rows for the window."""

    def make_detector_rows(self, filtered: FilteredRows, step: int) -> Rows:
        """Rows for the detector, `step` bins apart, with samples of which each has `noise`."""
        del step
        return self.make_rows(filtered)

    @abstractmethod
    def linearise(self, phi: Array) -> Array:
        """Matrix (k, s + 1) from columns of rows to ``[states | measured]`` at phi (10,)."""

    def proper_acceleration(self, rows: Array) -> Array:
        """Acceleration less gravity (n, 3) in the rows [m/s^2], whose noise may hide the load at
        rest; zeros where it cannot."""
        return np.zeros((len(rows), 3))

    def place(self, rows: Array) -> Array:
        """Where the load is in the rows, as points (n, p); those at a distance of 1 are far apart.
        The zeros are the same everywhere where there are no coordinates."""
        return np.zeros((len(rows), 0))

    def motion_noise_covariance(self, phi: Array, acceleration_covariance: Array) -> Array:
        """Covariance (c, c) of the noise of the motion in the residual of a row [N, N m]; zeros
        where `noise` includes it.

        Args:
            phi: (10,) of the payload.
            acceleration_covariance: (6, 6) of linear [m/s^2] and angular acceleration [rad/s^2].
        """
        del phi, acceleration_covariance
        return np.zeros((len(self.noise), len(self.noise)))

    def unknown_motion_covariance(self, rows: Array, phi: Array) -> Array:
        """Covariance (n, c, c) of the load where only the rotation of the sensor is known; zeros
        where that cannot be."""
        del phi
        return np.zeros((len(rows), len(self.noise), len(self.noise)))
