# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Faults of the inputs by whether they are named in time, never fresh and wrong, followed by
the truth again, and the same live and offline."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scenes import BIAS, BODY, START, URDF, Parts, Points, Truth, body, part_of, record

from inertial_id_ros.estimate import Estimate, Outcome
from inertial_id_ros.identify.identifier import Identifier
from inertial_id_ros.inertia import Array
from inertial_id_ros.io.inputs import JointStates, Wrenches, split_by_time
from inertial_id_ros.settings import Settings

AT, END, RATE = 5.0, 12.0, 2.0  # s: of the fault, of the recording; estimates a second
WRONG, EVERY = 1.0, 0.1  # s, that a fresh estimate may be wrong; between blocks
RNG = np.random.default_rng(4)
Change = Callable[[Any], Any]  # of a block
OTHER = body(8, 2.5)
LATER = START + round(1e9 * AT)


class Fault(NamedTuple):
    """The finding that names a fault of the scenario, or changes of blocks, and how soon [s];
    always: it is there from the beginning, and no estimate is right; end: of the recording [s],
    later where the scan has to begin anew, and may hold an estimate for some seconds more."""

    finding: str
    faults: str = ""
    wrench: Change | None = None
    joints: Change | None = None
    within: float = 1.0
    always: bool = False
    by_poses: bool = False
    other: Points | None = None  # carried from `AT` on
    end: float = END
    options: dict[str, Any] = {}  # of the scenario


def second(size: float, always: bool = False) -> Change:
    """Readings of another publisher, 3 ms after each."""
    def changed(s: Wrenches) -> Wrenches:
        also = part_of(s, always | (s.stamps >= LATER) & (s.stamps < LATER + 3 * 10**9))
        stamps = np.concatenate([s.stamps, also.stamps + 3_000_000])
        rows = np.vstack([s.rows, 0.0 * also.rows + size * np.array([1, -1, 0.5, 0.1, 0, 0.1])])
        return part_of(s._replace(stamps=stamps, rows=rows), np.argsort(stamps))
    return changed


def reordered(s: JointStates) -> JointStates:
    """For 1 s, positions with the stamps of others."""
    order = np.argsort(np.arange(len(s.stamps)) + RNG.uniform(0.0, 12.0, len(s.stamps)))
    return s._replace(positions=s.positions[order]) if is_now(s) else s


def other_device(s: JointStates) -> list[JointStates]:
    return [s, s._replace(names=("finger",), positions=s.positions[:, :1])] if is_now(s) else [s]


def is_now(s: JointStates) -> bool:
    return bool(LATER <= s.stamps[0] < LATER + 10**9)


def touched(t: Array, _: Truth) -> Array:
    size = np.clip(10.0 * np.minimum(t - AT, 1.5 - (t - AT)), 0.0, 1.0)[:, None]
    return -size * [12.0, -9.0, 8.0, 1.0, 0.8, -0.5]


def changed(t: Array, at: Truth) -> Array:
    return (t >= AT)[:, None] * (OTHER.wrench(at) - BODY.wrench(at))


def scaled(*sizes: float) -> Change:
    return lambda s: s._replace(rows=s.rows * sizes)


