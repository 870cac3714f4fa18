# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The state of the node is written before it is used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic import (
    NOISE,
    STILL,
    PointMasses,
    Recording,
    Scene,
    identifier,
    joint_messages,
    payload,
    recording,
    stamps,
    texts,
    wrench_messages,
)

pytest.importorskip("rclpy")
from inertial_id_ros.errors import InvalidSetting  # noqa: E402
from inertial_id_ros.estimate import Estimate  # noqa: E402
from inertial_id_ros.findings import FindingLog  # noqa: E402
from inertial_id_ros.identification.state import State, StateFile  # noqa: E402
from inertial_id_ros.regression.tool import tool_from_estimate  # noqa: E402
from inertial_id_ros.ros.services.saving import (
    CannotSave,  # noqa: E402
    StateKeeper,  # noqa: E402
)
from inertial_id_ros.settings import Settings  # noqa: E402

NOTHING = PointMasses(np.zeros((1, 3)), np.array([1e-9]))
BIAS = np.array([3.0, -2.0, 1.0, 0.2, -0.1, 0.3])


def settings(folder: Path, **more: Any) -> Settings:
    return Settings().replace({"state.directory": str(folder)} | {
        name.replace("__", "."): value for name, value in more.items()})


def keeper(folder: Path, **more: Any) -> tuple[StateKeeper, FindingLog]:
    log = FindingLog()
    return StateKeeper(settings(folder, **more), "/node", log), log


def in_file(folder: Path) -> State:
    return StateFile(folder / "node.state.json").load()[0]


def at_rest() -> Any:
    """An identifier with two seconds of a sensor at rest that carries nothing."""
    made = identifier()
    recording(seconds=2.0, scene=Scene(motion=STILL), body=NOTHING, bias=BIAS).feed(made, 0.1)
    return made


def resting(body: PointMasses, second: int) -> Recording:
    """One second of a sensor at rest."""
    scene, t = Scene(motion=STILL), stamps(1.0, 200.0, start=float(second))
    return (joint_messages(scene, t) + wrench_messages(
        scene, body, t, bias=BIAS, noise=NOISE, rng=np.random.default_rng(second))).sorted()


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file can be made complete."""
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        yield


def test_a_tare_that_cannot_be_written_is_not_used(tmp_path: Path, full_disk: None) -> None:
    made = at_rest()
    with pytest.raises(CannotSave, match=r"node\.state\.json: No space left"):
        made.tare(keeper(tmp_path)[0].keep)
    assert made.state() == State()


def test_a_tool_that_cannot_be_written_is_not_used_and_the_estimate_stays(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = identifier()
    recording(body=payload()).feed(made, 0.1)
    estimate = made.solve()
    assert isinstance(estimate, Estimate)
    monkeypatch.setattr(os, "fsync", lambda *_: (_ for _ in ()).throw(OSError(30, "Read-only")))
    with pytest.raises(CannotSave, match="Read-only"):
        made.set_tool(tool_from_estimate(estimate), keeper(tmp_path)[0].keep)
    kept = made.state()
    assert kept.tool is None and kept.estimate is not None
    assert kept.estimate.stamp_ns == estimate.stamp_ns


def test_what_is_written_is_what_is_used_afterwards(tmp_path: Path) -> None:
    made, keep = at_rest(), keeper(tmp_path)[0].keep
    made.tare(keep)
    np.testing.assert_array_equal(in_file(tmp_path).tare.reading,  # type: ignore[union-attr]
                                  made.state().tare.reading)
    made.untare(keep)
    assert in_file(tmp_path) == made.state() == State()


def test_a_tare_that_the_data_contradict_leaves_the_file_too(tmp_path: Path) -> None:
    """Taken with the payload attached, which is gone afterwards."""
    made = identifier(estimator__estimate_noise=True)
    kept, log = keeper(tmp_path)
    for second in range(7):
        if second == 2:
            made.tare(kept.keep)
            assert in_file(tmp_path).tare is not None
        resting(payload() if second < 2 else NOTHING, second).feed(made, 0.1)
        made.solve()
        kept.follow(made)
    assert "tare_not_used.contradicted" in texts(made)
    assert in_file(tmp_path).tare is None and log.all() == ()


def test_a_dropped_tare_that_stays_in_the_file_is_said_until_it_could_be_removed(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = at_rest()
    kept, log = keeper(tmp_path)
    made.tare(kept.keep)
    made.untare()  # as the pipeline drops it, without the file
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
        kept.follow(made)
    assert "the next run will begin with it" in log.all()[0].text
    kept.follow(made)
    assert log.all() == () and in_file(tmp_path).tare is None


def test_a_tare_that_was_not_in_use_stays_for_a_run_under_its_own_conditions(
        tmp_path: Path) -> None:
    at_rest().tare(keeper(tmp_path)[0].keep)
    other = identifier(wrench__convention="on_environment")
    kept, _ = keeper(tmp_path)
    kept.restore(other)
    kept.follow(other)
    assert other.state().tare is None and in_file(tmp_path).tare is not None


def test_the_start_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    names = (".", "tools", "saves")
    for name in names:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / ".partial-0123456789abcdef.json").write_text("{")
    keeper(tmp_path)
    assert [list((tmp_path / name).glob(".partial*")) for name in names] == [[], [], []]


def test_without_a_home_the_node_goes_on_and_says_that_nothing_is_kept(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    log = FindingLog()
    kept = StateKeeper(Settings(), "/node", log)
    made = at_rest()
    made.tare(kept.keep)
    assert made.state().tare is not None and "is no folder" in kept.note()
    assert [f.name for f in log.all()] == ["file_not_written.state"]
    with pytest.raises(InvalidSetting):
        keeper(tmp_path / "file")
