# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What a session prints, asks and reports."""

import io
import json
from xml.etree import ElementTree

import numpy as np
import pytest
from robot_graph import in_sensor
from wiggled import BIAS, record, wiggle

from inertial_id_ros.apps.guide.checks import FAILED, Row, prove
from inertial_id_ros.apps.guide.show import End, Show, Wanted, session_page
from inertial_id_ros.apps.report.results import LEAST, Prediction
from inertial_id_ros.apps.simulation.payload import PAYLOADS
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.inertia import report_jacobian
from inertial_id_ros.settings import Settings

PHI = PAYLOADS["drill"].phi


def found(sigma) -> Estimate:
    """The true payload as an estimate with deviations (10,) of the report."""
    back = np.linalg.inv(report_jacobian(PHI))
    return in_sensor(phi=PHI, phi_covariance=back @ np.diag(np.square(sigma)) @ back.T)


WRONG = Row("clocks", FAILED, "0.30 s apart", "less than 0.1 s", "Synchronise <both>.")
PROOF = Prediction(np.arange(LEAST), np.tile([3.0, 0.0, 4.0, 0.0, 0.6, 0.8], (LEAST, 1)),
                   np.zeros((LEAST, 6)), np.tile([3.0, 0.0, 3.5, 0.0, 0.6, 0.7], (LEAST, 1)),
                   (0.7, 0.2))


def run_show(**options):
    """Every event of a session; what was printed, and the answer."""
    out = io.StringIO()
    show = Show(out=out, **options)
    show.step("check", "at rest")
    show.row(WRONG)
    show.motion("tilt it", 1.234)
    for k in range(20):
        show.progress(0.1 * k, 83.0, found([0.05] + 9 * [0.001]), "mass 1.4 kg", "inertia")
    show.progress(9.0, 74.0, None, "", "no estimate yet")
    show.prove(PROOF)
    show.say("saved", True)
    agreed = show.ask("Move?")
    show.end(End(4, "not done"))
    return out.getvalue(), agreed


def test_events_are_lines_of_json_and_progress_comes_once_a_second():
    text, agreed = run_show(yes=False, as_json=True)
    events = [json.loads(line) for line in text.splitlines()]
    assert [e["event"] for e in events] == ["step", "check", "motion", *3 * ["progress"], "proof",
                                            "note", "question", "end"] and not agreed
    assert events[1]["advice"] == WRONG.advice and events[1]["verdict"] == "wrong"
    assert events[3]["values"][0] == pytest.approx(PAYLOADS["drill"].mass)
    assert events[3]["sigma"][:2] == pytest.approx([0.05, 0.001])
    assert events[5]["missing"] == "no estimate yet" and not events[5]["values"]
    assert events[6]["given"] and events[6]["residual_after"] == pytest.approx([0.5, 0.1])
    assert events[-1]["status"] == 4


def test_what_is_wanted_is_for_a_planner_a_deviation_of_each_parameter():
    report = found(np.full(10, 0.01)).report
    half = 1.96 * Wanted(0.02, 0.003, 0.2).sigma(PHI)
    assert half[:2] == pytest.approx([0.02 * report[0], 0.003])
    assert half[4:] == pytest.approx(0.2 * report[[4, 7, 9]].mean())
    assert np.isinf(Wanted(0.02, 0.003).sigma(PHI)[4:]).all()


@pytest.mark.parametrize(("answer", "agreed"), [("y\n", True), ("n\n", False), ("\n", False),
                                                ("", False)])
def test_a_person_reads_what_is_wrong_and_what_to_do_and_is_asked(monkeypatch, answer, agreed):
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    text, agrees = run_show(yes=False, as_json=False)
    assert agrees is agreed
    for number in ("0.30 s apart", WRONG.expected, WRONG.advice, "tilt it (1.2 s)", "0.5 N"):
        assert number in text, number


@pytest.mark.slow
def test_the_report_holds_checks_and_proof_and_is_well_formed():
    proof = prove(record(motion=wiggle(angle=30.0, move=0.9)), np.array(BIAS), np.zeros(10),
                  PHI, Settings().replace({"wrench.sensor": "ati_gamma"}))
    show = Show(yes=False, as_json=True, out=io.StringIO())
    show.row(WRONG)
    show.found, show.proof, show.applied = found(np.full(10, 0.01)), proof, "told"
    page = session_page(show, End(4, "stopped: contact.", "Look for what touches it."))
    root = ElementTree.fromstring(page.split("\n", 1)[1] if page.startswith("<!") else page)
    assert len(root.findall(".//{*}figure")) == 2
    text = "".join(root.itertext())
    for words in (WRONG.advice, WRONG.measured, "contact.", "Look for what touches it.", "told",
                  "COM x"):
        assert words in text, words
