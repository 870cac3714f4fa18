# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Points that stand for a set of points."""

from __future__ import annotations

import numpy as np

from inertial_id_ros.geometry.point_sets import DIRECTIONS, farthest_points, outermost_points


def test_farthest_points_never_repeat():
    cloud = np.random.default_rng(0).normal(size=(50, 3))
    assert len(set(farthest_points(cloud, 50))) == 50
    assert len(farthest_points(cloud, 80)) == 50


def test_points_on_the_surface_reach_the_corners_of_a_large_mesh():
    rng = np.random.default_rng(0)
    corners = np.array(np.meshgrid([-0.05, 0.05], [-0.03, 0.03], [-0.1, 0.1])).reshape(3, 8).T
    cloud = np.concatenate([rng.uniform(-1.0, 1.0, (20_000, 3)) * [0.05, 0.03, 0.1], corners])
    found = outermost_points(cloud)
    assert len(found) <= DIRECTIONS
    assert {tuple(c) for c in corners} <= {tuple(p) for p in found}
