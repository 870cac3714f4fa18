# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Selects the topics of a bag that the identification reads."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from itertools import islice

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
from .bag_reader import BagReader

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
        if wanted is JOINT_STATES and settings.kinematics.source == "tf" and not by_torque:
            continue
        name = wanted.name(settings)
        if name and _is_there(bag, wanted, name):
            names = [absolute_name(name)]
        elif wanted.setting in asked or wanted in REQUIRED:
            same = [t.name for t in bag.topics if t.type == wanted.type]
            near = difflib.get_close_matches(absolute_name(name), same, n=1, cutoff=0.0)
            raise RecordingError(
                f"{wanted.content} topic {absolute_name(name)} is not in the recording; "
                + (f"did you mean {near[0]}?" if near else f"it holds {_described(bag)}"))
        else:
            names = _others(bag, wanted, name, notes)
        for name in names:
            if name in chosen:
                raise RecordingError(f"topic {name} is chosen for two things, which have different "
                                     "types of messages; name another topic for one of them")
            chosen[name] = wanted
    if by_torque and JOINT_STATES not in chosen.values():
        raise RecordingError("load.robot needs joint torques and no joint state topic is chosen "
                             f"({JOINT_STATES.type}); the recording holds {_described(bag)}")
    _require_motion(chosen.values(), settings, notes)
    return chosen


def _require_motion(chosen: Collection[InputTopic], settings: Settings, notes: list[str]) -> None:
    """Raise RecordingError where nothing tells the motion: no joint states with a robot description
    that gives them a meaning, nor transforms."""
    joints = JOINT_STATES in chosen or DYNAMIC_JOINT_STATES in chosen
    if joints and (settings.robot_description.file or ROBOT_DESCRIPTION in chosen):
        return
    described = absolute_name(settings.robot_description.topic)
    if joints and TRANSFORMS in chosen:
        notes.append(f"without a robot description ({described}, --urdf) the motion is taken from "
                     "the transforms")
    elif joints:
        raise RecordingError(f"the recording holds joint states but no robot description "
                             f"({described}), and no transforms; name a URDF file with --urdf")
    elif TRANSFORMS not in chosen:
        raise RecordingError(
            "the recording does not tell the motion: joint states "
            f"({absolute_name(settings.joint_states.topic)}) or transforms "
            f"({absolute_name(settings.tf.topic)}) are needed, and neither is in it; record them, "
            "or name the topics that tell it in joint_states.topic or tf.topic")


def _is_there(bag: BagReader, wanted: InputTopic, name: str) -> bool:
    """Whether a topic of that name is in the recording.

    Raises:
        RecordingError: it has another type, or is the wrench and empty.
    """
    same = [t for t in bag.topics if t.name == absolute_name(name)]
    right = [t for t in same if t.type == wanted.type]
    if same and not right:
        raise RecordingError(f"{wanted.content} topic {same[0].name} is of type {same[0].type}; it "
                             f"must be {wanted.type}; the recording holds {_described(bag)}")
    if right and wanted is WRENCH and not right[0].count:
        raise RecordingError(f"wrench topic {right[0].name} holds no messages")
    return bool(right)


def _others(bag: BagReader, wanted: InputTopic, name: str, notes: list[str]) -> list[str]:
    """Topics that can be meant where there is none of that name: the only wrench, joint states that
    belong together, else the only one of that name in another namespace.

    Raises:
        RecordingError: there is no wrench, or several.
    """
    found = [t.name for t in bag.topics if t.type == wanted.type and t.count]
    if wanted is WRENCH and len(found) != 1:
        raise RecordingError(
            f"the recording holds {len(found)} wrench topics: {', '.join(found)}; choose one with "
            "--set wrench.topic=NAME" if found else
            f"the recording holds no wrench ({WRENCH.type}); it holds {_described(bag)}"
        )
    if wanted is JOINT_STATES:
        joints = [joint for topic in found for joint in _joints(bag, topic)]
        together = len(joints) == len(set(joints))
    else:
        if wanted is not WRENCH:
            found = [n for n in found if n.endswith("/" + name.rsplit("/", 1)[-1])]
        together = len(found) < 2
    if found:
        notes.append(f"using {' and '.join(found)} for {absolute_name(name)}" if together else
                     f"none of {', '.join(found)} is used: choose one with --set "
                     f"{wanted.setting}=NAME")
    return found if together else []


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
    shown = ", ".join(f"{t.name} ({t.type})" for t in bag.topics[:SHOWN]) or "no topics at all"
    more = len(bag.topics) - SHOWN
    return shown + (f" and {more} more" if more > 0 else "")
