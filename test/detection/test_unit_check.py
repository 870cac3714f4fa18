# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Wrenches in other units than N and N m are named with the likely unit; others are left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from synthetic import (
    BODY,
    MOUNT,
    NOISE,
    STILL,
    PointMasses,
    Recording,
    Scene,
    identifier,
    payload,
    recording,
    texts,
)

from inertial_id_ros.detection.unit_check import Limits, find_objection
from inertial_id_ros.estimate import Estimate, NoEstimate
from inertial_id_ros.identification.wrench.identifier import Identifier


def _scaled(samples: Recording, force: float, torque: float) -> Recording:
    """The recording with its wrenches in other units."""
    def scale(kind: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        if kind != "add_wrench":
            return arguments
        stamp, frame, f, t = arguments
        return stamp, frame, [force * x for x in f], [torque * x for x in t]

    return Recording([(stamp, kind, scale(kind, arguments))
                      for stamp, kind, arguments in samples.messages])


def _fed(force: float, torque: float, body: PointMasses | None = None, **changes: Any
         ) -> Identifier:
    made = identifier(**changes)
    noisy = recording(4.0, body=body, noise=NOISE, rng=np.random.default_rng(4))
    _scaled(noisy, force, torque).feed(made, 0.1)
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("force", "torque", "unit"), [
    (1e-3, 1.0, "forces are in kN;"),
    (1e-3, 1e-3, "forces are in kN and torques in kN m"),
    (1.0 / 9.80665, 1.0, "forces are in kgf;"),
    (1.0 / 9.80665, 10.1972, "forces are in kgf and torques in kgf cm"),
    (0.224809, 8.85075, "forces are in lbf and torques in lbf in"),
    (0.224809, 0.737562, "forces are in lbf and torques in lbf ft"),
    (1.0, 1e3, "torques are in N mm"),
    (9.80665, 1.0, "forces are 9.81 times too large")])
def test_units_that_contradict_each_other_or_all_sense_are_named_and_no_estimate_is_given(
        force: float, torque: float, unit: str) -> None:
    made = _fed(force, torque)
    outcome = made.solve()
    assert isinstance(outcome, NoEstimate) and f"probably the {unit}" in outcome.reason + ";"
    assert texts(made)["wrong_units.wrench"] == outcome.reason


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "unit", "changes"), [
    (9.80665, "forces and torques are 9.81 times too large", {"load__rated_payload": 3.0}),
    (9.80665, "forces and torques are 9.81 times too large",
     {"shape__type": "sphere", "shape__size": [0.05], "shape__center": BODY.report[1:4].tolist()}),
    (1e3, "forces are in mN and torques in N mm", {})])
def test_a_payload_that_no_robot_carries_and_no_shape_holds_is_pointed_out(
        factor: float, unit: str, changes: dict[str, Any]) -> None:
    made = _fed(factor, factor, **changes)
    made.solve()
    assert f"probably the {unit}" in texts(made)["wrong_units.wrench"]


@pytest.mark.slow
@pytest.mark.parametrize("changes", [
    {}, {"load__rated_payload": 1.0}, {"load__rated_payload": 3.0, "wrench__sensor": "ati_gamma"},
    {"shape__type": "box", "shape__size": [0.3, 0.3, 0.3], "shape__center": [0.0, 0.0, 0.1]}])
@pytest.mark.parametrize("mass", [0.3, 1.4])
def test_newtons_and_newton_metres_are_left_alone(changes: dict[str, Any], mass: float) -> None:
    made = _fed(1.0, 1.0, payload(mass=mass), **changes)
    assert isinstance(made.solve(), Estimate) and "wrong_units.wrench" not in texts(made)


@pytest.mark.slow
def test_kilograms_force_throughout_are_another_payload_without_a_shape_or_a_robot() -> None:
    """No data can tell: a tenth of the mass at the same place."""
    made = _fed(1.0 / 9.80665, 1.0 / 9.80665)
    outcome = made.solve()
    assert isinstance(outcome, Estimate) and "wrong_units.wrench" not in texts(made)
    np.testing.assert_allclose(outcome.report[:4] / BODY.report[:4], [1 / 9.80665, 1, 1, 1],
                               rtol=0.02)


@pytest.mark.parametrize("options", [{"sensor_frame": "hand"}, {"scene": Scene(motion=STILL)}])
def test_a_wrong_frame_and_an_arm_at_rest_are_no_matter_of_units(options: dict[str, Any]) -> None:
    scene = options.pop("scene", Scene(mount=MOUNT))
    made = identifier(**{f"wrench__{k}": v for k, v in options.items()})
    if scene.mount is MOUNT:
        made.add_static_transform("tool0", "wrench_frame", MOUNT.translation, MOUNT.quaternion)
    recording(4.0, scene).feed(made, 0.1)
    made.solve()
    assert "wrong_units.wrench" not in texts(made)


@pytest.mark.slow
@pytest.mark.parametrize("changes", [
    {"shape__max_reach": 0.02, "estimator__method": "density"},
    {"shape__type": "sphere", "shape__size": [0.01], "shape__center": [0.0, 0.0, 0.01]}])
def test_a_payload_far_beyond_what_was_told_is_no_matter_of_units(changes: dict[str, Any]) -> None:
    """Forces and torques agree on where it is."""
    made = _fed(1.0, 1.0, **changes)
    made.solve()
    assert "wrong_units.wrench" not in texts(made)


def test_the_limits_themselves() -> None:
    limits = Limits(lightest=0.02, heaviest=10.0, reach=0.5, volume=1e-3)
    bounding = limits._replace(volume=1.0, is_filled=False)
    assert find_objection(1.0, 0.1, bounding) is None
    assert "foam" in (find_objection(1.0, 0.1, bounding._replace(is_filled=True)) or "")
    assert find_objection(1.0, 0.2, limits) is None
    for mass, lever, words in ((0.01, 0.2, "less noise"), (11.0, 0.2, "more than 10 kg"),
                               (1.0, 0.6, "farther than 0.5 m")):
        assert words in str(find_objection(mass, lever, limits))
    heavy = limits._replace(heaviest=100.0)
    assert "denser than tungsten" in str(find_objection(30.0, 0.2, heavy))
    assert "lighter than foam" in str(find_objection(0.03, 0.2, heavy._replace(volume=0.1)))
    assert find_objection(30.0, 0.2, heavy._replace(volume=None)) is None
