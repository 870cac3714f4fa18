# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The low-pass of a sensor, applied to bins: against its response in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from inertial_id_ros.signals.low_pass import NO_FILTER, SensorFilter, lag

BIN = 0.01  # s
T = BIN * np.arange(1500)
NUMBER = np.arange(len(T))
MOVES = np.zeros(len(T), dtype=bool)


def response(sensor: SensorFilter, omega: float) -> complex:
    """Of equal first-order stages at an angular frequency [rad/s]."""
    return complex(1.0 / (1.0 + 1j * omega * sensor.time_constant) ** sensor.order)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("cutoff", [0.3, 1.0, 5.0])
def test_settled_bins_follow_the_response_of_the_stages(order: int, cutoff: float) -> None:
    sensor = SensorFilter.of_cutoff(order, cutoff)
    assert sensor.cutoff == pytest.approx(cutoff)
    omega = np.array([0.7, 2.0, 5.0])
    out, settled, _ = lag(sensor, NUMBER, np.exp(1j * omega * T[:, None]).real, MOVES, None)
    expected = (np.array([response(sensor, w) for w in omega]) * np.exp(1j * omega * T[:, None]))
    late = NUMBER > 2 * sensor.settling
    np.testing.assert_allclose(out[late], expected.real[late], atol=2e-3)
    assert (np.abs(out - expected.real)[settled] < 0.04).all()
    assert not settled[:sensor.settling].any() and settled[sensor.settling:].all()


def test_what_rests_at_the_beginning_has_settled() -> None:
    values = np.ones((len(T), 1))
    out, settled, _ = lag(SensorFilter.of_cutoff(2, 0.3), NUMBER, values, ~MOVES, None)
    assert settled.all()
    np.testing.assert_allclose(out, 1.0, atol=1e-12)


@pytest.mark.parametrize("length", [1, 7, 64, 200])
def test_bins_may_come_in_parts_of_any_length(length: int, rng: np.random.Generator) -> None:
    sensor, values = SensorFilter.of_cutoff(2, 1.0), rng.normal(size=(len(T), 3))
    whole, settled, _ = lag(sensor, NUMBER, values, MOVES, None)
    before, parts = None, []
    for low in range(0, len(T), length):
        part = slice(low, low + length)
        *out, before = lag(sensor, NUMBER[part], values[part], MOVES[part], before)
        parts.append(out)
    np.testing.assert_allclose(np.concatenate([out for out, _ in parts]), whole, atol=1e-12)
    assert (np.concatenate([flags for _, flags in parts]) == settled).all()


def test_short_holes_are_bridged_and_long_ones_begin_anew() -> None:
    sensor, values = SensorFilter.of_cutoff(1, 1.0), np.sin(2.0 * T)[:, None]
    whole, _, _ = lag(sensor, NUMBER, values, MOVES, None)
    there = np.ones(len(T), dtype=bool)
    there[700:710] = there[900:960] = False
    out, settled, _ = lag(sensor, NUMBER[there], values[there], MOVES[there], None)
    late = NUMBER[there] > 2 * sensor.settling
    before, after = NUMBER[there] < 900, NUMBER[there] >= 960 + sensor.settling
    np.testing.assert_allclose(out[late & before], whole[there][late & before], atol=2e-3)
    np.testing.assert_allclose(out[after], whole[there][after], atol=0.04)
    assert not settled[(NUMBER[there] >= 960) & ~after].any() and settled[after].all()


def test_a_sensor_without_filter_shows_everything_at_once(rng: np.random.Generator) -> None:
    values = rng.normal(size=(len(T), 2))
    out, settled, _ = lag(NO_FILTER, NUMBER, values, MOVES, None)
    assert out is values and settled.all()
