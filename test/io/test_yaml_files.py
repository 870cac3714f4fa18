# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""YAML of users: every fault is one sentence, and nothing but plain values comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from inertial_id_ros.apps.bag.options import read_settings_file
from inertial_id_ros.errors import DamagedFile, InvalidSetting
from inertial_id_ros.io.yaml_files import parse_yaml
from inertial_id_ros.limits import MAX_YAML_BYTES


@pytest.mark.parametrize(("text", "values"), [
    ("a: 1e-6\nb: [1, .nan]\n", None), ("x: 1e3", {"x": 1000.0}), ("", None), ("- a", ["a"]),
    ("x: &name 3", {"x": 3})])
def test_plain_values_are_read(text: str, values: object) -> None:
    got = parse_yaml(text)
    assert got == values if values is not None or not text else got["a"] == 1e-6


@pytest.mark.parametrize("text", [
    "x: 2001-99-99", "x: !!int abc", "x: " + "9" * 5000, "x: !!timestamp zz",
    "[" * 3000, "!!python/object/apply:os.getcwd []",
    "x: 'open", "<<: 3", "{{a: 1}: 2}", "\x00", "x: 0b_", "--- a\n--- b\n", "? [a, b]\n: c\n"])
def test_every_fault_is_one_short_line(text: str) -> None:
    """Among them dates and numbers that are none, which the parser answers with a ValueError."""
    with pytest.raises(DamagedFile, match="not valid YAML") as caught:
        parse_yaml(text)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.slow
@pytest.mark.parametrize("text", ["x: 2001-99-99\n", "[" * 3000, "\xff"])
def test_a_file_of_settings_is_refused_by_name(text: str, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(InvalidSetting, match="x.yaml cannot be used: it is not"):
        read_settings_file(file)


def test_a_file_above_the_limit_is_not_parsed(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("# " + "x" * MAX_YAML_BYTES)
    with pytest.raises(InvalidSetting, match=f"more than {MAX_YAML_BYTES} bytes"):
        read_settings_file(file)
