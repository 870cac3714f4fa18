# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the node promises about its main topic, between processes."""

from __future__ import annotations

import signal
import threading
import time
from functools import partial

import numpy as np
import pytest
from node_client import PARAMETERS, set_parameter
from rclpy.duration import Duration
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy
from ros_process import LATCHED, Listener, Robot, Stage, play_until, queued, wait_until

from inertial_id_ros.client import Payload, PayloadClient
from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.ros.conversions import DEADLINE, LEASE
from inertial_id_ros.ros.estimation import HEARTBEAT, LOOK

pytestmark = pytest.mark.slow
DEMANDING = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL,
    deadline=Duration(seconds=DEADLINE), liveliness=LivelinessPolicy.MANUAL_BY_TOPIC,
    liveliness_lease_duration=Duration(seconds=LEASE))
BUSY = 1.0  # s that a machine which runs other tests may take to tell of an event
NOISE = 0.3  # s that it may take to deliver a message


@pytest.fixture()
def stage():
    with Stage() as made:
        yield made


def test_subscribers_of_every_usual_kind_receive_and_one_that_asks_too_much_does_not(stage):
    stage.start_node(estimator__rate=0.1)  # the heartbeat alone
    watcher, got = Listener(stage.domain), {}
    kinds = {"default": 10, "latched": LATCHED, "deadline and lease": DEMANDING,
             "best effort": QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT),
             "automatic": QoSProfile(depth=1, liveliness=LivelinessPolicy.AUTOMATIC,
                                     liveliness_lease_duration=Duration(seconds=10.0)),
             "too short": QoSProfile(depth=1, deadline=Duration(seconds=0.5))}
    try:
        for name, qos in kinds.items():
            got[name] = []
            watcher.node.create_subscription(
                InertialParameters, PARAMETERS,
                lambda m, info, to=got[name]: to.append((1e-9 * info["source_timestamp"], m)), qos)
        good = [got[name] for name in kinds if name != "too short"]
        assert watcher.spin(lambda: all(len(x) >= 6 for x in good), 20.0)
        assert not got["too short"]
        gaps = np.diff([published for published, _ in got["default"]])  # s
        assert HEARTBEAT - LOOK < np.median(gaps) < HEARTBEAT + LOOK + NOISE
    finally:
        watcher.close()


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_subscriber_is_told_of_a_node_that_hangs_or_dies(stage, number):
    node = stage.start_node()
    watcher, alive, missed, got = Listener(stage.domain), [], [], []
    events = SubscriptionEventCallbacks(
        deadline=lambda e: missed.append(time.monotonic()),
        liveliness=lambda e: alive.append((time.monotonic(), e.alive_count)))
    try:
        watcher.node.create_subscription(InertialParameters, PARAMETERS, got.append, DEMANDING,
                                         event_callbacks=events)
        assert watcher.spin(lambda: len(got) > 3 and alive and alive[-1][1] == 1)
        begun, waits = time.monotonic(), queued()
        node.process.send_signal(number)
        assert watcher.spin(lambda: alive[-1][1] == 0 and missed and missed[-1] > begun)
        busy = BUSY + queued() - waits
        assert alive[-1][0] - begun < LEASE + busy
        assert next(t for t in missed if t > begun) - begun < DEADLINE + busy
        if number == signal.SIGSTOP:
            node.process.send_signal(signal.SIGCONT)
            assert watcher.spin(lambda: alive[-1][1] == 1)
    finally:
        node.process.send_signal(signal.SIGCONT)
        watcher.close()


class Consumer:
    """A program of its own thread that asks for the payload a hundred times a second.

    Attributes:
        answers: (steady time [s], answer).
    """

    def __init__(self, domain: int, max_age: float) -> None:
        self.listener = Listener(domain)
        self.client = PayloadClient(self.listener.node, PARAMETERS, max_age=max_age)
        self.answers: list = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            self.listener.executor.spin_once(timeout_sec=0.01)
            self.answers.append((time.monotonic(), self.client.newest()))

    def has_payload(self) -> bool:
        return bool(self.answers) and bool(self.answers[-1][1])

    def payloads(self) -> list:
        return [(t, a) for t, a in list(self.answers) if isinstance(a, Payload)]

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self.client.close()
        self.listener.close()


def test_a_payload_that_changes_is_withdrawn_within_its_bound_at_any_rate(stage):
    node = stage.start_node().process.pid
    robot = Robot(stage.client)
    robot.publish_description()
    consumer = Consumer(stage.domain, max_age=1.6)
    consumer.listener.subscribe(PARAMETERS, InertialParameters)
    got = consumer.listener.got[PARAMETERS]
    try:
        robot.play(4.0, speed=1.0)
        wait_until(lambda: got[-1][1].valid)
        before = got[-1][1].inertia.m
        assert set_parameter(stage, "estimator.rate", 0.1).successful
        robot.cobot = Robot(stage.client, payload="drill").cobot
        changed, waits = time.monotonic(), queued(node)
        robot.play(2.0, speed=1.0)

        def withdrawn():
            return [t for t, m in list(got) if t > changed
                    and (not m.valid or m.inertia.m > 1.2 * before)]

        wait_until(withdrawn)
        at = withdrawn()[0]
        assert at - changed < 1.0 + NOISE + queued(node) - waits
        assert not any(m.valid and not m.stale and abs(m.inertia.m - before) < 0.1 * before
                       for t, m in got if t > at)
    finally:
        consumer.close()


def test_the_client_of_a_node_that_hangs_dies_and_restarts_never_gives_an_old_payload(stage):
    node, max_age = stage.start_node(), 1.6
    robot = Robot(stage.client)
    robot.publish_description()
    consumer = Consumer(stage.domain, max_age)
    try:
        play_until(partial(robot.play, speed=1.0), consumer.has_payload)
        assert consumer.answers[-1][1].mass == pytest.approx(robot.cobot.payload.mass, rel=0.03)

        node.process.send_signal(signal.SIGSTOP)
        hung, waits = time.monotonic(), queued()
        robot.play(3.0, speed=1.0)
        late = hung + max_age + queued() - waits  # what was sent before may have come later
        assert not any(answer for t, answer in consumer.answers if t > late)
        node.process.send_signal(signal.SIGCONT)
        play_until(partial(robot.play, speed=1.0), consumer.has_payload)

        node.process.kill()
        died, waits = time.monotonic(), queued()
        again = stage.start_node()
        robot.publish_description()
        wait_until(lambda: time.monotonic() > died + max_age + 0.1)
        late = died + max_age + queued() - waits
        assert not any(answer for t, answer in consumer.answers if t > late)
        play_until(partial(robot.play, speed=1.0), lambda: len(consumer.payloads()) > 100)

        again.stop()
        wait_until(lambda: not consumer.has_payload())
        assert all(t - a.arrived <= max_age + 0.05 for t, a in consumer.payloads())
    finally:
        consumer.close()
