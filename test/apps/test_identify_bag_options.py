# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings and printed report of `identify_bag`, without a recording."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from inertial_id_ros.apps.bag.identify_bag import parse_options
from inertial_id_ros.apps.bag.output import print_report
from inertial_id_ros.apps.report.diagnosis import diagnose
from inertial_id_ros.apps.report.results import round_to_spread
from inertial_id_ros.arguments import VERSION
from inertial_id_ros.errors import InvalidSetting
from inertial_id_ros.estimate import Estimate
from inertial_id_ros.settings import SENSORS

# ---- settings -----------------------------------------------------------------------------------

def test_the_command_line_wins_over_the_file_and_the_file_over_defaults(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text("wrench: {topic: /from_file, noise: [0.3, 0.02]}\nestimator.rate: 4\n"
                    "wrench.gain_error: 1e-2\n")
    options = parse_options(["bag", "--config", str(file), "--wrench-topic", "/from_line",
                             "--set", "estimator.max_mass=2"])
    settings = options.settings
    assert settings.wrench.topic == "/from_line" and settings.wrench.noise == (0.3, 0.02)
    assert settings.estimator.rate == 4.0 and settings.estimator.max_mass == 2.0
    assert settings.wrench.gain_error == 1e-2
    assert options.asked == {"wrench.topic", "estimator.max_mass"}


def test_a_ros_parameter_file_is_accepted_and_its_node_parameters_are_left_out(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text("/**:\n  ros__parameters:\n    use_sim_time: true\n    wrench:\n"
                    "      convention: on_environment\n    estimator.method: wls\n")
    settings = parse_options(["bag", "--config", str(file)]).settings
    assert settings.wrench.convention == "on_environment" and settings.estimator.method == "wls"


def test_the_window_is_a_number_of_seconds_or_the_whole_recording():
    options = parse_options(["bag", "--window", "120"])
    assert (options.settings.buffer.window, options.whole) == (120.0, False)
    options = parse_options(["bag", "--window", "all"])
    assert (options.settings.buffer.window, options.whole) == (30.0, True)
    with pytest.raises(InvalidSetting, match="--window most: expected seconds or 'all'"):
        parse_options(["bag", "--window", "most"])


def test_a_sensor_on_the_command_line_replaces_that_of_the_file_but_no_value_of_the_file(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text("wrench: {sensor: ur_e_series, noise: [0.3, 0.02]}\n")
    wrench = parse_options(["bag", "--config", str(file), "--sensor", "ati_gamma"]).settings.wrench
    assert wrench.sensor == "ati_gamma" and wrench.noise == (0.3, 0.02)
    assert wrench.range == SENSORS["ati_gamma"].range
    with pytest.raises(InvalidSetting, match="ati_gamma"):
        parse_options(["bag", "--sensor", "ati"])


@pytest.mark.parametrize(("words", "kind", "size", "center", "bounding"), [
    (["--box", "0.1,0.2,0.3,0,0.05,-0.1"], "box", (0.1, 0.2, 0.3), (0, 0.05, -0.1), True),
    (["--shape", "box:0.1,0.2,0.3"], "box", (0.1, 0.2, 0.3), (0, 0, 0), True),
    (["--shape", "cylinder:0.05,0.2@0,0,0.1"], "cylinder", (0.05, 0.2), (0, 0, 0.1), True),
    (["--shape", "sphere:0.05"], "sphere", (0.05,), (0, 0, 0), True),
    (["--shape", "part.stl"], "mesh", (), (0, 0, 0), False),
    (["--mesh", "part.stl"], "mesh", (), (0, 0, 0), False)])
def test_shapes_have_short_forms(words, kind, size, center, bounding):
    shape = parse_options(["bag", *words]).settings.shape
    assert (shape.type, shape.size, shape.center, shape.bounding) == (kind, size, center, bounding)
    assert shape.mesh == ("part.stl" if kind == "mesh" else "")


# ---- report -------------------------------------------------------------------------------------

def test_the_report_prints_value_interval_unit_and_verdict_of_every_parameter():
    estimate = Estimate(
        stamp_ns=0, frame_id="tool[0]", phi=np.array([1, 0, 0, 0.1, .02, 0, 0, .02, 0, .01]),
        phi_covariance=np.diag([0.01, *[1e-4] * 3, *[1e-6] * 6])**2, bias=np.arange(6.0),
        method="wls", weighting="noise", data_share=np.ones(10), verdict=(2,) + (1,) * 3 + (0,) * 6,
        alignment=np.zeros(6), alignment_sigma=np.zeros(6), residual_rms=np.full(6, 0.125),
        samples=1234, window=5.0, condition_number=10.0, min_eigenvalue=1e-3, solve_time=0.001)
    result = SimpleNamespace(outcome=estimate, findings=(), duration=6.0, counts={}, history=())
    console = Console(file=io.StringIO(), width=120)
    print_report(console, result, "a [bag]", diagnose(result, None, None), ["a note"])
    text = console.file.getvalue()
    row = next(line for line in text.splitlines() if "mass" in line)
    assert [c.strip() for c in row.strip("│").split("│")] == [
        "mass", "1.000", "± 0.020", "kg", "identified"]
    assert sum("unobserved" in line for line in text.splitlines()) == 6
    assert all(word in text for word in ("1234", "tool[0]", "a [bag]", "a note", "100.0"))


@pytest.mark.parametrize(("value", "spread", "shown"), [
    (0.93312, 0.00447, ("0.9331", "0.0045")), (-0.001, 0.2, ("0.00", "0.20")),
    (1234.5, 250.0, ("1230", "250")), (2.5e9, 3e8, ("2.5e+09", "3e+08")), (1.0, 0.0, ("1", "0"))])
def test_values_are_rounded_to_two_digits_of_their_interval(value, spread, shown):
    assert round_to_spread(value, spread) == shown


def test_a_settings_file_of_the_package_may_be_given_by_its_name() -> None:
    settings = parse_options(["bag", "--config", "ur"]).settings
    assert settings.wrench.sensor == "ur_e_series"
    said = "--config is 'urr'; it must be a YAML file, or one of: default, franka, .*, ur, xarm"
    with pytest.raises(InvalidSetting, match=said):
        parse_options(["bag", "--config", "urr"])


def test_it_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parse_options(["--version"])
    assert end.value.code == 0 and capsys.readouterr().out == f"inertial_id_ros {VERSION}\n"
