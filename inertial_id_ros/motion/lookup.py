# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where one frame lies in another now: by robot description and joint states, and by transforms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from ..errors import UnknownFrame
from .frames import DEEPEST, Frames
from .robot import Joint, model_of

if TYPE_CHECKING:
    from .source import Streams

Edge = tuple[str, pin.SE3, int | None]  # parent, place in it, stamp [ns]; None: it stays


@dataclass(frozen=True, eq=False)
class Tree:
    """All frames at one time; a value, which any thread may read.

    Attributes:
        edges: of each frame but roots. Joints stand between links, under names of their own.
    """

    edges: Mapping[str, Edge] = field(default_factory=dict)

    @classmethod
    def fixed(cls, frames: Frames, urdf: str) -> Tree:
        """What a robot description and fixed transforms tell of frames without any sample."""
        edges: dict[str, Edge] = {name: (parent, place, None)
                                  for name, (parent, place) in frames.fixed.items()}
        return cls(edges | (_edges_of_robot(urdf, {}) if urdf else {}))

    @classmethod
    def of(cls, streams: Streams) -> Tree:
        """The tree of the newest samples. Where description and transforms both tell where a link
        lies, the description counts."""
        edges: dict[str, Edge] = {}
        for name, (parent, ring) in streams.frames.moving.items():
            if len(ring):
                row = ring.rows[-1]
                place = pin.SE3(Rotation.from_quat(row[3:]).as_matrix(), row[:3])
                edges[name] = parent, place, int(ring.stamps[-1])
        edges |= {name: (parent, place, None) for name, (parent, place)
                  in streams.frames.fixed.items()}
        if streams.urdf:
            edges |= _edges_of_robot(streams.urdf, streams.newest_positions())
        return cls(edges)

    def place(self, target: str, source: str) -> tuple[pin.SE3, int | None]:
        """Place of the source in the target, and the oldest stamp [ns] of what moves it there;
        None where they are fixed to each other.

        Raises:
            UnknownFrame: a frame is not known, or the two are not connected.
        """
        up, down = self._path(source), self._path(target)
        if up[-1] != down[-1]:
            for name in (source, target):
                if len(self._path(name)) == 1:
                    raise UnknownFrame(f"frame '{name}' is neither in the robot description nor in "
                                       "the transforms, or a joint that leads to it is not known")
            raise UnknownFrame(f"frames '{target}' and '{source}' are not connected")
        while up and down and up[-1] == down[-1]:
            del up[-1], down[-1]
        stamps = [stamp for name in (*up, *down) if (stamp := self.edges[name][2]) is not None]
        return self._along(down).inverse() * self._along(up), min(stamps, default=None)

    def _path(self, frame: str) -> list[str]:
        out = [frame]
        while out[-1] in self.edges and len(out) < DEEPEST:
            out.append(self.edges[out[-1]][0])
        return out

    def _along(self, names: list[str]) -> pin.SE3:
        place = pin.SE3.Identity()
        for name in names:
            place = self.edges[name][1] * place
        return place

    def __contains__(self, frame: str) -> bool:
        return frame in self.edges or any(frame == parent for parent, _, _ in self.edges.values())


def _edges_of_robot(urdf: str, positions: Mapping[str, tuple[int, float]]) -> dict[str, Edge]:
    """Links and joints of a robot description, those below joints of unknown position left out.

    Args:
        positions: stamp [ns] and position [rad or m] of joints by name.
    """
    model, joints = model_of(urdf)
    links = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
    root, out = links[0].name, dict[str, Edge]()
    for link in links[1:]:
        parent = f"\0{link.parentJoint}" if link.parentJoint else root
        place = link.placement if link.parentJoint else (
            links[0].placement.inverse() * link.placement)
        out[link.name] = parent, place, None
    for k, joint in joints.items():
        above = int(model.parents[k])
        if joint.name in positions:
            stamp, position = positions[joint.name]
            out[f"\0{k}"] = f"\0{above}" if above else root, _moved(joint, position), stamp
    return out


def _moved(joint: Joint, position: float) -> pin.SE3:
    """Place of a joint's axes in those before it."""
    by = (joint.scale * position + joint.shift) * joint.axis
    move = pin.SE3(pin.exp3(by), np.zeros(3)) if joint.turns else pin.SE3(np.eye(3), by)
    return joint.place * move
