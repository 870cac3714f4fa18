# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The SROS 2 policies allow what the node does, and to a reader nothing that changes anything.

The structure is that of sros2's policy.xsd, version 0.2.0, written down again here.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs.msg")
pytest.importorskip("inertial_id_ros.msg")
from node_client import NODE  # noqa: E402
from ros_process import ROOT, Stage  # noqa: E402

FILE = ROOT / "config" / "sros2" / "inertial_id.policy.xml"
NAMES = ("node", "reader")
CHANGING = {f"{NODE}/{name}" for name in (  # a reader needs none of them
    "apply", "change_state", "reset", "save", "set_shape", "set_tool", "tare", "untare",
    "set_parameters", "set_parameters_atomically")}
LISTS = {"topics": ("topic", {"publish", "subscribe"}),
         "services": ("service", {"reply", "request"}), "actions": ("action", {"call", "execute"})}


def profile(name: str) -> ElementTree.Element:
    """The one profile of an enclave."""
    profiles = ElementTree.parse(FILE).findall(
        f"./enclaves/enclave[@path='/inertial_id/{name}']/profiles/profile")
    assert len(profiles) == 1
    return profiles[0]


def allowed(name: str, qualifier: str) -> set[str]:
    """Full names of what a policy allows, as sros2 expands them."""
    found = profile(name)
    own = found.get("ns", "") + found.get("node", "")
    texts = [e.text or "" for group in found if group.get(qualifier) == "ALLOW" for e in group]
    return {own + t[1:] if t.startswith("~") else t if t.startswith("/") else "/" + t
            for t in texts}


def test_the_policy_has_the_structure_of_the_schema() -> None:
    policy = ElementTree.parse(FILE).getroot()
    assert policy.tag == "policy" and policy.attrib == {"version": "0.2.0"}
    assert [e.tag for e in policy] == ["enclaves"]
    assert [e.attrib for e in policy[0]] == [{"path": f"/inertial_id/{name}"} for name in NAMES]
    assert all([e.tag for e in enclave] == ["profiles"] for enclave in policy[0])
    for group in (group for name in NAMES for group in profile(name)):
        item, qualifiers = LISTS[group.tag]
        assert group.attrib and set(group.attrib) <= qualifiers
        assert set(group.attrib.values()) == {"ALLOW"}
        names = [e.text for e in group]
        assert {e.tag for e in group} == {item} and len(names) == len(set(names)) > 0


def check_described_types(graph: Any) -> None:
    """The types in the tables of docs/node.md are those that the running node has."""
    types = {name: kinds[0].split("/") for method in ("publisher", "service")
             for name, kinds in getattr(graph, f"get_{method}_names_and_types_by_node")(
                 NODE[1:], "/")}
    described = runpy.run_path(str(ROOT / "docs" / "make_interfaces_page.py"))["described"]()
    del described["~/identify"]  # an action is no service of the graph by this name
    for name, (kind, _) in described.items():
        package, _, own = types[NODE + name[1:] if name.startswith("~") else name]
        assert kind.split("/") in ([package, own], [own]) and (
            "/" in kind or package == "inertial_id_ros"), name


def test_the_node_may_do_what_it_does_and_no_more() -> None:
    """/clock is there with use_sim_time only."""
    with Stage() as stage:
        stage.start_node()
        graph = stage.client.node
        stage.client.spin_until(lambda: NODE[1:] in graph.get_node_names())

        def names(method: str) -> set[str]:
            found = getattr(graph, method)(NODE[1:], "/")
            return {name for name, _ in found if "/_action/" not in name}

        for method, qualifier, optional in (
                ("get_publisher_names_and_types_by_node", "publish", set()),
                ("get_subscriber_names_and_types_by_node", "subscribe", {"/clock"}),
                ("get_service_names_and_types_by_node", "reply",
                 {f"{NODE}/get_type_description"})):  # from Jazzy on
            wanted = allowed("node", qualifier)
            stage.client.spin_until(
                lambda m=method, w=wanted, o=optional: names(m) | o == w | o)
        check_described_types(graph)
        assert allowed("node", "execute") == {f"{NODE}/identify"}
        # There is what a reader asks for.
        assert allowed("reader", "request") <= allowed("node", "reply")
        assert allowed("reader", "subscribe") - {"/clock"} <= allowed("node", "publish")


def test_a_reader_may_change_nothing() -> None:
    asked = allowed("reader", "request")
    assert CHANGING <= allowed("node", "reply") and not asked & CHANGING
    assert not allowed("reader", "call") and f"{NODE}/get_inertial_parameters" in asked


def test_nobody_but_the_node_may_publish_what_it_publishes() -> None:
    own = {name for name in allowed("node", "publish") if name.startswith(NODE)}
    assert len(own) == 7
    assert not allowed("reader", "publish") & (own | {"/wrench", "/joint_states", "/tf"})
    assert not allowed("reader", "reply") & allowed("node", "reply")


def test_the_policies_are_installed() -> None:
    assert "config" in Path(ROOT / "CMakeLists.txt").read_text().split("install(DIRECTORY", 1)[1]
