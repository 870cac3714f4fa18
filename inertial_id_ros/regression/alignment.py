"""The nuisance states of every set-up: sensor rotation, gravity tilt and clock offset."""

from __future__ import annotations

import numpy as np

from ..inertia import Array, skew
from ..settings import Settings
from .nuisance_state import NuisanceState, RowSignals

_NOTEWORTHY_ANGLE = np.deg2rad(0.3)


class SensorRotation(NuisanceState):
    """Rotation of the sensor against its frame, about its own axes [rad]: ``[y]x rotation``."""

    name, components, width = "rotation", ("x", "y", "z"), 3
    finding, noteworthy = "sensor_rotated", _NOTEWORTHY_ANGLE

    def prior_sd(self, settings: Settings) -> Array:
        """The same about each axis."""
        return np.full(3, np.deg2rad(settings.alignment.rotation_sd))

    def channel_columns(self, channel: int) -> range:
        """All of them."""
        return range(3)

    def fill(self, signals: RowSignals, out: Array) -> None:
        """Force and torque as cross-product matrices."""
        rows = len(signals.wrench)
        out[:] = skew(signals.wrench.reshape(rows, 2, 3)).reshape(rows, 6, 3)

    def linearise(self, phi: Array) -> Array:
        """The columns are those of the values already."""
        return np.eye(3)

    def describe(self, values: Array, clear: np.ndarray) -> str:
        """Angles about the sensor's axes."""
        return "the sensor is turned against its frame by " + _angles(values, clear, "xyz")

    def correct_wrench(self, wrench: Array, values: Array) -> Array:
        """Turn wrenches (k, 6) back, to first order."""
        return wrench - np.concatenate(
            [np.cross(wrench[:, :3], values), np.cross(wrench[:, 3:], values)], axis=1)

    def correct_bias(self, bias: Array, values: Array) -> Array:
        """Turn the bias (6,) back: the columns hold the biased wrench."""
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
        """The same about x and y."""
        return np.full(2, np.deg2rad(settings.alignment.tilt_sd))

    def channel_columns(self, channel: int) -> list[int]:
        """Forces depend on the mass, torques on the first moment, for either tilt."""
        return [0, 4] if channel < 3 else [1, 2, 3, 5, 6, 7]

    def fill(self, signals: RowSignals, out: Array) -> None:
        """Change of the wrench with each tilt, per mass and first moment."""
        gravity = signals.gravity
        # e_k x g for g = -gravity e_z: turning gravity about x moves it along y, about y along -x.
        for first, change in ((0, gravity * signals.up_y), (4, -gravity * signals.up_x)):
            out[:, :3, first] = -change
            out[:, 3:, first + 1:first + 4] = skew(change)

    def linearise(self, phi: Array) -> Array:
        """Mass and first moment, for either tilt."""
        out = np.zeros((8, 2))
        out[:4, 0] = out[4:, 1] = phi[:4]
        return out

    def describe(self, values: Array, clear: np.ndarray) -> str:
        """Angles about the axes of the gravity frame."""
        return "gravity is tilted against its frame by " + _angles(values, clear, "xy")


class ClockOffset(NuisanceState):
    """Time by which stamps of the wrench are early [s]: ``dA/dt phi delay``."""

    name, components, width = "delay", ("",), 10
    finding, noteworthy = "clock_offset", 0.005

    def prior_sd(self, settings: Settings) -> Array:
        """Of the offset."""
        return np.array([settings.alignment.delay_sd])

    def channel_columns(self, channel: int) -> range:
        """As in the regressor: mass and first moment for forces, all but the mass for torques."""
        return range(4) if channel < 3 else range(1, 10)

    def fill(self, signals: RowSignals, out: Array) -> None:
        """The time derivative of the regressor."""
        out[:] = signals.a_rate

    def linearise(self, phi: Array) -> Array:
        """The payload."""
        return phi[:, None]

    def describe(self, values: Array, clear: np.ndarray) -> str:
        """Which way and by how much."""
        direction = "late" if values[0] < 0.0 else "early"
        return (f"the stamps of the wrench are {abs(values[0]) * 1e3:.1f} ms too {direction} "
                "against those of the motion")


def _angles(values: Array, clear: np.ndarray, axes: str) -> str:
    """Those of the angles (n,) [rad] that are clear (n,), in degrees and with their axes."""
    return ", ".join(f"{np.rad2deg(value):.1f}° about {axis}"
                     for value, is_clear, axis in zip(values, clear, axes, strict=True) if is_clear)


SENSOR_ROTATION, GRAVITY_TILT, CLOCK_OFFSET = SensorRotation(), GravityTilt(), ClockOffset()
