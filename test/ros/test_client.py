# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The client of the payload, against a publisher that lies, dies, restarts, stalls and floods."""

import math
from collections import deque
from contextlib import closing
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.experimental import EventsExecutor
from ros_process import LATCHED, Client, own_domain, wait_until

from inertial_id_ros import client as client_module
from inertial_id_ros.client import NoPayload, Payload, PayloadClient
from inertial_id_ros.msg import InertialParameters

TOPIC = "/inertial_id_node/inertial_parameters"
DELIVERY, STEP = 0.02, 0.01  # s: that a message may be under way, and of the simulation


class Bench:
    """A client without ROS: its time is set by hand, and its callback called."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **options: object) -> None:
        self.now = 1000.0
        self.waited = 0.0  # s that the next message has waited, as the middleware says
        clock = SimpleNamespace(monotonic=lambda: self.now,
                                time_ns=lambda: int(5e18 + 1e9 * self.now))
        monkeypatch.setattr(client_module, "time", clock)
        self.publishers = 1
        self.node = SimpleNamespace(create_subscription=self._subscribe,
                                    count_publishers=lambda topic: self.publishers)
        self.client = PayloadClient(self.node, TOPIC, **options)

    def _subscribe(self, kind, topic, callback, qos):
        assert kind is InertialParameters and topic == TOPIC and qos == 1  # not latched
        self.take = lambda message: callback(
            message, {"received_timestamp": int(5e18 + 1e9 * (self.now - self.waited))})

    def after(self, seconds: float, message: InertialParameters | None = None):
        """The client's answer so many seconds later, where a message has just come."""
        self.now += seconds
        if message is not None:
            self.take(message)
        return self.client.newest()


@pytest.fixture()
def bench(monkeypatch):
    return Bench(monkeypatch)


def a_message(sequence: int, age: float = 0.05, stamp: int | None = None,
              **changes) -> InertialParameters:
    """A message as the node publishes it, with some fields changed; ``m`` and ``ixx`` are those of
    the inertia."""
    m = InertialParameters(sequence=sequence, age=age, valid=True, status="fine")
    m.header.frame_id = "ft_sensor"
    m.header.stamp.sec = 100 + sequence if stamp is None else stamp
    m.inertia.m, m.inertia.com.z = 1.5, 0.1
    m.inertia.ixx = m.inertia.iyy = m.inertia.izz = 0.01
    m.covariance = np.diag(np.r_[1e-4, [1e-6] * 3, [1e-8] * 6]).ravel()
    m.verdict = np.full(10, 2, dtype=np.uint8)
    for name, value in changes.items():
        holder = m.inertia if name in ("m", "ixx", "ixy") else m
        setattr(m.header if name == "frame_id" else holder, name, value)
    return m


def test_a_message_brings_a_payload_with_all_its_numbers(bench):
    assert not bench.client.newest() and not bench.after(3.0, a_message(1))
    got = bench.after(0.5, a_message(2))
    assert isinstance(got, Payload) and got.sequence == 2 and got.frame_id == "ft_sensor"
    assert got.mass == 1.5 and got.stamp_ns == 102_000_000_000
    np.testing.assert_array_equal(got.com, [0.0, 0.0, 0.1])
    np.testing.assert_array_equal(got.inertia, 0.01 * np.eye(3))
    np.testing.assert_allclose(got.sigma, np.r_[1e-2, [1e-3] * 3, [1e-4] * 6])
    assert got.is_known("inertia") and got.age == pytest.approx(0.55)
    bench.now += 1.4
    assert bench.client.newest() and bench.now < got.expires
    bench.now += 0.1
    assert bench.now > got.expires and not bench.client.newest()


@pytest.mark.parametrize("lie", [
    {"valid": False}, {"stale": True}, {"age": math.nan}, {"age": -1.0}, {"age": math.inf},
    {"m": math.nan}, {"ixy": math.inf}, {"covariance": np.full(100, np.nan)}, {"m": -2.0},
    {"m": 0.0}, {"ixx": 0.03}, {"ixy": 0.011}, {"frame_id": "tool0"},
    {"doubt": InertialParameters.DOUBT_PRESENT}, {"doubt": InertialParameters.DOUBT_FRAME},
    {"doubt": InertialParameters.DOUBT_MASS}, {"verdict": np.zeros(10, dtype=np.uint8)},
    {"verdict": np.full(10, 7, dtype=np.uint8)}], ids=str)
def test_a_lie_is_refused_and_what_was_before_is_not_used_either(bench, lie):
    bench.after(0.0, a_message(1))
    assert bench.after(0.2, a_message(2))
    refused = bench.after(0.2, a_message(3, **lie))
    assert isinstance(refused, NoPayload) and refused.reason
    bench.after(0.2, a_message(4))
    assert bench.after(0.2, a_message(5))  # and is forgiven


