# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The benchmark of real sensors: its arms, payloads, motions and errors are what they say."""

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.accuracy import bounds
from benchmarks.accuracy.never_worse import ratio_of_means
from benchmarks.accuracy.objects import objects
from benchmarks.accuracy.real_sensors import compare, errors, tables
from benchmarks.accuracy.real_sensors.arms import ARMS, SENSOR_FRAME
from benchmarks.accuracy.real_sensors.command_line import main
from benchmarks.accuracy.real_sensors.identify import identifier_of, source_settings
from benchmarks.accuracy.real_sensors.knowable import least_mass_sd
from benchmarks.accuracy.real_sensors.paths import KINDS, random_path
from benchmarks.accuracy.real_sensors.payloads import (
    FAMILIES,
    FARTHEST,
    GROWTH,
    MASSES,
    random_composite,
)
from benchmarks.accuracy.real_sensors.recordings import Draw, simulate
from benchmarks.accuracy.real_sensors.sources import SOURCES, Source
from benchmarks.accuracy.real_sensors.summary import summarise
from benchmarks.accuracy.records import read
from inertial_id_ros.api import Settings
from inertial_id_ros.geometry.shape import shape_from_settings
from inertial_id_ros.inertia import PARAMETER_NAMES, body_from_phi
from inertial_id_ros.regression.newton_euler import regressor

pytestmark = pytest.mark.slow
pin = pytest.importorskip("pinocchio")

PERIOD = 0.002
TIMES = np.arange(0.0, 8.0, PERIOD)
MASS, COM = 2.0, np.array([0.01, -0.05, 0.1])


