# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The demo: it identifies the payload, judges independently, and leaves no process behind."""

import json
import signal
import sys
from pathlib import Path

import pytest
from ros_process import RosProcess, own_domain, wait_until

from inertial_id_ros.apps.simulation.payload import PAYLOADS

DEMO = (sys.executable, "-m", "inertial_id_ros.cli", "inertial_id_demo")


@pytest.mark.alone
@pytest.mark.slow
def test_the_demo_leads_from_check_to_applied_payload(tmp_path):
    """What is told to the driver is the truth, and the report holds check and proof."""
    demo = RosProcess(own_domain(), *DEMO, "--report", str(tmp_path))
    status, text = demo.finish(300.0)
    assert status == 0, text
    events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    notes = [e["text"] for e in events if e["event"] == "note" and e["good"]]
    assert sum("off by" in note for note in notes) == 2, text
    proof = next(e for e in events if e["event"] == "proof")
    assert proof["given"] and proof["residual_before"][0] > 10 * proof["residual_after"][0]
    told = next(note for note in notes if "was sent" in note)
    assert float(told.split("was sent ")[1].split(" kg")[0]) == pytest.approx(
        PAYLOADS["drill"].mass, rel=0.03)
    assert "the same is read back" in told
    page = next(tmp_path.glob("*.html")).read_text()
    assert "sign of the wrench" in page and "with the estimate" in page


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_no_process_outlives_the_demo():
    demo = RosProcess(own_domain(), *DEMO)
    children = Path(f"/proc/{demo.process.pid}/task/{demo.process.pid}/children")
    wait_until(lambda: len(children.read_text().split()) == 2)
    started = children.read_text().split()
    status, text = demo.stop(signal.SIGTERM)
    assert status == 130 and "Traceback" not in text
    assert not [child for child in started if Path("/proc", child).exists()]
