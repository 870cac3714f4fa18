# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The thread that owns the identifier, and how often it may be told to forget."""

from __future__ import annotations

import threading
import weakref
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy")
from inertial_id_ros.ros.worker import Busy, Worker  # noqa: E402


def running(routines) -> Worker:
    worker = Worker(routines, lambda name, error: None)
    worker.start()
    return worker


def test_two_routines_that_are_asked_without_end_leave_a_third_its_turn():
    done = threading.Event()
    worker = running({"a": lambda: worker.request("b"), "b": lambda: worker.request("a"),
                      "c": done.set})
    worker.request("a")
    worker.request("c")
    assert done.wait(2.0)
    assert worker.stop(2.0)


def test_jobs_without_end_leave_routines_their_turn():
    rounds, enough = [], threading.Event()

    def work() -> None:
        rounds.append(None)
        if len(rounds) == 20:
            enough.set()

    def again() -> None:
        worker.request("work")
        if not enough.is_set():
            worker.post(again)

    worker = running({"work": work})
    for _ in range(50):
        worker.post(again)
    assert enough.wait(2.0)
    assert worker.stop(2.0)


def test_shapes_that_are_asked_for_faster_than_they_are_used_are_refused_at_once():
    """Else a client in a loop fills the memory, and whoever asks next waits for minutes."""
    pytest.importorskip("shape_msgs.msg")
    from inertial_id_ros.ros.requested_shapes import RequestedShapes

    worker, used = Worker({}, lambda name, error: None), []
    shapes = RequestedShapes(None, SimpleNamespace(worker=worker), None)
    asked = [shapes.hand_over(None, used.append) for _ in range(30)]
    refused = [future for future in asked if future.done()]
    assert 0 < len(refused) < 30
    with pytest.raises(Busy, match="requests wait already; try again later"):
        refused[-1].result()
    worker.start()
    worker.call(lambda: None, 2.0)
    assert used == [None] * (30 - len(refused))
    assert shapes.hand_over(None, used.append).result(2.0) is None
    assert worker.stop(2.0)


def test_a_job_that_had_not_begun_in_time_never_runs():
    free, ran = threading.Event(), []
    worker = running({})
    worker.post(free.wait)
    with pytest.raises(Busy, match="busy with an estimate"):
        worker.call(lambda: ran.append(None), 0.05)
    free.set()
    worker.call(lambda: None, 2.0)
    assert not ran and worker.stop(2.0)


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_job_holds_is_free_when_the_job_has_ended(fails):
    """Whether it succeeded or not, and while its future lives and the worker waits."""

    class Large:
        pass

    large, freed = Large(), threading.Event()
    weakref.finalize(large, freed.set)

    def job(held=large):
        assert isinstance(held, Large)
        if fails:
            raise ValueError("refused")

    worker = running({})
    future = worker.post(lambda held=job: held())
    del large, job
    assert freed.wait(20.0)
    assert future.done() and worker.stop(5.0)
