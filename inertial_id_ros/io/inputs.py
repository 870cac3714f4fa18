# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The topics that the identification reads, live and from recordings, and their samples as arrays.
The order of samples of different streams does not matter."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..inertia import Array
from ..settings import Settings


@dataclass(frozen=True, eq=False)
class InputTopic:
    """A topic that the identification reads."""

    setting: str  # dotted name of the setting that names it; without a dot: its name
    type: str  # of its messages
    content: str  # what they carry, in words
    latched: bool = False  # True if who subscribes later gets what was last published
    suffix: str = ""  # of its name, after what the setting names

    def name(self, settings: Settings) -> str:
        """The topic's name in the settings."""
        group, _, name = self.setting.partition(".")
        return (str(getattr(getattr(settings, group), name)) if name else f"/{group}") + self.suffix


START = 1_700_000_000 * 10**9  # ns: first stamp where there is none; never 0, "no stamp" in ROS
WRENCH = InputTopic("wrench.topic", "geometry_msgs/msg/WrenchStamped", "wrench")
JOINT_STATES = InputTopic("joint_states.topic", "sensor_msgs/msg/JointState", "joint state")
TRANSFORMS = InputTopic("tf", "tf2_msgs/msg/TFMessage", "transform")
STATIC_TRANSFORMS = InputTopic("tf_static", "tf2_msgs/msg/TFMessage", "transform", True)
ROBOT_DESCRIPTION = InputTopic("robot_description.topic", "std_msgs/msg/String",
                               "robot description", True)
# On which the driver states the payload that it compensates, by precompensated.source.
_topic = partial(InputTopic, "precompensated.topic", content="compensated payload")
PAYLOADS = {"inertia": (_topic("geometry_msgs/msg/InertiaStamped"),),
            "franka": (_topic("franka_msgs/msg/FrankaRobotState"),),
            "dynamic_joint_states": (_topic("control_msgs/msg/DynamicJointState"),),
            "state_interfaces": (_topic("control_msgs/msg/Keys", latched=True, suffix="/names"),
                                 _topic("control_msgs/msg/Float64Values", suffix="/values"))}


def input_topics(settings: Settings) -> list[InputTopic]:
    """The topics that the identification reads with these settings."""
    topics = [] if settings.load.robot else [WRENCH]
    topics += [JOINT_STATES, TRANSFORMS, STATIC_TRANSFORMS]
    if settings.precompensated.topic:
        topics += PAYLOADS.get(settings.precompensated.source, ())
    if not settings.robot_description.file:
        topics.append(ROBOT_DESCRIPTION)
    return topics


class Wrenches(NamedTuple):
    """Wrenches of one frame: stamps (n,) [ns], rows (n, 6) of force [N] and torque [N m]."""

    stamps: np.ndarray
    frame_id: str
    rows: Array


class JointStates(NamedTuple):
    """Joint states of the same joints: stamps (n,) [ns], positions (n, k) [rad or m], and efforts
    (n, k) [N m or N], which are needed for an identification from joint torques only."""

    stamps: np.ndarray
    names: tuple[str, ...]
    positions: Array
    efforts: Array | None = None
    velocities: Array | None = None  # of what is written; nobody reads them


class Edges(NamedTuple):
    """Poses of a child in a parent: stamps (n,) [ns], rows (n, 7): x, y, z [m], quaternion xyzw."""

    stamps: np.ndarray
    parent: str
    child: str
    rows: Array


Samples = Wrenches | JointStates | Edges


class StatedPayload(NamedTuple):
    """The payload that the driver says it compensates."""

    frame: str  # empty: that of the sensor
    values: Array  # (10,) mass [kg], centre of mass [m], inertia about it xx, xy, xz, yy, yz, zz


def split_by_time(batches: Sequence[Samples], count: int) -> Iterator[list[Samples]]:
    """Parts of about `count` samples that follow each other in time, each of different streams, of
    batches that are in the order of time."""
    joined: dict[tuple[Any, ...], list[Any]] = {}
    for batch in batches:
        labels = tuple(value for value in batch if not isinstance(value, np.ndarray))
        joined.setdefault((type(batch), labels), []).append(batch)
    streams = [some[0]._make(
        np.concatenate(values) if isinstance(values[0], np.ndarray) else values[0]
        for values in zip(*some, strict=True)) for some in joined.values()]
    if sum(len(samples.stamps) for samples in streams) <= count:
        yield [some for some in streams if len(some.stamps)]
        return
    bounds = np.sort(np.concatenate([samples.stamps for samples in streams]))[count::count]
    # Stamps may go back, as of a clock that was set: no sample is lost all the same.
    cuts = [[0, *np.maximum.accumulate(np.searchsorted(samples.stamps, bounds)).tolist(),
             len(samples.stamps)] for samples in streams]
    for k in range(len(bounds) + 1):
        yield [some._make(value[cut[k]:cut[k + 1]] if isinstance(value, np.ndarray) else value
                          for value in some)
               for some, cut in zip(streams, cuts, strict=True) if cut[k] < cut[k + 1]]
