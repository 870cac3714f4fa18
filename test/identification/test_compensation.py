# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""When a compensated wrench is published, and when it is not."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import (
    STILL,
    PointMasses,
    Recording,
    Scene,
    identifier,
    joint_messages,
    payload,
    recording,
    stamps,
    texts,
    wrench_messages,
)

from inertial_id_ros.estimate import UNOBSERVED, Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier

BODY = payload()
NOTHING = PointMasses(np.zeros((1, 3)), np.array([1e-9]))
PUSH = np.array([30.0, -20.0, 25.0, 2.0, -3.0, 2.5])  # far above anything that the payload exerts


def fed(made: Identifier, samples: Recording) -> np.ndarray:
    """The compensated wrenches (k, 6) that came while the samples went in."""
    return np.concatenate([r.wrench for r in samples.feed(made, 0.1)])


def moving(begin: float, seconds: float, push: np.ndarray | float = 0.0) -> Recording:
    t = stamps(seconds, 200.0, start=begin)
    return (joint_messages(Scene(), t) + wrench_messages(Scene(), BODY, t, bias=np.zeros(6) + push)
            ).sorted()


def test_where_the_centre_of_mass_is_not_known_there_is_silence() -> None:
    """A tared sensor at rest knows the mass, and the centre of mass across gravity only."""
    still = Scene(motion=STILL)
    made = identifier(estimator__method="lmi")
    recording(2.0, still, NOTHING).feed(made, 0.1)
    made.tare()
    t = stamps(4.0, 200.0, start=3.0)
    load = (joint_messages(still, t) + wrench_messages(still, BODY, t)).sorted()
    half = len(load.messages) // 2
    fed(made, Recording(load.messages[:half]))
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    assert outcome.verdict[0] != UNOBSERVED and UNOBSERVED in outcome.verdict[1:4]
    assert len(fed(made, Recording(load.messages[half:]))) == 0
    assert "centre of mass is not identified" in texts(made)["compensation_silent.smoothed"]


def test_an_estimate_of_an_earlier_run_compensates_nothing() -> None:
    made = identifier()
    fed(made, moving(0.0, 6.0))
    assert isinstance(made.solve(), Estimate)
    again = identifier()
    again.restore(made.state())
    assert isinstance(again.solve(), Estimate)  # shown, as stale
    assert len(fed(again, moving(10.0, 2.0))) == 0


@pytest.mark.slow
def test_a_held_estimate_compensates_in_contact_but_not_for_ever() -> None:
    made = identifier(buffer__window=4.0, change__detect=False)
    fed(made, moving(0.0, 6.0))
    known = made.solve()
    assert isinstance(known, Estimate)
    early = fed(made, moving(6.0, 3.0, PUSH))
    assert "contact" in texts(made) and "compensation_silent.smoothed" not in texts(made)
    made.solve()  # of the last rows before the contact
    held = made.solve()
    assert isinstance(held, Estimate) and held.stale
    np.testing.assert_allclose(np.median(early, axis=0), PUSH, atol=0.05)
    fed(made, moving(9.0, 2.0, PUSH))
    made.solve()
    assert len(fed(made, moving(11.0, 1.0, PUSH))) == 0
    assert "buffer.window, 4 s" in texts(made)["compensation_silent.smoothed"]


def test_compensation_goes_on_with_the_next_estimate() -> None:
    made = identifier(buffer__window=4.0, change__detect=False)
    fed(made, moving(0.0, 6.0))
    made.solve()
    fed(made, moving(6.0, 6.0))  # nobody solved meanwhile
    assert "compensation_silent.smoothed" in texts(made)
    made.solve()
    assert "compensation_silent.smoothed" not in texts(made)  # it would contradict the new estimate
    assert len(fed(made, moving(12.0, 1.0))) > 80
    assert "compensation_silent.smoothed" not in texts(made)
