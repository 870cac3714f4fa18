# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node's services. Each handler waits in a thread of the pool, and reports an error as one
sentence in its response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import LifecycleNode
from std_srvs.srv import Trigger

from inertial_id_ros.srv import GetInertialParameters, Save, SetShape, SetTool

from ..errors import InertialIdError, InvalidData, NotEnoughData, printable
from ..estimate import Estimate, NoEstimate
from ..geometry.shape import Shape
from ..identify.state import save_estimate
from ..model.tool import load_tool, save_tool, tool_from_estimate
from ..settings import Settings
from .conversions import in_frame, parameters_message
from .estimation import Estimation
from .files import (
    SAVES,
    TOOLS,
    CannotSave,
    StateKeeper,
    find,
    own_name,
    write_in_folder,
)
from .shapes import read_shape

DEFAULT_NAME = "inertial_parameters.json"


class NotActive(InertialIdError):
    """The node was asked for something that only an active one can do."""


class Services:
    """The services of a node.

    Args:
        settings: gives those of now; state: keeps tool and tare.
    """

    def __init__(self, node: LifecycleNode, estimation: Estimation, state: StateKeeper,
                 settings: Callable[[], Settings]) -> None:
        self._node, self._estimation, self._state = node, estimation, state
        self._settings = settings
        # One change at a time; who only asks need not wait for it.
        changing, asking = MutuallyExclusiveCallbackGroup(), MutuallyExclusiveCallbackGroup()
        self._services = [node.create_service(
            kind, f"~/{name}", self._reporting(name, answer),
            callback_group=asking if name == "get_inertial_parameters" else changing)
            for kind, name, answer in (
                (GetInertialParameters, "get_inertial_parameters", self._get_parameters),
                (Trigger, "tare", lambda *_: self._change(estimation.identifier.tare)),
                (Trigger, "untare", lambda *_: self._change(estimation.identifier.untare)),
                (SetTool, "set_tool", self._set_tool), (Trigger, "reset", self._reset),
                (SetShape, "set_shape", self._set_shape), (Save, "save", self._save))]

    def close(self) -> None:
        """Offer no service any more."""
        for service in self._services:
            self._node.destroy_service(service)

    def _reporting(self, name: str, answer: Callable[[Any, Any], str]
                   ) -> Callable[[Any, Any], Any]:
        """Wrap a handler: the response holds its sentence, or the error that it raised."""
        def handle(request: Any, response: Any) -> Any:
            try:
                if name != "get_inertial_parameters":
                    require_active(self._node, self._estimation)
                response.message, response.success = answer(request, response), True
            except Exception as error:  # a request must not end the node
                response.message, response.success = explain(self._node, name, error), False
            return response
        return handle

    # ---- what is known --------------------------------------------------------------------------

    def _get_parameters(self, request: Any, response: Any) -> str:
        estimation, target = self._estimation, request.target_frame.lstrip("/")
        outcome, findings = estimation.outcome, estimation.findings_now
        age = estimation.freshness.age(outcome)
        if target and outcome.frame_id and target != outcome.frame_id:
            try:
                rotation, translation, moment = estimation.worker.call(
                    lambda: estimation.lookup(target, outcome.frame_id))
            except InertialIdError:
                # Numbers in another frame than asked for would be taken for the right ones.
                response.parameters = parameters_message(NoEstimate(
                    outcome.stamp_ns, target, f"no transform to '{target}'"), findings)
                raise
            if isinstance(outcome, Estimate):
                outcome = in_frame(outcome, target, rotation, translation)
                if moment is not None:  # it is there at that time only
                    outcome = replace(outcome, stamp_ns=moment)
        response.parameters = parameters_message(outcome, findings, age=age)
        if isinstance(outcome, NoEstimate):
            raise NotEnoughData(outcome.reason)
        return str(response.parameters.status)

    def _save(self, request: Any, response: Any) -> str:
        name = request.name or own_name(self._node.get_fully_qualified_name(), DEFAULT_NAME)
        outcome = self._estimation.outcome
        if not isinstance(outcome, Estimate):
            raise NotEnoughData(f"nothing to save: {outcome.reason}")
        path = write_in_folder(self._settings().state.directory, SAVES, name,
                               lambda path: save_estimate(path, outcome))
        response.path = str(path)
        return f"saved to {path}"

    # ---- what is changed ------------------------------------------------------------------------

    def _change(self, change: Callable[[], str]) -> str:
        """Have the worker make a change and solve; returns what it says. What cannot be written is
        not used (raises CannotSave)."""
        def change_and_solve() -> str:
            identifier = self._estimation.identifier
            before = identifier.beliefs
            try:
                text = change()
                text += self._state.keep(identifier.beliefs)
            except CannotSave as error:
                identifier.believe(before)
                raise CannotSave(f"{error}; tool, tare and estimate are as before") from error
            self._estimation.solve()
            return text
        return self._estimation.worker.call(change_and_solve)

    def _reset(self, request: Any, response: Any) -> str:
        def reset() -> str:
            self._estimation.identifier.reset("the reset service was called")
            self._estimation.solve()
            return "buffer and estimate are forgotten"
        return self._estimation.worker.call(reset)

    def _set_shape(self, request: Any, response: Any) -> str:
        shape = read_shape(request)

        def use() -> str:
            placed = None if shape is None else self._in_sensor(shape, request.frame_id)
            identifier = self._estimation.identifier
            identifier.believe(replace(identifier.beliefs, shape=placed))
            self._estimation.solve()
            if placed is None:
                return "the shape is forgotten"
            x, y, z = placed.lengths
            return (f"shape '{placed.name}' of {1e3 * placed.volume:.4g} litres, bounding box "
                    f"{x:.4g} x {y:.4g} x {z:.4g} m along the sensor axes")
        return self._estimation.worker.call(use)

    def _in_sensor(self, shape: Shape, frame: str) -> Shape:
        """A shape that is given in a frame (empty: the sensor's) in the sensor frame (raises
        UnknownFrame, InvalidData)."""
        sensor = self._estimation.identifier.streams.frame
        if not frame:
            return shape
        if not sensor:
            raise InvalidData(f"frame '{frame}' cannot be related to the sensor frame, which is "
                              "not known before the first wrench message")
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = self._estimation.lookup(sensor, frame)[:2]
        return shape.place(pose)

    def _set_tool(self, request: Any, response: Any) -> str:
        return self._change(lambda: self._use_tool(request.action, request.name))

    def _use_tool(self, action: int, name: str) -> str:
        identifier, outcome = self._estimation.identifier, self._estimation.outcome
        directory, tool = self._settings().state.directory, None
        if action == SetTool.Request.CLEAR and not name:
            text = "the tool is forgotten; all that the sensor carries"
        elif action == SetTool.Request.LOAD and name:
            tool = load_tool(find(directory, TOOLS, name))
            text = f"loaded a {tool.describe()}; what is carried beside it"
        elif action == SetTool.Request.STORE:
            if not isinstance(outcome, Estimate) or outcome.doubted:
                raise NotEnoughData("there is no estimate to store as the tool: " + (
                    outcome.doubted if isinstance(outcome, Estimate) else outcome.reason))
            tool = stored = tool_from_estimate(outcome, identifier.beliefs.tool)
            text = f"stored a {tool.describe()}"
            if name:
                path = write_in_folder(directory, TOOLS, name, lambda at: save_tool(at, stored))
                text += f" in {path}"
            text += "; what is carried beside it"
        else:
            raise InvalidData(f"action is {action} and name '{name}'; allowed: 1 (load) with a "
                              "name, 2 (clear) without one, 3 (store the present estimate)")
        identifier.believe(replace(identifier.beliefs, tool=tool))
        return f"{text} is estimated from now on"


def require_active(node: LifecycleNode, estimation: Estimation) -> None:
    """Raise NotActive where the node is not."""
    if estimation.streams is None:
        raise NotActive("the node is inactive; activate it first (ros2 lifecycle set "
                        f"{node.get_fully_qualified_name()} activate)")


def explain(node: LifecycleNode, name: str, error: Exception) -> str:
    """An error in a sentence; one that should not happen is logged, too."""
    if isinstance(error, InertialIdError):
        return str(error)
    node.get_logger().error(printable(f"{name}: {type(error).__name__}: {error}"))
    return printable(f"internal error: {error}")
