# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payloads from motor currents, with a robot whose gains were found with another payload."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from torque_arm import FRAME, NAMES, URDF, joint_states, loaded

from benchmarks.joint_torque import SimulatedTorques, block, simulate, wide_motion
from inertial_id_ros.apps.robot.recording_files import NamedRecording
from inertial_id_ros.apps.robot.robot_identification import Currents, identify_described_robot
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.estimate import Estimate, NoEstimate
from inertial_id_ros.identification.joint_torque.identifier import TorqueIdentifier
from inertial_id_ros.inertia import report_from_phi
from inertial_id_ros.robot.base_parameters import structural_base_parameters
from inertial_id_ros.robot.joint_terms import JointTerms
from inertial_id_ros.robot.robot_file import load_robot, save_robot
from inertial_id_ros.settings import Settings

GAIN = np.array([11.0, 12.0, 10.0, 9.0, 10.5, 11.5])
UNSURE = 1.0 + 0.05 * np.random.default_rng(3).normal(size=6)  # as exact as a data sheet
MASS, DURATION = 1.5, 15.0  # kg, s
pytestmark = pytest.mark.slow


def in_amperes(recorded: SimulatedTorques) -> SimulatedTorques:
    return recorded._replace(effort=recorded.effort / GAIN)


def named(recorded: SimulatedTorques) -> NamedRecording:
    made = in_amperes(recorded).recording
    return NamedRecording(NAMES, made.stamps, made.q, made.effort)


