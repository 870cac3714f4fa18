"""The sources of error by name: a sensor, an arm, and their mixtures.

Where nothing is said: 500 Hz, white noise of 0.1 N / 0.005 N m, bias of N(0, 3 N) / N(0, 0.2 N m),
encoder noise of 1e-4 rad, full scale 130 N / 10 N m.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import (
    Effect,
    cross_talk,
    drift,
    gain,
    hysteresis,
    non_linearity,
    steps,
    wandering,
    white,
)

NOISE = white(0.1, 0.005)


@dataclass(frozen=True)
class Source:
    """What is wrong with sensor and arm.

    Attributes:
        effects: on the readings, in order; rounding comes after the bias.
        rounding: last effect on the readings, if any.
        rate, joint_rate: of the samples [Hz].
        calibration: whether every joint stands elsewhere than the robot description says.
        compliance: of each joint under the payload's weight [rad/(N m)].
        soft_base: whether the base swings and vibrates.
        cable: whether a cable pulls at the payload.
        turned: angle of the sensor against its frame, about a random axis [deg].
        moved: standard deviation of its origin against that of its frame, along each axis [m].
        stamps: 'exact', or of the arrival of messages that are delayed ('jitter') or in 'bursts'.
        settings: what a user of this sensor would set.
    """

    name: str
    effects: tuple[Effect, ...] = (NOISE,)
    rounding: Effect | None = None
    rate: float = 500.0
    joint_rate: float = 500.0
    calibration: bool = False
    compliance: float = 0.0
    soft_base: bool = False
    cable: bool = False
    turned: float = 0.0
    moved: float = 0.0
    stamps: str = "exact"
    settings: Mapping[str, Any] = field(default_factory=dict)


UR = (white(0.5, 0.03), wandering(3.0, 1.2, 0.06))
FT300 = (white(0.3, 0.012), wandering(0.02, 0.3, 0.01))
ONROBOT = (cross_talk(0.02), hysteresis(0.01), white(0.1, 0.004))
ATI = white(0.05, 0.002)
ATI_STEPS = steps(0.025, 0.00125)

SOURCES = {source.name: source for source in (
    Source("white"),
    Source("gain", (gain(0.01), NOISE)),
    Source("cross-talk-0.3", (cross_talk(0.003), NOISE)),
    Source("cross-talk-1", (cross_talk(0.01), NOISE)),
    Source("non-linearity", (non_linearity(0.01), NOISE)),
    Source("hysteresis", (hysteresis(0.005), NOISE)),
    Source("drift", (drift(0.02, 0.001), NOISE)),
    Source("ar-10s", (wandering(10.0, 0.5, 0.03), NOISE)),
    Source("ur", UR),
    Source("ft300", FT300, steps(0.1, 0.001), 100.0, 125.0),
    Source("onrobot", ONROBOT, steps(0.2, 0.01), 100.0, 125.0),
    Source("ati", (ATI,), ATI_STEPS, 1000.0),
    Source("bota", (white(0.15, 0.004),), None, 800.0),
    Source("calibration", calibration=True),
    Source("compliance", compliance=1e-4),
    Source("soft-base", soft_base=True),
    Source("cable", cable=True),
    Source("turned-1", turned=1.0),
    Source("turned-5", turned=5.0),
    Source("turned-10", turned=10.0),
    Source("moved", moved=0.003),
    Source("arrival-jitter", stamps="jitter"),
    Source("arrival-bursts", stamps="bursts"),
    Source("mix-ati", (gain(0.01), cross_talk(0.003), drift(0.02, 0.001), ATI), ATI_STEPS, 1000.0,
           calibration=True),
    Source("mix-ur", UR, calibration=True, compliance=1e-4),
    Source("mix-onrobot", (*ONROBOT, drift(0.02, 0.001)), steps(0.2, 0.01), 100.0, 125.0,
           calibration=True),
    Source("mix-mounting", (gain(0.01), cross_talk(0.003), NOISE), turned=1.0, moved=0.001,
           soft_base=True),
)}
