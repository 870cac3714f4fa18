# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The queue between the threads of streams and the one that identifies."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from inertial_id_ros.io.sample_blocks import JointStates, Wrenches
from inertial_id_ros.samples.inbox import Inbox, Tick, Ticks


def wrench(*stamps: int, frame: str = "tool") -> Wrenches:
    return Wrenches(np.array(stamps), frame, np.zeros((len(stamps), 6)))


def joints(stamp: int) -> JointStates:
    return JointStates(np.array([stamp]), ("a",), np.zeros((1, 1)))


def test_blocks_up_to_a_tick_are_joined_by_stream() -> None:
    inbox = Inbox()
    for samples in (wrench(1, 2), joints(1), wrench(3), wrench(3, frame="other")):
        inbox.append(samples)
    inbox.add_tick(Tick(5, True))
    inbox.append(wrench(6))
    assert inbox.ticks == 1
    samples, tick = inbox.take()
    assert tick == Tick(5, True)
    assert [(type(s), s.stamps.tolist()) for s in samples] == [
        (Wrenches, [1, 2, 3]), (JointStates, [1]), (Wrenches, [3])]
    samples, tick = inbox.take()
    assert tick is None
    assert samples[0].stamps.tolist() == [6]
    assert inbox.take() == ([], None)
    assert inbox.ticks == 0


def test_without_room_samples_are_lost() -> None:
    inbox = Inbox(room=3)
    inbox.append(wrench(1, 2))
    inbox.append(wrench(3, 4))
    inbox.append(wrench(5))
    assert inbox.lost == 2
    assert inbox.take()[0][0].stamps.tolist() == [1, 2, 5]
    inbox.append(wrench(6, 7, 8))
    assert inbox.lost == 2


def test_nothing_is_lost_between_threads() -> None:
    inbox = Inbox()
    with ThreadPoolExecutor(1) as other:
        done = other.submit(lambda: [inbox.append(wrench(k)) for k in range(5000)])
        stamps: list[int] = []
        while not done.done() or len(stamps) < 5000:
            stamps += [s for samples in inbox.take()[0] for s in samples.stamps.tolist()]
    assert stamps == list(range(5000))


def test_ticks_are_multiples_of_both_periods() -> None:
    ticks = Ticks(7, 50, 200)
    assert list(ticks.until(49)) == []
    assert list(ticks.until(200)) == [Tick(50, False), Tick(100, False), Tick(150, False),
                                      Tick(200, True)]
    ticks.skip_to(330)
    assert ticks.next_ns == 350
