# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The scenarios: objects, motion, sensors, what the identification is told, published numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .sensors import SetUpErrors

# Settings where the set-up is known: neither bias nor alignment states.
KNOWN: dict[str, Any] = {"estimator.estimate_bias": False, "alignment.rotation_sd": 0.0,
                         "alignment.tilt_sd": 0.0, "alignment.delay_sd": 0.0}
UNKNOWN_BIAS: dict[str, Any] = {**KNOWN, "estimator.estimate_bias": True}
DEFAULTS: dict[str, Any] = {}  # everything as the product does it without being told
ALIGNED: dict[str, Any] = {"alignment.delay_sd": 0.0}  # bias, rotation and tilt are states
EXACT_SHAPE: dict[str, Any] = {"shape.error": 0.0}
# The default low-pass of 0.4 s does not fit into half a second.
SHORT: dict[str, Any] = {"kinematics.filter_window": 0.2}
DELAYED: dict[str, Any] = {**UNKNOWN_BIAS, "alignment.delay_sd": 0.05}


@dataclass(frozen=True)
class Scenario:
    """One scenario.

    Attributes:
        group: scenarios that make one table.
        family: of objects; source: `encoder` (joint states through the identifier), `raw` (noisy
            accelerations), `gyroscope` (the same, but angular acceleration only as the derivative
            of a noisy angular velocity), `savgol` (joint states through Savitzky-Golay windows),
            `tool` (stored).
        motion: name in `motions.LAWS`; pace: its speed [rad/s], or duration of a move [s].
        seconds, rate: of the recording [s], [Hz]; noise: level in `sensors.NOISE`.
        errors: of the set-up; settings: what the identification is told besides the noise level.
        runs: at the normal size of the benchmark, for each object.
        reach: e_m / e_COM / e_J that is asked of `density`, in percent; published: best published;
            empty: none.
    """

    name: str
    group: str
    family: str
    source: str
    motion: str
    pace: float
    seconds: float
    rate: float = 100.0
    noise: str = "moderate"
    errors: SetUpErrors = SetUpErrors()
    settings: dict[str, Any] = field(default_factory=dict)
    runs: int = 10
    window: int = 0
    reach: str = ""
    published: str = ""


def _modular() -> list[Scenario]:
    out = []
    raw = {1.0: ("28", "2.6"), 1.5: ("26", "1.3"), 2.0: ("12", "1.1"), 3.0: ("8", ".6"),
           4.0: ("8", ".4")}
    for level in ("low", "moderate", "high"):
        for speed, (published, reach) in raw.items():
            known = level == "moderate"
            out.append(Scenario(
                f"raw-{level}-{speed:g}", "raw accelerations, 10 s", "modular", "raw", "sinusoid",
                speed, 10.0, noise=level, settings=KNOWN, runs=5,
                published=f"- / - / {published}" if known else "",
                reach=f"- / - / {reach}" if known else ""))
            if known:
                out.append(Scenario(
                    f"gyroscope-{speed:g}", "accelerations and angular velocity, 10 s", "modular",
                    "gyroscope", "sinusoid", speed, 10.0, settings=KNOWN, runs=5))
    short = {1.0: (".06 / .08 / 3.4", "5.2"), 1.5: (".06 / .08 / 2.1", "3.1"),
             2.0: (".06 / .08 / 1.4", "1.9")}
    for speed in (1.0, 1.5, 2.0, 3.0, 4.0):
        reach, reach_bias = short.get(speed, ("", ""))
        published = "1.3-2.2 / 9.8-16 / 44" if speed in short else ""
        common: dict[str, Any] = dict(family="modular", source="encoder", motion="sinusoid",
                                      pace=speed, seconds=1.5)
        out += [
            Scenario(f"encoder-{speed:g}", "encoder kinematics, 150 samples", **common,
                     settings=KNOWN, published=published, reach=reach),
            Scenario(f"bias-{speed:g}", "the same with wrench bias", **common,
                     errors=SetUpErrors(bias=True), settings=UNKNOWN_BIAS,
                     reach=f"- / - / {reach_bias}" if reach_bias else ""),
            Scenario(f"defaults-{speed:g}", "the same with bias, all settings at their default",
                     **common, errors=SetUpErrors(bias=True), settings=DEFAULTS),
        ]
    fixed: dict[str, Any] = dict(family="modular", source="encoder", motion="sinusoid", pace=1.5)
    out += [
        Scenario("samples-50", "50 samples", **fixed, seconds=0.5, settings={**KNOWN, **SHORT}),
        Scenario("shape-pose", "shape misplaced by 5 mm and 3 deg, 150 samples", **fixed,
                 seconds=1.5, errors=SetUpErrors(shape_shift=0.005, shape_turn=3.0),
                 settings=KNOWN),
        Scenario("shape-pose-ignored", "shape misplaced by 5 mm and 3 deg, 150 samples", **fixed,
                 seconds=1.5, errors=SetUpErrors(shape_shift=0.005, shape_turn=3.0),
                 settings={**KNOWN, **EXACT_SHAPE}),
        Scenario("clock-0", "clock offset, 10 s", **fixed, seconds=10.0,
                 errors=SetUpErrors(bias=True), settings=DELAYED, runs=5),
        Scenario("clock-40", "clock offset, 10 s", **fixed, seconds=10.0,
                 errors=SetUpErrors(bias=True, clock_offset=0.04), settings=DELAYED, runs=5,
                 reach="offset within 2 ms; e_J <= 1.1 x clock-0"),
        Scenario("clock-40-ignored", "clock offset, 10 s", **fixed, seconds=10.0,
                 errors=SetUpErrors(bias=True, clock_offset=0.04), settings=UNKNOWN_BIAS, runs=5),
        Scenario("stop-and-go", "stop-and-go, 10 s", "modular", "encoder", "stop_and_go", 1.0,
                 10.0, settings=KNOWN, runs=5, published="< .1 / < .1 / -"),
    ]
    return out


