# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The quick decoders read what an independent library writes, in both byte orders."""

from __future__ import annotations

import struct

import cdr_messages
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inertial_id_ros.io import cdr

wrench, joint_state, transforms = map(
    cdr.Decoder, (cdr.learn_wrench, cdr.learn_joint_state, cdr.learn_transforms))

STAMP = 1_785_000_000_123_456_789
ORDERS = pytest.mark.parametrize("little_endian", [True, False])


@ORDERS
@pytest.mark.parametrize("frame", ["", "a", "abc", "tool0", "ft_sensor_grün"])
def test_a_wrench_is_read_whatever_the_length_of_its_frame(little_endian: bool, frame: str,
                                                           rng: np.random.Generator) -> None:
    for k in range(3):
        force, torque = rng.normal(size=(2, 3))
        data = cdr_messages.wrench(STAMP + k, frame, force, torque, little_endian)
        assert wrench(data) == (STAMP + k, frame, (*force, *torque))


@ORDERS
@pytest.mark.parametrize("names", [[], ["a"], ["joint_1", "j2", "the_third", ""]])
def test_a_joint_state_is_read_with_and_without_its_parts(little_endian: bool, names: list[str],
                                                          rng: np.random.Generator) -> None:
    positions, velocities, efforts = rng.normal(size=(3, len(names)))
    none = np.empty(0)
    for given_ in ((positions, velocities, efforts), (positions, none, efforts),
                   (none, velocities, none), (none, none, none)):
        data = cdr_messages.joint_state(STAMP, names, *given_, little_endian=little_endian)
        assert joint_state(data) == (STAMP, tuple(names), tuple(given_[0]), tuple(given_[2]))


@ORDERS
def test_transforms_are_read(little_endian: bool, rng: np.random.Generator) -> None:
    edges = [(STAMP + k, f"p{'x' * k}", f"child{'y' * (2 * k)}", tuple(rng.normal(size=3)),
              tuple(rng.normal(size=4))) for k in range(5)]
    for count in (5, 0, 2, 5):
        assert transforms(cdr_messages.transforms(edges[:count], little_endian)) == edges[
            :count]


def test_messages_that_only_look_alike_are_told_apart() -> None:
    """All of one length: other names, other order, other parts, other byte order."""
    values = (0.1, 0.2)
    for little_endian in (True, False, True):
        for names in (["aa", "bb"], ["bb", "aa"], ["a", "bbb"]):
            for parts in ((values, (), ()), ((), values, ()), ((), (), values)):
                data = cdr_messages.joint_state(STAMP, names, *parts, little_endian=little_endian)
                assert joint_state(data) == (STAMP, tuple(names), parts[0], parts[2])
        for frame in ("tool0", "other", "tool"):
            data = cdr_messages.wrench(STAMP, frame, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0),
                                       little_endian)
            assert wrench(data).frame_id == frame


def test_padding_may_hold_anything(rng: np.random.Generator) -> None:
    """Writers leave there what their buffers held before."""
    positions = rng.normal(size=2)
    whole = cdr_messages.joint_state(STAMP, ["ab", "c"], positions)
    spoilt, padding = bytearray(whole), whole.index(b"c\0") + 2
    for k in range(3):
        spoilt[padding:padding + 2] = bytes((k, 255))
        assert joint_state(bytes(spoilt)) == (STAMP, ("ab", "c"), tuple(positions), ())


def test_room_that_the_writer_reserved_behind_the_end_does_not_matter() -> None:
    """`rclpy.serialization.serialize_message` gives up to 12 bytes more than it fills."""
    whole = cdr_messages.joint_state(STAMP, ["a"], [1.0])
    for more in (3, 8, 15):
        assert joint_state(whole + b"\x7f" * more) == (STAMP, ("a",), (1.0,), ())
    with pytest.raises(ValueError, match="16 bytes follow its end"):
        joint_state(whole + bytes(16))


WHOLE = cdr_messages.joint_state(STAMP, ["a", "b"], [0.5, -0.5])


@pytest.mark.parametrize("length", range(len(WHOLE) - 3))
def test_a_cut_message_is_an_error_and_not_a_value(length: int) -> None:
    joint_state(WHOLE)
    with pytest.raises(ValueError, match="cut off|does not end|it has"):
        joint_state(WHOLE[:length])


@pytest.mark.parametrize(("change", "said"), [
    ({0: b"\x00\x03"}, "encoding 0x0003 is not plain CDR"),
    ({0: b"\x00\x07"}, "encoding 0x0007 is not plain CDR"),
    ({0: b"\xff\x01"}, "encoding 0xff01 is not plain CDR"),
    ({12: struct.pack("<I", 2**31)}, "a length of 2147483648; at most 100000 is allowed"),
    ({12: struct.pack("<I", 90_000)}, "a text that does not end"),
    ({12: struct.pack("<I", 0)}, "a text that does not end"),
    ({16: b"\xff"}, "codec can't decode byte 0xff"),
    ({24: struct.pack("<I", 100_000)}, "a text that does not end|cut off"),
    ({0: b"\x00\x00"}, "at most 100000 is allowed"),  # the other byte order than that of the rest
])
def test_a_damaged_message_is_an_error_that_says_why(change: dict[int, bytes], said: str) -> None:
    joint_state(WHOLE)
    damaged = bytearray(WHOLE)
    for at, new in change.items():
        damaged[at:at + len(new)] = new
    with pytest.raises(ValueError, match=said):
        joint_state(bytes(damaged))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["wrench", "joint_state", "transforms"]),
       st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4),
       st.integers(0, 400))
@example("joint_state", [], 400)
def test_what_was_read_before_never_changes_how_a_mutated_message_is_read(
        kind: str, changes: list[tuple[int, int]], length: int) -> None:
    """A decoder that knows the whole message answers as one that knows none."""
    whole = {"wrench": cdr_messages.wrench(STAMP, "tool0", (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)),
             "joint_state": cdr_messages.joint_state(STAMP, ["a", "bcd"], [1.0, 2.0], [3.0, 4.0]),
             "transforms": cdr_messages.transforms([
                 (STAMP, "base", f"link_{k}", (1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0))
                 for k in range(2)])}[kind]
    mutated = bytearray(whole)
    for at, value in changes:
        mutated[at % len(whole)] = value
    data = bytes(mutated[:length])
    fresh, learned = (cdr.Decoder(getattr(cdr, f"learn_{kind}")) for _ in range(2))
    learned(whole)
    assert _answer(learned, data) == _answer(fresh, data)


def _answer(decoder: cdr.Decoder, data: bytes) -> str:
    """As text, for NaN equals no NaN."""
    try:
        return repr(decoder(data))
    except ValueError as error:
        return str(error)
