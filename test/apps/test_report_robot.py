# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The HTML report of an identified robot: its numbers, its verdicts, and what it never loads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from torque_arm import simulate, wide_motion

from inertial_id_ros.apps.report.results import percent
from inertial_id_ros.apps.robot.identify_robot import main
from inertial_id_ros.apps.simulation.description import load_description

pytestmark = pytest.mark.slow
NAMES = load_description().joint_names


def parse(path: Path) -> ElementTree.Element:
    return ElementTree.fromstring(path.read_text(encoding="utf-8").split("\n", 1)[1])


def table(root: ElementTree.Element, caption: str) -> list[list[str]]:
    found = next(t for t in root.iter("table") if "".join(t.find("caption").itertext()) == caption)
    return [["".join(cell.itertext()) for cell in row] for row in found.findall("tbody/tr")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports and JSON of an arm as it is, and with its efforts in another order of joints."""
    out = tmp_path_factory.mktemp("robot")
    (out / "arm.urdf").write_text(load_description().urdf)
    recorded = simulate(wide_motion(12.0), 12.0)
    noise = recorded.effort.copy()  # of one joint, in which the bodies are hardly felt
    noise[:, 5] = 0.05 * np.random.default_rng(2).normal(size=len(noise))
    for name, effort in (("right", recorded.effort), ("wrong", recorded.effort[:, ::-1]),
                         ("noise", noise)):
        np.savez(out / f"{name}.npz", t=recorded.t, q=recorded.q, effort=effort,
                 names=np.array(NAMES))
        main([str(out / f"{name}.npz"), "--urdf", str(out / "arm.urdf"), "--quiet",
              "--set", "align=false", "--set", "coulomb_velocity=0.01",
              "--report", str(out / "pages"), "--json", str(out / f"{name}.json")])
    return out


def test_the_page_holds_the_numbers_of_the_result(folder: Path) -> None:
    root = parse(folder / "pages" / "right.npz.html")
    result = json.loads((folder / "right.json").read_text())
    rows = table(root, "Torque, rms [N m]")
    assert [row[0] for row in rows] == list(NAMES)
    for row, torque, error in zip(rows, result["torque_rms"], result["error_rms"], strict=True):
        assert float(row[1]) == pytest.approx(torque, abs=5.1e-4)
        assert float(row[2]) == pytest.approx(error, abs=5.1e-5)
        assert row[3] == percent(error, torque)
    values = {p["name"]: p["value"] for p in result["parameters"]}
    terms = {row[0]: row[1:] for row in table(root, "Joints, with 95 % intervals")}
    viscous = float(terms[NAMES[0]][0].split(" \u00b1 ")[0])
    assert any(value == pytest.approx(viscous, rel=0.02) for name, value in values.items()
               if NAMES[0] in name)
    assert len(table(root, "Base parameters")) == len(result["base_parameters"])


def charts(root: ElementTree.Element, name: str) -> dict[str, str]:
    """Descriptions of the charts of a section, by their titles."""
    part = next(s for s in root.iter("section") if s.get("id") == name)
    pairs = (str(picture.get("alt")).split(": ", 1) for picture in part.iter("img"))
    return {title: words for title, words in pairs}


def test_torques_are_drawn_for_every_joint(folder: Path) -> None:
    root = parse(folder / "pages" / "right.npz.html")
    assert list(charts(root, "torques")) == list(NAMES)


def test_the_verdict_says_whether_the_torques_are_explained(folder: Path) -> None:
    for name, tone in (("right", "verdict good"), ("wrong", "verdict bad"),
                       ("noise", "verdict fair")):
        verdict = next(parse(folder / "pages" / f"{name}.npz.html").iter("section"))
        assert verdict.get("class") == tone
    said = "".join(verdict.itertext())
    assert f"Most of the torque is not explained of: {NAMES[5]} (" in said


def test_the_page_loads_nothing_and_names_its_command(folder: Path) -> None:
    text = (folder / "pages" / "right.npz.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|//[a-z]|@import|url\(|srcdoc", text.replace(str(folder), ""))
    assert "identify_robot" in text and "coulomb_velocity=0.01" in text
