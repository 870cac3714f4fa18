# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The node's services. Each handler reports an error as one sentence in its response."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from std_srvs.srv import Trigger

from inertial_id_ros.srv import GetInertialParameters, Save, SetShape, SetTool

from ...errors import InertialIdError, InvalidData, NotEnoughData, UnknownFrame, printable
from ...estimate import Estimate, NoEstimate
from ...geometry.shape import Shape
from ...identification.state import State
from ...inertia import Array
from ...regression.tool import load_tool, save_tool, tool_from_estimate
from ..conversions import in_frame, parameters_message
from ..estimation import Estimation
from ..requested_shapes import RequestedShapes, result_of
from .black_boxes import ENDING, BlackBoxes
from .calls import create_late_service
from .lifecycle import ManagedNode
from .saving import (
    DEFAULT_NAME,
    TOOLS,
    CannotSave,
    check_plain_name,
    own_name,
    save_json,
    tool_path,
    with_ending,
    write_in_folder,
)

Keep = Callable[[State], None]
# Services that change the estimate, which the report of a black box names.
_CHANGING = ("set_shape", "tare", "untare", "set_tool", "reset")
# Answered by an inactive node, too: with that it is inactive, and with the inputs until then.
_ALWAYS = ("get_inertial_parameters", "save")
_WAIT = 2.0  # s; the executor's thread waits for the worker, never the other way round


