# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The queue of samples: callbacks append, the thread that owns the identifier takes them out.

Ticks between them say when samples are processed and solved: at times of arrival that are multiples
of a period. An estimate starts from the one before, and an event is seen at the end of a round. So
the estimates are a function of the messages, their times of arrival and the settings alone, and a
replay gives the same, only if rounds and solves lie between the same messages. They do where their
times depend on nothing else, such as when a process started or had time for them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..findings import FindingLog
from ..io import cdr_columns, messages
from ..io.sample_blocks import (
    Block,
    Edges,
    ImuReadings,
    JointStates,
    Samples,
    Wrenches,
    as_block,
)


class Tick(NamedTuple):
    """A time at which the samples that arrived before it are processed.

    Attributes:
        time_ns: of arrival [ns]; solves: whether an estimate is made of them, too.
    """

    time_ns: int
    solves: bool


class Ticks:
    """The ticks of two periods.

    Args:
        begin_ns: time at or before the first message [ns].

    Attributes:
        next_ns: time of the next tick [ns].
    """

    def __init__(self, begin_ns: int, round_ns: int, solve_ns: int) -> None:
        self._now = begin_ns
        self.use_periods(round_ns, solve_ns)

    def use_periods(self, round_ns: int, solve_ns: int) -> None:
        """Use these periods [ns] from the last tick on."""
        self._periods = round_ns, solve_ns
        self._pass(self._now)

    def _pass(self, now_ns: int) -> None:
        """Pass a time [ns]. What comes next is computed here, once, as each message asks for it."""
        self._now = now_ns
        self.next_ns = min((now_ns // period + 1) * period for period in self._periods)

    def until(self, now_ns: int) -> Iterator[Tick]:
        """The ticks that come before a message which arrives at a time [ns], in order."""
        while (due := self.next_ns) <= now_ns:
            self._pass(due)
            yield Tick(due, due % self._periods[1] == 0)

    def skip_to(self, now_ns: int) -> None:
        """Leave out the ticks up to a time [ns]."""
        self._pass(max(self._now, now_ns))


_INBOX = 400_000  # samples that may wait; beyond that, they are dropped, and a finding says so
_INBOX_BYTES = 256_000_000  # of serialised messages that may wait
_WORTH = 50  # samples that are stored faster at once than one by one
(WRENCH, JOINT_STATE, TRANSFORM, STATIC_TRANSFORM, REMOVED_PAYLOAD, ZEROING, FINDING,
 PUBLISHERS, ARRAYS, TICK, IMU) = range(11)
_STREAMS: dict[int, type[Wrenches] | type[JointStates] | type[Edges]] = {
    WRENCH: Wrenches, JOINT_STATE: JointStates, TRANSFORM: Edges}
_KINDS: dict[type[Samples], int] = {stream: kind for kind, stream in _STREAMS.items()}
Handlers = Mapping[int, Callable[..., Any]]
Entry = tuple[int, Any]  # kind, and a sample (tuple), a message (bytes) or a list of arrays
_MESSAGES = {WRENCH: messages.WRENCH, JOINT_STATE: messages.JOINT_STATE,
             TRANSFORM: messages.TRANSFORMS, STATIC_TRANSFORM: messages.STATIC_TRANSFORMS}
_DECODERS: dict[int, Callable[[Sequence[bytes]], Sequence[Samples]]] = {
    WRENCH: cdr_columns.wrenches, JOINT_STATE: cdr_columns.joint_states,
    TRANSFORM: cdr_columns.transforms}


class Inbox:
    """The append-only side of the pipeline; its methods may be called from another thread.

    Attributes:
        tick_ns: time of arrival of the last tick that was taken out [ns]; 0: none was.
    """

    _stores_blocks = False  # whether `_take_block` ever takes one

    def __init__(self, log: FindingLog) -> None:
        self._incoming = log
        self._inbox: deque[Entry] = deque()
        self._bytes_in = self._bytes_out = 0  # one thread counts up the one, one the other
        self._ticks_in = self._ticks_out = 0  # as the bytes
        self.tick_ns = 0

    def _put(self, kind: int, *sample: Any) -> None:
        """Append a sample; it is lost where there is no room."""
        if self._has_room():
            self._inbox.append((kind, sample))

    def add_tick(self, tick: Tick) -> None:
        """Between the samples: those before it are to be processed without those behind it, and to
        be solved as well if it says so."""
        self._inbox.append((TICK, tick))
        self._ticks_in += 1

    @property
    def ticks(self) -> int:
        """Number of ticks in the queue."""
        return self._ticks_in - self._ticks_out

    def _hand_over_to_tick(self, handlers: Handlers) -> bool:
        """Take entries out up to a tick, which must wait in the queue, and the tick; says whether
        it asks for an estimate."""
        entries = []
        while (entry := self._inbox.popleft())[0] != TICK:
            entries.append(entry)
        self._ticks_out += 1
        self._hand_over_all(entries, handlers)
        tick: Tick = entry[1]
        self.tick_ns = tick.time_ns
        return tick.solves

    def _has_room(self) -> bool:
        """Whether another sample may wait; counts a finding where not."""
        if len(self._inbox) < _INBOX and self._bytes_in - self._bytes_out < _INBOX_BYTES:
            return True
        self._incoming.count("overload", "samples lost because processing is too slow", "error")
        return False

    @property
    def waiting(self) -> int:
        """Number of entries in the queue."""
        return len(self._inbox)

    def _take_block(self, block: Block) -> bool:
        """Store many samples at once, as if they had been handed over one by one; False, and none
        is stored, where what becomes of one depends on those before it."""
        return False

    def _hand_over(self, count: int, handlers: Handlers) -> None:
        """Take so many entries out, oldest first, and hand them over."""
        self._hand_over_all([self._inbox.popleft() for _ in range(count)], handlers)

    def _hand_over_all(self, entries: list[Entry], handlers: Handlers) -> None:
        """Hand entries over; samples that follow each other are stored at once where nothing is
        unusual about them, and each goes to the handler of its kind otherwise."""
        self._bytes_out += sum(map(len, [data for _, data in entries if type(data) is bytes]))
        if {kind for kind, _ in entries} <= _STREAMS.keys():
            self._store(entries, handlers)
            return
        together: list[Entry] = []
        for entry in entries:
            if entry[0] == TICK:  # nobody waits for it
                self._ticks_out += 1
                continue
            if entry[0] in _STREAMS:
                together.append(entry)
                continue
            if entry[0] == IMU:  # has a stream of its own: no other sample depends on it
                self._handle(entry, handlers)
                continue
            self._store(together, handlers)
            together = []
            if entry[0] == ARRAYS:
                self._store_arrays(entry[1][0], handlers)
            else:
                self._handle(entry, handlers)
        self._store(together, handlers)

    def _store(self, entries: list[Entry], handlers: Handlers) -> None:
        """Store samples of the streams."""
        if self._stores_blocks and len(entries) >= _WORTH:
            block = _join(entries)
            if block is not None and self._take_block(block):
                return
        for entry in entries:
            self._handle(entry, handlers)

    def _store_arrays(self, part: list[Samples], handlers: Handlers) -> None:
        """Store arrays of samples, or these one by one in the order of their stamps."""
        for samples in part:
            if isinstance(samples, ImuReadings):
                for reading in samples.singles():
                    handlers[IMU](*reading)
        part = [samples for samples in part if not isinstance(samples, ImuReadings)]
        block = as_block(part)
        if block is not None and self._take_block(block):
            return
        singles = [(_KINDS[type(samples)], arguments)
                   for samples in part for arguments in samples.singles()]
        for kind, arguments in sorted(singles, key=lambda single: single[1][0]):
            handlers[kind](*arguments)

    def _handle(self, entry: Entry, handlers: Handlers) -> None:
        """Give a sample to the handler of its kind."""
        kind, sample = entry
        if isinstance(sample, tuple):
            handlers[kind](*sample)
        else:
            messages.take_serialized(_MESSAGES[kind], sample, handlers[kind], self._incoming)

    def add_serialized(self, kind: int, data: bytes) -> None:
        """A serialised message, to be decoded when its turn comes.

        Args:
            kind: WRENCH (geometry_msgs/WrenchStamped), JOINT_STATE (sensor_msgs/JointState),
                TRANSFORM or STATIC_TRANSFORM (tf2_msgs/TFMessage).
        """
        if (len(self._inbox) < _INBOX and self._bytes_in - self._bytes_out < _INBOX_BYTES
                or self._has_room()):  # asked here as well: this is called for each message
            self._bytes_in += len(data)
            self._inbox.append((kind, data))

    def add_all_serialized(self, messages: list[tuple[int, bytes]]) -> None:
        """As `add_serialized`, for some messages of these kinds that came one after the other."""
        if self._has_room():
            self._bytes_in += sum(map(len, [data for _, data in messages]))
            self._inbox.extend(messages)

    def add_part(self, part: list[Samples]) -> None:
        """Arrays of samples of several streams that cover the same time."""
        self._put(ARRAYS, part)

    def add_wrench(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                   torque: Sequence[float]) -> None:
        """A wrench sample: force (3,) [N] and torque (3,) [N m] as the driver publishes them."""
        self._put(WRENCH, stamp_ns, frame_id, force, torque)

    def add_joint_state(self, stamp_ns: int, names: Sequence[str], positions: Sequence[float],
                        efforts: Sequence[float] = ()) -> None:
        """Joint positions by name [rad or m]; efforts [N m or N] matter to joint torques only."""
        self._put(JOINT_STATE, stamp_ns, names, positions, efforts)

    def add_transform(self, stamp_ns: int, parent: str, child: str,
                      translation: Sequence[float], quaternion: Sequence[float]) -> None:
        """A moving transform: pose of child in parent, quaternion x, y, z, w."""
        self._put(TRANSFORM, stamp_ns, parent, child, translation, quaternion)

    def add_static_transform(self, parent: str, child: str, translation: Sequence[float],
                             quaternion: Sequence[float]) -> None:
        """A fixed transform: pose of child in parent, quaternion x, y, z, w."""
        self._put(STATIC_TRANSFORM, parent, child, translation, quaternion)

    def add_imu(self, stamp_ns: int, frame_id: str, force: Sequence[float],
                omega: Sequence[float]) -> None:
        """A reading of the IMU on the robot's base: specific force (3,) [m/s^2] and angular
        velocity (3,) [rad/s] in its frame."""
        self._put(IMU, stamp_ns, frame_id, force, omega)

    def add_removed_payload(self, frame_id: str, mass: float, com: Sequence[float],
                            inertia: Sequence[float]) -> None:
        """The payload that the driver removes now: mass [kg], com (3,) [m] and inertia about it
        (6,) [kg m^2] in a frame (empty: the sensor's)."""
        self._put(REMOVED_PAYLOAD, frame_id, (mass, *com, *inertia))

    def add_zeroing(self, reason: str) -> None:
        """The driver has zeroed the sensor: what was measured before counts no more."""
        self._put(ZEROING, reason)

    def add_publishers(self, text: str) -> None:
        """Several publishers send the wrench, or the states of the same joints, from now on, as the
        text says; empty: only one."""
        self._put(PUBLISHERS, text)

    def add_finding(self, name: str, level: str, text: str) -> None:
        """Something about the input that deserves attention."""
        self._put(FINDING, name, level, text)


def _join(entries: list[Entry]) -> Block | None:
    """Samples that came one by one as a block; None where it cannot hold them, with messages of one
    kind that differ in more than stamps and numbers, and where one is damaged or too large."""
    streams: dict[tuple[int, Any], list[Any]] = defaultdict(list)
    for kind, sample in entries:
        # Transforms of several publishers come on one topic: in messages of different lengths, or
        # each with its own frames.
        apart = kind == TRANSFORM and (
            len(sample) if isinstance(sample, bytes) else sample[1:3])
        streams[kind, apart].append(sample)
    try:
        return as_block([samples for (kind, _), group in streams.items()
                         for samples in _join_stream(kind, group)])
    except ValueError:
        return None


def _join_stream(kind: int, samples: list[Any]) -> Sequence[Samples]:
    """Samples (tuples) or serialised messages (bytes) of one stream as blocks of arrays: one of
    tuples, as many of messages as their decoder gives (raises ValueError where they do not fit
    together)."""
    if all(isinstance(sample, tuple) for sample in samples):
        return [_STREAMS[kind].joined(samples)]
    return _DECODERS[kind](samples)
