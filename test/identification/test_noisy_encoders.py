# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Encoders of 1e-3 rad: the noise that they bring into the motion is neither contact nor error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.apps.simulation.settings import CobotSettings
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.settings import Settings

START = 1_700_000_000_000_000_000


def _played(seconds: float, rate: float, step: int, turned: float = 0.0, **changes: Any
            ) -> tuple[list[Estimate], set[str]]:
    """Estimates and names of all findings of a recording, heard once a second, of a hammer with a
    joint state beside every `step`-th wrench, which comes turned by an angle [rad] about x."""
    cobot = SimulatedCobot(CobotSettings().replace(changes | {
        "rate": rate, "encoder_noise": 1e-3}), payload=PAYLOADS["hammer"])
    noise = changes["noise"]
    made = Identifier(Settings().replace({
        "wrench.sensor": "ideal", "alignment.orientation_sd": 0.0, "alignment.position_sd": 0.0,
        "wrench.noise": (noise[0], noise[1])}))
    made.set_robot_description(cobot.urdf)
    c, s = np.cos(turned), np.sin(turned)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    estimates, names, count = list[Estimate](), set[str](), 0
    for block in cobot.blocks(seconds, round(rate)):
        for t, q, w in zip(block.t, block.q, block.wrench, strict=True):
            stamp = START + round(t * 1e9)
            if count % step == 0:
                made.add_joint_state(stamp, cobot.joint_names, q.tolist())
            made.add_wrench(stamp, cobot.sensor_frame, (turn @ w[:3]).tolist(),
                            (turn @ w[3:]).tolist())
            count += 1
        made.advance()
        outcome = made.solve()
        estimates += [outcome] if isinstance(outcome, Estimate) else []
        names |= {f.name for f in made.findings()}
    return estimates, names


SLOW = {"motion": "sinusoid", "speed": 1.28, "rest": 0.2, "noise": [0.02, 0.001], "seed": 8}


def test_a_residual_as_large_as_the_noise_of_the_motion_is_no_finding() -> None:
    """Which is eight times that of the sensor, with joint states at 30 Hz."""
    estimates, names = _played(6.0, 120.0, 4, **SLOW)
    assert max((e.residual_rms / np.repeat([0.02, 0.001], 3)).max() for e in estimates) > 5.0
    assert "residual_large" not in names


def test_a_wrong_frame_shows_all_the_same() -> None:
    _, names = _played(6.0, 120.0, 4, turned=0.5, **SLOW)
    assert {"residual_large", "contact", "frame_wrong"} & names, names


@pytest.mark.slow
def test_the_beginning_of_a_stream_at_rest_is_not_taken_for_a_late_wrench() -> None:
    """The noise of the first rows' rates would tell another delay, and with it a wrong centre of
    mass, until the arm has moved a lot."""
    estimates, _ = _played(26.0, 1000.0, 2, motion="stop_and_go", speed=0.86, ramp=1.0, rest=20.0,
                           noise=[0.1, 0.005], seed=45, clock_offset=0.005)
    truth = np.asarray(PAYLOADS["hammer"].com)
    moved = estimates[1:]  # the first has seen 0.3 s of the first move
    scores = [np.abs(e.report[1:4] - truth) / e.sigma[1:4] for e in moved]
    late = [abs(e.alignment[5] + 0.005) / e.alignment_sigma[5] for e in moved]
    assert len(moved) > 3
    assert np.max(scores) < 3.0 and np.max(late) < 3.0, (scores, late)
