# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The estimate of a node: what its worker makes of samples, and what is shown of it.

Methods belong to the worker, unless they say otherwise.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message

from ..compensation.latch import LoadInUse
from ..errors import InertialIdError, InvalidData, UnknownFrame
from ..estimate import Estimate, NoEstimate, Outcome
from ..findings import Finding
from ..identify.beliefs import stated_by_driver
from ..identify.identifier import Identifier
from ..inertia import Array
from ..io.decoding import inertia_numbers
from ..io.inbox import Inputs, decode
from ..io.input_topics import FRANKA_PAYLOAD, InputTopic
from ..io.sample_blocks import JointStates, Wrenches, split_by_time
from ..kinds import doubt_in, made, withdraw_doubted
from ..settings import Settings
from .compat import message_type
from .contract import HEARTBEAT
from .conversions import refuse_unphysical
from .freshness import Freshness
from .publishing import Publishing
from .streams import Subscriptions
from .worker import Worker

PART = 500  # samples after which is published what they show, where many wait
CHANGES = ("payload_changed", "zero_moved", "estimate_lost")  # kinds that end an estimate
PATIENCE = 3.0  # s after the start before missing data are reported


class Notes:
    """Findings of the node itself; any thread may set or clear one of a name of its own."""

    def __init__(self) -> None:
        self._findings: dict[str, Finding] = {}

    def set(self, name: str, **numbers: Any) -> None:
        """Set a finding, with the numbers of its sentence."""
        self._findings[name] = made(name, **numbers)

    def clear(self, name: str) -> None:
        """Remove a finding, if it is there."""
        self._findings.pop(name, None)

    def say(self, name: str, why: str) -> None:
        """Set a finding with a text, or clear it where that is empty."""
        if why:
            self.set(name, why=why)
        else:
            self.clear(name)

    def all(self) -> tuple[Finding, ...]:
        """All of them."""
        return tuple(self._findings.copy().values())


