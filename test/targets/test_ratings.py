# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The largest mass that is sent to the driver of an arm."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from inertial_id_ros.settings import Settings
from inertial_id_ros.targets.ratings import UNIVERSAL_ROBOTS, payload_limit

CONFIG = Path(__file__).parents[2] / "config"
UNKNOWN = Settings()
OWN = Settings().replace({"load.rated_payload": 4.0})


def limit(name: str, settings: Settings = UNKNOWN) -> float:
    return payload_limit(settings, UNIVERSAL_ROBOTS, f'<robot name="{name}"/>').mass


@pytest.mark.parametrize(("name", "mass"), [
    ("ur3", 3.0), ("ur5", 5.0), ("UR5e", 5.0), ("ur10", 10.0), ("ur10e", 10.0)])
def test_a_model_is_rated_as_its_maker_says(name: str, mass: float) -> None:
    assert limit(name) == mass


@pytest.mark.parametrize("name", [
    "", "ur", "ur30", "ur5e_cell", "left_ur5e", "ur5x", "my_cell", "ur5_class_arm", "xarm6", "fr3"])
def test_a_name_that_is_no_rated_model_has_no_rating(name: str) -> None:
    assert limit(name) == 0.0


@pytest.mark.parametrize("name", ["ur3", "ur10e", "my_cell"])
def test_what_the_user_says_goes_before_the_rating(name: str) -> None:
    assert limit(name, OWN) == 4.0


@pytest.mark.parametrize("file", sorted(CONFIG.glob("*.yaml")), ids=lambda path: path.stem)
def test_no_settings_file_rates_a_whole_family_of_robots(file: Path) -> None:
    parameters = yaml.safe_load(file.read_text(encoding="utf-8"))["/**"]["ros__parameters"]
    assert parameters.get("load", {}).get("rated_payload", 0.0) == 0.0
