# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Faults injected into recordings: how messages change, and the finding that names each."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from disturbed import clean
from synthetic import (
    SECOND,
    START,
    Recording,
    Scene,
    stamps,
    transform_messages,
)

WRENCH, JOINT, TRANSFORM = "add_wrench", "add_joint_state", "add_transform"
AT = START + 3 * SECOND
Change = Callable[[Recording], Recording]


def change_some(method: str, change: Callable[[int, tuple[Any, ...]], list[tuple[Any, ...]]],
                lasts: float = 0.5) -> Change:
    """Changes the messages of a kind within half a second."""
    def apply(samples: Recording) -> Recording:
        out = []
        for stamp, kind, arguments in samples.messages:
            hit = kind == method and AT <= stamp < AT + int(lasts * SECOND)
            new = change(stamp, arguments) if hit else [arguments]
            out += [(stamp, kind, item) for item in new]
        return Recording(out)
    return apply


def deliver_late(method: str, by: Callable[[int], int]) -> Change:
    """Delivers messages of a kind later than their stamps."""
    def apply(samples: Recording) -> Recording:
        def arrival(m: tuple[int, str, tuple[Any, ...]]) -> int:
            hit = m[1] == method and AT <= m[0] < AT + SECOND // 2
            return m[0] + (by(m[0]) if hit else 0)
        return Recording(sorted(samples.messages, key=arrival))
    return apply


def change_stamp_once(method: str, by: int) -> Change:
    """One message carries another stamp."""
    def apply(samples: Recording) -> Recording:
        k = next(k for k, m in enumerate(samples.messages) if m[1] == method and m[0] >= AT)
        stamp, kind, arguments = samples.messages[k]
        messages = list(samples.messages)
        messages[k] = (stamp, kind, (arguments[0] + by, *arguments[1:]))
        return Recording(messages)
    return apply


def jump_back(samples: Recording) -> Recording:
    """All stamps jump back by a minute."""
    return Recording([(s, m, a if s < AT else (a[0] - 60 * SECOND, *a[1:]))
                      for s, m, a in samples.messages])


def spoil(value: float) -> Change:
    return change_some(WRENCH, lambda s, a: [(a[0], a[1], [value, *a[2][1:]], a[3])])


def leave_out(method: str) -> Change:
    return change_some(method, lambda s, a: [], 1.0)


NOTHING: dict[str, Any] = {}
GATES: list[tuple[str, Change, dict[str, Any]]] = [
    ("samples_invalid.wrench", spoil(math.nan), NOTHING),
    ("samples_invalid.wrench", spoil(-math.inf), NOTHING),
    ("samples_saturated.wrench", spoil(99.99), {"wrench__range": (100.0, 0.0)}),
    ("stamp_missing.wrench", change_some(WRENCH, lambda s, a: [a, (0, *a[1:])]), NOTHING),
    ("samples_missing.wrench", leave_out(WRENCH), NOTHING),
    ("samples_missing.motion", leave_out(JOINT), NOTHING),
    ("samples_repeated.wrench", change_some(WRENCH, lambda s, a: [a, a]), NOTHING),
    ("samples_repeated.joints", change_some(JOINT, lambda s, a: [a, a]), NOTHING),
    ("samples_late.wrench", deliver_late(WRENCH, lambda s: SECOND * (s % 7 == 0)), NOTHING),
    ("samples_late.joints", deliver_late(JOINT, lambda s: SECOND * (s % 7 == 0)), NOTHING),
    ("samples_reordered.wrench", deliver_late(WRENCH, lambda s: s % 15_000_000), NOTHING),
    ("stamp_stray.wrench", change_stamp_once(WRENCH, 500 * SECOND), NOTHING),
    ("stamp_stray.wrench", change_stamp_once(WRENCH, -500 * SECOND), NOTHING),
    ("stamp_stray.joints", change_stamp_once(JOINT, 500 * SECOND), NOTHING),
    ("stamp_stray.joints", change_stamp_once(JOINT, -500 * SECOND), NOTHING),
    ("samples_invalid.joints", change_some(
        JOINT, lambda s, a: [a, (a[0], a[1], [math.nan] * 5)]), NOTHING),
    ("joint_states_incomplete.names", change_some(JOINT, lambda s, a: [a, (a[0], [], a[2])]),
     NOTHING),
    ("joint_states_incomplete", change_some(
        JOINT, lambda s, a: [(a[0], ["finger"], [0.1]), a]), NOTHING),
    ("reset", jump_back, NOTHING),
]


def transform_recording() -> Recording:
    t = stamps(6.0, 125.0)
    moving = transform_messages(*Scene().flange_in_base(t), t, "base_link", "tool0")
    wrench = clean(6.0, "fast").select(lambda s, m: m == WRENCH)
    return (moving + wrench).sorted()
