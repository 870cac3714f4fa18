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

from inertial_id_ros.settings.node import LOCKABLE  # noqa: E402

FOLDER = ROOT / "config" / "sros2"
NAMES = ("node", "operator", "reader")
LISTS = {"topics": ("topic", {"publish", "subscribe"}),
         "services": ("service", {"reply", "request"}), "actions": ("action", {"call", "execute"})}


def profile(name: str) -> ElementTree.Element:
    """The one profile of a policy."""
    profiles = ElementTree.parse(FOLDER / f"{name}.policy.xml").findall("./enclaves/enclave/*/*")
    assert len(profiles) == 1
    return profiles[0]


def allowed(name: str, qualifier: str) -> set[str]:
    """Full names of what a policy allows, as sros2 expands them."""
    found = profile(name)
    own = found.get("ns", "") + found.get("node", "")
    texts = [e.text or "" for group in found if group.get(qualifier) == "ALLOW" for e in group]
    return {own + t[1:] if t.startswith("~") else t if t.startswith("/") else "/" + t
            for t in texts}


@pytest.mark.parametrize("name", NAMES)
def test_policies_have_the_structure_of_the_schema(name: str) -> None:
    policy = ElementTree.parse(FOLDER / f"{name}.policy.xml").getroot()
    assert policy.tag == "policy" and policy.attrib == {"version": "0.2.0"}
    assert [e.tag for e in policy] == ["enclaves"]
    (enclave,) = policy[0]
    assert enclave.tag == "enclave" and enclave.attrib == {"path": f"/inertial_id/{name}"}
    assert [e.tag for e in enclave] == ["profiles"] and set(profile(name).attrib) == {"ns", "node"}
    for group in profile(name):
        item, qualifiers = LISTS[group.tag]
        assert group.attrib and set(group.attrib) <= qualifiers
        assert set(group.attrib.values()) == {"ALLOW"}
        names = [e.text for e in group]
        assert {e.tag for e in group} == {item} and len(names) == len(set(names)) > 0


def test_there_are_no_other_policies() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == [f"{n}.policy.xml" for n in NAMES]


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
    """/clock and /bond are there with use_sim_time and with a lifecycle manager only."""
    with Stage() as stage:
        stage.start_node()
        graph = stage.client.node
        stage.client.spin_until(lambda: NODE[1:] in graph.get_node_names())

        def names(method: str) -> set[str]:
            found = getattr(graph, method)(NODE[1:], "/")
            return {name for name, _ in found if "/_action/" not in name}

        for method, qualifier, optional in (
                ("get_publisher_names_and_types_by_node", "publish", {"/bond"}),
                ("get_subscriber_names_and_types_by_node", "subscribe", {"/clock"}),
                ("get_service_names_and_types_by_node", "reply",
                 {f"{NODE}/get_type_description"})):  # from Jazzy on
            wanted = allowed("node", qualifier)
            stage.client.spin_until(
                lambda m=method, w=wanted, o=optional: names(m) | o == w | o)
        check_described_types(graph)
        assert allowed("node", "execute") == {f"{NODE}/identify"}
        for name in ("reader", "operator"):  # there is what they ask for
            assert allowed(name, "request") <= allowed("node", "reply")
            assert allowed(name, "subscribe") - {"/clock"} <= allowed("node", "publish")


def test_a_reader_may_change_nothing_and_an_operator_all() -> None:
    changing = {f"{NODE}/{name}" for name in LOCKABLE} | {
        f"{NODE}/set_parameters", f"{NODE}/set_parameters_atomically"}
    asked = allowed("reader", "request") | allowed("reader", "call")
    assert not asked & changing and f"{NODE}/get_inertial_parameters" in asked
    assert changing <= allowed("operator", "request") | allowed("operator", "call")


def test_nobody_but_the_node_may_publish_what_it_publishes() -> None:
    own = {name for name in allowed("node", "publish") if name.startswith(NODE)}
    assert len(own) == 7
    for name in ("reader", "operator"):
        assert not allowed(name, "publish") & (own | {"/wrench", "/joint_states", "/tf"})
        assert not allowed(name, "reply") & allowed("node", "reply")


def test_the_policies_are_installed() -> None:
    assert "config" in Path(ROOT / "CMakeLists.txt").read_text().split("install(DIRECTORY", 1)[1]
