# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What motions decide: a small one of the wrist, sign and units of the wrench, axes of the sensor,
direction of gravity and clocks; one that the estimate has not seen, whether the payload predicts
its wrench.

Errors of the set-up are those that the identification itself looks for, here in the small motion
alone: of the set-up as stated and of all others the most probable counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...explain.contradictions import contradictions
from ...explain.explain import explain
from ...explain.fit import Region
from ...identify.estimate import FEWEST
from ...kinds import KINDS, finding_of
from ...model.history import Window
from ...model.newton_euler import GRAVITY, regressor
from ...model.rows import stretches
from ...model.setup import sheet_of
from ...motion.motion import BIN
from ...settings import Settings
from .checks import FAILED, OPEN, PASSED, Row, judged

LEAST_TILT, SECOND_TILT = 0.12, 0.04  # spread of the direction of gravity: at all, and across it
CLEAR = 5.0  # deviations of a mass from zero, from which on it shows anything
LEAST = 50  # bins of a proof: half a second
TIMES = 2.0  # the errors of the sensor that may remain in a proof
SIGN, FRAME, GRAVITY_ROW = "sign of the wrench", "axes of the sensor", "direction of gravity"
CLOCKS = "clocks"
EXPECTED = {SIGN: "the sign that wrench.convention names",
            FRAME: "the force turns as a weight does",
            GRAVITY_ROW: "gravity along the z axis of its frame",
            CLOCKS: "the force follows the motion at once"}
NAMES = {"sign_wrong": SIGN, "frame_wrong.gravity_elsewhere": GRAVITY_ROW,
         "wrong_units.wrench": "units of the wrench",
         "payload_not_added": "payload set on the robot"}  # of others: axes of the sensor


def check_by_motion(window: Window, settings: Settings) -> tuple[Row, ...]:
    """The rows of sign, axes, gravity and clocks, after a small motion; of what is wrong alone
    where something is."""
    up = window.motion.rotation[window.used, 2]
    if sum(stretch.n for stretch in stretches(window.used)) < FEWEST:
        up = np.zeros((1, 3))
    tilts = np.linalg.svd(up - up.mean(axis=0), compute_uv=False) / np.sqrt(len(up))
    if tilts[0] < LEAST_TILT:
        return _open("the sensor has turned too little",
                     "Tilt the wrist by 15° or more, about two axes.")
    sheet = sheet_of(settings)
    found = explain(window, sheet, Region(
        np.zeros(3), np.full(3, 2.0 * settings.shape.max_reach)))
    if wrong := contradictions(found, sheet, settings.load.reference_mass):
        return tuple(_wrong(*reason, settings) for reason in wrong)
    delay, limit = found.setup.delay, 2.0 * settings.alignment.delay_sd
    clocks = judged(CLOCKS, abs(delay) > limit, f"the force comes {1e3 * abs(delay):.0f} ms "
                    f"{'after' if delay > 0.0 else 'before'} the motion",
                    f"the force follows the motion within {1e3 * limit:g} ms",
                    KINDS["clocks_differ"].remedy)
    if clocks.verdict == FAILED:
        return (clocks,)
    mass, sd = found.wide_phi[0], float(np.sqrt(found.wide_covariance[0, 0]))
    fits = f"the mass fits as {mass:.2f} ± {1.96 * sd:.2f} kg"
    if mass < CLEAR * sd:
        return _open(f"{fits}, which shows nothing",
                     "Grip something heavier, or tilt farther; the node will name a wrong sign or "
                     "frame as soon as the motion shows it.")
    measured = {SIGN: fits, FRAME: "no other axes fit better", GRAVITY_ROW: "as stated"}
    rows = [Row(name, PASSED, text, EXPECTED[name]) for name, text in measured.items()]
    if tilts[1] < SECOND_TILT:
        rows[-1] = Row(GRAVITY_ROW, OPEN, "the sensor has turned about one axis",
                       EXPECTED[GRAVITY_ROW], "Turn the sensor about two axes.")
    return (*rows, clocks)


def _wrong(kind: str, numbers: Mapping[str, float | str], settings: Settings) -> Row:
    """The row of an error of the set-up."""
    finding, name = finding_of(kind, numbers), NAMES.get(kind, FRAME)
    advice = KINDS[finding.kind].remedy
    if kind == "sign_wrong":
        other = next(c for c in ("on_sensor", "on_environment") if c != settings.wrench.convention)
        advice = f"Set wrench.convention to '{other}' (it is '{settings.wrench.convention}')."
    return Row(name, FAILED, finding.text, EXPECTED.get(name, "as the settings say"), advice)


def _open(measured: str, advice: str) -> tuple[Row, ...]:
    """All rows, as nothing is known."""
    return tuple(Row(name, OPEN, measured, expected, advice) for name, expected in EXPECTED.items())


class Proof(NamedTuple):
    """Wrenches (n, 6) of a motion, without the bias of the sensor [N, N m]."""

    time: np.ndarray  # (n,) [s]
    measured: np.ndarray
    before: np.ndarray  # as predicted by the payload that the robot has
    after: np.ndarray  # by the new one
    allowed: tuple[float, ...]  # rms force and torque that the errors of the sensor explain

    @property
    def residuals(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Rms lengths of force [N] and torque [N m] that remain: before, and after."""
        return _lengths(self.measured - self.before), _lengths(self.measured - self.after)

    @property
    def is_given(self) -> bool:
        """True if the new payload leaves no more than the sensor explains, and no more than the
        payload that the robot has."""
        return all(after <= allowed and after <= max(before, allowed / TIMES)
                   for before, after, allowed in zip(*self.residuals, self.allowed, strict=True))

    def rows(self) -> list[tuple[str, float, float]]:
        """What remains, force [N] and torque [N m], by payload."""
        names = ("with what the robot has now", "with the new payload",
                 "explained by the sensor's errors")
        return [(name, force, torque) for name, (force, torque) in zip(
            names, (*self.residuals, self.allowed), strict=True)]


def prove(window: Window, bias: np.ndarray, present: np.ndarray, new: np.ndarray, settings: Settings
          ) -> Proof | None:
    """Compare two payloads with the wrench of a motion; None where it was too short.

    Args:
        bias: (6,) reading without load, sign of the topic [N, N m].
        present, new: phi (10,) that the robot has, and that was found.
    """
    used, motion, wrench = window.used, window.motion, settings.wrench
    if used.sum() < LEAST:
        return None
    proper = motion.acceleration - motion.rotation.transpose(0, 2, 1) @ GRAVITY
    rows = regressor(proper, motion.omega, motion.alpha)[used]
    measured = window.wrench[used] - wrench.sign * bias
    noise, accuracy, drift = map(np.array, (wrench.noise, wrench.accuracy, wrench.drift))
    channel = np.sqrt(3.0 * (noise**2 / window.samples + accuracy**2 + drift**2))
    gain = np.hypot(wrench.gain_error, wrench.cross_talk) * np.array(_lengths(rows @ new))
    return Proof(BIN * np.flatnonzero(used), measured, rows @ present, rows @ new,
                 tuple((TIMES * np.hypot(channel, gain)).tolist()))


def _lengths(wrench: np.ndarray) -> tuple[float, ...]:
    """Root mean square lengths of force and torque of wrenches (n, 6)."""
    squares = np.square(wrench).reshape(-1, 2, 3)
    return tuple(np.sqrt(squares.sum(axis=2).mean(axis=0)).tolist())
