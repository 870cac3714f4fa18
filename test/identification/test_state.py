# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What outlives a run: kept whole, restored with its meaning, and never half-read."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic import SECOND, STILL, PointMasses, Scene, identifier, payload, recording, texts
from tool_recordings import noisy, quiet

from inertial_id_ros.estimate import Estimate, NoEstimate
from inertial_id_ros.identification.state import DAMAGED, State, StateFile, Tare
from inertial_id_ros.regression.tool import tool_from_estimate

NOTHING = PointMasses(np.zeros((1, 3)), np.array([1e-9]))
BIAS = np.array([3.0, -2.0, 1.0, 0.2, -0.1, 0.3])
LATER = 3_600_000_000_000


@pytest.fixture(scope="module")
def state() -> State:
    """Tool, tare and estimate of one run."""
    rng = np.random.default_rng(0)
    made = identifier()
    recording(seconds=2.0, scene=Scene(motion=STILL), body=NOTHING, bias=BIAS).feed(made, 0.1)
    made.tare()
    quiet("tool").moved(LATER).feed(made, 0.1)
    outcome = made.solve()
    assert isinstance(outcome, Estimate)
    made.set_tool(tool_from_estimate(outcome))
    noisy("both", rng).moved(LATER).feed(made, 0.1)
    assert isinstance(made.solve(), Estimate)
    return made.state()


def test_a_file_gives_back_every_number(state: State, tmp_path: Path) -> None:
    file = StateFile(tmp_path / "folder" / "x.state.json")
    file.save(state)
    again, complaint = file.load()
    assert complaint == ""
    for name in ("phi", "phi_covariance", "bias", "data_share", "alignment", "residual_rms"):
        np.testing.assert_allclose(getattr(again.estimate, name), getattr(state.estimate, name),
                                   rtol=1e-12, atol=1e-18, err_msg=name)
    for name in ("stamp_ns", "frame_id", "method", "verdict", "samples", "window", "tool_apart"):
        assert getattr(again.estimate, name) == getattr(state.estimate, name), name
    np.testing.assert_array_equal(again.tool.phi, state.tool.phi)
    np.testing.assert_array_equal(again.tare.reading, state.tare.reading)
    assert again.tare.stamp_ns == state.tare.stamp_ns and again.tare.frame_id == "tool0"
    assert again.estimate.restored and again.estimate.stale
    assert [f.name for f in file.path.parent.iterdir()] == ["x.state.json"]


def test_nothing_is_kept_as_nothing(tmp_path: Path) -> None:
    file = StateFile(tmp_path / "x.state.json")
    assert file.load() == (State(), "")
    file.save(State())
    assert file.load() == (State(), "")


def test_files_of_versions_with_other_nuisance_states_can_be_read(
        state: State, tmp_path: Path) -> None:
    assert state.estimate is not None
    more = np.append(state.estimate.alignment, 0.5)
    file = StateFile(tmp_path / "x.state.json")
    file.save(replace(state, estimate=replace(state.estimate, alignment=more)))
    read, complaint = file.load()
    assert complaint == "" and read.estimate is not None
    np.testing.assert_array_equal(read.estimate.alignment, more)


def test_any_damage_is_reported_and_set_aside(state: State, tmp_path: Path) -> None:
    """One byte changed, or the file cut off: the whole file is refused and kept for inspection."""
    file = StateFile(tmp_path / "x.state.json")
    file.save(state)
    good = file.path.read_bytes()
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(200):
        bad = bytearray(good)
        if rng.random() < 0.3:
            del bad[rng.integers(len(bad)):]
        else:
            bad[rng.integers(len(bad))] = rng.integers(256)
        file.path.write_bytes(bad)
        got, complaint = file.load()
        if complaint:
            refused += 1
            assert got == State()
            assert str(file.path) in complaint and "\n" not in complaint
            assert not file.path.exists()
            assert (tmp_path / f"x.state.json{DAMAGED}").read_bytes() == bytes(bad)
        else:  # a changed space, or the same value written otherwise
            assert json.loads(bad)["content"] == json.loads(good)["content"]
    assert refused > 150


