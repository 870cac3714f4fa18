# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recordings of the closed-form robot in which something else happens, for the tests of that."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from synthetic import (
    NOISE,
    RICH,
    START,
    URDF,
    PointMasses,
    Recording,
    Scene,
    Sinusoids,
    identifier,
    joint_messages,
    payload,
    recording,
    stamps,
    texts,
    wrench_messages,
)

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier

BIAS = (4.0, -3.0, 6.0, 0.2, 0.3, -0.1)
OTHER = payload(5, 0.6)
FAST = Scene()
SLOW = Scene(Sinusoids(RICH.offset, RICH.amplitude, 0.4 * RICH.frequency, RICH.phase))
SCENES = {"slow": SLOW, "fast": FAST}
Push = Callable[[float], np.ndarray]  # wrench (6,) that is added, over seconds since the start


@lru_cache
def clean(seconds: float = 8.0, scene: str = "slow", bias: tuple[float, ...] = (0.0,) * 6
          ) -> Recording:
    """Nothing happens."""
    return recording(seconds, SCENES[scene], noise=NOISE, rng=np.random.default_rng(1), bias=bias)


def pushed(samples: Recording, push: Push) -> Recording:
    """The same with what else acts on the payload, or on the sensor's zero."""
    def change(stamp: int, frame: str, force: list[float],
               torque: list[float]) -> tuple[int, str, list[float], list[float]]:
        extra = push((stamp - START) * 1e-9)
        return (stamp, frame, (np.array(force) + extra[:3]).tolist(),
                (np.array(torque) + extra[3:]).tolist())
    return samples.changed("add_wrench", change)


def between(first: float, last: float, push: Any) -> Push:
    """A wrench, or a function of time that gives one, from `first` to `last` [s]."""
    def at(t: float) -> np.ndarray:
        if not first < t < last:
            return np.zeros(6)
        return np.asarray(push(t) if callable(push) else push, dtype=float)
    return at


def scraping(t: float) -> np.ndarray:
    """A push that neither gravity nor a zero of the sensor explains."""
    return np.array([9.0 + 3.0 * np.sin(9.0 * t), 4.0 * np.cos(7.0 * t),
                     6.0 + 2.0 * np.sin(5.0 * t), 0.3 * np.sin(4.0 * t), 0.5,
                     -0.4 * np.cos(6.0 * t)])


def two(first: PointMasses, second: PointMasses, at: float, scene: Scene = SLOW,
        seconds: float = 8.0) -> Recording:
    """One payload until `at` [s], then the other."""
    rng = np.random.default_rng(2)
    return (joint_messages(scene, stamps(seconds, 200.0))
            + wrench_messages(scene, first, stamps(at, 200.0), noise=NOISE, rng=rng)
            + wrench_messages(scene, second, stamps(seconds - at, 200.0, start=at), noise=NOISE,
                              rng=rng)).sorted()


def identify(urdf: str | None = URDF, **changes: Any) -> Identifier:
    """An identifier with `lmi` that corrects the noise from the residual, as by default."""
    return identifier(urdf, estimator__method="lmi", estimator__estimate_noise=True, **changes)


def found_at(made: Identifier, samples: Recording, name: str, step: float = 0.02) -> float:
    """Seconds of stamps after which a finding is there."""
    due = START
    for stamp, method, arguments in samples.messages:
        getattr(made, method)(*arguments)
        if stamp >= due:
            made.advance()
            due = stamp + int(step * 1e9)
            if name in texts(made):
                return (stamp - START) * 1e-9
    raise AssertionError(f"{name} was not found: {texts(made)}")


def assert_truth(made: Identifier, body: PointMasses, mass: float = 0.01,
                 com: float = 2e-3) -> Estimate:
    """The estimate, whose mass [share] and centre of mass [m] are those of the body."""
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    assert outcome.report[0] == pytest.approx(body.report[0], rel=mass)
    np.testing.assert_allclose(outcome.report[1:4], body.report[1:4], atol=com)
    return outcome
