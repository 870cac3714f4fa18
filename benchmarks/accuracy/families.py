# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Families of objects by name, with the one that only a published table needs."""

from __future__ import annotations

from functools import cache

import numpy as np

from inertial_id_ros.apps.simulation.payload import Part, Payload
from inertial_id_ros.geometry.shape import shape_from_primitive

from . import objects as general
from .objects import BenchmarkObject

# A locked humanoid arm below a sensor in its upper arm: rest of the upper arm, forearm and hand
# bent forward. Mass, first moments and tensor about the sensor are close to those that Traversaro
# et al. (2016, Table I) identified on their fastest path (a test compares them).
ARM = Payload("arm", (
    Part("cylinder", (0.045, 0.12), 0.75 / (np.pi * 0.045**2 * 0.12), (0.0, 0.0, 0.035)),
    Part("cylinder", (0.045, 0.218), 1.09 / (np.pi * 0.045**2 * 0.218), (0.056, 0.0, 0.163),
         (0.0, 0.54, 0.0))))


def objects(family: str) -> tuple[BenchmarkObject, ...]:
    """The objects of a family; empty where their data folder is missing."""
    return (_arm(),) if family == "arm" else general.objects(family)


@cache
def _arm() -> BenchmarkObject:
    low, high = ARM.bounding_box
    pose = np.eye(4)
    pose[:3, 3] = 0.5 * (low + high)
    return BenchmarkObject(ARM.name, ARM.phi, shape_from_primitive("box", high - low, pose),
                           high - low)
