# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Every gate: the fault is injected, its finding names it, and the estimate is right in the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from disturbed import assert_truth, clean, identify
from injected_faults import (
    GATES,
    JOINT,
    TRANSFORM,
    WRENCH,
    Change,
    change_some,
    change_stamp_once,
    deliver_late,
    transform_recording,
)
from scipy.spatial.transform import Rotation
from synthetic import (
    BODY,
    JOINTS,
    SECOND,
    texts,
)

from inertial_id_ros.estimate import NoEstimate


@pytest.mark.slow
@pytest.mark.parametrize(("name", "change", "changes"), GATES,
                         ids=[f"{k} {g[0]}" for k, g in enumerate(GATES)])
def test_a_fault_is_named_and_does_no_harm(name: str, change: Change,
                                           changes: dict[str, Any]) -> None:
    made = identify(**changes)
    change(clean(6.0, "fast")).feed(made, 0.1)
    assert_truth(made, BODY)
    assert name in texts(made)
    assert not {"contact", "payload_changed", "zero_moved.wrench"} & set(texts(made))


@pytest.mark.slow
@pytest.mark.parametrize("method", [WRENCH, JOINT])
@pytest.mark.parametrize("by", [500 * SECOND, -500 * SECOND])
def test_a_stray_stamp_leaves_the_window_as_it_was(method: str, by: int) -> None:
    """It used to flush the buffer."""
    made, free = identify(), identify()
    change_stamp_once(method, by)(clean(6.0, "fast")).feed(made, 0.1)
    clean(6.0, "fast").feed(free, 0.1)
    outcome, reference = assert_truth(made, BODY), assert_truth(free, BODY)
    assert outcome.window == pytest.approx(reference.window)
    assert outcome.samples >= reference.samples - 1


def test_joint_states_in_another_order_are_no_fault() -> None:
    def reversed_(stamp: int, a: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return [(a[0], list(JOINTS)[::-1], list(a[2])[::-1])]

    made, free = identify(), identify()
    change_some(JOINT, reversed_, 2.0)(clean(6.0, "fast")).feed(made, 0.1)
    clean(6.0, "fast").feed(free, 0.1)
    np.testing.assert_allclose(made.solve().report, free.solve().report, rtol=1e-9)
    assert texts(made) == texts(free)


@pytest.mark.parametrize("by", [500 * SECOND, -500 * SECOND])
def test_a_stray_stamp_of_a_transform_is_named(by: int) -> None:
    made = identify(urdf=None)
    change_stamp_once(TRANSFORM, by)(transform_recording()).feed(made, 0.1)
    assert_truth(made, BODY, 0.02, 4e-3)
    assert "stamp_stray.transforms" in texts(made)


def test_a_late_transform_is_named() -> None:
    made = identify(urdf=None)
    deliver_late(TRANSFORM, lambda s: SECOND * (s % 7 == 0))(transform_recording()).feed(made, 0.1)
    assert "samples_late.transforms" in texts(made)


@pytest.mark.slow
@pytest.mark.parametrize("angle", [60.0, 120.0, 180.0])
def test_wrong_sensor_axes_give_no_estimate_and_are_named(angle: float) -> None:
    turn = Rotation.from_rotvec(np.deg2rad(angle) * np.array([0.6, 0.0, 0.8]))

    def turned(stamp: int, frame: str, force: list[float],
               torque: list[float]) -> tuple[Any, ...]:
        return stamp, frame, turn.apply(force).tolist(), turn.apply(torque).tolist()

    made = identify()
    clean(6.0, "fast").changed(WRENCH, turned).feed(made, 0.1)
    assert isinstance(made.solve(), NoEstimate)
    assert {"frame_wrong", "load_unexplained.wrench"} & set(texts(made))


def test_transposed_rotations_give_no_estimate_and_are_named() -> None:
    def transposed(stamp: int, parent: str, child: str, translation: list[float],
                   q: list[float]) -> tuple[Any, ...]:
        return stamp, parent, child, translation, [-q[0], -q[1], -q[2], q[3]]

    made = identify(urdf=None)
    transform_recording().changed(TRANSFORM, transposed).feed(made, 0.1)
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
