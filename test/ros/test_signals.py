# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A process ends in time after a signal, even where its threads do not."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
ROOT = Path(__file__).resolve().parents[2]
STUCK = """
import os, time
from inertial_id_ros.ros.program import leave_in_time, stop_flag
stop = stop_flag()
leave_in_time(stop, 0.3, lambda: os._exit(7))
print("ready", flush=True)
{wait}
"""


def ended(wait: str) -> tuple[int, float]:
    """Exit status of a process that waits so, and time [s] from SIGTERM to its end."""
    process = subprocess.Popen([sys.executable, "-c", STUCK.format(wait=wait)], cwd=ROOT,
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    return process.wait(60.0), time.monotonic() - began


def test_a_program_that_does_not_end_is_left_in_time() -> None:
    status, took = ended("while True: time.sleep(100)")
    assert status == 7 and took >= 0.3


def test_a_program_that_ends_by_itself_is_left_alone() -> None:
    assert ended("stop.wait()")[0] == 0
