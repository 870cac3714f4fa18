# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Questions to other nodes: what changes nothing is asked again where the answer was lost."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")
from rclpy.task import Future  # noqa: E402

from inertial_id_ros.ros.apply.other_nodes import Asking, NoResponse  # noqa: E402


class LossyService:
    """Stands in for a node and its client: the first answers are lost."""

    def __init__(self, lost: int) -> None:
        self._lost, self.requests = lost, 0

    def create_client(self, kind: type, service: str) -> LossyService:
        return self

    def destroy_client(self, client: object) -> None:
        assert client is self

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, request: str) -> Future:
        self.requests += 1
        future = Future()
        if self.requests > self._lost:
            future.set_result(f"answer to {request}")
        return future

    def run(self, job: object) -> object:
        """As the thread of an executor does."""
        return job()

    post = run


def test_a_question_is_asked_again_where_the_answer_was_lost() -> None:
    service = LossyService(2)
    assert Asking(service, service).ask(str, "/names", "question", 0.4) == "answer to question"
    assert service.requests == 3


def test_what_changes_something_is_sent_once() -> None:
    service = LossyService(1)
    with pytest.raises(NoResponse, match="'/payload' did not answer within 0.1 s"):
        Asking(service, service).call(str, "/payload", "2 kg", 0.1)
    assert service.requests == 1


def test_a_service_that_never_answers_is_named() -> None:
    with pytest.raises(NoResponse, match="'/names' did not answer within 0.1 s"):
        Asking(*[LossyService(9)] * 2).ask(str, "/names", "question", 0.1)
