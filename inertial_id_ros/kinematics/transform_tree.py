# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A small transform tree over `/tf` and `/tf_static`: fixed edges, and time series of others.

Its memory is bounded, whoever publishes how many frames. No frame is refused: where there are too
many, one goes that nobody needs. So frames without end cost little, and the few that lead to the
sensor keep their places and their samples."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from ..errors import InvalidData, UnknownFrame
from ..inertia import Array, skew
from ..io.sample_blocks import Edges
from ..limits import MAX_FRAMES, MAX_MOVING_FRAMES, MAX_NAME
from ..signals.ring_buffer import Arrival, SampleRing

_MANY, _FEW = 16_384, 64  # stamped poses kept of an edge, and of one that nobody needs
_ORDINARY = 32  # moving frames of a robot; with so many or fewer, each may keep many poses
_ROTATING = MAX_FRAMES // 5  # places of fixed edges that the later ones share
V = TypeVar("V")


class EdgeTable(Generic[V]):
    """Parent and value of each edge, by the name of its child.

    Attributes:
        needed: children of edges that keep their places.
    """

    def __init__(self) -> None:
        self.needed: Set[str] = frozenset()
        self._edges: OrderedDict[str, tuple[str, V]] = OrderedDict()
        self._parents: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._edges)

    def __contains__(self, child: object) -> bool:
        return child in self._edges

    def __iter__(self) -> Iterator[str]:
        return iter(self._edges)

    def __getitem__(self, child: str) -> tuple[str, V]:
        return self._edges[child]

    def get(self, child: str) -> tuple[str, V] | None:
        """Parent and value of the edge of a child; None where there is none."""
        return self._edges.get(child)

    def knows(self, frame: str) -> bool:
        """Whether an edge begins or ends at a frame."""
        return frame in self._edges or frame in self._parents

    def names(self) -> set[str]:
        """Names of all children and parents."""
        return {*self._edges, *self._parents}

    def put(self, child: str, parent: str, value: V) -> None:
        """Set the edge of a child."""
        self.pop(child)
        self._edges[child] = parent, value
        self._parents[parent] += 1

    def pop(self, child: str) -> None:
        """Remove the edge of a child, if there is one."""
        edge = self._edges.pop(child, None)
        if edge is not None:
            self._parents[edge[0]] -= 1
            if not self._parents[edge[0]]:
                del self._parents[edge[0]]


class FixedEdges(EdgeTable[V]):
    """Fixed edges. They are published once, so that the first ones stay; those that come when most
    places are taken share the rest, and there the oldest goes."""

    def __init__(self) -> None:
        super().__init__()
        self._late: OrderedDict[str, None] = OrderedDict()

    def put(self, child: str, parent: str, value: V) -> None:
        """Set the edge of a child; another one goes where there is no place."""
        is_late = child in self._late or (child not in self
                                          and len(self) >= MAX_FRAMES - _ROTATING)
        if child not in self and len(self) >= MAX_FRAMES:
            self.pop(next((c for c in self._late if c not in self.needed), next(iter(self))))
        super().put(child, parent, value)
        if is_late:
            self._late[child] = None

    def pop(self, child: str) -> None:
        """Remove the edge of a child, if there is one."""
        super().pop(child)
        self._late.pop(child, None)


class MovingEdges(EdgeTable[SampleRing]):
    """Moving edges. They are published again and again, so that the one goes whose newest pose is
    the oldest."""

    def __init__(self) -> None:
        super().__init__()
        self._wide: Set[str] = frozenset()  # of those that are needed

    def emptied(self) -> MovingEdges:
        """Without edges, with the same ones needed."""
        other = MovingEdges()
        other.needed, other._wide = self.needed, self._wide
        return other

    def add(self, child: str, parent: str) -> SampleRing:
        """Begin a ring for the poses (x, y, z, qx, qy, qz, qw) of a child in this parent."""
        if child not in self and len(self) >= MAX_MOVING_FRAMES:
            self.pop(next((c for c in self if c not in self.needed), next(iter(self))))
        if child not in self and len(self) == _ORDINARY:
            for other in self:
                self._resize(other)
        ring = SampleRing(7, _MANY if child in self._wide else _FEW)
        self.put(child, parent, ring)
        return ring

    def touch(self, child: str, count: int = 1) -> None:
        """Note that poses of this child come, and make room for them if it deserves that."""
        self._edges.move_to_end(child)
        ring = self._edges[child][1]
        if ring.capacity == _FEW and len(ring) + count > _FEW:
            self._resize(child)

    def need(self, children: Sequence[str]) -> None:
        """Keep these edges, the first ones with many poses, and no others where there are many."""
        before, self.needed = self._wide, set(children)
        self._wide = set([child for child in children if child in self][:_ORDINARY])
        for child in before ^ self._wide:
            if child in self:
                self._resize(child)

    def _resize(self, child: str) -> None:
        """Give a ring the capacity that its edge deserves."""
        self[child][1].resize(self._capacity(child))

    def _capacity(self, child: str) -> int:
        """Poses that an edge keeps."""
        return _MANY if child in self._wide or len(self) < _ORDINARY else _FEW


