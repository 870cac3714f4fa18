# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The report that the node makes of an estimate that is saved."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from node_client import current_findings, wait_until_all_is_used  # noqa: E402
from ros_process import Robot, Stage, wait_until  # noqa: E402

from inertial_id_ros.srv import Save  # noqa: E402

NODE = "/inertial_id_node"
pytestmark = pytest.mark.slow


@pytest.fixture
def stage() -> Stage:
    with Stage() as made:
        yield made


def begin(stage: Stage, folder: Path, **settings: object) -> None:
    """A node whose robot has moved for some seconds."""
    stage.start_node(state__directory=str(folder), state__restore=False, **settings)
    robot = Robot(stage.client)
    robot.publish_description()
    robot.play(6.0)
    wait_until_all_is_used(stage)


def test_the_report_beside_a_saved_estimate_holds_its_mass(stage: Stage, tmp_path: Path) -> None:
    begin(stage, tmp_path)
    answer = stage.client.call(Save, f"{NODE}/save", Save.Request(name="load.json"))
    page = tmp_path / "saves" / "load.html"
    assert answer.success and page.name in answer.message
    wait_until(page.exists)
    root = ElementTree.fromstring(page.read_text(encoding="utf-8").split("\n", 1)[1])
    saved = json.loads(Path(answer.path).read_text())
    table = next(t for t in root.iter("table") if t.findtext("caption") == "Payload")
    shown = table.findall("tbody/tr")[0].findall("td")[0].text or ""
    digits = len(shown.partition(".")[2])
    assert float(shown) == pytest.approx(saved["mass"], abs=0.51 * 10.0**-digits)
    assert len(list(root.iter("img"))) > 5  # curves over time
    assert not list((tmp_path / "saves").glob("*.partial*"))


def test_a_report_that_cannot_be_written_is_a_finding(stage: Stage, tmp_path: Path) -> None:
    begin(stage, tmp_path)
    (tmp_path / "saves" / "load.html").mkdir(parents=True)
    assert stage.client.call(Save, f"{NODE}/save", Save.Request(name="load.json")).success
    wait_until(lambda: "file_not_written.report" in current_findings(stage))
