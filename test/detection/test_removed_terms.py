# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether a driver removes the inertial forces of its payload beside the weight is told by the
motion, and the estimate is right either way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from synthetic import (
    NOISE,
    RICH,
    PointMasses,
    Recording,
    Scene,
    Sinusoids,
    identifier,
    joint_messages,
    nanoseconds,
    payload,
    stamps,
    texts,
)

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.inertia import body_from_phi, phi_from_points, six_from_tensor

TRUE, REMOVED = payload(3, 1.4), payload(5, 0.6)


def weight(scene: Scene, t: np.ndarray, body: PointMasses) -> np.ndarray:
    """Force and torque (n, 6) that carry the weight of a payload at rest."""
    turn, _ = scene.sensor_in_world(t)
    force = turn.inv().apply(-np.array(scene.gravity))
    return sum(m * np.hstack([force, np.cross(p, force)])
               for p, m in zip(body.points, body.masses, strict=True))


def driven(terms: str, removes: str, speed: float = 1.0, noise: float = 0.0,
           **changes: Any) -> tuple[Identifier, Any]:
    """An identifier with this belief, after eight seconds of a driver that removes these terms;
    and the last compensated wrenches."""
    scene = Scene(Sinusoids(RICH.offset, RICH.amplitude, RICH.frequency * speed, RICH.phase))
    t = stamps(8.0, 200.0)
    taken = scene.load(t, REMOVED) if removes == "all" else weight(scene, t, REMOVED)
    reading = taken - scene.load(t, TRUE)
    reading += np.random.default_rng(4).normal(size=reading.shape) * noise * NOISE
    body = body_from_phi(phi_from_points(REMOVED.points, REMOVED.masses))
    made = identifier(precompensated__terms=terms, precompensated__mass=body.mass,
                      precompensated__com=body.com.tolist(),
                      precompensated__inertia=six_from_tensor(body.inertia_com).tolist(), **changes)
    samples = (Recording([(int(s), "add_wrench", (int(s), "tool0", w[:3].tolist(), w[3:].tolist()))
                          for s, w in zip(nanoseconds(t), reading, strict=True)])
               + joint_messages(scene, t)).sorted()
    begin = samples.messages[0][0]
    for k in range(8):
        first, last = (begin + n * 10**9 for n in (k, k + 1))
        samples.select(lambda s, _, a=first, b=last: a <= s < b).feed(made)
        made.solve()
    return made, made.finish()


def assert_true(made: Identifier) -> None:
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    np.testing.assert_allclose(outcome.report[:4], TRUE.report[:4], atol=1e-3)
    np.testing.assert_allclose(outcome.report[4:], TRUE.report[4:],
                               atol=0.01 * TRUE.report[4:].max())


@pytest.mark.slow
@pytest.mark.parametrize(("terms", "removes"), [
    ("all", "all"), ("weight", "weight"), ("auto", "all"), ("auto", "weight")])
def test_the_estimate_is_the_whole_payload_with_the_terms_that_the_driver_removes(
        terms: str, removes: str) -> None:
    made, compensated = driven(terms, removes)
    assert_true(made)
    np.testing.assert_allclose(compensated.wrench, 0.0, atol=0.02)
    assert ("removed_payload.terms" in texts(made)) == (terms == "auto" and removes == "weight")


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_the_motion_tells_terms_under_noise_at_any_speed(speed: float) -> None:
    made, _ = driven("auto", "weight", speed, noise=1.0)
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    np.testing.assert_array_less(np.abs(outcome.report - TRUE.report), 4.0 * outcome.sigma)
    assert outcome.sigma[0] < 0.005 * TRUE.report[0]
    assert "removes the weight only" in texts(made)["removed_payload.terms"]
    assert "removed_payload.terms" not in texts(driven("auto", "all", speed, noise=1.0)[0])


@pytest.mark.slow
@pytest.mark.parametrize(("terms", "removes", "said"), [
    ("all", "weight", "set precompensated.terms to 'weight'"),
    ("weight", "all", "set precompensated.terms to 'all'")])
def test_a_belief_of_the_user_that_the_motion_contradicts_is_named_and_kept(
        terms: str, removes: str, said: str) -> None:
    made, _ = driven(terms, removes, noise=1.0)
    assert said in texts(made)["removed_payload.terms"]


@pytest.mark.slow
@pytest.mark.parametrize(("speed", "sigmas"), [(0.15, 2.0), (0.25, 3.5)])
def test_where_the_motion_hardly_tells_the_terms_the_intervals_hold_for_both(
        speed: float, sigmas: float) -> None:
    method = {"estimator__method": "density"}
    sure, _ = driven("all", "all", speed, noise=1.0, **method)
    told = sure.solve()
    assert isinstance(told, Estimate)
    for removes in ("all", "weight"):
        made, _ = driven("auto", removes, speed, noise=1.0, **method)
        outcome = made.solve()
        assert isinstance(outcome, Estimate), outcome
        np.testing.assert_array_less(np.abs(outcome.report - TRUE.report), 2.5 * outcome.sigma)
    believed, _ = driven("all", "weight", speed, noise=1.0, **method)
    known = believed.solve()
    assert isinstance(known, Estimate)
    wrong = float((np.abs(known.report - TRUE.report) / told.sigma).max())
    assert wrong > sigmas  # of one who rightly believes: so far a wrong belief is off
