# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Transforms between frames: those that stay, those that move (tf2), and where one frame lies in
another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation, Slerp

from ..errors import InvalidData, UnknownFrame
from ..limits import MAX_NAME
from ..samples.ring import Ring
from .motion import BIN_NS, Array, IntArray, Motion
from .robot import Chain, Joint, model_of

DEEPEST = 100  # edges of a chain
KEPT_NS = 5_000_000_000
IMPOSSIBLE = 1e9  # m: no frame is that far away, uninitialised memory is
EVERY, FEWEST = 10, 15  # bins; places of which the median is taken
SPREAD = 0.01  # m; frames that move more against each other are not fixed
SHIFT, TURN = 0.002, np.deg2rad(1.0)  # m, rad: less is no other place


def quaternions_of(turns: Rotation) -> Array:
    """Quaternions x, y, z, w (n, 4) of rotations, without jumps of their sign."""
    quaternion = turns.as_quat()
    turned = np.einsum("ni,ni->n", quaternion[1:], quaternion[:-1]) < 0.0
    return np.asarray(quaternion * np.cumprod(
        np.where(np.r_[False, turned], -1.0, 1.0))[:, None])


def place_of(translation: Sequence[float] | Array, quaternion: Sequence[float] | Array) -> pin.SE3:
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


class Edge(NamedTuple):
    """Parent of a frame, the frame's place in it, and the stamp of that [ns]; None: it stays."""

    parent: str
    place: pin.SE3
    stamp: int | None = None


class Tree(dict[str, Edge]):
    """Edges of all frames but roots, by their names, at one time. Joints of a robot description
    stand between links, under names of their own."""

    def path(self, frame: str) -> list[str]:
        """Frames from one to its root."""
        out = [frame]
        while out[-1] in self and len(out) < DEEPEST:
            out.append(self[out[-1]].parent)
        return out

    def knows(self, frame: str) -> bool:
        """True where a frame is one of the tree."""
        return frame in self or any(frame == edge.parent for edge in self.values())

    def place(self, target: str, source: str) -> tuple[pin.SE3, int | None]:
        """Place of the source in the target, and the oldest stamp [ns] of what moves it there;
        None where they are fixed to each other.

        Raises:
            UnknownFrame: a frame is not known, or the two are not connected.
        """
        up, down = self.path(source), self.path(target)
        if up[-1] != down[-1]:
            for path in (up, down):
                if len(path) == 1:
                    raise UnknownFrame(f"frame '{path[0]}' is neither in the robot description nor "
                                       "in the transforms, or a joint that leads to it is not "
                                       "known")
            raise UnknownFrame(f"frames '{target}' and '{source}' are not connected")
        while up and down and up[-1] == down[-1]:
            del up[-1], down[-1]
        stamps = [stamp for name in (*up, *down) if (stamp := self[name].stamp) is not None]
        return self._along(down).inverse() * self._along(up), min(stamps, default=None)

    def _along(self, names: list[str]) -> pin.SE3:
        place = pin.SE3.Identity()
        for name in names:
            place = self[name].place * place
        return place


def edges_of_robot(urdf: str, positions: Mapping[str, tuple[int, float]]) -> dict[str, Edge]:
    """Links and joints of a robot description, those below joints of unknown position left out.

    Args:
        positions: stamp [ns] and position [rad or m] of joints by name.
    """
    model, joints = model_of(urdf)
    links = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
    root, out = links[0].name, dict[str, Edge]()
    for link in links[1:]:
        out[link.name] = (Edge(f"\0{link.parentJoint}", link.placement) if link.parentJoint else
                          Edge(root, links[0].placement.inverse() * link.placement))
    for k, joint in joints.items():
        above = int(model.parents[k])
        if joint.name in positions:
            stamp, position = positions[joint.name]
            out[f"\0{k}"] = Edge(f"\0{above}" if above else root, _moved(joint, position), stamp)
    return out


def _moved(joint: Joint, position: float) -> pin.SE3:
    """Place of a joint's axes in those before it."""
    by = (joint.scale * position + joint.shift) * joint.axis
    move = pin.SE3(pin.exp3(by), np.zeros(3)) if joint.turns else pin.SE3(np.eye(3), by)
    return joint.place * move


