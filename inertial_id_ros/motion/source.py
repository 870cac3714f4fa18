# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The samples of all streams, and the motion of the sensor and its wrench that follow from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from ..errors import UnknownFrame
from ..samples.ring import Ring
from ..samples.wrenches import Wrenches
from ..settings import Settings
from .frames import Frames
from .motion import Array, IntArray, Motion, no_motion
from .robot import Chain, chain_of, links_of
from .track import Signal, Track, joined_signals

Numbers = dict[str, float | str]
SILENT_NS = 500_000_000  # a stream that says nothing for so long is missing


class Streams:
    """What came in, and what follows from it bin by bin.

    Attributes:
        frame: of the wrench; empty until known.
        frames: the tree of transforms; chain: to the sensor by the robot description, or None.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        noise, limits = np.repeat(settings.wrench.noise, 3), np.repeat(settings.wrench.range, 3)
        self.frame, self.frames = settings.wrench.sensor_frame, Frames()
        self.chain: Chain | None = None
        self._urdf, self._links = "", tuple[str, ...]()
        self._wrenches = Wrenches(noise, limits)
        self._joints: dict[tuple[str, ...], Track] = {}
        self._poses, self._others = Track(Ring(7)), 0
        self._waiting: dict[tuple[str, ...], Signal] = {}
        self._faults: dict[str, int] = {}

    def emptied(self) -> Streams:
        """The same robot and fixed transforms without any samples."""
        out = Streams(self._settings)
        out.frame, out.frames.fixed = self.frame, self.frames.fixed
        out.chain, out._urdf, out._links = self.chain, self._urdf, self._links
        return out

    # ---- samples --------------------------------------------------------------------------------

    def set_robot_description(self, urdf: str) -> None:
        """Take another robot description; raises InvalidModel if it is none."""
        self._links = links_of(urdf)
        self._urdf, self.chain = urdf, None

    def add_joint_states(self, stamps: IntArray, names: Sequence[str], positions: Array) -> None:
        """Positions (m, k) of k joints, or of some of them; others' joints are left out."""
        chain = self._known_chain()
        wanted = sorted(set(names) & set(chain.names if chain else names))
        if not wanted:
            self._others += len(stamps)
            return
        order = [list(names).index(name) for name in wanted]
        rows = np.asarray(positions, float)[:, order]
        good = np.isfinite(rows).all(1)
        track = self._joints.setdefault(tuple(wanted), Track(Ring(len(wanted))))
        track.ring.push(np.asarray(stamps)[good], rows[good])

    def add_transforms(self, stamps: IntArray, parent: str, child: str, poses: Array) -> None:
        """Poses (m, 7) of a frame in its parent: translation, quaternion x, y, z, w."""
        self.frames.move(parent, child, stamps, poses)

    def add_static_transform(self, parent: str, child: str, place: pin.SE3) -> None:
        """A frame stays in its parent."""
        self.frames.fix(parent, child, place)
        self.chain = None

    def add_wrenches(self, stamps: IntArray, frame: str, wrench: Array) -> None:
        """Readings (m, 6) in a frame."""
        if not self.frame:
            self.frame = frame
        self._wrenches.push(stamps, wrench)

    # ---- what follows ---------------------------------------------------------------------------

    def advance(self, finished: bool = False) -> tuple[Motion, IntArray, Array]:
        """Motion of the bins that have settled since the last call, and readings (m, 6) at stamps
        (m,) [ns]; finished: no sample will follow."""
        stamps, rows = self._wrenches.take(finished)
        return self._motion(finished), stamps, rows

    def _motion(self, finished: bool) -> Motion:
        chain = self._known_chain()
        if chain is not None and self._settings.kinematics.source != "tf" and self._joints:
            signals = self._signals(chain, finished)
            if signals is None:
                return no_motion(len(chain.joints))
            names = [name for key in signals for name in key]
            value, rate, more = (np.hstack([getattr(s, part) for s in signals.values()])
                                 for part in ("value", "rate", "acceleration"))
            number = next(iter(signals.values())).number
            return chain.motion(number, names, value, rate, more)
        return self._by_poses(finished)

    def _signals(self, chain: Chain, finished: bool) -> dict[tuple[str, ...], Signal] | None:
        """Signals of the joints in bins in which all are known; each joint once."""
        out: dict[tuple[str, ...], Signal] = {}
        needed = set(chain.names)
        for key in sorted(self._joints, key=len, reverse=True):
            if not needed & set(key):
                continue
            needed -= set(key)
            new = self._joints[key].advance(finished)
            self._count_faults(new.faults, "joints")
            before = self._waiting.get(key)
            out[key] = new if before is None else joined_signals([before, new])
        if needed or not out:
            return None
        common = out[next(iter(out))].number
        for signal in out.values():
            common = np.intersect1d(common, signal.number)
        newest = min(int(s.number[-1]) if len(s.number) else -1 for s in out.values())
        self._waiting = {key: s.part(s.number > newest) for key, s in out.items()}
        return {key: s.part(np.isin(s.number, common)) for key, s in out.items()}

    def _by_poses(self, finished: bool) -> Motion:
        """Motion by transforms alone: quartics through translation and quaternion."""
        if not self.frame or (path := self.frames.path(self.frame))[-1] == self.frame:
            return no_motion(0)
        poses = self.frames.poses(self.frame, self._settings.gravity.frame or path[-1])
        if poses is None:
            return no_motion(0)
        newest = self._poses.ring.stamps[-1] if len(self._poses.ring) else -1
        fresh = poses[0] > newest
        rows = poses[1][fresh]
        if len(self._poses.ring) and len(rows) and rows[0, 3:] @ self._poses.ring.rows[-1, 3:] < 0:
            rows[:, 3:] *= -1.0
        self._poses.ring.push(poses[0][fresh], rows)
        signal = self._poses.advance(finished)
        self._count_faults(signal.faults, "transforms")
        return _motion_of_poses(signal)

    def _count_faults(self, kinds: Sequence[str], stream: str) -> None:
        for kind in kinds:
            self._faults[f"{kind}.{stream}"] = self._faults.get(f"{kind}.{stream}", 0) + 1

    def _known_chain(self) -> Chain | None:
        """The chain to the frame of the wrench, where the description or a transform has it."""
        if self.chain is None and self._urdf and self.frame:
            gravity = self._settings.gravity.frame
            if self.frame in self._links:
                self.chain = chain_of(self._urdf, self.frame, gravity)
            elif (found := self.frames.fixed_place(self.frame, self._links)) is not None:
                chain = chain_of(self._urdf, found[0], gravity)
                self.chain = Chain(chain.root, chain.joints, chain.tip * found[1])
        return self.chain

    # ---- what is wrong --------------------------------------------------------------------------

    @property
    def newest(self) -> int:
        """Newest stamp [ns] of wrench or motion; 0 before any."""
        rings = [self._wrenches.ring, *self._rings()]
        return max((int(r.stamps[-1]) for r in rings if len(r)), default=0)

    def _rings(self) -> Iterator[Ring]:
        yield from (track.ring for track in self._joints.values())
        yield from (ring for _, ring in self.frames.moving.values())

    def missing(self) -> tuple[str, Numbers] | None:
        """Kind and numbers of what is needed and not there; None: nothing is missing."""
        if not len(self._wrenches.ring):
            return "no_wrench", {"topic": self._settings.wrench.topic}
        try:
            chain = self._known_chain()
        except UnknownFrame as error:
            return "sensor_frame.unknown", {"text": str(error)}
        if chain is not None:
            lacking = sorted(set(chain.names) - {name for key in self._joints for name in key})
            if lacking and not self.frames.moving:
                return "joints_missing", {"names": ", ".join(lacking)}
        elif not self.frames.moving:
            if self._urdf:
                return "sensor_frame.unknown", {
                    "text": f"the frame of the wrench, '{self.frame}', is no link of the robot "
                            "description and not fixed to one"}
            return "no_motion", {"topic": self._settings.joint_states.topic}
        return None

    def findings(self) -> Iterator[tuple[str, Numbers]]:
        """Kinds and numbers of what is, or was, wrong with the samples."""
        own, ring = self._wrenches.counts, self._wrenches.ring.counts
        for count, kind in ((own["invalid"], "samples_invalid.wrench"),
                            (own["saturated"], "samples_saturated.wrench"),
                            (own["mixed"], "streams_mixed.wrench"),
                            (own["stuck"], "input_stuck"), (own["zero"], "wrench_zero"),
                            (ring["repeated"], "samples_repeated.wrench"),
                            (ring["late"], "samples_late.wrench"),
                            (ring["reordered"], "samples_reordered.wrench"),
                            (ring["stray"], "stamp_stray.wrench"),
                            (ring["restarted"], "reset"),
                            (self._others, "joint_states_incomplete"),
                            (self._faults.get("frozen.joints", 0), "motion_frozen.joints"),
                            (self._faults.get("frozen.transforms", 0), "motion_frozen.transforms"),
                            (self._faults.get("mixed.joints", 0), "streams_mixed.joints"),
                            (self._faults.get("mixed.transforms", 0), "streams_mixed.transforms")):
            if count:
                yield kind, {"count": count}
        for name, rings in (("joints", [t.ring for t in self._joints.values()]),
                            ("transforms", [r for _, r in self.frames.moving.values()])):
            strays = sum(r.counts["stray"] for r in rings)
            if strays:
                yield f"stamp_stray.{name}", {"count": strays}
        yield from self._silent()

    def _silent(self) -> Iterator[tuple[str, Numbers]]:
        newest = self.newest
        for name, rings in (("wrench", [self._wrenches.ring]), ("motion", list(self._rings()))):
            last = max((int(r.stamps[-1]) for r in rings if len(r)), default=0)
            if last and newest - last > SILENT_NS:
                yield f"samples_missing.{name}", {"seconds": 1e-9 * (newest - last)}


def _motion_of_poses(signal: Signal) -> Motion:
    """Motion of a frame whose pose (n, 7) is known with its derivatives.

    With a unit quaternion q the rates in its own axes are 2 vec(q* dq) and 2 vec(q* ddq).
    """
    n = len(signal.number)
    if not n:
        return no_motion(0)
    x, y, z, w = signal.value[:, 3:].T / np.linalg.norm(signal.value[:, 3:], axis=1)
    back = np.stack([np.stack(row, 1) for row in ((w, z, -y, -x), (-z, w, x, -y), (y, -x, w, -z))],
                    1)  # vec(q* p) of p = (x, y, z, w)
    omega, alpha = (2.0 * np.einsum("nij,nj->ni", back, part[:, 3:])
                    for part in (signal.rate, signal.acceleration))
    rotation = Rotation.from_quat(signal.value[:, 3:]).as_matrix()
    felt = np.einsum("nij,ni->nj", rotation, signal.acceleration[:, :3])
    return Motion(signal.number, rotation, signal.value[:, :3], felt, omega, alpha,
                  np.empty((n, 0, 3, 3)), np.empty((n, 0, 6)))