def test_a_newer_version_is_set_aside_rather_than_overwritten(tmp_path: Path) -> None:
    file = StateFile(tmp_path / "x.state.json")
    file.save(State())
    file.path.write_text(file.path.read_text().replace('"version": 2', '"version": 3'))
    assert "version 3" in file.load()[1]
    assert (tmp_path / f"x.state.json{DAMAGED}").exists()


def test_a_file_of_version_1_is_read_and_the_next_save_is_of_version_2(
        state: State, tmp_path: Path) -> None:
    """As the first release wrote it; the tare of its first files has no conditions."""
    assert state.tool is not None
    content = {"tool": state.tool.content(), "estimate": None, "tare": {
        "reading": BIAS.tolist(), "stamp_ns": 5, "frame_id": "tool0"}}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    file = StateFile(tmp_path / "x.state.json")
    file.path.write_text(json.dumps({"format": "inertial_id_ros state", "version": 1,
                                     "sha256": digest, "content": content}))
    read, complaint = file.load()
    assert complaint == "" and read.tare is not None and read.tool is not None
    np.testing.assert_array_equal(read.tare.reading, BIAS)
    np.testing.assert_array_equal(read.tool.phi, state.tool.phi)
    assert read.tare.conditions == {} and read.saved_ns == 0 and "saved" not in read.describe()
    file.save(read)
    again, complaint = file.load()
    assert complaint == "" and again.saved_ns > 1_700_000_000_000_000_000
    assert json.loads(file.path.read_text())["version"] == 2 and "saved" in again.describe()


def test_a_file_without_its_checksum_is_not_used(state: State, tmp_path: Path) -> None:
    file = StateFile(tmp_path / "x.state.json")
    file.save(state)
    tree = json.loads(file.path.read_text())
    del tree["sha256"]
    file.path.write_text(json.dumps(tree))
    read, complaint = file.load()
    assert read == State() and "no checksum" in complaint and "set aside" in complaint


def test_a_write_that_fails_leaves_the_old_file(state: State, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    file = StateFile(tmp_path / "x.state.json")
    file.save(state)
    before = file.path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="space"):
        file.save(State())
    assert file.path.read_bytes() == before
    assert [f.name for f in tmp_path.iterdir()] == ["x.state.json"]


def test_a_restored_estimate_is_shown_as_stale_until_there_are_data(state: State) -> None:
    made = identifier()
    made.restore(state)
    outcome = made.solve()
    assert isinstance(outcome, Estimate) and outcome.stale and outcome.restored
    assert outcome.stamp_ns == state.estimate.stamp_ns  # type: ignore[union-attr]
    assert "restored" in texts(made)
    quiet("both").moved(2 * LATER).feed(made, 0.1)
    outcome = made.solve()
    assert isinstance(outcome, Estimate) and not outcome.stale and not outcome.restored


def test_an_estimate_of_another_sensor_is_not_shown(state: State) -> None:
    made = identifier()
    made.restore(State(estimate=state.estimate))
    made.add_wrench(1_800_000_000_000_000_000, "other", (0, 0, 0), (0, 0, 0))
    made.advance()
    assert isinstance(made.solve(), NoEstimate)


def test_a_restored_tool_keeps_the_object_apart(state: State) -> None:
    made = identifier()
    made.restore(state)
    quiet("both").moved(2 * LATER).feed(made, 0.1)
    outcome = made.solve()
    assert isinstance(outcome, Estimate) and outcome.tool_apart
    assert outcome.report[0] == pytest.approx(payload(8, 0.7).report[0], abs=5e-3)


@pytest.mark.slow
def test_a_restored_bias_is_a_prior_that_the_data_overrule() -> None:
    """The kept tare is 1 N off by now: the estimate must not be."""
    body = payload()
    made = identifier()
    recording(seconds=2.0, scene=Scene(motion=STILL), body=NOTHING, bias=BIAS).feed(made, 0.1)
    made.tare()
    kept = made.state()
    np.testing.assert_allclose(kept.tare.reading, BIAS, atol=1e-6)  # type: ignore[union-attr]
    drifted = BIAS + [1.0, -1.0, 1.0, 0.05, 0.05, -0.05]
    errors = []
    for restored in (True, False):
        again = identifier()
        if restored:
            again.restore(kept)
        else:
            recording(seconds=2.0, scene=Scene(motion=STILL), body=NOTHING, bias=BIAS
                      ).feed(again, 0.1)
            again.tare()
        recording(body=body, bias=drifted).moved(LATER if restored else 3 * SECOND
                                                 ).feed(again, 0.1)
        outcome = again.solve()
        assert isinstance(outcome, Estimate)
        errors.append(np.abs(outcome.bias - drifted)[:3].max())
    assert errors[0] < 0.02 and errors[1] > errors[0]  # a fresh tare is believed


