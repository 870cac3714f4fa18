# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payloads from joint torques: accuracy, intervals, trouble that is named and does no harm."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from scenes import START, cobot, dotted
from torque_arm import FRAME, NAMES, TORQUE_NOISE, URDF, block, loaded, wide_motion, write_robot

from inertial_id_ros.errors import InvalidModel, NotEnoughData, UnknownFrame
from inertial_id_ros.estimate import UNOBSERVED, Estimate, NoEstimate, Outcome
from inertial_id_ros.identify.identifier import Identifier
from inertial_id_ros.inertia import Array, is_consistent, report_from_phi
from inertial_id_ros.io.inputs import JointStates
from inertial_id_ros.robot.model import NO_TERMS, RobotModel
from inertial_id_ros.robot.robot_file import Drives, IdentifiedRobot, load_robot, save_robot
from inertial_id_ros.settings import Settings

RATE = 125.0  # Hz
AT, LASTS, DURATION = 5.6, 1.0, 9.6  # s
MASS = 2.0  # kg
MODEL = RobotModel.from_urdf(URDF, NO_TERMS)
TIMES = np.arange(0.0, DURATION, 1.0 / RATE)
PATH = wide_motion(DURATION, seed=3, harmonics=8)(TIMES)
OWN = MODEL.regressor(*PATH) @ MODEL.nominal  # torques of the arm
AFTER = (TIMES >= AT)[:, None]
DURING = AFTER & (TIMES < AT + LASTS)[:, None]


def identifier(robot_file: Path, **settings: Any) -> Identifier:
    made = Identifier(Settings().replace({
        "load.robot": str(robot_file), "estimator.method": "lmi", "wrench.sensor_frame": FRAME,
        **dotted(settings)}))
    made.set_robot_description(URDF)
    return made


# ---- an arm with friction that was identified ---------------------------------------------------


@pytest.fixture(scope="module")
def identified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_robot(tmp_path_factory.mktemp("robot") / "arm.robot")


def estimate(made: Identifier, mass: float, seed: int, seconds: float = 12.0,
             scale: Array | float = 1.0) -> Outcome:
    states = loaded(mass, seed, seconds)
    made.add_arrays([states._replace(efforts=states.efforts * scale)])
    made.finish()
    return made.solve()


@pytest.mark.parametrize("method", ["density", "lmi", "pmd"])
def test_mass_and_centre_lie_within_their_intervals(identified: Path, method: str) -> None:
    made = identifier(identified, estimator__method=method, shape__type="box",
                      shape__size=[0.2, 0.2, 0.2], shape__center=[0.06, -0.03, 0.09])
    found, truth = estimate(made, 2.0, 1), report_from_phi(block(2.0).phi)
    assert isinstance(found, Estimate)
    assert found.report[0] == pytest.approx(2.0, rel=0.02)
    np.testing.assert_allclose(found.report[1:4], truth[1:4], atol=0.004)
    assert (np.abs(found.report - truth) < 3.0 * found.sigma)[:4].all()
    assert found.sigma[0] < 0.03 and is_consistent(found.phi)


@pytest.mark.slow
def test_intervals_cover_the_truth_and_are_not_far_too_wide(identified: Path) -> None:
    truth = report_from_phi(block(2.0).phi)[:4]
    found = [estimate(identifier(identified), 2.0, seed, 6.0) for seed in range(6)]
    z = np.array([(one.report[:4] - truth) / one.sigma[:4] for one in found])
    assert 0.3 < np.sqrt(np.mean(np.square(z))) < 1.5
    assert np.mean(np.abs(z) < 1.96) > 0.85