class Frames:
    """The transforms that came; an edge is named by its child.

    Attributes:
        fixed: edges that stay; moving: parent of a frame, and its poses in it.
        invalid: number of poses that were none.
    """

    def __init__(self, fixed: Mapping[str, Edge] | None = None) -> None:
        self.fixed = Tree(fixed or {})
        self.moving: dict[str, tuple[str, Ring]] = {}
        self.invalid = 0

    def fix(self, parent: str, child: str, place: pin.SE3) -> bool:
        """A frame stays in its parent; says whether that is new (raises InvalidData)."""
        _check_names(parent, child)
        known = self.fixed.get(child)
        if known is not None and known.parent == parent and known.place.isApprox(place, 1e-12):
            return False
        self.fixed[child] = Edge(parent, place)
        return True

    def move(self, parent: str, child: str, stamps: IntArray, poses: Array) -> None:
        """Poses (m, 7) of a frame in its parent: translation, quaternion x, y, z, w."""
        _check_names(parent, child)
        good = _are_poses(poses) & (stamps > 0)
        self.invalid += int((~good).sum())
        if child not in self.moving or self.moving[child][0] != parent:
            self.moving[child] = parent, Ring(7, 1 << 16)
        self.moving[child][1].push(stamps[good], poses[good])

    def newest(self) -> dict[str, Edge]:
        """All edges now; those that are fixed count where both are there."""
        edges = {name: Edge(parent, place_of(ring.rows[-1, :3], ring.rows[-1, 3:]),
                            int(ring.stamps[-1]))
                 for name, (parent, ring) in self.moving.items() if len(ring)}
        return edges | self.fixed

    def path(self, frame: str) -> list[str]:
        """Frames from one to its root."""
        out = [frame]
        while len(out) < DEEPEST:
            parent = self.fixed.get(out[-1]) or self.moving.get(out[-1])
            if parent is None:
                return out
            out.append(parent[0])
        return out

    def edges_below(self, root: str, frame: str) -> list[str]:
        """Children of the edges that lead from a frame up to a root; none where it is not above."""
        names = self.path(frame)
        return names[:names.index(root)] if root in names else []

    def moving_below(self, root: str, frame: str) -> dict[str, Ring]:
        """Poses of the moving ones of `edges_below`."""
        return {name: self.moving[name][1] for name in self.edges_below(root, frame)
                if name not in self.fixed}

    def poses_at(self, frame: str, root: str, stamps: IntArray) -> tuple[Array, Rotation]:
        """Translations (m, 3) and rotations of a frame in a root above it, at stamps (m,) [ns]
        between those of the samples."""
        place, turn = np.zeros((len(stamps), 3)), Rotation.identity(len(stamps))
        for name in self.edges_below(root, frame) if len(stamps) else ():
            if name in self.fixed:
                fixed = self.fixed[name].place
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


class WrenchPlace:
    """Where the frame in which a wrench is expressed lies in the frame of the sensor.

    Drivers of Universal Robots express the wrench at and in the active TCP, whose transform they
    publish. Its place follows from fixed transforms, or from where both are as they move.

    Attributes:
        place: None: not known.
    """

    def __init__(self) -> None:
        self.place: pin.SE3 | None = None
        self._seen: list[pin.SE3] = []

    def compare(self, said: str, frames: Frames, tree: Tree, base: str, chain: Chain,
                motion: Motion) -> bool:
        """Compare the poses of both frames as the arm moves; True where the place is another.

        Args:
            tree: of what is fixed; base: link that the chain begins with.
        """
        root = next((name for name in frames.path(said) if name == base or tree.knows(name)), "")
        rings = list(frames.moving_below(root, said).values())
        try:
            stands = chain.root * tree.place(base, root)[0]
        except UnknownFrame:
            return False
        if not rings or not all(map(len, rings)):
            return False
        low, high = max(r.stamps[0] for r in rings), min(r.stamps[-1] for r in rings)
        centre = motion.number * BIN_NS + BIN_NS // 2
        which = (motion.number % EVERY == 0) & (centre >= low) & (centre < high)
        some = motion.part(which)
        place, turn = frames.poses_at(said, root, centre[which])
        for k, (move, spin) in enumerate(zip(place, turn.as_matrix(), strict=True)):
            sensor = pin.SE3(some.rotation[k], some.position[k])
            self._seen.append(sensor.inverse() * stands * pin.SE3(spin, move))
        if len(self._seen) < FEWEST:
            return False
        seen, self._seen = self._seen, []
        at = np.array([place.translation for place in seen])
        distance = np.linalg.norm(at - np.median(at, axis=0), axis=1)
        new = seen[int(np.argmin(distance))]
        move = pin.SE3.Identity() if self.place is None else self.place.inverse() * new
        if np.median(distance) > SPREAD or (self.place is not None and np.linalg.norm(
                move.translation) < SHIFT and np.linalg.norm(pin.log3(move.rotation)) < TURN):
            return False
        self.place = new
        return True
