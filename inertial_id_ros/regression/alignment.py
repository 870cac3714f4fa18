"""The nuisance states of every set-up: sensor rotation, gravity tilt and clock offset."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..inertia import Array, skew
from ..settings import Settings
from .nuisance_state import NuisanceState, RowSignals

_NOTEWORTHY_ANGLE = np.deg2rad(0.3)
_MOST_REPLAYS = 3  # of a window
_WORTHWHILE = 0.002  # smallest offset to remove [s]
_SIGNIFICANT = 5.0  # standard deviations


class SensorRotation(NuisanceState):
    """Rotation of the sensor against its frame, about its own axes [rad]: ``[y]x rotation``."""

    name, components, width = "rotation", ("x", "y", "z"), 3
    finding, noteworthy = "sensor_rotated", _NOTEWORTHY_ANGLE

    def prior_sd(self, settings: Settings) -> Array:
        """Prior standard deviation of the rotation (3,), the same about each axis [rad]."""
        return np.full(3, np.deg2rad(settings.alignment.rotation_sd))

    def channel_columns(self, channel: int) -> range:
        """All columns: any component of the wrench may matter to any channel."""
        return range(3)

    def fill(self, signals: RowSignals, out: Array) -> None:
        """Write the cross-product matrices of force and torque into out (r, 6, 3)."""
        rows = len(signals.wrench)
        out[:] = skew(signals.wrench.reshape(rows, 2, 3)).reshape(rows, 6, 3)

    def describe(self, values: Array, clear: Sequence[bool]) -> str:
        """Say about which axes, and by how much, the sensor is rotated."""
        return "the sensor is turned against its frame by " + _angles(values, clear, "xyz")

    def correct_wrench(self, wrench: Array, values: Array) -> Array:
        """Rotate wrenches (k, 6) back into the axes of the frame, to first order."""
        return wrench - np.concatenate(
            [np.cross(wrench[:, :3], values), np.cross(wrench[:, 3:], values)], axis=1)

    def correct_bias(self, bias: Array, values: Array) -> Array:
        """Correct the bias (6,) of a rotated sensor: the columns are made of the biased wrench."""
        x, y, z = values.tolist()
        # (1 + [r]x)^-1 = (1 - [r]x + r r') / (1 + r'r)
        back = np.array([[1.0 + x * x, x * y + z, x * z - y], [x * y - z, 1.0 + y * y, y * z + x],
                         [x * z + y, y * z - x, 1.0 + z * z]]) / (1.0 + x * x + y * y + z * z)
        return (bias.reshape(2, 3) @ back.T).ravel()


class GravityTilt(NuisanceState):
    """Tilt of gravity about its frame's x and y axes [rad]: ``(T1 tilt_1 + T2 tilt_2) (m, h)``."""

    name, components, width = "tilt", ("x", "y"), 8
    finding, noteworthy = "gravity_tilted", _NOTEWORTHY_ANGLE

    def prior_sd(self, settings: Settings) -> Array:
        """Prior standard deviation of the tilt (2,), the same about x and y [rad]."""
        return np.full(2, np.deg2rad(settings.alignment.tilt_sd))

    def channel_columns(self, channel: int) -> list[int]:
        """For each tilt, the column of the mass in forces, those of the first moment in torques."""
        return [0, 4] if channel < 3 else [1, 2, 3, 5, 6, 7]

    def fill(self, signals: RowSignals, out: Array) -> None:
        """Write the change of the wrench with each tilt, per mass and first moment, into out."""
        gravity = signals.gravity
        # e_k x g for g = -gravity e_z: turning gravity about x moves it along y, about y along -x.
        for first, change in ((0, gravity * signals.up_y), (4, -gravity * signals.up_x)):
            out[:, :3, first] = -change
            out[:, 3:, first + 1:first + 4] = skew(change)

    def linearise(self, phi: Array) -> Array:
        """Matrix (8, 2): mass and first moment of the payload, for each tilt."""
        out = np.zeros((8, 2))
        out[:4, 0] = out[4:, 1] = phi[:4]
        return out

    def describe(self, values: Array, clear: Sequence[bool]) -> str:
        """Say about which axes, and by how much, gravity is tilted."""
        return "gravity is tilted against its frame by " + _angles(values, clear, "xy")


class ClockOffset(NuisanceState):
    """Time by which stamps of the wrench are early [s]: ``dA/dt phi delay``."""

    name, components, width = "delay", ("",), 10
    finding, noteworthy = "clock_offset", 0.005

    def prior_sd(self, settings: Settings) -> Array:
        """Prior standard deviation of the offset (1,) [s]."""
        return np.array([settings.alignment.delay_sd])

    def channel_columns(self, channel: int) -> range:
        """Those of the regressor: mass and first moment in forces, all but the mass in torques."""
        return range(4) if channel < 3 else range(1, 10)

    def fill(self, signals: RowSignals, out: Array) -> None:
        """Write the time derivative of the regressor into out (r, 6, 10)."""
        out[:] = signals.a_rate

    def linearise(self, phi: Array) -> Array:
        """The payload phi itself, as the one column (10, 1) of the offset."""
        return phi[:, None]

    def describe(self, values: Array, clear: Sequence[bool]) -> str:
        """Say by how many milliseconds the stamps are late or early."""
        direction = "late" if values[0] < 0.0 else "early"
        return (f"the stamps of the wrench are {abs(values[0]) * 1e3:.1f} ms too {direction} "
                "against those of the motion")


class RemovedOffset:
    """The clock offset that is removed from the stamps of the wrench.

    What is quadratic in the offset would bias the parameters: a large one is removed, and the
    window replayed with the corrected stamps.

    Attributes:
        early_ns: by how much the stamps are early, as far as known; it is added to them [ns].
    """

    def __init__(self) -> None:
        self.early_ns, self._times = 0, 0

    @property
    def seconds(self) -> float:
        """The removed offset [s]."""
        return self.early_ns * 1e-9

    def remove(self, offset: float, sd: float) -> bool:
        """Remove a whole offset and its standard deviation [s] if that is worth a replay; says
        whether it was."""
        rest = offset - self.seconds
        if self._times == _MOST_REPLAYS or not _WORTHWHILE < abs(rest) > _SIGNIFICANT * sd > 0.0:
            return False
        self._times += 1
        self.early_ns += int(rest * 1e9)
        return True

    def replace(self, early_ns: int) -> None:
        """Remove another offset [ns], found without an estimate."""
        self.early_ns, self._times = early_ns, 0


def _angles(values: Array, clear: Sequence[bool], axes: str) -> str:
    """The angles (n,) [rad] that are clearly not zero (n,), in degrees and with their axes."""
    return ", ".join(f"{np.rad2deg(value):.1f}° about {axis}"
                     for value, is_clear, axis in zip(values, clear, axes, strict=True) if is_clear)


SENSOR_ROTATION, GRAVITY_TILT, CLOCK_OFFSET = SensorRotation(), GravityTilt(), ClockOffset()
