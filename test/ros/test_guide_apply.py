# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What identify_payload makes of an answer of ~/apply that comes late, or never."""

from __future__ import annotations

import threading
import time

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("inertial_id_ros.msg")
import rclpy  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.signals import SignalHandlerOptions  # noqa: E402
from ros_process import own_domain  # noqa: E402

from inertial_id_ros.ros import compat  # noqa: E402
from inertial_id_ros.ros.guide import node_link  # noqa: E402
from inertial_id_ros.ros.guide.guide_node import GuideNode  # noqa: E402
from inertial_id_ros.ros.guide.node_link import NodeLink  # noqa: E402
from inertial_id_ros.srv import Apply  # noqa: E402

NAME = "/stand_in_node"


@pytest.fixture()
def slow_node(monkeypatch):
    """A node whose ~/apply takes 1.5 s to answer; the list of requests that it got."""
    domain, requests = own_domain(), []
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(NAME[1:], context=context)

    def answer(request, response):
        requests.append(request)
        time.sleep(1.5)
        response.success = response.sent = True
        return response

    node.create_service(Apply, "~/apply", answer)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    compat.init([])
    try:
        yield requests
    finally:
        compat.shutdown()
        rclpy.shutdown(context=context)
        thread.join(10.0)
        node.destroy_node()


@pytest.mark.slow
@pytest.mark.parametrize("patience", [0.5, 30.0])
def test_a_payload_that_was_sent_is_never_called_not_sent(slow_node, monkeypatch, patience):
    monkeypatch.setattr(node_link, "APPLY", patience)
    with GuideNode(threading.Event()) as guide:
        link = NodeLink(guide, NAME)
        answer = link.apply("universal_robots", "saved", send=True)
        assert len(slow_node) == 1 and slow_node[0].send
        assert answer.sent and answer.success == (patience > 1.5)
        link.close()


@pytest.mark.slow
def test_without_a_node_nothing_was_sent(slow_node, monkeypatch):
    monkeypatch.setattr(node_link, "APPLY", 0.5)
    with GuideNode(threading.Event()) as guide:
        link = NodeLink(guide, NAME)
        link.name = "/nobody"
        answer = link.apply("universal_robots", "saved", send=True)
        assert not answer.sent and not answer.success and not slow_node
        link.close()
