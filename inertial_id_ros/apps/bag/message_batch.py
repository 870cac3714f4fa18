# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Messages of the topics with high rates, collected so that the pipeline may take them at once."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from typing import Any

import numpy as np

from ...io import cdr_columns
from ...io.cdr import DECODERS
from ...io.sample_blocks import Block
from ...limits import MAX_JOINTS, MAX_TRANSFORMS
from ...signals.input_topics import JOINT_STATES, TRANSFORMS, WRENCH
from .reader import BagReader, Message, RawMessage
from .topics import Selection

_MOST_MESSAGES = 2000  # fewer than any ring of the pipeline holds
_MOST_BYTES = 4_000_000


class MessageBatch:
    """Serialised messages that came since they were last taken.

    Args:
        recorded_stamps: use the times of recording in place of the header stamps.
    """

    def __init__(self, selection: Selection, recorded_stamps: bool = False) -> None:
        self._recorded_stamps = recorded_stamps
        self._wrench, self._joint_states, self._transforms = (
            selection.name_of(topic) for topic in (WRENCH, JOINT_STATES, TRANSFORMS))
        self._topics = {self._wrench, self._joint_states, self._transforms}
        self._messages: list[RawMessage] = []
        self._bytes = 0

    def accepts(self, message: RawMessage) -> bool:
        """Whether the message is of a topic that is collected."""
        return message.topic in self._topics

    def add(self, message: RawMessage) -> bool:
        """Add the next message; True where the batch is full and should be taken now."""
        self._messages.append(message)
        self._bytes += len(message.data)
        return len(self._messages) >= _MOST_MESSAGES or self._bytes > _MOST_BYTES

    def take(self) -> list[RawMessage]:
        """The messages in their order; the batch is empty afterwards."""
        messages, self._messages, self._bytes = self._messages, [], 0
        return messages

    def as_block(self, messages: list[RawMessage]) -> Block | None:
        """The messages as columns; None where they must be decoded one by one.

        That is so where messages of one topic differ in their layout, transforms of one length,
        and where a message is damaged or too large.
        """
        by_topic: dict[str, list[RawMessage]] = defaultdict(list)
        by_length: dict[int, list[RawMessage]] = defaultdict(list)
        for message in messages:
            if message.topic == self._transforms:
                by_length[len(message.data)].append(message)
            else:
                by_topic[message.topic].append(message)
        wrenches, joints = (by_topic.get(t, []) for t in (self._wrench, self._joint_states))
        try:
            block = Block(
                self._stamped(cdr_columns.wrenches(_data(wrenches)), wrenches),
                self._stamped(cdr_columns.joint_states(_data(joints)), joints),
                tuple(self._stamped(edges, tree) for tree in by_length.values()
                      for edges in cdr_columns.transforms(_data(tree))))
        except ValueError:
            return None  # decoded one by one, damage says which message it is in
        too_many = (len(block.transforms) > MAX_TRANSFORMS or (
            block.joint_states is not None and len(block.joint_states.names) > MAX_JOINTS))
        return None if too_many else block

    def decode(self, recording: BagReader, message: RawMessage, kind: str) -> Message:
        """The message of serialised data of that type (raises RecordingError)."""
        decoded = recording.decode(message, kind, DECODERS)
        if not self._recorded_stamps:
            return decoded
        return decoded._replace(content=restamp(decoded.content, decoded.log_time))

    def _stamped(self, samples: Any, messages: list[RawMessage]) -> Any:
        """Samples, one of each message, with the stamps to use."""
        if not self._recorded_stamps or samples is None:
            return samples
        return samples._replace(stamps=np.array([m.log_time for m in messages], dtype=np.int64))


def restamp(content: Any, stamp_ns: int) -> Any:
    """The content of a decoded message with another stamp; where it has none, as it is."""
    if isinstance(content, list):  # of transforms
        return [edge._replace(stamp_ns=stamp_ns) for edge in content]
    if hasattr(content, "stamp_ns"):
        return content._replace(stamp_ns=stamp_ns)
    if hasattr(content, "header"):
        stamp = dataclasses.replace(content.header.stamp, sec=stamp_ns // 10**9,
                                    nanosec=stamp_ns % 10**9)
        return dataclasses.replace(content, header=dataclasses.replace(content.header, stamp=stamp))
    return content


def _data(messages: list[RawMessage]) -> list[bytes]:
    """The serialised data of messages."""
    return [message.data for message in messages]
