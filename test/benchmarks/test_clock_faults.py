# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The campaign of clocks judges by what was published, and one run of it keeps all promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("inertial_id_ros.msg")
from conftest import ROOT  # noqa: E402

from benchmarks.faults.clocks import AT, FAULTS, PAYLOAD, judge  # noqa: E402
from benchmarks.faults.system_clock import SystemClock  # noqa: E402
from inertial_id_ros.msg import InertialParameters  # noqa: E402
from inertial_id_ros.ros.program import unused_domain  # noqa: E402

DRIVER = SimpleNamespace(begun=-AT, masses=[1.0, 2.0])  # the fault begins at 0
SILENT = next(k for k, f in enumerate(FAULTS) if "driver silent" in f.name)
JUMP = next(f for f in FAULTS if "jumps back" in f.name)


def messages(*rows: tuple[float, float, bool, float]) -> list:
    """Messages of (time, mass, stale, age)."""
    out = []
    for t, mass, stale, age in rows:
        m = InertialParameters(valid=True, stale=stale, age=age)
        m.inertia.m = mass
        out.append((t, m))
    return out


def test_an_old_estimate_that_stands_or_is_wrong_breaks_the_promise():
    named = [(0.1, {"reset"})]
    good = messages((-0.5, 1.0, False, 0.1), (0.2, 1.0, True, 0.3), (1.5, 1.0, False, 0.1),
                    (2.0, 1.0, False, 0.1))
    row = judge(JUMP, "", DRIVER, good, named)
    assert row.is_kept and row.stands == pytest.approx(0.8)
    assert row.recovered == pytest.approx(1.5) and row.named == pytest.approx(0.1)
    assert not judge(JUMP, "", DRIVER, good, []).is_kept  # nobody said anything
    assert not judge(JUMP, PAYLOAD, DRIVER, good, named).is_kept  # of the payload before
    long = messages((-0.5, 1.0, False, 0.1), (0.9, 1.0, True, 0.3), (1.5, 1.0, False, 0.1))
    assert not judge(JUMP, "", DRIVER, long, named).is_kept
    never = messages((-0.5, 1.0, False, 0.1), (0.2, 1.0, True, 0.3))
    assert not judge(JUMP, "", DRIVER, never, named).is_kept


def test_the_system_clock_of_one_process_can_be_set_while_it_runs(tmp_path: Path):
    clock = SystemClock(tmp_path)
    program = "import time\nfor _ in range(2):\n    input(); print(time.time(), time.monotonic())"
    with subprocess.Popen([sys.executable, "-uc", program], stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.PIPE, env={**os.environ, **clock.variables}) as process:
        assert process.stdin is not None and process.stdout is not None
        times = []
        for step in (0, -3600):
            clock.step(step)
            process.stdin.write("\n")
            process.stdin.flush()
            times.append([float(x) for x in process.stdout.readline().split()])
    (wall, steady), (later, steady_later) = times
    assert later - wall == pytest.approx(steady_later - steady - 3600.0, abs=0.05)


@pytest.mark.slow
def test_a_node_whose_system_clock_is_set_back_keeps_its_promises(tmp_path: Path):
    for _ in range(3):  # the promises are in seconds: a busy machine may break them now and then
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.faults.clocks", "--fault", str(SILENT), "--output",
             str(tmp_path)], cwd=ROOT, capture_output=True, text=True,
            env={**os.environ, "ROS_DOMAIN_ID": str(unused_domain())})
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "| 0 |" in (tmp_path / "clocks.md").read_text()
