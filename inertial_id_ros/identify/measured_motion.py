# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a recording whose motion was measured at the sensor, not by a robot."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import NotEnoughData
from ..estimate import Outcome
from ..estimators import create
from ..geometry.shape import Shape
from ..kinds import finding_of, with_findings
from ..model.history import History
from ..motion.frames import quaternions_of
from ..motion.motion import BIN_NS, Array, IntArray, Motion
from ..motion.quartic import fit_quartics, is_covered, near, window_length
from ..samples.ring import spacing_of
from ..settings import Settings
from .beliefs import Basis, Beliefs, compensated_by_driver
from .estimate import estimate

FEWEST = 20  # samples
SPARE_NS = 1_000_000_000


class MeasuredMotion(NamedTuple):
    """Motion of the sensor's frame at n stamps.

    Attributes:
        stamps: (n,) increasing [ns]; rotation: (n, 3, 3) from sensor axes to those of a frame at
            rest whose z axis points up.
        acceleration: (n, 3) of the origin without gravity [m/s^2]; omega: (n, 3) [rad/s]; alpha:
            (n, 3) [rad/s^2], None: derived from omega; all along sensor axes.
    """

    stamps: IntArray
    rotation: Array
    acceleration: Array
    omega: Array
    alpha: Array | None = None


def identify_measured(measured: MeasuredMotion, wrench: Array, settings: Settings,
                      shape: Shape | None = None) -> Outcome:
    """The estimate of a whole recording.

    Args:
        wrench: (n, 6) readings [N, N m], with the sign of `wrench.convention`.

    Raises:
        NotEnoughData: fewer samples than a bin of the motion needs.
    """
    stamps = measured.stamps
    if len(stamps) < FEWEST:
        raise NotEnoughData(f"the motion holds {len(stamps)} samples; at least {FEWEST} are needed")
    seconds = 1e-9 * float(stamps[-1] - stamps[0] + SPARE_NS)
    motion, history = _in_bins(measured), History(seconds)
    history.append(motion, stamps, settings.wrench.sign * wrench)
    basis = Basis(settings, Beliefs(shape=shape, compensated=compensated_by_driver(settings)),
                  create(settings), settings.wrench.sensor_frame)
    said = estimate(history.window(history.end, seconds), history.end, basis)
    return with_findings(replace(said.outcome, stamp_ns=int(stamps[-1])),
                         (finding_of(*given) for given in said.findings))


def _in_bins(measured: MeasuredMotion) -> Motion:
    """The motion in all bins that samples cover."""
    stamps, (rotation, acceleration, omega) = measured.stamps, measured[1:4]
    turn = quaternions_of(Rotation.from_matrix(rotation))
    spacing = spacing_of(stamps)
    window = window_length(spacing)
    number = np.arange(stamps[0] // BIN_NS, stamps[-1] // BIN_NS + 1)
    samples = near(stamps, number * BIN_NS + BIN_NS // 2, window)
    extra = omega if measured.alpha is None else measured.alpha
    fit = fit_quartics(samples, np.hstack([turn, acceleration, omega, extra]), window)
    known = is_covered(samples)
    value = fit.value[known]
    alpha = fit.rate[known, 7:10] if measured.alpha is None else value[:, 10:]
    return Motion(number[known], Rotation.from_quat(value[:, :4]).as_matrix(),
                  np.zeros((len(value), 3)), value[:, 4:7], value[:, 7:10], alpha,
                  np.empty((len(value), 0, 3, 3)), np.empty((len(value), 0, 6)))
