# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Processor time and memory of `identify_robot` for many joints and for long recordings."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.robot import descriptions
from benchmarks.robot.robots import random_tree, ur10e

RATE = 250.0  # Hz
RUNS = (("UR10e", 6, 60.0), ("UR10e", 6, 300.0), ("UR10e", 6, 600.0),
        ("random tree", 20, 40.0), ("random tree", 32, 40.0))  # robot, joints, seconds
_MEASURE = """
import resource, sys, time
from inertial_id_ros.apps.robot.identify_robot import main
status = main([*sys.argv[1:], "--quiet"])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(status, time.process_time(), peak / 1e3)
"""


def measure(kind: str, joints: int, duration: float, folder: Path) -> list[float]:
    """Exit status, processor time [s], most memory [MB]."""
    rng = np.random.default_rng(1)
    text = ur10e(rng) if kind == "UR10e" else random_tree(rng, joints)
    robot = descriptions.make_robot(text, rng)
    motion = descriptions.wide_motion(joints, duration, 3)
    t = np.arange(0.0, duration, 1.0 / RATE)
    q, torque = np.empty((2, len(t), joints))
    for part in np.array_split(np.arange(len(t)), max(int(duration / 5.0), 1)):
        q[part], dq, ddq = motion(t[part])
        torque[part] = robot.model.torque(robot.truth, q[part], dq, ddq)
    q += descriptions.ENCODER * rng.normal(size=q.shape)
    torque += np.maximum(descriptions.NOISE * robot.torque, 0.02) * rng.normal(size=q.shape)
    urdf, recording = folder / "robot.urdf", folder / "recording.npz"
    urdf.write_text(text)
    np.savez(recording, t=t, q=q, effort=torque)
    done = subprocess.run([sys.executable, "-c", _MEASURE, str(recording), "--urdf", str(urdf)],
                          capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def table() -> list[str]:
    """Markdown rows."""
    lines = ["| robot | joints | recording at 250 Hz, s | processor, s | most memory, MB |",
             "|---" * 5 + "|"]
    for kind, joints, duration in RUNS:
        with tempfile.TemporaryDirectory() as folder:
            status, seconds, peak = measure(kind, joints, duration, Path(folder))
        done = "" if status == 0 else f" (exit status {status:.0f})"
        lines.append(f"| {kind} | {joints} | {duration:.0f} | {seconds:.1f}{done} | "
                     f"{peak:.0f} |")
    return lines
