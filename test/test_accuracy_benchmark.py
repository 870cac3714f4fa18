"""The accuracy benchmark: its objects, motions, metrics and bounds are what they say."""

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.accuracy import bounds, metrics, run, sensors, tables
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
from benchmarks.accuracy.scenarios import SCENARIOS
from benchmarks.accuracy.sensors import rigid_body_wrench
from benchmarks.accuracy.trials import identification_settings
from benchmarks.accuracy.trials import run as run_trial
from inertial_id_ros.inertia import body_from_phi, is_consistent
from inertial_id_ros.newton_euler import regressor
from inertial_id_ros.simulation.description import load_description
from inertial_id_ros.simulation.engine import ArmEngine

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
    assert mesh.contains(np.c_[HOLES, np.full(len(HOLES), 0.025)]).all()


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


def test_the_benchmark_answers_as_the_product_does() -> None:
    item, rng = objects("modular")[0], np.random.default_rng(5)
    scenario = SCENARIOS["bias-1.5"]
    settings = identification_settings(scenario, {"estimator.method": "lmi"})
    t = np.arange(200) / 100.0
    exact = sensor_motion(LAWS["sinusoid"](1.5, rng)(t))
    wrench = -rigid_body_wrench(item.phi, exact) + 0.01 * rng.normal(size=(200, 6))
    direct = run_identifier(t, exact.q, wrench, settings, item.shape).solve()
    data = from_recording(t, exact.q, wrench, settings)
    answer = Answers().solve(data, item.shape, settings, ["lmi"])["lmi"]
    np.testing.assert_allclose(answer.phi, direct.phi, atol=1e-9)
    np.testing.assert_allclose(answer.covariance, direct.phi_covariance, rtol=1e-6, atol=1e-12)


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


def test_the_command_writes_tables_and_plots_and_refuses_unknown_names(tmp_path, capsys) -> None:
    assert run.main(["--scenario", "encoder-3", "--estimator", "wls", "--quick",
                     "--output", str(tmp_path)]) == 0
    assert {f.name for f in tmp_path.iterdir()} >= {
        "runs.csv", "objects.csv", "summary.csv", "summary.md", "errors.png", "coverage.png"} - (
        {"coverage.png"})  # only where `density` was run
    assert "`uniform`" in (tmp_path / "summary.md").read_text()
    assert len(tables.grouped([{"a": 1}, {"a": 2}, {"a": 1}], "a")) == 2
    assert run.main(["--scenario", "nonsense"]) == 2
    assert run.main(["--estimator", "nonsense"]) == 2
    assert run.main(["--set", "estimator.rate=-1"]) == 2
    assert "Traceback" not in capsys.readouterr().err