def test_gains_of_currents_and_their_errors_count(identified: Path, tmp_path: Path) -> None:
    """A robot that was identified with gains that are off by 2 %, as unsure as that."""
    robot = load_robot(identified)
    gain, spread = np.array([11.0, 12.0, 10.0, 9.0, 10.5, 11.5]), 0.02**2 * np.eye(6)
    model = robot.model(URDF)
    q, dq, ddq = wide_motion(10.0, seed=9)(np.linspace(0.0, 10.0, 200))
    Y = model.regressor(q, dq, ddq)
    rows = (Y / robot.noise[:, None]).reshape(-1, model.size)
    back = np.linalg.pinv(rows, rcond=1e-6)
    torque = (Y @ robot.phi) / robot.noise
    follow = np.stack([back @ (torque * np.eye(6)[k]).ravel() for k in range(6)], axis=1)
    off = 0.02 * np.array([1.0, -0.7, 1.2, -1.0, 0.5, 1.0])
    found = []
    for known, unsure in ((0.0 * off, 0.0 * spread), (off, spread)):
        save_robot(tmp_path / "r.robot", replace(
            robot, phi=robot.phi + follow @ known,
            covariance=robot.covariance + follow @ unsure @ follow.T,
            currents=Drives((1.0 + known) * gain, unsure, follow)))
        found.append(estimate(identifier(tmp_path / "r.robot"), 2.0, 1, scale=1.0 / gain))
    exact, wrong = found
    assert isinstance(exact, Estimate) and isinstance(wrong, Estimate)
    assert 1.1 * exact.sigma[0] < wrong.sigma[0] < 0.05 * MASS
    assert abs(wrong.report[0] - MASS) < 3.0 * wrong.sigma[0]


# ---- an arm that is its description, without friction -------------------------------------------


@pytest.fixture(scope="module")
def payload() -> Array:
    """Torques (n, joints) of a block of two kilograms, by MuJoCo."""
    held = cobot(DURATION, seed=3, harmonics=8, payload=block(MASS))
    return np.asarray(held.truth(TIMES).effort - OWN)


@pytest.fixture(scope="module")
def pushed() -> Array:
    """Torques of a push of 27 N at the tool, along fixed axes of the world."""
    model = pin.buildModelFromXML(URDF)
    return np.array([-pin.computeFrameJacobian(
        model, model.createData(), q, model.getFrameId(FRAME), pin.LOCAL_WORLD_ALIGNED)[:3].T
        @ [10.0, -15.0, 20.0] for q in PATH[0]])


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, phi = tmp_path_factory.mktemp("robot") / "arm.robot", MODEL.nominal
    sd = 1e-3 * np.maximum(np.abs(phi), 1e-2)
    save_robot(path, IdentifiedRobot(NAMES, MODEL.bodies, MODEL.terms, MODEL.gravity, 0.0,
                                     phi, np.diag(sd**2), 0.25 * TORQUE_NOISE))
    return path


class Run(NamedTuple):
    """Seconds after the fault at which each finding first came, what became due with its time, and
    the last outcome."""

    first: dict[str, float]
    outcomes: list[tuple[float, Outcome]]
    last: Outcome

    def fresh(self, since: float) -> Iterator[Estimate]:
        """Estimates that are not stale."""
        for t, outcome in self.outcomes:
            if t >= since and isinstance(outcome, Estimate) and not outcome.stale:
                yield outcome


def play(robot_file: Path, efforts: Array, change: Callable[[JointStates], list[JointStates]]
         | None = None, block_size: int = 3, **settings: Any) -> Run:
    """Arm and what else its torques are of (n, joints), with noise; `change` of blocks in the
    fault."""
    made = identifier(robot_file, **settings)
    noisy = OWN + efforts + TORQUE_NOISE * np.random.default_rng(4).normal(size=OWN.shape)
    first: dict[str, float] = {}
    outcomes = []
    for k in range(0, len(TIMES), block_size):
        part, t = slice(k, k + block_size), float(TIMES[k])
        samples = JointStates(START + np.round(TIMES[part] * 1e9).astype(np.int64), NAMES,
                              PATH[0][part], noisy[part])
        changed = [samples] if change is None or not AT <= t < AT + LASTS else change(samples)
        for one in changed:
            outcomes += [(t, outcome) for outcome in made.add_arrays([one])]
        for finding in made.findings():
            first.setdefault(finding.name, t - AT)
    made.finish()
    return Run(first, outcomes, made.solve())


def assert_mass(run: Run, mass: float = MASS, tolerance: float = 0.03) -> None:
    assert isinstance(run.last, Estimate), run.last
    assert run.last.report[0] == pytest.approx(mass, rel=tolerance)


def test_nothing_is_said_of_a_motion_without_trouble(exact: Path, payload: Array) -> None:
    run = play(exact, payload)
    assert not run.first
    assert_mass(run)


def test_contact_is_found_and_left_out(exact: Path, payload: Array, pushed: Array) -> None:
    run = play(exact, payload + DURING * pushed)
    assert run.first["contact"] < 0.5
    assert "payload_changed" not in run.first and "zero_moved.joints" not in run.first
    assert_mass(run)
    assert all(e.report[0] == pytest.approx(MASS, rel=0.05) for e in run.fresh(0.0)
               if e.verdict[0] != UNOBSERVED)


