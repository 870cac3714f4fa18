# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Transforms between frames, those that stay and those that move (tf2), and where one frame lies in
another."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from ..errors import InvalidData, InvalidModel, UnknownFrame
from ..io.fields import as_rows
from ..limits import MAX_ARM_JOINTS
from ..samples.ring import Ring
from .motion import Array, IntArray, Motion
from .robot import Chain, Joint, link_names, model_of
from .track import MEASURED, STEP, Track, advance_together

SHIFT = 0.005  # m and rad: less is no other place


def without_jumps(quaternions: Array) -> Array:
    """The same orientations (n, 4) without jumps of their sign."""
    sign = np.ones(len(quaternions))
    sign[1:][(quaternions[1:] * quaternions[:-1]).sum(axis=1) < 0.0] = -1.0
    return quaternions * sign.cumprod()[:, None]


def place_of(translation: ArrayLike, quaternion: ArrayLike) -> pin.SE3:
    """A pose from translation (3,) and quaternion x, y, z, w (raises InvalidData)."""
    at = as_rows("translation", translation, (3,), finite=True)
    turn = as_rows("quaternion", quaternion, (4,), finite=True)
    if not np.linalg.norm(turn) > 0.0:
        raise InvalidData("quaternion x, y, z, w is zero; that is no orientation")
    return pin.SE3(Rotation.from_quat(turn).as_matrix(), at)


class Edge(NamedTuple):
    """A frame in its parent, where it stays or is moved.

    Attributes:
        fixed: its place there; None: a track of poses (n, 7) tells it, or nothing yet.
        moved: stamp of that place [ns]; None: it stays.
        joint: what moves it; None: it stays.
    """

    parent: str
    fixed: pin.SE3 | None = None
    moved: int | None = None
    track: Track | None = None
    joint: Joint | None = None

    @property
    def place(self) -> pin.SE3:
        """The newest place (raises UnknownFrame)."""
        if self.track is not None and len(self.track.ring):
            row = self.track.ring.rows[-1]
            return place_of(row[:3], row[3:])
        if self.fixed is None:
            raise UnknownFrame(f"what moves a frame in '{self.parent}' is not known")
        return self.fixed


class Frames(dict[str, Edge]):
    """Edges of all frames but roots, by their names.

    Attributes:
        version: how often edges changed.
    """

    version = 0

    def fix(self, parent: str, child: str, place: pin.SE3) -> None:
        """A frame stays in its parent."""
        parent, child = parent.lstrip("/"), child.lstrip("/")  # old ones begin with a slash
        if self.get(child) != Edge(parent, place):
            self[child] = Edge(parent, place)
            self.version += 1

    def move(self, parent: str, child: str, stamps: IntArray, poses: Array) -> None:
        """Poses (m, 7) of a frame in its parent: translation, quaternion x, y, z, w; nothing where
        it stays."""
        parent, child = parent.lstrip("/"), child.lstrip("/")
        edge = self.get(child)
        if edge is not None and edge.joint is None:
            return
        track = edge.track if edge is not None and edge.parent == parent else None
        if track is None:
            track = Track(Ring(7))
            self[child] = Edge(parent, track=track, joint=Joint(child, pin.SE3.Identity()))
            self.version += 1
        ring, size = track.ring, np.linalg.norm(poses[:, 3:], axis=1)
        good = np.isfinite(poses.sum(axis=1)) & (size > 0.0)
        ring.counts["invalid"] += int((~good).sum())
        if good.any():
            rows = np.concatenate([ring.rows[-1:], poses[good]])
            rows[-len(size[good]):, 3:] /= size[good, None]
            rows[:, 3:] = without_jumps(rows[:, 3:])
            ring.push(stamps[good], rows[-len(size[good]):])

    @property
    def fixed(self) -> "Frames":
        """Those that stay."""
        return Frames({name: edge for name, edge in self.items() if edge.joint is None})

    def path(self, frame: str) -> list[str]:
        """Frames from one to its root."""
        out = [frame]
        while out[-1] in self and len(out) <= len(self):  # there may be circles
            out.append(self[out[-1]].parent)
        return out

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
        places, stamps = [pin.SE3.Identity(), pin.SE3.Identity()], list[int]()
        for k, edge in [(0, self[name]) for name in down] + [(1, self[name]) for name in up]:
            places[k] = edge.place * places[k]
            stamp = edge.moved if edge.track is None else edge.track.ring.newest
            stamps += [] if stamp is None else [stamp]
        return places[0].inverse() * places[1], min(stamps, default=None)

    def chain(self, root: str, frame: str) -> Chain | None:
        """What moves a frame in a root above it; None where nothing does."""
        names, joints, place = self.path(frame), list[Joint](), pin.SE3.Identity()
        for name in reversed(names[:names.index(root)] if root in names else []):
            edge = self[name]
            if edge.joint is None:
                place = place * edge.place
            else:
                joints.append(edge.joint._replace(place=place * edge.joint.place))
                place = pin.SE3.Identity()
        return Chain(pin.SE3.Identity(), tuple(joints), place) if joints else None

    def tracks_of(self, chain: Chain) -> list[Track]:
        """Poses of the frames that move a chain."""
        return [track for name in chain.names if (track := self[name].track) is not None]

    def motion(self, chain: Chain, finished: bool) -> Motion:
        """Motion of a chain of transforms in the bins that have settled since the last call."""
        signal = advance_together(self.tracks_of(chain), finished)
        return chain.motion(signal.number, (), *signal[1:])


