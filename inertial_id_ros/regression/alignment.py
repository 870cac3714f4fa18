# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The nuisance states of every set-up: sensor rotation and position, gravity tilt, clock offset."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..inertia import Array, skew
from ..linalg import identity
from ..settings import Settings
from .nuisance_state import NuisanceState, RowSignals

_LARGE_OFFSET = 0.1  # s; more than any transport takes
_NOTEWORTHY_ANGLE = np.deg2rad(0.3)
# What is quadratic in the angle changes the wrench by 4e-5 of it at this angle, 4e-3 at 5 degrees.
_LARGE_ANGLE = np.deg2rad(0.5)
LIKE_A_PULL = np.deg2rad(2.0)  # more than a cobot's base is tilted by mistake
_MOST_TURNED = np.deg2rad(20.0)  # no mounting gets more wrong


class SensorRotation(NuisanceState):
    """Rotation of the sensor against its frame, about its own axes [rad]: ``[y]x rotation``."""

    name, components, width = "rotation", ("x", "y", "z"), 3
    finding, noteworthy, large = "misaligned.rotation", _NOTEWORTHY_ANGLE, _LARGE_ANGLE
    too_large = _MOST_TURNED

    def prior_sd(self, settings: Settings) -> Array:
        """Prior standard deviation of the rotation (3,), the same about each axis [rad]."""
        return np.full(3, np.deg2rad(settings.alignment.rotation_sd))

    def channel_columns(self, channel: int) -> range:
        """All columns; the one of its own axis is zero in each channel."""
        return range(3)

    def fill(self, signals: RowSignals, out: Array) -> None:
        """Write the cross-product matrices of force and torque into out (r, 6, 3)."""
        rows = len(signals.wrench)
        out[:] = skew(signals.wrench.reshape(rows, 2, 3)).reshape(rows, 6, 3)

    def describe(self, values: Array, clear: Sequence[bool]) -> str:
        """Say about which axes, and by how much, the sensor is rotated."""
        return "the sensor is turned against its frame by " + _angles(values, clear, "xyz")

    def join(self, removed: Array, rest: Array) -> Array:
        """The rotation (3,) in place of two, that which was removed first."""
        return _joined(rest, removed)

    def correct_wrench(self, wrench: Array, values: Array) -> Array:
        """Rotate wrenches (k, 6) into the axes of the frame."""
        return _rotate(wrench, values)

    def correct_bias(self, bias: Array, values: Array) -> Array:
        """Rotate the bias (6,) from the axes of the frame into those of the sensor."""
        return _rotate(bias, -values)


class GravityTilt(NuisanceState):
    """Tilt of gravity about its frame's x and y axes [rad]: ``(T1 tilt_1 + T2 tilt_2) (m, h)``."""

    name, components, width = "tilt", ("x", "y"), 8
    finding, noteworthy, large = "misaligned.gravity", _NOTEWORTHY_ANGLE, _LARGE_ANGLE
    too_large = _MOST_TURNED

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
        changes = np.stack([gravity * signals.up_y, -gravity * signals.up_x])
        turns = skew(changes)
        for first, change, turn in zip((0, 4), changes, turns, strict=True):
            out[:, :3, first] = -change
            out[:, 3:, first + 1:first + 4] = turn

    def linearise(self, phi: Array) -> Array:
        """Matrix (8, 2): mass and first moment of the payload, for each tilt."""
        out = np.zeros((8, 2))
        out[:4, 0] = out[4:, 1] = phi[:4]
        return out

    def describe(self, values: Array, clear: Sequence[bool]) -> str:
        """Say about which axes, and by how much, gravity is tilted."""
        text = "gravity is tilted against its frame by " + _angles(values, clear, "xy")
        tilt = float(np.hypot(values[0], values[1]))
        if tilt < LIKE_A_PULL:
            return text
        return text + (f", or a cable or hose pulls sideways with {math.sin(tilt):.0%} of the "
                       "weight")

    def join(self, removed: Array, rest: Array) -> Array:
        """The tilt (2,) in place of two, of which the rest is about the axes turned by the removed
        one; a turn about the vertical is none."""
        up = (gravity_turn(removed) @ gravity_turn(rest))[:, 2]
        horizontal = float(np.hypot(up[0], up[1]))
        angle = np.arctan2(horizontal, up[2]) / max(horizontal, 1e-12)
        return np.array([-angle * up[1], angle * up[0]])