def _poor() -> list[Scenario]:
    out = []
    reach = {1.0: "9", 3.0: "7", 10.0: "5.5", 30.0: "4.5"}
    for seconds, wanted in reach.items():
        for speed in (0.5, 1.0, 1.5):
            out.append(Scenario(
                f"poor-{seconds:g}s-{speed:g}", f"poor shape, 500 Hz, {seconds:g} s", "poor",
                "encoder", "sinusoid", speed, seconds, 500.0, errors=SetUpErrors(bias=True),
                settings=UNKNOWN_BIAS, runs=max(int(24 / max(seconds, 2.0)), 2),
                reach=f"hammer - / - / {wanted}"))
    common: dict[str, Any] = dict(
        group="poor shape, 10 s, misaligned", family="poor", source="encoder",
        motion="sinusoid", pace=1.0, seconds=10.0, rate=500.0, runs=4)
    wrong = SetUpErrors(bias=True, rotation=1.0, tilt=0.5)
    out += [
        Scenario("aligned", **common, errors=SetUpErrors(bias=True), settings=ALIGNED),
        Scenario("misaligned", **common, errors=wrong, settings=ALIGNED,
                 reach="- / - / 5"),
        Scenario("misaligned-ignored", **common, errors=wrong, settings=UNKNOWN_BIAS),
    ]
    return out


def _tools() -> list[Scenario]:
    published = {"low": ("0.64 / 0.53 / 10.0", "- / - / 3.8"),
                 "moderate": ("0.51 / 0.30 / 10.8", "- / - / 4.3"),
                 "high": ("2.80 / 1.18 / 13.7", "- / - / 4.7")}
    return [Scenario(f"tools-{level}", "workshop tools, raw accelerations, 10 s", "tools", "tool",
                     "stored", 0.0, 10.0, noise="high_tools" if level == "high" else level,
                     settings=KNOWN, runs=10, published=best, reach=reach)
            for level, (best, reach) in published.items()]


def _parts() -> list[Scenario]:
    """Assemblies of a few homogeneous parts: one half to choose by, the other to check."""
    return [Scenario(f"parts-{half}-{level}", f"parts ({half} half), raw accelerations, 10 s",
                     f"parts-{half}", "raw", "sinusoid", 1.0, 10.0,
                     noise="high_tools" if level == "high" else level, settings=KNOWN, runs=10)
            for half in ("tuning", "checking") for level in ("low", "moderate", "high")]


def _moves() -> list[Scenario]:
    """Traversaro et al. 2016: a locked arm on the sensor, 100 Hz, paths of 60 s, each with its
    order-2 Savitzky-Golay window; the bias is removed beforehand. White noise alone does not make
    their pattern: a real sensor is never mounted exactly, which slow paths do not forgive."""
    out = []
    for duration, window in ((10.0, 499), (5.0, 41), (2.0, 21), (1.0, 9), (0.5, 7)):
        published = ("unconstrained inconsistent" if duration >= 5.0
                     else "both answers equal" if duration <= 1.0 else "")
        common: dict[str, Any] = dict(family="arm", source="savgol", motion="point_to_point",
                                      pace=duration, seconds=60.0, settings=KNOWN, runs=8,
                                      window=window)
        out += [Scenario(f"moves-{duration:g}s", "point-to-point moves, sensor mounted 0.5 deg off",
                         **common, errors=SetUpErrors(rotation=0.5, tilt=0.25),
                         published=published),
                Scenario(f"exact-moves-{duration:g}s", "point-to-point moves, exact set-up",
                         **common)]
    return sorted(out, key=lambda s: s.group, reverse=True)


def _never_worse() -> list[Scenario]:
    """Lengths of data, speeds and payloads where a prior might do harm; not part of SCENARIOS."""
    return [Scenario(f"never-worse-{family}-{seconds:g}s-{speed:g}", "never-worse", family,
                     "encoder", "sinusoid", speed, seconds, rate, errors=SetUpErrors(bias=True),
                     settings={**UNKNOWN_BIAS, **(SHORT if seconds < 1.0 else {})},
                     runs=max(round(60.0 / max(seconds, 1.5)), 4))
            for family, rate in (("modular", 100.0), ("poor", 500.0))
            for seconds in (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0)
            for speed in (0.5, 1.0, 1.5, 2.0)]


SCENARIOS: dict[str, Scenario] = {s.name: s for s in
                                  [*_modular(), *_poor(), *_tools(), *_parts(), *_moves()]}
NEVER_WORSE: dict[str, Scenario] = {s.name: s for s in _never_worse()}
