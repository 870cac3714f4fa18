# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What an estimate makes of an explanation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import truncnorm

from benchmarks.referee.generator import FRAME, Scenario, report
from inertial_id_ros.identify.estimate import widened
from inertial_id_ros.identify.identifier import Identifier
from inertial_id_ros.io.sample_blocks import Edges, Wrenches
from inertial_id_ros.settings import Settings


@pytest.mark.parametrize("mass", [-0.1, 0.0, 0.05, 0.15])
def test_a_mass_that_is_hardly_known_is_as_wide_as_the_data_leave_it(mass: float) -> None:
    phi, sd = np.r_[0.04, np.full(9, 0.001)], 0.1
    wide = widened(phi, 1e-6 * np.eye(10), mass, sd)
    assert wide[0, 0] == pytest.approx(truncnorm.var(-mass / sd, np.inf, mass, sd), rel=1e-6)
    known = widened(phi, 1e-6 * np.eye(10), 0.25, sd)
    np.testing.assert_array_equal(known, 1e-6 * np.eye(10))


def test_transforms_without_translation_give_no_cause_for_what_accelerations_do() -> None:
    """The sensor is moved about, and transforms tell how it turns alone."""
    for seed in range(9001, 9009):
        recording = Scenario("white", seed, (15.0,), ("joints",)).record()
        turn = Rotation.from_matrix(recording.motion.axes.transpose(0, 2, 1)).as_quat()
        made = Identifier(Settings())
        made.add_arrays([
            Edges(recording.stamps, "base", FRAME, np.hstack([np.full((len(turn), 3), 0.3), turn])),
            Wrenches(recording.stamps, FRAME, recording.wrench)])
        outcome = made.solve()
        names = {finding.kind for finding in made.findings()}
        assert "translation_constant" in names
        assert not {"cable", "base_moves", "constant_force", "payload_walks"} & names
        if outcome.valid:
            gap = abs(outcome.report[0] - report(recording.told.phi)[0])
            assert gap < 3.0 * outcome.sigma[0]
            assert not any(outcome.verdict[1:])
