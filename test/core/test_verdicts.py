# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Verdict and accuracy goal: limits, share of the data, what is missing."""

from dataclasses import replace

import numpy as np
import pytest

from inertial_id_ros.errors import InvalidData
from inertial_id_ros.estimate import IDENTIFIED, PRIOR_DOMINATED, UNOBSERVED, Estimate, NoEstimate
from inertial_id_ros.identify.goal import TILT, AccuracyGoal, name_motions, summarise
from inertial_id_ros.identify.verdict import judge, limits, vague
from inertial_id_ros.inertia import phi_from_body, report_from_phi, report_jacobian
from inertial_id_ros.settings import Settings

PHI = phi_from_body(2.0, np.array([0.01, 0.02, 0.1]), 0.01 * np.eye(3))


def covariance(mass: float, com: float, inertia: float) -> np.ndarray:
    """Covariance of phi for these standard deviations of the report."""
    back = np.linalg.inv(report_jacobian(PHI))
    sd = np.r_[mass, 3 * [com], 6 * [inertia]]
    return np.asarray(back * sd**2 @ back.T)


def estimate(verdict: tuple = 10 * (IDENTIFIED,), **changes: float) -> Estimate:
    sizes = {"mass": 0.01, "com": 1e-3, "inertia": 1e-4} | changes
    return Estimate(1, "flange", PHI, covariance(**sizes), np.zeros(6), "density", "noise",
                    np.ones(10), verdict, np.zeros(6), np.zeros(6), np.zeros(6), 100, 1.0, 1.0,
                    1.0, 0.0)


def test_limits_are_those_that_the_page_states() -> None:
    report = report_from_phi(PHI)
    np.testing.assert_allclose(limits(report, np.zeros(10)),
                               np.r_[0.1, 3 * [0.05 * np.linalg.norm(report[1:4])], 6 * [0.002]])


@pytest.mark.parametrize(("mass", "com", "inertia", "known"), [
    (0.01, 1e-3, 1e-4, (True, True, True)), (0.06, 1e-3, 1e-4, (False, True, True)),
    (0.01, 4e-3, 1e-4, (True, False, True)), (0.01, 1e-3, 2e-3, (True, True, False))])
def test_an_interval_within_its_limit_is_known(mass: float, com: float, inertia: float,
                                               known: tuple[bool, ...]) -> None:
    found = judge(PHI, covariance(mass, com, inertia), vague(2.0)).verdict
    assert tuple(found[k] == IDENTIFIED for k in (0, 1, 4)) == known


def test_what_the_prior_knows_is_not_identified() -> None:
    narrow = covariance(0.01, 1e-3, 1e-4)
    judged = judge(PHI, narrow, 1.5 * narrow)
    assert set(judged.verdict) == {PRIOR_DOMINATED}
    np.testing.assert_allclose(judged.share, 1.0 / 3.0)


def test_the_verdict_in_words() -> None:
    verdict = (IDENTIFIED, *3 * (PRIOR_DOMINATED,), IDENTIFIED, *5 * (UNOBSERVED,))
    mass, com, inertia = summarise(verdict).split("; ")
    assert mass == "mass is identified" and "prior-dominated" in com
    assert "ixy" in inertia and "ixx" not in inertia


def test_a_goal_names_what_is_missing_and_the_motion() -> None:
    good, goal = estimate(), AccuracyGoal(mass=0.05, com=0.003, inertia=0.05)
    assert goal.describe_missing(good) == "" and "95 %" in goal.describe_reached(good)
    assert "kg is wanted" in AccuracyGoal(mass=0.001).describe_missing(good)
    assert TILT in AccuracyGoal(com=1e-4).describe_missing(good)
    wide = estimate((*4 * (IDENTIFIED,), *5 * (IDENTIFIED,), UNOBSERVED), inertia=3e-3)
    assert "about x, y, z" in goal.describe_missing(wide)
    assert name_motions(wide) == ["turn faster, to and fro, about z of the sensor"]
    assert goal.describe_missing(NoEstimate(0, "", "no wrench")) == "no wrench"
    assert "held" in goal.describe_missing(good.as_stale())
    assert goal.describe_missing(replace(good, doubted="a cable")) == "a cable"


def test_goals_that_cannot_be_reached_are_refused() -> None:
    with pytest.raises(InvalidData, match="mass"):
        AccuracyGoal(mass=-1.0)
    settings = Settings().replace({"alignment.position_sd": 0.002})
    with pytest.raises(InvalidData, match="4 mm"):
        AccuracyGoal(com=0.003).require_reachable(settings)
    AccuracyGoal(com=0.005).require_reachable(settings)
