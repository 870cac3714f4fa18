"""Messages of the topics with high rates, collected so that the pipeline may take them at once."""

from __future__ import annotations

from collections import defaultdict

from ...io import cdr_columns
from ...io.sample_blocks import Block
from ...limits import MAX_JOINTS, MAX_TRANSFORMS
from ...signals.input_topics import JOINT_STATES, TRANSFORMS, WRENCH
from .reader import RawMessage
from .topics import Selection

_MOST_MESSAGES = 2000  # fewer than any ring of the pipeline holds
_MOST_BYTES = 4_000_000


class MessageBatch:
    """Serialised messages that came since they were last taken."""

    def __init__(self, selection: Selection) -> None:
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
        by_topic: dict[str, list[bytes]] = defaultdict(list)
        by_length: dict[int, list[bytes]] = defaultdict(list)
        for topic, _, data in messages:
            if topic == self._transforms:
                by_length[len(data)].append(data)
            else:
                by_topic[topic].append(data)
        wrenches, joints = (by_topic.get(t, []) for t in (self._wrench, self._joint_states))
        try:
            block = Block(cdr_columns.wrenches(wrenches), cdr_columns.joint_states(joints), tuple(
                edges for tree in by_length.values() for edges in cdr_columns.transforms(tree)))
        except ValueError:
            return None  # decoded one by one, damage says which message it is in
        too_many = (len(block.transforms) > MAX_TRANSFORMS or (
            block.joint_states is not None and len(block.joint_states.names) > MAX_JOINTS))
        return None if too_many else block
