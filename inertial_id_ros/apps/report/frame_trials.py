# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Other frames that explain a force better: the sensor turned, gravity elsewhere.

The weight of any payload is a force of one length that keeps its direction in the room. Fits of
that alone tell which of the frames is wrong: the force depends on a turned sensor and on a wrong
gravity frame in different ways as soon as the sensor turns about two axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ...inertia import Array

_BETTER = 0.4  # of the residual of the declared frames, left by what is to be named
_AS_GOOD = 1.5  # times the least residual: as good an explanation
_STEEPEST = np.cos(np.deg2rad(10.0))  # a smaller tilt is no wrong frame
FRAME_MENDS = {
    "sensor": "Name the frame whose axes are those of the sensor in wrench.sensor_frame; if there "
              "is none, add one to the robot description, fixed to this frame with that rpy.",
    "gravity": "Name a frame whose z axis points up in gravity.frame, or give the mounting of the "
               "robot in the transforms above its base.",
    "transposed": "Publish the rotation of the sensor in its parent frame, not the reverse."}


class Trial(NamedTuple):
    """A set-up that explains the force better than the declared one.

    Attributes:
        kind: "sensor", "gravity" or "transposed".
        text: what it is, in a sentence.
        before, after: rms of the force that declared and other frames leave [N].
    """

    kind: str
    text: str
    before: float
    after: float


def explain_force(force: Array, rotations: Array, before: float, sensor: str, gravity: str
                  ) -> Trial | None:
    """The other frames that explain a force (n, 3) [N] far better; None where none do.

    Args:
        rotations: (n, 3, 3) from the sensor to the gravity frame; before: what the declared frames
            leave [N]; sensor, gravity: names of frames.
    """
    up = rotations[:, 2]
    trials = [*_try_sensors(force, up, before, sensor),
              *_try_gravity(force, rotations, before, gravity),
              *_try_transposed(force, rotations, before, sensor)]
    # What two faults explain alike, as after a small motion, is likelier a sensor that is turned.
    simple = min(trials, key=lambda trial: trial.after * (
        1.0 if trial.kind == "sensor" else _AS_GOOD), default=None)
    any_turn = _turn_sensor(force, up, before, sensor)
    # A turn by any angle explains what quarter turns do, too: the simplest is the likeliest.
    best = (simple if simple and simple.after < _AS_GOOD * any_turn.after else any_turn)
    return best if best.after < _BETTER * before else None


def quarter_turns() -> Iterator[Array]:
    """The 23 turns (3, 3) by quarters that are none at all excepted."""
    for order, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3)):
        turn = np.zeros((3, 3))
        turn[range(3), order] = signs
        if np.linalg.det(turn) > 0.0 and not np.array_equal(turn, np.eye(3)):
            yield turn


def _try_sensors(force: Array, up: Array, before: float, sensor: str) -> Iterator[Trial]:
    """The sensor turned by quarters: its axes are the columns of the turn, in its frame."""
    for turn in quarter_turns():
        after, weight = _fit_along(force, up @ turn)
        if weight > 0.0:
            axes = ", ".join(_axis(column) for column in turn.T)
            yield Trial("sensor", "the force fits a payload if the axes x, y, z of the sensor lie "
                        f"along {axes} of frame '{sensor}' ({_rpy(turn)})", before, after)


def _try_gravity(force: Array, rotations: Array, before: float, frame: str) -> Iterator[Trial]:
    """Another direction of gravity in its frame: ``force = R' w + bias``, w (3,) free."""
    rows = np.zeros((len(force), 3, 6))
    rows[:, :, :3], rows[:, :, 3:] = np.swapaxes(rotations, 1, 2), np.eye(3)
    solution = np.linalg.lstsq(rows.reshape(-1, 6), force.ravel(), rcond=None)[0]
    up = solution[:3] / max(float(np.linalg.norm(solution[:3])), 1e-9)
    if up[2] < _STEEPEST:
        after = _rms(force - (rows @ solution).reshape(-1, 3))
        direction = ", ".join(f"{value + 0.0:.2f}" for value in np.round(up, 2))
        said = _axis(up) if np.abs(up).max() > _STEEPEST else f"({direction})"
        name = f"frame '{frame}'" if frame else "the gravity frame"
        yield Trial("gravity", f"the force fits a payload if up is along {said} of {name}, not "
                    "along its z axis", before, after)


def _try_transposed(force: Array, rotations: Array, before: float, sensor: str) -> Iterator[Trial]:
    """The rotation of the sensor read the wrong way round."""
    after, weight = _fit_along(force, rotations[:, :, 2])
    if weight > 0.0:
        yield Trial("transposed", "the force fits a payload if the rotation of frame "
                    f"'{sensor}' is transposed", before, after)


def _turn_sensor(force: Array, up: Array, before: float, sensor: str) -> Trial:
    """The sensor turned by any angle (Kabsch): ``force = w T' up + bias``, T the axes of the sensor
    in its frame."""
    across, along = force - force.mean(axis=0), up - up.mean(axis=0)
    u, _, vt = np.linalg.svd(along.T @ across)
    turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
    angles = np.round(np.rad2deg(_rpy_of(turn))) + 0.0
    return Trial("sensor", "the force fits a payload if the sensor is turned in frame "
                 f"'{sensor}' by roll {angles[0]:.0f}\u00b0, pitch {angles[1]:.0f}\u00b0, yaw "
                 f"{angles[2]:.0f}\u00b0 ({_rpy(turn)})", before, _fit_along(force, up @ turn)[0])


def _rpy(turn: Array) -> str:
    """A turn (3, 3) as a robot description has it [rad]."""
    return 'rpy="' + " ".join(f"{angle + 0.0:.3g}" for angle in _rpy_of(turn)) + '"'


def _fit_along(force: Array, up: Array) -> tuple[float, float]:
    """What a weight along directions (n, 3), with a bias, leaves of the force [N], and it [N]."""
    across, along = force - force.mean(axis=0), up - up.mean(axis=0)
    weight = float(np.sum(across * along) / max(np.sum(along**2), 1e-12))
    return _rms(across - weight * along), weight


def _rms(vectors: Array) -> float:
    """Root mean square length of vectors (n, 3)."""
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))


def _axis(direction: Array) -> str:
    """The signed axis nearest to a direction (3,)."""
    k = int(np.argmax(np.abs(direction)))
    return ("+" if direction[k] > 0.0 else "\u2212") + "xyz"[k]


def _rpy_of(turn: Array) -> Array:
    """Roll, pitch and yaw (3,) [rad] of a turn (3, 3)."""
    return np.asarray(pin.rpy.matrixToRpy(turn))
