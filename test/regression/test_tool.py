# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Tool and object apart: the object alone is estimated, with the tool's uncertainty in it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from synthetic import PointMasses, Recording, identifier, recording
from tool_recordings import BOTH, MINUTE, OBJECT, TOOL, noisy, quiet

from inertial_id_ros.errors import InvalidSetting
from inertial_id_ros.estimate import (
    IDENTIFIED,
    UNOBSERVED,
    Estimate,
    NoEstimate,
    Outcome,
)
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.inertia import is_consistent, phi_from_points
from inertial_id_ros.regression.tool import Tool, load_tool, save_tool, tool_from_estimate

ALIGNED = {"alignment__rotation_sd": 0.0, "alignment__tilt_sd": 0.0, "alignment__delay_sd": 0.0}


def run(made: Identifier, samples: Recording) -> Outcome:
    samples.feed(made, 0.5)
    return made.solve()


def identified_tool(made: Identifier, samples: Recording) -> Tool:
    outcome = run(made, samples)
    assert isinstance(outcome, Estimate), outcome
    return tool_from_estimate(outcome, made.tool)


def phi_of(body: PointMasses) -> np.ndarray:
    return phi_from_points(body.points, body.masses)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["wls", "lmi", "manifold", "ols"])
def test_with_the_tool_stored_the_object_alone_is_estimated(method: str) -> None:
    made = identifier(estimator__method=method)
    made.set_tool(identified_tool(made, quiet("tool")))
    outcome = run(made, quiet("both"))
    assert isinstance(outcome, Estimate), outcome
    assert outcome.tool_apart and is_consistent(outcome.phi)
    truth = OBJECT.report
    np.testing.assert_allclose(outcome.report[0], truth[0], atol=1e-3)
    np.testing.assert_allclose(outcome.report[1:4], truth[1:4], atol=2e-4)
    np.testing.assert_allclose(outcome.report[4:], truth[4:], atol=0.03 * truth[4:].max())


@pytest.mark.slow
@pytest.mark.parametrize("aligned", [True, False], ids=["alignment states", "none"])
def test_mean_and_covariance_are_those_of_the_difference_of_two_gaussians(aligned: bool) -> None:
    """Data say phi_tool + phi_object, so the object is the sum less the tool, and covariances add.
    """
    options = {} if aligned else ALIGNED
    rng = np.random.default_rng(1)
    samples = noisy("both", rng)
    total = run(identifier(**options), samples)
    assert isinstance(total, Estimate)
    tool = identified_tool(identifier(**options), noisy("tool", rng))
    made = identifier(**options)
    made.set_tool(tool)
    outcome = run(made, samples)
    assert isinstance(outcome, Estimate)
    sd = np.sqrt(np.diag(total.phi_covariance + tool.covariance))
    np.testing.assert_allclose((outcome.phi - (total.phi - tool.phi)) / sd, 0.0, atol=1e-2)
    np.testing.assert_allclose(outcome.phi_covariance / np.outer(sd, sd),
                               (total.phi_covariance + tool.covariance) / np.outer(sd, sd),
                               atol=1e-2)


@pytest.mark.slow
def test_errors_of_the_object_are_as_large_as_its_covariance_says() -> None:
    """Normalised squared errors (chi-square, 10) over tools and objects both measured in noise."""
    truth, squares = phi_of(OBJECT), []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        made = identifier(**ALIGNED)
        made.set_tool(identified_tool(made, noisy("tool", rng)))
        outcome = run(made, noisy("both", rng))
        assert isinstance(outcome, Estimate)
        error = outcome.phi - truth
        squares.append(float(error @ np.linalg.solve(outcome.phi_covariance, error)))
    # Mean of 16 chi-squares of 10 degrees: 10 with a standard deviation of 1.1.
    assert 6.0 < np.mean(squares) < 14.0


def test_without_the_tools_covariance_the_errors_would_be_understated() -> None:
    rng = np.random.default_rng(5)
    tool = identified_tool(identifier(), noisy("tool", rng))
    exact = Tool(tool.frame_id, tool.phi, np.zeros((10, 10)), 0)
    sigma = []
    for each in (tool, exact):
        made = identifier()
        made.set_tool(each)
        outcome = run(made, noisy("both", np.random.default_rng(6)))
        assert isinstance(outcome, Estimate)
        sigma.append(outcome.sigma)
    assert (sigma[0] > 1.2 * sigma[1]).all()


def test_compensated_wrenches_are_free_of_tool_and_object() -> None:
    made = identifier()
    made.set_tool(identified_tool(made, quiet("tool")))
    samples = quiet("both")
    run(made, samples)
    later = MINUTE + 8_000_000_000  # a gap, in which the arm came where this begins
    late = recording(seconds=2.0, body=BOTH).moved(later)
    settled = [s for s in late.feed(made, 0.1) if len(s.stamps_ns)]
    forces = np.concatenate([s.wrench for s in settled])[50:, :3]
    assert np.abs(forces).mean() < 0.2 < 0.05 * 9.81 * BOTH.masses.sum()


