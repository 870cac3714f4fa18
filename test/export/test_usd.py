# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What OpenUSD and MuJoCo read of a payload."""

from __future__ import annotations

import mujoco
import numpy as np
import payload_documents as read
import pinocchio as pin
import pytest
from test_export_formats import BODY, payload, write

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
            assert np.abs(found.inertia_com - body.inertia_com).max() > 1e-6
        else:
            assert_single(found, body)
    assert 0 < small < 20
