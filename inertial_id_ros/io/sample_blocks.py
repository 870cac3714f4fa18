"""Samples of several streams that came one after the other, stream by stream.

Where nothing is wrong with them, each is only appended to its own stream, so that their order
between the streams does not matter and all may be taken at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inertia import Array


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


class Edges(NamedTuple):
    """Poses of one child in one parent: stamps (n,) [ns], rows (n, 7) of translation [m] and
    quaternion x, y, z, w."""

    stamps: np.ndarray
    parent: str
    child: str
    rows: Array


class Block(NamedTuple):
    """Samples by stream; None or empty where there are none."""

    wrenches: Wrenches | None = None
    joint_states: JointStates | None = None
    transforms: tuple[Edges, ...] = ()