def test_an_empty_gripper_carries_nothing() -> None:
    made = identifier(estimator__method="lmi")
    rng = np.random.default_rng(2)
    made.set_tool(identified_tool(made, noisy("tool", rng)))
    outcome = run(made, noisy("tool", rng).moved(MINUTE))
    assert isinstance(outcome, Estimate) and outcome.carries_nothing
    assert outcome.verdict == (IDENTIFIED, *9 * (UNOBSERVED,))
    assert outcome.body.mass < 2.0 * outcome.sigma[0] < 0.05


def test_less_than_the_tool_is_said_in_words() -> None:
    made = identifier(estimator__method="lmi")
    heavy = identified_tool(made, quiet("both"))
    made.set_tool(heavy)
    outcome = run(made, quiet("tool").moved(2 * MINUTE))
    assert isinstance(outcome, NoEstimate)
    assert "0.7" in outcome.reason and "lighter than the stored tool" in outcome.reason


def test_a_tool_of_another_frame_is_refused() -> None:
    made = identifier()
    made.set_tool(Tool("elsewhere", phi_of(TOOL), np.eye(10) * 1e-6, 0))
    outcome = run(made, quiet("both"))
    assert isinstance(outcome, NoEstimate)
    assert "'elsewhere'" in outcome.reason and "'tool0'" in outcome.reason


def test_clearing_and_storing_again() -> None:
    made = identifier()
    made.set_tool(identified_tool(made, quiet("tool")))
    run(made, quiet("both"))
    both = tool_from_estimate(made.solve(), made.tool)  # type: ignore[arg-type]
    assert both.phi[0] == pytest.approx(BOTH.masses.sum(), abs=2e-3)
    made.set_tool(None)
    outcome = run(made, quiet("both").moved(MINUTE))
    assert isinstance(outcome, Estimate) and not outcome.tool_apart
    assert outcome.phi[0] == pytest.approx(BOTH.masses.sum(), abs=1e-3)


# ---- files ---------------------------------------------------------------------------------------


def example() -> Tool:
    root = np.random.default_rng(0).normal(size=(10, 10)) * 1e-3
    return Tool("tool0", phi_of(TOOL), root @ root.T, 1_700_000_000_000_000_001)


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    tool = example()
    save_tool(tmp_path / "tool.json", tool)
    again = load_tool(tmp_path / "tool.json")
    assert (again.frame_id, again.stamp_ns) == (tool.frame_id, tool.stamp_ns)
    np.testing.assert_array_equal(again.phi, tool.phi)
    np.testing.assert_allclose(again.covariance, tool.covariance, rtol=1e-15)
    np.testing.assert_allclose(again.root @ again.root.T, tool.covariance, atol=1e-16)
    assert [f.name for f in tmp_path.iterdir()] == ["tool.json"]


def test_a_file_by_hand_needs_no_checksum(tmp_path: Path) -> None:
    path = tmp_path / "tool.json"
    save_tool(path, example())
    tree = json.loads(path.read_text())
    del tree["sha256"]
    path.write_text(json.dumps(tree))
    assert load_tool(path).frame_id == "tool0"


@pytest.mark.parametrize(("change", "words"), [
    (lambda t: t["content"]["phi"].__setitem__(0, 5.0), "checksum"),
    (lambda t: (t.pop("sha256"), t["content"]["phi"].__setitem__(0, -5.0)), "no body"),
    (lambda t: (t.pop("sha256"), t["content"]["phi"].pop()), "'phi'"),
    (lambda t: (t.pop("sha256"), t["content"]["covariance"][0].__setitem__(0, -1.0)), "'covar"),
    (lambda t: (t.pop("sha256"), t["content"]["covariance"][0].__setitem__(1, 1.0)), "symmetric"),
    (lambda t: (t.pop("sha256"), t["content"].__setitem__("frame_id", 5)), "'frame_id'"),
    (lambda t: (t.pop("sha256"), t["content"].__setitem__("phi", [10**400] * 10)), "'phi'"),
    (lambda t: t.__setitem__("version", 2), "version 2"),
    (lambda t: t.__setitem__("format", "other"), "format"),
    (lambda t: t.__setitem__("content", []), "no content"),
])
def test_what_is_no_tool_is_refused_in_words(tmp_path: Path, change, words: str) -> None:
    path = tmp_path / "tool.json"
    save_tool(path, example())
    tree = json.loads(path.read_text())
    change(tree)
    path.write_text(json.dumps(tree))
    with pytest.raises(InvalidSetting, match=str(path)) as caught:
        load_tool(path)
    assert words in str(caught.value) or words == "format" and "tool' file" in str(caught.value)


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "NaN", '{"format": NaN}', "\x00",
                                  "9" * 10_000, "null"])
def test_what_is_no_json_is_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tool.json"
    path.write_text(text)
    with pytest.raises(InvalidSetting, match="cannot be used"):
        load_tool(path)


def test_what_is_no_file_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="cannot be read"):
        load_tool(tmp_path / "nothing.json")
    with pytest.raises(InvalidSetting, match="cannot be"):
        load_tool(tmp_path)
    with pytest.raises(InvalidSetting, match="regular file"):
        load_tool(Path("/dev/zero"))
    (tmp_path / "large").write_bytes(b" " * 1_000_001)
    with pytest.raises(InvalidSetting, match="1000000 bytes"):
        load_tool(tmp_path / "large")