@pytest.mark.parametrize("name", sorted(ARMS))
def test_the_sensor_moves_as_pinocchio_has_it_with_the_robot_description(name: str) -> None:
    arm = ARMS[name]
    model = pin.buildModelFromXML(arm.urdf)
    data, frame = model.createData(), model.getFrameId(SENSOR_FRAME)
    joints = np.random.default_rng(1).normal(size=(3, 5, len(arm.places)))
    ours, torques = arm.motion(*joints), arm.weight_torques(joints[0], MASS, COM)
    for k, (q, dq, ddq) in enumerate(zip(*joints, strict=True)):
        pin.forwardKinematics(model, data, q, dq, ddq)
        pin.updateFramePlacements(model, data)
        axes = data.oMf[frame].rotation.T
        up = axes @ [0.0, 0.0, 9.81]
        theirs = (axes, data.oMf[frame].translation,
                  pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL).linear + up,
                  pin.getFrameVelocity(model, data, frame, pin.LOCAL).angular,
                  pin.getFrameAcceleration(model, data, frame, pin.LOCAL).angular)
        for got, wanted in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(got[k], wanted, atol=1e-9)
        jacobian = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)
        weight = -MASS * up
        np.testing.assert_allclose(
            torques[k], jacobian.T @ np.r_[weight, np.cross(COM, weight)], atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_paths_have_the_derivatives_and_the_speed_they_say(kind: str) -> None:
    rng = np.random.default_rng(2)
    arm, speed = ARMS["ur5"], 0.4
    law = random_path(arm, kind, speed, 60.0, rng)
    path = law(TIMES)
    for value, rate in ((path.q, path.dq), (path.dq, path.ddq)):
        steps = (value[2:] - value[:-2]) / (2.0 * PERIOD)
        # Third derivatives of minimum-jerk moves jump where they begin and end.
        assert np.quantile(np.abs(steps - rate[1:-1]), 0.98) < 1e-3 * np.abs(rate).max()
    long = law(np.arange(0.0, 60.0, 0.02))
    assert np.linalg.norm(arm.motion(*long).omega, axis=1).mean() == pytest.approx(speed, rel=0.25)


def test_a_random_body_fits_into_the_box_that_is_told() -> None:
    for seed in range(200):
        body = random_composite(np.random.default_rng(seed))
        mass, com, inertia = body_from_phi(body.phi)
        assert MASSES[0] * 0.999 <= mass <= MASSES[1] * 1.001
        assert np.linalg.norm(com) <= FARTHEST
        size, centre = (np.array(body.hint[f"shape.{name}"]) for name in ("size", "center"))
        assert np.all(np.abs(com - centre) < 0.5 * size)
        # The farthest that mass can lie from its mean within the box.
        room = (com - centre + 0.5 * size) * (centre + 0.5 * size - com)
        assert np.all(0.5 * np.trace(inertia) - np.diag(inertia) < mass * room)
        assert centre[2] - 0.5 * size[2] > -GROWTH * size[2]  # it stands on the flange


def test_the_outline_of_a_modular_object_is_told_as_it_lies() -> None:
    for seed in range(8):
        told = FAMILIES["modular"](np.random.default_rng(seed))
        shape = shape_from_settings(Settings().replace(told.hint).shape, {})
        own = next(item.shape for item in objects("modular") if item.name == told.name)
        np.testing.assert_allclose(np.sort(shape.points, axis=0), np.sort(own.points, axis=0),
                                   atol=1e-6)


def test_readings_without_errors_are_the_wrench_of_the_body() -> None:
    recording = simulate(Source("none", white=(0.0, 0.0)), 3)
    motion = recording.exact
    wrench = regressor(motion.proper, motion.omega, motion.alpha) @ recording.payload.phi
    np.testing.assert_allclose(recording.wrench - recording.bias, -wrench, atol=1e-9)


def test_sources_differ_in_nothing_but_their_errors() -> None:
    plain, drifting = simulate("white", 4), simulate("drift", 4)
    np.testing.assert_array_equal(plain.positions, drifting.positions)
    gap = drifting.wrench - plain.wrench
    time = (plain.wrench_stamps - plain.wrench_stamps[0])[:, None] * 1e-9
    np.testing.assert_allclose(gap, gap[-1] * time / time[-1], atol=1e-9)
    assert np.all(np.abs(gap[-1]) > 0.0)


def test_a_payload_stays_within_the_range_of_its_sensor() -> None:
    for seed in range(40):
        recording = simulate("onrobot", seed, Draw(lengths=(4.0,)))
        force, torque = np.abs(recording.wrench - recording.bias).reshape(-1, 2, 3).max(axis=(0, 2))
        assert force < 200.0 and torque < 6.5


def test_wandering_noise_has_its_spread_and_its_correlation() -> None:
    t = np.arange(0.0, 4000.0, 0.1)
    noise = errors.wandering(3.0, 1.2, 0.06)(np.zeros((len(t), 6)), t, np.random.default_rng(5))
    np.testing.assert_allclose(noise.std(axis=0), np.repeat([1.2, 0.06], 3), rtol=0.1)
    later = 30  # samples: one correlation time
    correlation = [np.corrcoef(c[:-later], c[later:])[0, 1] for c in noise.T]
    np.testing.assert_allclose(correlation, np.exp(-1.0), atol=0.08)


def test_hysteresis_opens_a_loop_of_its_width() -> None:
    y = np.sin(np.linspace(0.0, 6.0 * np.pi, 3001))[:, None] * np.full(6, [60, 60, 60, 4, 4, 4])
    error = errors.hysteresis(0.005)(y, np.arange(3001.0), np.random.default_rng(0)) - y
    np.testing.assert_allclose(error[1000:].max(axis=0), 0.005 * errors.FULL_SCALE, rtol=1e-6)
    np.testing.assert_allclose(error[1000:].min(axis=0), -0.005 * errors.FULL_SCALE, rtol=1e-6)


def test_each_static_error_has_its_size() -> None:
    y = np.tile(errors.FULL_SCALE, (2, 1)) * [[0.5], [-0.5]]
    t = np.arange(2.0)
    gaps = {name: np.array([effect(y, t, np.random.default_rng(k)) - y for k in range(3000)])
            / errors.FULL_SCALE for name, effect in {
                "gain": errors.gain(0.01), "cross-talk": errors.cross_talk(0.01),
                "non-linearity": errors.non_linearity(0.01)}.items()}
    wanted = {"gain": 0.5 * 0.01, "cross-talk": 0.5 * 0.01 * np.sqrt(5.0),
              "non-linearity": 0.25 * 0.01}
    for name, gap in gaps.items():
        np.testing.assert_allclose(gap.std(axis=0), wanted[name], rtol=0.08, err_msg=name)
        np.testing.assert_allclose(gap[:, 0], -gap[:, 1], atol=1e-12)  # odd about zero
    steps = errors.steps(0.2, 0.01)(y + 0.004, t, np.random.default_rng(0))
    np.testing.assert_allclose(steps / np.repeat([0.2, 0.01], 3) % 1.0 % 1.0, 0.0, atol=1e-6)


def test_errors_of_the_mounting_have_their_size() -> None:
    """A turned sensor keeps the length of the force; a cable pulls with at least 2 N."""
    none = {"white": (0.0, 0.0)}
    plain = simulate(Source("none", **none), 6)
    force = [(r.wrench - r.bias)[:, :3] for r in (
        plain, simulate(Source("turned", turned=5.0, **none), 6),
        simulate(Source("cable", cable=(2.0, 5.0), **none), 6))]
    length = np.linalg.norm(force[0], axis=1)
    np.testing.assert_allclose(np.linalg.norm(force[1], axis=1), length, rtol=1e-9)
    angle = np.linalg.norm(force[1] - force[0], axis=1) / length
    assert angle.max() < np.deg2rad(5.0)
    pull = np.linalg.norm(force[2] - force[0], axis=1)
    assert pull.min() == pytest.approx(2.0) and pull.max() < 10.0


def test_a_wrong_shape_lies_elsewhere_than_the_payload() -> None:
    exact = simulate("white", 9).payload.hint
    moved, turned, scaled = (simulate(name, 9).payload.hint for name in (
        "shape-moved", "shape-turned", "shape-scaled"))
    shift = np.subtract(moved["shape.center"], exact["shape.center"])
    assert 0.001 <= np.linalg.norm(shift) <= 0.03
    assert moved["shape.size"] == exact["shape.size"] == turned["shape.size"]
    angle = Rotation.from_euler("xyz", turned["shape.rpy"]).magnitude()
    assert 0.0 < angle <= np.deg2rad(20.0)
    factors = np.divide(scaled["shape.size"], exact["shape.size"])
    np.testing.assert_allclose(factors, factors[0])
    assert 0.7 <= factors[0] <= 1.5 and factors[0] != 1.0


@pytest.mark.parametrize("name", ["arrival-jitter", "arrival-bursts"])
def test_stamps_of_arrivals_are_late_and_in_order(name: str) -> None:
    exact, late = simulate("white", 7), simulate(name, 7)
    delay = (late.joint_stamps - exact.joint_stamps) * 1e-9
    assert np.all(np.diff(late.joint_stamps) > 0) and np.all(np.diff(late.wrench_stamps) > 0)
    assert delay.min() >= 0.0 and 0.002 < delay.mean() < 0.008
    gaps = np.diff(late.joint_stamps) * 1e-9
    if name == "arrival-bursts":
        assert 0.7 < np.mean(gaps < 1.1e-4) < 0.9  # of four to eight samples


def test_a_good_sensor_is_identified_from_the_arrays() -> None:
    recording = simulate("ati", 8, Draw(speeds=(1.0, 1.0), lengths=(8.0,), kinds=("joints",)))
    outcome = identifier_of(recording, {}).solve()
    assert outcome.valid
    assert np.all(np.abs(outcome.report - recording.truth) < 5.0 * outcome.sigma)
    assert outcome.report[0] == pytest.approx(recording.truth[0], rel=0.01)


def test_the_settings_of_every_source_can_be_used() -> None:
    for source in SOURCES.values():
        Settings().replace(source_settings(source))
    assert source_settings(SOURCES["ur-config"])["wrench.topic"].endswith("/wrench")


def row(z: float, share: float, verdict: int = 2, **more: object) -> dict[str, object]:
    """A run with this error of the mass, in standard deviations and relative to it."""
    out: dict[str, object] = {
        "source": "white", "motion": "teach", "seconds": 4.0, "failure": "", "false": "",
        "findings": "verdict:info", "least_mass_sd": 0.024, **more}
    for name in PARAMETER_NAMES:
        true = 1.0 if name in ("mass", "ixx", "iyy", "izz") else 0.0
        gap = share if name == "mass" else 0.0
        out |= {f"true_{name}": true, f"got_{name}": true + gap, f"verdict_{name}": verdict,
                f"sd_{name}": gap / z if gap else 1.0}
    return out


def test_the_least_error_of_the_mass_is_that_of_least_squares_with_all_samples() -> None:
    """White noise: the bound of the other benchmarks. Wandering: a dense covariance of samples."""
    plain = simulate("white", 12, Draw(lengths=(4.0,)))
    information = bounds.information(plain.exact, np.repeat(plain.source.white, 3), False)
    wanted = np.sqrt(np.linalg.inv(information)[0, 0])
    assert least_mass_sd(plain) == pytest.approx(wanted, rel=0.02)
    wandering = simulate("ur", 12, Draw(lengths=(4.0,)))
    motion, times = wandering.exact, np.arange(2000) * PERIOD
    a = regressor(motion.proper, motion.omega, motion.alpha)
    shape = np.exp(-np.abs(np.subtract.outer(times, times)) / 3.0)
    total = np.diag(np.r_[np.zeros(10), bounds.BIAS_PRIOR**-2.0])
    for channel in range(6):
        sd, white = ((1.2, 0.5), (0.06, 0.03))[channel // 3]
        columns = np.zeros((2000, 16))
        columns[:, :10], columns[:, 10 + channel] = a[:, channel], 1.0
        covariance = sd**2 * shape + white**2 * np.eye(2000)
        total += columns.T @ np.linalg.solve(covariance, columns)
    assert least_mass_sd(wandering) == pytest.approx(np.sqrt(np.linalg.inv(total)[0, 0]), rel=0.02)


def test_a_summary_counts_what_the_rows_say() -> None:
    s = summarise([row(0.5, 0.01), row(-0.9, -0.02), row(3.0, 0.06), row(-1.5, -0.06, verdict=0),
                   {**row(1.0, 0.1, least_mass_sd=0.026), "failure": "none", "false": "contact",
                    "findings": "contact:info other:warning"}])
    assert (s.runs, s.failed, s.knowable, s.false) == (5, 1, 80.0, 20.0)
    assert s.coverage["mass"] == (25.0, 50.0, 75.0)
    assert s.z["mass"] == pytest.approx(np.sqrt(np.mean(np.square([0.5, 0.9, 3.0, 1.5]))))
    assert s.median["mass"] == pytest.approx(4.0)
    assert s.claimed["mass"] == 75.0 and s.beyond["mass"] == pytest.approx(100.0 / 3.0)
    assert s.names == {"contact": 1} and s.findings == {"other": 1} and s.reasons == {"none": 1}


def test_the_tables_mark_what_is_not_wanted() -> None:
    good = [row(z, 0.001 * z) for z in np.linspace(-2.0, 2.0, 41)]
    assert "**" not in tables.summary_page(good)[6].split("|")[7].split("/")[0]
    bad = tables.summary_page([row(3.0, 0.06)])[6]
    assert bad.count("**0**") and "**3.0**" in bad and "**100.0**" in bad


def test_the_command_keeps_its_runs_and_goes_on_with_them(tmp_path, capsys) -> None:
    command = ["--sources", "white", "gain", "--seconds", "4", "--output", str(tmp_path)]
    assert main([*command, "--runs", "1"]) == 0
    lines = [text for text in capsys.readouterr().out.splitlines() if text.startswith(("wh", "ga"))]
    assert [text.split()[1] for text in lines] == ["0/1", "0/1"]
    before = (tmp_path / "runs.csv").read_text()
    assert main([*command, "--runs", "2", "--resume"]) == 0
    rows = read(tmp_path / "runs.csv")
    assert (tmp_path / "runs.csv").read_text().startswith(before)
    assert [(r["source"], r["seed"]) for r in rows] == [
        ("white", 1000), ("gain", 1000), ("white", 1001), ("gain", 1001)]
    page = (tmp_path / "summary.md").read_text()
    (tmp_path / "summary.md").unlink()
    assert tables.main(["--input", str(tmp_path)]) == 0
    assert (tmp_path / "summary.md").read_text() == page and "| gain | 2 |" in page
    assert main([*command, "--settings", "no.such=1"]) == 2
    assert json.loads((tmp_path / "asked.json").read_text())["seconds"] == [4.0]


def test_the_page_holds_every_part_that_there_is(tmp_path) -> None:
    own = tmp_path / "real_sensors"
    assert main(["--sources", "white", "--runs", "1", "--seconds", "4", "--output", str(own)]) == 0
    (tmp_path / "real_sensors_compared").mkdir()
    (tmp_path / "real_sensors_compared" / "compared.md").write_text("# `density` against others\n")
    target = tmp_path / "page.md"
    assert tables.main(["--input", str(own), "--page", str(target)]) == 0
    text = target.read_text()
    assert "## Random payloads\n\nSeeds 1000 to 1000.\n" in text and "| white | 1 |" in text
    assert "## Modular objects" not in text and "\n## `density` against others\n" in text


def test_the_comparison_pairs_runs_and_lists_what_loses(tmp_path, capsys) -> None:
    assert compare.main(["--runs", "2", "--seconds", "4", "--output", str(tmp_path)]) == 0
    rows = read(tmp_path / "runs.csv")
    assert [r["estimator"] for r in rows] == 2 * [*compare.ESTIMATORS]
    own, wls = (np.array([r["e_m"] / r["crb_e_m"] for r in rows if r["estimator"] == name])
                for name in ("density", "wls"))
    found = compare.ratio(rows, "e_m", "wls")
    assert found[:2] == pytest.approx(ratio_of_means(own, wls)[2:])
    assert found.pairs == 2 and found.own == pytest.approx(own.mean())
    assert "## Mass" in capsys.readouterr().out


def test_a_cell_that_loses_is_measured_again(tmp_path, monkeypatch) -> None:
    def losing(task: tuple[str, int], draw: Draw, changes: dict[str, object],
               cell: str = "") -> list[dict]:
        kinds.append(draw.kinds)
        ratio = 1.01 if cell else 1.2
        return [{"source": task[0], "seed": task[1], "motion": "teach", "seconds": 4.0,
                 "speed": 0.3, "estimator": name, "cell": cell, "failure": "",
                 "e_m": error, "e_com": 1.0, "e_J": 1.0, **bounds}
                for name, error in (("density", ratio), ("wls", 1.0))]

    bounds = {f"crb_{key}": 1.0 for key in compare.ERRORS}
    kinds: list[tuple[str, ...]] = []
    monkeypatch.setattr(compare, "_run", losing)
    command = ["--runs", "10", "--again", "3", "--output", str(tmp_path)]
    assert compare.main(command) == 0
    text = (tmp_path / "compared.md").read_text()
    assert "white, teach, mass: 1.20 ± 0.00 of `wls` (10 runs); on 3 " in text
    assert "fresh runs 1.01 ± 0.00" in text and "centre of mass: 1." not in text
    assert kinds[:10] == 10 * [KINDS] and ("teach",) in kinds[10:]
    calls = len(kinds)
    assert compare.main([*command, "--resume"]) == 0
    assert len(kinds) == calls and (tmp_path / "compared.md").read_text() == text
