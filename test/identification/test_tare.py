# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A tare is trusted the less the older it is, and not at all where the data contradict it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from synthetic import (
    BODY,
    NOISE,
    RICH,
    SECOND,
    STILL,
    PointMasses,
    Recording,
    Scene,
    Sinusoids,
    assert_body,
    identifier,
    joint_messages,
    recording,
    stamps,
    texts,
    wrench_messages,
)

from inertial_id_ros.estimate import UNOBSERVED, Estimate, NoEstimate
from inertial_id_ros.identification.state import Tare
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.identification.wrench.sensor_bias import SensorBias
from inertial_id_ros.settings import Settings, WrenchSettings

NOTHING = PointMasses(np.zeros((1, 3)), np.zeros(1))
BIAS = np.array([3.0, -2.0, 1.0, 0.2, -0.1, 0.3])
RESTING = Scene(motion=STILL)
# The pose of STILL is where RICH would be at a time that does not come: the arm moves from there.
MOVING = Scene(motion=Sinusoids(RICH.offset, RICH.amplitude, RICH.frequency, np.zeros(5)))


def _rest(body: PointMasses, begin: float, seconds: float = 2.0, bias: Any = BIAS,
          seed: int = 0) -> Recording:
    """Samples of an arm that rests from that time on [s]."""
    t = stamps(seconds, 200.0, start=begin)
    return (joint_messages(RESTING, t) + wrench_messages(
        RESTING, body, t, bias=bias, noise=NOISE, rng=np.random.default_rng(seed))).sorted()


def _move(body: PointMasses, begin: float, seconds: float = 6.0, bias: Any = BIAS,
          sign: float = -1.0) -> Recording:
    """Samples of an arm that moves from that time on [s]."""
    samples = recording(seconds, MOVING, body, bias=bias, noise=NOISE, sign=sign,
                        rng=np.random.default_rng(1))
    return samples.moved(round(begin * SECOND))


def _tared(body: PointMasses = NOTHING, **changes: Any) -> Identifier:
    """An identifier that was tared at rest, after two seconds with this body on the sensor."""
    made = identifier(**{"estimator__estimate_noise": True, **changes})
    _rest(body, 0.0).feed(made, 0.1)
    made.tare()
    return made


def _solve_often(made: Identifier, samples: Recording) -> Any:
    """Feed samples, with an estimate every half second; gives the last one."""
    due, outcome = 0, None
    for stamp, method, arguments in samples.messages:
        getattr(made, method)(*arguments)
        if stamp >= due:
            made.advance()
            outcome, due = made.solve(), stamp + SECOND // 2
    return outcome


# ---- age -----------------------------------------------------------------------------------------

def _prior_sd(hours: float, **changes: Any) -> np.ndarray:
    settings = Settings().replace(
        {"wrench.sensor": "ideal"} | {k.replace("__", "."): v for k, v in changes.items()})
    bias = SensorBias(Tare(BIAS, 10**18, "tool0"))
    return bias.prior(settings, 10**18 + round(hours * 3.6e12))[0]


def test_the_prior_of_the_bias_widens_with_the_root_of_the_age() -> None:
    drift = {"wrench__drift": (0.25, 0.0125)}
    fresh = _prior_sd(0.0, **drift)
    np.testing.assert_allclose(fresh, NOISE)
    for hours in (0.01, 0.25, 1.0):
        expected = np.hypot(NOISE, np.repeat([2.0, 0.1], 3) * np.sqrt(hours))
        np.testing.assert_allclose(_prior_sd(hours, **drift), expected)
    np.testing.assert_allclose(_prior_sd(1000.0, **drift), np.repeat([5.0, 0.5], 3))
    np.testing.assert_allclose(_prior_sd(-1.0, **drift), fresh)  # of a clock that was set back


def test_an_ideal_sensor_keeps_its_tare_and_others_have_the_drift_and_accuracy_of_their_sheet(
        ) -> None:
    np.testing.assert_array_equal(_prior_sd(10.0), _prior_sd(0.0))
    for sensor in ("unknown", "ati_gamma", "ur_e_series"):
        wrench = Settings().replace({"wrench.sensor": sensor}).wrench
        new, old = (_prior_sd(hours, wrench__sensor=sensor) for hours in (0.0, 1.0 / 60.0))
        assert new[0] == pytest.approx(np.hypot(wrench.force_noise, wrench.force_accuracy))
        # What wanders in a minute after a tare is about what wanders in any minute.
        assert np.sqrt(old[0]**2 - new[0]**2) == pytest.approx(wrench.force_drift, rel=0.05)
        assert np.sqrt(old[3]**2 - new[3]**2) == pytest.approx(wrench.torque_drift, rel=0.05)


