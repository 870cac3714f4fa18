# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Joint states stamped when they arrive: late, in bursts, at once. The payload is the same."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from synthetic import (
    BODY,
    NOISE,
    SECOND,
    START,
    Recording,
    Scene,
    assert_body,
    identifier,
    joint_messages,
    stamps,
    texts,
    wrench_messages,
)

from inertial_id_ros.estimate import Estimate

RATE = 500.0


def _arrivals(kind: str, t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Arrival times (n,) [s] of joint states taken at times t (n,)."""
    if kind == "jitter":  # many of them within a nanosecond
        rank = 1e-9 * np.arange(len(t))
        return np.maximum.accumulate(t + rng.exponential(0.003, len(t)) - rank) + rank
    count, apart = {"bursts of 4": (4, 1e-4), "bursts of 8": (8, 5e-5),
                    "at once": (4, 0.0)}[kind]
    last = np.minimum((np.arange(len(t)) // count + 1) * count, len(t)) - 1
    return t[last] + (np.arange(len(t)) - last) * apart


def _stamped(samples: Recording, arrivals: np.ndarray) -> Recording:
    """Joint states with other stamps."""
    out = []
    for (_, kind, (_, names, positions)), t in zip(samples.messages, arrivals, strict=True):
        stamp = START + round(t * SECOND)
        out.append((stamp, kind, (stamp, names, positions)))
    return Recording(out)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["jitter", "bursts of 4", "bursts of 8", "at once"])
def test_the_payload_lies_in_its_intervals_and_is_found_in_little_memory(kind: str) -> None:
    rng, t = np.random.default_rng(5), stamps(8.0, RATE)
    joints = _stamped(joint_messages(Scene(), t), _arrivals(kind, t, rng))
    samples = (joints + wrench_messages(Scene(), BODY, t, noise=NOISE, rng=rng)).sorted()
    made = identifier(estimator__estimate_noise=True)
    tracemalloc.start()
    try:
        samples.feed(made, 0.5)
        made.finish()
        outcome = made.solve()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(outcome, Estimate) and peak < 100e6
    assert np.abs((outcome.report - BODY.report) / outcome.sigma).max() < 4.0
    assert_body(outcome, 8.0 if kind == "jitter" else 3.0)  # exact stamps: 3.0
    assert not {"contact", "payload_changed", "zero_moved.wrench",
                "residual_large"} & set(texts(made))