class Estimation:
    """See the module.

    Args:
        notes: findings of the node; on_error: is told of what should not happen.

    Attributes:
        worker: the thread that owns the identifier.
        streams: None while the node is inactive.
        outcome: what is shown, whoever asks; findings_now: that belong to it.
    """

    def __init__(self, identifier: Identifier, publishing: Publishing, notes: Notes,
                 on_error: Callable[[Exception], None]) -> None:
        self.identifier, self.worker, self.notes = identifier, Worker(), notes
        self._publishing, self._on_error = publishing, on_error
        self.streams: Subscriptions | None = None
        self.outcome: Outcome = NoEstimate(0, "", "the node is inactive")
        self.findings_now: tuple[Finding, ...] = ()
        self.longest = 0.0  # s, of a round
        self._seen: tuple[Any, ...] = ()  # of the identifier's newest outcome
        self._changes: list[str] = []  # findings of changes
        self._asked = 0  # stamp of an outcome that was not due, but asked for
        self._begin()
        self._stated: Array | None = None
        self._damaged: dict[str, int] = {}
        self._lock = threading.Condition()  # of what is shown

    def _begin(self) -> None:
        """Nothing of streams is known yet."""
        self._frame, self._newest = "", 0  # that the wrench names; stamp of the load [ns]
        self._placed: tuple[Any, ...] = ()
        self._load = LoadInUse()
        self._moved_by: tuple[Any, ...] = ()
        self._published = self._started = time.monotonic()
        self.freshness = Freshness()

    # ---- from other threads ---------------------------------------------------------------------

    def start(self, streams: Subscriptions) -> None:
        """Use these streams from now on."""
        self._begin()
        self.streams = streams
        self._show(NoEstimate(0, "", "waiting for the first estimate"))
        streams.start(lambda: self.worker.request(self._advance))

    def end(self, reason: str, timeout: float = PATIENCE) -> None:
        """Stop: discard all data, so that nothing old is taken for new later, and show that there
        is no estimate any more (raises Busy where the worker cannot do that in time)."""
        def forget() -> None:
            if self.streams is not None:
                self.streams.compensation.use(LoadInUse(reason=reason))
            self.streams = None
            self.identifier.reset(reason)
            self._show(NoEstimate(self.outcome.stamp_ns, self.outcome.frame_id, reason))

        streams = self.streams
        self.worker.call(forget, timeout)
        if streams is not None:
            streams.close(reason)

    def look(self) -> None:
        """Publish what is shown anew where it has become stale, or is due again; in any thread that
        does so again and again."""
        with self._lock:
            if self.streams is None:
                return
            judged = self._judged(self.outcome)
            if judged is not self.outcome or time.monotonic() - self._published >= HEARTBEAT:
                self._publish(judged)
            self._publishing.draw()

    def age(self, outcome: Outcome) -> float:
        """Time since the newest sample of an outcome arrived [s]; from any thread."""
        return self.freshness.age(outcome)

    def wait_for(self, condition: Callable[[Outcome], bool], timeout: float) -> Outcome:
        """What is shown as soon as a condition holds of it, or after a time [s]."""
        with self._lock:
            self._lock.wait_for(lambda: condition(self.outcome), timeout)
            return self.outcome

    # ---- rounds ---------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Take what has arrived, estimate, and publish."""
        started, streams = time.monotonic(), self.streams
        if streams is None:
            return
        try:
            arrived = streams.inbox.received[streams.load_topic].arrived
            inputs = decode(streams.inbox.take(), self.settings)
            self._use_inputs(inputs)
            self.freshness.note(self._newest, arrived)
            for part in list(split_by_time(inputs.samples, PART)) or [[]]:
                outcomes = self.identifier.add_arrays(part)
                self.freshness.note_processed()
                self._hand_on()
                for outcome in outcomes:
                    self._show(outcome)
                self._follow()
            if streams.inbox.lost:
                self.notes.set("overload", count=streams.inbox.lost)
            self.notes.clear("internal_error")
        except Exception as error:  # one bad round must not end the identification
            self._on_error(error)
            self.notes.say("internal_error", f"{type(error).__name__}: {error}")
            self.identifier.reset("an internal error")
            self._follow()
        self.longest = max(self.longest, time.monotonic() - started)

    @property
    def settings(self) -> Settings:
        """Those of the identifier."""
        return self.identifier.settings

    def _use_inputs(self, inputs: Inputs) -> None:
        """Use what is no sample."""
        for edges in inputs.fixed:
            for row in edges.rows:
                self.identifier.add_static_transform(edges.parent, edges.child, row[:3], row[3:])
        if inputs.description is not None:
            self.use_description(inputs.description)
        load = Wrenches if self.settings.load.source == "wrench" else JointStates
        for samples in inputs.samples:
            if isinstance(samples, load):
                self._newest = int(samples.stamps[-1])
            if isinstance(samples, Wrenches):
                self._frame = samples.frame_id.lstrip("/")
        for topic, (count, why) in inputs.damaged.items():
            name = topic.setting.partition(".")[0]
            self._damaged[name] = self._damaged.get(name, 0) + count
            self.notes.set(f"message_malformed.{name}", count=self._damaged[name], why=why)
        if inputs.payload is not None:
            self._use_payload("", inputs.payload)
        for topic, data in inputs.others.items():
            self._use_payload(*_stated(topic, data))

    def use_settings(self, settings: Settings) -> None:
        """Use other settings (raises InertialIdError where they cannot be used)."""
        self.identifier.set_settings(settings)
        if self.streams is not None:
            self.solve()

    def use_description(self, urdf: str) -> None:
        """Use a robot description, or say why it cannot be used."""
        try:
            self.identifier.set_robot_description(urdf)
        except InertialIdError as error:
            self.notes.say("robot_description_invalid", str(error))
        else:
            self.notes.clear("robot_description_invalid")

    def _use_payload(self, frame: str, stated: Array) -> None:
        """Believe that the driver compensates a payload: mass, centre of mass and inertia about it
        (10,) in a frame (empty: of the sensor)."""
        if self._stated is not None and np.array_equal(stated, self._stated):
            return
        try:
            phi = stated_by_driver(stated, frame, self.settings, self.identifier.streams)
        except InertialIdError as error:  # tried again with the next message
            self.notes.say("payload_not_added", str(error))
            return
        self._stated = stated
        self.notes.clear("payload_not_added")
        self.identifier.believe(replace(self.identifier.beliefs, compensated=phi))

    def _hand_on(self) -> None:
        """Give the compensated wrench what it needs."""
        if self.streams is None:
            return
        live, inner = self.streams.compensation, self.identifier.streams
        moved_by = (inner.chain, *inner.transforms)
        if moved_by != self._moved_by:
            self._moved_by = moved_by
            live.use_motion(inner.chain, inner.transforms)
        load = self.identifier.load_in_use()
        if load is not self._load:
            self._load = load
            live.use(self._in_frames(load))

    def _in_frames(self, load: LoadInUse) -> LoadInUse:
        """The load with what leads from the frame of the readings to that of what is published."""
        sensor, target = self.identifier.streams.frame, self.settings.compensation.frame
        if target in ("", sensor) and self._frame in ("", sensor):
            return load
        if self._placed[:2] != (sensor, self._frame):
            tree = self.identifier.streams.tree()
            try:
                conversion = tree.place(sensor, self._frame or sensor)[0]
                place = tree.place(target, sensor)[0] if target else conversion.inverse()
            except UnknownFrame as error:
                return LoadInUse(reason=str(error))
            self._placed = (sensor, self._frame, np.array(conversion.toDualActionMatrix()),
                            np.array(place.toDualActionMatrix()))
        return replace(load, frame=self._frame, conversion=self._placed[2], target=self._placed[3])

    def _follow(self) -> None:
        """Show what the identifier says now, where that is another than it said before, or what
        else is in doubt."""
        changes = [f.text for f in self.identifier.findings() if f.kind in CHANGES]
        if changes != self._changes:  # the next estimate may not be due for long
            self._changes = changes
            if changes:
                self.solve()
                return
        outcome, shown = self.identifier.outcome, self.outcome
        if isinstance(outcome, Estimate) and (
                outcome.stamp_ns < self._asked <= self.identifier.streams.newest):
            reason = outcome.stale_reason
            outcome = shown
            if isinstance(shown, Estimate) and reason and not shown.stale:
                outcome = shown.as_stale(reason)
        if _key(outcome) != self._seen:
            self._show(outcome)
        elif doubt_in(self._findings()) != doubt_in(self.findings_now):
            self._show(outcome)

    def _findings(self) -> tuple[Finding, ...]:
        return (*self.notes.all(), *self.identifier.findings())

    def solve(self) -> Outcome:
        """Estimate with the samples so far, and publish: something was changed."""
        outcome = self.identifier.solve()
        self._asked = outcome.stamp_ns
        self._hand_on()
        self._show(outcome)
        return self.outcome

    # ---- what is shown --------------------------------------------------------------------------

    def _show(self, outcome: Outcome) -> None:
        self._seen = _key(outcome)
        hint = self.streams.other_topics() if self.streams is not None else ""
        if isinstance(outcome, NoEstimate) and not outcome.is_finding and (
                time.monotonic() - self._started > PATIENCE):
            self.notes.say("no_estimate", f"no estimate: {outcome.reason}{hint}")
        else:
            self.notes.clear("no_estimate")
        findings = self._findings()
        outcome = withdraw_doubted(refuse_unphysical(outcome), self.notes.all())
        with self._lock:
            self.findings_now = findings
            self._publish(self._judged(outcome))

    def _judged(self, outcome: Outcome) -> Outcome:
        """The outcome, as stale where it is no longer fresh."""
        if not isinstance(outcome, Estimate):
            return outcome
        reason = self.freshness.why_stale(outcome, self.settings.estimator.rate)
        return outcome if reason in ("", outcome.stale_reason) else outcome.as_stale(reason)

    def _publish(self, outcome: Outcome) -> None:
        self.outcome, self._published = outcome, time.monotonic()
        self._lock.notify_all()
        self._publishing.publish_outcome(outcome, self.findings_now, self.age(outcome))

    # ---- for services ---------------------------------------------------------------------------

    def lookup(self, target: str, source: str, fixed: bool = False
               ) -> tuple[Array, Array, int | None]:
        """Rotation (3, 3) and translation (3,) of the source in the target, and the stamp [ns] of
        the pose; None: they are fixed to each other.

        Raises:
            UnknownFrame: a frame is not known; InvalidData: they move, and should be fixed.
        """
        place, stamp = self.identifier.streams.tree().place(target.lstrip("/"),
                                                              source.lstrip("/"))
        if fixed and stamp is not None:
            raise InvalidData(f"frame '{target}' moves against '{source}'")
        return np.array(place.rotation), np.array(place.translation), stamp


def _key(outcome: Outcome) -> tuple[Any, ...]:
    """By what an outcome differs from one that was shown before."""
    return ((outcome.stamp_ns, outcome.stale) if isinstance(outcome, Estimate) else
            (outcome.reason,))


def _stated(topic: InputTopic, data: bytes) -> tuple[str, Array]:
    """Frame and payload (10,) that a serialised message states."""
    message = deserialize_message(data, message_type(topic.type))
    if topic is FRANKA_PAYLOAD:
        message = message.inertia_load
    return message.header.frame_id, inertia_numbers(message.inertia)
