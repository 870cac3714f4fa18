# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Verdict: limits, and the share of the data."""


import numpy as np
import pytest

from inertial_id_ros.estimate import IDENTIFIED, PRIOR_DOMINATED
from inertial_id_ros.identify.verdict import judge, limits, vague
from inertial_id_ros.inertia import phi_from_body, report_from_phi, report_jacobian

PHI = phi_from_body(2.0, np.array([0.01, 0.02, 0.1]), 0.01 * np.eye(3))


def covariance(mass: float, com: float, inertia: float) -> np.ndarray:
    """Covariance of phi for these standard deviations of the report."""
    back = np.linalg.inv(report_jacobian(PHI))
    sd = np.r_[mass, 3 * [com], 6 * [inertia]]
    return np.asarray(back * sd**2 @ back.T)


def test_limits_are_those_that_the_page_states() -> None:
    report = report_from_phi(PHI)
    np.testing.assert_allclose(limits(report, np.zeros(10)),
                               np.r_[0.1, 3 * [0.05 * np.linalg.norm(report[1:4])], 6 * [0.002]])


@pytest.mark.parametrize(("mass", "com", "inertia", "known"), [
    (0.01, 1e-3, 1e-4, (True, True, True)), (0.06, 1e-3, 1e-4, (False, True, True)),
    (0.01, 4e-3, 1e-4, (True, False, True)), (0.01, 1e-3, 2e-3, (True, True, False))])
def test_an_interval_within_its_limit_is_known(mass: float, com: float, inertia: float,
                                               known: tuple[bool, ...]) -> None:
    found = judge(PHI, covariance(mass, com, inertia), vague(2.0))[1]
    assert tuple(found[k] == IDENTIFIED for k in (0, 1, 4)) == known


def test_what_the_prior_knows_is_not_identified() -> None:
    narrow = covariance(0.01, 1e-3, 1e-4)
    share, verdict = judge(PHI, narrow, 1.5 * narrow)
    assert set(verdict) == {PRIOR_DOMINATED}
    np.testing.assert_allclose(share, 1.0 / 3.0)
