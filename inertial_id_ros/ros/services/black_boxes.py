# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The last minutes of the node's inputs, written as black boxes (see `apps.bag.black_box`) when a
service asks for it or an error appears.

Reports of saved estimates are made from their black boxes, in another process.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rclpy.serialization import serialize_message
from std_msgs.msg import String

from ...apps.bag.black_box import (
    BlackBox,
    LoggedTopic,
    MessageLog,
    settings_to_keep,
    write_black_box,
)
from ...errors import InertialIdError, InvalidData
from ...findings import Finding, FindingLog
from ...identification.state import State
from ...io.child_process import Bounds, ChildProcess
from ...io.files import user_path, write_atomically
from ...signals.message_adapter import ROBOT_DESCRIPTION, InputTopic
from .saving import SAVES, check_plain_name, own_name, write_in_folder

if TYPE_CHECKING:
    from ..node import InertialIdNode

ENDING = ".html"  # behind the name of the saved estimate
_MAKE = "inertial_id_ros.apps.bag.offline:page_of_black_box"
_BOUNDS = Bounds(processor=120, clock=300.0, memory=2_000_000_000)


class SavedReports:
    """Makes the reports of a node, one after the other.

    Args:
        directory: state.directory; findings: gets what prevented a report.
    """

    def __init__(self, directory: str, findings: FindingLog) -> None:
        self._directory, self._findings = directory, findings
        self._child = ChildProcess(_BOUNDS)

    def write(self, written: Future[Path], name: str) -> None:
        """Write the report of a black box under this name; in the thread that has written it."""
        if written.exception() is not None:
            return  # that is a finding already
        try:
            page = self._child.run(_MAKE, str(written.result()).encode(), "the report", InvalidData)
            write_in_folder(self._directory, SAVES, name,
                            lambda path: write_atomically(path, page.decode()))
        except InertialIdError as error:
            self._findings.set("file_not_written.report", "warning",
                                    f"there is no report of the saved estimate: {error}")
        else:
            self._findings.clear("file_not_written.report")

    def stop(self) -> None:
        """End the other process, and start none."""
        self._child.stop()


FOLDER = "recordings"  # in state.directory
_BY_ERROR = "error-"  # how the names of those begin that nobody asked for
_BETWEEN = 300.0  # s between two of them
# s between two that the same service was asked for: each takes half a second of work. What failed
# may be tried again at once, or so soon after an error.
_BETWEEN_SAVES = 10.0
_AFTERMATH = 2.0  # s of data behind an error that belong to it
_MOST_COMMANDS = 200


