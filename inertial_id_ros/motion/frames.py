# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Transforms between frames: those that stay, and those that move (tf2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation, Slerp

from ..errors import InvalidData
from ..limits import MAX_NAME
from ..samples.ring import Ring
from .motion import Array, IntArray

DEEPEST = 100  # edges of a chain
SETTLED = 20  # samples of an edge that tell its rate
KEPT_NS = 5_000_000_000
IMPOSSIBLE = 1e9  # m: no frame is that far away, uninitialised memory is


def quaternions_of(turns: Rotation) -> Array:
    """Quaternions x, y, z, w (n, 4) of rotations, without jumps of their sign."""
    quaternion = turns.as_quat()
    turned = np.einsum("ni,ni->n", quaternion[1:], quaternion[:-1]) < 0.0
    return np.asarray(quaternion * np.cumprod(
        np.where(np.r_[False, turned], -1.0, 1.0))[:, None])


def place_of(translation: Sequence[float], quaternion: Sequence[float]) -> pin.SE3:
    """A pose from translation (3,) and quaternion x, y, z, w (raises InvalidData)."""
    row = np.r_[translation, quaternion].astype(float)
    if not _are_poses(row[None])[0]:
        raise InvalidData(f"not a pose: translation {list(translation)}, quaternion "
                          f"{list(quaternion)}")
    return pin.SE3(Rotation.from_quat(row[3:]).as_matrix(), row[:3])


def _are_poses(rows: Array) -> np.ndarray:
    """True where rows (m, 7) are finite, and their quaternions tell a direction."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.linalg.norm(rows[:, 3:], axis=1)
        return np.asarray((np.abs(rows) < IMPOSSIBLE).all(1) & (size > 1e-6) & (size < 1e6))


class Frames:
    """The tree of frames; an edge is named by its child.

    Attributes:
        fixed, moving: parent of a frame, and its place or its poses in it; invalid: poses that were
            none.
    """

    def __init__(self) -> None:
        self.fixed: dict[str, tuple[str, pin.SE3]] = {}
        self.moving: dict[str, tuple[str, Ring]] = {}
        self.invalid = 0

    def fix(self, parent: str, child: str, place: pin.SE3) -> bool:
        """A frame stays in its parent; says whether that is new."""
        _check_names(parent, child)
        known = self.fixed.get(child)
        if known is not None and known[0] == parent and known[1].isApprox(place, 1e-12):
            return False
        self.fixed[child] = parent, place
        return True

    def move(self, parent: str, child: str, stamps: IntArray, poses: Array) -> None:
        """Poses (m, 7) of a frame in its parent: translation, quaternion x, y, z, w."""
        _check_names(parent, child)
        good = _are_poses(poses) & (stamps > 0)
        self.invalid += int((~good).sum())
        known = self.moving.get(child)
        if known is None or known[0] != parent:
            known = self.moving[child] = parent, Ring(7, 1 << 16)
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

    def fixed_root(self, frame: str) -> str:
        """The last frame above one that only fixed transforms lead to."""
        while frame in self.fixed:
            frame = self.fixed[frame][0]
        return frame

    def moving_between(self, frame: str, root: str) -> tuple[str, ...]:
        """Children of the moving edges that lead from a frame up to a root; empty: there are none,
        or it is not above."""
        names = self.path(frame)
        up = names[:names.index(root)] if root in names else []
        return tuple(n for n in up if n not in self.fixed)

    def poses(self, frame: str, root: str, master: str, since: int, closed: int
              ) -> tuple[IntArray, Array]:
        """Poses of a frame in a root above it, at the stamps of one of the moving edges between.

        Args:
            master: child of that edge; since, closed: stamps [ns] after and before which.

        Returns:
            stamps (m,) and poses (m, 7), quaternions without jumps of their sign.
        """
        rings = [self.moving[name][1] for name in self.moving_between(frame, root)]
        first = max(int(ring.stamps[0]) for ring in rings)
        ring = self.moving[master][1]
        stamps = ring.stamps[ring.between(max(since + 1, first), closed)].copy()
        place, turn = self.poses_at(frame, root, stamps)
        if not len(stamps):
            return stamps, np.empty((0, 7))
        for ring in rings:
            ring.drop(int(stamps[-1]) - KEPT_NS)
        return stamps, np.hstack([place, quaternions_of(turn)])

    def poses_at(self, frame: str, root: str, stamps: IntArray) -> tuple[Array, Rotation]:
        """Translations (m, 3) and rotations of a frame in a root above it, at stamps (m,) [ns]
        between those of the samples."""
        place, turn = np.zeros((len(stamps), 3)), Rotation.identity(len(stamps))
        names = self.path(frame)
        for name in names[:names.index(root)] if len(stamps) else ():
            if name in self.fixed:
                fixed = self.fixed[name][1]
                step, spin = fixed.translation[None], Rotation.from_matrix(fixed.rotation)
            else:
                step, spin = _at(self.moving[name][1], stamps)
            place, turn = spin.apply(place) + step, spin * turn
        return place, turn


def _check_names(parent: str, child: str) -> None:
    if parent == child or not child or max(len(parent), len(child)) > MAX_NAME:
        raise InvalidData(f"transform '{parent[:50]}' -> '{child[:50]}': both need a name, two of "
                          f"them, of at most {MAX_NAME} characters")


def _at(ring: Ring, stamps: IntArray) -> tuple[Array, Rotation]:
    """Translation (m, 3) and rotation of an edge at stamps within its samples."""
    low = max(int(np.searchsorted(ring.stamps, stamps[0], side="right")) - 1, 0)
    high = int(np.searchsorted(ring.stamps, stamps[-1])) + 1
    known, rows = ring.stamps[low:high], ring.rows[low:high]
    if len(known) == len(stamps) and (known == stamps).all():
        return rows[:, :3], Rotation.from_quat(rows[:, 3:])
    t, at = 1e-9 * (known - known[0]), 1e-9 * (stamps - known[0])
    place = np.stack([np.interp(at, t, column) for column in rows[:, :3].T], 1)
    if len(t) < 2:
        return place, Rotation.from_quat(np.tile(rows[0, 3:], (len(at), 1)))
    return place, Slerp(t, Rotation.from_quat(rows[:, 3:]))(np.clip(at, t[0], t[-1]))
