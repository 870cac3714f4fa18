# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Decodes many serialised messages of one layout at once, into one array for each stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..inertia import Array
from ..limits import MAX_JOINTS, MAX_TRANSFORMS
from . import cdr
from .sample_blocks import Edges, JointStates, Wrenches


def wrenches(messages: Sequence[bytes]) -> list[Wrenches]:
    """Decode geometry_msgs/WrenchStamped, at least one (raises ValueError)."""
    stamps, frame, force, torque = cdr.wrench.columns(messages)
    return [Wrenches(stamps, frame, _rows(force + torque, messages))]


def joint_states(messages: Sequence[bytes]) -> list[JointStates]:
    """Decode sensor_msgs/JointState, at least one (raises ValueError)."""
    stamps, names, positions, _ = cdr.joint_state.columns(messages)
    if len(names) > MAX_JOINTS:
        raise ValueError(f"{len(names)} joints")
    return [JointStates(stamps, names, _rows(positions, messages))]


def transforms(messages: Sequence[bytes]) -> list[Edges]:
    """Decode tf2_msgs/TFMessage, at least one, by edge of the tree (raises ValueError)."""
    edges = cdr.transforms.columns(messages)
    if len(edges) > MAX_TRANSFORMS:
        raise ValueError(f"{len(edges)} transforms")
    return [Edges(stamps, parent, child, _rows(position + quaternion, messages))
            for stamps, parent, child, position, quaternion in edges]


def _rows(columns: Sequence[np.ndarray], messages: Sequence[bytes]) -> Array:
    """Columns, each (n,) or one number, side by side (n, columns)."""
    rows = np.empty((len(messages), len(columns)))
    for k, column in enumerate(columns):
        rows[:, k] = column
    return rows
