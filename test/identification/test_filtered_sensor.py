# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A sensor that low-passes its own readings: the filter is found, told from a clock offset and from
hysteresis, and taken into account in the estimate and in the compensated wrench."""

from __future__ import annotations

import numpy as np
import pytest
from live_stream import Live
from scipy.signal import lfilter
from synthetic import (
    BODY,
    NOISE,
    RICH,
    Recording,
    Scene,
    Sinusoids,
    identifier,
    joint_messages,
    nanoseconds,
    stamps,
    texts,
)

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.compensation.load_in_use import Mode
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.regression.alignment import CLOCK_OFFSET

BIAS = np.array([3.0, -2.0, 1.0, 0.2, -0.1, 0.15])
SCENE = Scene(Sinusoids(RICH.offset, RICH.amplitude, 0.5 * RICH.frequency, RICH.phase))
FAST = 1000.0  # Hz, at which the filter of the sensor works
pytestmark = pytest.mark.slow


def filtered(wrench: np.ndarray, order: int, cutoff: float) -> np.ndarray:
    """Wrenches (n, 6), sampled at `FAST`, after stages of first order; at rest on the first one."""
    keep = np.exp(-2.0 * np.pi * cutoff / FAST)
    out = wrench - wrench[0]
    for _ in range(order):
        out = lfilter([1.0 - keep], [1.0, -keep], out, axis=0)
    return wrench[0] + out


def recording(seconds: float, order: int = 0, cutoff: float = 0.0, late: float = 0.0,
              hysteresis: float = 0.0, rate: float = 200.0) -> Recording:
    """Joint states, and readings with bias and noise whose stamps are late [s]."""
    t = stamps(seconds, FAST)
    wrench = SCENE.load(t, BODY)
    if order:
        wrench = filtered(wrench, order, cutoff)
    if hysteresis:
        half = 0.3 * np.ptp(wrench, axis=0)
        at, play = wrench[0], np.empty_like(wrench)
        for k, now in enumerate(wrench):
            at = play[k] = np.clip(at, now - half, now + half)
        wrench = wrench + hysteresis * (play - wrench)
    step = round(FAST / rate)
    t, wrench = t[::step], wrench[::step]
    reading = BIAS - wrench + np.random.default_rng(2).normal(size=wrench.shape) * NOISE
    return (Recording([(int(s), "add_wrench", (int(s), "tool0", w[:3].tolist(), w[3:].tolist()))
                       for s, w in zip(nanoseconds(t + late), reading, strict=True)])
            + joint_messages(SCENE, t)).sorted()


def make(**changes: object) -> Identifier:
    """An identifier with the default estimator."""
    return identifier(**{"estimator__method": "density", "estimator__estimate_noise": True}
                      | changes)


def solved(made: Identifier, samples: Recording) -> Estimate:
    """The estimate after a recording."""
    samples.feed(made)
    made.finish()
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    return outcome


def off(estimate: Estimate) -> np.ndarray:
    """Error of mass and centre of mass (4,) in standard deviations."""
    return np.asarray((estimate.report - BODY.report)[:4] / estimate.sigma[:4])


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("cutoff", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("late", [0.0, 0.1, -0.15])
def test_the_filter_is_found_and_the_payload_is_right(order: int, cutoff: float,
                                                      late: float) -> None:
    made = make()
    estimate = solved(made, recording(15.0, order, cutoff, late))
    sensor = made._setup.errors.sensor
    assert sensor.order
    if not late:  # else one stage more and an offset may look the same
        assert sensor.order == order and sensor.cutoff == pytest.approx(cutoff, rel=0.1)
    lag = sensor.order * sensor.time_constant - estimate.alignment[CLOCK_OFFSET.values][0]
    assert lag == pytest.approx(order / (2.0 * np.pi * cutoff) + late, abs=0.01)
    assert (np.abs(off(estimate)) < 3.0).all(), off(estimate)
    assert abs(estimate.report[0] / BODY.report[0] - 1.0) < 0.01
    name = ("first", "second")[sensor.order - 1]
    assert f"as a low-pass of {name} order" in texts(made)["wrench_filtered"]


def test_a_filter_that_the_settings_tell_is_used_from_the_beginning_on() -> None:
    made = make(wrench__filter_cutoff=1.0, wrench__filter_order=2)
    estimate = solved(made, recording(8.0, 2, 1.0))
    assert "wrench_filtered" not in texts(made) and (np.abs(off(estimate)) < 3.0).all()
    assert abs(estimate.report[0] / BODY.report[0] - 1.0) < 0.01


@pytest.mark.parametrize("cause", [{"late": 0.08}, {"hysteresis": 0.1}, {}])
def test_what_is_no_filter_is_not_taken_for_one(cause: dict[str, float]) -> None:
    made = make()
    solved(made, recording(12.0, **cause))
    assert "wrench_filtered" not in texts(made) and not made._setup.errors.sensor.order


def test_slow_samples_show_the_filter_as_well() -> None:
    made = make()
    estimate = solved(made, recording(25.0, 1, 0.4, rate=20.0))
    assert made._setup.errors.sensor.cutoff == pytest.approx(0.4, rel=0.1)
    assert (np.abs(off(estimate)) < 3.0).all()


@pytest.mark.parametrize("told", [True, False])
def test_what_is_taken_from_a_filtered_wrench_is_filtered_alike(told: bool) -> None:
    changes = {"wrench__filter_cutoff": 1.0} if told else {}
    heard = Live(make(**changes)).play(recording(20.0, 1, 1.0)).between(12.0, 20.0)
    assert (heard.mode == Mode.PAYLOAD).all() and len(heard.t) > 1000
    rms = np.sqrt((heard.wrench**2).mean(axis=0)) / NOISE
    assert (rms < 1.5).all(), rms
