# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Services, parameters and topics of other nodes. Every method waits, so that none may be called in
the thread that spins the node; a callback of a `MultiThreadedExecutor` may."""

import math
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import yaml
from rcl_interfaces.srv import GetParameters, ListParameters, SetParametersAtomically
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import QoSProfile, ReliabilityPolicy

from ..errors import InertialIdError, InvalidData, InvalidSetting
from .conversions import LATCHED
from .program import find_type, message_type

POLL = 0.01  # s
SILENCE = 1.0  # s that a topic may be silent
TIMES = 4  # that a question is asked: a service that has just been found may lose an answer
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class NoAnswer(InertialIdError):
    """There is no such service, or it does not answer."""


class NoResponse(NoAnswer):
    """A service was called and has not answered in time: what it does about it is not known."""


class RosClient:
    """Clients of other nodes, which last as long as their node, which is spun in another thread;
    timeout: longest wait for one answer, where none is given [s]."""

    def __init__(self, node: Node, timeout: float = 10.0) -> None:
        self._node, self.timeout = node, timeout
        self._group = ReentrantCallbackGroup()
        self._clients: dict[tuple[Any, str], Any] = {}

    def resolve(self, name: str, kind: str = "service") -> str:
        """The full name of a service or node, or of a topic (raises InvalidSetting: it is none)."""
        try:
            return str(getattr(self._node, f"resolve_{kind}_name")(name))
        except Exception as error:  # of rclpy or of the library below, by what is wrong
            raise InvalidSetting(f"'{name}' is no name of a service, topic or node: "
                                 f"{' '.join(str(error).split())}") from None

    def services(self) -> dict[str, str]:
        """The type of each service that somebody offers, by its full name, not only asks for."""
        return {name: types[0] for name, types in self._node.get_service_names_and_types()
                if self._node.count_services(name)}

    def topics(self) -> dict[str, str]:
        """The type of each topic that somebody publishes, by its full name."""
        return {name: types[0] for name, types in self._node.get_topic_names_and_types()
                if self._node.count_publishers(name)}

    def request_fields(self, service: str) -> dict[str, str]:
        """Types of the fields of a service's request; empty: no service, or type not installed."""
        kind = find_type(self.services().get(self.resolve(service), "none/srv/None"))
        return dict(kind.Request.get_fields_and_field_types()) if kind is not None else {}

    def call(self, kind: Any, service: str, request: Any, timeout: float | None = None,
             times: int = 1) -> Any:
        """The response of a service (raises NoAnswer: it is not there; NoResponse: it does not
        answer; InvalidData: the request has no such field).

        Args:
            kind: its type, as a class or by name; request: message, or its fields by name.
            timeout: [s]; times: that the request is sent at most, if it changes nothing.
        """
        kind = message_type(kind) if isinstance(kind, str) else kind
        timeout = self.timeout if timeout is None else timeout
        if isinstance(request, Mapping):
            request = fill(kind.Request(), request)
        key = kind, self.resolve(service)
        if key not in self._clients:
            self._clients[key] = self._node.create_client(*key, callback_group=self._group)
        client, end = self._clients[key], time.monotonic() + timeout
        if not self._until(client.service_is_ready, end):
            raise NoAnswer(f"there is no service '{service}'; does its node run under that name?")
        for k in range(1, times + 1):
            future = client.call_async(request)
            if self._until(future.done, end - timeout * (times - k) / times):
                return future.result()
            client.remove_pending_request(future)
        raise NoResponse(f"service '{service}' did not answer within {timeout:g} s")

    def _until(self, condition: Callable[[], Any], end: float) -> bool:
        """True as soon as a condition holds; False at a steady time [s], or if ROS ends."""
        while not condition():
            if time.monotonic() > end or not self._node.context.ok():
                return False
            time.sleep(POLL)
        return True

    def parameters(self, node: str, prefixes: Sequence[str]) -> dict[str, Any]:
        """Values, or None, of a node's parameters whose names are or begin so (raises NoAnswer)."""
        listed = self._ask(ListParameters, node, "list_parameters", prefixes=list(prefixes))
        found = {}
        for name in listed.result.names:  # one without a value would leave out all others
            values = self._ask(GetParameters, node, "get_parameters", names=[name]).values
            value: Any = parameter_value_to_python(values[0]) if values else None
            found[name] = list(value) if np.ndim(value) else value
        return found

    def set_parameters(self, node: str, values: Mapping[str, Any]) -> None:
        """Set parameters of a node, all or none (raises InvalidData, NoAnswer, NoResponse)."""
        parameters = [Parameter(name, value=value).to_parameter_msg()
                      for name, value in values.items()]
        result = self._ask(SetParametersAtomically, node, "set_parameters_atomically", 1,
                           parameters=parameters).result
        if not result.successful:
            raise InvalidData(f"node '{node}' refuses {', '.join(values)}: {result.reason}")

    def _ask(self, kind: Any, node: str, service: str, times: int = TIMES, **fields: Any) -> Any:
        """The response of a node's parameter service (raises NoAnswer, NoResponse)."""
        return self.call(kind, f"{self.resolve(node)}/{service}", kind.Request(**fields),
                         times=times)

    def wait_for_message(self, kind: str, topic: str, timeout: float = SILENCE,
                         latched: bool = False) -> Any:
        """The next message of a topic, or its last one if it is latched; None where the topic is
        silent for a time [s]; kind: its type by name (raises InvalidSetting: not installed)."""
        messages: list[Any] = []
        subscription = self._node.create_subscription(
            message_type(kind, topic), topic, messages.append, LATCHED if latched else NEWEST,
            callback_group=self._group)
        try:
            self._until(lambda: messages, time.monotonic() + timeout)
        finally:
            self._node.destroy_subscription(subscription)
        return messages[0] if messages else None


class Rehearsal:
    """A client that asks, and changes nothing: it keeps the calls as lines of a shell."""

    def __init__(self, robot: RosClient) -> None:
        self._robot, self.lines = robot, list[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._robot, name)

    def call(self, kind: str, service: str, request: Mapping[str, Any]) -> None:
        """Keep the call of a service."""
        self._keep("service", "call", self._robot.resolve(service), kind, request)

    def set_parameters(self, node: str, values: Mapping[str, Any]) -> None:
        """Keep the setting of parameters."""
        for name, value in values.items():
            self._keep("param", "set", node, name, value)

    def _keep(self, *words: Any) -> None:
        text = yaml.safe_dump(words[-1], default_flow_style=True, width=math.inf, sort_keys=False)
        self.lines.append(shlex.join(["ros2", *words[:-1], text.removesuffix("...\n").strip()]))


def fill(message: Any, fields: Mapping[str, Any]) -> Any:
    """The message with fields set, numbers as their fields want (raises InvalidData: no field)."""
    for name, value in fields.items():
        if name not in message.get_fields_and_field_types():
            raise InvalidData(f"{type(message).__name__} has no field '{name}'")
        default = getattr(message, name)
        if isinstance(value, Mapping):
            fill(default, value)
        else:
            setattr(message, name, [float(v) for v in value] if isinstance(value, list)
                    else type(default)(value))
    return message
