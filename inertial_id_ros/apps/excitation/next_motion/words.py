# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A motion in words, for a person who moves the arm by hand."""

from __future__ import annotations

import numpy as np

from ....inertia import Array

_LEAST = np.radians(0.5)  # a joint that turns by less is not worth a word


def describe_motion(names: tuple[str, ...], poses: Array) -> str:
    """What to turn, move after move.

    Args:
        names: of the k joints; poses: (m, k) at which the arm rests [rad].

    Examples:
        >>> describe_motion(("wrist_1_joint", "wrist_2_joint"), np.radians([[0, 0], [25, -40]]))
        'turn wrist_1_joint by +25° and wrist_2_joint by -40°'
    """
    parts = []
    for step in np.diff(poses, axis=0):
        turns = [f"{name} by {np.degrees(angle):+.0f}°"
                 for name, angle in zip(names, step, strict=True) if abs(angle) >= _LEAST]
        if turns:
            parts.append("turn " + " and ".join(turns))
    if len(poses) > 2 and np.allclose(poses[0], poses[-1], atol=_LEAST):
        parts[-1] += ", back to where it was"
    return "; then ".join(parts)