def links_of(urdf: str, at: Mapping[str, tuple[int, float]]) -> dict[str, Edge]:
    """All links of a robot description but the root.

    Args:
        at: stamp [ns] and position [rad or m] of joints by name.
    """
    model, joints = model_of(urdf)
    links = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
    first, out = dict[int, str](), dict[str, Edge]()  # the first link on a joint lies at its axes
    for link in links:
        k = link.parentJoint
        if k in first:
            out[link.name] = Edge(first[k], link.placement)
        elif k:
            joint = joints[k]
            stamp, position = at.get(joint.name, (None, 0.0))
            place = None if stamp is None or joint.twist is None else joint.place * pin.exp6(
                pin.Motion((joint.scale * position + joint.shift) * joint.twist))
            out[link.name] = Edge(first[model.parents[k]], place, stamp, joint=joint)
        first.setdefault(k, link.name)
    return out


def chain_of(urdf: str, frame: str, gravity_frame: str = "", fixed: Mapping[str, Edge] | None = None
             ) -> Chain:
    """The chain to a link of a robot description, or to a frame that is fixed to one.

    Args:
        urdf: text; frame: of the sensor; gravity_frame: frame whose z axis points up; empty: the
            root of all frames; fixed: those that are not in the description.

    Raises:
        InvalidModel: the text is no robot description, or a joint moves in several ways.
        UnknownFrame: it has no such link, or the gravity frame is not fixed to its base.
    """
    frames = Frames({**(fixed or {}), **links_of(urdf, {})})
    base = link_names(model_of(urdf)[0])[0]
    if base not in frames.path(frame):
        raise UnknownFrame(f"the robot description has no link '{frame}'")
    try:
        root = frames.place(gravity_frame or frames.path(base)[-1], base)[0]
    except UnknownFrame as error:
        raise UnknownFrame(f"gravity.frame '{gravity_frame}' is not fixed to the root '{base}' of "
                           "the robot description") from error
    chain = frames.chain(base, frame)
    if chain is None or len(chain.joints) > MAX_ARM_JOINTS:
        raise InvalidModel(f"{len(chain.joints) if chain else 0} joints of the robot description "
                           f"move frame '{frame}'; 1 to {MAX_ARM_JOINTS} are allowed")
    for joint in chain.joints:
        if joint.twist is None:
            raise InvalidModel(f"joint '{joint.name}' moves in several ways; only revolute, "
                               "continuous and prismatic joints can be used")
    return Chain(root, chain.joints, chain.tip)


class WrenchPlace:
    """Where the frame in which a wrench is expressed lies in the frame of the sensor.

    Drivers of Universal Robots express the wrench at and in the active TCP, whose transform they
    publish. Its place follows from fixed transforms, or from where both are as they move.

    Attributes:
        place: None: not known.
    """

    def __init__(self) -> None:
        self.place: pin.SE3 | None = None
        self._poses: tuple[dict[int, pin.SE3], dict[int, pin.SE3]] = {}, {}

    def compare(self, sensor: Motion, said: Motion, stands: pin.SE3) -> bool:
        """Compare the poses of both frames as the arm moves; True where the place is another.

        Args:
            stands: place of the base of `said` in that of the sensor.
        """
        own, other = self._poses
        for motion, poses in ((sensor, own), (said, other)):
            poses.update(zip(motion.number.tolist(), map(pin.SE3, motion.rotation, motion.position),
                             strict=True))
        both = sorted(own.keys() & other.keys())[:MEASURED]
        if max(len(own), len(other)) > 2 * MEASURED or len(both) == MEASURED:
            self._poses = {}, {}
        if len(both) < MEASURED:
            return False
        seen = [own[number].inverse() * stands * other[number] for number in both]
        at = np.array([place.translation for place in seen])
        distance = np.linalg.norm(at - np.median(at, axis=0), axis=1)
        new = seen[int(np.argmin(distance))]
        if np.median(distance) > STEP or self.place is not None and np.abs(
                pin.log6(self.place.inverse() * new).vector).max() < SHIFT:
            return False
        self.place = new
        return True
