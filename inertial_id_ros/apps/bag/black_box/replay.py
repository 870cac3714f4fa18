# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A pass over a black box that does what its node did, between the same messages."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from ....errors import DamagedFile, RecordingError
from ....identification.checkpoint import use_checkpoint
from ....identification.wrench.identifier import Identifier
from ....io.files import user_path
from ....io.message_log import RESTORE
from ....kinematics.robot_description import read_description
from ....signals.input_topics import PROGRAM
from ..reader import RawMessage
from ..run import OfflineRun
from .files import BlackBox
from .marks import ADVANCE, DESCRIBE, MARKS, MARKS_TYPE, SOLVE, repeat_command


class MarkedRun(OfflineRun):
    """A pass over a black box, which solves where the node did, uses a robot description when the
    node did, and repeats what the node was told.

    Args:
        box: that the recording is.
        given: settings that whoever replays wants in place of the node's.
    """

    def __init__(self, *of_run: Any, box: BlackBox, given: Mapping[str, Any]) -> None:
        super().__init__(*of_run)
        self._box, self._given = box, given
        self._waits = not box.complete  # for what the node had learnt
        self._new_description: str | None = None
        self._is_described = False  # by a mark for which no description has come yet

    @property
    def types(self) -> dict[str, str]:
        return super().types | {MARKS: MARKS_TYPE}

    def preload(self) -> None:
        """Only a file: what was latched came in its turn."""
        file = self._settings.robot_description.file
        if file:
            self._use_description(read_description(user_path(file)))

    def push(self, message: RawMessage) -> None:
        """Take the next message, or do what a mark says."""
        if message.topic == MARKS:
            self._follow(self._recording.decode(message, MARKS_TYPE, {}).content.data,
                         message.log_time)
        elif not self._waits or self._lasts(message):
            super().push(message)

    def _lasts(self, message: RawMessage) -> bool:
        """Whether a message from before what the node had learnt says something about later."""
        topic = self._selection.topics[message.topic]
        return topic.latched or topic is PROGRAM

    def _follow(self, text: str, now: int) -> None:
        """Do what a mark says (raises RecordingError where it cannot be read)."""
        if text == RESTORE:
            self._restore()
        elif self._waits:
            return
        elif text == DESCRIBE:
            self._describe()
        elif text == ADVANCE:
            self._advance()
        elif text == SOLVE:
            self._solve(now)
            self.ticked = True
        else:
            try:
                repeat_command(text, self._pipeline, self._given)
            except DamagedFile as error:
                raise RecordingError(f"black box: {error}") from error

    def _restore(self) -> None:
        """Go on from what the node had learnt (raises RecordingError where it cannot be read)."""
        assert isinstance(self._pipeline, Identifier)
        try:
            use_checkpoint(self._pipeline, zlib.decompress(self._box.checkpoint))
        except (DamagedFile, zlib.error) as error:
            raise RecordingError(f"black box: what its node had learnt: {error}") from error
        self._waits = False
        if self._new_description == self._pipeline.robot_description:
            self._new_description = None

    def _tick(self, now: int) -> None:
        """Nothing: the marks are the timers."""

    def _finish(self) -> None:
        """End with the last mark; without any, as other recordings do."""
        if not self._history:
            super()._finish()

    def _use_new_description(self, urdf: str) -> None:
        self._new_description = urdf
        if self._is_described:
            self._describe()

    def _describe(self) -> None:
        """Use the newest description; the mark may come before its message, since both stand
        between the same samples."""
        self._is_described = self._new_description is None
        if self._new_description is not None:
            self._use_description(self._new_description)
            self._new_description = None