_IMPOSSIBLE = 1e9  # m: no frame is that far away, uninitialised memory is
_SHORTEST, _LONGEST = 1e-6, 1e6  # quaternions that tell a direction
_MAX_DEPTH = 200  # a deeper tree is a loop
_MOST_WANTED = 16  # frames whose motion is asked for


class Pose(NamedTuple):
    """A point moves as ``x_target = rotation x_source + translation``; (3, 3) and (3,) [m]."""

    rotation: Array
    translation: Array

    def __matmul__(self, other: Pose) -> Pose:  # type: ignore[override]
        return Pose(self.rotation @ other.rotation,
                    self.rotation @ other.translation + self.translation)

    def inverse(self) -> Pose:
        """The pose that undoes this one."""
        return Pose(self.rotation.T, -self.rotation.T @ self.translation)

    def equals(self, other: Pose) -> bool:
        """Whether both are the same to the last bit."""
        return (np.array_equal(self.rotation, other.rotation)
                and np.array_equal(self.translation, other.translation))


class PoseSeries(NamedTuple):
    """Poses over time: stamps (n,) [ns], rotation (n, 3, 3), translation (n, 3) [m]."""

    stamps: np.ndarray
    rotation: Array
    translation: Array


IDENTITY = Pose(np.eye(3), np.zeros(3))


