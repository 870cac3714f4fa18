# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The words about a payload name the frame of its axes, and its origin where that is another."""

from __future__ import annotations

import numpy as np

from inertial_id_ros.estimate import IDENTIFIED
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.targets.payload import TargetPayload

PAYLOAD = TargetPayload("sensor",
                        phi_from_body(1.4, np.array([0.0, 0.0, 0.1078]), 0.01 * np.eye(3)),
                        IDENTIFIED, IDENTIFIED, IDENTIFIED, 0.0, None)


def test_a_payload_that_is_only_turned_names_both_frames() -> None:
    said = PAYLOAD.turned("tool0", np.eye(3)).describe()
    assert said.endswith("[0.0, 0.0, 107.8] mm from the origin of 'sensor' along the axes of "
                         "'tool0'")


def test_a_payload_that_is_placed_names_one_frame() -> None:
    said = PAYLOAD.placed("tool0", np.eye(3), np.array([0.0, 0.0, 0.04])).describe()
    assert said.endswith("[0.0, 0.0, 147.8] mm in 'tool0'")
