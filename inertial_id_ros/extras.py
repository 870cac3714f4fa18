# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Packages that only some features need, and what a user is told where one of them is missing.

The library and the node run on what every ROS 2 distribution has (NumPy, SciPy, Pinocchio, PyYAML,
transforms3d). Whatever else a feature imports, it imports within `optional_packages`, when it is
used.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from .errors import MissingPackage

# What pip installs with `inertial-id-ros[extra]`; setup.py states the same with versions.
EXTRAS = {"bags": ("rosbags",), "shapes": ("trimesh",),
          "methods": ("clarabel", "cvxpy", "osqp"), "simulation": ("mujoco",),
          "reports": ("jinja2", "matplotlib"), "tables": ("pandas", "pyarrow")}


@contextmanager
def optional_packages(feature: str) -> Iterator[None]:
    """Import packages that only a feature needs, which is named as the subject of a sentence
    (raises MissingPackage, which says how to get what is not installed)."""
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        for extra, modules in EXTRAS.items():
            if module in modules:
                raise MissingPackage(
                    f"{feature} needs the Python package '{module}', which is missing; install it "
                    f'with `pip install "inertial-id-ros[{extra}]"` or `pip install {module}`'
                ) from None
        raise
