# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which load is removed, and the wrench without it, against the payload that made it."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scenes import ENCODER_NOISE, FRAME, NAMES, START, URDF, Truth, body, in_sensor, moved

from inertial_id_ros.compensation.live import Compensation, Latch, LoadInUse, Mode
from inertial_id_ros.detect.bank import Kind
from inertial_id_ros.detect.row import BIAS, PHI
from inertial_id_ros.detect.scan import ALL, Disturbance, Event, Scan
from inertial_id_ros.inertia import Array
from inertial_id_ros.model.newton_euler import static_wrench
from inertial_id_ros.model.setup import Setup, low_pass, sheet_of
from inertial_id_ros.motion.causal import MotionNow, Signal
from inertial_id_ros.motion.frames import chain_of
from inertial_id_ros.settings import Settings

RATE, UNIT = 250.0, np.ones(6)  # Hz; N, N m: the zero
LOAD = body(2, 3.0)
MOTION = Truth._make(column[500:1500] for column in moved(2, 12.0, RATE))
STAMPS = START + np.round(1e9 / RATE * np.arange(len(MOTION.q))).astype(np.int64)
CLEAN, PHI_TRUE = -UNIT - LOAD.wrench(MOTION), LOAD.phi()


def true_load(**more: object) -> LoadInUse:
    return LoadInUse(Mode.KNOWN, PHI_TRUE, UNIT, **more)  # type: ignore[arg-type]


def made(load: LoadInUse | None = None, **settings: object) -> Compensation:
    changes = {f"compensation.{name}": value for name, value in settings.items()}
    out = Compensation(Settings().replace({"wrench.range": (500.0, 500.0), **changes}))
    out.motion = MotionNow(chain_of(URDF, FRAME))
    out.load = load or true_load()
    return out


def compensated(live: Compensation, readings: Array = CLEAN, part: slice = slice(None),
                noise: Array | float = 0.0) -> Array:
    """Compensated wrenches (n, 6) of a part of the motion; NaN where there is none."""
    out = []
    for stamp, q, reading in zip(STAMPS[part].tolist(), (MOTION.q + noise)[part].tolist(),
                                 readings[part].tolist(), strict=True):
        live.motion.update(stamp, NAMES, q)
        out.append(live.compensate(stamp, FRAME, reading) or [np.nan] * 6)
    return np.array(out)


def rms(wrench: Array) -> float:
    """Of the force [N], where there is one."""
    force = wrench[np.isfinite(wrench).all(1), :3]
    return float(np.sqrt((force**2).sum(1).mean()))


def test_nothing_is_left_of_the_true_load() -> None:
    live = made()
    out = compensated(live)
    assert np.isnan(out[:50]).all()  # the motion is not known yet
    assert np.isfinite(out[100:]).all()
    assert rms(out) < 0.15
    assert live.silence == ""


def test_noise_of_encoders_hardly_shows_and_a_jerk_is_followed() -> None:
    noise = ENCODER_NOISE * np.random.default_rng(1).normal(size=MOTION.q.shape)
    assert rms(compensated(made(), noise=noise)) < 0.2  # 3 kg at 250 Hz
    signal, t = Signal(np.zeros(1, bool)), 1e-9 * (STAMPS - STAMPS[250])
    for stamp, row in zip(STAMPS, 10.0 * np.clip(t, 0.0, None)[:, None] ** 2 + noise[:, :1],
                          strict=True):
        signal.update(int(stamp), row)
        if stamp >= STAMPS[260]:  # 40 ms
            break
    state = signal.at(int(STAMPS[260]), "acceleration")
    assert state is not None and 14.5 < state[2, 0] < 25.0  # of 20 rad/s^2


@pytest.mark.parametrize("origin", [[0.0, 0.0, 0.0], [0.1, 0.0, 0.2]])
def test_a_push_is_shown_as_it_acts_about_the_origin_of_the_readings(origin: list[float]) -> None:
    push = pin.Force(np.array([3.0, -2.0, 1.0, 0.1, 0.2, -0.3]))
    there = pin.SE3(np.eye(3), np.array(origin)).inverse()
    target = there.toDualActionMatrix()
    out = compensated(made(true_load(target=target)), (CLEAN + push.vector) @ target.T)
    gap = np.abs(np.nanmean(out, axis=0) - there.act(push).vector)
    assert (gap < np.repeat([0.1, 0.05], 3)).all()


def test_terms_that_are_left_out_stay_in_the_wrench() -> None:
    weight = rms(compensated(made(terms="gravity")))
    velocity = rms(compensated(made(terms="velocity")))
    assert rms(compensated(made())) < velocity < 1.1 * weight
    up = in_sensor(MOTION, [0.0, 0.0, 9.81])
    gravity = LOAD.wrench(MOTION) - static_wrench(PHI_TRUE, up)
    assert weight == pytest.approx(rms(gravity[100:]), rel=0.1)


