# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Without a package that only some features need, these say so, and all others work."""

from __future__ import annotations

import conftest
import pytest
from without_packages import run_without

from inertial_id_ros.extras import EXTRAS

OPTIONAL = {*(module for modules in EXTRAS.values() for module in modules), "rtree", "embreex"}
NODE = "import inertial_id_ros.ros.main, inertial_id_ros.client\n"
LIBRARY = """
import inertial_id_ros.api, inertial_id_ros.export.formats, inertial_id_ros.targets.target
print("imported")
"""
FEATURES = [
    ("rich", "bags", "import inertial_id_ros.cli, sys\nsys.argv = ['identify_bag', 'x']\n"
     "raise SystemExit(inertial_id_ros.cli.identify_bag())"),
    ("trimesh", "shapes", "import numpy\nfrom inertial_id_ros.geometry.shape import "
     "shape_from_primitive\nshape_from_primitive('box', [.1, .1, .1], numpy.eye(4))"),
    ("cvxpy", "methods", "from inertial_id_ros.api import Settings\n"
     "from inertial_id_ros.estimators import create\n"
     "create(Settings().replace({'estimator.method': 'pmd'}))"),
    ("mujoco", "simulation", "from inertial_id_ros.apps.simulation.cobot import SimulatedCobot"),
]


@pytest.mark.slow
def test_the_library_and_the_node_need_none_of_them() -> None:
    done = run_without(OPTIONAL, conftest.is_installed("rclpy") * NODE + LIBRARY)
    assert done.stdout == "imported\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("module", "extra", "use"), FEATURES)
def test_a_feature_says_which_package_it_misses_and_how_to_get_it(
        module: str, extra: str, use: str) -> None:
    done = run_without({module}, use)
    said = done.stderr.strip().splitlines()[-1]
    assert module in said and f'pip install "inertial-id-ros[{extra}]"' in said
