# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What OpenUSD reads of a payload: its body, its ranges, its mesh."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import payload_documents as read
import pinocchio as pin
import pytest
import trimesh
import yaml
from test_export_formats import BODY, URDF, payload, with_turned_sensor, write
from test_saved_estimates import estimate, saved

from inertial_id_ros import api
from inertial_id_ros.apps.export_payload import main
from inertial_id_ros.cli import OK
from inertial_id_ros.errors import InvalidSetting
from inertial_id_ros.inertia import Body

pytest.importorskip("pxr")
SINGLE = 1e-6  # of what UsdPhysics keeps in single precision, with some rounding


def computed_mass_properties(text: str) -> Body:
    """The body by the function of OpenUSD that simulators call for it."""
    from pxr import UsdPhysics

    stage = read.usd_stage(text)
    assert UsdPhysics.GetStageKilogramsPerUnit(stage) == 1.0
    mass, moments, com, axes = UsdPhysics.RigidBodyAPI(
        stage.GetDefaultPrim()).ComputeMassProperties(
            lambda collider: pytest.fail("everything is stated"))
    turn = pin.Quaternion(axes.GetReal(), *axes.GetImaginary()).normalized().matrix()
    return Body(mass, np.array(com), turn @ np.diag(moments) @ turn.T)


def in_mujoco(text: str) -> Body:
    """The body of a MuJoCo model that gets the attributes of UsdPhysics as they are."""
    from pxr import UsdPhysics

    stage = read.usd_stage(text)
    stated = UsdPhysics.MassAPI(stage.GetDefaultPrim())
    mass, com, moments, axes = (stated.GetMassAttr().Get(), stated.GetCenterOfMassAttr().Get(),
                                stated.GetDiagonalInertiaAttr().Get(),
                                stated.GetPrincipalAxesAttr().Get())
    turn = (axes.GetReal(), *axes.GetImaginary())
    spec = mujoco.MjSpec()
    held = spec.worldbody.add_body(name="payload", mass=mass, ipos=com, iquat=turn, inertia=moments)
    held.explicitinertial = True
    held.add_freejoint()
    return read.body_of(spec.compile(), "payload")


def assert_single(found: Body, truth: Body) -> None:
    np.testing.assert_allclose(found.mass, truth.mass, rtol=SINGLE)
    for one, other in ((found.com, truth.com), (found.inertia_com, truth.inertia_com)):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=SINGLE * np.abs(other).max())


def test_any_body_is_the_same_in_mujoco_to_1e_6() -> None:
    rng = np.random.default_rng(0)
    for body in [BODY, *(read.random_body(rng) for _ in range(50))]:
        assert_single(in_mujoco(write("usd", payload(body)).text), body)


def test_openusd_computes_the_body_to_1e_6_or_a_note_says_that_it_does_not() -> None:
    """Very small moments count as none there: the note comes with just those."""
    rng, small = np.random.default_rng(0), 0
    about_the_limit = [BODY._replace(inertia_com=s * BODY.inertia_com) for s in (1e-3, 2.3e-3)]
    for body in [BODY, *about_the_limit, *(read.random_body(rng) for _ in range(50))]:
        document = write("usd", payload(body))
        found = computed_mass_properties(document.text)
        if document.notes:
            small += 1
            assert "takes less than 1e-05 kg m^2 for none" in document.notes[0]
            assert np.abs(found.inertia_com - body.inertia_com).max() > 1e-6
        else:
            assert_single(found, body)
    assert 0 < small < 20


def test_ranges_are_95_percent_intervals_of_the_estimate_in_usd_and_yaml() -> None:
    """Those of the moments about the principal axes by samples of the covariance."""
    made = correlated_estimate()
    data = read.usd_custom_data(api.export_payload(made, "usd").text, "payload")
    middle, wide = made.report, 1.96 * made.sigma
    np.testing.assert_allclose(data["massRange"], [middle[0] - wide[0], middle[0] + wide[0]])
    np.testing.assert_allclose(data["centerOfMassRange"],
                               [middle[1:4] - wide[1:4], middle[1:4] + wide[1:4]])
    np.testing.assert_allclose(np.reshape(data["covariance"], (10, 10)), made.covariance)
    drawn = np.random.default_rng(0).multivariate_normal(middle, made.covariance, 100_000)
    axes = np.linalg.eigh(made.body.inertia_com)[1]
    tensors = drawn[:, [[4, 5, 6], [5, 7, 8], [6, 8, 9]]]
    about = np.einsum("ik,nij,jk->nk", axes, tensors, axes)
    low, high = np.array(data["diagonalInertiaRange"])
    np.testing.assert_allclose(0.5 * (high - low), 1.96 * about.std(axis=0), rtol=0.02)
    ranges = yaml.safe_load(api.export_payload(made, "yaml").text)
    assert ranges["ranges"]["mass"] == list(data["massRange"])
    np.testing.assert_array_equal(ranges["ranges"]["center_of_mass"], data["centerOfMassRange"])
    np.testing.assert_array_equal(ranges["ranges"]["principal_moments"], [low, high])
    np.testing.assert_array_equal(np.ravel(ranges["covariance"]["matrix"]), data["covariance"])
    assert ranges["covariance"]["of"] == list(data["covarianceOf"])


def correlated_estimate() -> Any:
    """An estimate whose errors are small against each of its numbers, and correlated."""
    scale = np.diag([1e-2, *[1e-3] * 3, *[2e-5] * 6])
    factor = scale @ (np.eye(10) + 0.3 * np.random.default_rng(1).normal(size=(10, 10)))
    return estimate(phi_covariance=factor @ factor.T)


