# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The methods of the papers by command and API: published answers, bounds that hold, mistakes; with
motor currents, and with several recordings."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import published_robots as paper
import pytest
import yaml
from torque_arm import NAMES, URDF, block, save_table, simulate, wide_motion

from inertial_id_ros import api
from inertial_id_ros.apps.robot.identify_robot import main
from inertial_id_ros.apps.robot.page import diagnose
from inertial_id_ros.errors import InertialIdError, InvalidData, InvalidSetting, NotEnoughData
from inertial_id_ros.robot import METHODS, TERMS
from inertial_id_ros.robot.base_parameters import BaseParameters
from inertial_id_ros.robot.model import RobotModel
from inertial_id_ros.robot.robot_file import load_robot

_NAMES = {"fv": "viscous", "fc": "coulomb", "fo": "offset", "Ia": "drive_inertia"}
SPATIAL = {"form": "spatial"}


def document(base: BaseParameters, beta: np.ndarray) -> dict[str, Any]:
    """Base parameters of the paper as `identify_robot` writes them."""
    def ours(found: re.Match[str]) -> str:
        term = found[1]
        return f"{_NAMES.get(term, term.replace('l', 'm').replace('L', 'I'))}(link{found[2]})"

    return {"base_parameters": [
        {"combination": re.sub(r"\b([fIlLm][a-z]*)(\d)\b", ours, text), "value": float(value)}
        for text, value in zip(base.expressions(), beta, strict=True)]}


