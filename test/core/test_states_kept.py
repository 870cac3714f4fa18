# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tool and tare across runs; what a tare says of the zero."""

import json
from pathlib import Path

import numpy as np
import pytest

from inertial_id_ros.errors import NotEnoughData
from inertial_id_ros.identify.beliefs import Beliefs, Tare, tare_conditions, tare_of
from inertial_id_ros.identify.state import State, StateFile
from inertial_id_ros.inertia import phi_from_body
from inertial_id_ros.model.history import History
from inertial_id_ros.model.tool import Tool
from inertial_id_ros.motion.motion import no_motion
from inertial_id_ros.settings import Settings

SETTINGS = Settings()
READING = np.array([1.0, -2.0, 3.0, 0.1, -0.2, 0.3])
TARE = Tare(READING, 5, "flange", tare_conditions(SETTINGS))
HOUR = 3_600_000_000_000


def test_a_file_gives_back_tool_and_tare(tmp_path: Path) -> None:
    tool = Tool("flange", phi_from_body(0.5, np.zeros(3), 1e-3 * np.eye(3)), 1e-6 * np.eye(10), 7)
    file = StateFile(tmp_path / "node" / "state.json")
    file.save(State(tool, TARE))
    state, wrong = file.load()
    assert not wrong and state.tool is not None and state.tare is not None
    np.testing.assert_array_equal(state.tare.reading, READING)
    assert state.tare.is_old and not state.tare.describe_changes(SETTINGS)
    assert "0.500" in state.describe() and "tare" in state.describe()


def test_no_file_is_an_empty_state(tmp_path: Path) -> None:
    assert StateFile(tmp_path / "state.json").load() == (State(), "")


@pytest.mark.parametrize("damage", ["", "{}", '{"format": "inertial_id_ros state"}'])
def test_a_damaged_file_is_set_aside(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "state.json"
    path.write_text(damage)
    state, wrong = StateFile(path).load()
    assert state == State() and "state.json.damaged" in wrong
    assert not path.exists() and (tmp_path / "state.json.damaged").exists()


def test_a_changed_number_is_no_state(tmp_path: Path) -> None:
    file = StateFile(tmp_path / "state.json")
    file.save(State(None, TARE))
    tree = json.loads(file.path.read_text())
    tree["content"]["tare"]["reading"][0] = 9.0
    file.path.write_text(json.dumps(tree))
    assert file.load()[0] == State()


def test_a_tare_of_other_settings_says_which() -> None:
    other = SETTINGS.replace({"precompensated.mass": 1.5})
    assert "precompensated.mass" in TARE.describe_changes(other)


def test_a_tare_makes_the_zero_known_and_ages() -> None:
    before = Beliefs().sheet(SETTINGS, 0)
    fresh = Beliefs(tare=TARE).sheet(SETTINGS, 5)
    later = Beliefs(tare=TARE).sheet(SETTINGS, 9 * HOUR)
    old = Beliefs(tare=Tare(READING, 5, "flange", {}, is_old=True)).sheet(SETTINGS, 5)
    np.testing.assert_allclose(fresh.bias_mean, SETTINGS.wrench.sign * READING)
    assert (fresh.bias_sd < later.bias_sd).all() and (later.bias_sd <= before.bias_sd).all()
    np.testing.assert_allclose(old.bias_sd, 0.2 * before.bias_sd)


def history_of(readings: np.ndarray) -> History:
    """Readings of a second, without any motion."""
    history, n = History(), len(readings)
    stamps = HOUR + np.arange(n) * 10_000_000
    history.append(no_motion(0), stamps, SETTINGS.wrench.sign * readings)
    return history


def test_a_tare_needs_a_second_at_rest() -> None:
    rng = np.random.default_rng(400_000)
    noise = np.repeat(SETTINGS.wrench.noise, 3)
    still = READING + noise * rng.normal(size=(100, 6))
    tare = tare_of(history_of(still), SETTINGS, "flange")
    np.testing.assert_allclose(tare.reading, READING, atol=0.5 * noise.max())
    with pytest.raises(NotEnoughData, match="samples"):
        tare_of(history_of(still[:10]), SETTINGS, "flange")
    with pytest.raises(NotEnoughData, match="rest"):
        rising = still + np.linspace(0.0, 30.0, 100)[:, None] * noise
        tare_of(history_of(rising), SETTINGS, "flange")
