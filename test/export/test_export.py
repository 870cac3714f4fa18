# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Every format is read back to the same body by a parser that the package does not use for it; what
may be exported of an estimate, and the command."""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
import pytest
import yaml
from robot_graph import in_sensor, matrix

from inertial_id_ros import api, errors
from inertial_id_ros.apps.export_payload import main
from inertial_id_ros.apps.simulation.cobot import load_description
from inertial_id_ros.cli import NO_ESTIMATE, OK, USER_ERROR
from inertial_id_ros.estimate import IDENTIFIED, PRIOR_DOMINATED, UNOBSERVED, Estimate, NoEstimate
from inertial_id_ros.export import (
    FORMATS,
    ExportedPayload,
    export,
    export_payload,
    payload_of,
    without_payloads,
)
from inertial_id_ros.export.documents import PayloadOnLink
from inertial_id_ros.inertia import Body, phi_from_body


def random_body(rng: np.random.Generator) -> Body:
    """A body of any size and flatness, turned anyhow, up to a metre from the frame."""
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    lengths = 10.0 ** rng.uniform(-4.0, 0.0, size=3)
    mass = 10.0 ** rng.uniform(-3.0, 2.0)
    second = mass * turn @ np.diag(lengths**2 / 12.0) @ turn.T
    tensor = np.trace(second) * np.eye(3) - second
    return Body(mass, rng.uniform(-1.0, 1.0, size=3), 0.5 * (tensor + tensor.T))


def assert_same(found: Body, truth: Body, tolerance: float = 1e-9) -> None:
    """Mass, centre of mass and tensor agree to this share of their size."""
    np.testing.assert_allclose(found.mass, truth.mass, rtol=tolerance)
    for one, other in ((found.com, truth.com), (found.inertia_com, truth.inertia_com)):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=tolerance * np.abs(other).max())


def from_pinocchio(inertia: pin.Inertia) -> Body:
    return Body(inertia.mass, np.array(inertia.lever), np.array(inertia.inertia))


def pinocchio_link(urdf: str, link: str) -> Body:
    """A link that is fixed to its parent, in its own frame, as Pinocchio reads a URDF."""
    model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
    frame = model.frames[model.getFrameId(link, pin.FrameType.BODY)]
    joint = model.frames[frame.parentFrame]  # of a fixed joint, it keeps the inertia of its link
    assert joint.type == pin.FrameType.FIXED_JOINT and frame.inertia.mass == 0.0
    assert frame.placement == joint.placement
    return from_pinocchio(joint.inertia)


def mujoco_body(xml: str, name: str) -> Body:
    """A body in its own frame, as MuJoCo reads MJCF or a URDF."""
    spec = mujoco.MjSpec.from_string(xml)
    spec.compiler.fusestatic = False
    body, turn = spec.compile().body(name), np.empty(9)
    mujoco.mju_quat2Mat(turn, body.iquat)
    axes = turn.reshape(3, 3)
    return Body(float(body.mass[0]), np.array(body.ipos), axes @ np.diag(body.inertia) @ axes.T)


def sdf_link(sdf: str, name: str) -> Body:
    """The only link of the only model of an SDF document; fails where the document holds anything
    that the specification does not know, or lacks what it requires."""
    root = ElementTree.fromstring(sdf)
    ((link,),) = root
    assert [(e.tag, e.attrib) for e in (root, root[0], link, link[0])] == [
        ("sdf", {"version": "1.7"}), ("model", {"name": name}), ("link", {"name": name}),
        ("inertial", {})]
    pose, mass, inertia = link[0]
    assert [e.tag for e in (pose, mass, inertia)] == ["pose", "mass", "inertia"]
    numbers = [float(x) for x in str(pose.text).split()]
    turn = pin.rpy.rpyToMatrix(*numbers[3:])  # about fixed axes: roll, pitch, yaw
    tensor = matrix({part.tag: float(str(part.text)) for part in inertia})
    return Body(float(str(mass.text)), np.array(numbers[:3]), turn @ tensor @ turn.T)


def yaml_bodies(text: str) -> tuple[str, Body, Body]:
    """Frame, the body of the tensor, and that of the principal moments."""
    load = yaml.safe_load(text)["load"]
    assert load["units"] == {"mass": "kg", "length": "m", "inertia": "kg m^2"}
    mass, com = load["mass"], np.array(load["center_of_mass"])
    axes = np.array(load["rotation"])
    assert np.linalg.det(axes) > 0.0
    return (load["frame"], Body(mass, com, matrix(load["inertia"])),
            Body(mass, com, axes @ np.diag(load["principal_moments"]) @ axes.T))


def franka_body(text: str) -> Body:
    tree = json.loads(text)
    assert sorted(tree) == ["centerOfMass", "inertia", "mass", "transformation"]
    assert tree["transformation"] == np.eye(4).ravel().tolist()
    return Body(tree["mass"], np.array(tree["centerOfMass"]),
                np.array(tree["inertia"]).reshape(3, 3, order="F"))


BODY = Body(1.3, np.array([0.01, -0.02, 0.09]),
            np.array([[4e-3, 2e-4, -1e-4], [2e-4, 3e-3, 3e-4], [-1e-4, 3e-4, 2e-3]]))
# Quotes, markup, a comment's end, letters beyond ASCII; all printable.
URDF = load_description().urdf


def payload(body: Body = BODY, link: str = "payload", parent: str = "tool0",
            notes: tuple[str, ...] = ()) -> PayloadOnLink:
    return PayloadOnLink(link, parent, body, "wls on 10 samples", notes)


def write(name: str, what: PayloadOnLink, urdf: str = URDF, parent: str = "") -> ExportedPayload:
    if name == "franka_desk":  # never the sensor's frame by itself
        parent = parent or what.parent
    return export(what, name, parent, urdf)


def bodies_in(name: str, text: str, link: str) -> list[Body]:
    """The payload of a document, by each reader that knows its format."""
    readers: dict[str, list[Callable[[str], Body]]] = {
        "urdf": [partial(pinocchio_link, link=link), partial(mujoco_body, name=link),
                 lambda t: from_pinocchio(  # all that hangs on the root link without joints
                     pin.buildModelFromXML(t, pin.JointModelFreeFlyer()).inertias[1])],
        "urdf_robot": [partial(pinocchio_link, link=link),
                       partial(mujoco_body, name=link)],
        "sdf": [partial(sdf_link, name=link)],
        "mjcf": [partial(mujoco_body, name=link)],
        "yaml": [lambda t: yaml_bodies(t)[1], lambda t: yaml_bodies(t)[2]],
        "franka_desk": [franka_body]}
    return [reader(text) for reader in readers[name]]


@pytest.mark.parametrize("name", [n for n in FORMATS if n != "usd"])
def test_any_body_comes_back_to_1e_9(name: str) -> None:
    rng = np.random.default_rng(0)
    for body in [BODY, *(random_body(rng) for _ in range(15 if "robot" in name else 150))]:
        for found in bodies_in(name, write(name, payload(body)).text, "payload"):
            assert_same(found, body)


def test_a_parent_that_is_fixed_to_the_sensor_gets_the_same_body_in_its_axes() -> None:
    """The pose is that of Pinocchio's frames; so is what hangs on the wrist."""
    urdf = URDF.replace("</robot>", """<link name="turned"/><joint name="turn" type="fixed">
        <parent link="tool0"/><child link="turned"/>
        <origin xyz="0.1 0.2 -0.3" rpy="0.4 1.5707963267948966 -0.7"/></joint></robot>""")
    model = pin.buildModelFromXML(urdf)
    pose = (model.frames[model.getFrameId("wrist_3_link")].placement.inverse()
            * model.frames[model.getFrameId("turned")].placement)
    truth = from_pinocchio(pose.act(pin.Inertia(BODY.mass, BODY.com, BODY.inertia_com)))
    assert np.abs(truth.com - BODY.com).max() > 0.05
    for name in set(FORMATS) - {"usd"}:
        text = write(name, payload(parent="turned"), urdf, "wrist_3_link").text
        for found in bodies_in(name, text, "payload"):
            assert_same(found, truth)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("parent", "kind"), [
    ("forearm_link", errors.InvalidModel), ("nowhere", errors.UnknownFrame),
    ("base_link", errors.InvalidModel)])
