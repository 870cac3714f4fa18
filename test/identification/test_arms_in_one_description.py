# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Two arms with prefixed names in one robot description and one stream of joint states."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pinocchio as pin
import pytest

from inertial_id_ros.api import Identifier, Settings
from inertial_id_ros.apps.simulation.cobot import SimulatedCobot
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.apps.simulation.settings import CobotSettings

RATE, DURATION = 100.0, 6.0
ARMS = {"left_": "hammer", "right_": "drill"}


@pytest.fixture(scope="module")
def cobots() -> dict[str, SimulatedCobot]:
    """Two arms that move differently."""
    return {prefix: SimulatedCobot(CobotSettings(prefix=prefix, payload=payload, rate=RATE,
                                                 speed=1.5, seed=seed))
            for seed, (prefix, payload) in enumerate(ARMS.items())}


def both_in_one_description(cobots: dict[str, SimulatedCobot]) -> str:
    """A URDF of both arms, a metre apart on one stand."""
    robot = ElementTree.fromstring('<robot name="two_arms"><link name="stand"/></robot>')
    for (prefix, cobot), pose in zip(cobots.items(), ("0 0.5 0", "0 -0.5 0"), strict=True):
        arm = ElementTree.fromstring(cobot.urdf)
        robot.extend([*arm.findall("link"), *arm.findall("joint")])
        robot.append(ElementTree.fromstring(
            f'<joint name="{prefix}mount" type="fixed"><parent link="stand"/>'
            f'<child link="{prefix}base_link"/><origin xyz="{pose}"/></joint>'))
    return ElementTree.tostring(robot, encoding="unicode")


def test_prefixes_change_names_and_nothing_else() -> None:
    plain, prefixed = (pin.buildModelFromXML(load_description(p).urdf) for p in ("", "left_"))
    assert list(prefixed.names)[1:] == [f"left_{name}" for name in list(plain.names)[1:]]
    assert prefixed.existFrame("left_ft_sensor") and not prefixed.existFrame("ft_sensor")
    q = pin.randomConfiguration(plain)
    np.testing.assert_allclose(
        pin.computeGeneralizedGravity(prefixed, prefixed.createData(), q),
        pin.computeGeneralizedGravity(plain, plain.createData(), q), rtol=1e-12)


@pytest.mark.parametrize("in_one_message", [True, False])
@pytest.mark.parametrize("prefix", list(ARMS))
def test_each_arm_of_one_description_gets_its_own_payload(
        cobots: dict[str, SimulatedCobot], prefix: str, in_one_message: bool) -> None:
    records = {p: cobot.run(DURATION) for p, cobot in cobots.items()}
    stamps = np.round(1e9 * (1.0 + records[prefix].t)).astype(np.int64)
    names = {p: list(cobot.joint_names) for p, cobot in cobots.items()}
    identifier = Identifier(Settings().replace({
        "wrench.sensor": "ideal", "alignment.orientation_sd": 0.0}))
    identifier.set_robot_description(both_in_one_description(cobots))
    if in_one_message:
        identifier.add_joint_states(stamps, sum(names.values(), []),
                                    np.hstack([r.q for r in records.values()]))
    else:  # from a broadcaster of each arm, in turn
        for i in range(len(stamps)):
            for p, record in records.items():
                identifier.add_joint_states(stamps[i:i + 1], names[p], record.q[i:i + 1])
    identifier.add_wrenches(stamps, f"{prefix}ft_sensor", records[prefix].wrench)
    result, truth = identifier.solve(), cobots[prefix].payload
    np.testing.assert_allclose(result.body.mass, truth.mass, rtol=0.01)
    np.testing.assert_allclose(result.body.com, truth.com, atol=2e-3)
