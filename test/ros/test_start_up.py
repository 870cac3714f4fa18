# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the libraries take to load is a good part of a short run: only those are that it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import bags
import pytest

# Measured: together more than a second.
SLOW = ("cvxpy", "matplotlib", "trimesh", "mujoco", "osqp", "clarabel", "jinja2", "yaml",
        "scipy.optimize", "scipy.sparse", "scipy.spatial", "scipy.special", "rosbags.typesys",
        "inertial_id_ros.identification.joint_torque")
PROGRAM = """
import sys
from inertial_id_ros.apps.bag.identify_bag import main
status = main(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(status)
"""


def loaded(*arguments: str) -> set[str]:
    """Modules that a run of identify_bag has loaded in the end."""
    run = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True,
                         text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return set(run.stderr.split())


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("start") / "bag"
    bags.joint_bag(path)
    return path


def test_a_plain_run_loads_nothing_that_it_does_not_need(bag: Path) -> None:
    modules = loaded(str(bag))
    assert "pinocchio" in modules
    assert not modules & set(SLOW)


@pytest.mark.parametrize(("asked", "used"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")])
def test_small_matrices_are_computed_in_one_thread_unless_asked_for_more(
        asked: dict[str, str], used: str) -> None:
    """Waiting for each other, two threads took half as much processor time again."""
    code = ("import os, sys; sys.argv[1:] = ['--help']\n"
            "from inertial_id_ros.cli import identify_bag\n"
            "try:\n    identify_bag()\nexcept SystemExit:\n    pass\n"
            "print(len(os.listdir('/proc/self/task')), os.environ['OPENBLAS_NUM_THREADS'],"
            " file=sys.stderr)")
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                         env={**environment, **asked})
    threads, setting = run.stderr.split()
    assert setting == used
    assert threads == "1" or asked


def test_another_method_loads_what_it_needs(bag: Path) -> None:
    assert "clarabel" in loaded(str(bag), "--method", "lmi")
