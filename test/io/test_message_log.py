# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The log of messages: bounded, in order, with marks behind what had been processed."""

from __future__ import annotations

import threading
from itertools import pairwise

from inertial_id_ros.io.message_log import MARK, MessageLog

SECOND = 1_000_000_000


def test_messages_come_back_in_order_with_increasing_times() -> None:
    log = MessageLog(10.0, 1_000_000)
    for i in range(100):  # ten at the same time
        log.add(i % 3, i // 10 * 1_000_000, i, bytes([i]) * i)
    got = list(log.snapshot())
    assert [(m.topic, m.place, m.data) for m in got] == [
        (i % 3, i, bytes([i]) * i) for i in range(100)]
    assert all(a.time_ns < b.time_ns for a, b in pairwise(got))
    assert not log.forgets and log.has_messages


def test_what_is_old_is_dropped_and_latched_messages_stay() -> None:
    log = MessageLog(10.0, 100_000_000)
    log.add_latched(1, 0, 0, b"description")
    log.mark(1, "solve")
    for i in range(100_000):  # 100 s
        log.add(0, i * SECOND // 1000, i, b"x" * 100)
    got = list(log.snapshot())
    assert got[0].data == b"description" and got[-1].place == 99_999
    kept = (got[-1].time_ns - got[1].time_ns) / SECOND
    assert 10.0 <= kept < 15.0  # whole chunks of 2 s are dropped
    assert log.forgets
    assert not [m for m in got if m.topic == MARK]  # what came before the mark is gone


def test_the_memory_is_bounded() -> None:
    log = MessageLog(1e6, 1_000_000)
    for i in range(100_000):
        log.add(0, i, i, b"x" * 100)
    size = sum(len(m.data) for m in log.snapshot())
    assert 500_000 < size < 1_300_000
    for i in range(1000):
        log.add_latched(1, i, 0, bytes([i % 256, i // 256]) * 5000)
    latched = [m for m in log.snapshot() if m.topic == 1]
    assert 0 < sum(len(m.data) for m in latched) <= 1_000_000


def test_a_copy_of_a_latched_message_is_kept_once() -> None:
    log = MessageLog(10.0, 1_000_000)
    for i in range(5):
        log.add_latched(1, i * SECOND, i, b"same")
    log.add_latched(1, 9 * SECOND, 9, b"other")
    assert [m.data for m in log.snapshot()] == [b"same", b"other"]


def test_a_mark_stands_before_the_first_message_that_had_not_been_processed() -> None:
    log = MessageLog(10.0, 1_000_000)
    for place in (0, 1, 1, 2, 5):  # one message held no sample, another three
        log.add(0, place, place, b"m")
    for place, text in ((0, "describe"), (2, "advance"), (2, "solve"), (5, "advance"), (6, "end")):
        log.mark(place, text)
    got = list(log.snapshot())
    assert [m.data.decode() if m.topic == MARK else str(m.place) for m in got] == [
        "describe", "0", "1", "1", "advance", "solve", "2", "advance", "5", "end"]
    assert all(a.time_ns < b.time_ns for a, b in pairwise(got))


def test_a_snapshot_while_messages_arrive_holds_whole_messages() -> None:
    log, stop = MessageLog(1e6, 5_000_000), threading.Event()

    def fill() -> None:
        i = 0
        while not stop.is_set():
            log.add(0, i, i, i.to_bytes(8, "little") * (i % 20))
            i += 1

    writer = threading.Thread(target=fill)
    writer.start()
    try:
        for _ in range(30):
            got = list(log.snapshot())
            assert all(m.data == m.place.to_bytes(8, "little") * (m.place % 20) for m in got)
            assert all(b.place == a.place + 1 for a, b in pairwise(got))
    finally:
        stop.set()
        writer.join()
