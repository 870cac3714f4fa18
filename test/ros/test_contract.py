# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the node promises about its main topic, between processes."""

import signal
import time
from contextlib import closing
from functools import partial

import numpy as np
import pytest
from apply_stage import ApplyStage
from node_client import PARAMETERS, use
from rclpy.duration import Duration
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy
from ros_process import LATCHED, Client, Robot, Stage, play_until, queued

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
    got = {}
    kinds = {"default": 10, "latched": LATCHED, "deadline and lease": DEMANDING,
             "best effort": QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT),
             "automatic": QoSProfile(depth=1, liveliness=LivelinessPolicy.AUTOMATIC,
                                     liveliness_lease_duration=Duration(seconds=10.0)),
             "too short": QoSProfile(depth=1, deadline=Duration(seconds=0.5))}
    with closing(Client(stage.domain)) as watcher:
        for name, qos in kinds.items():
            got[name] = []
            watcher.node.create_subscription(
                InertialParameters, PARAMETERS,
                lambda m, info, to=got[name]: to.append((1e-9 * info["source_timestamp"], m)), qos)
        good = [got[name] for name in kinds if name != "too short"]
        watcher.spin_until(lambda: all(len(x) >= 6 for x in good))
        assert not got["too short"]
        gaps = np.diff([published for published, _ in got["default"]])  # s
        assert HEARTBEAT - LOOK < np.median(gaps) < HEARTBEAT + LOOK + NOISE


def test_a_subscriber_is_told_of_a_node_that_hangs_or_dies(stage):
    node = stage.start_node()
    alive, missed, got = [], [], []
    events = SubscriptionEventCallbacks(
        deadline=lambda e: missed.append(time.monotonic()),
        liveliness=lambda e: alive.append((time.monotonic(), e.alive_count)))
    with closing(Client(stage.domain)) as watcher:
        watcher.node.create_subscription(InertialParameters, PARAMETERS, got.append, DEMANDING,
                                         event_callbacks=events)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            got.clear()
            watcher.spin_until(lambda: len(got) > 3 and alive and alive[-1][1] == 1)
            missed.clear()
            begun, waits = time.monotonic(), queued()
            node.process.send_signal(number)
            watcher.spin_until(lambda: alive[-1][1] == 0 and missed)
            busy = BUSY + queued() - waits
            assert alive[-1][0] - begun < LEASE + busy
            assert missed[0] - begun < DEADLINE + busy
            node.process.send_signal(signal.SIGCONT)


def test_a_payload_that_changes_is_withdrawn_within_its_bound_at_any_rate(stage):
    node = stage.start_node().process.pid
    robot = Robot(stage.client)
    robot.publish_description()
    got = stage.client.listen_with_times(InertialParameters, PARAMETERS)
    play = partial(robot.play, speed=1.0, each=lambda _: stage.client.executor.spin_once(
        timeout_sec=0.0))
    play_until(play, lambda: got and got[-1][1].valid)
    before = got[-1][1].inertia.m
    use(stage, "estimator.rate", 0.1)
    robot.cobot = Robot(stage.client, payload="drill").cobot
    changed, waits = time.monotonic(), queued(node)

    def withdrawn():
        return [t for t, m in got if t > changed and (not m.valid or m.inertia.m > 1.2 * before)]

    play(2.0)
    stage.client.spin_until(withdrawn)
    at = withdrawn()[0]
    assert at - changed < 1.0 + NOISE + queued(node) - waits
    assert not any(m.valid and not m.stale and abs(m.inertia.m - before) < 0.1 * before
                   for t, m in got if t > at)


@pytest.mark.alone
def test_a_contact_is_doubted_at_once_at_any_rate_and_not_when_it_is_over(tmp_path):
    """Arms stop by it, and the next estimate is up to ten seconds away: at any rate as fast as the
    contract asks at 2 Hz."""
    def is_doubted() -> bool:
        return bool(got[-1][1].doubt & InertialParameters.DOUBT_PRESENT)

    with ApplyStage() as stage:
        stage.begin(state__directory=str(tmp_path), motion__execute=True)
        got = stage.client.listen_with_times(InertialParameters, PARAMETERS)
        use(stage, "estimator.rate", 0.1)
        count = len(got) + 6
        stage.client.spin_until(lambda: len(got) > count)
        assert not is_doubted(), got[-1][1].diagnostics
        touched, waits = time.monotonic(), queued(stage.node.process.pid)
        stage.contact = np.array([15.0, 0.0, -15.0, 0.0, 0.0, 0.0])
        stage.client.spin_until(is_doubted)
        noticed, waits = got[-1][0] - touched, queued(stage.node.process.pid) - waits
        assert noticed < 0.8 + waits and got[-1][1].diagnostics, (noticed, waits)
        stage.contact = np.zeros(6)
        stage.client.spin_until(lambda: not is_doubted())
