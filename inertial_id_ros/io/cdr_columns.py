# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Decodes many serialised messages of one layout at once, into one array for each stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..inertia import Array
from . import cdr
from .sample_blocks import Edges, JointStates, Wrenches


def wrenches(messages: Sequence[bytes]) -> Wrenches | None:
    """Decode geometry_msgs/WrenchStamped; None if there are none (raises ValueError)."""
    if not messages:
        return None
    stamps, frame, force, torque = cdr.wrench.columns(messages)
    return Wrenches(stamps, frame, _rows(force + torque, messages))


def joint_states(messages: Sequence[bytes]) -> JointStates | None:
    """Decode sensor_msgs/JointState; None if there are none (raises ValueError)."""
    if not messages:
        return None
    stamps, names, positions, _ = cdr.joint_state.columns(messages)
    return JointStates(stamps, names, _rows(positions, messages))


def transforms(messages: Sequence[bytes]) -> tuple[Edges, ...]:
    """Decode tf2_msgs/TFMessage, at least one, by edge of the tree (raises ValueError)."""
    edges = cdr.transforms.columns(messages)
    return tuple(Edges(stamps, parent, child, _rows(position + quaternion, messages))
                 for stamps, parent, child, position, quaternion in edges)


def _rows(columns: Sequence[np.ndarray], messages: Sequence[bytes]) -> Array:
    """Columns, each (n,) or one number, side by side (n, columns)."""
    rows = np.empty((len(messages), len(columns)))
    for k, column in enumerate(columns):
        rows[:, k] = column
    return rows
