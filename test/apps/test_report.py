# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report: one page with the numbers of the estimate, predictions of unseen data, and a verdict
whose reasons and advice are those of the findings."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import bags
import numpy as np
import pytest
from robot_graph import BIAS, in_sensor
from scenes import BODY, GRAVITY
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.apps.report.results import (
    BAD,
    FAIR,
    GOOD,
    Identification,
    Prediction,
    Snapshot,
    diagnose,
    prediction_of,
    round_to_spread,
    sentence,
)
from inertial_id_ros.cli import OK
from inertial_id_ros.estimate import IDENTIFIED, UNOBSERVED, Estimate, NoEstimate
from inertial_id_ros.kinds import KINDS, Finding, made
from inertial_id_ros.model.history import History, Marks
from inertial_id_ros.motion.motion import BIN_NS, Motion
from inertial_id_ros.settings import Settings

pytest.importorskip("jinja2")
PHI = BODY.phi()


def estimate(stamp: int = 0, **changes: object) -> Estimate:
    return in_sensor(**{"stamp_ns": stamp, "phi": PHI, "phi_covariance": 1e-8 * np.eye(10),
                        **changes})


def result(outcome: Estimate | NoEstimate, *findings: Finding) -> Identification:
    return Identification(outcome, (Snapshot(1.0, outcome, findings),), findings, 5.0, {"/w": 3})


# ---- the page ------------------------------------------------------------------------------------

def test_the_page_is_one_file_that_loads_nothing_and_holds_the_numbers_of_the_estimate(
        tmp_path: Path) -> None:
    bag = bags.joint_bag(tmp_path / "<i>bag", duration=6.0)
    assert main([str(bag), "--sensor", "ati_gamma", "--report", str(tmp_path / "out"),
                 "--shape", "box:.2,.2,.3@0,0,.1", "--json", str(tmp_path / "a.json")]) == OK
    (file,) = (tmp_path / "out").glob("*.html")
    text, tree = file.read_text(), json.loads((tmp_path / "a.json").read_text())
    root = ElementTree.fromstring(text)
    assert root.tag == "html" and "<i>bag" not in text
    links = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert links and all(link.startswith("data:image/svg+xml;base64,") for link in links)
    assert len(links) <= 8 and len(root.findall(".//section")) <= 9
    assert all(image.get("alt") for image in root.iter("img"))
    rows = {row[0]: row for table in root.iter("tbody") for row in (
        ["".join(cell.itertext()) for cell in tr] for tr in table)}
    covariance = np.array(tree["covariance"])
    value, spread = round_to_spread(float(tree["mass"]), 1.96 * float(np.sqrt(covariance[0, 0])))
    assert rows["mass"][1:3] == [value, f"\u00b1 {spread}"] and rows["mass"][4] == "identified"
    without, with_ = (float(rows[f"{word} the estimate"][1].split()[0]) for word in (
        "without", "with"))
    assert with_ < 0.15 < 5.0 < without


# ---- predictions of unseen data ------------------------------------------------------------------

@pytest.mark.parametrize(("sign", "convention"), [(1.0, "on_environment"), (-1.0, "on_sensor")])
def test_the_true_payload_predicts_what_comes_after_it(sign: float, convention: str) -> None:
    rng, n = np.random.default_rng(0), 300
    turn = Rotation.random(n, rng=rng).as_matrix()
    moved = Motion(np.arange(n), turn, *rng.normal(size=(4, n, 3)), np.empty((n, 0, 3, 3)),
                   np.empty((n, 0, 6)))
    wrench = BODY.wrench(SimpleNamespace(
        q=turn, omega=moved.omega, alpha=moved.alpha,
        a_g=moved.acceleration - turn.transpose(0, 2, 1) @ GRAVITY))
    history = History()
    history.append(moved, np.arange(n) * BIN_NS + BIN_NS // 2, wrench + sign * BIAS)
    history.marks = Marks(contacts=((250, n),))
    identifier: Any = SimpleNamespace(
        course=SimpleNamespace(history=history, ready=n), beliefs=SimpleNamespace(tool=None),
        settings=Settings().replace({"wrench.convention": convention}))
    got = prediction_of(identifier, [NoEstimate(0, "", "none"), estimate(100 * BIN_NS)], 0)
    assert got is not None
    assert not np.isfinite(got.after[:101]).any()
    assert not np.isfinite(got.after[250:]).any()
    np.testing.assert_allclose(got.after[101:250], got.measured[101:250], atol=1e-9)
    (without, _), (with_, _) = got.residuals
    assert with_ < 1e-9 and without == pytest.approx(
        np.sqrt(np.square(wrench[101:250, :3]).sum(1).mean()), rel=1e-6)
    assert not Prediction(*(column[:110] for column in got[:4])).residuals


# ---- the verdict ---------------------------------------------------------------------------------

@pytest.mark.parametrize("name", sorted(KINDS))
def test_reason_and_advice_are_those_of_the_finding(name: str) -> None:
    kind = KINDS[name]
    finding = Finding(name, kind.level, "what was found")
    found = diagnose(result(NoEstimate(0, "", "nothing came of it"), finding))
    assert found.tone == BAD
    said = [advice for advice in found.mends if advice == sentence(kind.remedy)]
    assert len(found.mends) == len(said)
    if kind.level != "info":
        assert any("hat was found" in text for text in (found.said, *found.reasons))
        assert ("hat was found" in found.said) == (kind.level == "error")


def unknown(*entries: int) -> Estimate:
    return estimate(verdict=tuple(UNOBSERVED if k in entries else IDENTIFIED for k in range(10)))


@pytest.mark.parametrize(("outcome", "findings", "tone", "mends"), [
    (unknown(0), (), BAD, 1), (unknown(2), (), BAD, 1), (unknown(*range(4, 10)), (), FAIR, 1),
    (estimate(), (made("samples_repeated.wrench", count=3),), GOOD, 0),
    (estimate(stale=True, stale_reason="silence"), (), FAIR, 0),
    (estimate(), (made("cable", tension=3.0),), FAIR, 1),
    (unknown(2), (made("hysteresis", share=0.1),), BAD, 2),
    (estimate(), (made("clock_offset", milliseconds=500.0),), FAIR, 1),
    (estimate(phi=1e-6 * PHI, phi_covariance=1e-6 * np.eye(10), tool_apart=True,
              verdict=(IDENTIFIED, *(UNOBSERVED,) * 9)), (), GOOD, 0),
    (NoEstimate(0, "", "no body", needs_motion=True), (), BAD, 1),
    (NoEstimate(0, "", "no wrench"), (), BAD, 0)])
def test_tone_and_advice(outcome: Estimate | NoEstimate, findings: tuple[Finding, ...], tone: str,
                         mends: int) -> None:
    found = diagnose(result(outcome, *findings))
    assert (found.tone, len(found.mends)) == (tone, mends)
