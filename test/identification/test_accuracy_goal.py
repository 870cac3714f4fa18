# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What an estimate lacks of a wanted accuracy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from inertial_id_ros.errors import InvalidData
from inertial_id_ros.estimate import IDENTIFIED, PRIOR_DOMINATED, UNOBSERVED, Estimate, NoEstimate
from inertial_id_ros.identification.accuracy_goal import AccuracyGoal, name_motions
from inertial_id_ros.inertia import phi_from_body, report_jacobian
from inertial_id_ros.settings import Settings

PHI = phi_from_body(2.0, [0.0, 0.0, 0.1], np.diag([0.01, 0.02, 0.015]))
# Of mass [kg], centre of mass [m], inertia [kg m^2]; the mean moment is 0.015 kg m^2.
SIGMA = np.array([0.01, 1e-3, 2e-3, 1e-3, 3e-4, 1e-4, 1e-4, 3e-4, 1e-4, 3e-4])


def estimate(verdict: dict[int, int] | None = None, sigma: np.ndarray = SIGMA) -> Estimate:
    """An estimate whose report has these standard deviations (10,)."""
    inverse = np.linalg.inv(report_jacobian(PHI))
    words = [(verdict or {}).get(k, IDENTIFIED) for k in range(10)]
    return Estimate(0, "sensor", PHI, inverse @ np.diag(sigma**2) @ inverse.T, np.zeros(6), "lmi",
                    "noise", np.ones(10), tuple(words), np.zeros(6), np.zeros(6), np.zeros(6), 100,
                    1.0, 1.0, 1e-3, 0.0)


def test_where_nothing_is_asked_the_verdict_on_mass_and_centre_counts():
    assert AccuracyGoal().describe_missing(estimate()) == ""
    assert AccuracyGoal().describe_missing(estimate({4: UNOBSERVED})) == ""
    assert AccuracyGoal().describe_missing(estimate({2: PRIOR_DOMINATED})) == ""
    text = AccuracyGoal().describe_missing(estimate({2: UNOBSERVED}))
    assert text == ("centre of mass is not identified by this motion in com.y; tilt the sensor by "
                    "20 to 30 degrees about two axes")


@pytest.mark.parametrize(("name", "width", "said"), [
    ("mass", 2.0 * 0.01, "mass is identified to 0.02 kg, where 0.0198 kg is wanted"),
    ("com", 2.0 * 2e-3, "centre of mass is identified to 4 mm, where 3.96 mm is wanted"),
    ("inertia", 2.0 * 3e-4 / 0.015,
     "inertia is identified to 4 % of the mean moment, where 3.96 % of the mean moment is wanted")])
def test_the_widest_interval_of_a_group_decides(name, width, said):
    assert AccuracyGoal(**{name: 1.01 * width}).describe_missing(estimate()) == ""
    assert said in AccuracyGoal(**{name: 0.99 * width}).describe_missing(estimate())


def test_the_hint_names_the_axes_that_tell_the_lacking_entries():
    wanted = AccuracyGoal(inertia=0.2)
    assert "about z of" in wanted.describe_missing(estimate({9: UNOBSERVED}))
    assert "about y, z of" in wanted.describe_missing(estimate({8: UNOBSERVED}))
    wide = SIGMA.copy()
    wide[5] = 0.01  # ixy, by its interval alone
    assert "about x, y of" in wanted.describe_missing(estimate(sigma=wide))


def test_the_motions_that_tell_what_is_unobserved_are_named():
    assert name_motions(estimate()) == []
    tilt, turn = name_motions(estimate({2: UNOBSERVED, 9: UNOBSERVED}))
    assert "20 to 30 degrees" in tilt and "about z of" in turn
    limited = replace(estimate({9: UNOBSERVED}), limits=("", "", "the gain"))
    assert name_motions(limited) == ["more motion does not help: the gain limits it"]


def test_no_narrow_interval_makes_up_for_a_verdict():
    assert AccuracyGoal(mass=1.0).describe_missing(estimate({0: UNOBSERVED}, 1e-6 * SIGMA))
    assert AccuracyGoal(inertia=1.0).describe_missing(estimate({4: UNOBSERVED}, 1e-6 * SIGMA))


def test_held_and_absent_estimates_do_not_do():
    assert "new data" in AccuracyGoal().describe_missing(replace(estimate(), stale=True))
    assert AccuracyGoal().describe_missing(NoEstimate(0, "", "tilt the arm")) == "tilt the arm"


def test_what_was_reached_is_told_with_its_width():
    text = AccuracyGoal(inertia=0.1).describe_reached(estimate())
    assert text == ("mass 2.000 ± 0.02 kg, centre of mass ± 4 mm, inertia ± 4 % of the mean moment "
                    "(95 %)")


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_an_impossible_accuracy_is_refused(value):
    with pytest.raises(InvalidData, match="com_accuracy is"):
        AccuracyGoal(com=value)


@pytest.mark.parametrize(("changes", "is_reachable"), [
    ({}, False), ({"alignment.position_sd": 0.0005}, True),
    ({"alignment.estimate_position": True}, True)])
def test_an_accuracy_that_no_motion_reaches_is_refused_with_the_one_that_can_be_had(
        changes: dict[str, object], is_reachable: bool) -> None:
    goal, settings = AccuracyGoal(com=0.002), Settings().replace(changes)
    if is_reachable:
        goal.require_reachable(settings)
        return
    with pytest.raises(InvalidData, match="no motion gives less than 4 mm"):
        goal.require_reachable(settings)


def test_of_a_doubted_estimate_the_doubt_is_what_is_missing() -> None:
    doubted = replace(estimate({0: UNOBSERVED}), doubted="the robot removes a payload")
    assert AccuracyGoal().describe_missing(doubted) == "the robot removes a payload"
