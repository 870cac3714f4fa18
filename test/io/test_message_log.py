# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The log of messages: bounded, in order, with marks behind what had been processed."""

from __future__ import annotations

import os
import threading
import zlib
from itertools import pairwise

from inertial_id_ros.io.message_log import MARK, RESTORE, MessageLog

SECOND = 1_000_000_000


def test_messages_come_back_in_order_with_increasing_times() -> None:
    log = MessageLog(10.0, 1_000_000)
    for i in range(100):  # ten at the same time
        log.add(i % 3, i // 10 * 1_000_000, i, bytes([i]) * i)
    got = list(log.snapshot()[0])
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
    got = list(log.snapshot()[0])
    assert got[0].data == b"description" and got[-1].place == 99_999
    kept = (got[-1].time_ns - got[1].time_ns) / SECOND
    assert 10.0 <= kept < 15.0  # whole chunks of 2 s are dropped
    assert log.forgets
    assert not [m for m in got if m.topic == MARK]  # what came before the mark is gone


def test_the_memory_is_bounded() -> None:
    log = MessageLog(1e6, 1_000_000)
    for i in range(100_000):
        log.add(0, i, i, b"x" * 100)
    size = sum(len(m.data) for m in log.snapshot()[0])
    assert 500_000 < size < 1_300_000
    for i in range(1000):
        log.add_latched(1, i, 0, bytes([i % 256, i // 256]) * 5000)
    latched = [m for m in log.snapshot()[0] if m.topic == 1]
    assert 0 < sum(len(m.data) for m in latched) <= 1_000_000


def test_a_copy_of_a_latched_message_is_kept_once() -> None:
    log = MessageLog(10.0, 1_000_000)
    for i in range(5):
        log.add_latched(1, i * SECOND, i, b"same")
    log.add_latched(1, 9 * SECOND, 9, b"other")
    assert [m.data for m in log.snapshot()[0]] == [b"same", b"other"]


def test_a_mark_stands_before_the_first_message_that_had_not_been_processed() -> None:
    log = MessageLog(10.0, 1_000_000)
    for place in (0, 1, 1, 2, 5):  # one message held no sample, another three
        log.add(0, place, place, b"m")
    for place, text in ((0, "describe"), (2, "advance"), (2, "solve"), (5, "advance"), (6, "end")):
        log.mark(place, text)
    got = list(log.snapshot()[0])
    assert [m.data.decode() if m.topic == MARK else str(m.place) for m in got] == [
        "describe", "0", "1", "1", "advance", "solve", "2", "advance", "5", "end"]
    assert all(a.time_ns < b.time_ns for a, b in pairwise(got))


def fill(log: MessageLog, first: int, count: int, each: int = 1000) -> None:
    """Add messages, one every millisecond."""
    for place in range(first, first + count):
        log.add(0, place * SECOND // 1000, place, b"x" * each)


def marks(log: MessageLog) -> list[str]:
    return [m.data.decode() for m in log.snapshot()[0] if m.topic == MARK]


def test_the_marks_begin_with_a_checkpoint_behind_which_all_messages_are_there() -> None:
    log = MessageLog(4.0, 100_000_000)
    for second in range(12):
        fill(log, 1000 * second, 1000)
        log.mark(1000 * (second + 1), f"advance {second}")
        if log.needs_checkpoint:
            log.add_checkpoint(1000 * (second + 1), f"learnt {second}".encode())()
            log.mark(1000 * (second + 1), f"solve {second}")
    got, packed = log.snapshot()
    messages = list(got)
    at = next(k for k, m in enumerate(messages) if m.topic == MARK)
    assert messages[at].data == RESTORE.encode()
    number = int(zlib.decompress(packed).decode().removeprefix("learnt "))
    assert messages[at + 1].data == f"solve {number}".encode()
    behind = [m.place for m in messages[at:] if m.topic != MARK]
    assert behind == list(range(1000 * (number + 1), 12_000))
    assert len(behind) >= 2000  # at least half of what is kept
    assert marks(log).count(RESTORE) == 1


def test_a_checkpoint_is_asked_for_where_the_bytes_run_out_before_the_time() -> None:
    log = MessageLog(1e6, 4_000_000)
    fill(log, 0, 900)
    assert not log.needs_checkpoint
    fill(log, 900, 200)
    assert log.needs_checkpoint
    log.add_checkpoint(1100, b"")()
    assert not log.needs_checkpoint


def test_a_checkpoint_that_leaves_no_room_for_messages_is_not_kept() -> None:
    log = MessageLog(1e6, 1_000_000)
    fill(log, 0, 300)
    log.add_checkpoint(300, os.urandom(900_000))()
    fill(log, 300, 700)
    messages, packed = log.snapshot()
    assert len(list(messages)) > 400 and packed == b""


def test_one_that_is_not_packed_yet_is_not_used() -> None:
    log = MessageLog(1.0, 100_000_000)
    fill(log, 0, 3000)
    pack = log.add_checkpoint(3000, b"learnt")
    assert log.snapshot()[1] == b"" and marks(log) == []
    pack()
    assert zlib.decompress(log.snapshot()[1]) == b"learnt"


def test_commands_that_are_too_large_to_keep_leave_it_to_the_next_checkpoint() -> None:
    log = MessageLog(1e6, 1_000_000)
    fill(log, 0, 10)
    for _ in range(100):
        log.mark(10, "command" + "x" * 50_000)
    log.mark(10, "command of another kind" + "x" * 400_000)
    assert log.forgets and log.needs_checkpoint
    assert sum(map(len, marks(log))) < 500_000
    log.add_checkpoint(10, b"learnt")()
    log.mark(10, "solve")
    assert marks(log) == [RESTORE, "solve"]


def test_the_same_again_and_again_without_messages_needs_no_memory() -> None:
    log = MessageLog(10.0, 1_000_000)
    fill(log, 0, 10)
    for _ in range(1000):
        log.mark(10, "solve")
    assert 1 <= len(marks(log)) <= 3


def test_a_mark_among_the_messages_stays_where_it_was() -> None:
    log = MessageLog(10.0, 1_000_000)
    log.add(MARK, 1, 0, b"publishers")
    assert not log.has_messages
    log.add(0, 2, 1, b"m")
    log.mark(1, "advance")
    assert marks(log) == ["publishers", "advance"] and log.has_messages


def test_a_snapshot_while_messages_arrive_holds_whole_messages() -> None:
    log, stop = MessageLog(1e6, 500_000), threading.Event()

    def add() -> None:
        i = 0
        while not stop.is_set():
            log.add(0, i, i, i.to_bytes(8, "little") * (i % 20))
            i += 1

    writer = threading.Thread(target=add)
    writer.start()
    try:
        for _ in range(30):
            got = list(log.snapshot()[0])
            assert all(m.data == m.place.to_bytes(8, "little") * (m.place % 20) for m in got)
            assert all(b.place == a.place + 1 for a, b in pairwise(got))
    finally:
        stop.set()
        writer.join()
