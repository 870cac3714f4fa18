# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Robot descriptions: what they name, and what cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic import URDF

from inertial_id_ros.errors import InvalidModel, InvalidSetting
from inertial_id_ros.motion.description import link_names, parse_urdf, read_description, root_link

LINK = ('<robot name="r"><link name="a"><inertial><mass value="{mass}"/>{rest}</inertial></link>'
        "</robot>")
INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="{izz}"/>'


def test_links_are_named_from_the_root_on() -> None:
    model = parse_urdf(URDF)
    assert root_link(model) == "base_link"
    assert set(link_names(model)) == {"base_link", "column", "arm", "carriage", "wrist", "hand",
                                      "tool0", "finger_link"}


@pytest.mark.parametrize("urdf", [
    '<!DOCTYPE r [<!ENTITY a "b">]><robot name="r"><link name="a"/></robot>', "<robot", "",
    "x" * 20_000_001, URDF.replace('xyz="0.3 0.0 0.1"', 'xyz="nan 0 0"'),
    URDF.replace('xyz="0.3 0.0 0.1"', 'xyz="1e9 0 0"')])
def test_what_is_no_description_is_refused(urdf: str) -> None:
    with pytest.raises(InvalidModel):
        parse_urdf(urdf)


@pytest.mark.parametrize(("mass", "rest"), [
    ("nan", INERTIA.format(izz="1")), ("1", INERTIA.format(izz="one")), ("1", "")])
def test_masses_that_are_no_numbers_matter_where_dynamics_do(mass: str, rest: str) -> None:
    urdf = LINK.format(mass=mass, rest=rest)
    with pytest.raises(InvalidModel, match="'a'"):
        parse_urdf(urdf, dynamics=True)
    parse_urdf(LINK.format(mass="1", rest=INERTIA.format(izz="1")), dynamics=True)


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(URDF)
    assert read_description(file) == URDF
    (tmp_path / "arm.xacro").write_text(URDF)
    (tmp_path / "bytes.urdf").write_bytes(b"\xff\xfe\x00")
    for name in ("arm.xacro", "bytes.urdf"):
        with pytest.raises(InvalidModel, match=name):
            read_description(tmp_path / name)
    with pytest.raises(InvalidSetting, match="nowhere.urdf"):
        read_description(tmp_path / "nowhere.urdf")