@pytest.fixture(scope="module")
def robots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Robot files with gains that were found with 2.5 kg, and with gains that were given."""
    folder = tmp_path_factory.mktemp("robot")
    free = simulate(wide_motion(DURATION, 1, 10), DURATION)
    held = simulate(wide_motion(DURATION, 2, 10), DURATION, block(2.5), 100)
    out = {}
    for name, currents in (("found", Currents(loaded=named(held), mass=2.5)),
                           ("given", Currents(tuple(GAIN), 0.0)),
                           ("unsure", Currents(tuple(GAIN * UNSURE)))):
        result = identify_described_robot(
            URDF, named(free), terms=JointTerms(coulomb_velocity=0.003), find_fading=False,
            held_back=0.0, currents=currents)
        out[name] = folder / f"{name}.robot"
        save_robot(out[name], result.robot)
    return out


def solve(robot: Path, recorded: SimulatedTorques) -> Estimate | NoEstimate:
    identifier = TorqueIdentifier(Settings().replace({
        "load.robot": str(robot), "wrench.sensor_frame": FRAME}))
    identifier.set_robot_description(URDF)
    for k, (stamp, q, effort) in enumerate(joint_states(recorded)):
        identifier.add_joint_state(stamp, NAMES, q, effort)
        if k % 500 == 499:
            identifier.advance()
    identifier.finish()
    return identifier.solve()


def estimate(robot: Path, recorded: SimulatedTorques) -> Estimate:
    found = solve(robot, recorded)
    assert isinstance(found, Estimate), found
    return found


def test_a_payload_is_found_from_currents_within_its_interval(robots: dict[str, Path]) -> None:
    """Wider than with gains that are known, which say nothing of their own errors."""
    recorded = in_amperes(loaded(MASS, 0))
    found, given = (estimate(robots[name], recorded) for name in ("found", "given"))
    truth = report_from_phi(block(MASS).phi)
    for result in (found, given):
        assert result.report[0] == pytest.approx(MASS, rel=0.03)
        assert (np.abs(result.report - truth) < 4.0 * result.sigma)[:4].all()
    assert found.sigma[0] > 1.1 * given.sigma[0]


def test_gains_that_are_wrong_by_their_own_errors_are_within_the_interval(
        robots: dict[str, Path], tmp_path: Path) -> None:
    """Gains that are all too large by one standard deviation."""
    robot = load_robot(robots["given"])
    assert robot.currents is not None
    spread = 0.03**2 * np.eye(6)
    wrong = 1.03  # every gain, and so all that the torques tell of the robot
    follow = robot.currents.follow
    combinations = structural_base_parameters(robot.model(URDF)).matrix
    base = combinations @ robot.phi
    np.testing.assert_allclose(combinations @ follow.sum(axis=1), base,
                               atol=0.05 * np.abs(base).max())
    made = replace(robot, phi=robot.phi + (wrong - 1.0) * follow.sum(axis=1),
                   covariance=robot.covariance + follow @ spread @ follow.T,
                   currents=replace(robot.currents, gain=wrong * GAIN, spread=spread))
    save_robot(tmp_path / "wrong.robot", made)
    found = estimate(tmp_path / "wrong.robot", in_amperes(loaded(MASS, 0)))
    error = found.report[0] - MASS
    assert 0.01 * MASS < error < 4.0 * found.sigma[0]
    assert found.sigma[0] < 0.05 * MASS


def test_given_gains_have_an_error_of_their_own(robots: dict[str, Path]) -> None:
    recorded = in_amperes(loaded(MASS, 0))
    given, unsure = (estimate(robots[name], recorded) for name in ("given", "unsure"))
    error = abs(unsure.report[0] - MASS)
    assert 2.0 * given.sigma[0] < error < 2.0 * unsure.sigma[0] < 0.3 * MASS


@pytest.mark.parametrize(("spread", "mass", "said"), [
    (0.10, MASS, "more motion for the gains"), (0.001, 0.1, "four times as much motion")])
def test_what_leaves_the_mass_open_is_named(
        spread: float, mass: float, said: str, robots: dict[str, Path], tmp_path: Path) -> None:
    """Gains of 10 % limit a good recording; a light payload is lost in noise anyway."""
    robot = load_robot(robots["given"])
    assert robot.currents is not None
    follow, relative = robot.currents.follow, spread**2 * np.eye(6)
    save_robot(tmp_path / "r.robot", replace(
        robot, covariance=robot.covariance + follow @ relative @ follow.T,
        currents=replace(robot.currents, spread=relative)))
    found = solve(tmp_path / "r.robot", in_amperes(loaded(mass, 0)))
    assert isinstance(found, NoEstimate) and said in found.reason
    if mass == MASS:
        promised = re.search(r"it would be \(± ([\d.]+) kg\)", found.reason)
        exact = estimate(robots["given"], in_amperes(loaded(mass, 0)))
        assert promised and float(promised[1]) == pytest.approx(2.0 * exact.sigma[0], rel=0.3)


def test_what_would_identify_the_mass_is_said_and_does(robots: dict[str, Path]) -> None:
    """Two seconds do not tell half a kilogram from friction; twelve do."""
    recorded = in_amperes(simulate(wide_motion(12.0, 55, 7), 12.0, block(0.5), 77))
    short = recorded.t < 2.0
    begun = solve(robots["given"], SimulatedTorques(*(x[short] for x in recorded)))
    assert isinstance(begun, NoEstimate) and "to and fro through the same poses" in begun.reason
    estimate(robots["given"], recorded)


def test_gains_come_back_from_the_file_and_must_fit(robots: dict[str, Path], tmp_path: Path
                                                    ) -> None:
    robot = load_robot(robots["found"])
    save_robot(tmp_path / "again.robot", robot)
    again = load_robot(tmp_path / "again.robot")
    assert robot.currents is not None and again.currents is not None
    for one, other in zip(vars(robot.currents).values(), vars(again.currents).values(),
                          strict=True):
        np.testing.assert_array_equal(one, other)
    assert json.loads((tmp_path / "again.robot").read_text())
    bad = replace(robot, currents=replace(robot.currents, gain=robot.currents.gain[:5]))
    save_robot(tmp_path / "bad.robot", bad)
    with pytest.raises(InvalidData, match="gains do not fit"):
        load_robot(tmp_path / "bad.robot")
