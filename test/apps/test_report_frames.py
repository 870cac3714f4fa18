# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which frame is wrong, from readings of a weight; what the first screen says of bad set-ups."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.apps.report.diagnosis import quarter_turns, try_frames
from inertial_id_ros.apps.report.results import Trace
from inertial_id_ros.apps.simulation.cobot import Recording, SimulatedCobot
from inertial_id_ros.apps.simulation.command_line import write_bag
from inertial_id_ros.apps.simulation.settings import CobotSettings

WEIGHT = 12.0  # N
BIAS = np.array([3.0, -5.0, 7.0])
AXES = {"+x": (1, 0, 0), "+y": (0, 1, 0), "+z": (0, 0, 1),
        "\u2212x": (-1, 0, 0), "\u2212y": (0, -1, 0), "\u2212z": (0, 0, -1)}


def weighed(rotations: Rotation, up: np.ndarray, sensor: np.ndarray, sign: float = 1.0) -> Trace:
    """Readings of a weight, with up (3,) in the gravity frame and the sensor's true axes in its
    frame as columns (3, 3)."""
    rng = np.random.default_rng(2)
    in_frame = rotations.inv().apply(WEIGHT * up)
    reading = sign * (in_frame @ sensor + BIAS + rng.normal(scale=0.2, size=in_frame.shape))
    stamps = 1_000_000_000 * np.arange(1, len(reading) + 1)
    return Trace(stamps=stamps, measured=np.hstack([reading, np.zeros_like(reading)]),
                 poses=list(zip((stamps + 1_000_000).tolist(), rotations.as_matrix(), strict=True)))


POSES = Rotation.random(20, random_state=1)
UP = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_right_frames_are_left_alone(sign: float) -> None:
    assert try_frames(weighed(POSES, UP, np.eye(3), sign), sign, "ft", "world") is None


def test_there_are_23_other_quarter_turns() -> None:
    turns = [turn.ravel().tolist() for turn in quarter_turns()]
    assert len(turns) == 23 and len(set(map(tuple, turns))) == 23
    assert np.eye(3).ravel().tolist() not in turns


@pytest.mark.parametrize("turn", list(quarter_turns()), ids=str)
def test_a_turned_sensor_is_named_with_its_axes(turn: np.ndarray) -> None:
    trial = try_frames(weighed(POSES, UP, turn), 1.0, "ft", "world")
    assert trial is not None and trial.kind == "sensor" and trial.after < 0.5 < trial.before
    named = trial.text.split("along ")[1].split(" of frame 'ft'")[0].split(", ")
    assert np.array_equal(np.array([AXES[name] for name in named]).T, turn)


@pytest.mark.parametrize("seed", range(5))
def test_a_sensor_turned_by_any_angle_is_named_with_the_rpy_to_enter(seed: int) -> None:
    turn = Rotation.random(random_state=seed)
    trial = try_frames(weighed(POSES, UP, turn.as_matrix()), 1.0, "ft", "world")
    assert trial is not None and trial.kind == "sensor" and trial.after < 0.5 < trial.before
    rpy = [float(word) for word in trial.text.split('rpy="')[1].split('"')[0].split()]
    found = Rotation.from_euler("xyz", rpy)  # as in a robot description
    assert np.rad2deg((turn.inv() * found).magnitude()) < 2.0


@pytest.mark.parametrize(("up", "named"), [((0, 1, 0), "+y"), ((-1, 0, 0), "\u2212x"),
                                           ((0.6, 0, 0.8), "0.60")])
def test_another_direction_of_gravity_is_named(up: tuple[float, ...], named: str) -> None:
    trial = try_frames(weighed(POSES, np.array(up), np.eye(3)), 1.0, "ft", "base")
    assert trial is not None and trial.kind == "gravity"
    assert named in trial.text and "'base'" in trial.text


def test_a_transposed_rotation_is_named() -> None:
    trace = weighed(POSES.inv(), UP, np.eye(3))
    trace.poses = [(stamp, matrix.T) for stamp, matrix in trace.poses]
    trial = try_frames(trace, 1.0, "ft", "world")
    assert trial is not None and trial.kind == "transposed"


def test_few_poses_and_poses_that_do_not_turn_say_nothing() -> None:
    turn = next(quarter_turns())
    assert try_frames(weighed(POSES[:5], UP, turn), 1.0, "ft", "world") is None
    still = Rotation.from_matrix(np.repeat(np.eye(3)[None], 20, axis=0))
    assert try_frames(weighed(still, UP, turn), 1.0, "ft", "world") is None


# ---- bad set-ups, as a person meets them -----------------------------------------------------

@cache
def robot(**settings: object) -> tuple[SimulatedCobot, Recording]:
    cobot = SimulatedCobot(CobotSettings(bias=(*BIAS, 0.2, 0.3, -0.1), **settings))  # type: ignore[arg-type]
    return cobot, cobot.run(12.0)


def pulled_by_a_cable(cobot: SimulatedCobot, run: Recording) -> Recording:
    """A tension of 2 N + 5 N/m towards a point above the arm, 36 mm beside the sensor's origin."""
    arm, fixed = np.array([0.0, 0.036, 0.0]), np.array([0.0, 0.0, 1.8])
    away = fixed - (run.truth.position + run.truth.rotation @ arm)
    length = np.linalg.norm(away, axis=1, keepdims=True)
    pull = np.einsum("nji,nj->ni", run.truth.rotation, (2.0 + 5.0 * length) * away / length)
    return replace(run, wrench=run.wrench + np.hstack([pull, np.cross(arm, pull)]))


def with_another_payload(cobot: SimulatedCobot, run: Recording) -> Recording:
    other = SimulatedCobot(replace(cobot.settings, payload="hammer")).run(12.0)
    wrench = run.wrench.copy()
    wrench[len(wrench) // 2:] = other.wrench[len(wrench) // 2:]
    return replace(run, wrench=wrench)


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "change", "options", "said"), [
    ({}, None, ("--convention", "on_environment"), "The wrench has the wrong sign."),
    ({"sensor_rotation_error": (0.0, 0.0, 90.0)}, None, (),
     "The sensor is turned against its frame."),
    ({"sensor_rotation_error": (0.0, 0.0, 45.0)}, None, (),
     "The sensor is turned against its frame."),
    ({"tilt": (90.0, 0.0)}, None, ("--gravity-frame", "base_link"),
     "The gravity frame is wrong: its z axis does not point up."),
    ({}, pulled_by_a_cable, (), "A cable or hose pulls at the payload."),
    ({}, with_another_payload, (), "The payload changed during the recording.")],
    ids=["sign", "turned", "turned by 45 degrees", "gravity", "cable", "payload"])
def test_the_first_screen_names_what_is_wrong(settings: dict, change: object, options: tuple,
                                              said: str, tmp_path: Path) -> None:
    cobot, run = robot(**settings)
    write_bag(tmp_path / "bag", cobot, change(cobot, run) if callable(change) else run)
    main([str(tmp_path / "bag"), "--report", str(tmp_path), "--quiet", *options])
    text = (tmp_path / "bag.html").read_text(encoding="utf-8").split("\n", 1)[1]
    verdict = next(ElementTree.fromstring(text).iter("section"))
    assert verdict.get("class") in ("verdict bad", "verdict fair")
    assert next(p for p in verdict.iter("p") if p.get("class") == "said").text == said
