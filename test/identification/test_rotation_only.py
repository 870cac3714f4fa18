# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A TF that tells how the sensor turns and not where it is: nothing wrong may be claimed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from inertial_id_ros.estimate import UNOBSERVED, Estimate
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.inertia import parallel_axis
from inertial_id_ros.settings import Settings

START = 1_785_000_000_000_000_000
MASS, COM = 0.95, np.array([0.0, 0.0, 0.044])
INERTIA = np.diag([1.2e-3, 1.1e-3, 0.6e-3]) + parallel_axis(MASS, COM)  # about the sensor
LEVER = np.array([0.0, 0.0, 0.15])  # from the centre of the turn to the sensor, sensor axes


def pitching(seconds: float) -> Identifier:
    """An identifier fed with a sensor that pitches about a centre 0.15 m behind it."""
    made = Identifier(Settings().replace({"wrench.sensor_frame": "sensor"}))
    rng = np.random.default_rng(3)
    for k in range(int(seconds * 500)):
        t, stamp = k / 500.0, START + k * 2_000_000
        angle, rate, change = (1.4 * np.sin(0.6 * t), 0.84 * np.cos(0.6 * t),
                               -0.504 * np.sin(0.6 * t))
        turn = Rotation.from_rotvec([0.0, angle, 0.0])
        omega, alpha = np.array([0.0, rate, 0.0]), np.array([0.0, change, 0.0])
        acceleration = np.cross(alpha, LEVER) + np.cross(omega, np.cross(omega, LEVER))
        a_g = acceleration + turn.inv().apply([0.0, 0.0, 9.81])
        force = MASS * (a_g + np.cross(alpha, COM) + np.cross(omega, np.cross(omega, COM)))
        torque = (MASS * np.cross(COM, a_g) + INERTIA @ alpha + np.cross(omega, INERTIA @ omega))
        reading = -np.r_[force, torque] + rng.normal(size=6) * np.repeat([0.1, 0.005], 3)
        if k % 5 == 0:
            made.add_transform(stamp, "world", "sensor", (0.0, 0.0, 0.0), turn.as_quat().tolist())
        made.add_wrench(stamp, "sensor", reading[:3].tolist(), reading[3:].tolist())
    made.finish()
    return made


@pytest.mark.slow
def test_intervals_hold_the_truth_and_no_inertia_is_claimed() -> None:
    """The unknown acceleration is part of the uncertainty, and the findings say so."""
    made = pitching(8.0)
    outcome = made.solve()
    assert isinstance(outcome, Estimate)
    assert abs(outcome.body.mass - MASS) < 2.0 * outcome.sigma[0]
    assert np.all(np.abs(outcome.body.com - COM) < 2.0 * outcome.sigma[1:4])
    assert abs(outcome.report[7] - 1.1e-3) < 2.0 * outcome.sigma[7]
    assert set(outcome.verdict[4:]) == {UNOBSERVED}
    assert any(f.name == "translation_constant" for f in made.findings())


@pytest.mark.slow
def test_parameters_do_not_show_an_inertia_that_nothing_tells() -> None:
    """Readers of parameters see no verdict, so the numbers are NaN; mass and centre are there."""
    pytest.importorskip("rclpy")
    from inertial_id_ros.ros.settings_node import payload_parameters

    outcome = pitching(8.0).solve()
    values = {p.name: p.value for p in payload_parameters(outcome)}
    assert np.isnan(values["payload.inertia"]).all()
    assert values["payload.valid"] and values["payload.mass"] == pytest.approx(MASS, rel=0.03)
