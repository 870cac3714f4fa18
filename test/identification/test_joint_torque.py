# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payloads from joint torques alone: accuracy, intervals, and what is said when it cannot be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from torque_arm import FRAME, NAMES, URDF, joint_states, loaded, write_robot

from benchmarks.joint_torque import block
from inertial_id_ros.errors import InvalidModel, InvalidSetting, NotEnoughData, UnknownFrame
from inertial_id_ros.estimate import Estimate, NoEstimate
from inertial_id_ros.identification.joint_torque.identifier import TorqueIdentifier
from inertial_id_ros.identification.joint_torque.problem import TorqueProblem
from inertial_id_ros.inertia import is_consistent, report_from_phi
from inertial_id_ros.regression.tool import Tool
from inertial_id_ros.robot.robot_file import load_robot
from inertial_id_ros.settings import Settings
from inertial_id_ros.settings.inputs import LoadSettings


@pytest.fixture(scope="module")
def robot_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_robot(tmp_path_factory.mktemp("robot") / "arm.robot")


def settings(robot_file: Path, **changes: object) -> Settings:
    dotted = {name.replace("__", "."): value for name, value in changes.items()}
    return Settings().replace({"load.robot": str(robot_file),
                               "wrench.sensor_frame": FRAME, **dotted})


def run(identifier: TorqueIdentifier, recorded, chunk: int = 500):  # noqa: ANN001, ANN201
    identifier.set_robot_description(URDF)
    for k, (stamp, q, effort) in enumerate(joint_states(recorded)):
        identifier.add_joint_state(stamp, NAMES, q, effort)
        if k % chunk == chunk - 1:
            identifier.advance()
    identifier.finish()
    return identifier.solve()


@pytest.mark.slow
@pytest.mark.parametrize(("mass", "seed"), [(1.0, 0), (2.0, 1), (3.0, 2)])
@pytest.mark.parametrize("method", ["density", "lmi"])
def test_mass_and_centre_of_mass_are_found_and_lie_within_their_intervals(
        robot_file: Path, mass: float, seed: int, method: str):
    found = run(TorqueIdentifier(settings(robot_file, estimator__method=method)),
                loaded(mass, seed))
    assert isinstance(found, Estimate)
    truth = report_from_phi(block(mass).phi)
    assert found.report[0] == pytest.approx(mass, rel=0.03)
    np.testing.assert_allclose(found.report[1:4], truth[1:4], atol=0.010)
    assert (np.abs(found.report - truth) < 4.0 * found.sigma)[:4].all()
    assert found.sigma[0] < 0.03 * mass
    assert is_consistent(found.phi)


@pytest.mark.slow
def test_intervals_cover_the_truth_and_are_not_far_too_wide(robot_file: Path):
    """Mass and centre of mass of six runs, relative to their standard deviations."""
    truth = report_from_phi(block(2.0).phi)[:4]
    z = []
    for seed in range(6):
        found = run(TorqueIdentifier(settings(robot_file, estimator__method="lmi")),
                    loaded(2.0, seed, 6.0))
        z.append((found.report[:4] - truth) / found.sigma[:4])
    rms = np.sqrt(np.mean(np.square(z)))
    assert 0.3 < rms < 1.5
    assert np.mean(np.abs(z) < 1.96) > 0.85


def test_the_answer_does_not_depend_on_how_the_stream_is_cut(robot_file: Path):
    recorded = loaded(2.0, 3, 6.0)
    answers = [run(TorqueIdentifier(settings(robot_file, estimator__method="lmi")), recorded, n)
               for n in (37, 100000)]
    np.testing.assert_allclose(answers[0].phi, answers[1].phi, rtol=1e-6)


def test_a_tool_is_taken_out(robot_file: Path):
    """Half of the block as the tool: the other half is left."""
    whole = block(2.0).phi
    identifier = TorqueIdentifier(settings(robot_file, estimator__method="lmi"))
    identifier.set_tool(Tool(FRAME, 0.5 * whole, 1e-8 * np.eye(10), 0))
    found = run(identifier, loaded(2.0, 3))
    assert found.tool_apart
    assert found.report[0] == pytest.approx(1.0, rel=0.03)


