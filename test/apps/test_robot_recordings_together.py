# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`identify_robot` with motor currents, and with several recordings, of an arm in MuJoCo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torque_arm import block, simulate, wide_motion

from inertial_id_ros import api
from inertial_id_ros.apps.robot.identify_robot import main
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.errors import InvalidData, InvalidSetting
from inertial_id_ros.robot.robot_file import load_robot

NAMES = load_description().joint_names
GAIN = np.array([11.0, 12.0, 10.0, 9.0, 10.5, 11.5])
MASS = 3.0
FIXED = ("--set", "align=false", "--terms", "viscous,coulomb,offset", "--set",
         "coulomb_velocity=0.003")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Currents without and with a payload, and torques of three motions."""
    out = tmp_path_factory.mktemp("robot")
    (out / "arm.urdf").write_text(load_description().urdf)
    carried = block(MASS)
    for k, (name, payload, gain) in enumerate((
            ("unloaded", None, GAIN), ("loaded", carried, GAIN), ("a", None, 1.0),
            ("b", None, 1.0), ("c", None, 1.0))):
        duration = 16.0 if gain is GAIN else 10.0
        motion = wide_motion(duration, 1 if gain is GAIN else k)
        made = simulate(motion, duration, payload, seed=k)
        np.savez(out / f"{name}.npz", t=made.t, q=made.q, effort=made.effort / gain,
                 names=np.array(NAMES))
    return out


def identify(folder: Path, out: Path, *words: str) -> dict[str, Any]:
    """The JSON of a run in the folder."""
    given = [str(folder / w) if w.endswith(".npz") else w for w in words]
    assert main([*given, "--urdf", str(folder / "arm.urdf"), "--quiet", "--json", str(out)]) == 0
    tree: dict[str, Any] = json.loads(out.read_text())
    return tree


@pytest.mark.slow
def test_currents_with_a_known_payload_give_gains_and_torques(folder: Path, tmp_path: Path) -> None:
    tree = identify(folder, tmp_path / "a.json", "unloaded.npz", "--loaded", "loaded.npz",
                    "--payload-mass", str(MASS), "--write-robot", str(tmp_path / "arm.robot"),
                    *FIXED)
    gains, sigma = (np.array([g[key] for g in tree["gains"]]) for key in ("gain", "sigma"))
    assert (np.abs(gains - GAIN) < 4.0 * sigma).all() and (sigma < 0.15 * GAIN).all()
    assert tree["held_back_relative_error"] < 0.03
    # Not in units of currents, and as uncertain as the gains.
    phi = load_robot(tmp_path / "arm.robot").phi
    given = identify(folder, tmp_path / "b.json", "unloaded.npz", "--write-robot",
                     str(tmp_path / "given.robot"), "--gains", ",".join(map(str, GAIN)),
                     "--set", "gain_error=0", *FIXED)
    known = load_robot(tmp_path / "given.robot")
    assert np.linalg.norm(phi - known.phi) < 0.1 * np.linalg.norm(known.phi)
    told, exact = (np.array([p["sigma"] for p in t["parameters"]]) for t in (tree, given))
    assert (told >= exact * 0.9).all() and (told > 1.5 * exact).any()


@pytest.mark.slow
def test_the_last_of_several_recordings_is_held_back(folder: Path, tmp_path: Path) -> None:
    """As if it had been a test of a robot that is identified from the others."""
    held = identify(folder, tmp_path / "a.json", "a.npz", "b.npz", "c.npz", *FIXED)
    tested = identify(folder, tmp_path / "b.json", "a.npz", "b.npz", "--test", "c.npz", *FIXED)
    error = held["held_back_relative_error"]
    assert error == pytest.approx(tested["held_back_relative_error"], rel=1e-3)
    assert 0.0 < error < 0.03
    # Two recordings know more than one.
    single = identify(folder, tmp_path / "c.json", "a.npz", "--test", "c.npz", *FIXED)
    sums = [sum(p["sigma"] for p in t["base_parameters"]) for t in (tested, single)]
    assert sums[0] < sums[1]


def arrays(folder: Path, name: str) -> api.RobotRecording:
    """A recording of the folder, as a program holds it."""
    with np.load(folder / f"{name}.npz") as data:
        stamps = 10**9 + np.round(1e9 * data["t"]).astype(np.int64)
        return api.RobotRecording(stamps, data["q"], data["effort"])


def test_arrays_that_do_not_go_together_are_refused(folder: Path) -> None:
    urdf, free = load_description().urdf, arrays(folder, "unloaded")
    first = (urdf, free.stamps, NAMES, free.positions, free.efforts)
    short = free._replace(efforts=np.asarray(free.efforts)[:, :5])
    for wrong in ({"loaded": free}, {"gains": -GAIN}):
        with pytest.raises(InvalidSetting):
            api.identify_robot(*first, **wrong)
    for wrong in ({"gains": GAIN[:5]}, {"others": [short]}, {"tests": [short]},
                  {"gravity": (0.0, 0.0)}):
        with pytest.raises(InvalidData):
            api.identify_robot(*first, **wrong)
    with pytest.raises(InvalidData):
        api.identify_robot(urdf, 1e-9 * free.stamps, *first[2:])
