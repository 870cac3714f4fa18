# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The log of messages: bounded, and in order."""

from __future__ import annotations

import threading
from itertools import pairwise

from inertial_id_ros.apps.bag.black_box import MessageLog

SECOND = 1_000_000_000


def test_messages_come_back_in_order_with_increasing_times() -> None:
    log = MessageLog(10.0, 1_000_000)
    for i in range(100):  # ten at the same time
        log.add(i % 3, i // 10 * 1_000_000, bytes([i]) * i)
    got = list(log.snapshot())
    assert [(m.topic, m.data) for m in got] == [(i % 3, bytes([i]) * i) for i in range(100)]
    assert all(a.time_ns < b.time_ns for a, b in pairwise(got))
    assert not log.forgets and log.has_messages


def test_what_is_old_is_dropped_and_latched_messages_stay() -> None:
    log = MessageLog(10.0, 100_000_000)
    log.add_latched(1, 0, b"description")
    for i in range(100_000):  # 100 s
        log.add(0, i * SECOND // 1000, i.to_bytes(4, "little") * 25)
    got = list(log.snapshot())
    assert got[0].data == b"description" and got[-1].data[:4] == (99_999).to_bytes(4, "little")
    kept = (got[-1].time_ns - got[1].time_ns) / SECOND
    assert 10.0 <= kept < 15.0  # whole chunks of 2 s are dropped
    assert log.forgets


def test_the_memory_is_bounded() -> None:
    log = MessageLog(1e6, 1_000_000)
    for i in range(100_000):
        log.add(0, i, b"x" * 100)
    size = sum(len(m.data) for m in log.snapshot())
    assert 500_000 < size < 1_300_000
    for i in range(1000):
        log.add_latched(1, i, bytes([i % 256, i // 256]) * 5000)
    latched = [m for m in log.snapshot() if m.topic == 1]
    assert 0 < sum(len(m.data) for m in latched) <= 1_000_000


def test_a_copy_of_a_latched_message_is_kept_once() -> None:
    log = MessageLog(10.0, 1_000_000)
    for i in range(5):
        log.add_latched(1, i * SECOND, b"same")
    log.add_latched(1, 9 * SECOND, b"other")
    assert [m.data for m in log.snapshot()] == [b"same", b"other"]


def test_a_snapshot_while_messages_arrive_holds_whole_messages() -> None:
    log, stop = MessageLog(1e6, 500_000), threading.Event()

    def add() -> None:
        i = 0
        while not stop.is_set():
            log.add(0, i, i.to_bytes(8, "little") * (1 + i % 20))
            i += 1

    writer = threading.Thread(target=add)
    writer.start()
    try:
        for _ in range(30):
            got = list(log.snapshot())
            number = [int.from_bytes(m.data[:8], "little") for m in got]
            assert all(m.data == m.data[:8] * (1 + i % 20)
                       for i, m in zip(number, got, strict=True))
            assert all(b == a + 1 for a, b in pairwise(number))
    finally:
        stop.set()
        writer.join()
