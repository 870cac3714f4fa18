# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A sensor that low-passes its own readings: the filter is found, told from a clock offset and from
hysteresis, and taken into account in the estimate and in the compensated wrench."""

from __future__ import annotations

import numpy as np
import pytest
from live_stream import Live
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation
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

from benchmarks.accuracy.real_sensors.identify import found_filter, identifier_of, is_false
from benchmarks.accuracy.real_sensors.recordings import simulate
from inertial_id_ros.api import Identifier as OfArrays
from inertial_id_ros.api import Settings
from inertial_id_ros.detection.filter_search import find_filter
from inertial_id_ros.detection.setup_trials import FARTHEST, Signals
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identification.compensation.load_latch import Mode
from inertial_id_ros.identification.wrench import problem_builder, setup_correction
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.regression.alignment import CLOCK_OFFSET
from inertial_id_ros.regression.newton_euler import static_regressor
from inertial_id_ros.signals.low_pass import SensorFilter
from inertial_id_ros.signals.precompensation import Removed

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
              hysteresis: float = 0.0, rate: float = 200.0, before: float = 0.0) -> Recording:
    """Joint states, and readings with bias and noise whose stamps are late [s], without the
    seconds before."""
    t = stamps(before + seconds, FAST)
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
    first = round(before * FAST)
    t, wrench = t[first::step], wrench[first::step]
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
    sensor = made._known.setup.correction.errors.sensor
    assert sensor.order
    if not late:  # else one stage more and an offset may look the same
        assert sensor.order == order and sensor.cutoff == pytest.approx(cutoff, rel=0.1)
    lag = sensor.order * sensor.time_constant - estimate.alignment[CLOCK_OFFSET.values][0]
    assert lag == pytest.approx(order / (2.0 * np.pi * cutoff) + late, abs=0.01)
    assert (np.abs(off(estimate)) < 3.0).all(), off(estimate)

    assert abs(estimate.report[0] / BODY.report[0] - 1.0) < 0.01
    name = ("first", "second")[sensor.order - 1]
    assert f"as a low-pass of {name} order" in texts(made)["wrench_filtered"]


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("late", [0.0, 0.1, -0.2])
@pytest.mark.parametrize("before", [0.0, 3.0])
def test_what_a_slow_filter_held_when_the_data_begin_is_found_with_it(order: int, late: float,
                                                                      before: float) -> None:
    made = make()
    estimate = solved(made, recording(4.0, order, 0.3, late, before=before))
    errors = made._known.setup.correction.errors
    assert order == 1 or errors.beginning is not None  # too few seconds to wait until it is gone
    lag = errors.sensor.order * errors.sensor.time_constant - errors.early_ns * 1e-9
    assert lag == pytest.approx(order / (2.0 * np.pi * 0.3) + late, abs=0.05)
    assert (np.abs(off(estimate)) < 3.0).all(), off(estimate)
    assert estimate.sigma[0] < 0.02 * BODY.report[0]


@pytest.mark.parametrize(("source", "seed", "told"), [
    ("filter-2-0.3-late--0.2", 1003, False),  # the offset that stood for the filter is large
    ("filter-2-0.3-late--0.2", 1016, False),  # in 4 s
    ("filter-2-0.3-late--0.2", 1008, True),
    ("filter-1-0.3", 300005, False),  # fast: products of the angular velocity
    ("filter-1-1", 1012, False),  # in motion when the recording begins
])
def test_a_filter_hides_no_payload_and_looks_like_no_other_one(source: str, seed: int,
                                                               told: bool) -> None:
    order, cutoff = int(source.split("-")[1]), float(source.split("-")[2])
    recorded = simulate(source, seed)
    made = identifier_of(recorded, {"wrench.filter_order": order, "wrench.filter_cutoff": cutoff}
                         if told else {})
    estimate, found = made.solve(), found_filter(made.findings())
    assert isinstance(estimate, Estimate), estimate
    if told:
        assert not found
    else:
        assert found["filter_order"] == order
        assert found["filter_cutoff"] == pytest.approx(cutoff, rel=0.1)
    assert abs(estimate.report[0] - recorded.truth[0]) < 2.0 * estimate.sigma[0]
    assert estimate.report[0] == pytest.approx(recorded.truth[0], rel=0.03)
    assert not [f.name for f in made.findings()
                if is_false(f.name) or f.name == "constant_force"]


def test_a_filter_that_the_settings_tell_is_used_from_the_beginning_on() -> None:
    made = make(wrench__filter_cutoff=1.0, wrench__filter_order=2)
    estimate = solved(made, recording(8.0, 2, 1.0))
    assert "wrench_filtered" not in texts(made) and (np.abs(off(estimate)) < 3.0).all()
    assert abs(estimate.report[0] / BODY.report[0] - 1.0) < 0.01


@pytest.mark.parametrize("cause", [{"late": 0.08}, {"hysteresis": 0.1}, {}])
def test_what_is_no_filter_is_not_taken_for_one(cause: dict[str, float]) -> None:
    made = make()
    solved(made, recording(12.0, **cause))
    assert "wrench_filtered" not in texts(made)
    assert not made._known.setup.correction.errors.sensor.order


def test_slow_samples_show_the_filter_as_well() -> None:
    made = make()
    estimate = solved(made, recording(25.0, 1, 0.4, rate=20.0))
    assert made._known.setup.correction.errors.sensor.cutoff == pytest.approx(0.4, rel=0.1)
    assert (np.abs(off(estimate)) < 3.0).all()


@pytest.mark.parametrize("told", [True, False])
def test_what_is_taken_from_a_filtered_wrench_is_filtered_alike(told: bool) -> None:
    changes = {"wrench__filter_cutoff": 1.0} if told else {}
    heard = Live(make(**changes)).play(recording(20.0, 1, 1.0)).between(12.0, 20.0)
    assert (heard.mode == Mode.PAYLOAD).all() and len(heard.t) > 1000
    rms = np.sqrt((heard.wrench**2).mean(axis=0)) / NOISE
    assert (rms < 1.5).all(), rms


def slow_tilts(t: np.ndarray, rng: np.random.Generator) -> Rotation:
    """Moves of 2 to 4 s from one random orientation to the next, with rests of 8 to 15 s."""
    times, angles = [0.0], [np.zeros(3)]
    while times[-1] < t[-1]:
        goal = rng.uniform(-1.0, 1.0, 3) * [0.5, 0.5, 1.5]
        for low, high in ((2.0, 4.0), (8.0, 15.0)):
            times.append(times[-1] + rng.uniform(low, high))
            angles.append(goal)
    k = np.searchsorted(times, t, side="right") - 1
    way = ((t - np.array(times)[k]) / np.diff(times)[k])[:, None]
    share = way**3 * (10.0 - 15.0 * way + 6.0 * way**2)
    return Rotation.from_euler("xyz", np.array(angles)[k] + share * np.diff(angles, axis=0)[k])


def mass_of_slow_tilts(seed: int) -> tuple[float, float, set[str]]:
    """Mass and its standard deviation [kg], and the findings, of 175 s at 10 Hz of a sensor with a
    low-pass of 0.5 s, of which only the orientation is known; the true mass is 1.162 kg."""
    rng = np.random.default_rng(seed)
    t = np.arange(175_000) / FAST
    turn = slow_tilts(t, rng)
    force = 1.162 * turn.inv().apply([0.0, 0.0, -9.81])
    load = filtered(np.hstack([force, np.cross([0.004, -0.003, 0.05], force)]), 1, 1.0 / np.pi)
    t, turn, load = t[::100], turn[::100], load[::100]
    reading = load + BIAS + rng.normal(size=load.shape) * np.repeat([0.03, 0.002], 3)
    made = OfArrays(Settings().replace({"buffer.window": 180.0}))
    at = nanoseconds(t)
    made.add_transforms(at, "world", "tool0", np.hstack([np.zeros((len(t), 3)), turn.as_quat()]))
    made.add_wrenches(at, "tool0", reading)
    made.finish()
    estimate = made.solve()
    assert isinstance(estimate, Estimate), estimate
    return estimate.report[0], estimate.sigma[0], {f.name for f in made.findings()}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_filter_that_is_not_sought_widens_the_interval_of_the_mass(
        seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup_correction, "find_filter", lambda *_: None)
    mass, sd, names = mass_of_slow_tilts(seed)
    assert "noise_model_doubted" in names and abs(mass - 1.162) < 2.0 * sd
    monkeypatch.setattr(problem_builder, "unexpected_change", lambda *_: None)
    mass, sd, names = mass_of_slow_tilts(seed)
    assert "noise_model_doubted" not in names and abs(mass - 1.162) > 2.5 * sd


def test_no_noise_is_doubted_once_the_filter_is_found() -> None:
    mass, sd, names = mass_of_slow_tilts(6)
    assert "wrench_filtered" in names and "noise_model_doubted" not in names
    assert abs(mass - 1.162) < 2.0 * sd


@pytest.mark.parametrize("moves", [True, False])
def test_an_arm_at_rest_shows_no_filter(moves: bool) -> None:
    """The encoders' noise is no motion, though a reading that follows it late fits a filter."""
    rng, count = np.random.default_rng(3), 1800
    t = np.arange(-FARTHEST, count + FARTHEST) * 0.01
    tilt = 1e-4 * rng.normal(size=(len(t), 2)) + moves * 0.5 * np.sin(t)[:, None] * [1.0, 0.7]
    up = np.column_stack([tilt, np.ones(len(t))])
    a = static_regressor(-9.81 * up / np.linalg.norm(up, axis=1)[:, None])
    phi = np.array([1.0, 0.01, 0.02, 0.05, *np.zeros(6)])
    flat = a @ phi
    late = SensorFilter(1, 0.3).run(flat, flat[:1], flat[0])[-1]
    reading = late[FARTHEST:-FARTHEST] + 1e-9 * rng.normal(size=(count, 6))
    signals = Signals(reading, np.ones(count, dtype=bool), a, a, np.ones(len(t), dtype=bool), 2.0)
    found = find_filter(signals, Removed(np.zeros(10), False), 0, np.full(6, 1e-7), np.ones(6))
    assert (found is not None) == moves
