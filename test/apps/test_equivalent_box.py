# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The equivalent box, its interval and its edges, against boxes and against random bodies."""

import numpy as np
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.report.equivalent_box import box_edges, equivalent_box
from inertial_id_ros.inertia import Body

TURN = Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix()


def body_of_box(lengths, mass=2.0):
    moments = mass / 12.0 * (np.sum(np.square(lengths)) - np.square(lengths))
    return Body(mass, np.zeros(3), TURN @ np.diag(moments) @ TURN.T)


def test_the_equivalent_box_of_a_box_is_that_box():
    lengths = np.array([0.3, 0.2, 0.1])
    found, axes = equivalent_box(body_of_box(lengths))
    assert np.allclose(found, lengths) or np.allclose(np.sort(found), np.sort(lengths))
    spanned = sum(length**2 * np.outer(a, a) for length, a in zip(found, axes.T, strict=True))
    assert np.allclose(spanned, TURN @ np.diag(lengths**2) @ TURN.T)


def test_a_box_has_twelve_edges_of_its_lengths():
    lengths, centre = np.array([0.3, 0.2, 0.1]), np.array([1.0, 2.0, 3.0])
    edges = box_edges(centre, lengths, TURN)
    found = np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)
    np.testing.assert_allclose(np.sort(found), np.repeat(np.sort(lengths), 4))
    np.testing.assert_allclose(edges.mean((0, 1)), centre)