class ClockOffset(NuisanceState):
    """Time by which stamps of the wrench are early [s]: ``dA/dt phi delay``.

    It is estimated with the payload (`Solver`), or where that explains nothing found by trial
    (`detection.setup_trials.find_setup`).
    """

    name, components, width = "delay", ("",), 10
    finding, noteworthy, large = "clock_offset", 0.005, 0.002

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
        mend = ("; that is taken out, but let both drivers use one clock"
                if abs(values[0]) > _LARGE_OFFSET else "")
        return (f"the stamps of the wrench are {abs(values[0]) * 1e3:.1f} ms too {direction} "
                f"against those of the motion{mend}")


class SensorPosition(NuisanceState):
    """Position of the sensor's origin in its frame [m]: ``[f]x position``, in the torques."""

    name, components, width = "position", ("x", "y", "z"), 3
    finding, noteworthy = "misaligned.position", 0.001

    def prior_sd(self, settings: Settings) -> Array:
        """Prior standard deviation of the position (3,), the same along each axis [m]."""
        known = settings.alignment
        return np.full(3, known.position_sd if known.estimate_position else 0.0)

    def channel_columns(self, channel: int) -> list[int]:
        """None in forces; in a torque those of the two axes across it."""
        return [] if channel < 3 else [k for k in range(3) if k != channel - 3]

    def fill(self, signals: RowSignals, out: Array) -> None:
        """Write the cross-product matrix of the force into the torques of out (r, 6, 3)."""
        out[:, 3:] = skew(signals.wrench[:, :3])

    def describe(self, values: Array, clear: Sequence[bool]) -> str:
        """Say along which axes, and by how much, the origin is displaced."""
        return "the origin of the sensor lies beside that of its frame by " + ", ".join(
            f"{1e3 * value:.1f} mm along {axis}"
            for value, axis, is_clear in zip(values, "xyz", clear, strict=True) if is_clear)

    def correct_wrench(self, wrench: Array, values: Array) -> Array:
        """Convert wrenches (k, 6) to the origin of the frame."""
        return _move(wrench, values)

    def correct_bias(self, bias: Array, values: Array) -> Array:
        """Convert the bias (6,) to the origin of the sensor."""
        return _move(bias, -values)


def gravity_turn(tilt: Array) -> Array:
    """The rotation matrix (3, 3) of gravity by a tilt (2,) about its frame's x and y [rad]."""
    return _matrix(np.array([tilt[0], tilt[1], 0.0]))


def _joined(later: Array, first: Array) -> Array:
    """The rotation vector (3,) of a rotation after another [rad]."""
    import pinocchio as pin  # in a plain run nothing was removed, and no rotation follows another

    return np.asarray(pin.log3(_matrix(later) @ _matrix(first)))


def _rotate(wrench: Array, vector: Array) -> Array:
    """Rotate force and torque (..., 6) by a rotation vector (3,) [rad]."""
    return np.asarray(wrench.reshape(-1, 3) @ _matrix(vector).T).reshape(wrench.shape)


def _matrix(vector: Array) -> Array:
    """The rotation matrix (3, 3) of a rotation vector (3,) [rad], by Rodrigues' formula."""
    angle, cross = math.sqrt(float(vector @ vector)), skew(vector)
    # sin(a) / a and (1 - cos(a)) / a^2
    first = math.sin(angle) / angle if angle > 0.0 else 1.0
    half = math.sin(0.5 * angle) / (0.5 * angle) if angle > 0.0 else 1.0
    return np.asarray(identity(3) + first * cross + 0.5 * half**2 * cross @ cross)


def _move(wrench: Array, position: Array) -> Array:
    """Wrenches (..., 6) about the point from which their origin is seen at this position (3,)."""
    if not position.any():
        return wrench
    out = np.array(wrench, dtype=float)
    out[..., 3:] += out[..., :3] @ skew(position).T
    return out


def _angles(values: Array, clear: Sequence[bool], axes: str) -> str:
    """The angles (n,) [rad] that are clearly not zero (n,), in degrees and with their axes."""
    return ", ".join(f"{np.rad2deg(value):.1f}° about {axis}"
                     for value, is_clear, axis in zip(values, clear, axes, strict=True) if is_clear)


SENSOR_ROTATION, GRAVITY_TILT, CLOCK_OFFSET = SensorRotation(), GravityTilt(), ClockOffset()
SENSOR_POSITION = SensorPosition()
