"""Small errors of the set-up (sensor rotation, gravity tilt, clock offset), and their findings.

A rotation of one degree and a tilt of half a degree cost more accuracy than any noise, so they are
states with priors, estimated with the payload (see `row_layout` for their columns).
"""

from __future__ import annotations

import numpy as np

from ..findings import FindingLog
from ..inertia import Array
from ..settings import AlignmentSettings

_FAR = 3.0  # standard deviations from zero from which a state is worth a sentence
# rad, s; smaller values are not worth one
_WORTH = np.array([*5 * (np.deg2rad(0.3),), 0.005])


def prior_sd(settings: AlignmentSettings) -> Array:
    """Prior standard deviations (6,) [rad, rad, s]; zero for groups that are switched off."""
    return np.r_[np.full(3, np.deg2rad(settings.rotation_sd)),
                 np.full(2, np.deg2rad(settings.tilt_sd)), settings.delay_sd]


def report(values: Array, sigma: Array, log: FindingLog) -> None:
    """Findings in words for alignment states (6,) that are clearly not zero."""
    log.clear("sensor_rotated", "gravity_tilted", "clock_offset")
    far = (sigma > 0.0) & (np.abs(values) > _FAR * sigma)
    far &= np.abs(values) > _WORTH
    if not far.any():
        return
    if far[:3].any():
        log.set("sensor_rotated", "warning", "the sensor is turned against its frame by "
                + _angles(values[:3], far[:3], "xyz"))
    if far[3:5].any():
        log.set("gravity_tilted", "warning", "gravity is tilted against its frame by "
                + _angles(values[3:5], far[3:5], "xy"))
    if far[5]:
        word = "late" if values[5] < 0.0 else "early"
        milliseconds = abs(values[5]) * 1e3
        log.set("clock_offset", "warning", f"the stamps of the wrench are {milliseconds:.1f} ms "
                f"too {word} against those of the motion")


def _angles(values: Array, far: np.ndarray, names: str) -> str:
    return ", ".join(f"{np.rad2deg(v):.1f}° about {n}"
                     for v, f, n in zip(values, far, names, strict=True) if f)
