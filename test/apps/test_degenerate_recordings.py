# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Recordings of finite numbers that no working sensor gives end with a reason, never a traceback,
and nothing is claimed of them."""

from __future__ import annotations

import json
from collections.abc import Callable
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


def changed(load: Callable[[np.ndarray], np.ndarray] = lambda y: y,
            poses: Callable[[np.ndarray], np.ndarray] = lambda p: p,
            time: Callable[[np.ndarray], np.ndarray] = lambda t: t) -> Arrays:
    return time(TIME), load(LOAD.copy()), poses(POSES.copy())


def dead(channel: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda y: np.where(np.arange(6) == channel, 0.0, y)


CASES: dict[str, Arrays] = {
    "zero wrench": changed(lambda y: 0.0 * y),
    "constant wrench": changed(lambda y: 0.0 * y + y[0]),
    "one channel dead": changed(dead(2)),
    "quantised": changed(lambda y: np.round(y / 5.0) * 5.0),
    "huge": changed(lambda y: 1e200 * y), "tiny": changed(lambda y: 1e-6 * y),
    "one spike": changed(lambda y: np.where(np.arange(N)[:, None] == 300, 1e12, y)),
    "no motion": changed(poses=lambda p: 0.0 * p + p[0]),
    "far away": changed(poses=lambda p: p + np.r_[1e8, np.zeros(6)]),
    "turned at once": changed(poses=lambda p: np.where(np.arange(N)[:, None] < 300, p[0], p[-1])),
    "same times": changed(time=lambda t: 0.0 * t),
    "two times": changed(time=lambda t: np.where(t < 3.0, 0.0, 0.01)),
    "two samples": tuple(a[:2] for a in changed()),  # type: ignore[dict-item]
    "much of it missing": changed(lambda y: np.where(np.arange(N)[:, None] % 10 < 9, np.nan, y))}


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
