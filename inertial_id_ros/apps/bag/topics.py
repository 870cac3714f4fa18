# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Selects the topics of a recording that the identification reads."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ...errors import RecordingError
from ...findings import Finding
from ...settings import Settings
from ...signals.message_adapter import (
    BASE_IMU,
    DYNAMIC_JOINT_STATES,
    FRANKA_STATE,
    JOINT_STATES,
    PAYLOAD_STATES,
    PROGRAM,
    REMOVED_PAYLOAD,
    ROBOT_DESCRIPTION,
    TRANSFORMS,
    WRENCH,
    InputTopic,
    input_topics,
)
from .reader import RecordedTopic

_SHOWN = 20  # topics in a message


@dataclass(frozen=True)
class Selection:
    """The topics to read by name, notes about choices made, and findings on topics that lack."""

    topics: dict[str, InputTopic]
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def name_of(self, topic: InputTopic) -> str:
        """Name of a topic in the recording; empty where it is not read."""
        return next((name for name, chosen in self.topics.items() if chosen is topic), "")

    def with_findings(self, findings: tuple[Finding, ...]) -> Selection:
        """The same topics with more findings."""
        return replace(self, findings=(*self.findings, *findings))

    @property
    def types(self) -> dict[str, str]:
        """Type of message by the topic's name."""
        return {name: topic.type for name, topic in self.topics.items()}

    @property
    def latched_types(self) -> dict[str, str]:
        """As `types`, of the topics whose messages a subscriber gets at once."""
        return {name: topic.type for name, topic in self.topics.items() if topic.latched}


def select_topics(topics: Sequence[RecordedTopic], settings: Settings,
                  asked: frozenset[str] = frozenset()) -> Selection:
    """The topics to use: those of the settings, or the only one of its type.

    Args:
        topics: what the recording holds.
        asked: names of settings that the user chose for this very recording; these are not replaced
            by another topic.

    Raises:
        RecordingError: no wrench, several and none chosen, a chosen topic of another type, or one
            that is chosen for two things.
    """
    notes: list[str] = []
    findings: list[Finding] = []
    chosen: dict[str, InputTopic] = {}
    for wanted in input_topics(settings):
        if _is_program_missing(topics, wanted, settings, asked):
            findings.append(_missing_program(wanted.name(settings)))
            continue
        name = _choose_topic(topics, wanted, settings, asked, notes)
        if name in chosen:
            raise RecordingError(f"topic {name} is chosen for two things, which have different "
                                 "types of messages; name another topic for one of them")
        if name:
            chosen[name] = wanted
    if settings.load.source == "joint_torque" and JOINT_STATES not in chosen.values():
        raise RecordingError("load.robot needs joint torques and no joint state topic is chosen "
                             f"({JOINT_STATES.type}); the recording holds "
                             f"{describe_topics(topics)}")
    lacks = _missing_description(chosen.values(), settings)
    if lacks and TRANSFORMS in chosen.values():
        notes.append(f"{lacks}: the motion is taken from the transforms, unless --urdf names one")
    return Selection(chosen, tuple(notes), tuple(findings))


def require_motion(selection: Selection, settings: Settings) -> None:
    """Raise RecordingError where nothing tells the motion: no joint states with a robot description
    that gives them a meaning, nor transforms."""
    topics = selection.topics.values()
    if TRANSFORMS in topics:
        return
    lacks = _missing_description(topics, settings)
    if lacks:
        raise RecordingError(f"{lacks}, and no transforms; name a URDF file with --urdf")
    if JOINT_STATES not in topics and DYNAMIC_JOINT_STATES not in topics:
        raise RecordingError(
            f"the recording does not tell the motion: joint states "
            f"({absolute_name(settings.joint_states.topic)}) or transforms "
            f"({absolute_name(settings.tf.topic)}) are needed, and neither is in it; record them, "
            "or name the topics that tell it in joint_states.topic or tf.topic")


def _missing_description(chosen: Collection[InputTopic], settings: Settings) -> str:
    """Say that joint states are of no use without a robot description; empty where there is one,
    or no joint states."""
    joints = JOINT_STATES in chosen or DYNAMIC_JOINT_STATES in chosen
    if not joints or settings.robot_description.file or ROBOT_DESCRIPTION in chosen:
        return ""
    return ("the recording holds joint states but no robot description "
            f"({absolute_name(settings.robot_description.topic)})")


def _is_program_missing(topics: Sequence[RecordedTopic], wanted: InputTopic, settings: Settings,
                        asked: frozenset[str]) -> bool:
    """Whether this is the program topic, the recording lacks it, and the user did not ask for it
    for this very recording: the configuration of a driver names it for all of them."""
    return (wanted is PROGRAM and wanted.setting not in asked
            and not _find_by_name(topics, wanted, wanted.name(settings)))


def _missing_program(name: str) -> Finding:
    """The finding on a recording without the program topic."""
    return Finding("program_topic_missing", "warning",
                   f"program topic {absolute_name(name)} is not in the recording: where the "
                   "robot's program started while it was recorded and zeroed the sensor, that is "
                   "found from the wrench alone (precompensated.program_topic; empty: none)")


def _choose_topic(topics: Sequence[RecordedTopic], wanted: InputTopic, settings: Settings,
                  asked: frozenset[str], notes: list[str]) -> str:
    """Name of the topic to use; empty where there is none.

    Another one than the settings say may be used: of wrench and joint states the only one of that
    type, unless its setting is in `asked`, of others one in another namespace; `notes` says so.

    Raises:
        RecordingError: one that must be there is missing, or of another type.
    """
    name = wanted.name(settings)
    if wanted in (DYNAMIC_JOINT_STATES, REMOVED_PAYLOAD, FRANKA_STATE, PAYLOAD_STATES, PROGRAM,
                  BASE_IMU):
        return _require_topic(topics, wanted, name)
    if wanted is WRENCH:
        return _choose_wrench(topics, name, wanted.setting in asked, notes)
    if wanted is JOINT_STATES:
        unused = settings.kinematics.source == "tf" and settings.load.source != "joint_torque"
        return "" if unused else _choose_joint_states(topics, name, wanted.setting in asked, notes)
    return _find_in_any_namespace(topics, wanted, name, notes)


