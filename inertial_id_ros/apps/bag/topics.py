"""Which topics of a recording to identify from."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import RecordingError
from ...settings import Settings
from .reader import Topic

WRENCH = "geometry_msgs/msg/WrenchStamped"
JOINT_STATES = "sensor_msgs/msg/JointState"
TRANSFORMS = "tf2_msgs/msg/TFMessage"
TEXT = "std_msgs/msg/String"
DYNAMIC = "control_msgs/msg/DynamicJointState"
INERTIA = "geometry_msgs/msg/InertiaStamped"
BOOL = "std_msgs/msg/Bool"


@dataclass(frozen=True)
class Selection:
    """Topic names, empty where the recording has none, and notes about choices made.

    Raises:
        RecordingError: one topic is chosen for two things.
    """

    wrench: str
    joint_states: str
    tf: str
    tf_static: str
    robot_description: str
    dynamic: str = ""
    removed_payload: str = ""
    program: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        chosen = [name for name in (
            self.wrench, self.joint_states, self.tf, self.tf_static, self.robot_description,
            self.dynamic, self.removed_payload, self.program) if name]
        for name in chosen:
            if chosen.count(name) > 1:
                raise RecordingError(f"topic {name} is chosen for two things, which have different "
                                     "types of messages; name another topic for one of them")

    @property
    def latched(self) -> dict[str, str]:
        """Type by name of the topics whose messages a subscriber gets at once."""
        return _without_empty({self.tf_static: TRANSFORMS, self.robot_description: TEXT})

    @property
    def all(self) -> dict[str, str]:
        """Type by name of all chosen topics."""
        return _without_empty({self.wrench: WRENCH, self.joint_states: JOINT_STATES,
                               self.tf: TRANSFORMS, self.dynamic: DYNAMIC,
                               self.removed_payload: INERTIA, self.program: BOOL, **self.latched})


def _without_empty(types: dict[str, str]) -> dict[str, str]:
    return {name: kind for name, kind in types.items() if name}


def select_topics(topics: Sequence[Topic], settings: Settings,
                  asked: frozenset[str] = frozenset()) -> Selection:
    """The topics to use: those of the settings, or the only one of its type.

    Args:
        topics: what the recording holds.
        asked: names of settings that the user chose for this very recording; these are not replaced
            by another topic.

    Raises:
        RecordingError: no wrench, several and none chosen, or a chosen topic of another type.
    """
    notes: list[str] = []
    wrench = joint_states = ""
    dynamic = _chosen(topics, settings.dynamic_joint_states.topic, DYNAMIC,
                      "dynamic joint state")
    torques = settings.load.source == "joint_torque"
    if not dynamic and not torques:
        wrench = _required(topics, settings.wrench.topic, "wrench.topic" in asked, notes)
    if not dynamic and (torques or settings.kinematics.source != "tf"):
        joint_states = _optional(topics, settings.joint_states.topic, JOINT_STATES,
                                 "joint state", "--joint-states-topic",
                                 "joint_states.topic" in asked, notes)
    if torques and not joint_states:
        raise RecordingError("load.source is 'joint_torque' and no joint state topic is chosen "
                             f"({JOINT_STATES}); the recording holds {describe_topics(topics)}")
    description = ""
    if not settings.robot_description.file:
        description = _named(topics, settings.robot_description.topic, TEXT, "robot description",
                             notes)
    return Selection(
        wrench=wrench, joint_states=joint_states,
        tf=_named(topics, settings.tf.topic, TRANSFORMS, "transform", notes),
        tf_static=_named(topics, settings.tf.static_topic, TRANSFORMS, "transform", notes),
        robot_description=description, dynamic=dynamic,
        removed_payload=_driver_topic(topics, settings),
        program=_chosen(topics, settings.precompensated.program_topic, BOOL, "program"),
        notes=tuple(notes))


def _driver_topic(topics: Sequence[Topic], settings: Settings) -> str:
    driver = settings.precompensated
    if driver.source == "franka":
        raise RecordingError("precompensated.source 'franka' cannot be read from a recording; give "
                             "precompensated.mass, com and inertia")
    if driver.source != "inertia":
        return ""
    return _chosen(topics, driver.topic, INERTIA, "removed payload")


def _chosen(topics: Sequence[Topic], wanted: str, kind: str, what: str) -> str:
    """The wanted topic, if one is wanted (raises RecordingError where it is not there)."""
    if not wanted:
        return ""
    name = _exact(topics, wanted, kind, what)
    if not name:
        raise RecordingError(f"{what} topic {_absolute(wanted)} is not in the recording; "
                             f"{_suggestion(topics, wanted, _of_type(topics, kind))}")
    return name


def _required(topics: Sequence[Topic], wanted: str, asked: bool, notes: list[str]) -> str:
    name = _exact(topics, wanted, WRENCH, "wrench")
    candidates = _of_type(topics, WRENCH)
    if not name and asked:
        raise RecordingError(f"wrench topic {_absolute(wanted)} is not in the recording; "
                             f"{_suggestion(topics, wanted, candidates)}")
    if not name:
        if not candidates:
            raise RecordingError(f"the recording holds no wrench ({WRENCH}); it holds "
                                 f"{describe_topics(topics)}")
        if len(candidates) > 1:
            raise RecordingError(f"the recording holds {len(candidates)} wrench topics: "
                                 f"{', '.join(candidates)}; choose one with --wrench-topic")
        name = candidates[0]
        notes.append(f"using {name}, the only wrench topic (wrench.topic is '{wanted}')")
    if not any(t.count for t in topics if t.name == name):
        raise RecordingError(f"wrench topic {name} holds no messages")
    return name


def _optional(topics: Sequence[Topic], wanted: str, kind: str, what: str, option: str, asked: bool,
              notes: list[str]) -> str:
    name = _exact(topics, wanted, kind, what)
    candidates = _of_type(topics, kind)
    if name or not (candidates or asked):
        return name
    if asked:
        raise RecordingError(f"{what} topic {_absolute(wanted)} is not in the recording; "
                             f"{_suggestion(topics, wanted, candidates)}")
    if len(candidates) > 1:
        notes.append(f"none of the {what} topics is used: {', '.join(candidates)}; choose one with "
                     f"{option}")
        return ""
    notes.append(f"using {candidates[0]}, the only {what} topic")
    return candidates[0]


def _named(topics: Sequence[Topic], wanted: str, kind: str, what: str, notes: list[str]) -> str:
    """The wanted topic, or the only one of that type whose name ends alike (another namespace)."""
    name = _exact(topics, wanted, kind, what)
    if name:
        return name
    ending = "/" + wanted.rsplit("/", 1)[-1]
    candidates = [n for n in _of_type(topics, kind) if n.endswith(ending)]
    if len(candidates) == 1:
        notes.append(f"using {candidates[0]} for {_absolute(wanted)}")
        return candidates[0]
    if candidates:
        notes.append(f"none of {', '.join(candidates)} is used; name one in the settings")
    return ""


def _exact(topics: Sequence[Topic], wanted: str, kind: str, what: str) -> str:
    """The wanted name if it is there with that type; empty if it is not there."""
    same = [t for t in topics if t.name == _absolute(wanted)]
    if any(t.type == kind for t in same):
        return same[0].name
    if same:
        others = _of_type(topics, kind)
        known = f"topics of that type: {', '.join(others)}" if others else "no topic has that type"
        raise RecordingError(f"{what} topic {same[0].name} is of type {same[0].type}; it must be "
                             f"{kind} ({known})")
    return ""


def _of_type(topics: Sequence[Topic], kind: str) -> list[str]:
    return [t.name for t in topics if t.type == kind]


def _absolute(name: str) -> str:
    return "/" + name.lstrip("/")


def _suggestion(topics: Sequence[Topic], wanted: str, candidates: Sequence[str]) -> str:
    if candidates:
        near = difflib.get_close_matches(_absolute(wanted), candidates, n=1, cutoff=0.0)
        return f"did you mean {near[0]}?" if near else f"there are {', '.join(candidates)}"
    return f"it holds {describe_topics(topics)}"


def describe_topics(topics: Sequence[Topic], limit: int = 20) -> str:
    """Names and types on one line; says so where there are none."""
    if not topics:
        return "no topics at all"
    shown = ", ".join(f"{t.name} ({t.type})" for t in topics[:limit])
    return shown + (f" and {len(topics) - limit} more" if len(topics) > limit else "")
