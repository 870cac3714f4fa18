# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The samples of all streams, and the motion of the sensor and its wrench that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pinocchio as pin

from ..errors import InertialIdError, UnknownFrame
from ..samples.ring import Ring
from ..samples.wrenches import Wrenches
from ..settings import Settings
from .description import link_names
from .faults import Fault
from .frames import Frames, Tree, WrenchPlace, edges_of_robot
from .motion import BIN_NS, NO_MOTION, Array, IntArray, Motion
from .robot import Chain, chain_of, model_of
from .signals import APART_NS, Joints, Poses

Numbers = dict[str, float | str]
SILENT_NS = 500_000_000  # after which a stream is missing
PATIENCE_NS = 2_000_000_000  # of wrenches without joint states, after which transforms are used
TURNS, MOST_MOVES = 0.05, 6000  # rad/s, from which the sensor moves; bins that are remembered
KINDS = {"frozen": "motion_frozen", "mixed": "streams_mixed", "stuck": "input_stuck"}
NO_NUMBER, NO_POSE = "NaN, infinity or no stamp", "no pose, or no stamp"
SHOWN_NS = 1_500_000_000  # for which a fault that is over is still named


class Trouble:
    """Gaps and faults of streams, and for how long they are named.

    Attributes:
        faults: found and not taken out yet.
    """

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._named: dict[str, tuple[int, float, int]] = {}  # stamp, seconds, count by name
        self.begin_anew()

    def begin_anew(self) -> None:
        """The clock went back."""
        self._moves = np.empty(0, np.int64)  # bins in which the sensor turns
        self._last: dict[str, int] = {}  # stamps of wrench and motion

    def add(self, fault: Fault, stream: str) -> None:
        """A fault shows in a stream."""
        self.faults.append(fault)
        self.note(f"{KINDS[fault.kind]}.{stream}", fault.known, 1e-9 * (fault.last - fault.first))

    def note(self, name: str, stamp: int, seconds: float = 0.0, more: int = 1) -> None:
        """Something shows at a stamp [ns], once more."""
        count = self._named[name][2] if name in self._named else 0
        self._named[name] = stamp, seconds, count + more

    def note_gaps(self, name: str, stamps: IntArray) -> None:
        """Note that a stream has been silent for a while before one of its samples."""
        if len(stamps):
            steps = np.diff(stamps, prepend=self._last.get(name, int(stamps[0])))
            self._last[name] = int(stamps[-1])
            for k in np.flatnonzero(steps > SILENT_NS).tolist():
                self.note(f"samples_missing.{name}", int(stamps[k]), 1e-9 * float(steps[k]))

    def note_stuck(self, motion: Motion, stuck: list[tuple[int, int]]) -> None:
        """Readings that are the same to the last bit between two stamps [ns] are wrong where the
        sensor turned; those that are judged are taken out of the list."""
        turns = motion.number[np.linalg.norm(motion.omega, axis=1) > TURNS]
        self._moves = np.concatenate([self._moves, turns])[-MOST_MOVES:]
        newest = int(motion.number[-1]) * BIN_NS if len(motion.number) else 0
        while stuck and stuck[0][1] < newest:
            first, last = stuck.pop(0)
            low, high = np.searchsorted(self._moves, (first // BIN_NS, last // BIN_NS + 1))
            if high > low:
                self.add(Fault("stuck", first, last, last), "wrench")

    def findings(self, newest: int) -> Iterator[tuple[str, Numbers]]:
        """Names and numbers of what showed shortly before the newest stamp [ns]."""
        for name, (stamp, seconds, count) in self._named.items():
            if newest - stamp < SHOWN_NS:
                yield name, {"count": count, "seconds": seconds, "where": ""}


class Streams:
    """What came in, and what follows from it bin by bin.

    Attributes:
        settings: in use; urdf: the robot description in use; empty: there is none.
        frame: of the wrench; empty until known.
        frames: the tree of transforms; chain: to the sensor by the robot description, or None.
        sign: of readings, as a factor to what the sensor exerts on the payload.
        restarts: how often a clock went back, or the sensor was mounted otherwise: what was
            measured before counts no more.
    """

    def __init__(self, settings: Settings, before: Streams | None = None) -> None:
        self.settings, self.sign = settings, settings.wrench.sign
        noise, limits = np.repeat(settings.wrench.noise, 3), np.repeat(settings.wrench.range, 3)
        self.frame, self._said = settings.wrench.sensor_frame.lstrip("/"), ""
        self.frames, self.urdf, self.restarts = Frames(), "", 0
        self.chain: Chain | None = None
        if before is not None:
            self.frame, self.frames = before.frame, Frames(before.frames.fixed)
            self.urdf, self.chain = before.urdf, before.chain
        self._fixed: Tree | None = None  # all that is fixed; None: it has to be made
        self._chain_of, self._why = "", ""  # frame that the chain leads to; why it does not
        self.wrenches, self._place = Wrenches(noise, limits), WrenchPlace()
        self.joints, self._poses, self._by_poses = Joints(), Poses(self.frames), False
        if self.chain is not None:
            self.joints.use(self.chain.turning)
        self.counts: Counter[str] = Counter()
        self._trouble = Trouble()

    def emptied(self) -> Streams:
        """The same robot and fixed transforms without any samples."""
        return Streams(self.settings, self)

    # ---- samples --------------------------------------------------------------------------------

    def set_robot_description(self, urdf: str) -> None:
        """Take another robot description; raises InvalidModel if it is none."""
        if urdf != self.urdf:
            model_of(urdf)
            self.urdf, self._fixed = urdf, None

    def add_joint_states(self, stamps: IntArray, names: Sequence[str], positions: Array,
                         efforts: Array | None = None) -> None:
        """Positions (m, k) of k joints, or of some of them [rad or m]; others' are left out, and so
        are efforts."""
        self.joints.add(np.asarray(stamps), tuple(names), np.asarray(positions, float))

    def add_transforms(self, stamps: IntArray, parent: str, child: str, poses: Array) -> None:
        """Poses (m, 7) of a frame in its parent: translation, quaternion x, y, z, w."""
        self.frames.move(parent, child, np.asarray(stamps), np.asarray(poses, float))

    def add_static_transform(self, parent: str, child: str, place: pin.SE3) -> None:
        """A frame stays in its parent (raises InvalidData)."""
        if self.frames.fix(parent, child, place):
            self._fixed = None

    def add_wrenches(self, stamps: IntArray, frame: str, wrench: Array) -> None:
        """Readings (m, 6) in a frame."""
        self.frame, self._said = self.frame or frame, frame or self._said
        self.wrenches.push(np.asarray(stamps), np.asarray(wrench, float))

    def newest_positions(self) -> dict[str, tuple[int, float]]:
        """Stamp [ns] and newest position [rad or m] of the joints that move the sensor."""
        return {name: (int(track.ring.stamps[-1]), float(value))
                for key, track in self.joints.tracks.items() if len(track.ring)
                for name, value in zip(key, track.ring.rows[-1], strict=True)}

    def tree(self) -> Tree:
        """Where all frames lie by the newest samples. Where description and transforms both tell
        where a link lies, the description counts."""
        return Tree(self.frames.newest() | (
            edges_of_robot(self.urdf, self.newest_positions()) if self.urdf else {}))

    # ---- what follows ---------------------------------------------------------------------------

    def advance(self, finished: bool = False) -> tuple[Motion, IntArray, Array]:
        """Motion of the bins that have settled since the last call, and readings (m, 6) at stamps
        (m,) [ns]; finished: no sample will follow."""
        self._resolve()
        self._notice_restarts()
        stamps, rows = self.wrenches.take(finished)
        more = self.wrenches.counts["mixed"] - self.counts["mixed"]
        if more:  # it doubts all while it lasts, and not for ever
            self.counts["mixed"] += more
            self._trouble.note("streams_mixed.wrench", self.newest, more=more)
        motion = self._motion(finished)
        rows = self._placed(rows, motion)
        self._trouble.note_gaps("wrench", stamps)
        self._trouble.note_gaps("motion", motion.number * BIN_NS)
        self._trouble.note_stuck(motion, self.wrenches.stuck)
        for stream, tracks in (("joints", self.joints.tracks.values()),
                               ("transforms", [self._poses.track])):
            for track in tracks:
                for fault in track.faults:
                    self._trouble.add(fault, stream)
                track.faults = []
        return motion, stamps, rows

    def take_faults(self) -> list[Fault]:
        """What was found to be wrong with the motion since the last call, also of bins that were
        given before."""
        out, self._trouble.faults = self._trouble.faults, []
        return out

    def _placed(self, rows: Array, motion: Motion) -> Array:
        """Readings (m, 6) in the frame of the sensor, where they name another that lies there."""
        if self._said in ("", self.frame):
            return rows
        fixed = self._tree_of_fixed()
        try:
            self._place.place = fixed.place(self.frame, self._said)[0]
        except UnknownFrame:
            known = self._place.place is not None
            if self.chain is not None and self._place.compare(
                    self._said, self.frames, fixed, self._links()[0], self.chain, motion):
                self.restarts += known
        place = self._place.place
        return rows if place is None else np.asarray(
            rows @ np.asarray(place.toDualActionMatrix()).T)

    @property
    def transforms(self) -> list[pin.SE3 | tuple[str, str]]:
        """Chain from the base to the sensor where its motion comes from TF: a place where an edge
        is fixed, names of parent and child where it moves. Empty where joint states are used."""
        names = self.frames.path(self.frame) if self._by_poses else []
        gravity = self.settings.gravity.frame
        up = names[:names.index(gravity)] if gravity in names else names[:-1]
        return [self.frames.fixed[n].place if n in self.frames.fixed else (
            self.frames.moving[n][0], n) for n in reversed(up)]

    def _motion(self, finished: bool) -> Motion:
        if self.chain is not None and not self.joints.lacking():
            if self._by_poses:  # joint states came late
                self._by_poses = False
                self.restarts += 1
            signal = self.joints.advance(finished)
            return self.chain.motion(signal.number, self.joints.order, *signal[1:])
        ring = self.wrenches.ring
        waited = finished or (len(ring) and ring.closed > self.wrenches.begin + PATIENCE_NS)
        root = self.settings.gravity.frame or self.frames.path(self.frame)[-1]
        if not (waited or self._by_poses) or not self._poses.update(self.frame, root, finished):
            return NO_MOTION
        self._by_poses = True
        return self._poses.advance(finished)

    def _links(self) -> tuple[str, ...]:
        return link_names(model_of(self.urdf)[0])

    def _tree_of_fixed(self) -> Tree:
        if self._fixed is None:
            self._fixed = Tree(self.frames.fixed | (
                edges_of_robot(self.urdf, {}) if self.urdf else {}))
            self._chain_of = ""
        return self._fixed

    def _resolve(self) -> None:
        """Find the chain to the frame of the wrench, in the description or fixed to it."""
        self._tree_of_fixed()
        if not self.urdf or not self.frame or self._chain_of == self.frame:
            return
        self._chain_of, self._why = self.frame, ""
        try:
            chain = self._made_chain()
        except InertialIdError as error:
            self._why = str(error)
            return
        if self.chain is None or not chain.equals(self.chain):
            self.restarts += self.chain is not None
            self.chain = chain
        self.joints.use(chain.turning)

    def _made_chain(self) -> Chain:
        gravity, links, fixed = self.settings.gravity.frame, self._links(), self.frames.fixed
        inside = gravity if gravity in links else ""
        link = next((name for name in fixed.path(self.frame) if name in links), self.frame)
        chain = chain_of(self.urdf, link, inside)
        tip, above = chain.tip * fixed.place(link, self.frame)[0], fixed.path(links[0])
        if inside:
            return Chain(chain.root, chain.joints, tip)
        if gravity and gravity not in above:
            raise InertialIdError(f"gravity.frame '{gravity}' is neither in the robot description "
                                  f"nor above its root '{links[0]}' by fixed transforms")
        return Chain(fixed.place(gravity or above[-1], links[0])[0], chain.joints, tip)

    def _notice_restarts(self) -> None:
        """Forget samples of a clock that went back, in all streams."""
        rings = [self.wrenches.ring, *self._rings()]
        back = [ring for ring in rings if ring.counts["restarted"]]
        count = sum(ring.counts["restarted"] for ring in back)
        if count == self.counts["restarted"]:
            return
        self.counts["restarted"] = count
        self.restarts += 1
        newest = min(int(ring.stamps[-1]) for ring in back)
        for ring in rings:
            if len(ring) and ring.stamps[-1] > newest + APART_NS:
                ring.clear()
        for part in (self.joints, self._poses):
            part.restart()
        self._trouble.begin_anew()

    # ---- what is wrong --------------------------------------------------------------------------

    @property
    def newest(self) -> int:
        """Newest stamp [ns] of wrench or motion; 0 before any."""
        return _newest([self.wrenches.ring, *self._rings()])

    def _rings(self) -> Iterator[Ring]:
        yield from (track.ring for track in self.joints.tracks.values())
        yield from (ring for _, ring in self.frames.moving.values())

    def missing(self) -> tuple[str, Numbers] | None:
        """Kind and numbers of what is needed and not there; None: nothing is missing."""
        if not len(self.wrenches.ring):
            return "no_wrench", {"topic": self.settings.wrench.topic}
        if not self.frame:
            return "no_frame", {"topic": self.settings.wrench.topic}
        self._resolve()
        if self._by_poses:
            return None
        if self.chain is not None:
            lacking = self.joints.lacking()
            return ("joints_missing", {"names": ", ".join(lacking)}) if lacking else None
        if self._why:
            return "sensor_frame.unknown", {"text": self._why}
        return "no_motion", {"topic": self.settings.joint_states.topic}

    def findings(self) -> Iterator[tuple[str, Numbers]]:
        """Kinds and numbers of what is, or was, wrong with the samples."""
        own = self.wrenches.counts
        for name, rings, invalid, why in (
                ("wrench", [self.wrenches.ring], own["invalid"], NO_NUMBER),
                ("joints", [track.ring for track in self.joints.tracks.values()],
                 self.joints.counts["invalid"], NO_NUMBER),
                ("transforms", [ring for _, ring in self.frames.moving.values()],
                 self.frames.invalid, NO_POSE)):
            for kind in ("samples_repeated", "samples_late", "samples_reordered", "stamp_stray"):
                yield from counted(f"{kind}.{name}", sum(
                    ring.counts[kind.partition("_")[2]] for ring in rings))
            yield from counted(f"samples_invalid.{name}", invalid, why)
        yield from counted("samples_saturated.wrench", own["saturated"])
        yield from counted("input_stuck.wrench", own["zero"])
        yield from counted("joint_states_incomplete", self.joints.counts["others"],
                           "they name no joint that moves the sensor, or lack its position")
        yield from counted("reset", self.counts["restarted"])
        yield from self._trouble.findings(self.newest)
        if self.wrenches.are_of_other_units:
            yield "wrong_units.wrench", {"why": "most readings lie far beyond the range of the "
                                                "sensor (wrench.range); they must be in N and N m"}
        if self.chain is not None and self.joints.are_in_degrees(self.chain):
            yield "wrong_units.joints", {"why": "positions lie far beyond the limits of their "
                                                "joints: they are in degrees"}
        yield from self._of_tracks()
        if self._said not in ("", self.frame) and self._place.place is None:
            yield self._of_frame()
        for name, some in (("wrench", [self.wrenches.ring]), ("motion", list(self._rings()))):
            last = _newest(some)  # it has stopped, or its clock is behind
            if last and self.newest - last > SILENT_NS:
                yield f"samples_missing.{name}", {"seconds": 1e-9 * (self.newest - last)}

    def _of_frame(self) -> tuple[str, Numbers]:
        if self._said.endswith("tool0_controller"):
            return "sensor_frame.unknown", {"why": f"the wrench is expressed in '{self._said}', "
                                            "the TCP of the robot, and no transform tells where "
                                            f"that lies in '{self.frame}'"}
        return "sensor_frame.replaced", {"why": f"its messages name '{self._said}', "
                                         f"wrench.sensor_frame '{self.frame}' is used instead"}

    def _of_tracks(self) -> Iterator[tuple[str, Numbers]]:
        name = "transforms" if self._by_poses else "joints"
        tracks = [self._poses.track] if self._by_poses else self.joints.tracks.values()
        for track in tracks:
            for fault in track.lasting:
                seconds = 1e-9 * float(track.ring.stamps[-1] - fault.first)
                yield f"motion_frozen.{name}", {"count": 1, "seconds": seconds}
            if track.is_slow and track.spacing is not None:
                yield "motion_slow", {"rate": 1.0 / track.spacing.period}
        if self._by_poses and self._poses.never_moves:
            yield "translation_constant", {}


def _newest(rings: Iterable[Ring]) -> int:
    return max((int(ring.stamps[-1]) for ring in rings if len(ring)), default=0)


def counted(name: str, count: int, why: str = "") -> Iterable[tuple[str, Numbers]]:
    """The finding that counts something; none where there is nothing to count."""
    return [(name, {"count": count, "where": "", "why": why})] if count else []
