# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""One run of a scenario: draw motion and sensor errors, record, solve, score every object."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.signal import savgol_filter
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.simulation.motion import JointMotion
from inertial_id_ros.errors import InertialIdError
from inertial_id_ros.geometry.shape import Shape
from inertial_id_ros.inertia import Array, is_consistent
from inertial_id_ros.settings import Settings

from . import bounds, sensors
from .families import objects
from .metrics import ENTRIES, INTERVAL, deviations, errors
from .motions import LAWS, SensorMotion, sensor_motion
from .objects import BenchmarkObject, tool_files
from .product import Answer, Answers, Data, from_accelerations, from_recording
from .scenarios import Scenario
from .true_shapes import true_shape

CORRECT_PRIOR = "entropic-true"  # row of `entropic` with a prior that is right
_LONGEST = 600.0  # s, the longest buffer that the settings allow
_answers = Answers()


@dataclass(frozen=True, eq=False)
class Recording:
    """What was measured, and the exact motion behind it."""

    data: Data
    exact: SensorMotion


def identification_settings(scenario: Scenario, overrides: dict[str, Any]) -> Settings:
    """Settings of the scenario: the right data sheet, and what it says is known."""
    noise = sensors.NOISE[scenario.noise]
    changes = {"wrench.sensor": "ideal",  # white noise and a constant bias
               "alignment.orientation_sd": 0.0, "alignment.position_sd": 0.0,
               "wrench.noise": (noise.force, noise.torque),
               "accelerations.noise": (noise.linear, noise.angular, sensors.GYROSCOPE_NOISE),
               "buffer.window": min(max(scenario.seconds + 1.0, 30.0), _LONGEST),
               **scenario.settings}
    if scenario.source == "savgol":
        changes |= {"kinematics.filter_window": 0.02,  # the paper's windows are all the filtering
                    "accelerations.noise": (0.0, 0.0, sensors.GYROSCOPE_NOISE)}
    if scenario.source == "gyroscope":  # far below that of the other sensors
        changes["accelerations.noise"] = (noise.linear, 0.0, sensors.GYROSCOPE_NOISE)
    return Settings().replace({**changes, **overrides})


