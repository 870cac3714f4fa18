# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Faults of the inputs by whether they are named in time, never fresh and wrong, followed by
the truth again, and the same live and offline."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scenes import BIAS, BODY, URDF, Points, Recording, Stream, body, record

from inertial_id_ros.estimate import Estimate, Outcome
from inertial_id_ros.identify.identifier import Identifier
from inertial_id_ros.inertia import Array
from inertial_id_ros.settings import Settings

AT, END, RATE = 5.0, 12.0, 2.0  # s: of the fault, of the recording; estimates a second
WRONG = 1.0  # s, that a fresh estimate may be wrong
RNG = np.random.default_rng(4)
Change = Callable[[Stream], Stream | list[Stream]]


class Fault(NamedTuple):
    """Changes of the streams, the finding that names it, and how soon [s]; always: it is there from
    the beginning, and no estimate is right; end: of the recording [s], later where the scan has to
    begin anew, and may hold an estimate for some seconds more."""

    finding: str
    changes: dict[str, Change] = {}
    within: float = 1.0
    always: bool = False
    by_poses: bool = False
    other: Points | None = None  # carried from `AT` on
    end: float = END


def during(stream: Stream, lasts: float = 1.0) -> Array:
    """Which samples come in the fault (n,)."""
    return (stream.at >= AT) & (stream.at < AT + lasts)


def rows(change: Callable[[Array], Array], lasts: float = 1.0) -> Change:
    """Other rows (m, k) in the fault."""
    def changed(stream: Stream) -> Stream:
        out, which = stream.rows.copy(), during(stream, lasts)
        out[which] = change(out[which])
        return stream._replace(rows=out)
    return changed


def missing(lasts: float) -> Change:
    return lambda s: s.part(~during(s, lasts))


def stamped(by: float, lasts: float = 99.0) -> Change:
    """Stamps that are wrong by some seconds."""
    return lambda s: s._replace(stamp=s.stamp + by * during(s, lasts))


def stray(stream: Stream) -> Stream:
    stamp = stream.stamp.copy()
    stamp[np.searchsorted(stream.at, AT) + np.array([10, 60])] += [100.0, -100.0]
    return stream._replace(stamp=stamp)


def delayed(most: float, share: float = 1.0) -> Change:
    """A share of the samples comes up to so many seconds later; all of these, if it is small."""
    def changed(s: Stream) -> Stream:
        by = most * (RNG.random(len(s.at)) if share == 1.0 else RNG.random(len(s.at)) < share)
        return s._replace(at=s.at + by * during(s))
    return changed


def not_finite(x: Array) -> Array:
    return np.where(RNG.random(x.shape) < 0.05, RNG.choice([np.nan, np.inf, -np.inf], x.shape), x)


def second(size: float, always: bool = False) -> Change:
    """Readings of another publisher, 3 ms after each."""
    def changed(s: Stream) -> list[Stream]:
        also = s.part(slice(None) if always else during(s, 3.0))
        return [s, also._replace(at=also.at + 0.003, stamp=also.stamp + 0.003,
                                 rows=0.0 * also.rows + size * np.array([1, -1, 0.5, 0.1, 0, 0.1]))]
    return changed


def frozen(lasts: float, only: slice = slice(None)) -> Change:
    def changed(x: Array) -> Array:
        x[:, only] = x[0, only]
        return x
    return rows(changed, lasts)


def reordered(x: Array) -> Array:
    return x[np.argsort(np.arange(len(x)) + RNG.uniform(0.0, 12.0, len(x)))]


def other_device(s: Stream) -> list[Stream]:
    few = s.part(during(s))
    return [s, few._replace(labels=(("finger",),), rows=few.rows[:, :1])]


def touched(s: Stream) -> Stream:
    since = s.at - AT
    size = np.clip(10.0 * np.minimum(since, 1.5 - since), 0.0, 1.0)[:, None]
    return s._replace(rows=s.rows + size * [12.0, -9.0, 8.0, 1.0, 0.8, -0.5])


def zeroed(away: float, to: float = 0.0) -> Change:
    """A new zero, after some time without samples."""
    def changed(s: Stream) -> Stream:
        k = np.searchsorted(s.at, AT)
        return s._replace(rows=s.rows + (s.at >= AT)[:, None] * (
            to * np.array([1, -1, 1, 0.1, 0.1, -0.1]) if to else -s.rows[k])).part(
                ~during(s, away))
    return changed


def turned(x: Array) -> Array:
    """Along other axes."""
    return np.hstack([x[:, [1, 2, 0]], x[:, [4, 5, 3]]])


def scaled(*sizes: float) -> Change:
    return lambda s: s._replace(rows=s.rows * sizes)


def whole(change: Callable[[Array], Array]) -> Change:
    return lambda s: s._replace(rows=change(s.rows))


