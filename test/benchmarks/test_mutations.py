# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A small part of the campaign of damaged input; the whole: python -m benchmarks.mutations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.mutations import run
from benchmarks.mutations.cases import KINDS
from benchmarks.mutations.run import Run, verdict
from benchmarks.mutations.sound import Case
from benchmarks.mutations.texts import mutated_urdf

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
STATE = Case("state", [])


def test_damaged_input_is_refused_in_one_sentence_or_does_no_harm() -> None:
    """One case of every kind, each in a process of its own."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.mutations", "--seed", "7", "--cases",
                           str(len(KINDS))], cwd=ROOT, capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("| all |")


@pytest.mark.parametrize(("ended", "wanted"), [
    (Run(None, "", "", 0), "hang"), (Run(-11, "", "", 0), "crash"),
    (Run(70, "", "Traceback (most recent call last):\n", 0), "traceback"),
    (Run(0, "", "Traceback (most recent call last):\n", 0), "traceback"),
    (Run(70, "", "", 0), "traceback"), (Run(0, "", "", 10**11), "memory"),
    (Run(2, "", "error: x is 3; allowed: 2\n", 0), "refused"), (Run(2, "", "", 0), "unclear"),
    (Run(2, "", "Error: parser.cpp\nerror: x\n", 0), "unclear"),
    (Run(2, "", "error: " + "x" * 5000, 0), "unclear"),
    (Run(0, "", "a.py:3: RuntimeWarning: overflow\n", 0), "unclear"),
    (Run(0, "", "", 0), "estimate")])
def test_the_verdict_tells_good_ends_from_bad_ones(ended: Run, wanted: str) -> None:
    assert verdict(ended, STATE, Path("none"), None) == wanted


HANG = "import time; end = time.process_time() + 60\nwhile time.process_time() < end: pass"


@pytest.mark.parametrize(("code", "wanted"), [
    (HANG, "hang"), ("import os; os.abort()", "crash"), ("raise SystemExit(0)", "estimate"),
    ("1 / 0", "traceback"), ("x = bytes(10**10)", "traceback")])
def test_a_process_that_goes_wrong_is_told_by_its_kind(
        code: str, wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Started as a user does; the limit of processor time is one second here."""
    monkeypatch.setattr(run, "LIMIT", 1)
    monkeypatch.setitem(run._COMMANDS, "state", code)
    assert verdict(run.run_tool(STATE, tmp_path, own=True), STATE, Path("none"), None) == wanted


_LARGE = """
import sys
from pathlib import Path
from benchmarks.mutations import run
run._COMMANDS["state"] = "n = 3 * 10**8; x = b'x' * n"
print(run.run_tool(run.Case("state", [], False), Path(sys.argv[1]), own=True).memory)
"""


def test_the_memory_of_a_process_is_seen(tmp_path: Path) -> None:
    """Asked from a small process: what a process was a copy of at first counts, too."""
    done = subprocess.run([sys.executable, "-c", _LARGE, str(tmp_path)], capture_output=True,
                          text=True, check=True, cwd=Path(__file__).resolve().parents[2])
    assert 3e8 < int(done.stdout) < 4e8


def test_a_case_can_be_replayed_from_its_numbers() -> None:
    text = '<robot name="r"><link name="a" x="1"/><link name="b" x="2"/></robot>'
    first, again, other = (mutated_urdf(text, np.random.default_rng([3, k])) for k in (5, 5, 6))
    assert first == again != other