def run(scenario: Scenario, number: int, estimators: list[str],
        overrides: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of results, one for each object and estimator.

    Seeds depend on scenario family, motion and run only, so that scenarios that differ in the
    set-up see the same motions.
    """
    settings = identification_settings(scenario, overrides)
    rows: list[dict[str, Any]] = []
    for index, item in enumerate(objects(scenario.family)):
        key = f"{scenario.family} {scenario.motion} {scenario.pace:g} {scenario.seconds:g}"
        motion_rng = np.random.default_rng([zlib.crc32(key.encode()), number])
        rng = np.random.default_rng([zlib.crc32(key.encode()), number, 1 + index])
        try:
            shape, truth = _told_shape(scenario, item, rng), item.phi
            recording = _record(scenario, item, shape, settings, motion_rng, rng, index)
            answers = _solve(recording.data, true_shape(scenario.family, item), shape, settings,
                             estimators)
        except InertialIdError as error:
            rows += [_failed(scenario, item, number, name, str(error)) for name in estimators]
            continue
        limits = _limits(scenario, item, recording.exact)
        rows += [_score(scenario, item, number, name, answer, truth, limits)
                 for name, answer in answers.items()]
    return rows


def _solve(data: Data, right: Shape, told: Shape, settings: Settings,
           estimators: list[str]) -> dict[str, Answer]:
    """Answers by the name of their row; CORRECT_PRIOR is `entropic` told the true shape."""
    own = [name for name in estimators if name != CORRECT_PRIOR]
    if CORRECT_PRIOR not in estimators:
        return _answers.solve(data, told, settings, own)
    answers = _answers.solve(data, told, settings, [*dict.fromkeys([*own, "entropic"])])
    correct = (answers["entropic"] if right is told
               else _answers.solve(data, right, settings, ["entropic"])["entropic"])
    return {name: answers.get(name, correct) for name in estimators}


# ---- recording ---------------------------------------------------------------------------------

def _record(scenario: Scenario, item: BenchmarkObject, shape: Shape, settings: Settings,
            motion_rng: np.random.Generator, rng: np.random.Generator, index: int) -> Recording:
    if scenario.source == "tool":
        exact, wrench = _stored_tool(index)
        return Recording(_noisy_rows(exact, wrench, scenario, settings, rng), exact)
    t = np.arange(round(scenario.seconds * scenario.rate)) / scenario.rate
    law = LAWS[scenario.motion](scenario.pace, motion_rng)
    exact = _exact(scenario, law, motion_rng, t, 0.0)
    if scenario.source in ("raw", "gyroscope"):
        wrench = sensors.rigid_body_wrench(item.phi, exact)
        return Recording(_noisy_rows(exact, wrench, scenario, settings, rng), exact)
    readings = _readings(scenario, item, law, motion_rng, t, exact, rng)
    q = exact.q + sensors.ENCODER_NOISE * rng.normal(size=exact.q.shape)
    if scenario.source == "savgol":
        return Recording(_savgol_rows(q, -readings, scenario, settings), exact)
    return Recording(from_recording(t, q, readings, settings, shape), exact)


_last_motion: dict[str, Any] = {"key": None, "motion": None}


def _exact(scenario: Scenario, law: Any, motion_rng: np.random.Generator, t: Array,
           delay: float) -> SensorMotion:
    """Exact motion at t - delay; kept for the next object, which moves alike."""
    key = (scenario.name, str(motion_rng.bit_generator.state["state"]), delay, len(t))
    if _last_motion["key"] != key:
        _last_motion.update(key=key, motion=sensor_motion(law(t - delay)))
    return _last_motion["motion"]


def _readings(scenario: Scenario, item: BenchmarkObject, law: Any,
              motion_rng: np.random.Generator, t: Array, exact: SensorMotion,
              rng: np.random.Generator) -> Array:
    """Readings (n, 6) in the convention on_sensor."""
    wrong = scenario.errors
    measured = exact
    if wrong.clock_offset:
        measured = sensor_motion(law(t - wrong.clock_offset))
    up = sensors.tilted_up(wrong.tilt, rng) if wrong.tilt else None
    wrench = sensors.rigid_body_wrench(item.phi, measured, up)
    if wrong.rotation:
        wrench = sensors.turned(wrench, wrong.rotation, rng)
    bias = sensors.random_bias(rng) if wrong.bias else np.zeros(6)
    noise = sensors.NOISE[scenario.noise].wrench * rng.normal(size=wrench.shape)
    return bias + noise - wrench


def _noisy_rows(exact: SensorMotion, wrench: Array, scenario: Scenario, settings: Settings,
                rng: np.random.Generator) -> Data:
    noise = sensors.NOISE[scenario.noise]
    measured = exact._replace(
        acceleration=exact.acceleration + noise.linear * rng.normal(size=exact.acceleration.shape),
        alpha=exact.alpha + noise.angular * rng.normal(size=exact.alpha.shape))
    wrench = wrench + noise.wrench * rng.normal(size=wrench.shape)
    gyroscope = scenario.source == "gyroscope"
    if gyroscope:
        measured = measured._replace(
            omega=exact.omega + sensors.GYROSCOPE_NOISE * rng.normal(size=exact.omega.shape))
    return from_accelerations(measured, wrench, settings, 1.0 / scenario.rate, derive=gyroscope)


def _savgol_rows(q: Array, wrench: Array, scenario: Scenario, settings: Settings) -> Data:
    """Kinematics from order-2 Savitzky-Golay windows, as Traversaro et al. 2016 do; no low-pass."""
    step = 1.0 / scenario.rate
    q, dq, ddq = (savgol_filter(q, scenario.window, 2, deriv=k, delta=step, axis=0)
                  for k in range(3))
    return from_accelerations(sensor_motion(JointMotion(q, dq, ddq)), wrench, settings, step)


@lru_cache(maxsize=16)
def _stored_tool(index: int) -> tuple[SensorMotion, Array]:
    """Motion and wrench of a workshop tool. Its simulator's z axis points down: turned about x."""
    with np.load(tool_files()[index], allow_pickle=False) as data:
        rotation = np.asarray(data["world_R_sensor"])
        flip = np.diag([1.0, -1.0, -1.0]) if data["gravity_world"][2] > 0.0 else np.eye(3)
        # Vectors are stored in sensor axes.
        motion = SensorMotion(np.zeros((len(rotation), 6)), flip @ rotation,
                              data["linear_acceleration"], data["angular_velocity"],
                              data["angular_acceleration"])
        wrench = np.hstack([data["force"], data["torque"]])
    return motion, wrench


def _told_shape(scenario: Scenario, item: BenchmarkObject, rng: np.random.Generator) -> Shape:
    wrong = scenario.errors
    if not (wrong.shape_shift or wrong.shape_turn):
        return item.shape
    center = 0.5 * (item.shape.bounds[0] + item.shape.bounds[1])
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_rotvec(sensors.direction(rng) * wrong.shape_turn,
                                        degrees=True).as_matrix()
    pose[:3, 3] = center - pose[:3, :3] @ center + wrong.shape_shift * sensors.direction(rng)
    return item.shape.place(pose)


# ---- scores --------------------------------------------------------------------------------------

def _limits(scenario: Scenario, item: BenchmarkObject,
            exact: SensorMotion) -> dict[str, tuple[float, ...]]:
    known = not scenario.settings.get("estimator.estimate_bias", True)
    noise = sensors.NOISE[scenario.noise].wrench
    data = bounds.information(exact, noise, known)
    return {"crb": bounds.unbiased(data, item.phi, item.lengths),
            "bcrb": bounds.bayesian(data, item.shape, item.phi, item.lengths)}


def _head(scenario: Scenario, item: BenchmarkObject, number: int, name: str) -> dict[str, Any]:
    return {"scenario": scenario.name, "object": item.name, "run": number, "estimator": name}


def _failed(scenario: Scenario, item: BenchmarkObject, number: int, name: str,
            reason: str) -> dict[str, Any]:
    return {**_head(scenario, item, number, name), "failure": reason}


def _score(scenario: Scenario, item: BenchmarkObject, number: int, name: str, answer: Answer,
           truth: Array, limits: dict[str, tuple[float, ...]]) -> dict[str, Any]:
    if answer.failure:
        return _failed(scenario, item, number, name, answer.failure)
    row = _head(scenario, item, number, name)
    found = errors(answer.phi, truth, item.lengths)
    row |= {"failure": "", "e_m": found.mass, "e_com": found.com, "e_J": found.inertia,
            "e_J_com": found.inertia_com, "consistent": int(is_consistent(answer.phi)),
            "ms": 1e3 * answer.seconds}
    z = deviations(answer.phi, answer.covariance, truth)
    row |= {f"z_{entry}": float(v) for entry, v in zip(ENTRIES, z, strict=True)}
    row |= {f"in_{entry}": int(abs(v) <= INTERVAL) for entry, v in zip(ENTRIES, z, strict=True)}
    row |= {f"{kind}_{name}": float(v) for kind, values in limits.items()
            for name, v in zip(("m", "com", "J", "J_com"), values, strict=True)}
    row |= {f"align_{k}": float(v) for k, v in enumerate(answer.alignment)}
    row |= {f"phi_{k}": float(v) for k, v in enumerate(answer.phi)}
    return row
