# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Selects the topics of a bag that the identification reads."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from itertools import islice

from ...errors import RecordingError
from ...io import decoding
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
from .bag_reader import BagReader, RecordedTopic

SHOWN = 20  # topics in a message
PEEKED = 20  # messages that tell the joints of a topic


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
    for wanted in input_topics(settings):
        for name in _names_of(bag, wanted, settings, asked, notes):
            if name in chosen:
                raise RecordingError(f"topic {name} is chosen for two things, which have different "
                                     "types of messages; name another topic for one of them")
            chosen[name] = wanted
    if settings.load.source == "joint_torque" and JOINT_STATES not in chosen.values():
        raise RecordingError("load.robot needs joint torques and no joint state topic is chosen "
                             f"({JOINT_STATES.type}); the recording holds "
                             f"{describe_topics(bag.topics)}")
    _require_motion(chosen.values(), settings, notes)
    return chosen


def _require_motion(chosen: Collection[InputTopic], settings: Settings, notes: list[str]) -> None:
    """Raise RecordingError where nothing tells the motion: no joint states with a robot description
    that gives them a meaning, nor transforms."""
    joints = JOINT_STATES in chosen or DYNAMIC_JOINT_STATES in chosen
    described = bool(settings.robot_description.file) or ROBOT_DESCRIPTION in chosen
    if joints and described:
        return
    lacks = ("the recording holds joint states but no robot description "
             f"({absolute_name(settings.robot_description.topic)})") if joints else ""
    if TRANSFORMS in chosen:
        if lacks:
            notes.append(f"{lacks}: the motion is taken from the transforms, unless --urdf names "
                         "one")
        return
    if lacks:
        raise RecordingError(f"{lacks}, and no transforms; name a URDF file with --urdf")
    raise RecordingError(
        "the recording does not tell the motion: joint states "
        f"({absolute_name(settings.joint_states.topic)}) or transforms "
        f"({absolute_name(settings.tf.topic)}) are needed, and neither is in it; record them, "
        "or name the topics that tell it in joint_states.topic or tf.topic")


def _names_of(bag: BagReader, wanted: InputTopic, settings: Settings, asked: Collection[str],
              notes: list[str]) -> list[str]:
    """Names of the topics to use for one; joint states may come on several.

    Raises:
        RecordingError: one that must be there is missing, or of another type.
    """
    name = wanted.name(settings)
    if wanted is JOINT_STATES and settings.kinematics.source == "tf" and (
            settings.load.source != "joint_torque"):
        return []
    found = _find_by_name(bag.topics, wanted, name)
    if found:
        if wanted is WRENCH and not any(t.count for t in bag.topics if t.name == found):
            raise RecordingError(f"wrench topic {found} holds no messages")
        return [found]
    if wanted.setting in asked or wanted is DYNAMIC_JOINT_STATES or wanted in PAYLOADS.values():
        raise missing_topic(bag.topics, wanted, name)
    candidates = [t.name for t in bag.topics if t.type == wanted.type and t.count]
    if wanted is JOINT_STATES:
        return _joint_topics(bag, candidates, notes)
    if wanted is not WRENCH:
        ending = "/" + name.rsplit("/", 1)[-1]  # in another namespace
        candidates = [n for n in candidates if n.endswith(ending)]
        if len(candidates) > 1:
            notes.append(f"none of {', '.join(candidates)} is used; name one in the settings")
            return []
    elif len(candidates) != 1:
        raise RecordingError(
            f"the recording holds {len(candidates)} wrench topics: {', '.join(candidates)}; choose "
            "one with --set wrench.topic=NAME" if candidates else
            f"the recording holds no wrench ({WRENCH.type}); it holds {describe_topics(bag.topics)}"
        )
    notes.extend(f"using {n} for {absolute_name(name)} ({wanted.setting}): there is no other "
                 for n in candidates)
    return candidates


def _joint_topics(bag: BagReader, candidates: Sequence[str], notes: list[str]) -> list[str]:
    """The only topic of joint states, or all where each tells of other joints."""
    joints = {name: {joint for message in islice(bag.messages({name: JOINT_STATES.type}), PEEKED)
                     for joint in _joints_of(message.data)} for name in candidates}
    together = [joint for names in joints.values() for joint in names]
    if len(together) > len(set(together)):
        notes.append(f"none of the joint state topics is used, as they tell of the same joints: "
                     f"{', '.join(candidates)}; choose one with --set joint_states.topic=NAME")
        return []
    if candidates:
        notes.append(f"using {' and '.join(candidates)} for the joint states")
    return list(candidates)


def _joints_of(data: bytes) -> Sequence[str]:
    return next((block.samples.names for block in decoding.joint_states([data]).blocks
                 if isinstance(block.samples, JointStates)), ())


def _find_by_name(topics: Sequence[RecordedTopic], wanted: InputTopic, name: str) -> str:
    """The absolute name of a topic in the recording; empty if it is not there.

    Raises:
        RecordingError: it is there with another type.
    """
    same = [t for t in topics if name and t.name == absolute_name(name)]
    if any(t.type == wanted.type for t in same):
        return same[0].name
    if same:
        others = names_of_type(topics, wanted.type)
        known = f"topics of that type: {', '.join(others)}" if others else "no topic has that type"
        raise RecordingError(f"{wanted.content} topic {same[0].name} is of type {same[0].type}; it "
                             f"must be {wanted.type} ({known})")
    return ""


def missing_topic(topics: Sequence[RecordedTopic], wanted: InputTopic, name: str
                  ) -> RecordingError:
    """The error of a topic that the recording lacks, with the name that may be meant."""
    candidates = names_of_type(topics, wanted.type)
    near = difflib.get_close_matches(absolute_name(name), candidates, n=1, cutoff=0.0)
    meant = f"did you mean {near[0]}?" if near else f"it holds {describe_topics(topics)}"
    return RecordingError(f"{wanted.content} topic {absolute_name(name)} is not in the recording; "
                          f"{meant}")


def names_of_type(topics: Sequence[RecordedTopic], kind: str) -> list[str]:
    """Names of the topics of a type."""
    return [t.name for t in topics if t.type == kind]


def absolute_name(name: str) -> str:
    """The name of a topic with one slash before it."""
    return "/" + name.lstrip("/")


def describe_topics(topics: Sequence[RecordedTopic]) -> str:
    """Names and types of topics on one line, or that there are none."""
    if not topics:
        return "no topics at all"
    shown = ", ".join(f"{t.name} ({t.type})" for t in topics[:SHOWN])
    return shown + (f" and {len(topics) - SHOWN} more" if len(topics) > SHOWN else "")
