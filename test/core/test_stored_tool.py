# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A stored tool: sums, an empty one, its file."""

from pathlib import Path

import numpy as np
import pytest

from inertial_id_ros.errors import InvalidSetting
from inertial_id_ros.inertia import is_consistent, phi_from_body, transform_phi
from inertial_id_ros.model.tool import Tool, load_tool, nothing_beside, save_tool

GRIPPER = Tool("flange", phi_from_body(0.9, [0.0, 0.01, 0.06], np.diag([2e-3, 2e-3, 1e-3])),
               1e-6 * np.eye(10), 1)


def test_the_object_is_the_sum_without_the_tool() -> None:
    box = transform_phi(phi_from_body(1.2, np.zeros(3), 1e-3 * np.eye(3)), np.eye(3),
                        np.array([0.0, 0.0, 0.2]))
    phi, covariance = GRIPPER.without(GRIPPER.phi + box, 3e-6 * np.eye(10))
    np.testing.assert_allclose(phi, box, atol=1e-15)
    np.testing.assert_allclose(covariance, 4e-6 * np.eye(10))


@pytest.mark.parametrize(("mass", "sd", "is_empty"), [
    (0.004, 0.005, True), (-0.004, 0.005, True), (0.2, 0.005, False), (0.004, 0.1, False)])
def test_nothing_is_carried_where_the_data_exclude_a_mass(mass: float, sd: float,
                                                          is_empty: bool) -> None:
    phi, covariance = np.r_[mass, np.zeros(9)], np.diag(np.r_[sd, np.full(9, 1e-3)] ** 2)
    found = nothing_beside(GRIPPER, phi, covariance, 0.0)
    assert (found is not None) == is_empty
    if found is not None:
        assert is_consistent(found[0]) and found[0][0] < 0.03


def test_a_file_gives_back_the_tool(tmp_path: Path) -> None:
    save_tool(tmp_path / "tool.json", GRIPPER)
    back = load_tool(tmp_path / "tool.json")
    np.testing.assert_array_equal(back.phi, GRIPPER.phi)
    assert (back.frame_id, back.stamp_ns) == ("flange", 1)
    assert "0.900" in back.describe()


def test_a_file_that_is_no_tool_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    for name in ("x.json", "y.json"):
        with pytest.raises(InvalidSetting, match=name):
            load_tool(tmp_path / name)
