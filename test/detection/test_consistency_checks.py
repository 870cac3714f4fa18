# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings that disagree with the payload, or have no effect, are named."""

from __future__ import annotations

import pytest
from synthetic import BODY, identifier, recording, texts

from inertial_id_ros.estimate import Estimate


def test_a_bound_on_the_mass_that_acts_is_named() -> None:
    for bound, said in ((1.0, True), (3.0, False)):
        made = identifier(estimator__method="density", estimator__max_mass=bound)
        recording(4.0).feed(made, 0.1)
        outcome = made.solve()
        assert isinstance(outcome, Estimate)
        assert ("mass_at_bound" in texts(made)) == said
    assert outcome.report[0] == pytest.approx(BODY.report[0], rel=1e-3)


def test_the_blend_says_that_it_does_not_know_the_alignment() -> None:
    for weighting in ("noise", "dynamism"):
        made = identifier(estimator__method="lmi", estimator__weighting=weighting)
        recording(4.0).feed(made, 0.1)
        made.solve()
        assert ("blend_without_alignment" in texts(made)) == (weighting == "dynamism")