def test_ranges_follow_the_payload_to_another_parent_also_from_a_file(tmp_path: Path) -> None:
    """They are those of the estimate that is transformed with its covariance."""
    made = replace(correlated_estimate(), frame_id="turned")
    model = pin.buildModelFromXML(with_turned_sensor())
    pose = (model.frames[model.getFrameId("wrist_3_link")].placement.inverse()
            * model.frames[model.getFrameId("turned")].placement)
    there = made.in_frame("wrist_3_link", pose.rotation, pose.translation)
    for source in (made, saved(tmp_path, made)):
        text = api.export_payload(source, "usd", with_turned_sensor(), "wrist_3_link").text
        found = np.reshape(read.usd_custom_data(text, "payload")["covariance"], (10, 10))
        spread = np.sqrt(np.diag(there.covariance))
        np.testing.assert_allclose(found / np.outer(spread, spread),
                                   there.covariance / np.outer(spread, spread), atol=1e-9)


def test_no_range_of_mass_or_moments_reaches_below_zero() -> None:
    data = read.usd_custom_data(api.export_payload(
        estimate(phi_covariance=np.eye(10)), "usd").text, "payload")
    assert data["massRange"][0] == 0.0 and tuple(data["diagonalInertiaRange"][0]) == (0.0,) * 3


def mesh_of(text: str) -> trimesh.Trimesh:
    """The mesh that OpenUSD reads below the payload."""
    from pxr import UsdGeom, UsdPhysics

    stage = read.usd_stage(text)
    (prim,) = stage.GetDefaultPrim().GetChildren()
    assert prim.HasAPI(UsdPhysics.CollisionAPI)
    assert UsdPhysics.MeshCollisionAPI(prim).GetApproximationAttr().Get() == "convexHull"
    mesh = UsdGeom.Mesh(prim)
    assert set(mesh.GetFaceVertexCountsAttr().Get()) == {3}
    assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
    points = np.array(mesh.GetPointsAttr().Get(), dtype=float)
    np.testing.assert_allclose(mesh.GetExtentAttr().Get(), [points.min(axis=0), points.max(axis=0)])
    faces = np.reshape(mesh.GetFaceVertexIndicesAttr().Get(), (-1, 3))
    return trimesh.Trimesh(points, faces, process=False)


def test_a_mesh_file_comes_along_in_the_axes_of_the_parent(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A box 0.1 m in front of the sensor, read back on the wrist, to which it is turned."""
    box = trimesh.creation.box((0.02, 0.04, 0.08))
    box.apply_translation((0.0, 0.0, 0.1))
    box.export(tmp_path / "box.stl")
    source = saved(tmp_path, estimate(frame_id="turned"))
    (tmp_path / "arm.urdf").write_text(with_turned_sensor())
    assert main([str(source), "--format", "usd", "--robot", str(tmp_path / "arm.urdf"), "--parent",
                 "wrist_3_link", "--mesh", str(tmp_path / "box.stl")]) == OK
    text = capsys.readouterr().out
    found, model = mesh_of(text), pin.buildModelFromXML(with_turned_sensor())
    pose = (model.frames[model.getFrameId("wrist_3_link")].placement.inverse()
            * model.frames[model.getFrameId("turned")].placement)
    assert found.is_watertight and found.volume == pytest.approx(0.02 * 0.04 * 0.08, rel=1e-5)
    np.testing.assert_allclose(found.center_mass, pose.act(np.array([0.0, 0.0, 0.1])), atol=1e-6)
    assert text == api.export_payload(source, "usd", with_turned_sensor(), "wrist_3_link",
                                      mesh=tmp_path / "box.stl").text
    with pytest.raises(InvalidSetting, match="a mesh is written in format usd only, and format"):
        api.export_payload(source, "sdf", URDF, mesh=tmp_path / "box.stl")


def test_the_layer_is_fixed_to_a_robot_as_its_text_says(tmp_path: Path) -> None:
    """Referenced at the pose of its parent, it is a rigid body there, one fixed joint beside it."""
    from pxr import Sdf, Usd, UsdGeom, UsdPhysics

    (tmp_path / "payload.usda").write_text(write("usd", payload(parent="tool0")).text)
    stage = Usd.Stage.CreateInMemory()
    tool = UsdGeom.Xform.Define(stage, "/robot/tool0")
    tool.AddTranslateOp().Set((0.0, 0.0, 1.0))
    UsdPhysics.RigidBodyAPI.Apply(tool.GetPrim())
    held = UsdGeom.Xform.Define(stage, "/robot/payload")
    held.GetPrim().GetReferences().AddReference(str(tmp_path / "payload.usda"))
    held.AddTranslateOp().Set((0.0, 0.0, 1.0))
    joint = UsdPhysics.FixedJoint.Define(stage, "/robot/fixed")
    joint.GetBody0Rel().SetTargets([Sdf.Path("/robot/tool0")])
    joint.GetBody1Rel().SetTargets([Sdf.Path("/robot/payload")])
    world = UsdGeom.XformCache().GetLocalToWorldTransform(held.GetPrim())
    com = UsdPhysics.MassAPI(held.GetPrim()).GetCenterOfMassAttr().Get()
    np.testing.assert_allclose(world.Transform(com), BODY.com + [0.0, 0.0, 1.0], atol=1e-6)
    assert UsdPhysics.MassAPI(held.GetPrim()).GetMassAttr().Get() == pytest.approx(BODY.mass)
