# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The samples of all streams, and the motion of the sensor and its wrench that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from ..errors import InertialIdError
from ..samples.ring import Ring
from ..samples.stamps import spacing_of
from ..samples.wrenches import Wrenches
from ..settings import Settings
from .faults import Fault
from .frames import SETTLED, Frames
from .lookup import Tree
from .motion import BIN_NS, Array, IntArray, Motion, no_motion
from .place import WrenchPlace
from .robot import Chain, chain_of, links_of
from .track import Signal, Track, joined_signals

Numbers = dict[str, float | str]
SILENT_NS, APART_NS = 500_000_000, 1_000_000_000  # a stream is missing; clocks differ
PATIENCE_NS = 2_000_000_000  # of wrenches without joint states, after which transforms are used
MOST_WAITING = 1 << 17  # joint states before the chain is known
TURNS, MOST_MOVES = 0.05, 6000  # rad/s, from which the sensor moves; bins that are remembered
KINDS = {"frozen": "motion_frozen", "mixed": "streams_mixed", "stuck": "input_stuck"}
NO_NUMBER, NO_POSE = "NaN, infinity or no stamp", "no pose, or no stamp"
SHOWN_NS = 1_500_000_000  # for which a fault that is over is still named


class Streams:
    """What came in, and what follows from it bin by bin.

    Attributes:
        frame: of the wrench; empty until known.
        frames: the tree of transforms; chain: to the sensor by the robot description, or None.
        sign: of readings, as a factor to what the sensor exerts on the payload.
        restarts: how often a clock went back, or the sensor was mounted otherwise: what was
            measured before counts no more.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        noise, limits = np.repeat(settings.wrench.noise, 3), np.repeat(settings.wrench.range, 3)
        self.frame, self.frames = settings.wrench.sensor_frame.lstrip("/"), Frames()
        self.sign = settings.wrench.sign
        self.chain: Chain | None = None
        self.restarts = 0
        self._urdf, self._links, self._version = "", tuple[str, ...](), 0
        self._resolved: tuple[str, int] | None = None  # frame and version that the chain is of
        self._trouble = ""
        self._wrenches, self._said = Wrenches(noise, limits), ""
        self._place = WrenchPlace()
        self._tree: tuple[int, Tree] | None = None  # of what is fixed, with its version
        self._joints = _Joints()
        self._poses = _Poses(self.frames)
        self._by_poses = False
        self._moves = np.empty(0, np.int64)  # bins in which the sensor turns
        self._last: dict[str, int] = {}  # stamps of wrench and motion
        self._counts: Counter[str] = Counter()
        self._faults: list[tuple[str, Fault]] = []  # with the names of their streams
        self._named: dict[str, tuple[int, float, int]] = {}  # stamp, seconds, count by name

    def emptied(self) -> Streams:
        """The same robot and fixed transforms without any samples."""
        out = Streams(self._settings)
        out.frame, out.frames.fixed = self.frame, self.frames.fixed
        out.chain, out._urdf, out._links = self.chain, self._urdf, self._links
        out._version, out._resolved = self._version, self._resolved
        if self.chain is not None:
            out._joints.use(self.chain.turning)
        return out

    # ---- samples --------------------------------------------------------------------------------

    def set_robot_description(self, urdf: str) -> None:
        """Take another robot description; raises InvalidModel if it is none."""
        if urdf != self._urdf:
            self._links = links_of(urdf)
            self._urdf, self._version = urdf, self._version + 1

    def add_joint_states(self, stamps: IntArray, names: Sequence[str], positions: Array,
                         efforts: Array | None = None) -> None:
        """Positions (m, k) of k joints, or of some of them [rad or m]; others' are left out, and so
        are efforts."""
        self._joints.add(np.asarray(stamps), tuple(names), np.asarray(positions, float))

    def add_transforms(self, stamps: IntArray, parent: str, child: str, poses: Array) -> None:
        """Poses (m, 7) of a frame in its parent: translation, quaternion x, y, z, w."""
        self.frames.move(parent, child, np.asarray(stamps), np.asarray(poses, float))

    def add_static_transform(self, parent: str, child: str, place: pin.SE3) -> None:
        """A frame stays in its parent (raises InvalidData)."""
        if self.frames.fix(parent, child, place):
            self._version += 1

    def add_wrenches(self, stamps: IntArray, frame: str, wrench: Array) -> None:
        """Readings (m, 6) in a frame."""
        self.frame, self._said = self.frame or frame, frame or self._said
        self._wrenches.push(np.asarray(stamps), np.asarray(wrench, float))

    @property
    def urdf(self) -> str:
        """The robot description in use; empty: there is none."""
        return self._urdf

    def newest_positions(self) -> dict[str, tuple[int, float]]:
        """Stamp [ns] and newest position [rad or m] of the joints that move the sensor."""
        return {name: (int(track.ring.stamps[-1]), float(value))
                for key, track in self._joints.tracks.items() if len(track.ring)
                for name, value in zip(key, track.ring.rows[-1], strict=True)}

    # ---- what follows ---------------------------------------------------------------------------

    def advance(self, finished: bool = False) -> tuple[Motion, IntArray, Array]:
        """Motion of the bins that have settled since the last call, and readings (m, 6) at stamps
        (m,) [ns]; finished: no sample will follow."""
        self._resolve()
        self._notice_restarts()
        stamps, rows = self._wrenches.take(finished)
        mixed = self._wrenches.counts["mixed"]
        if mixed != self._counts["mixed"]:  # it doubts all while it lasts, and not for ever
            self._counts["mixed"] = mixed
            self._named["streams_mixed.wrench"] = self.newest, 0.0, mixed
        motion = self._motion(finished)
        rows = self._placed(rows, motion)
        self._note_gaps("wrench", stamps)
        self._note_gaps("motion", motion.number * BIN_NS)
        self._note_stuck(motion)
        for stream, tracks in (("joints", self._joints.tracks.values()),
                               ("transforms", [self._poses.track])):
            for track in tracks:
                for fault in track.faults:
                    self._note(fault, stream)
                track.faults = []
        return motion, stamps, rows

    def take_faults(self) -> list[Fault]:
        """What was found to be wrong with the motion since the last call, also of bins that were
        given before."""
        out, self._faults = [fault for _, fault in self._faults], []
        return out

    def _placed(self, rows: Array, motion: Motion) -> Array:
        """Readings (m, 6) in the frame of the sensor, where they name another that lies there."""
        if self._said in ("", self.frame):
            return rows
        known = self._place.place is not None
        if self._tree is None or self._tree[0] != self._version:
            self._tree = self._version, Tree.fixed(self.frames, self._urdf)
        tree = self._tree[1]
        if not self._place.use_fixed(self._said, self.frame, tree) and self.chain is not None:
            moved = self._place.compare(self._said, self.frames, tree, self._links[0], self.chain,
                                        motion)
            self.restarts += moved and known
        place = self._place.place
        if place is None:
            return rows
        return np.asarray(rows @ np.asarray(place.toDualActionMatrix()).T)

    @property
    def transforms(self) -> list[pin.SE3 | tuple[str, str]]:
        """Chain from the base to the sensor where its motion comes from TF: a place where an edge
        is fixed, names of parent and child where it moves. Empty where joint states are used."""
        names = self.frames.path(self.frame) if self._by_poses else []
        gravity = self._settings.gravity.frame
        up = names[:names.index(gravity)] if gravity in names else names[:-1]
        return [self.frames.fixed[n][1] if n in self.frames.fixed else (
            self.frames.moving[n][0], n) for n in reversed(up)]

    def _note(self, fault: Fault, stream: str) -> None:
        name = f"{KINDS[fault.kind]}.{stream}"
        self._faults.append((name, fault))
        count = self._named[name][2] if name in self._named else 0
        self._named[name] = fault.known, 1e-9 * (fault.last - fault.first), count + 1

    def _motion(self, finished: bool) -> Motion:
        source, joints = self._settings.kinematics.source, 0
        if self.chain is not None and source != "tf":
            joints = len(self.chain.joints)
            if not self._joints.lacking():
                if self._by_poses:  # joint states came late
                    self._by_poses = False
                    self.restarts += 1
                signal = self._joints.advance(finished)
                return self.chain.motion(signal.number, self._joints.order, *signal[1:])
        ring = self._wrenches.ring
        waited = finished or (len(ring) and ring.closed > self._wrenches.begin + PATIENCE_NS)
        if source == "joint_states" or not (waited or self._by_poses or source == "tf"):
            return no_motion(joints)
        root = self._settings.gravity.frame or self.frames.path(self.frame)[-1]
        if not self._poses.use(self.frame, root, finished):
            return no_motion(0)
        self._by_poses = True
        return _motion_of_poses(self._poses.track.advance(finished))

    def _resolve(self) -> None:
        """Find the chain to the frame of the wrench, in the description or fixed to it."""
        if not self._urdf or not self.frame or self._resolved == (self.frame, self._version):
            return
        self._resolved, self._trouble = (self.frame, self._version), ""
        try:
            chain = self._made_chain()
        except InertialIdError as error:
            self._trouble = str(error)
            return
        if self.chain is not None and not chain.equals(self.chain):
            self.restarts += 1
        self.chain = chain
        self._joints.use(chain.turning)

    def _made_chain(self) -> Chain:
        gravity, root = self._settings.gravity.frame, self._links[0]
        inside = gravity if gravity in self._links else ""
        found = self.frames.fixed_place(self.frame, self._links)
        chain = chain_of(self._urdf, found[0] if found else self.frame, inside)
        tip = chain.tip * found[1] if found else chain.tip
        if inside:
            return Chain(chain.root, chain.joints, tip)
        above = self.frames.fixed_place(root, [gravity or self.frames.fixed_root(root)])
        if above is None:
            raise InertialIdError(f"gravity.frame '{gravity}' is neither in the robot description "
                                  f"nor above its root '{root}' by fixed transforms")
        return Chain(above[1], chain.joints, tip)

    def _notice_restarts(self) -> None:
        """Forget samples of a clock that went back, in all streams."""
        rings = [self._wrenches.ring, *self._rings()]
        back = [ring for ring in rings if ring.counts["restarted"]]
        count = sum(ring.counts["restarted"] for ring in back)
        if count == self._counts["restarted"]:
            return
        self._counts["restarted"] = count
        self.restarts += 1
        newest = min(int(ring.stamps[-1]) for ring in back)
        for ring in rings:
            if len(ring) and ring.stamps[-1] > newest + APART_NS:
                ring.clear()
        self._joints.restart()
        self._poses.restart()
        self._moves, self._last = np.empty(0, np.int64), {}

    def _note_gaps(self, name: str, stamps: IntArray) -> None:
        """Note that a stream has been silent for a while."""
        if not len(stamps):
            return
        steps = np.diff(stamps, prepend=self._last.get(name, int(stamps[0])))
        self._last[name] = int(stamps[-1])
        for k in np.flatnonzero(steps > SILENT_NS).tolist():
            self._named[f"samples_missing.{name}"] = int(stamps[k]), 1e-9 * float(steps[k]), 1

    def _note_stuck(self, motion: Motion) -> None:
        """Readings that are the same to the last bit are wrong where the sensor turned."""
        turns = motion.number[np.linalg.norm(motion.omega, axis=1) > TURNS]
        self._moves = np.concatenate([self._moves, turns])[-MOST_MOVES:]
        newest = int(motion.number[-1]) * BIN_NS if len(motion.number) else 0
        while self._wrenches.stuck and self._wrenches.stuck[0][1] < newest:
            first, last = self._wrenches.stuck.pop(0)
            low, high = np.searchsorted(self._moves, (first // BIN_NS, last // BIN_NS + 1))
            if high > low:
                self._note(Fault("stuck", first, last, last), "wrench")

    # ---- what is wrong --------------------------------------------------------------------------

    @property
    def newest(self) -> int:
        """Newest stamp [ns] of wrench or motion; 0 before any."""
        rings = [self._wrenches.ring, *self._rings()]
        return max((int(r.stamps[-1]) for r in rings if len(r)), default=0)

    def _rings(self) -> Iterator[Ring]:
        yield from (track.ring for track in self._joints.tracks.values())
        yield from (ring for _, ring in self.frames.moving.values())

    def missing(self) -> tuple[str, Numbers] | None:
        """Kind and numbers of what is needed and not there; None: nothing is missing."""
        if not len(self._wrenches.ring):
            return "no_wrench", {"topic": self._settings.wrench.topic}
        if not self.frame:
            return "no_frame", {"topic": self._settings.wrench.topic}
        self._resolve()
        if self._by_poses:
            return None
        if self.chain is not None:
            lacking = self._joints.lacking()
            return ("joints_missing", {"names": ", ".join(lacking)}) if lacking else None
        if self._trouble:
            return "sensor_frame.unknown", {"text": self._trouble}
        return "no_motion", {"topic": self._settings.joint_states.topic}

    def findings(self) -> Iterator[tuple[str, Numbers]]:
        """Kinds and numbers of what is, or was, wrong with the samples."""
        rings = {"wrench": [self._wrenches.ring],
                 "joints": [track.ring for track in self._joints.tracks.values()],
                 "transforms": [ring for _, ring in self.frames.moving.values()]}
        for name, some in rings.items():
            for kind in ("repeated", "late", "reordered"):
                yield from counted(f"samples_{kind}.{name}", sum(r.counts[kind] for r in some))
            yield from counted(f"stamp_stray.{name}", sum(r.counts["stray"] for r in some))
        own = self._wrenches.counts
        yield from counted("samples_saturated.wrench", own["saturated"])
        for name, count, why in (("wrench", own["invalid"], NO_NUMBER),
                                 ("joints", self._joints.counts["invalid"], NO_NUMBER),
                                 ("transforms", self.frames.invalid, NO_POSE)):
            yield from counted(f"samples_invalid.{name}", count, why)
        if self._wrenches.are_of_other_units:
            yield "wrong_units.wrench", {"why": "most readings lie far beyond the range of the "
                                                "sensor (wrench.range); they must be in N and N m"}
        yield from counted("input_stuck.wrench", own["zero"])
        yield from counted("joint_states_incomplete", self._joints.counts["others"],
                            "they name no joint that moves the sensor, or lack its position")
        yield from counted("reset", self._counts["restarted"])
        for name, (stamp, seconds, count) in self._named.items():
            if self.newest - stamp < SHOWN_NS:
                yield name, {"count": count, "seconds": seconds, "where": ""}
        if self.chain is not None and self._joints.are_in_degrees(self.chain):
            yield "wrong_units.joints", {"why": "positions lie far beyond the limits of their "
                                                "joints: they are in degrees"}
        if self._said.endswith("tool0_controller") and self._place.place is None and (
                self._said != self.frame):
            yield "sensor_frame.unknown", {"why": f"the wrench is expressed in '{self._said}', the "
                                           "TCP of the robot, and no transform tells where that "
                                           f"lies in '{self.frame}'"}
        elif self._said not in ("", self.frame) and self._place.place is None:
            yield "sensor_frame.replaced", {"why": f"its messages name '{self._said}', "
                                            f"wrench.sensor_frame '{self.frame}' is used instead"}
        yield from self._of_tracks()
        yield from self._silent()

    def _of_tracks(self) -> Iterator[tuple[str, Numbers]]:
        name = "transforms" if self._by_poses else "joints"
        tracks = [self._poses.track] if self._by_poses else self._joints.tracks.values()
        for track in tracks:
            for fault in track.lasting:
                seconds = 1e-9 * float(track.ring.stamps[-1] - fault.first)
                yield f"motion_frozen.{name}", {"count": 1, "seconds": seconds}
            if track.is_slow and track.spacing is not None:
                yield "motion_slow", {"rate": 1.0 / track.spacing.period}
        if self._by_poses and self._poses.never_moves:
            yield "translation_constant", {}

    def _silent(self) -> Iterator[tuple[str, Numbers]]:
        """`samples_missing` of each stream whose newest stamp is far behind the newest of all: it
        has stopped, or its clock is behind."""
        newest = self.newest
        for name, rings in (("wrench", [self._wrenches.ring]), ("motion", list(self._rings()))):
            last = max((int(r.stamps[-1]) for r in rings if len(r)), default=0)
            if last and newest - last > SILENT_NS:
                yield f"samples_missing.{name}", {"seconds": 1e-9 * (newest - last)}


class _Joints:
    """Joint states: of each list of joints a track.

    Attributes:
        tracks: by the names of the joints, in alphabetical order; order: of the joints in signals.
    """

    def __init__(self) -> None:
        self.tracks: dict[tuple[str, ...], Track] = {}
        self.order: list[str] = []
        self.counts: Counter[str] = Counter()
        self._turning: dict[str, bool] = {}
        self._early: list[tuple[IntArray, tuple[str, ...], Array]] = []  # before the chain is known
        self._ahead: dict[tuple[str, ...], Signal] = {}

    def use(self, turning: dict[str, bool]) -> None:
        """These joints are needed; True where one turns."""
        if self._turning != turning:
            self._turning, self.tracks, self._ahead = turning, {}, {}
        early, self._early = self._early, []
        for block in early:
            self.add(*block)

    def restart(self) -> None:
        """The clock went back."""
        self._ahead = {}

    def add(self, stamps: IntArray, names: tuple[str, ...], positions: Array) -> None:
        """Take positions (m, k) of joints."""
        if not self._turning:
            self._early.append((stamps, names, positions))
            while sum(len(block[0]) for block in self._early[1:]) > MOST_WAITING:
                del self._early[0]
            return
        wanted = tuple(sorted(set(names) & set(self._turning)))
        if not wanted or positions.shape[1] < len(names):
            self.counts["others"] += len(stamps)
            return
        rows = positions[:, [names.index(name) for name in wanted]]
        good = (np.abs(rows) < 1e6).all(1) & (stamps > 0)
        self.counts["invalid"] += int((~good).sum())
        if wanted not in self.tracks:
            self.tracks[wanted] = Track(Ring(len(wanted)), np.array([
                self._turning[name] for name in wanted]))
        self.tracks[wanted].ring.push(stamps[good], rows[good])

    def _used(self) -> list[tuple[str, ...]]:
        """Lists of joints that together have all, the longest first; some may have stopped."""
        newest = {key: int(t.ring.stamps[-1]) for key, t in self.tracks.items() if len(t.ring)}
        last, needed, out = max(newest.values(), default=0), set(self._turning), []
        for key in sorted(newest, key=lambda k: (newest[k] < last - APART_NS, -len(k), k)):
            if needed & set(key):
                out.append(key)
                needed -= set(key)
        return [] if needed else out

    def lacking(self) -> list[str]:
        """Joints whose positions are needed and never came."""
        there = {name for key, track in self.tracks.items() if len(track.ring) for name in key}
        return sorted(set(self._turning) - there)

    def are_in_degrees(self, chain: Chain) -> bool:
        """True where the newest positions are no radians."""
        return any(chain.is_in_degrees(key, self.tracks[key].ring.rows[-1]) for key in self._used())

    def advance(self, finished: bool) -> Signal:
        """Signals of the joints, as `order` has them, in the bins in which all are known."""
        used = self._used()
        self._ahead = {key: s for key, s in self._ahead.items() if key in used}
        out = {}
        for key in used:
            new = self.tracks[key].advance(finished)
            out[key] = joined_signals([self._ahead[key], new]) if key in self._ahead else new
        common = out[used[0]].number
        for key in used[1:]:
            common = np.intersect1d(common, out[key].number)
        newest = min(int(s.number[-1]) if len(s.number) else -1 for s in out.values())
        self._ahead = {key: s.part(s.number > newest) for key, s in out.items()}
        self.order = [name for key in used for name in key]
        parts = [s.part(np.isin(s.number, common)) for s in out.values()]
        return Signal(common, *(np.hstack(columns) for columns in zip(*(p[1:] for p in parts),
                                                                      strict=True)))


class _Poses:
    """The track of the pose of a frame, composed of the moving transforms above it."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._edges: tuple[str, ...] = ()
        self._master = ""
        self._low, self._high = np.full(3, np.inf), np.full(3, -np.inf)
        self.restart()

    def restart(self) -> None:
        """The clock went back."""
        self.track = Track(Ring(7))
        self._since = 0

    def use(self, frame: str, root: str, finished: bool) -> bool:
        """Compose the poses that came; False where no moving transform leads to the frame."""
        edges = self._frames.moving_between(frame, root)
        rings = [self._frames.moving[name][1] for name in edges]
        if not rings or not all(map(len, rings)):
            return False
        if edges != self._edges:
            self._edges, self._master = edges, ""
            self.restart()
        if not self._master:
            if min(map(len, rings)) < SETTLED and not finished:
                return False
            periods = [spacing_of(r.stamps[:SETTLED]).period if len(r) > 1 else 0.0 for r in rings]
            self._master = edges[int(np.argmax(periods))]
        closed = min(int(r.stamps[-1]) + 1 if finished else r.closed for r in rings)
        stamps, rows = self._frames.poses(frame, root, self._master, self._since, closed)
        ring = self.track.ring
        if len(stamps):
            if len(ring) and rows[0, 3:] @ ring.rows[-1, 3:] < 0.0:
                rows[:, 3:] *= -1.0
            self._since = int(stamps[-1])
            ring.push(stamps, rows)
            self._low = np.minimum(self._low, rows[:, :3].min(0))
            self._high = np.maximum(self._high, rows[:, :3].max(0))
        return True

    @property
    def never_moves(self) -> bool:
        """True where transforms have turned the frame alone."""
        rows = self.track.ring.rows
        return bool(len(rows) and (self._high == self._low).all() and np.ptp(rows[:, 3:], 0).any())