def test_a_parent_that_moves_or_is_missing_is_refused_by_name(
        name: str, parent: str, kind: type[errors.InertialIdError]) -> None:
    with pytest.raises(kind, match=parent):
        write(name, payload(), parent=parent)


def test_unknown_formats_and_impossible_names_are_refused() -> None:
    with pytest.raises(errors.InvalidSetting, match="stl"):
        write("stl", payload())
    with pytest.raises(errors.UnknownFrame):  # Desk knows no other frame than that of the flange
        export(payload(), "franka_desk", "", URDF)
    for link in ("", "a\nb", "a\0b", "\x1b[31m", "x" * 300, "\ud800", "tool0", "world"):
        with pytest.raises(errors.InvalidSetting):
            payload(link=link)


# Whole robots

RICH = """<?xml version="1.0" encoding="utf-8"?>\r
<!-- made by xacro; größe -->
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="left"/><link name="base"><inertial><mass value="1"/><inertia ixx="1"
     ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name='hand'>\t<visual><geometry><mesh filename="package://a/b.dae"/></geometry></visual></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="hand"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <link name="finger"><inertial><mass value=".2"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4"
    iyz="0" izz="1e-4"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="hand"/><child link="finger"/>
    <limit lower="0" upper="1" effort="1" velocity="1"/></joint>
  <ros2_control name="c" type="system"><hardware><plugin>x/Y</plugin></hardware></ros2_control>
  <!-- </robot> is not the end -->
</robot > <!-- after the end --> \n"""


