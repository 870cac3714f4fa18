# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a recording whose motion was measured at the sensor, not by a robot."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from ..estimate import NoEstimate, Outcome
from ..geometry.shape import Shape
from ..io.fields import as_rotations, as_rows, as_stamps
from ..kinds import made, with_findings
from ..model.history import History
from ..motion.frames import without_jumps
from ..motion.motion import Motion
from ..motion.track import Track
from ..samples.ring import FEW, SECOND, Ring
from ..settings import Settings
from .beliefs import Basis, named_beliefs
from .estimate import estimate


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
    moving = [as_rows(name, values, (n, 3), finite=True) for name, values in (
        ("acceleration", acceleration), ("omega", omega),
        ("alpha", omega if alpha is None else alpha))]
    readings = settings.wrench.sign * as_rows("wrench", wrench, (n, 6), finite=True)
    if n < FEW:
        return NoEstimate(int(times[-1]) if n else 0, frame, f"the motion holds {n} samples; at "
                          f"least {FEW} are needed")
    track = Track(Ring(13), are_positions=False)
    track.ring.push(times, np.hstack([
        without_jumps(Rotation.from_matrix(axes).as_quat()), *moving]))
    number, value, rate, _ = track.advance(finished=True)
    m, seconds = len(number), 1e-9 * float(times[-1] - times[0] + SECOND)
    history = History(seconds)
    history.append(Motion(
        number, Rotation.from_quat(value[:, :4]).as_matrix(), np.zeros((m, 3)), value[:, 4:7],
        value[:, 7:10], rate[:, 7:10] if alpha is None else value[:, 10:],
        np.empty((m, 0, 3, 3)), np.empty((m, 0, 6))), times, readings)
    window = replace(history.window(history.end, seconds), rise=(0, 2 if alpha is None else 0))
    said = estimate(window, history.end, Basis(
        settings, replace(beliefs, tool=None, shape=shape or beliefs.shape), frame))
    return with_findings(replace(said.outcome, stamp_ns=int(times[-1])),
                         [made(*given) for given in said.findings])
