# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The topics of the wrench without its payload: each wrench as it comes, and what is removed."""

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from geometry_msgs.msg import Inertia, WrenchStamped
from rclpy.node import Node
from std_msgs.msg import Header

from inertial_id_ros.msg import CompensationState

from ..compensation.latch import LoadInUse, Mode
from ..compensation.live import BLEND, Compensation
from ..errors import UnknownFrame
from ..identify.identifier import Identifier
from ..inertia import body_from_phi
from ..io.decoding import read
from ..io.inputs import InputTopic, JointStates, Wrenches
from ..motion.causal import MotionNow
from ..motion.robot import Chain
from ..settings import Settings
from .conversions import LATCHED, NOBODY, inertia_message, time_message

DEPTH = 100  # messages for a subscriber that is late
PERIOD = 1.0  # s between two messages about the state when nothing changes
REASONS = {
    "payload_unknown": "the payload is not known yet: move freely",
    "motion_unknown": "no motion of the sensor is known for this wrench",
    "stamps_repeated": "the stamps of the wrench stand still or go back",
    "wrench_stuck": "the wrench stands still to the last bit",
    "wrench_invalid": "the wrench is saturated, or no number",
    "frame_wrong": "the wrench is given in another frame than before",
    "load_unexplained": "nothing explains the wrench",
}


class CompensatedWrench:
    """Publishes compensated wrenches while anybody subscribes; other threads may call `update` and
    `withhold`. `resolve`: full names of topics; `age`: since the sample of a stamp [ns] came [s].
    """

    def __init__(self, node: Node, resolve: Callable[[str], str], settings: Settings,
                 age: Callable[[int], float]) -> None:
        limits = np.repeat(settings.wrench.range, 3)
        self._live = Compensation(settings.compensation, settings.wrench.sign,
                                  np.where(limits > 0.0, limits, np.inf))
        self._settings, self._age = settings.compensation, age
        self._publisher = node.create_publisher(
            WrenchStamped, resolve("~/wrench_compensated"), DEPTH)
        self._state = node.create_publisher(
            CompensationState, resolve("~/compensation_state"), LATCHED)
        self._since = time.monotonic()  # when the load in use came
        self._of_identifier, self._is_withheld = LoadInUse(), False
        self._moved_by: Chain | None = None
        self._header = Header()  # of the newest message
        self._said: tuple[object, ...] = ()
        self._due, self.is_used = 0.0, False

    def update(self, identifier: Identifier, frame: str) -> None:
        """Use motion and load of an identifier; frame: of the readings; empty: of the sensor."""
        known = identifier.streams
        if known.moved_by is not self._moved_by and known.moved_by is not None:
            self._moved_by = known.moved_by
            self._live.motion = MotionNow(known.moved_by)
        load = identifier.course.load
        if load is not self._of_identifier:
            self._of_identifier = load
            load = _in_frame(load, identifier, frame)
            if not self._is_withheld:
                self._live.load, self._since = load, time.monotonic()

    def withhold(self, reason: str) -> None:
        """Publish nothing for this reason, whatever load is given; empty: publish the next load."""
        self._is_withheld = bool(reason)
        if reason:
            self._live.load = LoadInUse(reason=reason)

    def receive(self, topic: InputTopic, data: bytes) -> None:
        """Publish what follows from a serialised message; the worker reports damaged ones."""
        try:
            samples = read(topic, data)
        except (KeyError, ValueError):  # it holds no samples, or is damaged
            return
        for kind, stamp, labels, rows in samples:
            if kind is Wrenches:
                if (out := self._live.compensate(stamp, labels[0], rows[0])) is None:
                    continue
                message = WrenchStamped()  # parts that are made first would take twice as long
                self._header = message.header
                self._header.stamp, self._header.frame_id = time_message(stamp), labels[0]
                f, t = message.wrench.force, message.wrench.torque
                f.x, f.y, f.z, t.x, t.y, t.z = out
                self._publisher.publish(message)
            elif (motion := self._live.motion) is None:
                continue
            elif kind is JointStates:
                motion.update(stamp, labels[0], rows[0])
            else:
                motion.update_pose(stamp, labels[1].lstrip("/"), np.array(rows[0]))

    def publish_state(self, end: str = "") -> None:
        """Publish what is removed: when it changes and once a second; end: why it is the last."""
        load, now = self._live.load, time.monotonic()
        self.is_used = self._publisher.get_subscription_count() > 0
        reason = end or load.reason or (self._live.silence if self.is_used else "")
        mode = Mode.SILENT if reason else load.mode
        age = self._age(load.stamp)
        is_old = age > self._settings.max_age
        blend = 1.0 - math.exp((self._since - now) / BLEND) if mode else 0.0
        said = (mode, reason, load.stamp, is_old, blend > 0.99)
        if said == self._said and now < self._due:
            return
        self._said, self._due = said, now + PERIOD
        inertia = Inertia()  # of no mass
        if not mode or load.phi[0] > 0.0:
            inertia = inertia_message(body_from_phi(load.phi) if mode else NOBODY)
        self._state.publish(CompensationState(
            header=self._header, mode=int(mode), estimate_stamp=time_message(load.stamp), age=age,
            old=is_old, blend=blend, inertia=inertia, reason=REASONS.get(reason, reason) or (
                f"the payload is {'' if mode is Mode.KNOWN else 'roughly '}known")))


def _in_frame(load: LoadInUse, identifier: Identifier, frame: str) -> LoadInUse:
    """The load with what leads from the sensor's axes to the frame of the readings."""
    sensor = identifier.streams.frame
    if frame in ("", sensor):
        return load
    try:
        place = identifier.streams.tree().place(frame, sensor)[0]
    except UnknownFrame as error:
        return LoadInUse(reason=str(error))
    return replace(load, frame=frame, target=np.array(place.toDualActionMatrix()))
