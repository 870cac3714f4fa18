# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The sources of error by name: sensors, arms, and mixtures of them.

Where nothing is said: 500 Hz, white noise of 0.1 N / 0.005 N m, bias of N(0, 3 N) / N(0, 0.2 N m),
encoder noise of 1e-4 rad, full scale 130 N / 10 N m.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .errors import (
    Effect,
    cross_talk,
    drift,
    gain,
    hysteresis,
    low_pass,
    non_linearity,
    steps,
)


class Wandering(NamedTuple):
    """Ornstein-Uhlenbeck noise of the zero: correlation time [s], standard deviations [N, N m]."""

    time: float
    force: float
    torque: float


@dataclass(frozen=True)
class Source:
    """What is wrong with sensor and arm.

    Attributes:
        effects: on the readings, in order; then come the zero, which wanders, white noise of a
            sample [N, N m], and rounding.
        rate, joint_rate: of the samples [Hz].
        range: of the sensor [N, N m]; payloads are made lighter until their wrench is below it.
        calibration: by how much every joint stands elsewhere than the robot description says, over
            `CALIBRATION` of `recordings`.
        compliance: of each joint under the payload's weight [rad/(N m)].
        soft_base: whether the base swings and vibrates.
        cable: that pulls at the payload: tension at its shortest [N], stiffness [N/m].
        turned: angle of the sensor against its frame, about a random axis [deg].
        moved: standard deviation of its origin against that of its frame, along each axis [m].
        late: by how much the stamps of the wrench are late [s].
        stamps: 'exact', or those of the arrival of messages that are delayed ('jitter') or come in
            'bursts'.
        shape_moved, shape_turned, shape_scaled: lowest and highest error of the shape that is told:
            its distance [m], its angle [deg], the factor of its size.
        settings: what a user of this sensor would set; config: or the file of `config/` taken.
    """

    name: str
    effects: tuple[Effect, ...] = ()
    wandering: Wandering | None = None
    white: tuple[float, float] = (0.1, 0.005)
    rounding: Effect | None = None
    rate: float = 500.0
    joint_rate: float = 500.0
    range: tuple[float, float] = (math.inf, math.inf)
    calibration: float = 0.0
    compliance: float = 0.0
    soft_base: bool = False
    cable: tuple[float, float] = (0.0, 0.0)
    turned: float = 0.0
    moved: float = 0.0
    late: float = 0.0
    stamps: str = "exact"
    shape_moved: tuple[float, float] = (0.0, 0.0)
    shape_turned: tuple[float, float] = (0.0, 0.0)
    shape_scaled: tuple[float, float] = (1.0, 1.0)
    settings: Mapping[str, Any] = field(default_factory=dict)
    config: str = ""


def _preset(name: str) -> dict[str, Any]:
    return {"wrench.sensor": name}


_UR: dict[str, Any] = {"wandering": Wandering(3.0, 1.2, 0.06), "white": (0.5, 0.03)}
_FT300: dict[str, Any] = {
    "wandering": Wandering(0.02, 0.3, 0.01), "white": (0.3, 0.012),
    "rounding": steps(0.1, 0.001), "rate": 100.0, "joint_rate": 125.0, "range": (300.0, 30.0),
    "settings": _preset("robotiq_ft300")}
_ONROBOT: dict[str, Any] = {
    "effects": (cross_talk(0.02), hysteresis(0.01)), "white": (0.1, 0.004),
    "rounding": steps(0.2, 0.01), "rate": 100.0, "joint_rate": 125.0, "range": (200.0, 6.5),
    "settings": _preset("onrobot_hex")}
_ATI: dict[str, Any] = {
    "white": (0.05, 0.002), "rounding": steps(0.025, 0.00125), "rate": 1000.0,
    "range": (130.0, 10.0), "settings": _preset("ati_gamma")}
_BOTA: dict[str, Any] = {"white": (0.15, 0.004), "rate": 800.0, "range": (500.0, 12.0),
                         "settings": _preset("bota_sensone")}
_GOOD = (gain(0.01), cross_talk(0.003))

SOURCES = {source.name: source for source in (
    Source("white"),
    # White noise, and neither arm nor mounting has errors, and the user says so.
    Source("ideal", settings={"wrench.sensor": "ideal", "alignment.orientation_sd": 0.0,
                              "alignment.position_sd": 0.0}),
    # one thing wrong with the sensor
    Source("gain", (gain(0.01),)),
    Source("cross-talk-0.3", (cross_talk(0.003),)),
    Source("cross-talk-1", (cross_talk(0.01),)),
    Source("non-linearity", (non_linearity(0.01),)),
    Source("hysteresis", (hysteresis(0.005),)),
    Source("drift", (drift(0.02, 0.001),)),
    Source("ar-10s", wandering=Wandering(10.0, 0.5, 0.03)),
    # sensors as they come, with the settings that their users would choose
    Source("ur", **_UR),  # by a user who sets nothing
    Source("ur-config", **_UR, config="ur.yaml"),
    Source("ft300", **_FT300),
    Source("onrobot", **_ONROBOT),
    Source("ati", **_ATI),
    Source("bota", **_BOTA),
    # the arm and the set-up
    Source("calibration", calibration=1.0),
    Source("compliance", compliance=1e-4),
    Source("soft-base", soft_base=True),
    Source("cable", cable=(2.0, 5.0)),
    Source("turned-1", turned=1.0),
    Source("turned-5", turned=5.0),
    Source("turned-10", turned=10.0),
    Source("moved", moved=0.003),  # nobody mentioned it
    Source("moved-told", moved=0.003, settings={"alignment.position_sd": 0.003,
                                                  "alignment.estimate_position": True}),
    Source("arrival-jitter", stamps="jitter"),
    Source("arrival-bursts", stamps="bursts"),
    # a box given by eye
    Source("shape-moved", shape_moved=(0.001, 0.03)),
    Source("shape-turned", shape_turned=(0.0, 20.0)),
    Source("shape-scaled", shape_scaled=(0.7, 1.5)),
    # the sensor's own low-pass, with clocks that agree or differ
    *(Source(f"filter-{order}-{cutoff:g}" + (f"-late-{late:g}" if late else ""),
             (low_pass(order, cutoff),), late=late)
      for order in (1, 2) for cutoff in (0.3, 1.0, 3.0, 10.0, 30.0)
      for late in (0.0, 0.1, -0.2)),
    # mixtures
    Source("mix-ati", calibration=1.0, **{**_ATI, "effects": (*_GOOD, drift(0.02, 0.001))}),
    Source("mix-ur", **_UR, calibration=1.0, compliance=1e-4, config="ur.yaml"),
    Source("mix-onrobot", calibration=1.0,
           **{**_ONROBOT, "effects": (*_ONROBOT["effects"], drift(0.02, 0.001))}),
    Source("mix-mounting", _GOOD, turned=1.0, moved=0.001, soft_base=True),
    Source("mix-cell", (gain(0.005), cross_talk(0.005), hysteresis(0.003), drift(0.01, 0.0005)),
           calibration=0.5, turned=2.0, moved=0.0015, cable=(1.0, 3.0)),
)}
