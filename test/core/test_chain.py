# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The whole chain from samples to estimates, events and the load to remove."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.referee import situations
from benchmarks.referee.generator import FRAME, GRAVITY, START_NS, Recording, Scenario, report
from inertial_id_ros.compensation.live import Compensation
from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.geometry.shape import shape_from_settings
from inertial_id_ros.identify.beliefs import Beliefs
from inertial_id_ros.identify.identifier import Identifier, make_identifier
from inertial_id_ros.inertia import body_from_phi, six_from_tensor
from inertial_id_ros.io.sample_blocks import JointStates, Wrenches
from inertial_id_ros.settings import Settings


def identifier_for(recording: Recording) -> Identifier:
    settings = Settings().replace(dict(recording.settings))
    shape = shape_from_settings(settings.shape, ())
    made = Identifier(settings, Beliefs(shape=shape))
    made.set_robot_description(recording.arm.urdf)
    return made


def feed(made: Identifier, recording: Recording, step: int = 10**6) -> None:
    """All samples, in blocks of so many."""
    names = recording.arm.names
    for first in range(0, len(recording.stamps), step):
        part = slice(first, first + step)
        made.add_arrays([
            JointStates(recording.joint_stamps[part], names, recording.positions[part]),
            Wrenches(recording.stamps[part], FRAME, recording.wrench[part])])


@pytest.fixture(scope="module")
def white() -> Recording:
    return Scenario("white", 400_500, (8.0,), ("joints",)).record()


def play(scene: situations.Scene, seed: int) -> tuple[list[tuple[float, str]], np.ndarray]:
    """Times and names of findings, and errors (n,) of the compensated force [N]."""
    y, q = scene.measured(np.random.default_rng(seed))
    made = Identifier(Settings())
    made.set_robot_description(scene.arm.urdf)
    live, names = Compensation(made.settings.compensation, -1.0), scene.arm.names
    off, news, said = np.full(len(y), np.nan), [], set()
    for first in range(0, len(y), 25):
        part = slice(first, first + 25)
        if made.streams.chain is not None and first == 250:
            live.use_chain(made.streams.chain)
        for k in range(first, min(first + 25, len(y))):
            live.add_joint_state(int(scene.stamps[k]), names, q[k].tolist())
            left = live.compensate(int(scene.stamps[k]), FRAME, y[k].tolist())
            if left is not None:
                off[k] = np.linalg.norm((left - np.broadcast_to(scene.external, y.shape)[k])[:3])
        made.add_arrays([JointStates(scene.stamps[part], names, q[part]),
                         Wrenches(scene.stamps[part], FRAME, y[part])])
        live.use(made.course.load)
        now = {f.name for f in made.findings()}
        news += [(float(scene.t[min(part.stop, len(y)) - 1]), name) for name in now - said]
        said = now
    return news, off


def test_a_grip_and_a_release_in_motion_are_named() -> None:
    scene = situations.grip(400_500)
    news, off = play(scene, 1)
    changes = [t for t, name in news if name == "payload_changed"]
    for at in scene.events:
        assert any(at < t < at + 2.0 for t in changes)
    assert np.nanmean(off[scene.t > 26.0]) < 1.0


def test_tare_needs_rest_and_is_used(white: Recording) -> None:
    made = identifier_for(white)
    with pytest.raises(NotEnoughData):
        made.tare()
    feed(made, white)
    with pytest.raises(NotEnoughData):
        made.tare()  # it moves
    t = np.arange(400) / 200.0
    stamps = START_NS + np.round(1e9 * t).astype(np.int64)
    made = identifier_for(white)
    reading = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    q = np.tile(white.positions[0], (400, 1))
    rows = reading + 0.01 * np.random.default_rng(0).normal(size=(400, 6))
    q = q + 1e-5 * np.random.default_rng(1).normal(size=q.shape)
    made.add_arrays([JointStates(stamps, white.arm.names, q), Wrenches(stamps, FRAME, rows)])
    made.finish()
    made.tare()
    assert made.beliefs.tare is not None
    np.testing.assert_allclose(made.beliefs.tare.reading, reading, atol=0.01)
    made.untare()
    assert made.beliefs.tare is None


