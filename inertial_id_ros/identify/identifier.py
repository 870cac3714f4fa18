# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification in one object: samples in, estimates, findings and the load to remove out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import kinds
from ..compensation.latch import Latch, LoadInUse, WindowSays
from ..detect.bank import Kind
from ..detect.contradictions import Reason, contradictions
from ..detect.row import HALF
from ..detect.scan import Event, Scan
from ..errors import InvalidShape, NotEnoughData
from ..estimate import Estimate, NoEstimate, Outcome
from ..estimators import create
from ..explain.explain import Explanation
from ..findings import Finding, sort_findings
from ..geometry.shape import Shape
from ..io.sample_blocks import Edges, JointStates, Samples, Wrenches, split_by_time
from ..model.history import History
from ..model.tool import Tool
from ..motion.faults import Fault
from ..motion.frames import place_of
from ..motion.motion import BIN, BIN_NS, Array
from ..motion.source import Streams
from ..settings import Settings
from .beliefs import Beliefs, compensated_by_driver, describe_tare, measure_tare
from .estimate import estimate, surprise
from .state import State

EVERY, PACE = 50, 10  # bins between estimates that scan and latch read; from judging to judging
BATCH = 2000  # samples that settle at once
MOST_FAULTS = 100  # spans that are left out
SHOWN_NS = 3_000_000_000  # for which the finding of an event stands
NAMES = {Kind.PAYLOAD: "payload_changed", Kind.RELEASED: "payload_changed",
         Kind.RETURNED: "payload_changed", Kind.ZEROED: "zero_moved.wrench",
         Kind.OFFSET: "zero_or_contact", Kind.POURS: "payload_walks", Kind.LOST: "estimate_lost"}
NUMBERS = {"sensor_filter1": "wrench_filtered", "sensor_filter2": "wrench_filtered"}
OLD_NS = 1_000_000_000  # beyond the time from one estimate to the next
TARE_SECONDS, TARE_TURN = 1.0, 0.02  # s; rad/s


