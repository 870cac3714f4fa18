# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The samples of all streams, and the motion of the sensor and its wrench that follow from them."""

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from ..errors import InertialIdError, UnknownFrame
from ..io import inputs
from ..samples.ring import JUMP_NS, MOST, SECOND, SHOWN_NS, SILENT_NS, Ring
from ..samples.wrenches import Wrenches
from ..settings import Settings
from .frames import Frames, WrenchPlace, chain_of, links_of
from .motion import BIN_NS, NO_MOTION, Array, IntArray, Motion
from .robot import Chain, link_names, model_of
from .track import HELD, KEPT_NS, LONGEST, SLOW, TURN, Fault, Signal, Track, advance_together

PATIENCE_NS = 2 * SECOND  # of wrenches without joint states, after which transforms are used
Numbers = dict[str, float | str]
# Findings of rings, with what they count.
COUNTED = {"samples_invalid": "invalid", "samples_repeated": "repeated", "samples_late": "late",
           "samples_reordered": "reordered", "stamp_stray": "stray"}
WOUND_UP = 3.0 * TURN  # rad: nearly no joint of an arm is farther from zero, and never two


class Trouble:
    """Faults of streams, and for how long they are named.

    Attributes:
        faults: found and not taken out yet.
        named: of each finding when it showed last, and how long all of that lasted.
    """

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.named: dict[str, tuple[int, float]] = {}  # [ns], [s]
        self._moves = np.empty(0, np.int64)  # bins in which the sensor turns

    def take(self, stream: str, faults: list[Fault]) -> None:
        """Take faults of a stream out of a list."""
        self.faults += faults
        for fault in faults:
            name = f"{fault.kind}.{stream}"
            before, seconds = self.named.get(name, (0, 0.0))
            goes_on = fault.known - before < SHOWN_NS
            self.named[name] = (fault.known, seconds * goes_on + 1e-9 * (fault.last - fault.first))
        faults.clear()

    def note_stuck(self, motion: Motion, stuck: list[tuple[int, int]]) -> None:
        """Readings that are the same to the last bit between two stamps [ns] are wrong where the
        sensor turned; what is judged is taken out of the list."""
        turns = motion.number[np.linalg.norm(motion.omega, axis=1) > SLOW]
        self._moves = np.concatenate([self._moves, turns])[-KEPT_NS // BIN_NS:]
        newest = int(motion.number[-1]) * BIN_NS if len(motion.number) else 0
        while stuck and newest > stuck[0][1]:
            first, last = stuck.pop(0)
            low, high = np.searchsorted(self._moves, (first // BIN_NS, last // BIN_NS + 1))
            if high > low:
                self.take("wrench", [Fault(last, first, last, "input_stuck")])


def counted(name: str, count: int) -> list[tuple[str, Numbers]]:
    """The finding that counts something; none where there is nothing to count."""
    return [(name, {"count": count})] if count else []


class Joints:
    """Joint states: of each list of joints a track.

    Attributes:
        turning: of the joints that are needed, by their names: True where one turns; None: of an
            effort, which is a signal of its own name.
        tracks: by the names of the joints, in alphabetical order.
        others: number of samples of joints that are not needed, and the newest names of such ones.
    """

    def __init__(self) -> None:
        self.tracks: dict[tuple[str, ...], Track] = {}
        self.others: tuple[int, tuple[str, ...]] = 0, ()
        self.turning: dict[str, bool | None] = {}
        self._early: list[tuple[IntArray, tuple[str, ...], Array]] = []  # before the chain is known

    def use(self, turning: Mapping[str, bool | None]) -> None:
        """These joints are needed, see `turning`."""
        if self.turning != turning:
            self.turning, self.tracks = dict(turning), {}
        early, self._early = self._early, []
        for block in early:
            self.add(*block)

    def add(self, stamps: IntArray, names: tuple[str, ...], positions: Array) -> None:
        """Take positions, or efforts, (m, k) of joints."""
        if not self.turning:
            self._early.append((stamps, names, positions))
            while sum(len(block[0]) for block in self._early[1:]) > MOST:
                del self._early[0]
            return
        wanted = tuple(sorted(set(names) & set(self.turning)))
        if not wanted or positions.shape[1] < len(names):
            self.others = self.others[0] + len(stamps), names
            return
        if wanted not in self.tracks:
            turning = [self.turning[name] for name in wanted]
            self.tracks[wanted] = Track(Ring(len(wanted)), np.array(turning, bool),
                                        are_positions=None not in turning)
        self.tracks[wanted].ring.push(stamps, positions[:, [names.index(n) for n in wanted]])

    def used(self) -> list[tuple[str, ...]]:
        """Lists of joints that together have all, the longest first; some may have stopped."""
        newest = {key: t.ring.newest for key, t in self.tracks.items() if len(t.ring)}
        last, needed, out = max(newest.values(), default=0), set(self.turning), []
        for key in sorted(newest, key=lambda k: (newest[k] < last - JUMP_NS, -len(k), k)):
            if needed & set(key):
                out.append(key)
                needed -= set(key)
        return [] if needed else out

    def newest(self) -> dict[str, tuple[int, float]]:
        """Stamp [ns] and newest position [rad or m] of each joint."""
        return {name: (track.ring.newest, float(value))
                for key, track in self.tracks.items() if len(track.ring)
                for name, value in zip(key, track.ring.rows[-1], strict=True)}

    def lacking(self) -> list[str]:
        """Joints whose positions are needed and never came."""
        return sorted(set(self.turning) - set(self.newest()))

    def missing(self) -> str:
        """Which joints are lacking, in words; empty: none are."""
        names, others = ", ".join(self.lacking()), ", ".join(self.others[1])
        came = f" (but of {others})" if others else ""
        return f"no joint states of {names}{came}" if names else ""

    def advance(self, finished: bool) -> tuple[list[str], Signal]:
        """Names of the joints, and their signals in this order, in the bins in which all are
        known."""
        used = self.used()
        return [name for key in used for name in key], advance_together(
            [self.tracks[key] for key in used], finished)


class Streams:
    """What came in, and what follows from it bin by bin.

    Attributes:
        settings: in use; urdf: the robot description in use; empty: there is none.
        frame: of the wrench; empty until known.
        frames: the transforms; chain: to the sensor by the robot description, or None.
        sign: of readings, as a factor to what the sensor exerts on the payload.
        restarts: how often a clock went back, or the sensor was mounted otherwise: what was
            measured before counts no more.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.sign = settings, settings.wrench.sign
        noise, limits = np.repeat(settings.wrench.noise, 3), np.repeat(settings.wrench.range, 3)
        self.frame, self._said = settings.wrench.sensor_frame.lstrip("/"), ""
        self.frames, self.urdf, self.restarts = Frames(), "", 0
        self.chain: Chain | None = None
        self._by_transforms: Chain | None = None
        self._uses_transforms = False
        self._resolved: tuple[object, ...] = ()  # what the chains were made of
        self._fixed, self._why = Frames(), ""  # all that stays; why there is no chain
        self.wrenches, self._place, self.joints = Wrenches(noise, limits), WrenchPlace(), Joints()
        self.counts: Counter[str] = Counter()
        self._trouble = Trouble()

    def emptied(self) -> "Streams":
        """The same robot and fixed transforms without any samples."""
        out = Streams(self.settings)
        out.frame, out.frames = self.frame, self.frames.fixed
        out.urdf, out.chain = self.urdf, self.chain
        return out

    def add(self, samples: inputs.Samples) -> None:
        """Add samples of a stream; positions of joints that are not needed, and efforts, are left
        out."""
        if isinstance(samples, inputs.Wrenches):
            frame = samples.frame_id.lstrip("/")
            self.frame, self._said = self.frame or frame, frame or self._said
            self.wrenches.ring.push(samples.stamps, samples.rows)
        elif isinstance(samples, inputs.JointStates):
            self.joints.add(samples.stamps, samples.names, samples.positions)
        else:
            self.frames.move(samples.parent, samples.child, samples.stamps, samples.rows)

    def set_robot_description(self, urdf: str) -> None:
        """Take another robot description; raises InvalidModel if it is none."""
        if urdf != self.urdf:
            model_of(urdf)
            self.urdf = urdf

    def tree(self) -> Frames:
        """Where all frames lie by the newest samples. Where description and transforms both tell
        where a link lies, the description counts."""
        return Frames(self.frames | (
            links_of(self.urdf, self.joints.newest()) if self.urdf else {}))

    def advance(self, finished: bool = False) -> tuple[Motion, IntArray, Array, list[Fault]]:
        """Motion of the bins that have settled since the last call, readings (m, 6) at stamps (m,)
        [ns], and what was found to be wrong since then, also of bins that were given before;
        finished: no sample will follow."""
        self._resolve()
        self._notice_restarts()
        motion, stamps, rows = self._settled(finished)
        self._trouble.note_stuck(motion, self.wrenches.stuck)
        for name, tracks in self._tracks().items():
            for track in tracks:
                self._trouble.take(name, track.faults.new)
        faults, self._trouble.faults = self._trouble.faults, []
        return motion, stamps, rows, faults

    def _settled(self, finished: bool) -> tuple[Motion, IntArray, Array]:
        stamps, rows = self.wrenches.take(finished)
        motion = self._motion(finished)
        return motion, stamps, self._placed(rows, motion, finished)

    @property
    def moved_by(self) -> Chain | None:
        """What the motion comes from: the arm's joints, or transforms alone."""
        return self._by_transforms if self._uses_transforms else self.chain

    def _motion(self, finished: bool) -> Motion:
        if self.chain is not None and not self.joints.lacking():
            self.restarts += self._uses_transforms  # joint states came late
            self._uses_transforms = False
            names, signal = self.joints.advance(finished)
            return self.chain.motion(signal.number, names, *signal[1:]) if len(
                signal.number) else NO_MOTION
        waits = not finished and self.wrenches.ring.newest <= self.wrenches.begin + PATIENCE_NS
        if self._by_transforms is None or (waits and not self._uses_transforms):
            return NO_MOTION
        self._uses_transforms = True
        return self.frames.motion(self._by_transforms, finished)

    def _placed(self, rows: Array, motion: Motion, finished: bool) -> Array:
        """Readings (m, 6) in the frame of the sensor, where they name another that lies there."""
        if self._said in ("", self.frame):
            return rows
        try:
            self._place.place = self._fixed.place(self.frame, self._said)[0]
        except UnknownFrame:
            self._compare(motion, finished)
        place = self._place.place
        return rows if place is None else np.asarray(
            rows @ np.asarray(place.toDualActionMatrix()).T)

    def _compare(self, motion: Motion, finished: bool) -> None:
        """Find where the frame that messages name lies on the arm, by comparing its motion by
        transforms with that by joints; a new answer is a restart."""
        if self.chain is None or self._uses_transforms:
            return
        base, is_known = link_names(model_of(self.urdf)[0])[0], self._place.place is not None
        for root in self.frames.path(self._said)[1:]:
            there = self.frames.chain(root, self._said)
            if there is not None and self._fixed.path(base)[-1] == self._fixed.path(root)[-1]:
                stands = self.chain.root * self._fixed.place(base, root)[0]
                self.restarts += self._place.compare(
                    motion, self.frames.motion(there, finished), stands) and is_known
                return

    def _resolve(self) -> None:
        """Find what moves the frame of the wrench: the description, or transforms."""
        made_of = self.frame, self.urdf, self.frames.version
        if made_of == self._resolved or not self.frame:
            return
        self._resolved, self._why = made_of, ""
        self._fixed = self.tree().fixed
        root = self.settings.gravity.frame or self.frames.path(self.frame)[-1]
        before, self._by_transforms = self._by_transforms, self.frames.chain(root, self.frame)
        if self._uses_transforms and before is not None:
            now = self._by_transforms
            self.restarts += now is None or before.model != now.model
        if not self.urdf:
            return
        try:
            chain = chain_of(self.urdf, self.frame, self.settings.gravity.frame, self.frames.fixed)
        except InertialIdError as error:
            self._why = str(error)
            return
        if self.chain is None or chain.model != self.chain.model:
            self.restarts += self.chain is not None
            self.chain = chain
        self.joints.use(chain.turning)

    def _notice_restarts(self) -> None:
        """Forget samples of a clock that went back, in all streams."""
        rings = self._rings()
        back = [ring for ring in rings if ring.counts["restarted"]]
        count = sum(ring.counts["restarted"] for ring in back)
        if count == self.counts["restarted"]:
            return
        self.counts["restarted"] = count
        self.restarts += 1
        newest = min(ring.newest for ring in back)
        for ring in rings:
            if ring.newest > newest + JUMP_NS:
                ring.clear()
        self._trouble = Trouble()

    @property
    def newest(self) -> int:
        """Newest stamp [ns] of wrench or motion; 0 before any."""
        return max(ring.newest for ring in self._rings())

    def _tracks(self) -> dict[str, list[Track]]:
        """Tracks of the motion by what they are of."""
        return {"joints": [*self.joints.tracks.values()],
                "transforms": [edge.track for edge in self.frames.values() if edge.track]}

    def _rings(self) -> list[Ring]:
        """All rings, that of the wrench first."""
        return [self.wrenches.ring, *(t.ring for some in self._tracks().values() for t in some)]

    def missing(self) -> str:
        """What is needed and not there, in words; empty: nothing is missing."""
        wrench, joints = self.settings.wrench.topic, self.settings.joint_states.topic
        if not len(self.wrenches.ring):
            return f"no usable wrench received on '{wrench}'"
        if not self.frame:
            return f"the wrench on '{wrench}' names no frame; set wrench.sensor_frame"
        self._resolve()
        if self._uses_transforms:
            return ""
        if self.chain is not None:
            return self.joints.missing()
        return self._why or ("no motion: neither joint states with a robot description on "
                             f"'{joints}' nor transforms of the sensor")

    def findings(self) -> Iterator[tuple[str, Numbers]]:
        """Kinds and numbers of what is, or was, wrong with the samples."""
        tracks, own = self._tracks(), self.wrenches
        rings = {"wrench": [own.ring]} | {name: [t.ring for t in some]
                                          for name, some in tracks.items()}
        for name, some in rings.items():
            for kind, what in COUNTED.items():
                yield from counted(f"{kind}.{name}", sum(ring.counts[what] for ring in some))
        yield from own.findings()
        yield from counted("joint_states_incomplete", self.joints.others[0])
        if self.counts["restarted"]:
            yield "reset", {"why": "clock_back"}
        for name, (stamp, seconds) in self._trouble.named.items():
            if self.newest - stamp < SHOWN_NS:
                yield name, {"seconds": seconds}
        at, turning = self.joints.newest(), self.joints.turning
        if sum(abs(at[name][1]) > WOUND_UP for name in at if turning[name]) > 1:
            yield "wrong_units.joints", {}
        yield from self._findings_of_motion()
        if self._said not in ("", self.frame) and self._place.place is None:
            is_tcp = self._said.endswith("tool0_controller")  # of a Universal Robot, not as asked
            yield f"sensor_frame.{'unknown' if is_tcp else 'replaced'}", {
                "why": "frame_unplaced", "said": self._said, "used": self.frame}
        yield from self._silence("wrench", [own.ring])

    def _findings_of_motion(self) -> Iterator[tuple[str, Numbers]]:
        """Kinds and numbers of what is wrong with the positions that tell the motion."""
        name, tracks = "joints", [self.joints.tracks[key] for key in self.joints.used()]
        if self._uses_transforms and self._by_transforms is not None:
            name, tracks = "transforms", self.frames.tracks_of(self._by_transforms)
            tip, moves = self._by_transforms.tip, np.diff(tracks[0].ring.rows, axis=0) != 0.0
            is_far = len(tracks) > 1 or tip.translation.any() or moves[:, :3].any()
            if moves.any() and not is_far:  # it only turns the sensor
                yield "translation_constant", {}
        for track in tracks:
            for fault in track.faults.lasting.values():
                yield f"motion_frozen.{name}", {"seconds": 1e-9 * (track.ring.newest - fault.first)}
            if HELD * track.spacing > LONGEST:
                yield "motion_slow", {"rate": 1.0 / track.spacing}
        yield from self._silence("motion", [track.ring for track in tracks])

    def _silence(self, name: str, rings: list[Ring]) -> list[tuple[str, Numbers]]:
        """The finding that no samples come, or that none came for a while before the newest."""
        longest, newest = 0, self.newest
        for ring in filter(len, rings):
            first = max(int(np.searchsorted(ring.stamps, newest - SHOWN_NS)) - 1, 0)
            longest = max(longest, int(np.diff(ring.stamps[first:], append=newest).max()))
        return [(f"samples_missing.{name}", {"seconds": 1e-9 * longest})] * (longest > SILENT_NS)
