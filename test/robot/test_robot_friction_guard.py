# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Friction that the terms of the joints lack is noticed, and the intervals hold what it changes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.robot import friction
from inertial_id_ros.apps.robot.robot_identification import RobotResult, identify_robot
from inertial_id_ros.robot.joint_terms import COULOMB, VISCOUS
from inertial_id_ros.robot.recording import LOW_PASS


def identified(stribeck: np.ndarray) -> tuple[friction.Joints, RobotResult]:
    """A Panda whose joints have this Stribeck friction (7,), in parts of the Coulomb friction, by
    terms without it."""
    _, arm = friction.make_joints("Panda", 77, True, 0.01)
    arm = arm._replace(stribeck=stribeck * arm.stribeck, drive=0.0 * arm.drive)
    return arm, identify_robot(arm.model, arm.record(16.0, 78), LOW_PASS, aligned=False,
                               held_back=0.0)


def within(arm: friction.Joints, result: RobotResult) -> float:
    """Share of viscous and Coulomb friction inside their 95 % intervals."""
    at = [arm.model.term_index(j, term) for j in range(7) for term in (VISCOUS, COULOMB)]
    sigma = np.sqrt(np.diag(result.robot.covariance))[at]
    return float(np.mean(np.abs(result.identified.phi - arm.phi)[at] < 1.96 * sigma))


@pytest.mark.slow
def test_joints_with_friction_that_their_terms_lack_are_named() -> None:
    which = np.array([0, 1, 0, 1, 0, 0, 0])
    _, result = identified(which)
    said = next(note for note in result.notes if "another curve of speed" in note)
    named = [name in said for name in result.model.joint_names]
    assert named == which.astype(bool).tolist()
    _, result = identified(0 * which)
    assert not any("another curve of speed" in note for note in result.notes)


@pytest.mark.slow
def test_intervals_hold_what_missing_friction_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert within(*identified(np.ones(7))) > 0.85
    monkeypatch.setattr("inertial_id_ros.apps.robot.robot_fit._RARE", 0.0)
    assert within(*identified(np.ones(7))) < 0.3
