# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint states at 30 Hz: the intervals of the inertia hold the truth as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.apps.simulation.settings import CobotSettings
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.kinematics import polynomial
from inertial_id_ros.settings import Settings

START = 1_700_000_000_000_000_000
RATE = 240.0  # Hz of the wrench


def _score(seed: int, step: int) -> np.ndarray:
    """Errors of the six inertia entries, in standard deviations, after 10 s of quick moves with a
    joint state beside every `step`-th wrench."""
    payload = list(PAYLOADS.values())[seed % 4]
    cobot = SimulatedCobot(CobotSettings().replace({
        "seed": seed, "rate": RATE, "motion": "point_to_point", "speed": 2.5, "tool_speed": 0.8,
        "rest": 0.3, "noise": [0.02, 0.001]}), payload=payload)
    made = Identifier(Settings().replace({"estimator.method": "wls", "wrench.sensor": "ideal",
                                           "alignment.orientation_sd": 0.0,
                                           "alignment.position_sd": 0.0}))
    made.set_robot_description(cobot.urdf)
    samples = cobot.run(10.0)
    for k, (t, q, w) in enumerate(zip(samples.t, samples.q, samples.wrench, strict=True)):
        stamp = START + round(t * 1e9)
        if k % step == 0:
            made.add_joint_state(stamp, cobot.joint_names, q.tolist())
        made.add_wrench(stamp, cobot.sensor_frame, w[:3].tolist(), w[3:].tolist())
    made.finish()
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    truth = payload.inertia_com[np.triu_indices(3)]
    return (outcome.report[4:] - truth) / outcome.sigma[4:]


@pytest.mark.slow
@pytest.mark.parametrize("step", [8, 5])
def test_intervals_cover_the_truth_at_30_and_48_hz(step: int) -> None:
    scores = np.abs([_score(seed, step) for seed in range(6)])
    assert np.mean(scores < 1.96) >= 0.85, scores.round(1)


def test_with_a_longer_quartic_they_would_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why a slow topic gets no more samples into a window."""
    monkeypatch.setattr(polynomial, "SMOOTHED", 1.0)
    scores = np.abs([_score(seed, 8) for seed in range(3)])
    assert np.mean(scores < 1.96) < 0.85, scores.round(1)