def test_payload_columns_are_those_of_a_body_fixed_to_the_flange(robot_file: Path):
    """A link with the block's inertia, added to the URDF, gives the torques of the columns."""
    robot = load_robot(robot_file)
    problem = TorqueProblem(robot, URDF, FRAME, 0.0)
    rng = np.random.default_rng(0)
    q, dq, ddq = rng.normal(size=(3, 20, 6))
    payload = block(2.0)
    com = payload.com
    i = payload.inertia_com
    link = (f'<link name="held"><inertial><origin xyz="{com[0]} {com[1]} {com[2]}"/>'
            f'<mass value="{payload.mass}"/><inertia ixx="{i[0, 0]}" ixy="{i[0, 1]}" '
            f'ixz="{i[0, 2]}" iyy="{i[1, 1]}" iyz="{i[1, 2]}" izz="{i[2, 2]}"/></inertial></link>'
            f'<joint name="grip" type="fixed"><parent link="{FRAME}"/><child link="held"/></joint>')
    with_body = robot.model(URDF.replace("</robot>", link + "</robot>"))
    without = robot.model(URDF)
    wanted = (with_body.torque(with_body.nominal, q, dq, ddq)
              - without.torque(without.nominal, q, dq, ddq))
    regressor = without.regressor(q, dq, ddq)
    columns = regressor @ problem._payload[:without.size]
    np.testing.assert_allclose(columns @ payload.phi, wanted, atol=1e-9)


def test_uncertainty_of_the_robot_widens_the_interval(
        robot_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = loaded(2.0, 3, 6.0)

    def sigma_of_mass(drift: float) -> float:
        monkeypatch.setattr(LoadSettings, "friction_drift", drift)
        made = TorqueIdentifier(settings(robot_file, estimator__method="lmi"))
        return float(run(made, recorded).sigma[0])

    assert sigma_of_mass(0.2) > 1.2 * sigma_of_mass(0.0)


# What cannot be


def test_joint_states_without_efforts_are_said_to_be_of_no_use(robot_file: Path):
    identifier = TorqueIdentifier(settings(robot_file))
    identifier.set_robot_description(URDF)
    for stamp, q, _ in joint_states(loaded(1.0, 0, 2.0)):
        identifier.add_joint_state(stamp, NAMES, q)
    identifier.advance()
    outcome = identifier.solve()
    assert isinstance(outcome, NoEstimate)
    assert any("without efforts" in text for text in outcome.findings)


def test_an_arm_at_rest_gives_no_estimate_but_a_reason(robot_file: Path):
    recorded = loaded(1.0, 0, 4.0)
    still = recorded._replace(q=np.tile(recorded.q[:1], (len(recorded.t), 1)),
                              effort=np.tile(recorded.effort[:1], (len(recorded.t), 1)))
    outcome = run(TorqueIdentifier(settings(robot_file, estimator__method="lmi")), still)
    if isinstance(outcome, Estimate):  # gravity alone tells a mass, never the inertia
        assert outcome.verdict[4:] == (0,) * 6
    else:
        assert outcome.reason


def test_there_is_nothing_to_tare(robot_file: Path):
    with pytest.raises(NotEnoughData, match="no bias to tare"):
        TorqueIdentifier(settings(robot_file)).tare()
    with pytest.raises(NotEnoughData, match="no bias to tare"):
        TorqueIdentifier(settings(robot_file)).untare()


def test_an_estimator_of_wrenches_is_refused(robot_file: Path):
    with pytest.raises(InvalidSetting, match="'pmd'"):
        TorqueIdentifier(settings(robot_file, estimator__method="pmd"))


def test_an_unknown_frame_and_another_robot_are_named(robot_file: Path):
    with pytest.raises(UnknownFrame, match="'hand'"):
        TorqueIdentifier(settings(robot_file, wrench__sensor_frame="hand")
                         ).set_robot_description(URDF)
    with pytest.raises(InvalidModel, match="no joint 'elbow_joint'"):
        TorqueIdentifier(settings(robot_file)).set_robot_description(
            URDF.replace("elbow_joint", "knee_joint"))


@pytest.mark.parametrize(("changes", "said"), [
    ({"wrench.sensor_frame": ""}, "wrench.sensor_frame is empty"),
    ({"dynamic_joint_states.topic": "x"}, "dynamic_joint_states.topic is 'x'")])
def test_settings_that_do_not_fit_are_refused(robot_file: Path, changes: dict, said: str):
    with pytest.raises(InvalidSetting, match=said):
        settings(robot_file).replace(changes)
