# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the guided program says of a payload whose application was not answered."""

from types import SimpleNamespace

import pytest

pytest.importorskip("inertial_id_ros.srv")
from inertial_id_ros.ros.guide.node_link import NodeLink  # noqa: E402
from inertial_id_ros.ros.ros_client import NoAnswer, NoResponse  # noqa: E402


@pytest.mark.parametrize(("error", "send", "sent"), [
    (NoResponse, True, True), (NoResponse, False, False), (NoAnswer, True, False)])
def test_a_payload_may_have_been_sent_unless_nobody_was_asked(error, send, sent):
    def call(*_):
        raise error("no answer within 100 s")

    guide = SimpleNamespace(
        client=SimpleNamespace(call=call, parameters=lambda *_: {}),
        node=SimpleNamespace(create_subscription=lambda *_: None))
    answer = NodeLink(guide, "/node").apply("universal_robots", "", send)
    assert (answer.success, answer.sent, answer.message) == (False, sent, "no answer within 100 s")