MIXED = "streams_mixed.joints"
FAULTS = {
    "NaN and infinity": Fault("samples_invalid.wrench", {"wrench": rows(not_finite)}),
    "wrench missing": Fault("samples_missing.wrench", {"wrench": missing(1.5)}),
    "motion missing": Fault("samples_missing.motion", {"motion": missing(1.5)}),
    "wrench repeated": Fault("samples_repeated.wrench", {"wrench": lambda s: [
        s, s.part(during(s))]}),
    "wrench late": Fault("samples_late.wrench", {"wrench": delayed(0.6, 0.05)}),
    "wrench out of order": Fault("samples_reordered.wrench", {"wrench": delayed(0.012)}),
    "clock jumps back": Fault("reset", {"wrench": stamped(-30.0), "motion": stamped(-30.0)}),
    "clock jumps ahead": Fault("samples_missing.wrench", {
        "wrench": stamped(86_400.0), "motion": stamped(86_400.0)}),
    "stray stamps, wrench": Fault("stamp_stray.wrench", {"wrench": stray}),
    "stray stamps, joints": Fault("stamp_stray.joints", {"motion": stray}),
    "stray stamps, poses": Fault("stamp_stray.transforms", {"motion": stray}, by_poses=True),
    "joints of another device": Fault("joint_states_incomplete", {"motion": other_device}),
    "sensor saturated": Fault("samples_saturated.wrench", {"wrench": rows(
        lambda x: np.clip(x + [200.0, 0, 0, 0, 0, 0], -150.0, 150.0), 0.3)}),
    "contact": Fault("contact", {"wrench": touched}),
    "payload changed": Fault("payload_changed", other=body(8, 2.5)),
    "sensor zeroed": Fault("zero_moved.wrench", {"wrench": zeroed(0.0)}, 0.5),
    "driver restarted": Fault("zero_moved.wrench", {"wrench": zeroed(2.0, 4.0)}, 3.0),
    "second wrench, zeros": Fault("streams_mixed.wrench", {"wrench": second(0.0)}),
    "second wrench, constant": Fault("streams_mixed.wrench", {"wrench": second(5.0)}),
    "joints frozen": Fault("motion_frozen.joints", {"motion": frozen(3.0)}),
    "one joint frozen": Fault("motion_frozen.joints", {"motion": frozen(3.0, slice(4, 5))}),
    "poses frozen": Fault("motion_frozen.transforms", {"motion": frozen(2.0)}, by_poses=True),
    "joints stamped ahead": Fault(MIXED, {"motion": stamped(0.4, 3.0)}, 4.0, end=16.0),
    "joints stamped behind": Fault(MIXED, {"motion": stamped(-0.4, 3.0)}),
    "joints with others' stamps": Fault(MIXED, {"motion": rows(reordered)}, 1.75),
    "wrong sign": Fault("sign_wrong", {"wrench": scaled(*-np.ones(6))}, 3.0, always=True),
    "wrong axes": Fault("frame_wrong", {"wrench": whole(turned)}, 5.0, always=True),
    "N mm": Fault("wrong_units", {"wrench": scaled(1, 1, 1, 1e3, 1e3, 1e3)}, 6.0, always=True),
    "degrees": Fault("wrong_units", {"motion": whole(np.degrees)}, always=True),
    "two wrenches, always": Fault("streams_mixed.wrench", {"wrench": second(0.0, True)},
                                  always=True),
    "poses transposed": Fault("frame_wrong", {"motion": scaled(1, 1, 1, -1, -1, -1, 1)}, 6.0,
                              always=True, by_poses=True, end=9.0)}


class Run(NamedTuple):
    """Seconds after the fault at which it was named, seconds for which a fresh estimate was wrong,
    the last estimate, the kinds of findings at the end."""

    named: float
    wrong: float
    last: Outcome
    kinds: set[str]


def is_wrong(outcome: Estimate, points: Points) -> bool:
    """Whether mass or centre of mass miss by more than four deviations and a limit."""
    truth = points.report()
    gap, sd = np.abs(outcome.report - truth)[:4], outcome.sigma[:4]
    beyond = gap > np.maximum([0.05 * truth[0], 0.005, 0.005, 0.005], 4.0 * sd)
    return bool((beyond & (np.r_[1, outcome.verdict[1:4]] > 0)).any())


def recorded(fault: Fault) -> Recording:
    """The recording with the fault."""
    samples = record(fault.end, seed=7, noise=1.0, extra=BIAS, by_poses=fault.by_poses)
    if fault.other is not None:
        more = fault.other.wrench(samples.motion) - BODY.wrench(samples.motion)
        samples = samples.changed(wrench=lambda s: s._replace(
            rows=s.rows - (s.at >= AT)[:, None] * more))
    return samples.changed(**fault.changes)


def run(fault: Fault, samples: Recording, every: float) -> Run:
    """The identification, with samples in blocks of some seconds."""
    made = Identifier(Settings().replace({
        "buffer.window": 6.0, "wrench.range": (150.0, 0.0), "estimator.rate": RATE,
        **({"wrench.sensor": "ati_gamma"} if fault.always else {})}))
    if not fault.by_poses:
        made.set_robot_description(URDF)
    named, wrong, known = np.inf, 0.0, set()
    for now, part in samples.blocks(every):
        for outcome in made.add_arrays(part):
            if isinstance(outcome, Estimate) and not outcome.stale and (fault.always or all(
                    is_wrong(outcome, BODY if fault.other is None or t < AT else fault.other)
                    for t in (now, now - 0.6))):  # the one before may stand so long
                wrong += 1.0 / RATE
        new = {finding.name for finding in made.findings()}
        if named == np.inf and (fault.always or now >= AT) and any(
                found.startswith(fault.finding) for found in new - known):
            named = now - (0.0 if fault.always else AT)
        known = new
    made.finish()
    return Run(named, wrong, made.solve(), {f.kind for f in made.findings()})


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_it_is_named_in_time_never_fresh_and_wrong_and_the_truth_comes_back(name: str) -> None:
    """And where it is over, at the end the same as of a recording that is read at once."""
    fault, samples = FAULTS[name], recorded(FAULTS[name])
    found = run(fault, samples, 0.1)
    assert found.named <= fault.within and found.wrong <= WRONG
    if not fault.always:
        assert isinstance(found.last, Estimate) and not found.last.stale
        assert not is_wrong(found.last, fault.other or BODY)
        once = run(fault, samples, 0.0)
        assert isinstance(once.last, Estimate) and once.kinds == found.kinds
        np.testing.assert_allclose(once.last.phi, found.last.phi, rtol=1e-9, atol=1e-12)
