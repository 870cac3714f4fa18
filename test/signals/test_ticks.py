# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimates follow from messages, times of arrival and settings alone, to the last digit: they
do not depend on when the thread that owns the identifier has time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from disturbed import BIAS, OTHER, SLOW, between, clean, pushed, scraping, two
from injected_faults import JOINT, change_some, jump_back
from scipy.spatial.transform import Rotation
from synthetic import NOISE, SECOND, Placement, Recording, Scene, identifier, payload, recording

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.signals.inbox import Tick, Ticks

ROUND, SOLVE = SECOND // 5, SECOND // 2


def test_ticks_lie_at_multiples_of_both_periods_and_nowhere_else() -> None:
    ticks = Ticks(1_000, 200, 500)
    assert list(ticks.until(1_199)) == []
    assert list(ticks.until(1_650)) == [Tick(1_200, False), Tick(1_400, False), Tick(1_500, True),
                                        Tick(1_600, False)]
    ticks.skip_to(1_999)
    assert list(ticks.until(2_000)) == [Tick(2_000, True)]


def test_ticks_that_begin_elsewhere_are_the_same() -> None:
    one, other = Ticks(7, 200, 500), Ticks(950, 200, 500)
    list(one.until(1_000))
    list(other.until(1_000))
    assert list(one.until(9_000)) == list(other.until(9_000))


def _late() -> Recording:
    """Wrenches whose stamps are 0.3 s late."""
    return clean(8.0, "fast").changed("add_wrench",
                                      lambda stamp, *rest: (stamp + 300_000_000, *rest))


def _turned() -> Recording:
    """A sensor that is turned by 4.5 degrees."""
    scene = Scene(SLOW.motion, mount=Placement(Rotation.from_euler("xyz", [0.0, 0.05, 0.06])))
    return recording(8.0, scene, noise=NOISE, rng=np.random.default_rng(3))


def _frozen() -> Recording:
    """Joint states that repeat an old position for 0.7 s."""
    held: list[list[float]] = []

    def repeat(_: int, arguments: tuple) -> list[tuple]:
        held.append(arguments[2])
        return [(*arguments[:2], held[0])]
    return change_some(JOINT, repeat, 0.7)(clean(8.0, "fast"))


RECORDINGS: dict[str, Callable[[], Recording]] = {
    "clean": lambda: clean(8.0, "fast"),
    "contact": lambda: pushed(clean(8.0), between(3.0, 4.5, scraping)),
    "gripped": lambda: two(OTHER, payload(), 4.0),
    "zeroed": lambda: pushed(clean(8.0, "slow", BIAS), between(4.0, 99.0, -np.array(BIAS))),
    "clocks differ": _late,
    "sensor turned": _turned,
    "positions frozen": _frozen,
    "clock jumped": lambda: jump_back(clean(8.0))}


def _digits(made: Identifier) -> list[float]:
    """All numbers of the next outcome."""
    outcome = made.solve()
    if not isinstance(outcome, Estimate):
        return [outcome.stamp_ns]
    return [outcome.stamp_ns, outcome.stale, *outcome.phi, *outcome.phi_covariance.ravel(),
            *outcome.bias, *outcome.alignment, *outcome.residual_rms, *outcome.data_share]


def _played(samples: Recording, busy: float, seed: int) -> list[list[float]]:
    """The outcomes where the owner of the identifier has time after so many messages on average."""
    made, rng = identifier(estimator__estimate_noise=True), np.random.default_rng(seed)
    begin = samples.messages[0][0]
    ticks, outcomes = Ticks(begin, ROUND, SOLVE), []
    arrivals = begin + np.arange(len(samples.messages)) * 2_000_000

    def work() -> None:
        while (solves := made.advance_to_tick()) is not None:
            if solves:
                outcomes.append(_digits(made))
    for arrived, (_, method, arguments) in zip(arrivals.tolist(), samples.messages, strict=True):
        for tick in ticks.until(arrived):
            made.add_tick(tick)
        getattr(made, method)(*arguments)
        if rng.random() < 1.0 / busy:
            work()
    work()
    return outcomes


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDINGS)
def test_when_the_owner_has_time_changes_no_digit(name: str) -> None:
    samples = RECORDINGS[name]()
    often, at_the_end = _played(samples, 5.0, 1), _played(samples, 1e9, 2)
    assert len(often) == len(at_the_end) > 4
    assert any(len(digits) > 100 for digits in often)
    for one, other in zip(often, at_the_end, strict=True):
        assert one == other
