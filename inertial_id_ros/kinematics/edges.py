# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The edges of a transform tree, in bounded memory whoever publishes how many frames.

No frame is refused: where there are too many, one goes that nobody needs. So frames without end
cost little, and the few that lead to the sensor keep their places and their samples.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence, Set
from typing import Generic, TypeVar

from ..limits import MAX_FRAMES, MAX_MOVING_FRAMES
from ..signals.ring_buffer import SampleRing

_MANY, _FEW = 16_384, 64  # stamped poses kept of an edge, and of one that nobody needs
_ORDINARY = 32  # moving frames of a robot; with so many or fewer, each may keep many poses
_ROTATING = MAX_FRAMES // 5  # places of fixed edges that the later ones share
V = TypeVar("V")


class Edges(Generic[V]):
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


class FixedEdges(Edges[V]):
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


class MovingEdges(Edges[SampleRing]):
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
