# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether the arm is fit to be told another payload: at rest, and free of contact."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from ...doubts import Doubt, first_doubt
from ...findings import Finding
from ...io.dynamic_joint_state import DynamicJointStates
from ...settings import Settings
from ...targets.target import Gate
from ..compat import message_type
from .asking import Asking

_REST_TIME = 0.3  # s for which the joints are watched
_SILENCE = 1.5  # s without joint states, after which it is not known whether they move


def doubt_gate(findings: Iterable[Finding], doubtful_zero: str) -> Gate:
    """Whether no finding puts the payload, its frame or what is measured now in doubt; a saved
    estimate was measured with the same set-up.

    Args:
        doubtful_zero: what of the reading may be contact, though estimates hold it for a bias, in
            one sentence; empty: nothing.
    """
    found = first_doubt(findings, Doubt.MASS | Doubt.COM | Doubt.FRAME | Doubt.PRESENT)
    return Gate("doubt", doubtful_zero if found is None else found.text)


def rest_gate(asking: Asking, settings: Settings, joints: Collection[str]) -> Gate:
    """Whether the arm is at rest, by what its joints say from now on.

    Args:
        joints: that move the sensor, as a topic may carry those of other arms; empty: all.
    """
    dynamic = settings.dynamic_joint_states
    topic = dynamic.topic or settings.joint_states.topic
    kind: Any = message_type("control_msgs/msg/DynamicJointState") if dynamic.topic else JointState
    states = DynamicJointStates(dynamic)
    begin: list[float] = []

    def enough(messages: Sequence[Any]) -> bool:
        if messages and not begin:
            begin.append(time.monotonic())
        if not begin or time.monotonic() - begin[0] < _REST_TIME or len(messages) < 3:
            return False
        heard = Counter(name for m in messages for name in split(m)[0])
        return all(heard[name] > 1 for name in joints)

    def split(message: Any) -> tuple[Sequence[str], Sequence[float]]:
        if dynamic.topic:
            return states.split(message.joint_names, message.interface_values)[1:3]
        return message.name, message.position

    messages = asking.listen(kind, topic, _SILENCE, enough)
    if len(messages) < 3:
        return Gate("rest", f"'{topic}' is silent, so that it is not known whether the arm is at "
                    "rest")
    names, positions = zip(*map(split, messages), strict=True)
    return Gate("rest", _describe_motion(names, positions, joints, settings.apply.rest_speed))


def _describe_motion(names: Sequence[Sequence[str]], positions: Sequence[Sequence[float]],
                     joints: Collection[str], speed: float) -> str:
    """Which of these joints moves, in words; empty where all are at rest.

    Args:
        names, positions: of each message [rad or m]; topics that several nodes share may carry
            joints in turn.
    """
    ranges: dict[str, list[float]] = {}
    for message_names, values in zip(names, positions, strict=True):
        for name, value in zip(message_names, values, strict=False):
            if not joints or name in joints:
                ranges.setdefault(name, []).append(value)
    if not ranges:
        return "no joint that moves the sensor is among the joint states"
    missing = [name for name in sorted(joints) if len(ranges.get(name, ())) < 2]
    if missing:
        return (f"joint '{missing[0]}' is not among the joint states, so that it is not known "
                "whether the arm is at rest")
    for name, values in ranges.items():
        moved = float(np.ptp(values)) / _REST_TIME
        if not moved <= speed:
            return (f"the arm moves: joint '{name}' by {moved:.3g} per second; apply.rest_speed "
                    f"allows {speed:g}")
    return ""
