# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What other nodes have, and what they answer: services, topics and parameters.

All of it waits, and none of it belongs into the executor's thread, which makes and destroys clients
and subscriptions for it: an executor that is about to wait for them must not lose them.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

import numpy as np
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    ListParameters,
    SetParametersAtomically,
)
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy

from ...errors import InertialIdError, InvalidData
from ..compat import message_type
from ..worker import Busy

T = TypeVar("T")
_PATIENCE = 5.0  # s; the executor's thread may wait for the worker meanwhile


class ExecutorJobs:
    """A queue of jobs, which `step` empties in the executor's thread."""

    def __init__(self) -> None:
        self._jobs: deque[tuple[Future[Any], Callable[[], Any]]] = deque()

    def post(self, job: Callable[[], T]) -> Future[T]:
        """Run a job in the executor's thread soon; may be called from any thread."""
        future: Future[T] = Future()
        self._jobs.append((future, job))
        return future

    def run(self, job: Callable[[], T]) -> T:
        """Run a job in the executor's thread and wait for it; may be called from any other thread.

        Raises:
            Busy: it has not begun in time, and never will: nothing was sent.
        """
        future = self.post(job)
        try:
            return future.result(_PATIENCE)
        except FutureTimeout:
            if not future.cancel():
                return future.result()
            raise Busy("the node was too busy to ask the target; try again") from None

    def step(self) -> None:
        """Run what waits; in the executor's thread."""
        while self._jobs:
            future, job = self._jobs.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(job())
            except Exception as error:  # handed to the thread that waits
                future.set_exception(error)


_POLL = 0.02  # s
_TIMES = 4  # that a question is asked: a service that has just been found may lose an answer
_QOS = QoSProfile(depth=100, history=HistoryPolicy.KEEP_LAST,
                  reliability=ReliabilityPolicy.BEST_EFFORT)


class NoAnswer(InertialIdError):
    """There is no such service, or it does not answer."""


class NoResponse(NoAnswer):
    """A service was asked, and does not answer."""


class Asking:
    """Clients and subscriptions of a node that live as long as a question.

    Args:
        jobs: run by the executor's thread; also an attribute.
    """

    def __init__(self, node: Node, jobs: ExecutorJobs) -> None:
        self._node, self.jobs = node, jobs

    def ask(self, kind: Any, service: str, request: Any, timeout: float) -> Any:
        """As `call`, for a request that changes nothing: it may be sent several times."""
        return self.call(kind, service, request, timeout, _TIMES)

    def call(self, kind: Any, service: str, request: Any, timeout: float, times: int = 1) -> Any:
        """The response of a service within a time [s]; times: that the request is sent at most.

        Raises:
            NoAnswer: it is not there; NoResponse: it does not answer.
        """
        client = self.jobs.run(lambda: self._node.create_client(kind, service))
        try:
            end = time.monotonic() + timeout
            while not client.service_is_ready():
                if time.monotonic() > end:
                    raise NoAnswer(f"there is no service '{service}'")
                time.sleep(_POLL)
            return self._wait(client, service, request, timeout, times)
        finally:  # not waited for, or what becomes of it would replace the answer
            self.jobs.post(lambda: self._node.destroy_client(client))

    def _wait(self, client: Any, service: str, request: Any, timeout: float, times: int) -> Any:
        """The response to a request that is sent so often (raises NoResponse)."""
        answered: Future[Any] = Future()

        def pass_on(done: Any) -> None:
            if answered.done() or done.cancelled():
                return
            if done.exception() is not None:
                answered.set_exception(done.exception())
            else:
                answered.set_result(done.result())

        def send() -> None:
            client.call_async(request).add_done_callback(pass_on)

        for _ in range(times):
            self.jobs.run(send)
            with contextlib.suppress(FutureTimeout):
                return answered.result(timeout / times)
        raise NoResponse(f"service '{service}' did not answer within {timeout:g} s")

    def listen(self, kind: str, topic: str, timeout: float,
               enough: Callable[[list[Any]], bool]) -> list[Any]:
        """Messages of a topic until they are enough, or a time [s] is over; raises what
        `message_type` does."""
        message_class = message_type(kind)
        messages: list[Any] = []
        arrived = threading.Event()

        def take(message: Any) -> None:
            messages.append(message)
            arrived.set()

        subscription = self.jobs.run(
            lambda: self._node.create_subscription(message_class, topic, take, _QOS))
        try:
            end = time.monotonic() + timeout
            while not enough(messages) and (left := end - time.monotonic()) > 0.0:
                arrived.wait(left)
                arrived.clear()
        finally:
            self.jobs.post(lambda: self._node.destroy_subscription(subscription))
        return messages