def counted(name: str, count: int, why: str = "") -> Iterable[tuple[str, Numbers]]:
    """The finding that counts something; none where there is nothing to count."""
    return [(name, {"count": count, "where": "", "why": why})] if count else []


def _motion_of_poses(signal: Signal) -> Motion:
    """Motion of a frame whose pose (n, 7) is known with its derivatives."""
    n = len(signal.number)
    if not n:
        return no_motion(0)
    size = np.linalg.norm(signal.value[:, 3:], axis=1)[:, None]
    unit = signal.value[:, 3:] / size
    omega, alpha = (rates_of(unit, part[:, 3:] / size)
                    for part in (signal.rate, signal.acceleration))
    rotation = Rotation.from_quat(unit).as_matrix()
    felt = np.einsum("nij,ni->nj", rotation, signal.acceleration[:, :3])
    return Motion(signal.number, rotation, signal.value[:, :3], felt, omega, alpha,
                  np.empty((n, 0, 3, 3)), np.empty((n, 0, 6)))


def rates_of(quaternion: Array, change: Array) -> Array:
    """Angular velocity (n, 3) in the turned axes of unit quaternions (n, 4) x, y, z, w that change
    (n, 4), or angular acceleration of their second derivative: 2 vec(q* dq)."""
    x, y, z, w = quaternion.T
    back = np.stack([np.stack(row, 1) for row in ((w, z, -y, -x), (-z, w, x, -y), (y, -x, w, -z))],
                    1)  # vec(q* p) of p = (x, y, z, w)
    return np.asarray(2.0 * np.einsum("nij,nj->ni", back, change))
