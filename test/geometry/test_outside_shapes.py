# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Shapes out of requests: merged points keep their moments, damaged files are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inertial_id_ros.errors import InvalidShape
from inertial_id_ros.geometry.shape import INTERIOR_POINTS, shape_from_file, shape_from_points

SIZE = np.array([0.1, 0.2, 0.3])


def cloud(count: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-0.5, 0.5, (count, 3)) * SIZE + [0.0, 0.1, 0.2]


def test_a_large_set_of_points_has_the_moments_of_all_of_them() -> None:
    points = cloud(90_000)
    shape = shape_from_points(points)
    assert len(shape.points) <= INTERIOR_POINTS and len(shape.surface) <= 1000
    x, y, z = points.T
    tensor = [np.mean(v) for v in (y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z,
                                   x * x + y * y)]
    np.testing.assert_allclose(shape.unit_phi, [1.0, *points.mean(axis=0), *tensor], atol=1e-12)
    np.testing.assert_allclose(shape.lengths, SIZE, rtol=0.02)
    assert shape.volume == pytest.approx(90_000)


def test_points_farther_than_any_object_are_refused_before_squares_overflow() -> None:
    with pytest.raises(InvalidShape, match="are the units metres"), np.errstate(all="raise"):
        shape_from_points(cloud(10_000) * 1e200)


@pytest.mark.parametrize(("name", "data", "said"), [
    ("a.ply", b"ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\n"
     b"property float x\nproperty float y\nproperty float z\nend_header\n", "a.ply"),
    ("a.stl", bytes(80) + b"\xff\xff\xff\x7f", "a.stl"), ("a.npy", b"\x93NUMPY", "a.npy")])
def test_files_that_lie_about_their_size_are_refused(name: str, data: bytes, said: str,
                                                     tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidShape, match=said):
        shape_from_file(tmp_path / name, 1.0, np.eye(4), False)