class Services:
    """The services of the node."""

    def __init__(self, node: ManagedNode, estimation: Estimation, black_boxes: BlackBoxes,
                 shapes: RequestedShapes) -> None:
        self._node, self._estimation = node, estimation
        self._black_boxes, self._shapes = black_boxes, shapes
        for kind, name, answer in (
                (GetInertialParameters, "get_inertial_parameters", self._get_parameters),
                (Trigger, "tare", self._tare), (Trigger, "untare", self._untare),
                (SetTool, "set_tool", self._set_tool), (Trigger, "reset", self._reset)):
            node.create_service(kind, f"~/{name}", self._report_errors(name, answer))
        for kind, name, begin in ((SetShape, "set_shape", self._set_shape),
                                  (Save, "save", self._save)):
            create_late_service(node, kind, f"~/{name}", self._answer_later(name, begin))

    def _report_errors(self, name: str,
                       answer: Callable[[Any, Any], str]) -> Callable[[Any, Any], Any]:
        """Wrap a handler: the response holds its sentence, or the error that it raised."""

        def handle(request: Any, response: Any) -> Any:
            try:
                self._require_allowed(name)
                response.message = answer(request, response)
                response.success = True
                if name in _CHANGING:
                    self._black_boxes.note_command(f"{name}: {response.message}")
            except InertialIdError as error:
                response.message, response.success = str(error), False
            except Exception as error:  # a request must not end the node
                self._node.get_logger().error(
                    printable(f"{name}: {type(error).__name__}: {error}"))
                response.message = printable(f"internal error: {error}")
                response.success = False
            return response

        return handle

    def _require_allowed(self, name: str) -> None:
        """Raise NotActive where nobody may ask for that now."""
        if name not in _ALWAYS:
            self._node.require_active()

    def _get_parameters(self, request: GetInertialParameters.Request,
                        response: GetInertialParameters.Response) -> str:
        watchdog = self._estimation.watchdog
        findings = self._estimation.all_findings()
        outcome, target = watchdog.outcome, request.target_frame.lstrip("/")
        if target and outcome.frame_id and target != outcome.frame_id:
            try:
                rotation, translation, moment = self._lookup(target, outcome.frame_id)
            except InertialIdError:
                # Numbers in another frame than asked for would be taken for the right ones.
                response.parameters = parameters_message(NoEstimate(
                    outcome.stamp_ns, target, f"no transform to '{target}'"), findings)
                raise
            if isinstance(outcome, Estimate):
                outcome = in_frame(outcome, target, rotation, translation)
                if moment is not None:  # it is there at that time only
                    outcome = replace(outcome, stamp_ns=moment)
        response.parameters = parameters_message(outcome, findings,
                                                 age=watchdog.age(outcome))
        if isinstance(outcome, NoEstimate):
            raise NotEnoughData(outcome.reason)
        return response.parameters.status

    def _lookup(self, target: str, source: str) -> tuple[Array, Array, int | None]:
        """Newest transform between two frames, as `Pipeline.lookup`, from the worker.

        Raises:
            UnknownFrame: there is none; the text names the target.
        """
        try:
            return self._estimation.worker.call(
                lambda: self._estimation.identifier.lookup(target, source), _WAIT)
        except UnknownFrame as error:
            text = str(error)
            raise UnknownFrame(text if target in text else f"frame '{target}': {text}") from error

    def _answer_later(self, name: str, begin: Callable[[Any, Any], Future[str]]
                      ) -> Callable[[Any, Any], Future[Any]]:
        """Wrap a handler whose sentence comes later: so does the response."""

        def handle(request: Any, response: Any) -> Future[Any]:
            answered: Future[Any] = Future()
            try:
                self._require_allowed(name)
                said = begin(request, response)
            except Exception as error:
                said = Future()
                said.set_exception(error)
            finish = self._report_errors(name, lambda *_: result_of(said))

            def answer(_: Future[str]) -> None:
                answered.set_result(finish(None, response))
                if not said.cancelled() and (error := said.exception()) is not None:
                    error.__traceback__ = None  # its frames hold the request, which may be large

            said.add_done_callback(answer)
            return answered

        return handle

    def _set_shape(self, request: SetShape.Request, response: SetShape.Response) -> Future[str]:
        """What is said as soon as the worker uses the shape."""
        return self._shapes.hand_over(self._shapes.read(request), self._use_shape)

    def _use_shape(self, shape: Shape | None) -> str:
        """Use a shape from now on; in the worker. Returns a description of it."""
        self._estimation.configuration.use_shape(shape)
        self._estimation.solve_after_change()
        if shape is None:
            return "the shape is forgotten"
        x, y, z = shape.lengths
        return (f"shape '{shape.name}' of {1e3 * shape.volume:.4g} litres, bounding box "
                f"{x:.4g} x {y:.4g} x {z:.4g} m along the sensor axes")

    def _tare(self, request: Trigger.Request, response: Trigger.Response) -> str:
        return self._change_state(self._estimation.identifier.tare)

    def _untare(self, request: Trigger.Request, response: Trigger.Response) -> str:
        return self._change_state(self._estimation.identifier.untare)

    def _change_state(self, change: Callable[[Keep], str]) -> str:
        """Have the worker change the state and solve; returns what `change` says, which is given
        what writes the new state before it is used.

        Raises:
            CannotSave: the new state could not be written, and is therefore not used.
        """

        def change_and_solve() -> str:
            try:
                text = change(self._estimation.state.keep)
            except CannotSave as error:
                raise CannotSave(f"{error}; tool, tare and estimate are as before") from error
            self._estimation.solve_after_change()
            return text + self._estimation.state.note()

        return self._estimation.worker.call(change_and_solve, _WAIT)

    def _reset(self, request: Trigger.Request, response: Trigger.Response) -> str:
        def reset() -> str:
            self._estimation.identifier.reset("the reset service was called")
            self._estimation.solve_after_change()
            return "buffer and estimate are forgotten"

        return self._estimation.worker.call(reset, _WAIT)

    def _save(self, request: Save.Request, response: Save.Response) -> Future[str]:
        """What is said once the estimate, or the inputs alone, are written."""
        if request.inputs_only:
            return self._black_boxes.save_inputs()
        said: Future[str] = Future()
        said.set_result(self._save_estimate(request, response))
        return said

    def _save_estimate(self, request: Save.Request, response: Save.Response) -> str:
        self._node.require_active()
        name = check_plain_name(
            request.name or own_name(self._node.get_fully_qualified_name(), DEFAULT_NAME))
        outcome = self._estimation.watchdog.outcome
        if not isinstance(outcome, Estimate):
            raise NotEnoughData(f"nothing to save: {outcome.reason}")
        path = save_json(self._node.settings.state.directory, name, outcome.to_json())
        response.path = str(path)
        try:
            self._estimation.worker.call(
                lambda: self._estimation.state.keep(self._estimation.identifier.state()), _WAIT)
        except CannotSave as error:
            raise CannotSave(f"saved to {path}, but the next run will not know the estimate: "
                             f"{error}") from error
        return f"saved to {path}{self._estimation.state.note()}; {self._begin_black_box(path)}"

    def _begin_black_box(self, path: Path) -> str:
        """Begin to write a black box and a report of a saved estimate; says where, or why not."""
        try:
            return self._black_boxes.save(path.stem, "an estimate was saved",
                                               path.stem + ENDING)
        except InertialIdError as error:
            return f"its inputs are not written: {error}"

    def _set_tool(self, request: SetTool.Request, response: SetTool.Response) -> str:
        actions = {SetTool.Request.STORE: self._store_tool, SetTool.Request.LOAD: self._load_tool,
                   SetTool.Request.CLEAR: self._clear_tool}
        if request.action not in actions:
            raise InvalidData(f"action is {request.action}; allowed: 1 (load), 2 (clear), 3 (store "
                              "the present estimate)")
        if request.name:
            check_plain_name(request.name)
        return self._change_state(lambda keep: actions[request.action](request.name, keep))

    def _store_tool(self, name: str, keep: Keep) -> str:
        outcome, identifier = self._estimation.watchdog.outcome, self._estimation.identifier
        if not isinstance(outcome, Estimate) or outcome.restored:
            why = "it is of an earlier run" if isinstance(outcome, Estimate) else outcome.reason
            raise NotEnoughData(f"there is no estimate to store as the tool: {why}")
        if outcome.doubted:
            raise NotEnoughData(f"the estimate is in doubt: {outcome.doubted}")
        tool = tool_from_estimate(outcome, identifier.tool)
        written = ""
        if name:
            path = write_in_folder(self._node.settings.state.directory, TOOLS,
                                   with_ending(name), lambda path: save_tool(path, tool))
            written = f" in {path}"
        try:
            identifier.set_tool(tool, keep)
        except CannotSave as error:
            raise CannotSave(f"the tool was stored{written}, but is not in use: {error}"
                             if written else str(error)) from error
        return (f"stored a {tool.describe()}{written}; what is carried beside it is estimated from "
                "now on")

    def _load_tool(self, name: str, keep: Keep) -> str:
        if not name:
            raise InvalidData("name is empty; give the file in state.directory to load")
        tool = load_tool(tool_path(self._node.settings.state.directory, name))
        self._estimation.identifier.set_tool(tool, keep)
        return f"loaded a {tool.describe()}; what is carried beside it is estimated from now on"

    def _clear_tool(self, name: str, keep: Keep) -> str:
        if name:
            raise InvalidData(f"name is '{name}'; it must be empty to clear the tool")
        self._estimation.identifier.set_tool(None, keep)
        return "the tool is forgotten; all that the sensor carries is estimated from now on"
