# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recordings of a tool alone, and of the tool with an object in it."""

from __future__ import annotations

from functools import cache

import numpy as np
from synthetic import NOISE, PointMasses, Recording, payload, recording

TOOL, OBJECT = payload(3, 1.1), payload(8, 0.7)
BOTH = PointMasses(np.concatenate([TOOL.points, OBJECT.points]),
                   np.concatenate([TOOL.masses, OBJECT.masses]))
MINUTE = 60_000_000_000


@cache
def quiet(part: str) -> Recording:
    """Six seconds without noise; the tool alone comes first."""
    body = {"tool": TOOL, "both": BOTH}[part]
    return recording(body=body).moved(0 if part == "tool" else MINUTE)


def noisy(part: str, rng: np.random.Generator) -> Recording:
    """The same with noise."""
    def add(stamp: int, frame: str, force: list[float], torque: list[float]) -> tuple:
        values = np.r_[force, torque] + rng.normal(size=6) * NOISE
        return stamp, frame, values[:3].tolist(), values[3:].tolist()
    return quiet(part).changed("add_wrench", add)