class TransformTree:
    """Frames by name; each has one parent, by a static or a moving transform.

    Attributes:
        version: changes whenever an edge appears, goes, or changes otherwise than by moving.
    """

    def __init__(self) -> None:
        self.version = 0
        self._static: FixedEdges[Pose] = FixedEdges()
        self._moving = MovingEdges()
        self._wanted: dict[str, None] = {}  # an ordered set
        self._arranged = -1  # version for which the needed edges are known

    def frames(self) -> set[str]:
        """Names of all frames."""
        return self._static.names() | self._moving.names()

    def knows(self, frame: str) -> bool:
        """Whether there is a frame of that name."""
        return self._static.knows(frame) or self._moving.knows(frame)

    def want(self, *frames: str) -> None:
        """Keep the edges above these frames, with as many samples as a window needs.

        Without that, a frame may go when many others come, and keeps few samples among many.
        """
        for frame in frames:
            if frame not in self._wanted:
                self._wanted[frame] = None
                self._arranged = -1
                if len(self._wanted) > _MOST_WANTED:
                    del self._wanted[next(iter(self._wanted))]
        if self._arranged != self.version:
            self._arranged = self.version
            above = [edge for frame in self._wanted for edge in self._climb(frame)]
            self._static.needed = set(above)
            self._moving.need(list(dict.fromkeys(above)))

    def set_static(self, parent: str, child: str, translation: Sequence[float],
                   quaternion: Sequence[float]) -> None:
        """Set the fixed pose of child in parent (quaternion x, y, z, w).

        Raises:
            InvalidData: values not finite, a zero quaternion, or a frame that is its own parent.
        """
        pose = pose_from(parent, child, translation, quaternion)
        known = self._static.get(child)
        if known is not None and known[0] == parent and known[1].equals(pose):
            return
        self.version += 1
        self._static.put(child, parent, pose)
        self._moving.pop(child)

    def add(self, stamp_ns: int, parent: str, child: str, translation: Sequence[float],
            quaternion: Sequence[float]) -> Arrival:
        """Add a stamped pose of child in parent; returns what `SampleRing.append` says.

        Raises:
            InvalidData: as `set_static`.
        """
        row = _checked(parent, child, translation, quaternion)
        known = self._moving.get(child)
        if known is not None and known[0] == parent:
            self._moving.touch(child)
            return known[1].append(stamp_ns, row)
        self.version += 1
        self._static.pop(child)
        return self._moving.add(child, parent).append(stamp_ns, row)

    def fits(self, edges: Sequence[Edges]) -> bool:
        """Whether `add` would store these stamped poses one after the other, as more of different
        moving edges."""
        if not edges:
            return True
        rings = [known[1] for edge in edges if (known := self._moving.get(edge.child)) is not None
                 and known[0] == edge.parent]
        rows = np.concatenate([edge.rows for edge in edges])
        length = _length(rows)
        return (len(rings) == len(edges)
                and bool((np.abs(rows) < _IMPOSSIBLE).all() and ((length > _SHORTEST)
                                                                 & (length < _LONGEST)).all())
                and all(ring.would_store_all(edge.stamps)
                        for ring, edge in zip(rings, edges, strict=True)))

    def add_block(self, edges: Edges) -> None:
        """Add stamped poses that fit (see `fits`)."""
        rows = edges.rows.copy()
        rows[:, 3:] /= _length(rows)[:, None]
        self._moving.touch(edges.child, len(edges.stamps))
        self.ring(edges.child).extend(edges.stamps, rows)

    def begin_motion(self) -> None:
        """Begin without moving transforms; those that are needed stay so."""
        self.version += 1
        self._moving = self._moving.emptied()

    def ancestors(self, frame: str) -> list[str]:
        """The frame, its parent, and so on up to the root (raises UnknownFrame for a loop)."""
        chain = self._climb(frame)
        if len(chain) >= _MAX_DEPTH:
            raise UnknownFrame(f"the transforms above frame '{frame}' form a loop")
        return chain

    def _climb(self, frame: str) -> list[str]:
        """As `ancestors`, but not beyond a depth that only loops reach."""
        chain = [frame]
        while len(chain) < _MAX_DEPTH:
            edge = self._static.get(chain[-1]) or self._moving.get(chain[-1])
            if edge is None:
                break
            chain.append(edge[0])
        return chain

    def path(self, target: str, source: str) -> tuple[list[str], list[str]]:
        """Frames whose edges lead from source up, and from target up, to their common ancestor.

        Raises:
            UnknownFrame: a frame is not known, or the two are not connected.
        """
        for frame in (target, source):
            if not self.knows(frame):
                raise UnknownFrame(f"frame '{frame}' is unknown; known: {self.describe()}")
        up_source, up_target = self.ancestors(source), self.ancestors(target)
        common = next((f for f in up_source if f in up_target), None)
        if common is None:
            raise UnknownFrame(f"frames '{target}' and '{source}' are not connected")
        return up_source[:up_source.index(common)], up_target[:up_target.index(common)]

    def describe(self) -> str:
        """Known frames as text, shortened."""
        return list_names(self.frames()) or "none"

    def moving_edges(self, target: str, source: str) -> list[str]:
        """Children of the moving edges between two frames (raises UnknownFrame)."""
        up, down = self.path(target, source)
        return [f for f in up + down if f in self._moving]

    def static_edges(self, target: str, source: str) -> list[tuple[str, str, Pose]]:
        """Child, parent and pose of the fixed edges between two frames (raises UnknownFrame)."""
        up, down = self.path(target, source)
        return [(f, *self._static[f]) for f in up + down if f in self._static]

    def edge(self, child: str) -> tuple[str, str, Pose | None]:
        """Parent and child of the edge above a frame, and its pose if it is fixed."""
        if child in self._static:
            parent, pose = self._static[child]
            return parent, child, pose
        return self._moving[child][0], child, None

    def static_pose(self, target: str, source: str) -> Pose | None:
        """Pose of source in target if only static edges lie between them, else None."""
        try:
            if self.moving_edges(target, source):
                return None
        except UnknownFrame:
            return None
        return self.newest(target, source)

    def newest_stamp(self, target: str, source: str) -> int | None:
        """Stamp [ns] that all moving edges between two frames have reached; None without any."""
        return min((self.ring(f).newest for f in self.moving_edges(target, source)), default=None)

    def newest(self, target: str, source: str) -> Pose:
        """Newest pose of source in target (raises UnknownFrame)."""
        up, down = self.path(target, source)
        return self._newest_chain(down).inverse() @ self._newest_chain(up)

    def _newest_chain(self, chain: list[str]) -> Pose:
        """Newest pose of the first of these frames in the parent of the last."""
        pose = IDENTITY
        for frame in chain:
            if frame in self._static:
                edge = self._static[frame][1]
            else:
                row = self._moving[frame][1].rows[-1]
                edge = Pose(_matrices(row[3:]), row[:3].copy())
            pose = edge @ pose
        return pose

    def ring(self, child: str) -> SampleRing:
        """The stamped rows (x, y, z, qx, qy, qz, qw) of a moving edge."""
        return self._moving[child][1]

    def series(self, target: str, source: str, first_ns: int, end_ns: int) -> PoseSeries:
        """Poses of source in target at the stamps of the slowest moving edge in [first, end).

        Faster edges are interpolated to those stamps.

        Raises:
            UnknownFrame: not connected, or no moving edge between the frames.
        """
        up, down = self.path(target, source)
        moving = [f for f in up + down if f in self._moving]
        if not moving:
            raise UnknownFrame(f"'{source}' does not move against '{target}' in TF")
        slowest = min(moving, key=lambda f: len(self.ring(f).stamps[
            self.ring(f).between(first_ns, end_ns)]))
        ring = self.ring(slowest)
        stamps = ring.stamps[ring.between(first_ns, end_ns)].copy()
        for other in moving:
            limits = self.ring(other).stamps[[0, -1]]
            stamps = stamps[(stamps >= limits[0]) & (stamps <= limits[1])]
        upward = self._compose(up, stamps)
        downward = self._compose(down, stamps)
        back = downward.rotation.transpose(0, 2, 1)
        return PoseSeries(stamps, back @ upward.rotation, np.einsum(
            "nij,nj->ni", back, upward.translation - downward.translation))

    def _compose(self, chain: list[str], stamps: np.ndarray) -> PoseSeries:
        """Poses of the first of these frames in the parent of the last, at stamps (n,) [ns]."""
        rotation = np.broadcast_to(np.eye(3), (len(stamps), 3, 3))
        translation = np.zeros((len(stamps), 3))
        for frame in chain:
            if frame in self._static:
                edge = self._static[frame][1]
                translation = translation @ edge.rotation.T + edge.translation
                rotation = edge.rotation @ rotation
            else:
                turn, shift = _interpolate(self.ring(frame), stamps)
                translation = np.einsum("nij,nj->ni", turn, translation) + shift
                rotation = turn @ rotation
        return PoseSeries(stamps, rotation, translation)


