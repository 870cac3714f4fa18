# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Positions that no arm can have followed are found, whatever the stream is like, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.kinematics.polynomial import measure_spacing
from inertial_id_ros.kinematics.position_jumps import (
    FROZEN,
    JUMPED,
    MIXED,
    PositionJumps,
    Span,
)
from inertial_id_ros.signals.ring_buffer import SampleRing

START = 1_785_000_000_000_000_000
CONTEXT = 40_000_000  # ns


def path(t: np.ndarray) -> np.ndarray:
    """Positions (n, 3) of an arm that moves at up to 2 rad/s."""
    return np.stack([1.2 * np.sin(1.3 * t), 0.8 * np.sin(2.1 * t + 1.0), 0.5 * np.cos(0.9 * t)],
                    axis=1)


def stamps_of(t: np.ndarray) -> np.ndarray:
    return START + np.round(t * 1e9).astype(np.int64)


def found(t: np.ndarray, q: np.ndarray, at_once: int = 7, limit: float = 3.0) -> list[Span]:
    """The spans of a stream that is judged after every few samples."""
    jumps, ring = PositionJumps(np.full(q.shape[1], limit), np.ones(q.shape[1], bool)), SampleRing(
        q.shape[1], 20_000)
    stamps = stamps_of(t)
    spacing = measure_spacing(stamps)
    context = max(CONTEXT, round(2.5e9 * max(spacing)))
    for k, (stamp, row) in enumerate(zip(stamps.tolist(), q, strict=True)):
        ring.append(stamp, row)
        if k % at_once == 0 and k > 50:
            jumps.judge(ring, spacing, context)
    jumps.judge(ring, spacing, context)
    return jumps.spans


def bursts(t: np.ndarray) -> np.ndarray:
    """Times at which samples arrive that come in bursts of eight, 0.1 ms from each other."""
    last = np.minimum(np.arange(len(t)) // 8 * 8 + 7, len(t) - 1)
    return t[last] + 1e-4 * (np.arange(len(t)) % 8)


@pytest.mark.parametrize("rate", [12.0, 50.0, 125.0, 500.0, 1000.0])
@pytest.mark.parametrize("kind", ["plain", "jitter", "bursts", "lost", "noise", "bad encoders",
                                  "coarse"])
def test_an_arm_that_moves_is_never_said_to_jump(rate: float, kind: str,
                                                 rng: np.random.Generator) -> None:
    t = np.arange(0.0, 12.0, 1.0 / rate)
    q = path(t)
    if kind == "jitter":
        t = np.sort(t + rng.exponential(0.5 / rate, len(t)))
    elif kind == "bursts" and rate > 100.0:
        t = bursts(t)
    elif kind == "lost":
        kept = rng.random(len(t)) > 0.1
        t, q = t[kept], q[kept]
    elif kind == "noise":
        q = q + 1e-3 * rng.normal(size=q.shape)
    elif kind == "bad encoders":
        q = q + 5e-3 * rng.normal(size=q.shape)
    elif kind == "coarse":
        q = np.round(q / 1e-3) * 1e-3
    assert found(t, q) == []


@pytest.mark.parametrize("rate", [20.0, 100.0, 500.0])
def test_an_arm_that_rests_to_the_last_bit_and_starts_again_is_not_said_to_be_frozen(
        rate: float) -> None:
    t = np.arange(0.0, 12.0, 1.0 / rate)
    since = np.maximum(t - 6.0, 0.0)
    q = path(np.minimum(t, 3.0)) + np.stack([1.0 - np.cos(2.0 * since)] * 3, axis=1)
    assert found(t, q) == []


def test_a_joint_told_a_turn_apart_does_not_jump() -> None:
    t = np.arange(0.0, 4.0, 0.002)
    q = path(t)
    q[(t > 1.0) & (t < 2.0), 1] += 2.0 * np.pi
    assert found(t, q) == []


def test_a_pause_in_which_the_arm_went_elsewhere_is_no_jump_unless_no_arm_is_as_fast() -> None:
    t = np.arange(0.0, 8.0, 0.002)
    kept = (t < 3.0) | (t > 5.0)
    q = path(t)[kept]
    assert found(t[kept], q) == []
    q[:, 2] += 2.5 * (t[kept] > 5.0)
    assert found(t[kept], q, limit=3.0) == []
    assert [s.name for s in found(t[kept], q, limit=0.3)] == [JUMPED]


@pytest.mark.parametrize("at_once", [1, 23, 100_000])
@pytest.mark.parametrize("lasts", [0.1, 1.0, 4.0])
def test_positions_that_repeat_until_they_jump_are_frozen_for_that_time(lasts: float,
                                                                        at_once: int) -> None:
    t = np.arange(0.0, 9.0, 0.002)
    held = (t >= 2.0) & (t < 2.0 + lasts)
    spans = found(t, path(np.where(held, 2.0, t)), at_once)
    assert [s.name for s in spans] == [FROZEN]
    assert (spans[0].first - START) * 1e-9 == pytest.approx(2.0, abs=0.005)
    assert (spans[0].last - START) * 1e-9 == pytest.approx(2.0 + lasts, abs=0.005)


def test_positions_with_stamps_of_another_clock_are_left_out_from_the_gap_to_the_jump() -> None:
    """Whether the stamps are ahead of the arm or behind it."""
    t = np.arange(0.0, 9.0, 0.002)
    for by in (0.4, -0.4):
        off = (t >= 3.0) & (t < 6.0)
        stamp = np.where(off, t + by, t)
        newest = np.maximum.accumulate(np.concatenate([[-1.0], stamp[:-1]]))
        kept = stamp > newest  # what comes too late is not in the ring
        spans = found(stamp[kept], path(t)[kept])
        assert {s.name for s in spans} == {JUMPED}
        assert min(s.first for s in spans) <= START + 3_000_000_000
        assert max(s.last for s in spans) >= START + round((6.0 + min(by, 0.0)) * 1e9)


def test_positions_in_the_wrong_order_contradict_each_other(rng: np.random.Generator) -> None:
    t = np.arange(0.0, 6.0, 0.004)
    mixed = (t >= 2.0) & (t < 3.0)
    true = t.copy()
    true[mixed] = t[mixed][np.argsort(t[mixed] + rng.uniform(0.0, 0.08, mixed.sum()))]
    spans = found(t, path(true))
    assert MIXED in {s.name for s in spans} <= {MIXED, JUMPED}
    assert all(1.9 < (s.first - START) * 1e-9 < (s.last - START) * 1e-9 < 3.1 for s in spans)


def test_a_late_sample_is_a_contradiction_only_if_it_says_something_else() -> None:
    t = np.arange(0.0, 2.0, 0.01)
    for off, expected in ((0.0, []), (0.2, [MIXED])):
        jumps, ring = PositionJumps(np.full(3, 3.0), np.ones(3, bool)), SampleRing(3, 1000)
        for stamp, row in zip(stamps_of(t).tolist(), path(t), strict=True):
            ring.append(stamp, row)
        late = np.array([1.505])
        jumps.contradict(ring, int(stamps_of(late)[0]), path(late)[0] + off)
        jumps.judge(ring, measure_spacing(ring.stamps), CONTEXT)
        assert [s.name for s in jumps.spans] == expected