@pytest.mark.parametrize("drift", [1.0, -1.0])
def test_a_mass_at_rest_is_not_called_known_after_a_drift_of_one_newton(
        drift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kilograms, at rest: all that is known of the mass is a tare of ten minutes ago."""
    body = PointMasses(BODY.points, BODY.masses * 2.0 / BODY.masses.sum())
    weight = RESTING.load(np.array([0.0]), body)[0, :3]
    drifted = BIAS.copy()
    drifted[:3] += drift * weight / np.linalg.norm(weight)
    # of the tare alone, not of the seconds in the window
    monkeypatch.setattr(WrenchSettings, "drift_of_tare", (2.0, 0.0))
    made = _tared()
    _rest(body, 600.0, 3.0, drifted).feed(made, 0.1)
    outcome = made.solve()
    assert isinstance(outcome, Estimate) and outcome.verdict[0] == UNOBSERVED
    found, interval = outcome.report[0], 2.0 * outcome.sigma[0]
    assert abs(found - 2.0) == pytest.approx(1.0 / 9.81, abs=0.01)
    assert abs(found - 2.0) < interval < 0.2


def test_soon_after_a_tare_the_mass_at_rest_is_known_well() -> None:
    made = _tared()
    _rest(BODY, 3.0, 3.0).feed(made, 0.1)
    outcome = made.solve()
    assert isinstance(outcome, Estimate), outcome
    assert abs(outcome.report[0] - BODY.report[0]) < 2.0 * outcome.sigma[0] < 0.1


# ---- contradictions ------------------------------------------------------------------------------

@pytest.mark.slow
@pytest.mark.parametrize("sign", [-1.0, 1.0], ids=["on_sensor", "on_environment"])
def test_a_tare_with_the_payload_attached_is_named_and_dropped_once_the_arm_moves(
        sign: float) -> None:
    made = identifier(wrench__convention="on_sensor" if sign < 0.0 else "on_environment",
                      estimator__estimate_noise=True)
    t = stamps(2.0, 200.0)
    (joint_messages(RESTING, t) + wrench_messages(
        RESTING, BODY, t, bias=BIAS, noise=NOISE, sign=sign,
        rng=np.random.default_rng(0))).sorted().feed(made, 0.1)
    made.tare()
    outcome = _solve_often(made, _move(BODY, 3.0, sign=sign))
    assert_body(outcome, 5.0)
    np.testing.assert_allclose(outcome.bias, BIAS, atol=0.1)
    said = texts(made)
    assert "probably a payload was attached" in said["tare_not_used.contradicted"]
    assert not {"frame_wrong", "load_unexplained.wrench", "contact"} & set(said)
    assert made.state().tare is None


@pytest.mark.slow
def test_a_good_tare_is_kept_through_motion_and_contact() -> None:
    made = _tared(estimator__method="lmi", wrench__sensor="unknown")
    _rest(NOTHING, 2.0).feed(made, 0.1)

    def push(stamp: int, frame: str, force: list[float], torque: list[float]) -> tuple[Any, ...]:
        return stamp, frame, [f + 15.0 for f in force], torque

    samples = _move(BODY, 4.0)
    begin = samples.messages[0][0]
    pushed = Recording([
        (s, m, push(*a) if m == "add_wrench" and 3 * SECOND < s - begin < 3.5 * SECOND else a)
        for s, m, a in samples.messages])
    assert_body(_solve_often(made, pushed), 10.0)
    assert "tare_not_used.contradicted" not in texts(made) and made.state().tare is not None


@pytest.mark.slow
def test_a_payload_that_is_gone_since_the_tare_does_not_blame_the_sign() -> None:
    made = _tared(BODY)
    outcome = _solve_often(made, _rest(NOTHING, 3.0, 3.0))
    assert isinstance(outcome, NoEstimate)
    said = texts(made)
    assert "tare_not_used.contradicted" in said and "sign_wrong" not in said


# ---- by hand -------------------------------------------------------------------------------------

def test_a_tare_can_be_dropped_and_taken_anew() -> None:
    made = identifier()
    assert made.untare() == "there is no tare to drop"
    _rest(NOTHING, 0.0).feed(made, 0.1)
    made.tare()
    assert made.state().tare is not None
    made.reset("asked")
    assert made.state().tare is not None  # a reset is not what drops it
    assert made.untare() == "the tare is dropped; the bias is estimated from the data alone"
    assert made.state().tare is None


def test_dropping_a_tare_keeps_the_data_and_estimates_from_them_anew() -> None:
    made = _tared(estimator__method="density")
    _rest(BODY, 3.0, 3.0).feed(made, 0.1)
    known = made.solve()
    assert isinstance(known, Estimate)
    made.untare()
    unknown = made.solve()
    assert isinstance(unknown, NoEstimate) and "mass is not identified yet" in unknown.reason


def test_a_new_tare_ends_the_suspicion() -> None:
    made = _tared()
    made._known.findings.set("tare_not_used.contradicted", "warning", "a test")
    assert "tare_not_used.contradicted" in texts(made)
    made.tare()
    assert "tare_not_used.contradicted" not in texts(made)
