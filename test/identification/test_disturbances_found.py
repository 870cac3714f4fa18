"""Every gate: the fault is injected, its finding names it, and the estimate is right in the end."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from disturbed import assert_truth, clean, identify
from scipy.spatial.transform import Rotation
from synthetic import (
    BODY,
    JOINTS,
    SECOND,
    START,
    Recording,
    Scene,
    stamps,
    texts,
    transform_messages,
)

from inertial_id_ros.estimate import NoEstimate

WRENCH, JOINT, TRANSFORM = "add_wrench", "add_joint_state", "add_transform"
AT = START + 3 * SECOND
Change = Callable[[Recording], Recording]


def _some(method: str, change: Callable[[int, tuple[Any, ...]], list[tuple[Any, ...]]],
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


def _delayed(method: str, by: Callable[[int], int]) -> Change:
    """Delivers messages of a kind later than their stamps."""
    def apply(samples: Recording) -> Recording:
        def arrival(m: tuple[int, str, tuple[Any, ...]]) -> int:
            hit = m[1] == method and AT <= m[0] < AT + SECOND // 2
            return m[0] + (by(m[0]) if hit else 0)
        return Recording(sorted(samples.messages, key=arrival))
    return apply


def _once(method: str, by: int) -> Change:
    """One message carries another stamp."""
    def apply(samples: Recording) -> Recording:
        k = next(k for k, m in enumerate(samples.messages) if m[1] == method and m[0] >= AT)
        stamp, kind, arguments = samples.messages[k]
        messages = list(samples.messages)
        messages[k] = (stamp, kind, (arguments[0] + by, *arguments[1:]))
        return Recording(messages)
    return apply


def _jumped(samples: Recording) -> Recording:
    """All stamps jump back by a minute."""
    return Recording([(s, m, a if s < AT else (a[0] - 60 * SECOND, *a[1:]))
                      for s, m, a in samples.messages])


def _spoilt(value: float) -> Change:
    return _some(WRENCH, lambda s, a: [(a[0], a[1], [value, *a[2][1:]], a[3])])


def _gone(method: str) -> Change:
    return _some(method, lambda s, a: [], 1.0)


NOTHING: dict[str, Any] = {}
GATES: list[tuple[str, Change, dict[str, Any]]] = [
    ("wrench_not_finite", _spoilt(math.nan), NOTHING),
    ("wrench_not_finite", _spoilt(-math.inf), NOTHING),
    ("wrench_saturated", _spoilt(99.99), {"wrench__force_range": 100.0}),
    ("wrench_stamp_missing", _some(WRENCH, lambda s, a: [a, (0, *a[1:])]), NOTHING),
    ("wrench_gap", _gone(WRENCH), NOTHING),
    ("motion_gap", _gone(JOINT), NOTHING),
    ("wrench_repeated", _some(WRENCH, lambda s, a: [a, a]), NOTHING),
    ("joint_repeated", _some(JOINT, lambda s, a: [a, a]), NOTHING),
    ("wrench_late", _delayed(WRENCH, lambda s: SECOND * (s % 7 == 0)), NOTHING),
    ("joint_late", _delayed(JOINT, lambda s: SECOND * (s % 7 == 0)), NOTHING),
    ("wrench_reordered", _delayed(WRENCH, lambda s: s % 15_000_000), NOTHING),
    ("wrench_stamp_stray", _once(WRENCH, 500 * SECOND), NOTHING),
    ("wrench_stamp_stray", _once(WRENCH, -500 * SECOND), NOTHING),
    ("joint_stamp_stray", _once(JOINT, 500 * SECOND), NOTHING),
    ("joint_stamp_stray", _once(JOINT, -500 * SECOND), NOTHING),
    ("joint_not_finite", _some(JOINT, lambda s, a: [a, (a[0], a[1], [math.nan] * 5)]), NOTHING),
    ("joint_names_empty", _some(JOINT, lambda s, a: [a, (a[0], [], a[2])]), NOTHING),
    ("joint_states_incomplete", _some(JOINT, lambda s, a: [(a[0], ["finger"], [0.1]), a]), NOTHING),
    ("reset", _jumped, NOTHING),
]


@pytest.mark.parametrize(("name", "change", "changes"), GATES,
                         ids=[f"{k} {g[0]}" for k, g in enumerate(GATES)])
def test_a_fault_is_named_and_does_no_harm(name: str, change: Change,
                                           changes: dict[str, Any]) -> None:
    made = identify(**changes)
    change(clean(6.0, "fast")).feed(made, 0.1)
    assert_truth(made, BODY)
    assert name in texts(made)
    assert not {"contact", "payload_changed", "sensor_zeroed"} & set(texts(made))


@pytest.mark.parametrize("method", [WRENCH, JOINT])
@pytest.mark.parametrize("by", [500 * SECOND, -500 * SECOND])
def test_a_stray_stamp_leaves_the_window_as_it_was(method: str, by: int) -> None:
    """It used to flush the buffer."""
    made, free = identify(), identify()
    _once(method, by)(clean(6.0, "fast")).feed(made, 0.1)
    clean(6.0, "fast").feed(free, 0.1)
    outcome, reference = assert_truth(made, BODY), assert_truth(free, BODY)
    assert outcome.window == pytest.approx(reference.window)
    assert outcome.samples >= reference.samples - 1


def test_joint_states_in_another_order_are_no_fault() -> None:
    def reversed_(stamp: int, a: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return [(a[0], list(JOINTS)[::-1], list(a[2])[::-1])]

    made, free = identify(), identify()
    _some(JOINT, reversed_, 2.0)(clean(6.0, "fast")).feed(made, 0.1)
    clean(6.0, "fast").feed(free, 0.1)
    np.testing.assert_allclose(made.solve().report, free.solve().report, rtol=1e-9)
    assert texts(made) == texts(free)


def _transforms() -> Recording:
    t = stamps(6.0, 125.0)
    moving = transform_messages(*Scene().flange_in_base(t), t, "base_link", "tool0")
    wrench = clean(6.0, "fast").select(lambda s, m: m == WRENCH)
    return (moving + wrench).sorted()


@pytest.mark.parametrize("by", [500 * SECOND, -500 * SECOND])
def test_a_stray_stamp_of_a_transform_is_named(by: int) -> None:
    made = identify(urdf=None)
    _once(TRANSFORM, by)(_transforms()).feed(made, 0.1)
    assert_truth(made, BODY, 0.02, 4e-3)
    assert "transform_stamp_stray" in texts(made)


def test_a_late_transform_is_named() -> None:
    made = identify(urdf=None)
    _delayed(TRANSFORM, lambda s: SECOND * (s % 7 == 0))(_transforms()).feed(made, 0.1)
    assert "transform_late" in texts(made)


@pytest.mark.parametrize("angle", [60.0, 120.0, 180.0])
def test_wrong_sensor_axes_give_no_estimate_and_are_named(angle: float) -> None:
    turn = Rotation.from_rotvec(np.deg2rad(angle) * np.array([0.6, 0.0, 0.8]))

    def turned(stamp: int, frame: str, force: list[float],
               torque: list[float]) -> tuple[Any, ...]:
        return stamp, frame, turn.apply(force).tolist(), turn.apply(torque).tolist()

    made = identify()
    clean(6.0, "fast").changed(WRENCH, turned).feed(made, 0.1)
    assert isinstance(made.solve(), NoEstimate)
    assert {"frame_wrong", "frame_wrong_suspected"} & set(texts(made))


def test_transposed_rotations_give_no_estimate_and_are_named() -> None:
    def transposed(stamp: int, parent: str, child: str, translation: list[float],
                   q: list[float]) -> tuple[Any, ...]:
        return stamp, parent, child, translation, [-q[0], -q[1], -q[2], q[3]]

    made = identify(urdf=None)
    _transforms().changed(TRANSFORM, transposed).feed(made, 0.1)
    assert isinstance(made.solve(), NoEstimate)
    assert any("may be transposed" in text for text in texts(made).values())


def test_a_wrong_sign_is_a_finding_that_goes_when_it_is_right() -> None:
    def opposite(stamp: int, frame: str, force: list[float],
                 torque: list[float]) -> tuple[Any, ...]:
        return stamp, frame, [-x for x in force], [-x for x in torque]

    made = identify()
    clean(6.0, "fast").changed(WRENCH, opposite).feed(made, 0.1)
    assert isinstance(made.solve(), NoEstimate)
    assert "opposite sign" in texts(made)["sign_wrong"]
    made.reset("the driver was set right")
    clean(6.0, "fast").feed(made, 0.1)
    assert_truth(made, BODY)
    assert "sign_wrong" not in texts(made)
