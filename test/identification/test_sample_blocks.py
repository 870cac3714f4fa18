# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Samples taken in blocks do what they do one by one, whatever is wrong with them."""

from __future__ import annotations

from typing import Any

import cdr_messages
import numpy as np
import pytest
from disturbed import clean, identify
from injected_faults import (
    GATES,
    JOINT,
    SECOND,
    TRANSFORM,
    WRENCH,
    Change,
    change_some,
    change_stamp_once,
    transform_recording,
)
from synthetic import START, Recording, texts

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.io import cdr, cdr_columns
from inertial_id_ros.io.sample_blocks import Block, JointStates, Wrenches


def feed(made: Identifier, samples: Recording, blocks: bool,
         cadence: int = SECOND // 4) -> list[bool]:
    """Push all samples with a call of advance now and then; whether each block was taken."""
    taken, due, take = [], START + cadence, made._take_block

    def take_block(block: Block) -> bool:
        taken.append(take(block))
        return taken[-1]

    made._stores_blocks, made._take_block = blocks, take_block  # type: ignore[method-assign]
    for number, (stamp, method, arguments) in enumerate(samples.messages):
        if number and stamp >= due:
            made.advance()
            due = stamp + cadence
        getattr(made, method)(*arguments)
    made.advance()
    made.finish()
    return taken


def other_frame(stamp: int, a: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    return [(a[0], "other", *a[2:])]


STREAMS: list[tuple[str, Change, dict[str, Any]]] = [
    *GATES,
    ("", lambda samples: samples, {}),
    ("sensor_frame.changed", change_some(WRENCH, other_frame), {}),
    ("sensor_frame.replaced", change_some(WRENCH, other_frame), {"wrench__sensor_frame": "tool0"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "change", "changes"), STREAMS,
                         ids=[f"{k} {s[0]}" for k, s in enumerate(STREAMS)])
def test_blocks_and_single_samples_give_the_same(name: str, change: Change,
                                                 changes: dict[str, Any]) -> None:
    samples = change(clean(4.5, "fast"))
    assert_same(samples, {"wrench__sensor_frame": "", **changes}, name)


POSES = {"stamp_stray.transforms": change_stamp_once(TRANSFORM, 500 * SECOND),
         "samples_invalid.transforms": change_some(TRANSFORM, lambda s, a: [(*a[:4], [0.0] * 4)]),
         "": change_some(TRANSFORM, lambda s, a: [(*a[:4], [2.0 * q for q in a[4]])])}


@pytest.mark.slow
@pytest.mark.parametrize("name", POSES)
def test_blocks_of_transforms_give_the_same(name: str) -> None:
    assert_same(POSES[name](transform_recording()), {"urdf": None}, name)


def assert_same(samples: Recording, changes: dict[str, Any], finding: str) -> None:
    """The last bit of the estimate, and every word of the findings."""
    one_by_one, at_once = identify(**changes), identify(**changes)
    feed(one_by_one, samples, False)
    taken = feed(at_once, samples, True)
    assert len(taken) > 10 and sum(taken) > len(taken) // 2
    assert at_once.findings() == one_by_one.findings()
    assert not finding or finding in texts(at_once)
    one, other = one_by_one.solve(), at_once.solve()
    assert isinstance(one, Estimate) and isinstance(other, Estimate)
    np.testing.assert_array_equal(one.phi, other.phi)
    np.testing.assert_array_equal(one.phi_covariance, other.phi_covariance)
    assert (one.samples, one.window, one.stamp_ns) == (other.samples, other.window, other.stamp_ns)


def test_samples_in_arrays_follow_those_that_wait() -> None:
    samples = clean(3.0).messages
    made, reference = identify(), identify()
    for _, method, arguments in samples[:1000]:
        getattr(made, method)(*arguments)
    streams: dict[str, list[tuple[Any, ...]]] = {}
    for _, method, arguments in samples[1000:]:
        streams.setdefault(method, []).append(arguments)
    made.add_arrays([Wrenches.joined(streams[WRENCH]),
                     JointStates.joined([(*a, ())[:4] for a in streams[JOINT]])])
    made.finish()
    Recording(samples).feed(reference)
    reference.finish()
    np.testing.assert_array_equal(made.solve().phi, reference.solve().phi)


# ---- decoding --------------------------------------------------------------------------------


def wrench(rng: np.random.Generator, frame: str = "tool0", little_endian: bool = True) -> bytes:
    return cdr_messages.wrench(_stamp(rng), frame, *rng.normal(size=(2, 3)), little_endian)


def joint_state(rng: np.random.Generator, names: list[str], velocities: bool = True,
                little_endian: bool = True) -> bytes:
    q, v, e = rng.normal(size=(3, len(names)))
    return cdr_messages.joint_state(_stamp(rng), names, q, v if velocities else (), e,
                                    little_endian)


def tree(rng: np.random.Generator, frames: list[str], little_endian: bool = True) -> bytes:
    return cdr_messages.transforms(
        [(_stamp(rng), parent, child, rng.normal(size=3), rng.normal(size=4))
         for parent, child in zip(frames[:-1], frames[1:], strict=True)], little_endian)


def _stamp(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 2**31 * SECOND))


@pytest.mark.parametrize("little_endian", [True, False])
@pytest.mark.parametrize("frame", ["", "a", "tool0", "ft_sensor_grün"])
def test_columns_hold_what_the_messages_hold(little_endian: bool, frame: str,
                                             rng: np.random.Generator) -> None:
    raw = [wrench(rng, frame, little_endian) for _ in range(20)]
    (found,) = cdr_columns.wrenches(raw)
    assert found.frame_id == frame
    assert [(s, frame, tuple(r[:3]), tuple(r[3:])) for s, r in zip(
        found.stamps.tolist(), found.rows.tolist(), strict=True)] == [cdr.wrench(m) for m in raw]

    names = ["joint_1", "j2", frame]
    raw = [joint_state(rng, names, little_endian, little_endian) for _ in range(20)]
    (joints,) = cdr_columns.joint_states(raw)
    assert joints.names == tuple(names)
    assert [(s, joints.names, tuple(q)) for s, q in zip(
        joints.stamps.tolist(), joints.positions.tolist(), strict=True)] == [
            cdr.joint_state(m)[:3] for m in raw]

    frames = ["base", "one" + frame, "another", "last"]
    raw = [tree(rng, frames, little_endian) for _ in range(20)]
    edges = cdr_columns.transforms(raw)
    for k, message in enumerate(raw):
        assert [(int(e.stamps[k]), e.parent, e.child, tuple(e.rows[k, :3]), tuple(e.rows[k, 3:]))
                for e in edges] == cdr.transforms(message)


def test_padding_may_hold_anything(rng: np.random.Generator) -> None:
    """Middleware leaves there what was in its memory."""
    raw = [bytearray(wrench(rng)) for _ in range(3)]
    begin = len(raw[0]) - 48  # of the doubles; the frame ends before
    for k, message in enumerate(raw):
        message[begin - 2:begin] = bytes([k, 7 * k])
    (found,) = cdr_columns.wrenches([bytes(m) for m in raw])
    np.testing.assert_array_equal(found.rows, [sum(cdr.wrench(bytes(m))[2:], ()) for m in raw])


def test_messages_of_several_layouts_are_not_mixed(rng: np.random.Generator) -> None:
    for frames in (("left", "rite"), ("left", "longer_name")):
        with pytest.raises(cdr.MixedLayouts):
            cdr_columns.wrenches([wrench(rng, frame) for frame in frames])
    with pytest.raises(cdr.MixedLayouts):
        cdr_columns.wrenches([wrench(rng, little_endian=order) for order in (True, False)])
    with pytest.raises(cdr.MixedLayouts):
        cdr_columns.joint_states([joint_state(rng, names) for names in (["a", "b"], ["b", "a"])])
    with pytest.raises(cdr.MixedLayouts):
        cdr_columns.joint_states([joint_state(rng, ["a"], given) for given in (True, False)])
    with pytest.raises(cdr.MixedLayouts):
        cdr_columns.transforms([tree(rng, ["a", last]) for last in ("b", "c")])


def test_cut_messages_are_an_error_and_not_values(rng: np.random.Generator) -> None:
    whole = joint_state(rng, ["a", "b"])
    for length in range(len(whole) - 4):
        with pytest.raises(ValueError):
            cdr_columns.joint_states([whole[:length]] * 3)
