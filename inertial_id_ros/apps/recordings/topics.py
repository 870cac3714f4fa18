# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Selects the topics of a bag that the identification reads."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from itertools import islice
from typing import TYPE_CHECKING

from ...errors import RecordingError
from ...io.decoding import decode
from ...io.input_topics import (
    DYNAMIC_JOINT_STATES,
    JOINT_STATES,
    PAYLOADS,
    ROBOT_DESCRIPTION,
    TRANSFORMS,
    WRENCH,
    InputTopic,
    input_topics,
)
from ...io.sample_blocks import JointStates
from ...settings import Settings

if TYPE_CHECKING:
    from .bags import BagReader

SHOWN = 20  # topics in a message
PEEKED = 20  # messages that tell the joints of a topic
# Without these there is nothing to read, and no other topic can be meant.
REQUIRED = (DYNAMIC_JOINT_STATES, *PAYLOADS.values())


def select_topics(bag: BagReader, settings: Settings, asked: Collection[str],
                  notes: list[str]) -> dict[str, InputTopic]:
    """The topics to read by name: those of the settings, or others that cannot be meant otherwise.

    Args:
        asked: names of settings that the user chose for this very recording; these are not replaced
            by another topic.
        notes: gets a sentence on each choice.

    Raises:
        RecordingError: no wrench, several and none chosen, a chosen topic of another type, or one
            that is chosen for two things; or nothing tells the motion.
    """
    chosen: dict[str, InputTopic] = {}
    by_torque = settings.load.source == "joint_torque"
    for wanted in input_topics(settings):
        is_fixed = wanted.setting in asked or wanted in REQUIRED
        for name in _names(bag, wanted, absolute_name(wanted.name(settings)), is_fixed, notes):
            if name in chosen:
                raise RecordingError(f"topic {name} is chosen for two things, which have different "
                                     "types of messages; name another topic for one of them")
            chosen[name] = wanted
    if by_torque and JOINT_STATES not in chosen.values():
        raise RecordingError("load.robot needs joint torques and no joint state topic is chosen "
                             f"({JOINT_STATES.type}); the recording holds {_described(bag)}")
    _require_motion(chosen.values(), settings, notes)
    return chosen


def _names(bag: BagReader, wanted: InputTopic, name: str, is_fixed: bool, notes: list[str]
           ) -> list[str]:
    """The topic of this name; where there is none, and it is not fixed, what can be meant: the
    only wrench, joint states that belong together, else the only topic of that name in another
    namespace (raises RecordingError)."""
    types = [kind for topic, kind in bag.topics if topic == name]
    if wanted.type in types:
        if wanted is WRENCH and not bag.topics[name, wanted.type]:
            raise RecordingError(f"wrench topic {name} holds no messages")
        return [name]
    if types:
        raise RecordingError(f"{wanted.content} topic {name} is of type {types[0]}; it must be "
                             f"{wanted.type}; the recording holds {_described(bag)}")
    found = [topic for (topic, kind), count in bag.topics.items() if kind == wanted.type and count]
    if is_fixed:
        near = difflib.get_close_matches(name, found, n=1, cutoff=0.0)
        raise RecordingError(f"{wanted.content} topic {name} is not in the recording; " + (
            f"did you mean {near[0]}?" if near else f"it holds {_described(bag)}"))
    if wanted is WRENCH and len(found) != 1:
        raise RecordingError(
            f"the recording holds {len(found)} wrench topics: {', '.join(found)}; choose one with "
            "--set wrench.topic=NAME" if found else
            f"the recording holds no wrench ({WRENCH.type}); it holds {_described(bag)}")
    if wanted is JOINT_STATES:
        joints = [joint for topic in found for joint in _joints(bag, topic)]
        is_clear = len(joints) == len(set(joints))
    else:
        found = [topic for topic in found if wanted is WRENCH
                 or topic.endswith("/" + name.rsplit("/", 1)[-1])]
        is_clear = len(found) < 2
    if not is_clear:
        notes.append(f"none of {', '.join(found)} is used: choose one with --set "
                     f"{wanted.setting}=NAME")
        return []
    if found:
        notes.append(f"using {' and '.join(found)} for {name}")
    return found


def _require_motion(chosen: Collection[InputTopic], settings: Settings, notes: list[str]) -> None:
    """Raise RecordingError where nothing tells the motion: no joint states with a robot description
    that gives them a meaning, nor transforms."""
    joints = JOINT_STATES in chosen or DYNAMIC_JOINT_STATES in chosen
    if joints and (settings.robot_description.file or ROBOT_DESCRIPTION in chosen):
        return
    described, states, tree = (absolute_name(group.topic) for group in (
        settings.robot_description, settings.joint_states, settings.tf))
    if TRANSFORMS not in chosen:
        raise RecordingError(
            f"the recording does not tell the motion: joint states ({states}) with a robot "
            f"description ({described}, or a file by --urdf) or transforms ({tree}) are needed; "
            "record them, or name their topics by joint_states.topic or tf.topic")
    if joints:
        notes.append(f"without a robot description ({described}, --urdf) the motion is taken from "
                     "the transforms")


def _joints(bag: BagReader, topic: str) -> set[str]:
    """Names of the joints in the first messages of a topic."""
    first = islice(bag.messages({topic: JOINT_STATES.type}), PEEKED)
    decoded = decode(JOINT_STATES, [message.data for message in first], Settings())
    return {name for some in decoded.samples if isinstance(some, JointStates)
            for name in some.names}


def absolute_name(name: str) -> str:
    """The name of a topic with one slash before it."""
    return "/" + name.lstrip("/")


def _described(bag: BagReader) -> str:
    """Names and types of topics on one line, or that there are none."""
    shown = ", ".join(f"{name} ({kind})" for name, kind in list(bag.topics)[:SHOWN])
    more = len(bag.topics) - SHOWN
    return (shown or "no topics at all") + (f" and {more} more" if more > 0 else "")
