# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A payload that is configured on the robot, as its driver states it in the recording, and that
nobody has asked to add."""

from __future__ import annotations

from itertools import islice

from ...errors import RecordingError
from ...findings import Finding
from ...io.dynamic_joint_state import DynamicJointStates
from ...settings import Settings
from ...signals.input_topics import InputTopic
from ...signals.precompensation import (
    NOT_ADDED,
    STATED_BY,
    describe_not_added,
    may_be_not_added,
    stated_mass,
)
from .reader import Recording, Topic

_FIRST = 20  # messages that are looked at: the first may still hold NaN


def find_stated_payload(recording: Recording, settings: Settings) -> tuple[Finding, ...]:
    """The warning on a payload that a driver states in the recording; empty where none does, or
    where the settings tell what the driver removes."""
    if not may_be_not_added(settings):
        return ()
    for kind, source in STATED_BY.items():
        for topic in recording.topics:
            if topic.type == kind.type and topic.count:
                mass = _first_mass(recording, topic, kind, settings)
                if mass > 0.0:
                    return (Finding(NOT_ADDED, "warning",
                                    describe_not_added(topic.name, source, mass)),)
    return ()


def _first_mass(recording: Recording, topic: Topic, kind: InputTopic, settings: Settings) -> float:
    """Mass [kg] that the first messages state; 0 where they state none, or cannot be decoded."""
    states = DynamicJointStates(settings.dynamic_joint_states)
    try:
        masses = (stated_mass(kind, message.content, states)
                  for message in islice(recording.messages({topic.name: topic.type}), _FIRST))
        return next((mass for mass in masses if mass > 0.0), 0.0)
    except RecordingError:  # the type is not defined in the file
        return 0.0
