"""What outlives a run: kept whole, restored with its meaning, and never half-read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from synthetic import STILL, PointMasses, Scene, identifier, payload, recording, texts
from test_tool import noisy, quiet

from inertial_id_ros.estimate import Estimate, NoEstimate
from inertial_id_ros.state import DAMAGED, State, StateFile
from inertial_id_ros.tool import tool_from_estimate

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
    file.path.write_text(file.path.read_text().replace('"version": 1', '"version": 2'))
    assert "version 2" in file.load()[1]
    assert (tmp_path / f"x.state.json{DAMAGED}").exists()


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
        recording(body=body, bias=drifted).moved(LATER).feed(again, 0.1)
        outcome = again.solve()
        assert isinstance(outcome, Estimate)
        errors.append(np.abs(outcome.bias - drifted)[:3].max())
    assert errors[0] < 0.02 and errors[1] > errors[0]  # a tare of this run is believed