@pytest.mark.parametrize("change", [
    str, lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n"),
    lambda t: t.replace("<ros2_control", "<![CDATA[</robot>]]><ros2_control")])
def test_all_else_of_a_robot_description_stays_byte_for_byte(change: Callable[[str], str]) -> None:
    urdf = change(RICH)
    text = write("urdf_robot", payload(parent="hand"), urdf).text
    assert without_payloads(text, "payload") == urdf
    assert text.endswith(urdf[urdf.index("</robot > <!-- after the end"):])
    assert_same(pinocchio_link(text, "payload"), BODY)


# USD

def usd_body(text: str) -> Body:
    """The body by the function of OpenUSD that simulators call for it."""
    stage = pytest.importorskip("pxr.Usd").Stage.CreateInMemory()
    assert stage.GetRootLayer().ImportFromString(text)
    from pxr import UsdPhysics

    assert UsdPhysics.GetStageKilogramsPerUnit(stage) == 1.0
    mass, moments, com, axes = UsdPhysics.RigidBodyAPI(
        stage.GetDefaultPrim()).ComputeMassProperties(
            lambda collider: pytest.fail("everything is stated"))
    turn = pin.Quaternion(axes.GetReal(), *axes.GetImaginary()).normalized().matrix()
    return Body(mass, np.array(com), turn @ np.diag(moments) @ turn.T)


def test_openusd_computes_the_body_to_1e_6_or_a_note_says_that_it_does_not() -> None:
    """UsdPhysics keeps single precision. Very small moments count as none there: the note comes
    with just those."""
    rng, small = np.random.default_rng(0), 0
    about_the_limit = [BODY._replace(inertia_com=s * BODY.inertia_com) for s in (1e-3, 2.3e-3)]
    for body in [BODY, *about_the_limit, *(random_body(rng) for _ in range(50))]:
        document = write("usd", payload(body))
        found = usd_body(document.text)
        if document.notes:
            small += 1
            assert np.abs(found.inertia_com - body.inertia_com).max() > 1e-6
        else:
            assert_same(found, body, 1e-6)
    assert 0 < small < 20


# ---- estimates ----

def estimate(**changes: Any) -> Estimate:
    return in_sensor(**{"stamp_ns": 1_234_000_000_567, "frame_id": "tool0", "method": "wls",
                        "phi": phi_from_body(*BODY), **changes})


def saved(folder: Path, outcome: Estimate | NoEstimate, **changes: Any) -> Path:
    """The file of an estimate, with other values in its tree."""
    path = folder / "saved.json"
    path.write_text(json.dumps({**outcome.to_json(), **changes}))
    return path


def test_the_payload_is_that_of_the_estimate() -> None:
    payload = payload_of(estimate().to_json())
    assert_same(payload.body, BODY)
    assert payload.parent == "tool0" and payload.link == "payload" and payload.notes == ()
    assert all(part in payload.source for part in ("wls", "500", "1234.000000567"))


