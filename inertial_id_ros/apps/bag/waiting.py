"""Serialised messages on their way to the pipeline, as columns where that is possible."""

from __future__ import annotations

from collections import defaultdict

from ...io import cdr_columns
from ...io.sample_blocks import Block
from ...limits import MAX_JOINTS, MAX_TRANSFORMS
from .reader import RawMessage
from .topics import Selection

_MESSAGES = 2000  # that wait at most: fewer than any stream of the pipeline holds
_BYTES = 4_000_000


class Waiting:
    """Messages of the topics with high rates that came since they were last taken."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._messages: list[RawMessage] = []
        self._bytes = 0

    def add(self, message: RawMessage) -> bool:
        """Add the next message; whether they should be taken now."""
        self._messages.append(message)
        self._bytes += len(message.data)
        return len(self._messages) >= _MESSAGES or self._bytes > _BYTES

    def take(self) -> list[RawMessage]:
        """The messages, which wait no longer."""
        messages, self._messages, self._bytes = self._messages, [], 0
        return messages

    def as_block(self, messages: list[RawMessage]) -> Block | None:
        """The messages as columns; None where a topic has more than one layout (transforms of
        several publishers: more than one for their length), or a message is damaged or too
        large."""
        by_topic: dict[str, list[bytes]] = defaultdict(list)
        by_length: dict[int, list[bytes]] = defaultdict(list)
        for topic, _, data in messages:
            if topic == self._selection.tf:
                by_length[len(data)].append(data)
            else:
                by_topic[topic].append(data)
        wrenches, joints = (by_topic.get(t, []) for t in (
            self._selection.wrench, self._selection.joint_states))
        try:
            block = Block(cdr_columns.wrenches(wrenches), cdr_columns.joint_states(joints), tuple(
                edges for tree in by_length.values() for edges in cdr_columns.transforms(tree)))
        except ValueError:
            return None  # decoded one by one, damage says which message it is in
        too_many = (len(block.transforms) > MAX_TRANSFORMS or (
            block.joint_states is not None and len(block.joint_states.names) > MAX_JOINTS))
        return None if too_many else block
