# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification of a recording whose motion was measured as accelerations, not by a robot.

An inertial sensor at the wrist (or a published data set) gives linear acceleration, angular
velocity, perhaps angular acceleration, and orientation. Their noise, which the settings of the
group `accelerations` state, counts in the likelihood (see `errors_in_variables`). The rows, their
filter, the estimators and the verdict are those of the pipeline for robots.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..detection.consistency_checks import WindowFacts
from ..errors import InvalidData, NotEnoughData
from ..estimate import Estimate
from ..findings import FindingLog
from ..geometry.shape import Shape
from ..inertia import Array
from ..kinematics.motion import Motion
from ..kinematics.polynomial import fit_quartics, gather_samples
from ..regression.newton_euler import regressor
from ..regression.regressor_window import Rows, WindowContent, make_regressor_window
from ..regression.rows import pack_columns
from ..regression.uncertainty.errors_in_variables import compress_across_channels
from ..settings import Settings
from ..signals.bins import average_bins
from ..signals.low_pass import ZeroPhaseFilter
from .wrench.solver import Solver
from .wrench.wrench_model import WrenchModel

_START_NS = 1_000_000_000_000  # of every recording, in the pipeline's own time
_DERIVATIVE_SAMPLES = 10  # in the local quartic through the angular velocity


class Recording(NamedTuple):
    """Motion and wrench of the sensor frame at n times.

    Attributes:
        time: (n,) increasing [s].
        axes: (n, 3, 3) rows are the axes of a frame at rest in sensor axes; the last points up.
        acceleration: (n, 3) of the sensor origin without gravity, sensor axes [m/s^2].
        omega: (n, 3) angular velocity, sensor axes [rad/s].
        wrench: (n, 6) reading, sensor axes [N, N m]; its sign is `wrench.convention`.
        alpha: (n, 3) angular acceleration, sensor axes [rad/s^2]; None: derived from omega.
    """

    time: Array
    axes: Array
    acceleration: Array
    omega: Array
    wrench: Array
    alpha: Array | None = None


def identify(recording: Recording, settings: Settings, shape: Shape | None = None) -> Estimate:
    """Identify the payload of a recording.

    Raises:
        InvalidData: arrays that do not fit together, or an answer that is not physical.
        NotEnoughData: the recording is too short or says too little.
        InvalidShape: as the estimators.
    """
    window, low_pass = compress_recording(recording, settings)
    solver = Solver(settings, shape, low_pass)
    log = FindingLog()
    estimate = solver.solve(window, settings.wrench.sensor_frame, log, WindowFacts())
    begin = round(float(recording.time[0]) * 1e9) - _START_NS
    return replace(estimate, stamp_ns=estimate.stamp_ns + begin,
                   findings=tuple(f.text for f in log.all()))


def compress_recording(recording: Recording,
                       settings: Settings) -> tuple[WindowContent, ZeroPhaseFilter]:
    """Compress a recording into a window; also gives the low-pass that its rows went through.

    Raises:
        InvalidData: arrays that do not fit together, are not finite, or time that does not rise.
        NotEnoughData: shorter than the filter's kernel.
    """
    _check_arrays(recording)
    stamps = _START_NS + np.round((recording.time - recording.time[0]) * 1e9).astype(np.int64)
    model = WrenchModel(settings)
    low_pass = model.make_filter(settings.kinematics.filter_window)
    alpha, angular_noise = _angular_acceleration(recording, stamps, settings,
                                                 low_pass.derivative_gain)
    motion = Motion(recording.axes, settings.gravity.acceleration, recording.acceleration,
                    recording.omega, alpha, np.ones(len(stamps), dtype=bool))
    a = regressor(motion.proper_acceleration, motion.omega, alpha)
    columns = pack_columns(motion, a, settings.wrench.sign * recording.wrench,
                           settings.estimator.dynamism_c1)
    bins = average_bins(stamps, columns)
    parts = [low_pass.push(bins.number, bins.samples, bins.mean), low_pass.last_rows()]
    rows = [model.make_rows(part) for part in parts if len(part.number)]
    if not rows:
        raise NotEnoughData(f"the recording lasts {(stamps[-1] - stamps[0]) * 1e-9:.2f} s; the "
                            f"filter needs {settings.kinematics.filter_window:g} s")
    window = make_regressor_window(settings, (stamps[-1] - stamps[0]) * 1e-9 + 1.0)
    for part in rows:
        window.add(part)
    noise = np.repeat([settings.accelerations.noise[0], angular_noise], 3)
    return _add_cross_channel_rows(window.content(), rows, noise, low_pass), low_pass


def _add_cross_channel_rows(window: WindowContent, rows: list[Rows], noise: Array,
                            low_pass: ZeroPhaseFilter) -> WindowContent:
    """Add the rows with all channels together, where the accelerations have noise (6,)."""
    if not noise.any():
        return window
    scaled = np.concatenate([part.full * np.sqrt(part.samples)[:, None, None] for part in rows])
    kernel, step = low_pass.kernel, low_pass.step
    overlap = np.correlate(kernel, kernel, "full")[(len(kernel) - 1) % step::step]
    independent = len(scaled) / np.sum((overlap / overlap.max()) ** 2)
    return window._replace(cross_channel=compress_across_channels(
        scaled, noise, len(scaled) * low_pass.block_gain(1), float(independent)))


def _angular_acceleration(recording: Recording, stamps: np.ndarray, settings: Settings,
                          derivative_gain: float) -> tuple[Array, float]:
    """Angular acceleration (n, 3) [rad/s^2], measured or derived, and the noise of one sample.

    Args:
        derivative_gain: of the low-pass that follows.
    """
    _, of_acceleration, of_velocity = settings.accelerations.noise
    if recording.alpha is not None:
        return recording.alpha, of_acceleration
    # As short as it gets: the low-pass that follows treats both sides alike, this one does not.
    length = _DERIVATIVE_SAMPLES * float(np.median(np.diff(recording.time)))
    index, u, weights = gather_samples(stamps, stamps, length)
    _, alpha, _ = fit_quartics(u, weights, recording.omega[index], length)
    # What the low-pass leaves of the derivative's noise, as white noise of which as much is left.
    return alpha, of_velocity * derivative_gain / settings.kinematics.filter_window


def _check_arrays(recording: Recording) -> None:
    """Raise InvalidData or NotEnoughData where the arrays of a recording cannot be used."""
    n = len(recording.time)
    shapes = {"time": (n,), "axes": (n, 3, 3), "acceleration": (n, 3), "omega": (n, 3),
              "wrench": (n, 6), "alpha": (n, 3)}
    for name, shape in shapes.items():
        values = getattr(recording, name)
        if values is None:
            continue
        if np.shape(values) != shape:
            raise InvalidData(f"{name} has shape {np.shape(values)}; {shape} is needed")
        if not np.isfinite(values).all():
            raise InvalidData(f"{name} holds numbers that are not finite")
    if n < 2:
        raise NotEnoughData(f"the recording holds {n} samples; at least 2 are needed")
    if not np.all(np.diff(recording.time) > 0.0):
        raise InvalidData("time does not rise from every sample to the next")