class BlackBoxes:
    """The black boxes of a node.

    Args:
        state: that the node started with.
    """

    def __init__(self, node: InertialIdNode, state: State) -> None:
        self._node, self._state = node, state
        settings = node.settings.black_box
        self._is_on = settings.duration > 0.0
        self._log = MessageLog(settings.duration, settings.size * 1_000_000)
        self._topics: list[LoggedTopic] = []
        self._description: int | None = None  # number of its topic
        self._commands: deque[str] = deque(maxlen=_MOST_COMMANDS)
        self._errors: set[str] = set()
        self._due: tuple[float, str] | None = None  # when to write because of which error
        self._written = -_BETWEEN  # steady time of the last one because of an error [s]
        self._saved: dict[str, float] = {}  # steady times of the last ones, by the reason [s]
        self._writing: Future[Path] | None = None
        self._settings = node.settings  # that it started with
        self._reports = SavedReports(node.settings.state.directory, node.findings)

    def recorder(self, topic: InputTopic, name: str) -> Callable[[int, bytes], None] | None:
        """A function that keeps a message of a topic: it takes the time of arrival [ns] and the
        bytes; None where nothing is kept, or not then, as robot descriptions."""
        if not self._is_on:
            return None
        logged = LoggedTopic(self._node.resolve_topic_name(name), topic.type, topic.latched)
        if logged not in self._topics:  # it is where the node was activated before
            self._topics.append(logged)
        number = self._topics.index(logged)
        add = self._log.add_latched if topic.latched else self._log.add
        if topic is ROBOT_DESCRIPTION:
            self._description = number
            return None
        return partial(add, number)

    def keep_description(self, urdf: str, processed_ns: int) -> None:
        """Keep a robot description between the messages where it comes into use, as reading it
        takes a while: behind those that arrived until a time [ns]; in the worker."""
        if self._description is not None:
            data = serialize_message(String(data=urdf))
            self._log.add_latched(self._description, processed_ns + 1, data)

    def note_command(self, text: str) -> None:
        """Note in words that somebody asked the node for something."""
        self._commands.append(f"{time.strftime('%H:%M:%S')} {text}")

    # ---- when to write ---------------------------------------------------------------------------

    def watch(self, findings: Iterable[Finding]) -> None:
        """Write a black box some time after an error has appeared."""
        if not self._is_on:
            return
        now, errors = time.monotonic(), {f.kind for f in findings if f.level == "error"}
        if self._due is None and errors - self._errors and now - self._written >= _BETWEEN:
            self._due = now + _AFTERMATH, min(errors - self._errors)
        self._errors = errors
        if self._due is not None and now >= self._due[0]:
            name, self._due = self._due[1], None
            self._written = now
            if self._log.has_messages and not self._is_writing:
                self._remove_old()
                stamp = time.strftime("%Y%m%d-%H%M%S")
                self._write_because_of_error(f"{_BY_ERROR}{stamp}-{name}", name)

    def _write_because_of_error(self, name: str, reason: str) -> None:
        """Begin to write one; where that fails, the next need not wait for minutes."""
        def look_at(done: Future[Path]) -> None:
            if done.exception() is not None:
                self._written = time.monotonic() - _BETWEEN + _BETWEEN_SAVES

        self.write(self._own_name(name), reason)[1].add_done_callback(look_at)

    def _own_name(self, name: str) -> str:
        """The name of a black box that nobody has named."""
        return own_name(self._node.get_fully_qualified_name(), name)

    def save_inputs(self) -> Future[str]:
        """Begin to write a black box alone; says where it is as soon as it is written, or fails
        with what prevented that (raises what `save` does)."""
        said: Future[str] = Future()

        def say(done: Future[Path]) -> None:
            error = done.exception()
            if error is not None:
                said.set_exception(InvalidData(str(error)))
            else:
                said.set_result(f"the inputs are written to {done.result()}")

        name = self._own_name(time.strftime("%Y%m%d-%H%M%S"))
        self._begin(name, "asked for")[1].add_done_callback(say)
        return said

    def save(self, name: str, reason: str, report: str) -> str:
        """Begin to write a black box, and then its report; says in a clause where they will be.

        Args:
            report: name of its file.

        Raises:
            CannotSave: the name is no plain file name.
            InvalidData: there is nothing to write, or another is being written, or was just now.
        """
        path, written = self._begin(name, reason)
        written.add_done_callback(lambda done: self._reports.write(done, report))
        return f"the inputs are being written to {path}, and a report to {report}"

    def stop(self) -> None:
        """Make no more reports."""
        self._reports.stop()

    def _begin(self, name: str, reason: str) -> tuple[Path, Future[Path]]:
        """As `write`, where that is allowed now (raises what `save` does)."""
        check_plain_name(name)
        if not self._is_on:
            raise InvalidData("black_box.duration is 0, so no inputs are kept")
        if not self._log.has_messages:
            raise InvalidData("no message has arrived yet")
        if self._is_writing:
            raise InvalidData("another black box is being written; try again")
        since = time.monotonic() - self._saved.get(reason, -_BETWEEN)
        if since < _BETWEEN_SAVES:
            raise InvalidData(f"such a black box was written {since:.0f} s ago; try again in "
                              f"{_BETWEEN_SAVES - since:.0f} s")
        path, written = self.write(name, reason)

        def note(done: Future[Path]) -> None:
            if done.exception() is None:
                self._saved[reason] = time.monotonic()

        written.add_done_callback(note)
        return path, written

    # ---- writing, in a thread of its own ---------------------------------------------------------

    @property
    def _folder(self) -> Path:
        return user_path(self._node.settings.state.directory).absolute() / FOLDER

    @property
    def _is_writing(self) -> bool:
        return self._writing is not None and not self._writing.done()

    def write(self, name: str, reason: str) -> tuple[Path, Future[Path]]:
        """Begin to write a black box of this name; gives its path, and the same as soon as it is
        written, or the error."""
        path, complete = self._folder / name, not self._log.forgets
        messages, commands = self._log.snapshot(), tuple(self._commands)
        settings, state = ((self._settings, self._state) if complete and not commands else
                           (self._node.settings, self._node.identifier.state()))
        box = BlackBox(settings_to_keep(settings), state, complete, commands,
                       self._node.compensation.longest_wait, self._node.rounds.now_ns())
        report = self._report(reason)
        written: Future[Path] = Future()
        self._writing = written
        threading.Thread(target=self._write, args=(path, messages, box, report, written),
                         name="black box", daemon=True).start()
        return path, written

    def _report(self, reason: str) -> dict[str, Any]:
        """What the report says beside settings and versions."""
        outcome = self._node.watchdog.outcome
        return {"node": self._node.get_fully_qualified_name(), "reason": reason,
                "written": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
                "findings": [asdict(f) for f in self._node.all_findings()],
                "outcome": outcome.to_json()}

    def _write(self, path: Path, messages: Any, box: BlackBox, report: dict[str, Any],
               written: Future[Path]) -> None:
        """Write it, and say in a finding where that failed."""
        try:
            write_black_box(path, self._topics, messages, box, report)
        except Exception as error:  # whatever it is, somebody waits for an answer
            self._node.findings.set("file_not_written.black_box", "warning", str(error))
            written.set_exception(error)
        else:
            self._node.findings.clear("file_not_written.black_box")
            written.set_result(path)

    def _remove_old(self) -> None:
        """Make room for one more of those that errors cause."""
        old = sorted(self._folder.glob(self._own_name(f"{_BY_ERROR}*")))
        for folder in old[:max(0, len(old) + 1 - self._node.settings.black_box.keep)]:
            shutil.rmtree(folder, ignore_errors=True)
