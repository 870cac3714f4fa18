# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A clock offset of up to a second, or a driver that removes other forces than was believed, is
found where nothing explains the wrench; other disturbances are not taken for one."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import (
    BODY,
    NOISE,
    RICH,
    STILL,
    Recording,
    Scene,
    Sinusoids,
    identifier,
    joint_messages,
    nanoseconds,
    payload,
    stamps,
    texts,
)

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.regression.alignment import CLOCK_OFFSET

OTHER = payload(9, 0.6)
BIAS = np.array([3.0, -2.0, 1.0, 0.2, -0.1, 0.15])


def slowed(speed: float) -> Scene:
    return Scene(Sinusoids(RICH.offset, RICH.amplitude, RICH.frequency * speed, RICH.phase))


def samples(scene: Scene, wrench: np.ndarray, t: np.ndarray) -> Recording:
    """Wrenches (n, 6) on the payload, read with bias and noise, and joint states."""
    reading = BIAS - wrench + np.random.default_rng(2).normal(size=wrench.shape) * NOISE
    return (Recording([(int(s), "add_wrench", (int(s), "tool0", w[:3].tolist(), w[3:].tolist()))
                       for s, w in zip(nanoseconds(t), reading, strict=True)])
            + joint_messages(scene, t)).sorted()


def solved_on_the_way(made: Identifier, recording: Recording) -> Identifier:
    """Feed a recording, and solve twice a second, as the node does."""
    begin = recording.messages[0][0]
    for tick in range(int(2e-9 * (recording.messages[-1][0] - begin)) + 1):
        first, last = (begin + k * 500_000_000 for k in (tick, tick + 1))
        recording.select(lambda s, _, a=first, b=last: a <= s < b).feed(made)
        made.solve()
    made.finish()
    return made


@pytest.mark.slow
@pytest.mark.parametrize("offset", [-1.0, -0.3, 0.15, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("speed", [0.4, 1.0])
def test_a_clock_offset_of_up_to_a_second_is_found_and_removed(offset: float,
                                                               speed: float) -> None:
    scene, t = slowed(speed), stamps(9.0, 200.0)
    made = solved_on_the_way(identifier(), samples(scene, scene.load(t + offset, BODY), t))
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    np.testing.assert_array_less(np.abs(outcome.report - BODY.report), 4.0 * outcome.sigma)
    assert outcome.sigma[0] < 0.005 * BODY.report[0]
    assert outcome.alignment[CLOCK_OFFSET.values] == pytest.approx(offset, abs=2e-3)
    found = texts(made)
    assert "ms too " + ("early" if offset > 0 else "late") in found["clock_offset"]
    assert not {"contact", "frame_wrong", "zero_moved.wrench", "payload_changed"} & set(found)


@pytest.mark.slow
def test_an_offset_is_not_looked_for_where_the_clocks_are_said_to_be_one() -> None:
    scene, t = Scene(), stamps(6.0, 200.0)
    made = solved_on_the_way(identifier(alignment__delay_sd=0.0),
                             samples(scene, scene.load(t + 0.4, BODY), t))
    assert "clock_offset" not in texts(made) and made._known.setup.correction.errors.early_ns == 0


@pytest.mark.slow
@pytest.mark.parametrize("scene", [Scene(), slowed(0.2), Scene(STILL)], ids=["", "slow", "still"])
@pytest.mark.parametrize("kind", ["payload", "zero", "push", "cable"])
def test_what_is_no_clock_offset_is_not_taken_for_one(scene: Scene, kind: str) -> None:
    t = stamps(8.0, 200.0)
    wrench, later = scene.load(t, BODY), (t > 4.0)[:, None]
    if kind == "payload":
        wrench = np.where(later, scene.load(t, OTHER), wrench)
    elif kind == "zero":
        wrench = wrench + later * 2.0 * BIAS
    elif kind == "push":
        wrench = wrench + later * (t < 6.0)[:, None] * np.sin(np.pi * t / 2.0)[:, None] * 5.0 * BIAS
    else:
        turn, place = scene.sensor_in_world(t)
        pull = turn.inv().apply(4.0 * (np.array([0.0, 0.0, 2.0]) - place))
        wrench = wrench + np.hstack([pull, np.cross([0.0, 0.0, 0.036], pull)])
    made = solved_on_the_way(identifier(), samples(scene, wrench, t))
    assert abs(made._known.setup.correction.errors.early_ns) < 20_000_000