@pytest.mark.parametrize(("changes", "said"), [
    ({"stale": True, "stale_reason": "no wrench came"}, "no wrench came"),
    ({"tool_apart": True}, "tool"),
    ({"verdict": (IDENTIFIED,) * 7 + (UNOBSERVED, PRIOR_DOMINATED, UNOBSERVED)}, "iyy, izz"),
    ({"verdict": (PRIOR_DOMINATED,) * 10}, "mass, com.x")])
def test_what_a_user_must_know_is_noted(changes: dict[str, Any], said: str) -> None:
    assert any(said in note for note in payload_of(estimate(**changes).to_json()).notes)


@pytest.mark.parametrize("outcome", [
    NoEstimate(5, "tool0", "the arm did not move"),
    *(estimate(verdict=(*(IDENTIFIED,) * k, UNOBSERVED, *(IDENTIFIED,) * (9 - k)))
      for k in range(4))], ids=lambda outcome: type(outcome).__name__)
def test_without_mass_or_centre_of_mass_nothing_is_exported(outcome: Estimate | NoEstimate) -> None:
    with pytest.raises(errors.NotEnoughData):
        payload_of(outcome.to_json())


@pytest.mark.parametrize(("name", "value"), [
    ("mass", None), ("mass", "heavy"), ("com", [1.0, 2.0]), ("com", {}),
    ("inertia_com", [[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("mass", -1.0), ("inertia_com", np.diag([1.0, 1.0, 5.0]).tolist()), ("verdict", None),
    ("verdict", ["sure"] * 10), ("verdict", [[]] * 10), ("stamp_ns", 1.5)])
def test_a_damaged_file_is_named_with_what_is_wrong(tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(errors.InvalidData, match=f"saved.json .*{name.partition('_')[0]}"):
        export_payload(saved(tmp_path, estimate(), **{name: value}), "sdf")


# The command

@pytest.mark.parametrize("name", FORMATS)
def test_the_command_writes_what_the_library_gives(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    source, robot = saved(tmp_path, estimate()), tmp_path / "arm.urdf"
    robot.write_text(URDF)
    arguments = [str(source), "--format", name, "--robot", str(robot), "--parent", "wrist_3_link",
                 "--link", "box"]
    assert main([*arguments, "--output", str(tmp_path / "out")]) == OK
    assert main(arguments) == OK
    document = api.export_payload(estimate(), name, URDF, "wrist_3_link", "box")
    printed = capsys.readouterr()
    # The file gives phi back from mass and centre of mass: the last digits may differ.
    assert len(printed.out) > 100 and (tmp_path / "out").read_text() == printed.out
    assert printed.err.count("note: ") == 2 * len(document.notes)
    assert document.text.count("\n") == printed.out.count("\n")
    assert api.export_payload(source, name, URDF, "wrist_3_link", "box").text == printed.out


def test_the_command_says_in_one_line_what_is_wrong(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = saved(tmp_path, estimate())
    blind = tmp_path / "blind.json"
    blind.write_text(json.dumps(NoEstimate(0, "", "no wrench").to_json()))
    for arguments, status, said in (
            ([str(source)], USER_ERROR, "--format"),
            ([str(source), "--format", "urdf_robot"], USER_ERROR, "urdf_robot"),
            ([str(source), "--format", "sdf", "--output", str(source)], USER_ERROR, "--output"),
            ([str(blind), "--format", "sdf"], NO_ESTIMATE, "no wrench"),
            ([str(tmp_path / "none"), "--format", "sdf"], USER_ERROR, "none")):
        assert main(arguments) == status
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.startswith("error: ") and said in printed.err
        assert printed.err.count("\n") == 1
    assert json.loads(source.read_text())["mass"] == pytest.approx(1.3)


def test_the_command_of_the_page_works_as_it_stands(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "apply.md").read_text()
    (command,) = re.findall(r"^export_payload (.*)$", page, re.M)
    saved(tmp_path, estimate())
    (tmp_path / "arm.urdf").write_text(URDF)
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == OK
    assert_same(pinocchio_link((tmp_path / "arm_with_payload.urdf").read_text(), "payload"), BODY)