class Identifier:
    """See the module.

    Args:
        settings: of all groups but those of topics and services.

    Attributes:
        beliefs: what was said; load: that may be removed from the wrench now.
    """

    def __init__(self, settings: Settings, beliefs: Beliefs | None = None) -> None:
        self.settings, self.beliefs = settings, beliefs or Beliefs()
        self._streams, self._finished = Streams(settings), False
        self._estimator = create(settings)
        self._events: dict[str, tuple[int, str, dict[str, float]]] = {}
        self._counts: Counter[str] = Counter()
        self._begin()

    def _begin(self) -> None:
        """Forget what was measured."""
        self._history = History()
        sheet = self.beliefs.sheet(self.settings, self._streams.newest)
        tool = self.beliefs.tool
        self._scan = Scan(sheet, None if tool is None else (
            tool.phi, np.sqrt(np.diag(tool.covariance))))
        self._latch = Latch()
        self._judged = 0
        self._restarts = self._streams.restarts
        self._faults: list[Fault] = []
        self._memo: dict[int, tuple[Outcome, Explanation | None]] = {}
        self._asked: tuple[int, tuple[Outcome, Explanation | None]] | None = None
        self._last: Outcome | None = None

    # ---- samples --------------------------------------------------------------------------------

    def set_robot_description(self, urdf: str) -> None:
        """Take another robot description (raises InvalidModel)."""
        self._streams.set_robot_description(urdf)

    def add_static_transform(self, parent: str, child: str, translation: Sequence[float],
                             quaternion: Sequence[float]) -> None:
        """A frame stays in its parent: translation (3,) [m], quaternion x, y, z, w."""
        self._streams.add_static_transform(parent.lstrip("/"), child.lstrip("/"),
                                           place_of(translation, quaternion))

    def add_arrays(self, batches: Sequence[Samples]) -> list[Outcome]:
        """Add samples of several streams, those of a stream in the order of time.

        Returns:
            The outcomes that became due at `estimator.rate`, in order of time.
        """
        out: list[Outcome] = []
        for part in split_by_time(list(batches), BATCH):
            for samples in part:
                self._add(samples)
            out += self._advance()
        return out

    def _add(self, samples: Samples) -> None:
        if isinstance(samples, Wrenches):
            self._streams.add_wrenches(samples.stamps, samples.frame_id.lstrip("/"), samples.rows)
        elif isinstance(samples, JointStates):
            self._streams.add_joint_states(samples.stamps, samples.names, samples.positions)
        elif isinstance(samples, Edges):
            self._streams.add_transforms(samples.stamps, samples.parent.lstrip("/"),
                                         samples.child.lstrip("/"), samples.rows)

    def _advance(self) -> list[Outcome]:
        """Let the samples so far settle in the history, and judge it; outcomes that are due."""
        motion, stamps, rows = self._streams.advance(self._finished)
        if self._streams.restarts != self._restarts:
            self._begin()
        self._faults += self._streams.take_faults()
        self._history.append(motion, stamps, self.settings.wrench.sign * rows)
        if len(motion.number) and not self._judged:
            self._judged = int(motion.number[0]) // EVERY * EVERY
        out: list[Outcome] = []
        while self._judged and self._judged + PACE <= self._ready:
            out += self._judge(self._judged + PACE)
        return out

    def finish(self) -> list[Outcome]:
        """No sample will follow: the last ones are used in full. What became due by that."""
        self._finished = True
        out = self._advance()
        return [*out, self._answer(self._undisturbed(self._ready))] if self._judged else out

    @property
    def _ready(self) -> int:
        """Bin before which motion and wrench are complete."""
        return min(self._history.end, self._history.wrench_end)

    @property
    def _period(self) -> int:
        """Bins from one estimate that is published to the next."""
        return max(round(1.0 / (self.settings.estimator.rate * BIN * PACE)), 1) * PACE

    def _judge(self, end: int) -> list[Outcome]:
        """Scan the rows whose bins are all before `end`, whatever is there of later ones, and find
        the estimates that are due. What one says holds for the rows after it."""
        self._judged, out = end, list[Outcome]()
        self._mark_faults(end)
        before = self._history.marks
        late = max(round(self._scan.setup.delay / BIN), 0)
        events = self._scan.update(self._history, end - HALF - late)
        if not (self.settings.contact.detect and self.settings.change.detect):
            self._history.marks = before
        self._follow(events)
        if end % EVERY == 0:
            self._conclude(end)
        if end % self._period == 0:
            out.append(self._answer(self._undisturbed(end)))
        self._latch.update(self._scan)
        return out

    def _mark_faults(self, end: int) -> None:
        """Mark bins whose motion or wrench was known to be wrong before a bin."""
        some = [fault for fault in self._faults if fault.known < end * BIN_NS]
        if some:
            self._faults = [fault for fault in self._faults if fault.known >= end * BIN_NS]
            marks = self._history.marks
            spans = tuple((f.first // BIN_NS - 7, f.last // BIN_NS + 8) for f in some)
            self._history.marks = replace(marks, faults=(*marks.faults, *spans)[-MOST_FAULTS:])

    def _conclude(self, end: int) -> None:
        """Let scan and latch know what the estimate before a bin says."""
        _, explained = self._estimate(self._undisturbed(end))
        if explained is None:
            return
        setup, sheet = explained.setup, self.beliefs.sheet(self.settings, end * BIN_NS)
        wrong = np.inf if self._refused(explained) else surprise(explained, sheet)
        self._scan.use(setup)
        self._latch.judge(WindowSays(end, setup, [kind for kind, _ in explained.named], wrong))

    def _refused(self, explained: Explanation) -> list[Reason]:
        sheet = self.beliefs.sheet(self.settings, self._streams.newest)
        return contradictions(explained, sheet, self.settings.load.reference_mass)

    def _follow(self, events: Sequence[Event]) -> None:
        for event in events:
            self._latch.update(self._scan, event)
            name = NAMES.get(event.kind)
            if name:
                self._counts[name] += 1
                self._events[name] = event.number * BIN_NS, name, {
                    "change": event.change, "count": self._counts[name]}

    # ---- answers --------------------------------------------------------------------------------

    def _undisturbed(self, end: int) -> int:
        """The bin before which an estimate is made: no later than what is suspect now."""
        onset = self._scan.onset
        return end if onset is None else min(end, onset - HALF)

    def _estimate(self, end: int) -> tuple[Outcome, Explanation | None]:
        """The estimate of the history before a bin; memory of the newest is a cache."""
        if end not in self._memo:
            self._memo = dict(list(self._memo.items())[-3:])
            self._memo[end] = self._computed(end)
        return self._memo[end]

    def _computed(self, end: int) -> tuple[Outcome, Explanation | None]:
        return estimate(self._history, end, self.beliefs, self.settings, self._estimator,
                        self._streams.frame)

    @property
    def outcome(self) -> Outcome:
        """The newest outcome that was due, stale where nothing fresh follows from the samples
        since; nothing is computed."""
        missing = self._streams.missing()
        if missing is not None:
            text = kinds.made("no_estimate", why=_sentence(*missing)).text
            return NoEstimate(self._streams.newest, self._streams.frame, text)
        last = self._last
        if last is None:
            return NoEstimate(self._streams.newest, self._streams.frame, "too few samples yet")
        return last if self._is_fresh(last) else _as_stale(last, self._why_stale())

    def solve(self) -> Outcome:
        """The estimate of the samples so far: physically consistent, or why there is none.

        Nobody else reads what is computed for it: whoever asks changes nothing.
        """
        if self._streams.missing() is not None or not self._judged:
            return self.outcome
        end = self._undisturbed(self._ready)
        if end not in self._memo and (self._asked is None or self._asked[0] != end):
            self._asked = end, self._computed(end)
        found = self._memo[end] if self._asked is None or self._asked[0] != end else self._asked[1]
        outcome = self._withdrawn(*found)
        is_new = self._last is None or outcome.stamp_ns >= self._last.stamp_ns
        if not is_new:
            return self.outcome
        return outcome if self._scan.onset is None else _as_stale(outcome, self._why_stale())

    def _answer(self, end: int) -> Outcome:
        """The outcome before a bin, for those who get what is due."""
        last, outcome = self._last, self._withdrawn(*self._estimate(end))
        if last is not None and isinstance(outcome, Estimate) and isinstance(last, Estimate) and (
                outcome.stamp_ns <= last.stamp_ns):
            outcome = _as_stale(replace(last, findings=outcome.findings), self._why_stale())
        self._last = outcome
        return outcome

    def _withdrawn(self, outcome: Outcome, explained: Explanation | None) -> Outcome:
        """An outcome with the findings of now, without what they put in doubt."""
        findings = self._findings(explained)
        named = replace(outcome, findings=tuple(f.text for f in findings))
        return kinds.withdraw_doubted(named, findings)

    def _is_fresh(self, outcome: Outcome) -> bool:
        """True where no newer samples disagree with an outcome."""
        late = self._streams.newest - outcome.stamp_ns > OLD_NS + 10 * self._period * BIN_NS
        return self._scan.onset is None and not late

    def _why_stale(self) -> str:
        return ("the wrench does not fit the payload now" if self._scan.onset is not None
                else "no new samples")

    def findings(self) -> tuple[Finding, ...]:
        """Everything about the samples so far that deserves attention, errors first."""
        return self._findings(next(reversed(self._memo.values()))[1] if self._memo else None)

    def _findings(self, explained: Explanation | None) -> tuple[Finding, ...]:
        out = {finding.name: finding for finding in self._all_findings(explained)}
        return sort_findings(out.values())

    def _all_findings(self, explained: Explanation | None) -> Iterator[Finding]:
        for name, numbers in self._streams.findings():
            yield _finding(name, numbers)
        newest = self._ready * BIN_NS
        for stamp, name, values in self._events.values():
            if newest - stamp < SHOWN_NS:
                yield _finding(name, values)
        if self._scan.onset is not None:
            seconds = BIN * (self._ready - self._scan.onset)
            yield kinds.made("contact", seconds=seconds, count=len(self._history.marks.contacts))
        for kind, said in (*explained.named, *self._refused(explained)) if explained else ():
            yield _finding(NUMBERS.get(kind, kind), said)

    def load_in_use(self) -> LoadInUse:
        """The load that may be removed from the wrench."""
        return self._latch.load

    @property
    def streams(self) -> Streams:
        """The inputs."""
        return self._streams

    # ---- commands -------------------------------------------------------------------------------

    def tare(self) -> str:
        """Use the mean wrench of the last second, at rest, as the zero.

        Raises:
            NotEnoughData: too few samples, or the sensor is not at rest.
        """
        window = self._history.window(self._ready, TARE_SECONDS, marked=False)
        turn = float(np.linalg.norm(window.motion.omega, axis=1).max(initial=0.0))
        if turn > TARE_TURN:
            raise NotEnoughData(f"the sensor turns with {turn:.3f} rad/s; tare needs it at rest "
                                f"(at most {TARE_TURN} rad/s)")
        readings = self.settings.wrench.sign * window.wrench[window.used]
        tare = measure_tare(readings, self._ready * BIN_NS, self._streams.frame, self.settings)
        self.believe(replace(self.beliefs, tare=tare))
        return describe_tare(tare)

    def untare(self) -> str:
        """Drop the tare; says whether there was one."""
        had = self.beliefs.tare is not None
        self.believe(replace(self.beliefs, tare=None))
        return "the tare is dropped" if had else "there was no tare"

    def set_tool(self, tool: Tool | None) -> None:
        """Estimate the object apart from a tool from now on; None: all that is carried."""
        self.believe(replace(self.beliefs, tool=tool))

    def set_shape(self, shape: Shape | None) -> None:
        """Use another shape from now on; None forgets it."""
        self.believe(replace(self.beliefs, shape=shape))

    def state(self) -> State:
        """What outlives this run."""
        return State(self.beliefs.tool, self.beliefs.tare)

    def restore(self, state: State) -> str:
        """Go on from an earlier run; says what of it was not used, empty: all was."""
        changes = "" if state.tare is None else state.tare.describe_changes(self.settings)
        tare = None if changes else state.tare
        self.believe(replace(self.beliefs, tool=state.tool, tare=tare))
        return changes

    def reset(self, reason: str) -> None:
        """Forget all samples; what was said stays."""
        self._counts["reset"] += 1
        self._streams = self._streams.emptied()
        self._begin()

    def believe(self, beliefs: Beliefs) -> None:
        """Estimates from now on are by other beliefs; where the driver compensates another
        payload, what was measured before counts no more."""
        before, self.beliefs = self.beliefs, beliefs
        self._memo.clear()
        self._asked = None
        if not _are_equal(before.compensated, beliefs.compensated):
            self._begin()

    def set_settings(self, settings: Settings) -> None:
        """Go on with other settings; topics, frames and files stay as they were.

        Raises:
            InertialIdError: the estimator cannot be made, or needs a shape and has none.
        """
        estimator = create(settings)
        if estimator.needs_shape and self.beliefs.shape is None:
            raise InvalidShape(f"estimator.method '{estimator.name}' needs the shape of the "
                               "object, and none is given: call set_shape first")
        compensated = self.beliefs.compensated
        if settings.precompensated.source == "settings":
            compensated = compensated_by_driver(settings)
        self.settings, self._estimator = settings, estimator
        self.believe(replace(self.beliefs, compensated=compensated))


def _as_stale(outcome: Outcome, reason: str) -> Outcome:
    return outcome.as_stale(reason) if isinstance(outcome, Estimate) else outcome


def _are_equal(one: Array | None, other: Array | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def _finding(name: str, numbers: Mapping[str, float | str]) -> Finding:
    """A finding; what its sentence does not need is left out."""
    given: dict[str, Any] = {"why": "", "where": "", "seconds": 0.0, **numbers}
    return kinds.made(name, **given)


def _sentence(kind: str, numbers: dict[str, float | str]) -> str:
    """Why there is no estimate."""
    texts = {"no_wrench": "no wrench received on '{topic}'",
             "no_motion": "no motion: neither joint states with a robot description on "
                          "'{topic}' nor transforms of the sensor",
             "joints_missing": "no joint states of {names}", "sensor_frame.unknown": "{text}"}
    return texts[kind].format(**numbers)