def _require_topic(topics: Sequence[RecordedTopic], wanted: InputTopic, name: str) -> str:
    """The name of a topic that must be in the recording; empty where none is wanted.

    Raises:
        RecordingError: it is not there.
    """
    found = _find_by_name(topics, wanted, name) if name else ""
    if name and not found:
        raise _missing_topic(topics, wanted, name)
    return found


def _choose_wrench(topics: Sequence[RecordedTopic], wanted: str, asked: bool,
                   notes: list[str]) -> str:
    """Name of the wrench topic: the wanted one or, unless the user asked for it, the only one.

    Raises:
        RecordingError: there is none, or there are several.
    """
    name = _find_by_name(topics, WRENCH, wanted)
    candidates = names_of_type(topics, WRENCH.type)
    if not name and asked:
        raise _missing_topic(topics, WRENCH, wanted)
    if not name:
        if not candidates:
            raise RecordingError(f"the recording holds no wrench ({WRENCH.type}); it holds "
                                 f"{describe_topics(topics)}")
        if len(candidates) > 1:
            raise RecordingError(f"the recording holds {len(candidates)} wrench topics: "
                                 f"{', '.join(candidates)}; choose one with --wrench-topic")
        name = candidates[0]
        notes.append(f"using {name}, the only wrench topic (wrench.topic is '{wanted}')")
    if not any(t.count for t in topics if t.name == name):
        raise RecordingError(f"wrench topic {name} holds no messages")
    return name


def _choose_joint_states(topics: Sequence[RecordedTopic], wanted: str, asked: bool,
                         notes: list[str]) -> str:
    """Name of the joint state topic: the wanted one or, unless the user asked for it, the only one;
    empty where there is none, or several.

    Raises:
        RecordingError: the one that the user asked for is not there.
    """
    name = _find_by_name(topics, JOINT_STATES, wanted)
    candidates = names_of_type(topics, JOINT_STATES.type)
    if name or not (candidates or asked):
        return name
    if asked:
        raise _missing_topic(topics, JOINT_STATES, wanted)
    if len(candidates) > 1:
        notes.append(f"none of the joint state topics is used: {', '.join(candidates)}; choose one "
                     "with --joint-states-topic")
        return ""
    notes.append(f"using {candidates[0]}, the only joint state topic")
    return candidates[0]


def _find_in_any_namespace(topics: Sequence[RecordedTopic], wanted: InputTopic, name: str,
                           notes: list[str]) -> str:
    """The name of a topic, or of the only one of its type that differs by its namespace alone;
    empty where there is none."""
    found = _find_by_name(topics, wanted, name)
    if found:
        return found
    ending = "/" + name.rsplit("/", 1)[-1]
    candidates = [n for n in names_of_type(topics, wanted.type) if n.endswith(ending)]
    if len(candidates) == 1:
        notes.append(f"using {candidates[0]} for {absolute_name(name)}")
        return candidates[0]
    if candidates:
        notes.append(f"none of {', '.join(candidates)} is used; name one in the settings")
    return ""


def _find_by_name(topics: Sequence[RecordedTopic], wanted: InputTopic, name: str) -> str:
    """The absolute name of a topic in the recording; empty if it is not there.

    Raises:
        RecordingError: it is there with another type.
    """
    same = [t for t in topics if t.name == absolute_name(name)]
    if any(t.type == wanted.type for t in same):
        return same[0].name
    if same:
        others = names_of_type(topics, wanted.type)
        known = f"topics of that type: {', '.join(others)}" if others else "no topic has that type"
        raise RecordingError(f"{wanted.content} topic {same[0].name} is of type {same[0].type}; it "
                             f"must be {wanted.type} ({known})")
    return ""


def _missing_topic(topics: Sequence[RecordedTopic], wanted: InputTopic,
                   name: str) -> RecordingError:
    """The error of a topic that the recording lacks, with the name that may be meant."""
    return RecordingError(f"{wanted.content} topic {absolute_name(name)} is not in the recording; "
                          f"{_suggest_topic(topics, name, names_of_type(topics, wanted.type))}")


def names_of_type(topics: Sequence[RecordedTopic], kind: str) -> list[str]:
    """Names of the topics of a type."""
    return [t.name for t in topics if t.type == kind]


def absolute_name(name: str) -> str:
    """The name of a topic with one slash before it."""
    return "/" + name.lstrip("/")


def _suggest_topic(topics: Sequence[RecordedTopic], wanted: str, candidates: Sequence[str]) -> str:
    """What a person may have meant by a topic that is not there, or what there is."""
    if candidates:
        near = difflib.get_close_matches(absolute_name(wanted), candidates, n=1, cutoff=0.0)
        return f"did you mean {near[0]}?" if near else f"there are {', '.join(candidates)}"
    return f"it holds {describe_topics(topics)}"


def describe_topics(topics: Sequence[RecordedTopic]) -> str:
    """Names and types of topics on one line, or that there are none."""
    if not topics:
        return "no topics at all"
    shown = ", ".join(f"{t.name} ({t.type})" for t in topics[:_SHOWN])
    return shown + (f" and {len(topics) - _SHOWN} more" if len(topics) > _SHOWN else "")
