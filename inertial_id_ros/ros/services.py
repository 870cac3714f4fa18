# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node's services, and its action: identify until a wanted accuracy is reached. Each handler
is a coroutine, and reports an error as one sentence in its response."""

import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from std_srvs.srv import Trigger

from inertial_id_ros.action import Identify
from inertial_id_ros.srv import GetInertialParameters, Save, SetShape, SetTool

from ..errors import InertialIdError, InvalidData, NotEnoughData, printable
from ..estimate import Estimate, NoEstimate, Outcome
from ..extras import optional_packages
from ..geometry.mesh import load_mesh, resolve_resource
from ..geometry.shape import Shape, shape_from_mesh, shape_from_points, shape_from_primitive
from ..io.files import write_json
from ..model.tool import load_tool, save_tool, tool_from_estimate
from . import conversions
from .conversions import describe_missing, lacking
from .files import SAVES, TOOLS

if TYPE_CHECKING:
    from .node import InertialIdNode

DEFAULT_NAME = "inertial_parameters.json"
TIMEOUT = 60.0  # s, of a goal
NOTHING: Outcome = NoEstimate(0, "", "no estimate since the goal began")


def offer(node: "InertialIdNode", kind: Any, name: str,
          answer: Callable[[Any, Any], Awaitable[str]]) -> None:
    """Offer a service, whose response holds what its handler returns, or the error it raised."""
    async def handle(request: Any, response: Any) -> Any:
        try:
            if kind is not GetInertialParameters:
                node.require_active()
            response.message, response.success = printable(await answer(request, response)), True
        except Exception as error:  # a request must not end the node
            response.message, response.success = node.explain(error), False
        return response
    node.create_service(kind, f"~/{name}", handle, callback_group=ReentrantCallbackGroup())


class Services:
    """The services of a node, and its action, of which one goal runs at a time."""

    def __init__(self, node: "InertialIdNode") -> None:
        self._node, self._estimation, self._files = node, node.estimation, node.files
        self._identifier, self._runs = node.estimation.identifier, False  # a goal
        for kind, name, answer in (
                (GetInertialParameters, "get_inertial_parameters", self._get_parameters),
                (Trigger, "tare", lambda *_: self._change(self._identifier.tare)),
                (Trigger, "untare", lambda *_: self._change(self._identifier.untare)),
                (Trigger, "reset", lambda *_: self._forget("the reset service was called")),
                (Save, "save", self._save),
                (SetShape, "set_shape", lambda request, _: self._change(
                    partial(self._use_shape, request))),
                (SetTool, "set_tool", lambda request, _: self._change(
                    partial(self._use_tool, request.action, request.name)))):
            offer(node, kind, name, answer)
        self.close = ActionServer(  # of the action alone: the node destroys its services
            node, Identify, "~/identify", self._execute, goal_callback=self._on_request,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup()).destroy

    async def _get_parameters(self, request: Any, response: Any) -> str:
        estimation, target = self._estimation, request.target_frame.lstrip("/")
        outcome, findings = estimation.outcome, estimation.findings_now
        age = estimation.age_of(outcome.stamp_ns)
        if target and outcome.frame_id and target != outcome.frame_id:
            # Numbers in another frame than asked for would be taken for the right ones.
            response.parameters = conversions.parameters_message(NoEstimate(
                outcome.stamp_ns, target, f"no transform to '{target}'"), findings)
            place, moment = await estimation.worker.answer(
                lambda: self._identifier.streams.tree().place(target, outcome.frame_id))
            if isinstance(outcome, Estimate):
                outcome = outcome.in_frame(target, place.rotation, place.translation)
                if moment is not None:  # it is there at that time only
                    outcome = replace(outcome, stamp_ns=moment)
        response.parameters = conversions.parameters_message(outcome, findings, age=age)
        if isinstance(outcome, NoEstimate):
            raise NotEnoughData(outcome.reason)
        return str(response.parameters.status)

    async def _save(self, request: Any, response: Any) -> str:
        outcome = self._estimation.outcome
        if not isinstance(outcome, Estimate):
            raise NotEnoughData(f"nothing to save: {outcome.reason}")
        path = self._files.path(SAVES, request.name or self._files.own(DEFAULT_NAME).name)
        await self._estimation.worker.answer(partial(write_json, path, outcome.to_json()))
        response.path = str(path)
        return f"saved to {path}"

    async def _change(self, change: Callable[[], str]) -> str:
        """Change in the worker, and solve."""
        def change_and_solve() -> str:
            text = change() + self._files.keep(self._identifier.beliefs)
            self._estimation.solve()
            return text
        return await self._estimation.worker.answer(change_and_solve)

    async def _forget(self, reason: str) -> str:
        return await self._estimation.worker.answer(partial(self._estimation.reset, reason))

    def _use_shape(self, request: Any) -> str:
        """Use a shape of a frame (empty: the sensor's), or none (raises UnknownFrame)."""
        shape, frame, sensor = read_shape(request), request.frame_id, self._identifier.streams.frame
        if shape is not None and frame:
            if not sensor:
                raise InvalidData(f"frame '{frame}' cannot be related to the sensor frame, which "
                                  "is not known before the first wrench message")
            place, _ = self._identifier.streams.tree().place(sensor, frame.lstrip("/"))
            shape = shape.place(np.array(place.homogeneous))
        self._identifier.believe(replace(self._identifier.beliefs, shape=shape))
        if shape is None:
            return "the shape is forgotten"
        x, y, z = shape.lengths
        return (f"shape '{shape.name}' of {1e3 * shape.volumes.sum():.4g} litres, bounding box "
                f"{x:.4g} x {y:.4g} x {z:.4g} m along the sensor axes")

    def _use_tool(self, action: int, name: str) -> str:
        outcome, tool = self._estimation.outcome, None
        if action == SetTool.Request.CLEAR and not name:
            text = "the tool is forgotten; all that the sensor carries"
        elif action == SetTool.Request.LOAD and name:
            tool = load_tool(self._files.find(TOOLS, name))
            text = f"loaded a {tool.describe()}; what is carried beside it"
        elif action == SetTool.Request.STORE:
            if not isinstance(outcome, Estimate) or outcome.doubted:
                raise NotEnoughData("there is no estimate to store as the tool: " + (
                    outcome.doubted if isinstance(outcome, Estimate) else outcome.reason))
            tool = tool_from_estimate(outcome, self._identifier.beliefs.tool)
            text = f"stored a {tool.describe()}"
            if name:
                save_tool(path := self._files.path(TOOLS, name), tool)
                text += f" in {path}"
            text += "; what is carried beside it"
        else:
            raise InvalidData(f"action is {action} and name '{name}'; allowed: 1 (load) with a "
                              "name, 2 (clear) without one, 3 (store the present estimate)")
        self._identifier.believe(replace(self._identifier.beliefs, tool=tool))
        return f"{text} is estimated from now on"

    def _on_request(self, request: Any) -> GoalResponse:
        """Accept a goal, or reject it; the log says why, as rclpy has no word for its client."""
        try:
            self._node.require_active()
            for name in ("mass_accuracy", "com_accuracy", "inertia_accuracy", "timeout"):
                if not 0.0 <= (value := getattr(request, name)) < math.inf:
                    raise InvalidData(f"{name} is {value:g}; allowed: finite, not negative")
            if self._runs:
                raise InvalidData("another goal runs; cancel it first")
        except InertialIdError as error:
            self._node.get_logger().warning(f"goal of ~/identify rejected: {error}")
            return GoalResponse.REJECT
        self._runs = True
        return GoalResponse.ACCEPT

    async def _execute(self, handle: Any) -> Identify.Result:
        """Wait until a goal is reached, cancelled, or out of time; its result."""
        goal, outcome, began, end = handle.request, NOTHING, time.monotonic(), None
        timeout = goal.timeout or TIMEOUT
        try:
            if not goal.keep_data:
                await self._forget("a goal of ~/identify began")
            while end is None:
                await self._estimation.turn
                last, outcome = outcome, self._estimation.outcome
                missing, after = describe_missing(lacking(outcome, goal)), time.monotonic() - began
                if outcome is not last:
                    handle.publish_feedback(Identify.Feedback(
                        summary=conversions.summary_message(outcome), elapsed=after,
                        missing=missing))
                because = f": {missing}" if missing else ""
                if handle.is_cancel_requested:
                    message, end = f"cancelled after {after:.1f} s{because}", handle.canceled
                elif isinstance(outcome, Estimate) and not missing:
                    said = conversions.payload_text(outcome)
                    message, end = f"{said} after {after:.1f} s", handle.succeed
                elif after > timeout:
                    message, end = f"timeout of {timeout:g} s{because}", handle.abort
                elif self._estimation.io is None or not self._node.context.ok():
                    message, end = "the node stops", handle.abort
        except Exception as error:  # its client is told
            outcome, message, end = NOTHING, self._node.explain(error), handle.abort
        self._runs = False
        if self._node.context.ok():
            end()
        return Identify.Result(message=message, success=end == handle.succeed,
                               parameters=conversions.parameters_message(
                                   outcome, self._estimation.findings_now))


def read_shape(request: Any) -> Shape | None:
    """The shape of a request, in its frame_id; None: forget it (raises InvalidData)."""
    mesh, primitive = request.mesh, request.primitive
    given = [name for name, is_there in (
        ("primitive", primitive.type), ("mesh", len(mesh.triangles) or len(mesh.vertices)),
        ("mesh_resource", request.mesh_resource), ("points", len(request.points))) if is_there]
    if not given:
        return None
    if len(given) > 1:
        raise InvalidData(f"the request gives {' and '.join(given)}; give exactly one")
    if given == ["primitive"]:
        kind = conversions.PRIMITIVES.get(primitive.type, f"primitive of type {primitive.type}")
        # Messages give the height of a cylinder first.
        sizes = primitive.dimensions[::-1] if kind == "cylinder" else primitive.dimensions
        shape = shape_from_primitive(kind, sizes, np.eye(4))
    elif given == ["mesh"]:
        vertices, faces = conversions.mesh_arrays(mesh)
        if not np.isfinite(vertices).all() or not 0 <= faces.max(initial=-1) < len(vertices):
            raise InvalidData("mesh.vertices must be finite, and mesh.triangles name some of them "
                               f"(it has {len(vertices)})")
        with optional_packages("a shape from a mesh"):
            import trimesh
        shape = shape_from_mesh(trimesh.Trimesh(vertices, faces), np.eye(4))
    elif given == ["mesh_resource"]:
        scale = request.mesh_scale or 1.0
        if not 0.0 < scale < np.inf:
            raise InvalidData(f"mesh_scale is {scale:g}; allowed: above 0, or 0 for 1")
        path = resolve_resource(request.mesh_resource)
        shape = shape_from_mesh(load_mesh(path, scale), np.eye(4), False, path.name)
    else:
        shape = shape_from_points(conversions.coordinates(request.points))
    return shape.place(conversions.pose_matrix(request.pose), bool(request.bounding))
