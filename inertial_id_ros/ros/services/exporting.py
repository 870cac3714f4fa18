# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The service `~/export`: the payload as a document, in a file, or published with the robot."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace

from inertial_id_ros.srv import Export

from ...errors import InertialIdError, InvalidSetting, UnknownFrame
from ...export.formats import ROBOT, ExportedPayload, check_format, export, moves_against
from ...export.payload import PayloadOnLink, payload_from_estimate, read_saved_estimate
from ...export.usd import hull_of_shape
from ...io.child_process import ChildProcess
from ...io.files import user_path, write_atomically
from ...kinematics.robot_description import read_description
from ..apply.other_nodes import Asking, ParameterClient
from ..estimation import Estimation
from ..publisher_watch import NAMELESS, publishing_nodes
from ..worker import OutsideReader
from .lifecycle import ManagedNode
from .saving import EXPORTS, check_plain_name, saved_path, write_in_folder

PARAMETER = "robot_description"
_WAIT = 2.0  # s that the worker may take
_ANSWER = 5.0  # s in which the publisher of the description must be found, and must answer


class CannotPublish(InertialIdError):
    """The robot description with the payload could not be published."""


class Exports:
    """Makes documents in the thread of the outside reader, one after the other."""

    def __init__(self, node: ManagedNode, estimation: Estimation, reader: OutsideReader,
                 asking: Asking) -> None:
        self._node, self._estimation = node, estimation
        self._reader, self._asking = reader, asking

    def begin(self, request: Export.Request, response: Export.Response) -> Future[str]:
        """What is said as soon as the response holds the document; in the executor's thread.

        Raises:
            InertialIdError: the request cannot be carried out.
        """
        check_format(request.format)
        if request.name:
            check_plain_name(request.name)
        if request.publish and request.format != ROBOT:
            raise InvalidSetting(f"format is '{request.format}'; only {ROBOT} can be published")
        publisher = self._description_publisher() if request.publish else ""
        payload = (None if request.estimate
                   else payload_from_estimate(self._estimation.watchdog.outcome))
        shape = self._estimation.identifier.shape
        if payload is not None and request.format == "usd" and shape is not None:
            payload = replace(payload, mesh=hull_of_shape(shape)).with_notes(
                f"the mesh is the convex hull of the shape in use ({shape.name}"
                f"{', which only bounds the object' if shape.bounding else ''})")
        return self._reader.post(
            lambda child: self._carry_out(request, response, payload, publisher, child))

    def _carry_out(self, request: Export.Request, response: Export.Response,
                   payload: PayloadOnLink | None, publisher: str, child: ChildProcess) -> str:
        """Fill the response; what was done, in one sentence. In the reader's thread."""
        directory = self._node.settings.state.directory
        if payload is None:
            payload = read_saved_estimate(saved_path(directory, request.estimate))
        document = self._make(payload, request, child)
        response.text = document.text
        done = [f"{request.format} of a payload of {payload.body.mass:.4g} kg"]
        if request.name:
            path = write_in_folder(directory, EXPORTS, request.name,
                                   lambda path: write_atomically(path, document.text))
            response.path = str(path)
            done.append(f"written to {path}")
        if publisher:
            ParameterClient(self._asking, publisher, _ANSWER).set({PARAMETER: document.text})
            done.append(f"set as {PARAMETER} of {publisher}")
        return "; ".join([", ".join(done), *document.notes])

    def _make(self, payload: PayloadOnLink, request: Export.Request, child: ChildProcess
              ) -> ExportedPayload:
        """The document; a parent that the description does not know may be known from transforms.

        Raises:
            InertialIdError: what `export` raises.
        """
        parent, urdf = request.parent.lstrip("/"), self._description()
        try:
            return export(payload, request.format, parent, urdf, child)
        except UnknownFrame as unknown:
            if parent in ("", payload.parent):
                raise
            moved = self._move_by_transforms(payload, parent, unknown)
        return export(moved, request.format, parent, urdf, child)

    def _move_by_transforms(self, payload: PayloadOnLink, parent: str,
                            unknown: UnknownFrame) -> PayloadOnLink:
        """The payload on a frame that fixed transforms relate to its own.

        Raises:
            UnknownFrame: `unknown`, where none do. InvalidModel: the frame moves.
        """
        try:
            rotation, translation, moment = self._estimation.worker.call(
                lambda: self._estimation.identifier.lookup(parent, payload.parent), _WAIT)
        except UnknownFrame:
            raise unknown from None
        if moment is not None:
            raise moves_against(parent, payload.parent)
        return payload.on(parent, rotation, translation)

    def _description(self) -> str:
        """The robot description as it came; empty where there is none (raises InertialIdError)."""
        file = self._node.settings.robot_description.file
        return read_description(user_path(file)) if file else self._reader.description

    def _description_publisher(self) -> str:
        """The node that publishes the robot description; in the executor's thread.

        Raises:
            CannotPublish: none does, or several do.
        """
        topic = self._node.resolve_topic_name(self._node.settings.robot_description.topic)
        names = publishing_nodes(self._node, topic)
        if len(names) != 1 or names == [NAMELESS]:
            raise CannotPublish(f"nothing was published: '{topic}' must have one publisher, and "
                                f"has {', '.join(names) or 'none'}")
        return names[0]