def check(folder: Path, given: dict[str, Any], known: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Exit status and JSON of the command."""
    (folder / "given.yaml").write_text(yaml.safe_dump(given))
    (folder / "known.yaml").write_text(yaml.safe_dump(known))
    status = main(["--check-feasibility", str(folder / "given.yaml"), "--constraints",
                   str(folder / "known.yaml"), "--json", str(folder / "out.json")])
    return status, json.loads((folder / "out.json").read_text())


def test_table_1_by_the_command(tmp_path: Path) -> None:
    base = paper.three_links().base
    status, first = check(tmp_path, document(base, paper.FEASIBLE), SPATIAL)
    assert status == 0 and first["feasible"] and first["certificate"] is None
    status, second = check(tmp_path, document(base, paper.INFEASIBLE), SPATIAL)
    assert status == 1 and not second["feasible"]
    assert second["certificate"] < -1e-4
    assert second["distance"] == pytest.approx(paper.DISTANCE, abs=0.5e-5)
    np.testing.assert_allclose([each["nearest"] for each in second["base_parameters"]],
                               paper.CORRECTED, atol=5e-6)
    assert check(tmp_path, document(base, paper.FEASIBLE), {})[0] == 1  # full consistency


# Recordings


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    """An arm simulated by MuJoCo, as arguments of the API."""
    return {"urdf": URDF, "recorded": [simulate(wide_motion(12.0), 12.0)]}


def identify_as(recorded: dict[str, Any], **asked: Any) -> Any:
    """The robot, with the usual terms of its joints."""
    return api.identify_robot(**recorded, request=api.RobotRequest(
        terms=TERMS[:3], coulomb_velocity=0.0, **asked))


@pytest.mark.slow
def test_every_method_finds_a_robot_within_what_is_known(recorded: dict[str, Any]) -> None:
    plain = {method: identify_as(recorded, method=method) for method in METHODS}
    for method, result in plain.items():
        assert result.consistent.all()
        assert result.prediction.relative < 0.02, method
        assert result.validation is not None and result.validation.relative < 0.02, method
    # FBPE-OLS leaves the least of all that exist.
    least = plain["fbpe"].prediction.relative
    assert all(least < result.prediction.relative * (1.0 + 1e-3) for result in plain.values())

    last, total = list(plain["lmi"].bodies)[-1], sum(b.mass for b in plain["lmi"].bodies.values())
    ball = {"center": [0.0, 0.0, 0.05], "half_axes": [0.1, 0.1, 0.1]}
    known = {"links": {last: {"mass": [0.05, 0.7 * plain["lmi"].bodies[last].mass],
                              "ellipsoids": [ball]}}, "masses": [{"max": 0.9 * total}]}
    for method in METHODS:
        bodies = identify_as(recorded, method=method, constraints=known).bodies
        assert sum(b.mass for b in bodies.values()) < 0.9 * total * (1.0 + 1e-5), method
        body = bodies[last]
        assert 0.05 < body.mass < 0.7 * plain["lmi"].bodies[last].mass * (1.0 + 1e-5), method
        assert np.linalg.norm((body.com - ball["center"]) / 0.1) < 1.0, method
        # tr(J Q) >= 0: rms of the distance from the middle of a ball of radius 0.1 m.
        squares = 0.5 * np.trace(body.inertia_com) / body.mass \
            + np.sum((body.com - ball["center"])**2)
        assert squares < 0.01 * (1.0 + 1e-4), method


@pytest.mark.slow
def test_what_a_motion_does_not_excite_is_said_and_as_described() -> None:
    still, path = np.isin(np.arange(6), [1, 2]), wide_motion(16.0)
    recorded = simulate(lambda t: tuple(np.where(still, 0.0, x) for x in path(t)), 16.0)
    described = RobotModel.from_urdf(URDF).split(RobotModel.from_urdf(URDF).nominal)[:, 0]
    for method in ("lmi", "fbpe", "mass-points"):
        result = api.identify_robot(URDF, [recorded], api.RobotRequest(method=method))
        assert result.prediction.relative < 0.02, method
        assert all(np.array([b.mass for b in result.bodies.values()]) < 20.0 * described), method
        assert not result.fit.excited.all() and diagnose(result).tone == "fair"
    with pytest.raises(NotEnoughData, match=f"{NAMES[1]}.*plan_excitation"):
        api.identify_robot(URDF, [recorded], api.RobotRequest(method="ols+bpfc"))


# Mistakes


def entries(*combinations: str) -> dict[str, Any]:
    return {"base_parameters": [{"combination": text, "value": 1.0} for text in combinations]}


@pytest.mark.parametrize(("given", "known"), [
    (entries("Ixx + 3"), {}), (entries("m(a)", "2 m(a)"), {}), (entries("Jyy(a)"), {}),
    ({"base_parameters": [{"combination": "m(a)"}]}, {}), (None, {}),
    (entries("m(a)"), {"link": {}}), (entries("m(a)"), {"form": "round"}),
    (entries("m(a)"), {"links": {"b": {"mass": [0, 1]}}}),
    (entries("m(a)"), {"links": {"a": {"weight": 3}}}),
    (entries("m(a)"), {"links": {"a": {"mass": [2, 1]}}}),
    (entries("m(a)"), {"links": {"a": {"box": [[0, 0, 0], [1, 1, 0]]}}}),
    (entries("m(a)"), {"links": {"a": {"ellipsoids": [{"half_axes": [1, -1, 1]}]}}}),
    (entries("m(a)"), {"links": {"a": {"near_design": "much"}}}),
    (entries("m(a)"), {"links": {"a": {"ellipsoids": 3}}}),
    (entries("m(a)"), {"masses": [{"max": float("nan")}]})])
def test_a_mistake_is_refused_with_one_message(given: Any, known: dict[str, Any]) -> None:
    with pytest.raises(InertialIdError) as refused:
        api.check_base_parameters(given, constraints=known)
    assert "\n" not in str(refused.value)


GAIN = np.array([11.0, 12.0, 10.0, 9.0, 10.5, 11.5])
MASS = 3.0
FIXED = ("--set", "align=false", "--terms", "viscous,coulomb,offset", "--set",
         "coulomb_velocity=0.003")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Currents without and with a payload, and torques of three motions."""
    out = tmp_path_factory.mktemp("robot")
    (out / "arm.urdf").write_text(URDF)
    carried = block(MASS)
    for k, (name, payload, gain) in enumerate((
            ("unloaded", None, GAIN), ("loaded", carried, GAIN), ("a", None, 1.0),
            ("b", None, 1.0), ("c", None, 1.0))):
        duration = 16.0 if gain is GAIN else 10.0
        motion = wide_motion(duration, 1 if gain is GAIN else k)
        made = simulate(motion, duration, payload, seed=k)
        save_table(out / f"{name}.npz", made._replace(efforts=made.efforts / gain))
    return out


def identify(folder: Path, out: Path, *words: str) -> dict[str, Any]:
    """The JSON of a run in the folder."""
    given = [str(folder / w) if w.endswith(".npz") else w for w in words]
    assert main([*given, "--urdf", str(folder / "arm.urdf"), "--json", str(out)]) == 0
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
def test_a_recording_may_be_the_test(folder: Path, tmp_path: Path) -> None:
    tested = identify(folder, tmp_path / "b.json", "a.npz", "b.npz", "--test", "c.npz", *FIXED)
    assert 0.0 < tested["held_back_relative_error"] < 0.03
    # Two recordings know more than one.
    single = identify(folder, tmp_path / "c.json", "a.npz", "--test", "c.npz", *FIXED)
    sums = [sum(p["sigma"] for p in t["base_parameters"]) for t in (tested, single)]
    assert sums[0] < sums[1]


@pytest.mark.slow
def test_what_identify_robot_writes_is_feasible(recorded: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(recorded["urdf"])
    path = save_table(tmp_path / "free.npz", *recorded["recorded"])
    for method in METHODS:
        assert main([str(path), "--urdf", str(tmp_path / "arm.urdf"),
                     "--terms", "viscous,coulomb,offset", "--method", method, "--json",
                     str(tmp_path / "found.json")]) == 0
        found = json.loads((tmp_path / "found.json").read_text())
        answer = api.check_base_parameters(found)
        assert answer["feasible"], (method, answer["margin"])
        assert answer["distance"] < 1e-5


def test_contradicting_bounds_and_unknown_methods_are_refused(recorded: dict[str, Any]) -> None:
    with pytest.raises(InvalidData):
        api.check_base_parameters(entries("m(a)"), constraints={
            "links": {"a": {"mass": [2, 3]}}, "masses": [{"max": 1}]})
    for method in METHODS:
        with pytest.raises(InvalidData):
            identify_as(recorded, method=method, constraints={
                "masses": [{"max": 1.0}, {"min": 2.0}]})
    with pytest.raises(InvalidSetting):
        identify_as(recorded, method="best")