@pytest.mark.parametrize(("require", "known", "doubt", "usable"), [
    ("mass", 1, 0, True), ("com", 1, 0, False), ("com", 4, 0, True), ("inertia", 9, 0, False),
    ("mass", 10, InertialParameters.DOUBT_COM, True),
    ("com", 10, InertialParameters.DOUBT_COM, False)])
def test_only_what_is_required_must_be_known(monkeypatch, require, known, doubt, usable):
    """So many parameters are; what is in doubt counts as unknown."""
    bench = Bench(monkeypatch, require=require)
    verdict = np.where(np.arange(10) < known, 1, 0).astype(np.uint8)
    bench.after(0.0, a_message(1, verdict=verdict))
    got = bench.after(0.2, a_message(2, verdict=verdict, doubt=doubt))
    assert bool(got) == usable
    assert not (usable and doubt) or (got.is_known("inertia") and not got.is_known("com"))


def test_two_publishers_are_named_and_neither_is_used(bench):
    bench.after(0.0, a_message(1))
    bench.publishers = 2
    assert bench.client.topic in bench.after(0.2, a_message(2)).reason
    bench.publishers = 1
    assert bench.after(0.2, a_message(3))


def test_what_is_repeated_or_has_waited_is_no_younger(bench):
    """A message may have come while the one before was taken by a program that was busy."""
    bench.after(0.0, a_message(1))
    bench.after(0.1, a_message(2, stamp=50))
    for _ in range(30):
        repeated = bench.after(0.1, a_message(2, stamp=50))
    assert not repeated
    bench.after(0.1, a_message(3, stamp=50))
    assert not bench.after(0.1, a_message(4, stamp=50))  # of age 0.05, it says
    assert bench.after(0.5, a_message(5, stamp=51)).age == pytest.approx(0.55)
    bench.waited = 0.7
    assert bench.after(0.1, a_message(6)).age == pytest.approx(0.75)
    bench.waited = -3600.0  # the clock was set back meanwhile
    assert bench.after(0.1, a_message(7)).age == pytest.approx(0.15)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_no_payload_is_older_than_its_bound_whatever_stalls_dies_or_restarts(monkeypatch, seed):
    """A publisher and an executor at random, with a queue of one message between them; the time of
    the newest sample of each message is known here alone."""
    rng = np.random.default_rng(seed)
    bench = Bench(monkeypatch, max_age=float(rng.uniform(0.8, 3.0)))
    period = float(rng.choice([0.05, 0.2, 0.5]))
    sequence, publish_at, spin_at = 0, bench.now, bench.now
    under_way: deque[tuple[float, InertialParameters]] = deque()
    queue: InertialParameters | None = None
    sampled: dict[tuple[int, float], float] = {}  # by number and mass of the message
    handed_out, calm = 0, []
    while bench.now < 1080.0:
        bench.now += STEP
        troubled = bench.now < 1060.0  # and then nothing goes wrong any more
        if bench.now >= publish_at:
            sequence += 1
            age = float(rng.uniform(0.0, 0.2))
            message = a_message(sequence, age, m=1.0 + rng.random())
            sampled[sequence, message.inertia.m] = bench.now - age
            under_way.append((bench.now + rng.uniform(0.0, DELIVERY), message))
            publish_at = bench.now + period
            if troubled and rng.random() < 0.05:  # it stalls, or dies and comes back, or floods
                publish_at += rng.uniform(0.0, 6.0)
                sequence = 0 if rng.random() < 0.5 else sequence
                period = float(rng.choice([0.01, 0.05, 0.2, 0.5]))
        while under_way and under_way[0][0] <= bench.now:
            queue = under_way.popleft()[1]
        if bench.now >= spin_at:
            if queue is not None:
                bench.take(queue)
                queue = None
            stalls = troubled and rng.random() < 2e-3
            spin_at = bench.now + (rng.uniform(0.0, 5.0) if stalls else 0.0)
        got = bench.client.newest()
        if isinstance(got, Payload):
            handed_out += 1
            age = bench.now - sampled[got.sequence, got.mass]
            assert age <= got.age + DELIVERY + STEP <= bench.client.max_age + DELIVERY + STEP
        if bench.now > 1077.0:
            calm.append(bool(got))
    assert handed_out > 1000
    assert all(calm) or bench.client.max_age < 2.0 * period + 0.3


@pytest.mark.parametrize("kind", [SingleThreadedExecutor, MultiThreadedExecutor, EventsExecutor])
def test_it_receives_in_every_executor(kind):
    numbers = count(1)
    with closing(Client(own_domain())) as bench:
        node = rclpy.create_node("user", context=bench.context)
        client, executor = PayloadClient(node, TOPIC), kind(context=bench.context)
        executor.add_node(node)

        def step() -> None:
            bench.publish(TOPIC, a_message(next(numbers)), LATCHED)
            executor.spin_until_future_complete(rclpy.task.Future(), timeout_sec=0.1)

        wait_until(client.newest, step=step)
        assert client.newest().mass == 1.5
        executor.shutdown()
        node.destroy_node()