MIXED = "streams_mixed.joints"
FAULTS = {
    "NaN and infinity": Fault("samples_invalid.wrench", "wrench invalid 5 1 1"),
    "wrench missing": Fault("samples_missing.wrench", "wrench missing 5 1.5 1"),
    "motion missing": Fault("samples_missing.motion", "joints missing 5 1.5 1"),
    "wrench repeated": Fault("samples_repeated.wrench", "wrench repeated 5 1 1"),
    "wrench late": Fault("samples_late.wrench", "wrench late 5 1 0.6"),
    "wrench out of order": Fault("samples_reordered.wrench", "wrench reordered 5 1 0.012"),
    "clock jumps back": Fault("reset", "wrench stamped 5 99 -30, joints stamped 5 99 -30"),
    "clock jumps ahead": Fault("samples_missing.wrench",
                               "wrench stamped 5 99 86400, joints stamped 5 99 86400"),
    "stray stamps, wrench": Fault("stamp_stray.wrench", "wrench stray 5 1 100"),
    "stray stamps, joints": Fault("stamp_stray.joints", "joints stray 5 1 100"),
    "stray stamps, poses": Fault("stamp_stray.transforms", "transforms stray 5 1 100",
                                 by_poses=True),
    "joints of another device": Fault("joint_states_incomplete", joints=other_device),
    "sensor saturated": Fault("samples_saturated.wrench", "wrench saturated 5 0.3 150"),
    "contact": Fault("contact", options={"effects": [touched]}),
    "payload changed": Fault("payload_changed", other=OTHER, options={"effects": [changed]}),
    "sensor zeroed": Fault("zero_moved.wrench", "wrench zeroed 5 99 1", within=0.5),
    "driver restarted": Fault("zero_moved.wrench", "wrench missing 5 2 1, wrench biased 5 99 7",
                              within=3.0),
    "second wrench, zeros": Fault("streams_mixed.wrench", wrench=second(0.0)),
    "second wrench, constant": Fault("streams_mixed.wrench", wrench=second(5.0)),
    "joints frozen": Fault("motion_frozen.joints", "joints stuck 5 3 1"),
    "one joint frozen": Fault("motion_frozen.joints", "joints joint_stuck 5 3 4"),
    "poses frozen": Fault("motion_frozen.transforms", "transforms stuck 5 2 1", by_poses=True),
    "joints stamped ahead": Fault(MIXED, "joints stamped 5 3 0.4", within=4.0, end=16.0),
    "joints stamped behind": Fault(MIXED, "joints stamped 5 3 -0.4"),
    "joints with others' stamps": Fault(MIXED, joints=reordered, within=1.75),
    "wrong sign": Fault("sign_wrong", within=3.0, always=True,
                        options={"convention": "on_environment"}),
    "wrong axes": Fault("frame_wrong", within=5.0, always=True, options={
        "sensor_rotation_error": (120.0 / 3**0.5,) * 3}),  # a third of a turn: z, x, y
    "N mm": Fault("wrong_units", wrench=scaled(1, 1, 1, 1e3, 1e3, 1e3), within=6.0, always=True),
    "degrees": Fault("wrong_units", always=True,
                     joints=lambda s: s._replace(positions=np.degrees(s.positions))),
    "two wrenches, always": Fault("streams_mixed.wrench", wrench=second(0.0, True), always=True),
    "poses transposed": Fault("frame_wrong", joints=scaled(1, 1, 1, -1, -1, -1, 1), within=6.0,
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


def recorded(fault: Fault) -> Parts:
    """The recording with the fault."""
    return record(
        fault.end, every=EVERY, seed=7, noise=1.0, bias=BIAS, by_poses=fault.by_poses,
        wrench=fault.wrench, joints=fault.joints, faults=fault.faults, **fault.options)


def run(fault: Fault, samples: Parts) -> Run:
    """The identification, with samples in these blocks."""
    made = Identifier(Settings().replace({
        "buffer.window": 6.0, "wrench.range": (150.0, 0.0), "estimator.rate": RATE,
        **({"wrench.sensor": "ati_gamma"} if fault.always else {})}))
    if not fault.by_poses:
        made.set_robot_description(URDF)
    named, wrong, known = np.inf, 0.0, set()
    for now, part in samples:
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
    found = run(fault, samples)
    assert found.named <= fault.within and found.wrong <= WRONG
    if not fault.always:
        assert isinstance(found.last, Estimate) and not found.last.stale
        assert not is_wrong(found.last, fault.other or BODY)
        blocks = [block for _, part in samples for block in part]
        once = run(fault, [(fault.end, whole) for whole in split_by_time(blocks, 10**9)])
        assert isinstance(once.last, Estimate) and once.kinds == found.kinds
        np.testing.assert_allclose(once.last.phi, found.last.phi, rtol=1e-9, atol=1e-12)