def test_tilt_delay_and_filter_of_the_set_up() -> None:
    sensor, delay = (0.02, 0.7), 0.008
    slow = low_pass(CLEAN, sensor, 1.0 / RATE)
    step = round(delay * RATE)
    late = np.concatenate([slow[:1].repeat(step, axis=0), slow[:-step]])
    assert rms(compensated(made(true_load(setup=Setup(delay=delay, filter=sensor))), late)) < 0.15
    assert rms(compensated(made(), late)) > 0.3
    tilt = np.array([0.02, -0.01])
    tilted = rms(compensated(made(true_load(setup=Setup(tilt=tilt)))))
    assert tilted == pytest.approx(9.81 * PHI_TRUE[0] * np.linalg.norm(tilt), rel=0.1)


def test_another_load_comes_without_a_jump() -> None:
    live, light = made(), replace(true_load(), phi=0.5 * PHI_TRUE)
    out = compensated(live, part=slice(0, 500))
    live.load = light
    out = np.concatenate([out, compensated(live, part=slice(500, None))])
    assert np.abs(np.diff(out[400:], axis=0)).max() < 0.2 * np.abs(out[600:] - out[499]).max()
    np.testing.assert_allclose(out[-200:], compensated(made(light))[-200:], atol=1e-3)


@pytest.mark.parametrize(("change", "reason"), [
    ({"frame": "other"}, "frame_wrong"), ({"mode": Mode.SILENT, "reason": "cable"}, "cable")])
def test_loads_that_may_not_be_removed(change: dict[str, object], reason: str) -> None:
    live = made(replace(true_load(), **change))  # type: ignore[arg-type]
    assert np.isnan(compensated(live)).all()
    assert live.silence == reason


def test_samples_that_are_wrong_are_not_published() -> None:
    live, readings = made(), CLEAN.copy()
    readings[300, 2] = np.nan
    readings[310, 0] = 600.0
    readings[400:] = readings[400]
    out = compensated(live, readings)
    assert np.isnan(out[[300, 310]]).all()
    assert np.isfinite(out[311:420]).all()
    assert np.isnan(out[430:]).all()  # stuck for more than .1 s
    assert live.silence == "wrench_stuck"
    assert live.compensate(int(STAMPS[-1]), FRAME, [0.0] * 6) is None
    assert live.silence == "stamps_repeated"


# ---- which load ----------------------------------------------------------------------------------

def calm_scan(scale: float = 1.0) -> Scan:
    """A scan that knows a payload of 1 kg."""
    scan = Scan(sheet_of(Settings()))
    scan.predictor.mean[0, PHI] = [1.0, 0.0, 0.0, 0.1, *[0.01] * 6]
    scan.predictor.mean[0, BIAS] = 1.0
    scan.predictor.covariance = scan.predictor.covariance * 1e-8
    scan.predictor.scale = np.full((1, 2), scale)
    return scan


def test_a_known_payload_is_removed_and_kept_through_contact() -> None:
    latch, scan = Latch(), calm_scan()
    assert latch.load.mode is Mode.SILENT
    latch.update(scan)
    assert latch.load.mode is Mode.KNOWN
    scan.disturbance = Disturbance(100, np.zeros(3), np.zeros(6))
    latch.update(scan, Event(Kind.SUSPECT, 100, 80, ALL))
    scan.predictor.mean[0, 0] = 3.0
    latch.update(scan)
    assert latch.load.mode is Mode.KNOWN


@pytest.mark.parametrize(("kind", "mode"), [
    (Kind.PAYLOAD, Mode.ROUGH), (Kind.RELEASED, Mode.KNOWN), (Kind.LOST, Mode.SILENT),
    (Kind.CALM, Mode.KNOWN)])
def test_events_change_the_mode(kind: Kind, mode: Mode) -> None:
    latch, scan = Latch(), calm_scan()
    latch.update(scan)
    latch.update(scan, Event(kind, 100, 80, ALL))
    assert latch.load.mode is mode
    before = latch.load.phi
    scan.use(Setup(filter=(0.5,)))  # begins anew, and knows nothing yet
    latch.update(scan)
    np.testing.assert_array_equal(latch.load.phi, before)


def test_nothing_is_published_where_nothing_explains_the_wrench() -> None:
    latch = Latch()
    latch.update(calm_scan())
    latch.update(calm_scan(scale=16.0))
    assert latch.load.mode is Mode.SILENT
    assert latch.load.reason == "load_unexplained"
    latch.update(calm_scan())
    assert latch.load.mode is Mode.KNOWN
