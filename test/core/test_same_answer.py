# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Estimates are functions of the samples: live, offline, in any blocks, at any rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np
import pytest

from benchmarks.referee import situations
from benchmarks.referee.generator import FRAME
from inertial_id_ros.estimate import Estimate, Outcome
from inertial_id_ros.identify.identifier import Identifier
from inertial_id_ros.io.sample_blocks import JointStates, Wrenches
from inertial_id_ros.settings import Settings

SEED, SECONDS = 400_700, 15.0
Samples = tuple[str, tuple[str, ...], np.ndarray, np.ndarray, np.ndarray]
WHEN = ("solve_time", "stale", "stale_reason", "findings")


def seen(scene: situations.Scene) -> Samples:
    wrench, positions = scene.measured(np.random.default_rng(SEED))
    part = scene.t < SECONDS
    return scene.arm.urdf, scene.arm.names, scene.stamps[part], positions[part], wrench[part]


SCENES: dict[str, Callable[[], situations.Scene]] = {
    "grip": lambda: situations.grip(SEED), "contact": lambda: situations.motion_contact(SEED)}


def run(samples: Samples, size: int, rate: float, asks: bool = True
        ) -> tuple[dict[int, Outcome], Identifier]:
    """All fresh estimates that became due, by their stamps, of samples in blocks of a size.

    Args:
        asks: True to ask in between, too, which changes nothing.
    """
    urdf, names, stamps, positions, wrench = samples
    made = Identifier(Settings().replace({"estimator.rate": rate, "buffer.window": 8.0}))
    due: list[Outcome] = []
    made.set_robot_description(urdf)
    for first in range(0, len(stamps), size):
        part = slice(first, first + size)
        due += made.add_arrays([JointStates(stamps[part], names, positions[part]),
                                Wrenches(stamps[part], FRAME, wrench[part])])
        if asks:
            made.solve()
    due += made.finish()
    return {o.stamp_ns: o for o in due if isinstance(o, Estimate) and not o.stale}, made


def require_same(one: Outcome, other: Outcome) -> None:
    """All fields that do not tell when it was asked for are the same."""
    assert type(one) is type(other)
    if not isinstance(one, Estimate):
        return
    for item in fields(Estimate):
        a, b = getattr(one, item.name), getattr(other, item.name)
        if item.name in WHEN:
            continue
        if isinstance(a, np.ndarray | float):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=item.name)
        else:
            assert a == b, item.name


@pytest.mark.parametrize("name", SCENES)
def test_blocks_do_not_matter(name: str) -> None:
    samples = seen(SCENES[name]())
    slow, made = run(samples, 100, 2.0, asks=False)
    load = made.load_in_use()
    assert len(slow) > 8
    for size, asks in ((1, False), (7, False), (250, True), (10**6, True)):
        found, other = run(samples, size, 2.0, asks)
        assert set(found) == set(slow)
        for stamp in slow:
            require_same(slow[stamp], found[stamp])
        same = other.load_in_use()
        assert same.mode is load.mode and same.reason == load.reason
        np.testing.assert_allclose(same.phi, load.phi, rtol=1e-9, atol=1e-12)
        assert {f.name for f in made.findings()} == {f.name for f in other.findings()}


def test_the_rate_does_not_matter() -> None:
    samples = seen(SCENES["grip"]())
    usual, made = run(samples, 25, 2.0, asks=False)
    for rate in (0.5, 10.0):
        found, other = run(samples, 25, rate, asks=False)
        common = set(usual) & set(found)
        assert len(common) >= min(len(usual), len(found)) - 1 > 4
        for stamp in common:
            require_same(usual[stamp], found[stamp])
        np.testing.assert_allclose(other.load_in_use().phi, made.load_in_use().phi, rtol=1e-9)
