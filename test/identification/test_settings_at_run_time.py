# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings that change at run time count as if they had been there from the start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from disturbed import between, clean, identify, pushed
from synthetic import START, Recording, texts

from inertial_id_ros.identification.wrench.identifier import Identifier

PUSH = [0.0, 6.0, 0.0, 0.0, 0.0, 0.2]  # N, N m: far beyond the noise of the data sheet
COARSE = {"wrench.noise": (5.0, 0.25)}  # N, N m: as large as the push
FINE = {"wrench.noise": (0.1, 0.005)}


def _finds_contact(made: Identifier, changes: dict[str, tuple[float, float]]) -> bool:
    """Whether a push is found that begins after the settings have changed."""
    samples = pushed(clean(6.0), between(4.0, 5.0, np.array(PUSH)))
    middle = START + 3 * 10**9
    samples.select(lambda stamp, _: stamp < middle).feed(made, 0.1)
    made.set_settings(made.settings.replace(changes))
    Recording([m for m in samples.messages if m[0] >= middle]).feed(made, 0.1)
    return "contact" in texts(made)


@pytest.mark.parametrize(("before", "after", "found"), [
    (FINE, FINE, True), (COARSE, COARSE, False), (FINE, COARSE, False), (COARSE, FINE, True)])
def test_contact_is_judged_by_the_noise_that_is_set_now(
        before: dict[str, Any], after: dict[str, Any], found: bool) -> None:
    made = identify(**{name.replace(".", "__"): value for name, value in before.items()})
    assert _finds_contact(made, after) == found


@pytest.mark.parametrize("bias_sd", [(0.01, 0.5), (5.0, 0.01)])
def test_the_detector_has_the_prior_of_the_bias_that_is_set_now(bias_sd: tuple[float, float]
                                                                ) -> None:
    changed, known = identify(), identify(wrench__bias_sd=bias_sd)
    changed.set_settings(changed.settings.replace({"wrench.bias_sd": bias_sd}))
    fits = [made._known.payload.segments.detector.running_fit for made in (changed, known)]
    np.testing.assert_array_equal(fits[0].covariance, fits[1].covariance)
    assert not np.array_equal(fits[0].covariance,
                              identify()._known.payload.segments.detector.running_fit.covariance)
