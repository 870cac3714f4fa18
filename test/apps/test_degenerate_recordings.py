# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recordings of finite numbers that no working sensor gives end with a reason, never a traceback,
and nothing is claimed of them."""

from __future__ import annotations

import json
from pathlib import Path

import bags
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.bag.identify_bag import main
from inertial_id_ros.cli import NO_ESTIMATE, NOT_IDENTIFIED, OK, USER_ERROR

TIME = bags.times(6.0, 100.0)
TURN, PLACE = bags.pose(TIME)
LOAD = bags.wrench(TIME, bags.Payload()) + np.random.default_rng(0).normal(
    size=(len(TIME), 6)) * np.repeat([0.05, 0.002], 3)
POSES = np.hstack([PLACE, Rotation.from_matrix(TURN).as_quat()])
N = len(TIME)
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def changed(load: np.ndarray = LOAD, poses: np.ndarray = POSES, time: np.ndarray = TIME) -> Arrays:
    return time, load, poses


LATE = np.arange(N)[:, None]
CASES: dict[str, Arrays] = {
    "zero wrench": changed(0.0 * LOAD),
    "constant wrench": changed(0.0 * LOAD + LOAD[0]),
    "one channel dead": changed(LOAD * (np.arange(6) != 2)),
    "quantised": changed(np.round(LOAD / 5.0) * 5.0),
    "huge": changed(1e200 * LOAD), "tiny": changed(1e-6 * LOAD),
    "one spike": changed(np.where(LATE == 300, 1e12, LOAD)),
    "no motion": changed(poses=0.0 * POSES + POSES[0]),
    "far away": changed(poses=POSES + np.r_[1e8, np.zeros(6)]),
    "turned at once": changed(poses=np.where(LATE < 300, POSES[0], POSES[-1])),
    "same times": changed(time=0.0 * TIME),
    "two times": changed(time=np.where(TIME < 3.0, 0.0, 0.01)),
    "two samples": tuple(a[:2] for a in changed()),  # type: ignore[dict-item]
    "much of it missing": changed(np.where(LATE % 10 < 9, np.nan, LOAD))}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", CASES)
def test_the_run_ends_with_a_reason(tmp_path: Path, name: str,
                                    capsys: pytest.CaptureFixture[str]) -> None:
    time, load, poses = CASES[name]
    np.savez(tmp_path / "a.npz", t=time, y=load, p=poses[:, :3], q=poses[:, 3:])
    (tmp_path / "c.yaml").write_text("{time: t, wrench: y, position: p, quaternion: q}")
    status = main([str(tmp_path / "a.npz"), "--columns", str(tmp_path / "c.yaml"), "--sensor",
                   "ati_gamma", "--json", str(tmp_path / "a.json")])
    printed = capsys.readouterr()
    if status == USER_ERROR:
        assert len(printed.err.splitlines()) == 1
        return
    tree = json.loads((tmp_path / "a.json").read_text())
    if status == OK:  # what is left of it tells the payload
        assert name in ("one spike", "much of it missing")
        assert tree["mass"] == pytest.approx(bags.Payload().mass, rel=0.02)
    else:
        assert status in (NO_ESTIMATE, NOT_IDENTIFIED) and (tree["valid"] or tree["diagnostics"])
