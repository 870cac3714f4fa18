# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Wrench sensors by name: what a data sheet says of noise, accuracy, drift and range."""

from __future__ import annotations

from typing import NamedTuple


class Sensor(NamedTuple):
    """What a data sheet says of a wrench sensor: defaults of the settings of that name in `wrench`.

    Attributes:
        noise, accuracy, drift, range: of one force and of one torque channel.
        source: where the numbers come from, as Markdown.
    """

    noise: tuple[float, float]
    accuracy: tuple[float, float]
    gain_error: float
    cross_talk: float
    drift: tuple[float, float]
    range: tuple[float, float]
    source: str

    def defaults(self) -> dict[str, float | tuple[float, float]]:
        """Dotted names and values of the settings that the data sheet gives."""
        return {f"wrench.{name}": value for name, value in self._asdict().items()
                if name != "source"}


# A limit in a data sheet is taken as two standard deviations. Ranges are those of the axis with the
# smallest. "Not verified": written down from memory, without the data sheet at hand.
SENSORS = {
    "unknown": Sensor(
        (0.1, 0.005), (0.2, 0.01), 0.01, 0.01, (0.5, 0.02), (0.0, 0.0),
        "a strain-gauge sensor of medium quality"),
    "ideal": Sensor(
        (0.1, 0.005), (0.0, 0.0), 0.0, 0.0, (0.0, 0.0), (0.0, 0.0),
        "a simulated sensor: white noise and a constant bias"),
    "ati_gamma": Sensor(
        (0.05, 0.002), (0.1, 0.005), 0.008, 0.003, (0.5, 0.02), (130.0, 10.0),
        "calibration SI-130-10: ranges 130 N (z: 400 N), 10 N m; uncertainty 1 % of full scale "
        "(not verified); one held still in 24 poses by a KUKA arm leaves 0.09 N, 0.003 N m"),
    "ati_mini45": Sensor(
        (0.1, 0.002), (0.2, 0.005), 0.01, 0.004, (0.5, 0.02), (290.0, 10.0),
        "calibration SI-290-10: ranges 290 N (z: 580 N), 10 N m; uncertainty 1.5 % of full scale "
        "(not verified)"),
    "ati_axia80": Sensor(
        (0.1, 0.004), (0.4, 0.015), 0.01, 0.005, (0.5, 0.02), (500.0, 20.0),
        "Axia80-M20, also SCHUNK FTN-AXIA80: ranges 500 N (z: 900 N), 20 N m (ATI manual "
        "9610-05-Ethernet Axia-09, 4.8); uncertainty 2 % of full scale (not verified)"),
    "robotiq_ft300": Sensor(
        (0.3, 0.012), (0.5, 0.02), 0.01, 0.005, (0.5, 0.02), (300.0, 30.0),
        "steps of 0.01 N and 0.001 N m at 100 Hz (FT 300-S manual, 4.4.2); all else not verified"),
    "onrobot_hex": Sensor(
        (0.1, 0.004), (1.5, 0.07), 0.1, 0.025, (0.5, 0.02), (200.0, 6.5),
        "HEX-E: ranges 200 N, 10 N m (z: 6.5 N m); non-linearity 2 %, hysteresis 2 %, cross-talk "
        "5 % (not verified); hysteresis of 2 % of the range takes up to a tenth and more off "
        "the gain for a load that uses a fifth of it"),
    "bota_sensone": Sensor(
        (0.15, 0.004), (0.5, 0.02), 0.01, 0.005, (0.5, 0.02), (500.0, 12.0),
        "not verified"),
    "bota_rokubi": Sensor(
        (0.15, 0.004), (0.5, 0.02), 0.01, 0.005, (0.5, 0.02), (0.0, 0.0),
        "as SensONE; not verified, and its ranges are not known"),
    "ufactory": Sensor(
        (0.15, 0.005), (1.5, 0.03), 0.01, 0.015, (0.5, 0.02), (150.0, 4.0),
        "six-axis sensor of the xArm: ranges 150 N (z: 200 N), 4 N m; resolution 0.1 N (z: 0.15 "
        "N), 0.005 N m; hysteresis 2.5 % (z and torque: 1 %), cross-talk 3 % (UFACTORY user "
        "manual, 6-axis force torque sensor, 6); gain and drift not verified"),
    # No range: UR's is that of the specified accuracy, and a payload of 12.5 kg exceeds it.
    "ur_e_series": Sensor(
        (0.5, 0.03), (1.2, 0.06), 0.01, 0.005, (1.0, 0.05), (0.0, 0.0),
        "UR5e: precision 3.5 N, accuracy 4 N; UR10e: 5 N and 0.2 N m, 5.5 N and 0.5 N m within "
        "100 N and 10 N m (data sheets; whether these are limits they do not say); noise and drift "
        "not verified"),
    "ur_cb_series": Sensor(
        (1.0, 0.1), (5.0, 2.5), 0.02, 0.005, (1.0, 0.1), (0.0, 0.0),
        "no sensor, the wrench comes from motor currents: 10 N, 5 N m "
        "(forum.universal-robots.com/t/229); all else not verified"),
    "franka_joint_torque": Sensor(
        (0.5, 0.05), (0.8, 0.1), 0.01, 0.0, (0.5, 0.05), (0.0, 0.0),
        "external wrench, from torque sensors in the joints: relative accuracy 0.8 N, "
        "repeatability 0.15 N (data sheet, as quoted by others); all else not verified"),
    "kuka_lbr_joint_torque": Sensor(
        (1.0, 0.1), (2.0, 0.2), 0.02, 0.0, (0.5, 0.05), (0.0, 0.0),
        "external wrench, from torque sensors in the joints, 2 % of their largest torque (not "
        "verified)"),
}
UNKNOWN = SENSORS["unknown"]