def tared(**changes: Any) -> State:
    """The state of a run that tared, with these settings."""
    made = identifier(**changes)
    recording(seconds=2.0, scene=Scene(motion=STILL), body=NOTHING, bias=BIAS).feed(made, 0.1)
    made.tare()
    return made.state()


@pytest.mark.parametrize(("changes", "said"), [
    ({"wrench__topic": "/other"}, "wrench.topic was 'wrench' and is '/other'"),
    ({"dynamic_joint_states__topic": "/all", "wrench__sensor_frame": "tool0"}, "is '/all'"),
    ({"wrench__convention": "on_environment"}, "wrench.convention was 'on_sensor'"),
    ({"precompensated__mass": 1.5}, "precompensated.mass was '0 kg' and is '1.5 kg'"),
    ({"precompensated__source": "inertia", "precompensated__topic": "/p"}, "source was 'settings'"),
])
def test_a_tare_under_other_conditions_is_not_used_and_said(changes: dict[str, Any], said: str,
                                                            tmp_path: Path) -> None:
    file = StateFile(tmp_path / "x.state.json")
    file.save(tared())
    again = identifier(**changes)
    again.restore(file.load()[0])
    assert again.state().tare is None and said in texts(again)["tare_not_used"]


def test_a_tare_under_the_same_conditions_is_used_and_its_age_said(tmp_path: Path) -> None:
    file = StateFile(tmp_path / "x.state.json")
    kept = tared().tare
    assert kept is not None
    file.save(State(tare=replace(kept, stamp_ns=time.time_ns() - 2 * 86_400_000_000_000)))
    again = identifier()
    again.restore(file.load()[0])
    assert again.state().tare is not None and "tare_not_used" not in texts(again)
    assert "bias of a tare 2 days ago" in texts(again)["restored"]


@pytest.mark.parametrize(("age", "said"), [
    (30.0, "30 s ago"), (600.0, "10 min ago"), (9000.0, "2.5 h ago"), (-60.0, "unknown time"),
    (1.7e9, "days ago"), (3.1e9, "unknown time")])
def test_the_age_of_a_tare_is_told_in_a_fitting_unit(age: float, said: str,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 4e9 + age)
    assert said in Tare(np.zeros(6), 4_000_000_000_000_000_000, "tool0").age


def test_a_tare_of_another_frame_is_not_used_and_said() -> None:
    kept = tared().tare
    assert kept is not None
    again = identifier()
    again.restore(State(tare=replace(kept, frame_id="other_sensor")))
    recording(body=payload()).feed(again, 0.1)
    assert isinstance(again.solve(), Estimate)
    assert again.state().tare is None
    assert "of frame 'other_sensor'" in texts(again)["tare_not_used"]


def test_a_tare_is_not_used_where_the_driver_tells_that_it_removes_a_payload() -> None:
    told = {"precompensated__source": "inertia", "precompensated__topic": "/payload"}
    made = identifier(**told)
    made.add_removed_payload("", 0.0, [0.0] * 3, [0.0] * 6)
    recording(seconds=2.0, scene=Scene(motion=STILL), body=NOTHING, bias=BIAS).feed(made, 0.1)
    made.tare()
    for mass in (0.0, 0.5):
        again = identifier(**told)
        again.restore(made.state())
        again.add_removed_payload("", mass, [0.0] * 3, [0.0] * 6)
        again.advance()
        assert (again.state().tare is None) is (mass > 0.0)
    assert "removes a payload of 0.500 kg" in texts(again)["tare_not_used"]


def test_a_tare_without_conditions_is_not_used() -> None:
    """As files of the first versions hold it."""
    again = identifier()
    again.restore(State(tare=Tare(BIAS, 1, "tool0")))
    assert again.state().tare is None and "not known" in texts(again)["tare_not_used"]
