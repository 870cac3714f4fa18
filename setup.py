# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Serves `pip install .`: the library and the programs that need no ROS, without the messages.

colcon builds the whole package, with messages, by CMakeLists.txt instead.
"""

import re
from pathlib import Path

from setuptools import find_packages, setup

# What only some features need. A feature that misses a package names it and its extra: extras.py.
EXTRAS = {
    "bags": ["rosbags>=0.11.9"],  # identify_bag, identify_robot: recordings
    "shapes": ["trimesh>=4"],  # the shape of the payload, meshes of plan_excitation
    "methods": ["clarabel>=0.9", "cvxpy>=1.6", "osqp>=1.0"],  # `lmi`, `pmd`, identify_robot
    "simulation": ["mujoco>=3.1"],  # simulate_cobot, the demo
    "reports": ["jinja2>=3.0", "matplotlib>=3.5"],  # identify_bag, identify_robot --report
    "tables": ["pandas>=1.3", "pyarrow>=15"],  # CSV, Parquet, LeRobot datasets
}

CLI = Path(__file__).with_name("inertial_id_ros").joinpath("cli.py").read_text(encoding="utf-8")
PROGRAMS = re.findall(r'"(\w+)": "(?:apps|ros)\.', CLI)  # as CMakeLists.txt does

setup(
    name="inertial_id_ros",
    version="0.2.0",
    description="Online identification of the inertial parameters of a robot arm's payload",
    author="inertial_id_ros developers",
    author_email="maintainers@inertial-id-ros.example",
    license="Apache-2.0",
    python_requires=">=3.10",
    packages=find_packages(include=["inertial_id_ros", "inertial_id_ros.*"]),
    package_data={"inertial_id_ros": ["py.typed"],
                  "inertial_id_ros.apps.report": ["templates/*"],
                  "inertial_id_ros.apps.simulation": ["models/**"]},
    # What ROS distributions have as well: package.xml names the same for rosdep.
    # Exact versions that are known to work together: requirements/run.txt.
    install_requires=[
        "numpy>=1.26",
        "scipy>=1.11",
        "pin>=4.0",
        "coal>=3.0",
        "PyYAML>=6",
        "transforms3d>=0.4.1",
    ],
    extras_require={**EXTRAS, "all": sorted({line for lines in EXTRAS.values() for line in lines})},
    entry_points={
        "console_scripts": [f"{name} = inertial_id_ros.cli:main" for name in PROGRAMS],
    },
)
