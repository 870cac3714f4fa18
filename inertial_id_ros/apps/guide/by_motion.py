# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a small motion of the wrist decides: sign and units of the wrench, axes of the sensor,
direction of gravity, clocks, order of the joints.

Errors of the set-up are those that the identification itself looks for, here in the small motion
alone: of the set-up as stated and of all others the most probable counts.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...explain.contradictions import contradictions
from ...explain.explain import explain
from ...explain.fit import Region
from ...identify.estimate import FEWEST
from ...kinds import KINDS, finding_of
from ...model.history import Window
from ...model.rows import stretches
from ...model.setup import sheet_of
from ...settings import Settings
from .checks import Row, Verdict, judged

LEAST_TILT, SECOND_TILT = 0.12, 0.04  # spread of the direction of gravity: at all, and across it
CLEAR = 5.0  # deviations of a mass from zero, from which on it shows anything
FOLLOWED = 0.5  # share of a commanded motion that its joint must make, and no other joint may
MOVED = 0.01  # rad by which a joint has moved
SIGN, FRAME, GRAVITY = "sign of the wrench", "axes of the sensor", "direction of gravity"
CLOCKS, JOINT_ORDER = "clocks", "order of the joints"
ORDER_ADVICE = ("Names and positions of the joint states do not belong together: check the order "
                "of the joints in the configuration of the driver or its relay.")
EXPECTED = {SIGN: "the sign that wrench.convention names",
            FRAME: "the force turns as a weight does",
            GRAVITY: "gravity along the z axis of its frame",
            CLOCKS: "the force follows the motion at once"}
NAMES = {"sign_wrong": SIGN, "frame_wrong.gravity_elsewhere": GRAVITY,
         "wrong_units.wrench": "units of the wrench",
         "payload_not_added": "payload set on the robot"}  # of others: axes of the sensor


def check_by_motion(window: Window, settings: Settings) -> tuple[Row, ...]:
    """The rows of sign, axes, gravity and clocks, after a small motion; of what is wrong alone
    where something is."""
    up = window.motion.rotation[window.used, 2]
    is_enough = sum(stretch.n for stretch in stretches(window.used)) >= FEWEST
    tilts = np.linalg.svd(up - up.mean(axis=0), compute_uv=False) / np.sqrt(len(up)) if (
        is_enough) else np.zeros(3)
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
    if clocks.verdict is Verdict.FAILED:
        return (clocks,)
    mass, sd = found.wide_phi[0], float(np.sqrt(found.wide_covariance[0, 0]))
    fits = f"the mass fits as {mass:.2f} ± {1.96 * sd:.2f} kg"
    if mass < CLEAR * sd:
        return _open(f"{fits}, which shows nothing",
                     "Grip something heavier, or tilt farther; the node will name a wrong sign or "
                     "frame as soon as the motion shows it.")
    gravity = Row(GRAVITY, Verdict.PASSED, "as stated", EXPECTED[GRAVITY]) if (
        tilts[1] > SECOND_TILT) else Row(GRAVITY, Verdict.OPEN, "the sensor has turned about one "
                                         "axis", EXPECTED[GRAVITY],
                                         "Turn the sensor about two axes.")
    return (Row(SIGN, Verdict.PASSED, fits, EXPECTED[SIGN]),
            Row(FRAME, Verdict.PASSED, "no other axes fit better", EXPECTED[FRAME]),
            gravity, clocks)


def _wrong(kind: str, numbers: Mapping[str, float | str], settings: Settings) -> Row:
    """The row of an error of the set-up."""
    finding, name = finding_of(kind, numbers), NAMES.get(kind, FRAME)
    advice = KINDS[finding.kind].remedy
    if kind == "sign_wrong":
        other = next(c for c in ("on_sensor", "on_environment") if c != settings.wrench.convention)
        advice = f"Set wrench.convention to '{other}' (it is '{settings.wrench.convention}')."
    return Row(name, Verdict.FAILED, finding.text, EXPECTED.get(name, "as the settings say"),
               advice)


def _open(measured: str, advice: str) -> tuple[Row, ...]:
    """All rows, as nothing is known."""
    return tuple(Row(name, Verdict.OPEN, measured, expected, advice)
                 for name, expected in EXPECTED.items())


def check_joint_order(commanded: Mapping[str, float], moved: Mapping[str, float],
                      is_part: bool = False) -> tuple[Row, ...]:
    """Whether the joint states show the motion of the joint that was commanded to move.

    Args:
        commanded: how far each joint was to move [rad]; moved: how far it did by the joint states
            [rad].
        is_part: the motion did not come to its end, so that only another joint in its place is
            wrong.
    """
    joint, angle = max(commanded.items(), key=lambda item: item[1])
    seen, farthest = max(moved.items(), key=lambda item: item[1], default=("", 0.0))
    if is_part and (farthest < MOVED or commanded.get(seen) == angle):
        return ()
    follows = seen == joint and abs(farthest - angle) < FOLLOWED * angle
    measured = (f"'{seen}' moved by {np.rad2deg(farthest):.0f}°" if farthest > FOLLOWED * angle
                else "no joint moved that far")
    return (judged(JOINT_ORDER, not follows, f"by the joint states {measured}",
                   f"'{joint}' moves by {np.rad2deg(angle):.0f}°, and no other joint",
                   ORDER_ADVICE),)


def rejected_row(reason: str) -> Row:
    """The row where the controller rejects a motion from where the joint states have the arm."""
    return Row(JOINT_ORDER, Verdict.FAILED, f"{reason}, which starts where the joint states have "
               "the arm", "the controller sees each joint where the joint states have it",
               f"{ORDER_ADVICE} The log of the controller says more.")
