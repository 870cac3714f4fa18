# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What may be exported of an estimate, from the object and from the JSON that it is saved as."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import payload_documents as read
import pytest
from conftest import ROOT

from inertial_id_ros import api
from inertial_id_ros.apps.export_payload import main
from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.cli import NO_ESTIMATE, OK, USER_ERROR
from inertial_id_ros.errors import InvalidData, NotEnoughData
from inertial_id_ros.estimate import (
    IDENTIFIED,
    PRIOR_DOMINATED,
    UNOBSERVED,
    Estimate,
    NoEstimate,
)
from inertial_id_ros.export import FORMATS, export_estimate, payload_of
from inertial_id_ros.inertia import Body, phi_from_body

BODY = Body(0.8, np.array([0.02, -0.01, 0.07]),
            np.array([[3e-3, 1e-4, 0.0], [1e-4, 2e-3, 2e-4], [0.0, 2e-4, 1.5e-3]]))


def estimate(**changes: Any) -> Estimate:
    made = Estimate(
        stamp_ns=1_234_000_000_567, frame_id="tool0",
        phi=phi_from_body(*BODY), phi_covariance=1e-6 * np.eye(10), bias=np.zeros(6),
        method="lmi", weighting="none", data_share=np.ones(10), verdict=(IDENTIFIED,) * 10,
        alignment=np.zeros(6), alignment_sigma=np.zeros(6), residual_rms=np.zeros(6), samples=500,
        window=5.0, condition_number=10.0, min_eigenvalue=1e-4, solve_time=0.01)
    return replace(made, **changes)


def saved(folder: Path, outcome: Estimate | NoEstimate, **changes: Any) -> Path:
    """The file of an estimate, with other values in its tree."""
    path = folder / "saved.json"
    path.write_text(json.dumps({**outcome.to_json(), **changes}))
    return path


def test_the_payload_is_that_of_the_estimate() -> None:
    payload = payload_of(estimate().to_json())
    read.assert_same(payload.body, BODY)
    assert payload.parent == "tool0" and payload.link == "payload" and payload.notes == ()
    assert payload.source == "lmi on 500 samples, stamp 1234.000000567 s"


@pytest.mark.parametrize(("changes", "said"), [
    ({"stale": True, "stale_reason": "no wrench came"}, "no wrench came"),
    ({"tool_apart": True}, "tool"),
    ({"verdict": (IDENTIFIED,) * 7 + (UNOBSERVED, PRIOR_DOMINATED, UNOBSERVED)}, "iyy, izz"),
    ({"verdict": (PRIOR_DOMINATED,) * 10}, "mass, com.x")])
def test_what_a_user_must_know_is_noted(changes: dict[str, Any], said: str) -> None:
    assert any(said in note for note in payload_of(estimate(**changes).to_json()).notes)


@pytest.mark.parametrize("outcome", [
    NoEstimate(5, "tool0", "the arm did not move"),
    *(estimate(verdict=(*(IDENTIFIED,) * k, UNOBSERVED, *(IDENTIFIED,) * (9 - k)))
      for k in range(4))], ids=lambda outcome: type(outcome).__name__)
def test_without_mass_or_centre_of_mass_nothing_is_exported(outcome: Estimate | NoEstimate) -> None:
    with pytest.raises(NotEnoughData):
        payload_of(outcome.to_json())


@pytest.mark.parametrize(("name", "value"), [
    ("mass", None), ("mass", "heavy"), ("com", [1.0, 2.0]), ("com", {}),
    ("inertia_com", [[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("mass", -1.0), ("inertia_com", np.diag([1.0, 1.0, 5.0]).tolist()), ("verdict", None),
    ("verdict", ["sure"] * 10), ("verdict", [[]] * 10), ("stamp_ns", 1.5)])
def test_a_damaged_file_is_named_with_what_is_wrong(tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(InvalidData, match=f"saved.json .*{name.partition('_')[0]}"):
        export_estimate(saved(tmp_path, estimate(), **{name: value}), "sdf")


# The command

ROBOT = load_description().urdf


@pytest.mark.parametrize("name", FORMATS)
def test_the_command_writes_what_the_library_gives(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    source, robot = saved(tmp_path, estimate()), tmp_path / "arm.urdf"
    robot.write_text(ROBOT)
    arguments = [str(source), "--format", name, "--robot", str(robot), "--parent", "wrist_3_link",
                 "--link", "box"]
    assert main([*arguments, "--output", str(tmp_path / "out")]) == OK
    assert main(arguments) == OK
    document = api.export_payload(estimate(), name, ROBOT, "wrist_3_link", "box")
    printed = capsys.readouterr()
    # The file gives phi back from mass and centre of mass: the last digits may differ.
    assert len(printed.out) > 100 and (tmp_path / "out").read_text() == printed.out
    assert printed.err.count("note: ") == 2 * len(document.notes)
    assert document.text.count("\n") == printed.out.count("\n")
    assert api.export_payload(source, name, ROBOT, "wrist_3_link", "box").text == printed.out


def test_the_command_of_the_page_works_as_it_stands(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "apply.md").read_text()
    (command,) = re.findall(r"^export_payload (.*)$", page, re.M)
    saved(tmp_path, estimate())
    (tmp_path / "arm.urdf").write_text(ROBOT)
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == OK
    read.assert_same(read.pinocchio_link(
        (tmp_path / "arm_with_payload.urdf").read_text(), "payload"), BODY)


def test_the_command_says_in_one_line_what_is_wrong(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = saved(tmp_path, estimate())
    blind = tmp_path / "blind.json"
    blind.write_text(json.dumps(NoEstimate(0, "", "no wrench").to_json()))
    for arguments, status, said in (
            ([str(source)], USER_ERROR, "--format"),
            ([str(source), "--format", "urdf_robot"], USER_ERROR, "needs a robot description"),
            ([str(source), "--format", "sdf", "--output", str(source)], USER_ERROR, "overwrite"),
            ([str(blind), "--format", "sdf"], NO_ESTIMATE, "no wrench"),
            ([str(tmp_path / "none"), "--format", "sdf"], USER_ERROR, "cannot be read")):
        assert main(arguments) == status
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.startswith("error: ") and said in printed.err
        assert printed.err.count("\n") == 1
    assert json.loads(source.read_text())["mass"] == pytest.approx(0.8)
