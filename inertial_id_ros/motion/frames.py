# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Transforms between frames: those that stay, and those that move (tf2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation, Slerp

from ..samples.ring import Array, IntArray, Ring

DEEPEST = 100  # edges of a chain


def place_of(translation: Sequence[float], quaternion: Sequence[float]) -> pin.SE3:
    """A pose from translation (3,) and quaternion x, y, z, w."""
    turn = Rotation.from_quat(quaternion).as_matrix()
    return pin.SE3(turn, np.asarray(translation, float))


class Frames:
    """The tree of frames; an edge is named by its child."""

    def __init__(self) -> None:
        self.fixed: dict[str, tuple[str, pin.SE3]] = {}
        self.moving: dict[str, tuple[str, Ring]] = {}

    def fix(self, parent: str, child: str, place: pin.SE3) -> None:
        """A frame stays in its parent."""
        self.fixed[child] = parent, place

    def move(self, parent: str, child: str, stamps: IntArray, poses: Array) -> None:
        """Poses (m, 7) of a frame in its parent: translation, quaternion x, y, z, w."""
        size = np.linalg.norm(poses[:, 3:], axis=1)
        good = np.isfinite(poses).all(1) & (np.abs(size - 1.0) < 0.1)
        known = self.moving.get(child)
        if known is None or known[0] != parent:
            known = self.moving[child] = parent, Ring(7)
        known[1].push(stamps[good], poses[good])

    def path(self, frame: str) -> list[str]:
        """Frames from one to its root."""
        out = [frame]
        while len(out) < DEEPEST:
            parent = self.fixed.get(out[-1]) or self.moving.get(out[-1])
            if parent is None:
                return out
            out.append(parent[0])
        return out

    def fixed_place(self, frame: str, inside: Sequence[str]) -> tuple[str, pin.SE3] | None:
        """The first of some frames to which a frame is fixed, and its place there."""
        place = pin.SE3.Identity()
        for name in self.path(frame):
            if name in inside:
                return name, place
            if name not in self.fixed:
                return None
            place = self.fixed[name][1] * place
        return None

    def poses(self, frame: str, root: str) -> tuple[IntArray, Array] | None:
        """Stamps (m,) and poses (m, 7) of a frame in its root; None: no edge between them moves."""
        names = self.path(frame)
        if root not in names:
            return None
        edges = names[:names.index(root)]
        rings = [self.moving[name][1] for name in edges if name in self.moving]
        rings = [ring for ring in rings if len(ring)]
        if not rings:
            return None
        stamps = max(rings, key=len).stamps
        low, high = max(r.stamps[0] for r in rings), min(r.stamps[-1] for r in rings)
        stamps = stamps[(stamps >= low) & (stamps <= high)]
        place, turn = np.zeros((len(stamps), 3)), Rotation.identity(len(stamps))
        if not len(stamps):
            return None
        for name in edges:  # from the frame down to the root
            if name in self.fixed:
                fixed = self.fixed[name][1]
                step, spin = fixed.translation[None], Rotation.from_matrix(fixed.rotation)
            else:
                step, spin = _at(self.moving[name][1], stamps)
            place, turn = spin.apply(place) + step, spin * turn
        quaternion = turn.as_quat()
        flip = np.cumprod(np.r_[1.0, np.sign(np.einsum("ni,ni->n", quaternion[1:],
                                                       quaternion[:-1]) + 1e-300)])
        return stamps, np.hstack([place, quaternion * flip[:, None]])


def _at(ring: Ring, stamps: IntArray) -> tuple[Array, Rotation]:
    """Translation (m, 3) and rotation of an edge at stamps within its samples."""
    t, rows = 1e-9 * (ring.stamps - stamps[0]), ring.rows
    at = 1e-9 * (stamps - stamps[0])
    place = np.stack([np.interp(at, t, column) for column in rows[:, :3].T], 1)
    if len(t) < 2:
        return place, Rotation.from_quat(np.tile(rows[0, 3:], (len(at), 1)))
    return place, Slerp(t, Rotation.from_quat(rows[:, 3:]))(np.clip(at, t[0], t[-1]))
