# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The true shape of an object, where the estimators are told another one.

The prior of `entropic` is the evenly filled shape, as in the published comparisons ("a homogeneous
distribution is assumed"). It is correct only with the true shape: of the bodies known by their
bounding box that is the union of their parts, here filled evenly.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from inertial_id_ros.apps.simulation.payload import Part, Payload
from inertial_id_ros.geometry.shape import Shape, shape_from_primitive

from .families import ARM
from .objects import POOR, BenchmarkObject


def true_shape(family: str, item: BenchmarkObject) -> Shape:
    """The region that an object of a family fills; the known shape itself where that is true."""
    if family not in ("poor", "arm"):
        return item.shape
    return _union(next(p for p in (*POOR, ARM) if p.name == item.name))


@cache
def _union(payload: Payload) -> Shape:
    parts = [p for p in payload.parts
             if not any(q is not p and _within(p, q) for q in payload.parts)]
    solids = [shape_from_primitive(p.shape, p.size, _pose(p)) for p in parts]
    even = Payload(payload.name, tuple(replace(p, density=1.0) for p in parts))
    return Shape(np.concatenate([s.points for s in solids]),
                 np.concatenate([s.volumes for s in solids]),
                 np.concatenate([s.surface for s in solids]), even.phi / even.mass, False,
                 payload.name)


def _within(inner: Part, outer: Part) -> bool:
    """Whether a part lies in a box that is not turned."""
    gap = np.abs(np.subtract(inner.center, outer.center)) + inner.half_extent()
    return outer.shape == "box" and not any(outer.rpy) and bool(
        np.all(gap <= outer.half_extent() + 1e-9))


def _pose(part: Part) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = part.rotation, part.center
    return pose