_NUMBERS = {"float": float, "double": float, "boolean": bool, "string": str}


def fill(message: Any, fields: Mapping[str, Any]) -> Any:
    """The message, with its fields set; numbers have the type that the field wants.

    Raises:
        InvalidData: it has no such field.
    """
    kinds = message.get_fields_and_field_types()
    for name, value in fields.items():
        if name not in kinds:
            raise InvalidData(f"{type(message).__name__} has no field '{name}'")
        if isinstance(value, Mapping):
            fill(getattr(message, name), value)
        elif isinstance(value, (list, tuple)):
            setattr(message, name, [float(v) for v in value])
        else:
            setattr(message, name, _NUMBERS.get(kinds[name], int)(value))
    return message


class ParameterClient:
    """The parameters of one node.

    Args:
        name: full name of the node; timeout: for each answer [s].
    """

    def __init__(self, asking: Asking, name: str, timeout: float) -> None:
        self._asking, self.name, self._timeout = asking, name, timeout

    def read(self, prefixes: Sequence[str]) -> dict[str, Any]:
        """Values of all parameters that begin so; None for those without a value.

        Raises:
            NoAnswer: there is no such node.
        """
        ask = self._asking.ask
        listed = self._call(ask, ListParameters, "list_parameters",
                            ListParameters.Request(prefixes=list(prefixes), depth=0))
        names = list(listed.result.names)
        if not names:
            return {}
        got = self._call(ask, GetParameters, "get_parameters", GetParameters.Request(names=names))
        return {name: _plain(name, value)
                for name, value in zip(names, got.values, strict=True)}

    def read_only(self, names: Sequence[str]) -> frozenset[str]:
        """Those of these parameters that cannot be set (raises NoAnswer)."""
        described = self._call(self._asking.ask, DescribeParameters, "describe_parameters",
                               DescribeParameters.Request(names=list(names)))
        return frozenset(d.name for d in described.descriptors if d.read_only)

    def set(self, values: Mapping[str, Any]) -> None:
        """Set parameters, all or none.

        Raises:
            InvalidData: the node refuses; NoAnswer: there is no such node.
        """
        request = SetParametersAtomically.Request(parameters=[
            Parameter(name, value=[float(v) for v in value] if np.ndim(value) else value
                      ).to_parameter_msg() for name, value in values.items()])
        result = self._call(self._asking.call, SetParametersAtomically,
                            "set_parameters_atomically", request).result
        if not result.successful:
            raise InvalidData(f"node '{self.name}' refuses {', '.join(values)}: {result.reason}")

    def _call(self, way: Callable[..., Any], kind: Any, service: str, request: Any) -> Any:
        """The response of a service of the node, asked or called."""
        try:
            return way(kind, f"{self.name}/{service}", request, self._timeout)
        except NoResponse:
            raise
        except NoAnswer:
            raise NoAnswer(f"there is no node '{self.name}' that takes parameters; is it running, "
                           "and its name right?") from None


def _plain(name: str, value: ParameterValue) -> Any:
    """A parameter's value as Python has it; None where it has none."""
    content = Parameter.from_parameter_msg(ParameterMessage(name=name, value=value)).value
    return content if content is None or np.ndim(content) == 0 else list(content)
