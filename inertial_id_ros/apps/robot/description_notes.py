# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Sentences about where a recording and the robot description disagree."""

from __future__ import annotations

import numpy as np

from ...inertia import Array, is_consistent
from ...robot.fitting.described_fit import Described
from ...robot.model import RobotModel
from ..report.wording import CONFIDENCE_95, round_to_spread


def compare_with_description(model: RobotModel, fitted: Described, covariance: Array) -> list[str]:
    """Where data and description disagree by more than their intervals, and on which bodies.

    Args:
        covariance: (p, p) of the identified parameters.
    """
    notes = []
    nominal, phi = model.nominal, fitted.identified.phi
    described = [is_consistent(nominal[model.body_slice(k)]) for k in range(len(model.bodies))]
    for k in np.flatnonzero(fitted.doubt.contradicted & described):
        m = model.body_slice(int(k)).start
        spread = CONFIDENCE_95 * float(np.sqrt(covariance[m, m]))
        mass = ""
        if abs(phi[m] - nominal[m]) > spread:
            mass = (f" (mass {' ± '.join(round_to_spread(phi[m], spread))} kg, described "
                    f"{nominal[m]:.3g} kg)")
        notes.append(f"the recording contradicts the description of {model.bodies[k]} by far{mass}:"
                     " is there a load or gripper that the description lacks?")
    others = [model.bodies[k] for k in np.flatnonzero(
        fitted.doubt.differs & ~fitted.doubt.contradicted & described)]
    if others:
        notes.append("bodies that differ from the description by more than the intervals of both: "
                     + ", ".join(others))
    if fitted.prior.weight < 1.0:
        notes.append("no robot like the description explains the torques as well as they can be "
                     "explained, so that it was trusted less; a term of the joints may be missing "
                     "(--terms), or the description may be of another robot")
    return notes
