# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a recording whose motion was measured at the sensor, not by a robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from ..estimate import NoEstimate, Outcome
from ..geometry.shape import Shape
from ..io.fields import Stamps, as_finite_rows, as_rotations, as_stamps
from ..kinds import finding_of, with_findings
from ..model.history import History
from ..motion.frames import quaternions_of
from ..motion.motion import BIN_NS, Array, Motion
from ..motion.track import fit_quartics, window_length
from ..samples.ring import spacing_of
from ..settings import Settings
from .beliefs import basis_of, named_beliefs
from .estimate import estimate

FEWEST = 20  # samples
SPARE_NS = 1_000_000_000


def identify_accelerations(stamps: ArrayLike, rotation: ArrayLike, acceleration: ArrayLike,
                           omega: ArrayLike, wrench: ArrayLike, alpha: ArrayLike | None = None,
                           settings: Settings | None = None, shape: Shape | None = None
                           ) -> Outcome:
    """Identify a payload from motion that was measured at the sensor, e.g. by an IMU.

    Args:
        stamps: (n,) increasing [ns].
        rotation: (n, 3, 3) from sensor axes to a frame at rest whose z axis points up.
        acceleration: (n, 3) of the sensor's origin without gravity, in sensor axes [m/s^2].
        omega: (n, 3) angular velocity, in sensor axes [rad/s].
        wrench: (n, 6) force [N] and torque [N m], with the sign that `wrench.convention` names.
        alpha: (n, 3) angular acceleration, in sensor axes [rad/s^2]; derived from omega if None.
        shape: of the object, in place of that of the settings.

    Raises:
        InvalidData: an array of the wrong shape, type or unit, or with numbers that are not finite.
        InertialIdError: a setting cannot be used.
    """
    settings = settings if settings is not None else Settings()
    times, frame = as_stamps("the motion", stamps), settings.wrench.sensor_frame
    n, beliefs = len(times), named_beliefs(settings)
    axes = as_rotations("rotation", rotation, n)
    moving = [as_finite_rows(name, values, (n, 3)) for name, values in (
        ("acceleration", acceleration), ("omega", omega),
        ("alpha", omega if alpha is None else alpha))]
    readings = settings.wrench.sign * as_finite_rows("wrench", wrench, (n, 6))
    if n < FEWEST:
        return NoEstimate(int(times[-1]) if n else 0, frame, f"the motion holds {n} samples; at "
                          f"least {FEWEST} are needed")
    rows = np.hstack([quaternions_of(Rotation.from_matrix(axes)), *moving])
    seconds = 1e-9 * float(times[-1] - times[0] + SPARE_NS)
    history = History(seconds)
    history.append(_in_bins(times, rows, alpha is None), times, readings)
    said = estimate(history.window(history.end, seconds), history.end,
                    basis_of(settings, replace(beliefs, tool=None, shape=shape or beliefs.shape),
                             frame))
    return with_findings(replace(said.outcome, stamp_ns=int(times[-1])),
                         (finding_of(*given) for given in said.findings))


def _in_bins(stamps: Stamps, rows: Array, is_derived: bool) -> Motion:
    """The motion in all bins that samples cover.

    Args:
        rows: (n, 13) quaternion, acceleration, omega, alpha; is_derived: alpha from omega.
    """
    window = window_length(spacing_of(stamps))
    number = np.arange(stamps[0] // BIN_NS, stamps[-1] // BIN_NS + 1)
    fit = fit_quartics(stamps, rows, number * BIN_NS + BIN_NS // 2, window)
    value, n = fit.value[fit.known], int(fit.known.sum())
    alpha = fit.rate[fit.known, 7:10] if is_derived else value[:, 10:]
    return Motion(number[fit.known], Rotation.from_quat(value[:, :4]).as_matrix(),
                  np.zeros((n, 3)), value[:, 4:7], value[:, 7:10], alpha,
                  np.empty((n, 0, 3, 3)), np.empty((n, 0, 6)))
