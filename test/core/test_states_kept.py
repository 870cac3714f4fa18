# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tool and tare: across runs, what a tare says of the zero, the object beside a tool; small files
are whole or not there."""

import json
import os
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from inertial_id_ros.errors import DamagedFile
from inertial_id_ros.identify.beliefs import Beliefs, Tare, tare_conditions
from inertial_id_ros.identify.state import FORMAT, VERSION, load_state, restored, save_state
from inertial_id_ros.inertia import is_consistent, phi_from_body
from inertial_id_ros.io.files import parse_yaml, read_document, write_atomically
from inertial_id_ros.model.tool import Tool, nothing_beside
from inertial_id_ros.settings import Settings

SETTINGS = Settings()
READING = np.array([1.0, -2.0, 3.0, 0.1, -0.2, 0.3])
TARE = Tare(READING, 5, "flange", tare_conditions(SETTINGS))
TOOL = Tool("flange", phi_from_body(0.5, np.zeros(3), 1e-3 * np.eye(3)), 1e-6 * np.eye(10), 7)


def test_a_file_gives_back_tool_and_tare(tmp_path: Path) -> None:
    path = tmp_path / "node" / "state.json"
    assert load_state(path)[1] == ""
    save_state(path, Beliefs(TARE, TOOL))
    kept, wrong = load_state(path)
    assert not wrong and kept.tool is not None and kept.tare is not None
    np.testing.assert_array_equal(kept.tare.reading, READING)
    np.testing.assert_array_equal(kept.tool.phi, TOOL.phi)
    assert kept.tare.is_old and not restored(Beliefs(), SETTINGS, kept)[1]
    save_state(path, Beliefs(replace(TARE, refuted="loaded"), TOOL))
    assert load_state(path)[0].tare is None


@pytest.mark.parametrize("damage", ["", "{}", '{"format": "inertial_id_ros state"}', *(
    json.dumps({"format": FORMAT, "version": VERSION, "content": change}) for change in (
        {"tare": [1.0]}, {"tool": "hammer"}, *({"tare": {
            "reading": [0.0] * 6, "stamp_ns": 5, "frame_id": "flange", "conditions": {}} | part}
            for part in ({"conditions": []}, {"conditions": {"a": 1}}, {"reading": [0.0] * 5}))))])
def test_a_damaged_file_is_not_used(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "state.json"
    path.write_text(damage)
    kept, wrong = load_state(path)
    assert (kept.tool, kept.tare) == (None, None) and f"{path} is not used" in wrong


def test_a_run_begins_with_what_the_last_one_kept_and_a_tare_only_as_it_was_measured() -> None:
    kept = Beliefs(TARE, TOOL)
    beliefs, left_out = restored(Beliefs(), SETTINGS, kept)
    assert beliefs.tool is TOOL and beliefs.tare is TARE and not left_out
    other = SETTINGS.replace({"precompensated.mass": 1.5})
    beliefs, left_out = restored(Beliefs(tare=TARE), other, kept)
    assert beliefs.tool is TOOL and beliefs.tare is None and "precompensated.mass" in left_out


def test_a_tare_makes_the_zero_known_and_ages() -> None:
    before = Beliefs().sheet(SETTINGS, 0)
    fresh = Beliefs(tare=TARE).sheet(SETTINGS, 5)
    later = Beliefs(tare=TARE).sheet(SETTINGS, 9 * 3600 * 10**9)
    old = Beliefs(tare=Tare(READING, 5, "flange", {}, is_old=True)).sheet(SETTINGS, 5)
    np.testing.assert_allclose(fresh.bias_mean, SETTINGS.wrench.sign * READING)
    assert (fresh.bias_sd < later.bias_sd).all() and (later.bias_sd <= before.bias_sd).all()
    np.testing.assert_allclose(old.bias_sd, 0.2 * before.bias_sd)


@pytest.mark.parametrize(("mass", "sd", "is_empty"), [
    (0.004, 0.005, True), (-0.004, 0.005, True), (0.2, 0.005, False), (0.004, 0.1, False)])
def test_nothing_is_carried_where_the_data_exclude_a_mass(mass: float, sd: float,
                                                          is_empty: bool) -> None:
    phi, covariance = np.r_[mass, np.zeros(9)], np.diag(np.r_[sd, np.full(9, 1e-3)] ** 2)
    found = nothing_beside(TOOL, phi, covariance, 0.0)
    assert (found is not None) == is_empty
    if found is not None:
        assert is_consistent(found[0]) and found[0][0] < 0.03


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
        fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_atomically(tmp_path / "a.json", "old")
    monkeypatch.setattr(Path if fails == "replace" else os, fails,
                        Mock(side_effect=OSError(30, "Read-only file system")))
    with pytest.raises(OSError, match="Read-only"):
        write_atomically(tmp_path / "a.json", "new")
    assert (tmp_path / "a.json").read_text() == "old"
    assert [f.name for f in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("version", ["4", "0", "true", '"3"', "null", "[1]"])
def test_other_versions_are_refused_by_name(version: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(f'{{"format": "kind", "version": {version}, "content": {{}}}}')
    with pytest.raises(DamagedFile, match=r"\b3\b"):
        read_document(tmp_path / "a", "kind", 3)


@pytest.mark.parametrize("text", [
    "x: 2001-99-99", "x: !!int abc", "x: " + "9" * 5000, "x: !!timestamp zz",
    "[" * 3000, "!!python/object/apply:os.getcwd []",
    "x: 'open", "<<: 3", "{{a: 1}: 2}", "\x00", "x: 0b_", "--- a\n--- b\n", "? [a, b]\n: c\n"])
def test_every_fault_is_one_short_line(text: str) -> None:
    """Among them dates and numbers that are none, which the parser answers with a ValueError."""
    with pytest.raises(DamagedFile, match="YAML") as caught:
        parse_yaml(text)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
