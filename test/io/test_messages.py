# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Serialised messages into the pipeline: the same answers as decoded ones, or a named finding."""

from __future__ import annotations

import struct
from typing import Any

import cdr_messages
import numpy as np
import pytest
from disturbed import assert_truth, clean, identify
from injected_faults import GATES
from synthetic import BODY, JOINTS, START, Recording, Scene, stamps, texts, transform_messages

from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.signals import inbox

WRENCH = cdr_messages.wrench(START, "tool0", (1.0, 2.0, 3.0), (0.1, 0.2, 0.3))
JOINT = cdr_messages.joint_state(START, JOINTS, [0.1] * len(JOINTS))
EDGE = (START, "base", "hand", (0.0, 0.0, 0.1), (0.0, 0.0, 0.0, 1.0))
TRANSFORMS = cdr_messages.transforms([EDGE])


def _feed(samples: Recording, made: Identifier, cadence: float,
          little_endian: bool = True) -> None:
    """As `Recording.feed`, with messages of the wire."""
    due = samples.messages[0][0]
    for stamp, method, a in samples.messages:
        if stamp >= due:
            made.advance()
            due = stamp + int(cadence * 1e9)
        if method == "add_wrench":
            made.add_serialized(inbox.WRENCH, cdr_messages.wrench(*a, little_endian))
        elif method == "add_joint_state":
            made.add_serialized(inbox.JOINT_STATE, cdr_messages.joint_state(
                *a, little_endian=little_endian))
        else:
            made.add_serialized(inbox.TRANSFORM, cdr_messages.transforms([a], little_endian))
    made.advance()


@pytest.mark.slow
@pytest.mark.parametrize("little_endian", [True, False])
def test_serialised_samples_give_the_very_answer_of_others(little_endian: bool) -> None:
    made, free = identify(), identify()
    _feed(clean(3.0, "fast"), made, 0.1, little_endian)
    clean(3.0, "fast").feed(free, 0.1)
    np.testing.assert_array_equal(made.solve().report, free.solve().report)
    assert texts(made) == texts(free)


@pytest.mark.slow
def test_serialised_transforms_give_the_very_answer_of_others() -> None:
    t = stamps(3.0, 125.0)
    samples = (transform_messages(*Scene().flange_in_base(t), t, "base_link", "tool0")
               + clean(3.0, "fast").select(lambda s, m: m == "add_wrench")).sorted()
    made, free = identify(urdf=None), identify(urdf=None)
    _feed(samples, made, 0.1)
    samples.feed(free, 0.1)
    np.testing.assert_array_equal(made.solve().report, free.solve().report)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "change", "changes"), GATES,
                         ids=[f"{k} {g[0]}" for k, g in enumerate(GATES)])
def test_every_gate_says_the_same_of_serialised_samples(name: str, change: Any,
                                                        changes: dict[str, Any]) -> None:
    samples = change(clean(6.0, "fast")).select(lambda s, m: s < START + 4_500_000_000)
    made, free = identify(**changes), identify(**changes)
    _feed(samples, made, 0.1)
    samples.feed(free, 0.1)
    assert texts(made) == texts(free) and name in texts(made)


BAD: list[tuple[str, int, bytes, str]] = [
    ("message_malformed.wrench", inbox.WRENCH, b"", "it has 0 bytes"),
    ("message_malformed.wrench", inbox.WRENCH, WRENCH[:3], "it has 3 bytes"),
    ("message_malformed.wrench", inbox.WRENCH, WRENCH[:-1], "it is cut off"),
    ("message_malformed.wrench", inbox.WRENCH, WRENCH + bytes(16), "16 bytes follow its end"),
    ("message_malformed.wrench", inbox.WRENCH, b"\x00\x03" + WRENCH[2:], "encoding 0x0003"),
    ("message_malformed.wrench", inbox.WRENCH, b"\x00\x00" + WRENCH[2:], "a length of"),
    ("message_malformed.joints", inbox.JOINT_STATE, JOINT[:40], "it is cut off"),
    ("message_malformed.joints", inbox.JOINT_STATE,
     JOINT.replace(struct.pack("<I", len(JOINTS)), struct.pack("<I", 2**31)), "a length of 21474"),
    ("message_malformed.joints", inbox.JOINT_STATE, b"\x00" * 500, "a text that does not end"),
    ("message_too_large.joints", inbox.JOINT_STATE,
     cdr_messages.joint_state(START, [f"j{k}" for k in range(1001)], []),
     "joint state messages with 1001 entries dropped; at most 1000"),
    ("message_malformed.transforms", inbox.TRANSFORM, TRANSFORMS[:-8], "it is cut off"),
    ("message_malformed.transforms", inbox.TRANSFORM,
     TRANSFORMS[:4] + struct.pack("<I", 99_999) + TRANSFORMS[8:], "cut off"),
    ("message_too_large.transforms", inbox.TRANSFORM, cdr_messages.transforms([EDGE] * 2001),
     "transform messages with 2001 entries dropped; at most 2000"),
    ("message_malformed.static_transforms", inbox.STATIC_TRANSFORM, TRANSFORMS[:-8],
     "it is cut off"),
    ("message_too_large.static_transforms", inbox.STATIC_TRANSFORM,
     cdr_messages.transforms([EDGE] * 2001), "static transform messages with 2001 entries"),
]


@pytest.mark.parametrize(("name", "kind", "data", "said"), BAD,
                         ids=[f"{k} {b[0]}" for k, b in enumerate(BAD)])
def test_a_malformed_message_is_named_and_dropped(name: str, kind: int, data: bytes,
                                                  said: str) -> None:
    made = identify()
    for _ in range(2):
        made.add_serialized(kind, data)
        made.advance()
    assert said in texts(made)[name]
    if name.endswith("malformed"):
        assert "dropped" in texts(made)[name] and "(2 times)" in texts(made)[name]


def test_malformed_messages_among_good_ones_do_no_harm() -> None:
    made, free = identify(), identify()
    whole = clean(3.0, "fast")
    half = START + 1_500_000_000
    _feed(whole.select(lambda s, m: s < half), made, 0.1)
    for _, kind, data, _ in BAD:
        made.add_serialized(kind, data)
    _feed(whole.select(lambda s, m: s >= half), made, 0.1)
    whole.feed(free, 0.1)
    np.testing.assert_array_equal(assert_truth(made, BODY).report, free.solve().report)
    assert {name for name, *_ in BAD} <= set(texts(made))


def test_serialised_messages_that_would_fill_the_memory_are_lost_and_counted(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "_INBOX_BYTES", 10 * len(WRENCH))
    made = identify()
    for _ in range(3):
        for k in range(15):
            made.add_serialized(inbox.WRENCH, cdr_messages.wrench(
                START + k, "tool0", (1.0, 2.0, 3.0), (0.1, 0.2, 0.3)))
        made.advance()
    assert "too slow (15 times)" in texts(made)["overload"]