@pytest.mark.parametrize(("before", "after"), [(1.0, 0.0), (1.0, 0.5), (0.0, 1.0)])
def test_a_payload_released_exchanged_or_gripped_is_found(
        exact: Path, payload: Array, before: float, after: float) -> None:
    run = play(exact, np.where(AFTER, after, before) * payload)
    assert run.first["payload_changed"] < 1.5
    for found in run.fresh(AT + 1.5):
        assert abs(found.report[0] - after * MASS) < max(0.05 * after * MASS,
                                                         3.0 * found.sigma[0] + 0.02)
    if after:
        assert_mass(run, after * MASS)


@pytest.mark.parametrize("last", [0.7, 1.4])
def test_a_payload_that_pours_is_named_and_its_mass_is_that_of_now(
        exact: Path, payload: Array, last: float) -> None:
    share = np.interp(TIMES, [2.0, 9.0], [1.0, last])
    run = play(exact, share[:, None] * payload)
    assert run.first["payload_walks"] < 4.2 - AT
    for found in run.fresh(4.2):
        mass = MASS * float(np.interp(1e-9 * (found.stamp_ns - START), TIMES, share))
        assert abs(found.report[0] - mass) < max(0.03 * mass, 3.0 * found.sigma[0])


def test_a_zero_that_moves_is_found_and_estimated(exact: Path, payload: Array) -> None:
    run = play(exact, payload + AFTER * [0.0, 6.0, -4.0, 2.0, 0.0, 0.0])
    assert run.first["contact"] < 0.5  # not called by its name yet, but left out
    assert run.first["zero_moved.joints"] < 3.2
    assert all(e.report[0] == pytest.approx(MASS, rel=0.1) for e in run.fresh(AT + 0.5)
               if e.verdict[0] != UNOBSERVED)


@pytest.mark.parametrize(("name", "change"), [
    ("samples_invalid.joints", lambda s: [s._replace(efforts=np.nan * s.efforts)]),
    ("samples_invalid.joints", lambda s: [s._replace(positions=np.inf * s.positions)]),
    ("samples_saturated.joints", lambda s: [s._replace(
        efforts=0.0 * s.efforts + [0.0, 150.0, 0.0, 0.0, 0.0, 0.0])]),
    ("joint_states_incomplete.joints", lambda s: [s._replace(efforts=None)]),
    ("joint_states_incomplete.joints", lambda s: [JointStates(
        s.stamps, NAMES[1:], s.positions[:, 1:], s.efforts[:, 1:])]),
    ("samples_missing.motion", lambda s: []),
    ("samples_repeated.joints", lambda s: [s, s]),
    ("stamp_stray.joints", lambda s: [s, s._replace(stamps=s.stamps[:1] + 100 * 10**9,
                                                    positions=s.positions[:1],
                                                    efforts=s.efforts[:1])])])
def test_samples_that_cannot_be_used_are_named_and_do_no_harm(
        exact: Path, payload: Array, name: str,
        change: Callable[[JointStates], list[JointStates]]) -> None:
    run = play(exact, payload, change)
    assert run.first[name] < (0.1 if name != "samples_missing.motion" else LASTS + 0.5)
    assert_mass(run)
    assert all(e.report[0] == pytest.approx(MASS, rel=0.05) for e in run.fresh(2.0))


@pytest.mark.parametrize("signs", [-np.ones(6), np.array([1.0, -1.0, 1.0, 1.0, 1.0, 1.0])])
def test_torques_with_the_wrong_sign_give_no_estimate(exact: Path, payload: Array, signs: Array
                                                      ) -> None:
    run = play(exact, signs * payload + (signs - 1.0) * OWN)
    assert "robot_wrong.sign" in run.first
    assert isinstance(run.last, NoEstimate) and not list(run.fresh(0.0))


def test_another_robot_an_unknown_frame_and_a_tare_are_refused(exact: Path) -> None:
    made = identifier(exact)
    with pytest.raises(InvalidModel):
        made.set_robot_description(URDF.replace("elbow_joint", "knee_joint"))
    with pytest.raises(UnknownFrame):
        identifier(exact, wrench__sensor_frame="hand")
    with pytest.raises(NotEnoughData):
        made.tare()
    assert made.untare()  # says that there was none, as ~/apply asks for it
    made.finish()
    assert isinstance(made.solve(), NoEstimate)