def test_errors_within_the_accuracy_of_a_sensor_are_no_contact() -> None:
    """A sensor with hysteresis and cross-talk, whose data sheet says so: nothing is left out."""
    recording = Scenario("onrobot", 400_000).record()
    made = identifier_for(recording)
    feed(made, recording)
    made.finish()
    outcome = made.solve()
    assert outcome.valid
    assert outcome.window == pytest.approx(15.0, abs=0.1)
    assert abs(outcome.report[0] - report(recording.told.phi)[0]) < 3.0 * outcome.sigma[0]


def test_a_payload_that_pours_is_followed_and_not_taken_for_another() -> None:
    """.033 kg/s run out of 1.1 kg: what is fresh holds the mass as it is then."""
    scene = situations.moving_load("pour-out", 9000)
    y, q = scene.measured(np.random.default_rng([9000, 41]))
    made, names = Identifier(Settings()), scene.arm.names
    made.set_robot_description(scene.arm.urdf)
    held, events = [], set()
    for first in range(0, len(y), 250):
        part = slice(first, first + 250)
        made.add_arrays([JointStates(scene.stamps[part], names, q[part]),
                         Wrenches(scene.stamps[part], FRAME, y[part])])
        outcome, now = made.solve(), float(scene.t[part][-1])
        events |= {finding.name for finding in made.findings()}
        if now > scene.events[0] and outcome.valid and not outcome.stale:
            true = situations.truth(scene, min(part.stop, len(y)) - 1)
            held.append(abs(outcome.report[0] - true[0]) < 2.5 * outcome.sigma[0])
    assert len(held) > 35
    assert np.mean(held) > 0.95
    assert "payload_walks" in events
    assert not {"payload_changed", "contact"} & events


@pytest.mark.parametrize("terms", ["all", "weight"])
def test_a_payload_that_the_driver_compensates_is_part_of_the_sum(white: Recording, terms: str
                                                                  ) -> None:
    """All of its wrench, or its weight alone; what is left is removed from the wrench."""
    share = 0.4 * white.told.phi
    up = GRAVITY * white.motion.axes[:, :, 2]
    taken = white.motion.wrench(share) if terms == "all" else np.hstack(
        [share[0] * up, np.cross(share[1:4], up)])
    body = body_from_phi(share)
    tensor = six_from_tensor(body.inertia_com)
    made = make_identifier(Settings().replace({
        **dict(white.settings), "precompensated.mass": body.mass, "precompensated.terms": terms,
        "precompensated.com": body.com.tolist(), "precompensated.inertia": tensor.tolist()}))
    made.set_robot_description(white.arm.urdf)
    wrench = white.wrench + taken  # readings are those of a sensor that carries the payload
    made.add_arrays([JointStates(white.joint_stamps, white.arm.names, white.positions),
                     Wrenches(white.stamps, FRAME, wrench)])
    outcome, truth = made.solve(), report(white.told.phi)
    assert outcome.valid
    gap = np.abs(outcome.report - truth)
    assert gap[0] < 0.01 * truth[0]
    assert (gap[:4] < 3.0 * outcome.sigma[:4]).all()
    live = Compensation(made.settings.compensation, -1.0)
    chain = made.streams.chain
    assert chain is not None
    live.use_chain(chain)
    live.use(made.course.load)
    off = []
    for k in range(len(white.stamps)):
        live.add_joint_state(int(white.joint_stamps[k]), white.arm.names,
                             white.positions[k].tolist())
        out = live.compensate(int(white.stamps[k]), FRAME, wrench[k].tolist())
        off += [] if out is None else [np.linalg.norm(out[:3])]
    assert len(off) > 1000
    assert np.median(off) < 0.5
