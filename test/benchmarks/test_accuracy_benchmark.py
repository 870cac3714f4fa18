# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The accuracy benchmark: its objects, motions, metrics and bounds are what they say."""

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.accuracy import (
    bounds,
    coverage,
    metrics,
    never_worse,
    records,
    results,
    run,
    sensors,
    special_tables,
    tables,
)
from benchmarks.accuracy.families import ARM
from benchmarks.accuracy.families import objects as family_objects
from benchmarks.accuracy.motions import LAWS, SensorMotion, sensor_motion
from benchmarks.accuracy.objects import (
    CONFIGURATIONS,
    HOLES,
    POOR,
    h_mesh,
    modular_phi,
    objects,
    tool_files,
)
from benchmarks.accuracy.product import Answers, from_recording, run_identifier
from benchmarks.accuracy.scenarios import NEVER_WORSE, SCENARIOS
from benchmarks.accuracy.sensors import rigid_body_wrench
from benchmarks.accuracy.trials import identification_settings
from benchmarks.accuracy.trials import run as run_trial
from benchmarks.accuracy.true_shapes import true_shape
from benchmarks.consistency import KINDS, outcome, recording
from inertial_id_ros.apps.simulation.cobot import ArmEngine
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.estimators import create, estimator_names
from inertial_id_ros.inertia import body_from_phi, is_consistent, point_columns
from inertial_id_ros.regression.newton_euler import regressor
from inertial_id_ros.settings import Settings

pytestmark = pytest.mark.slow

# mass kg, COM y and z mm from the sensor, inertia about the COM xx, yy, zz in 1e-3 kg m^2
PUBLISHED = {
    "hammer": (1.1773, 159.6, 25.0, 13.073, 2.601, 15.310),
    "barbell": (1.3793, 26.0, 25.0, 18.092, 3.473, 21.179),
    "tee": (1.4123, 101.8, 25.0, 13.531, 2.623, 15.764),
    "uniform": (1.7153, 124.2, 25.0, 19.576, 3.505, 22.659),
    "corners": (1.1093, 123.8, 25.0, 15.100, 3.448, 18.191),
    "rod": (1.3113, 124.0, 25.0, 13.226, 1.760, 14.607),
    "half-n-half": (1.2953, 154.8, 25.0, 13.928, 2.755, 16.307),
    "empty": (0.7053, 123.1, 25.0, 8.749, 1.703, 10.138),
}


@pytest.fixture(scope="module")
def motion() -> SensorMotion:
    rng = np.random.default_rng(3)
    return sensor_motion(LAWS["sinusoid"](1.5, rng)(np.arange(100) / 100.0))


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_modular_objects_have_the_published_mass_com_and_inertia(name: str) -> None:
    mass, y, z, *moments = PUBLISHED[name]
    body = body_from_phi(modular_phi(name))
    assert body.mass == pytest.approx(mass, abs=6e-5)
    assert body.com * 1e3 == pytest.approx([0.0, y, z], abs=0.08)
    assert np.diag(body.inertia_com) * 1e3 == pytest.approx(moments, abs=0.006)
    assert is_consistent(modular_phi(name))


def test_the_outline_of_the_modular_object_is_a_closed_h_of_the_stated_volume() -> None:
    mesh = h_mesh()
    assert mesh.is_watertight and mesh.is_winding_consistent
    assert mesh.volume == pytest.approx(1.5e-3)
    for x, y in HOLES:
        assert solid_angle(mesh.triangles - [x, y, 0.025]) == pytest.approx(4.0 * np.pi)