def list_names(names: Iterable[str]) -> str:
    """Names in alphabetical order as text; after twelve only how many more."""
    known = sorted(set(names))
    return ", ".join(known[:12]) + (f" and {len(known) - 12} more" if len(known) > 12 else "")


def _interpolate(ring: SampleRing, stamps: np.ndarray) -> tuple[Array, Array]:
    """Rotation (n, 3, 3) and translation (n, 3) of an edge at stamps inside its range."""
    if len(stamps) == 0:
        return np.empty((0, 3, 3)), np.empty((0, 3))
    low = max(int(np.searchsorted(ring.stamps, stamps[0])) - 1, 0)
    high = min(int(np.searchsorted(ring.stamps, stamps[-1])) + 1, len(ring))
    known, rows = ring.stamps[low:high], ring.rows[low:high]
    if len(known) == len(stamps) and np.array_equal(known, stamps):
        return _matrices(rows[:, 3:]), rows[:, :3].copy()
    seconds, wanted = (known - known[0]) * 1e-9, (stamps - known[0]) * 1e-9
    if len(known) == 1:
        turn = _matrices(np.repeat(rows[:, 3:], len(stamps), axis=0))
    else:
        from scipy.spatial.transform import Rotation, Slerp  # load slowly; joint states do without
        turn = Slerp(seconds, Rotation.from_quat(rows[:, 3:]))(wanted).as_matrix()
    shift = np.stack([np.interp(wanted, seconds, rows[:, k]) for k in range(3)], axis=1)
    return turn, shift


def _matrices(quaternions: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4) x, y, z, w."""
    vector, w = quaternions[..., :3], quaternions[..., 3, None, None]
    outer = 2.0 * vector[..., :, None] * vector[..., None, :]
    square = w * w - (vector * vector).sum(axis=-1)[..., None, None]
    return square * np.eye(3) + outer + 2.0 * w * skew(vector)


def pose_from(parent: str, child: str, translation: Sequence[float],
              quaternion: Sequence[float]) -> Pose:
    """Pose of child in parent (quaternion x, y, z, w; raises InvalidData as `set_static` does)."""
    row = np.array(_checked(parent, child, translation, quaternion))
    return Pose(_matrices(row[3:]), row[:3])


def _length(rows: Array) -> Array:
    """Length (n,) of the quaternions in rows (n, 7)."""
    x, y, z, w = rows.T[3:]
    with np.errstate(over="ignore"):  # an infinite length is refused
        return np.asarray(np.sqrt(x * x + y * y + z * z + w * w))  # as `_checked`, to the last bit


def _checked(parent: str, child: str, translation: Sequence[float],
             quaternion: Sequence[float]) -> list[float]:
    """The 7 numbers of a pose, the quaternion at unit length."""
    row = [float(x) for x in (*translation, *quaternion)]
    usable = True
    for x in row:  # plain comparisons, which NaN fails: this runs for each sample
        usable &= -_IMPOSSIBLE < x < _IMPOSSIBLE
    x, y, z, w = row[3:]
    length = math.sqrt(x * x + y * y + z * z + w * w) if usable else 0.0
    if not _SHORTEST < length < _LONGEST:
        raise InvalidData(f"transform {parent} -> {child} is not a pose: {row}")
    if parent == child or not child:
        raise InvalidData(f"transform {parent!r} -> {child!r} has no distinct parent")
    if len(parent) > MAX_NAME or len(child) > MAX_NAME:
        raise InvalidData(f"transform {parent[:50]!r} -> {child[:50]!r} has a name of more than "
                          f"{MAX_NAME} characters")
    return row[:3] + [x / length for x in row[3:]]
