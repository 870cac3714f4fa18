# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The layouts of PlotJuggler and Foxglove, held to the messages that the node publishes."""

import json
import re
from xml.etree import ElementTree

import pytest
from conftest import ROOT

pytest.importorskip("rclpy")
pytest.importorskip("inertial_id_ros.msg")
from geometry_msgs.msg import WrenchStamped  # noqa: E402

from inertial_id_ros.msg import InertialParameters, InertialSummary  # noqa: E402


def layout_paths():
    """Topic and field of each curve and text of the layouts, as (topic, field, index)."""
    curves = ElementTree.parse(ROOT / "config/layouts/plotjuggler.xml").iter("curve")
    panels = json.loads((ROOT / "config/layouts/foxglove.json").read_text())["configById"]
    paths = [path["value"] for panel in panels.values() for path in panel.get("paths", [])]
    paths += [panel["topicPath"] for panel in panels.values() if "topicPath" in panel]
    names = [curve.get("name") for curve in curves]
    assert len(names) >= 15 and len(paths) >= 15
    for path in names + paths:
        node, topic, field, index = re.fullmatch(
            r"(/inertial_id_node)/(\w+)[/.]([\w/.]+?)(?:\[(\d)\])?", path).groups()
        yield topic, re.split(r"[/.]", field), index


def test_the_layouts_show_topics_and_fields_that_exist():
    types = {"summary": InertialSummary, "inertial_parameters": InertialParameters,
             "wrench_compensated": WrenchStamped}
    seen = set()
    for topic, fields, index in layout_paths():
        value = types[topic]()
        for field in fields:
            value = getattr(value, field)
        if index is not None:
            value = value[int(index)]
        assert isinstance(value, str if fields == ["text"] else float)
        seen.add(topic)
    assert seen == set(types)


def test_the_layouts_name_every_panel_and_topic_that_they_show():
    layout = json.loads((ROOT / "config/layouts/foxglove.json").read_text())

    def panels(node):
        return [node] if isinstance(node, str) else panels(node["first"]) + panels(node["second"])

    assert sorted(panels(layout["layout"])) == sorted(layout["configById"])
    assert set(layout["configById"]["3D!payload"]["topics"]) == {"/inertial_id_node/markers"}