def solid_angle(triangles: np.ndarray) -> float:
    """That of triangles (n, 3, 3) seen from the origin (Van Oosterom and Strackee 1983, eq. 8):
    4 pi within a closed surface, 0 outside of it."""
    a, b, c = triangles.transpose(1, 0, 2)
    x, y, z = (np.linalg.norm(corner, axis=1) for corner in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    rest = (x * y * z + (a * b).sum(1) * z + (a * c).sum(1) * y + (b * c).sum(1) * x)
    return float(2.0 * np.arctan2(volume, rest).sum())


def test_every_object_reaches_no_farther_than_the_shape_that_is_told() -> None:
    for family in ("modular", "poor"):
        for item in objects(family):
            low, high = item.shape.bounds
            com = body_from_phi(item.phi).com
            assert np.all(com > low) and np.all(com < high)
            assert high - low == pytest.approx(item.lengths, rel=1e-6)


def test_the_poor_hammer_has_four_fifths_of_its_mass_in_a_head_at_the_edge() -> None:
    hammer = POOR[0]
    head = hammer.parts[1]
    assert head.mass / hammer.mass == pytest.approx(0.8)
    edge = hammer.bounding_box[1][0]
    assert head.center[0] + head.half_extent()[0] == pytest.approx(edge)


@pytest.mark.parametrize(("name", "percent"), [("hammer", 81.6), ("offset", 32.7),
                                               ("heavy", 27.5), ("gripper", 13.5)])
def test_an_even_box_is_as_wrong_about_the_poor_shapes_as_stated(name: str, percent: float) -> None:
    item = next(o for o in objects("poor") if o.name == name)
    even = item.shape.uniform(item.phi[0])
    assert metrics.errors(even, item.phi, item.lengths).inertia == pytest.approx(percent, rel=0.05)


def test_the_wrench_of_the_benchmark_is_that_of_mujoco_and_of_the_regressor() -> None:
    joints = LAWS["sinusoid"](2.0, np.random.default_rng(1))(np.arange(50) / 50.0)
    engine = ArmEngine(load_description().urdf, POOR[0], np.array([0.0, 0.0, -9.81]))
    at = engine.evaluate(*joints)
    exact = SensorMotion(joints.q, at.rotation, at.a_g - 9.81 * at.rotation[:, 2], at.omega,
                         at.alpha)
    wrench = rigid_body_wrench(POOR[0].phi, exact)
    np.testing.assert_allclose(wrench, at.wrench, atol=1e-9)
    a = regressor(exact.proper_acceleration(), exact.omega, exact.alpha)
    np.testing.assert_allclose(a @ POOR[0].phi, wrench, atol=1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_velocities_and_accelerations_are_derivatives_of_the_positions(name: str) -> None:
    law = LAWS[name](1.0, np.random.default_rng(0))
    t, h = np.linspace(0.3, 5.3, 40), 1e-4
    before, at, after = law(t - h), law(t), law(t + h)
    np.testing.assert_allclose((after.q - before.q) / (2 * h), at.dq, atol=1e-5)
    np.testing.assert_allclose((after.dq - before.dq) / (2 * h), at.ddq, atol=2e-4)


def test_the_sinusoid_has_about_the_mean_angular_speed_that_is_asked_for() -> None:
    speeds = [np.linalg.norm(sensor_motion(LAWS["sinusoid"](1.5, np.random.default_rng(k))(
        np.linspace(0.0, 10.0, 200))).omega, axis=1).mean() for k in range(8)]
    assert np.mean(speeds) == pytest.approx(1.5, rel=0.1)


def test_errors_are_zero_at_the_truth_and_follow_the_published_formulas() -> None:
    item = objects("modular")[0]
    assert metrics.errors(item.phi, item.phi, item.lengths) == (0.0, 0.0, 0.0, 0.0)
    wrong = item.phi.copy()
    wrong[4] += 1e-3  # ixx
    a = item.lengths
    expected = 100.0 / 6.0 * 1e-3 / (item.phi[0] / 12.0 * (a[1]**2 + a[2]**2))
    assert metrics.errors(wrong, item.phi, a).inertia == pytest.approx(expected)
    wrong = item.phi.copy()
    wrong[5] += 1e-3  # ixy
    expected = 100.0 / 6.0 * 1e-3 / (item.phi[0] / 12.0 * a[0] * a[1])
    assert metrics.errors(wrong, item.phi, a).inertia == pytest.approx(expected)


def test_intervals_of_an_exact_gaussian_cover_95_percent() -> None:
    rng, item = np.random.default_rng(2), objects("poor")[1]
    root = 1e-4 * np.diag(np.abs(item.phi) + 0.01)
    inside = [np.abs(metrics.deviations(item.phi + root @ rng.normal(size=10), root @ root.T,
                                        item.phi)) < metrics.INTERVAL for _ in range(400)]
    assert np.mean(inside) == pytest.approx(2.0 * norm.cdf(metrics.INTERVAL) - 1.0, abs=0.01)


def test_least_squares_on_exact_kinematics_reaches_the_unbiased_bound(
        motion: SensorMotion) -> None:
    item, noise = objects("poor")[2], sensors.MODERATE.wrench
    bound = bounds.unbiased(bounds.information(motion, noise, True), item.phi, item.lengths)
    a = regressor(motion.proper_acceleration(), motion.omega, motion.alpha) / noise[:, None]
    rows, rng, found = a.reshape(-1, 10), np.random.default_rng(0), []
    for _ in range(300):
        phi = np.linalg.lstsq(rows, rows @ item.phi + rng.normal(size=len(rows)), rcond=None)[0]
        found.append(metrics.errors(phi, item.phi, item.lengths))
    mean = np.mean(found, axis=0)
    assert mean[0] == pytest.approx(bound.mass, rel=0.1)
    assert mean[2] == pytest.approx(bound.inertia, rel=0.1)


def test_a_prior_and_a_known_bias_only_lower_the_bound(motion: SensorMotion) -> None:
    item, noise = objects("modular")[3], sensors.MODERATE.wrench
    known, unknown = (bounds.information(motion, noise, k) for k in (True, False))
    unbiased = bounds.unbiased(known, item.phi, item.lengths)
    assert unbiased.inertia < bounds.unbiased(unknown, item.phi, item.lengths).inertia
    assert bounds.bayesian(known, item.shape, item.phi, item.lengths).inertia < unbiased.inertia


def test_the_bound_with_unknown_bias_is_that_of_sixteen_unknowns(motion: SensorMotion) -> None:
    noise = sensors.MODERATE.wrench
    a = regressor(motion.proper_acceleration(), motion.omega, motion.alpha)
    b = np.broadcast_to(np.eye(6), (len(a), 6, 6))
    rows = (np.concatenate([a, b], axis=2) / noise[:, None]).reshape(-1, 16)
    prior = np.hstack([np.zeros((6, 10)), np.diag(1.0 / bounds.BIAS_PRIOR)])
    root = np.linalg.inv(np.linalg.qr(np.vstack([rows, prior]), mode="r"))
    covariance = (root @ root.T)[:10, :10]
    given = np.linalg.inv(bounds.information(motion, noise, bias_known=False))
    np.testing.assert_allclose(given, covariance, rtol=1e-4, atol=1e-9 * np.abs(covariance).max())
    settings = Settings().wrench
    assert [settings.force_bias_sd, settings.torque_bias_sd] == list(bounds.BIAS_PRIOR[[0, 3]])


def test_the_bayesian_bound_is_the_error_of_the_posterior_mean_over_the_prior() -> None:
    rng, item, noise = np.random.default_rng(4), objects("modular")[0], sensors.MODERATE.wrench
    short = sensor_motion(LAWS["sinusoid"](1.0, rng)(np.arange(60) / 100.0))
    data = bounds.information(short, noise, True)
    bound = bounds.bayesian(data, item.shape, item.phi, item.lengths)
    gap = item.phi / item.phi[0] - item.shape.unit_phi
    spread = item.phi[0] ** 2 * max(bounds.shape_covariances(item.shape),
                                    key=lambda c: bounds._likelihood(gap, c))
    values, vectors = np.linalg.eigh(spread)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    a = regressor(short.proper_acceleration(), short.omega, short.alpha) / noise[:, None]
    rows = a.reshape(-1, 10)
    seen = rows @ root  # phi = mean + root @ z, z white: ridge regression on z
    gain = np.linalg.solve(seen.T @ seen + np.eye(10), seen.T)
    z = rng.normal(size=(10, 2000))
    missed = root @ (gain @ (seen @ z + rng.normal(size=(len(rows), 2000))) - z)
    scale = metrics.inertia_scale(item.phi[0], item.lengths)
    inertia = 100.0 * np.mean(np.abs(missed[4:]) / scale[:, None])
    assert bound.inertia == pytest.approx(inertia, rel=0.05)
    assert bound.mass == pytest.approx(100.0 * np.mean(np.abs(missed[0])) / item.phi[0], rel=0.08)


def test_ratios_to_the_bounds_are_of_means_and_every_estimator_has_the_same_bound() -> None:
    rows = run_trial(SCENARIOS["encoder-2"], 0, ["wls", "density", "uniform"], {})
    for item in {r["object"] for r in rows}:
        for kind in ("crb", "bcrb"):
            assert len({r[f"{kind}_J"] for r in rows if r["object"] == item}) == 1
    own = [r for r in rows if r["estimator"] == "density"]
    ratio = sum(r["e_J"] for r in own) / sum(r["bcrb_J"] for r in own)
    assert tables.summarise(own)["e_J/bcrb"] == pytest.approx(ratio)


@pytest.mark.parametrize(("name", "estimator", "offset"), [("bias-1.5", "lmi", 0.0),
                                                           ("clock-40", "density", 0.04)])
def test_the_benchmark_answers_as_the_product_does(name: str, estimator: str,
                                                   offset: float) -> None:
    item, rng = objects("modular")[0], np.random.default_rng(5)
    settings = identification_settings(SCENARIOS[name], {"estimator.method": estimator})
    t = np.arange(400) / 100.0
    law = LAWS["sinusoid"](1.5, rng)
    q, measured = law(t).q, sensor_motion(law(t - offset))
    wrench = -rigid_body_wrench(item.phi, measured) + 0.01 * rng.normal(size=(len(t), 6))
    product = run_identifier(t, q, wrench, settings, item.shape)
    # It starts where its last tick ended, the benchmark at nothing.
    known = product._known
    known.solver = known.solver.with_settings(known.solver._settings)
    product.set_shape(item.shape)
    direct = product.solve()
    data = from_recording(t, q, wrench, settings, item.shape)
    answer = Answers().solve(data, item.shape, settings, [estimator])[estimator]
    np.testing.assert_allclose(answer.phi, direct.phi, atol=1e-9)
    np.testing.assert_allclose(answer.covariance, direct.phi_covariance, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(answer.alignment, direct.alignment, atol=1e-9)
    assert answer.alignment[5] == pytest.approx(-offset, abs=0.002)
    assert data.removed[5] == pytest.approx(-offset, abs=0.003)


def test_the_correct_prior_is_the_true_shape_filled_evenly_about_the_sensor() -> None:
    """Against a dense cloud: the distance to the sensor counts once, and only solid parts count."""
    for item, payload in zip(objects("poor"), POOR, strict=True):
        low, high = payload.bounding_box
        rng = np.random.default_rng(0)
        cloud = rng.uniform(low, high, (400_000, 3))
        inside = np.zeros(len(cloud), dtype=bool)
        for part in payload.parts:
            local = (cloud - part.center) @ part.rotation
            if part.shape == "box":
                inside |= np.all(np.abs(local) <= 0.5 * np.array(part.size), axis=1)
            else:
                inside |= ((np.hypot(local[:, 0], local[:, 1]) <= part.size[0])
                           & (np.abs(local[:, 2]) <= 0.5 * part.size[1]))
        columns = point_columns(cloud[inside])
        even, error = columns.mean(axis=1), columns.std(axis=1) / np.sqrt(inside.sum())
        gap = true_shape("poor", item).unit_phi - even
        assert np.all(np.abs(gap) <= 5.0 * error + 1e-12)
        # Of these two the bounding box is another prior.
        assert (item.name in ("hammer", "gripper")) == bool(
            np.any(np.abs(item.shape.unit_phi - even) > 20.0 * error + 1e-12))
    modular = objects("modular")[0]
    assert true_shape("modular", modular) is modular.shape


def test_every_row_set_has_uniform_and_the_entropic_estimator_with_the_correct_prior() -> None:
    for name, same in (("encoder-2", True), ("poor-1s-1.5", False), ("shape-pose", False)):
        rows = run_trial(SCENARIOS[name], 0, ["entropic", *run.ALWAYS], {})
        by = tables.grouped(rows, "estimator")
        assert {e for e, in by} == {"entropic", "uniform", "entropic-true"}
        pairs = zip(by[("entropic",)], by[("entropic-true",)], strict=True)
        assert all(a["e_J"] == b["e_J"] for a, b in pairs) is same


def test_the_arm_is_close_to_what_was_published_of_it() -> None:
    published = [1.844, 0.059, 0.004, 0.204, *special_tables.PUBLISHED_MOVES[0.5][1]]
    # Table I on the two fastest paths differs by 0.024 kg, 0.002 kg m and 0.003 kg m^2.
    np.testing.assert_allclose(ARM.phi, published, atol=0.005)
    assert is_consistent(ARM.phi) and family_objects("arm")[0].name == "arm"


def test_uniform_refuses_rather_than_return_a_negative_mass() -> None:
    rng, shape = np.random.default_rng(1), objects("poor")[0].shape
    uniform = create(Settings(), "uniform")
    found = {outcome(uniform, recording(rng, KINDS[k % len(KINDS)]), shape) for k in range(400)}
    assert found == {"body", "refused"}


def test_runs_with_the_same_seed_are_equal_and_other_seeds_differ() -> None:
    scenario = SCENARIOS["encoder-2"]
    first, again, other = (run_trial(scenario, k, ["wls"], {}) for k in (0, 0, 1))
    assert [r["e_J"] for r in first] == [r["e_J"] for r in again]
    assert all(a["e_J"] != b["e_J"] for a, b in zip(first, other, strict=True))


@pytest.mark.skipif(not tool_files(), reason="data folder with the workshop tools is missing")
def test_stored_wrenches_of_the_tools_are_those_of_their_stored_truth() -> None:
    from benchmarks.accuracy.trials import _stored_tool

    for index, item in enumerate(objects("tools")):
        exact, wrench = _stored_tool(index)
        np.testing.assert_allclose(rigid_body_wrench(item.phi, exact), wrench, atol=1e-10)
        low, high = item.shape.bounds
        assert np.all(high - low < 1.3 * item.lengths + 0.01)


def test_the_command_writes_tables_and_refuses_unknown_names(tmp_path, capsys) -> None:
    command = ["--scenario", "encoder-3", "--estimator", "wls", "density", "--runs", "1",
               "--output", str(tmp_path)]
    assert run.main(command) == 0
    assert {f.name for f in tmp_path.iterdir()} == {
        "asked.json", "runs.csv", "objects.csv", "summary.csv", "summary.md"}
    for name in run.ALWAYS:
        assert f"`{name}`" in (tmp_path / "summary.md").read_text()
    assert len(tables.grouped([{"a": 1}, {"a": 2}, {"a": 1}], "a")) == 2
    assert results.main(["--input", str(tmp_path), "--output", str(tmp_path / "R.md")]) == 0
    assert "| encoder-3 | 8 |" in (tmp_path / "R.md").read_text()
    assert results.main(["--input", str(tmp_path / "none")]) == 1
    before = (tmp_path / "runs.csv").read_text()
    command[-3] = "2"
    assert run.main([*command, "--resume"]) == 0
    after = (tmp_path / "runs.csv").read_text()
    assert after.startswith(before) and len(records.read(tmp_path / "runs.csv")) == 2 * 8 * 4
    assert run.main([*command, "--resume", "--set", "kinematics.filter_window=0.2"]) == 2
    assert run.main(["--scenario", "nonsense"]) == 2
    assert run.main(["--estimator", "nonsense"]) == 2
    assert run.main(["--set", "estimator.rate=-1"]) == 2
    assert coverage.main(["--estimator", "nonsense"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_line_that_an_interrupt_cut_off_is_forgotten(tmp_path) -> None:
    kept = records.Records(tmp_path, {}, resume=False)
    kept.add([{"scenario": "a", "object": "o", "run": 0, "estimator": "wls", "failure": "",
               "e_J": 1.0 / 3.0}])
    with kept.path.open("a") as file:
        file.write("a,o,1,wls,,0.2")
    rows = records.read(records.Records(tmp_path, {}, resume=True).path)
    assert rows == [{"scenario": "a", "object": "o", "run": 0, "estimator": "wls", "failure": "",
                     "e_J": pytest.approx(1.0 / 3.0)}]


def test_the_standard_error_of_a_ratio_is_that_of_many_repeats() -> None:
    rng = np.random.default_rng(6)

    def pairs(n: int) -> np.ndarray:
        common = rng.gamma(4.0, size=n)
        return np.array([common + 0.3 * rng.normal(size=n), 0.8 * common + rng.gamma(2.0, size=n)])

    repeats = [never_worse.ratio_of_means(*pairs(50)) for _ in range(800)]
    spread = np.std([r[2] for r in repeats])
    assert np.mean([r[3] for r in repeats]) == pytest.approx(spread, rel=0.1)


def test_never_worse_has_every_length_speed_and_family_and_lists_the_worst_first() -> None:
    assert len(NEVER_WORSE) == 9 * 4 * 2
    rows = [{"scenario": "never-worse-poor-1s-1", "object": item, "run": k, "estimator": e,
             "failure": "", "e_J": value, "e_m": 1.0, "e_com": 1.0}
            for item, ours in (("good", 1.0), ("bad", 3.0)) for k in range(3)
            for e, value in (("density", ours), ("wls", 2.0))]
    found = never_worse.cells(rows, "e_J")
    assert [(c.item, c.ratio, c.error) for c in found] == [("bad", 1.5, 0.0), ("good", 0.5, 0.0)]
    assert any("1 of 2 cells above 1.1" in line for line in never_worse.markdown(rows))
    again = [{**r, "run": never_worse.FRESH + r["run"]} for r in rows]
    text = "\n".join(never_worse.markdown([*rows, *again]))
    assert "inertia: 1 of 2 cells above 1.1, 1 by two standard errors" in text
    assert "| poor-1s-1 | bad | 3 | 3 | 2 | 1.50 ± 0.00 |" in text


def test_coverage_says_which_parameter_and_which_object_miss() -> None:
    text = "".join(coverage.verdicts({"mass": 95.0, "ixx": 98.5},
                                     {"a": {"mass": 84.0, "ixx": 99.0}}))
    assert text.count("**no**") == 2 and "ixx 98.5" in text and "a mass 84" in text
    assert "no**" not in "".join(coverage.verdicts({"mass": 92.0}, {"a": {"mass": 85.0}}))


def test_targets_of_the_scenarios_can_be_read() -> None:
    assert results.wanted(SCENARIOS["encoder-2"]) == [0.06, 0.08, 1.4]
    assert results.wanted(SCENARIOS["poor-3s-1"])[2] == 7.0
    assert np.isnan(results.wanted(SCENARIOS["clock-40"])).all()


def test_what_each_estimator_needs_and_guarantees_is_said_of_all() -> None:
    names = estimator_names()
    assert {"density", "uniform", "ols", "rtls"} <= set(names)
    rows = tables.estimators()[2:2 + len(names)]
    for name, row in zip(names, rows, strict=True):
        assert row.startswith(f"| `{name}` | ") and "|  |" not in row
        promise = create(Settings(), name).guarantees_consistency
        assert row.endswith(" | a body |") is promise
