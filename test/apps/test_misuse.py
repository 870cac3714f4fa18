# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings that contradict the data or physics are named before they do harm."""

from __future__ import annotations

import pytest

from inertial_id_ros.errors import InvalidModel, InvalidSetting
from inertial_id_ros.identification.wrench.identifier import Identifier
from inertial_id_ros.kinematics.robot_description import parse_urdf
from inertial_id_ros.settings import Settings


def test_a_sensor_frame_that_replaces_that_of_the_messages_is_named() -> None:
    """A frame that is shifted only shows in no residual, so the setting itself is the clue."""
    made = Identifier(Settings().replace({"wrench.sensor_frame": "tool0"}))
    made.add_wrench(1_785_000_000_000_000_000, "ft_sensor", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    made.advance()
    text = {f.name: f.text for f in made.findings()}["sensor_frame.replaced"]
    assert "'tool0'" in text and "'ft_sensor'" in text


def test_the_frame_of_the_messages_itself_needs_no_word() -> None:
    """The same name in setting and message is no finding."""
    made = Identifier(Settings().replace({"wrench.sensor_frame": "ft_sensor"}))
    made.add_wrench(1_785_000_000_000_000_000, "/ft_sensor", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    made.advance()
    assert "sensor_frame.replaced" not in {f.name for f in made.findings()}


@pytest.mark.parametrize("inertia", [(-1.0, 0.0, 0.0, 1.0, 0.0, 1.0),
                                     (1.0, 0.0, 0.0, 0.2, 0.0, 0.2)])
def test_a_removed_payload_that_cannot_exist_is_refused(inertia: tuple[float, ...]) -> None:
    """Negative moments, and moments that break the triangle inequality."""
    with pytest.raises(InvalidSetting, match="precompensated.inertia"):
        Identifier(Settings().replace({"precompensated.mass": 1.0,
                                       "precompensated.inertia": inertia}))


def test_a_point_mass_may_be_removed() -> None:
    """Drivers that know mass and centre only remove a point."""
    Identifier(Settings().replace({"precompensated.mass": 1.0}))


def test_a_broken_urdf_gives_one_error_and_nothing_else_on_the_terminal(
        capfd: pytest.CaptureFixture[str]) -> None:
    """The parser's own lines are not for users."""
    with pytest.raises(InvalidModel, match="line 1"):
        Identifier(Settings()).set_robot_description("<robot name='r'><link name='a'></robot>")
    assert capfd.readouterr().err == ""


_LINKS = ("<link name='a'/><link name='b'>{}</link><joint name='j' type='revolute'><parent "
          "link='a'/><child link='{}'/>{}<axis xyz='0 0 1'/><limit lower='-1' upper='1' "
          "effort='1' velocity='1'/></joint>")


def _robot(inside: str = "", child: str = "b", origin: str = "") -> str:
    return f"<robot name='r'>{_LINKS.format(inside, child, origin)}</robot>"


@pytest.mark.parametrize(("urdf", "words"), [
    (_robot(child="c"), r"child link \[c\] of joint \[j\] not found"),
    (_robot(origin="<origin xyz='0 0 abc'/>"), "Malformed parent origin element"),
    (_robot(origin="<origin xyz='0 0 1e300'/>"), "origin of 'j' is not finite, or more than")])
def test_the_words_of_the_urdf_parser_are_in_the_error(
        urdf: str, words: str, capfd: pytest.CaptureFixture[str]) -> None:
    """It prints the reason beside its error, which says nothing."""
    with pytest.raises(InvalidModel, match=words) as caught:
        Identifier(Settings()).set_robot_description(urdf)
    assert capfd.readouterr().err == "" and ".cpp" not in str(caught.value)


def test_an_inertia_that_cannot_be_read_matters_where_forces_are_computed(
        capfd: pytest.CaptureFixture[str]) -> None:
    """The parser leaves it out and goes on; for the motion of a sensor it is not needed."""
    urdf = _robot("<inertial><mass value='abc'/></inertial>")
    parse_urdf(urdf)
    with pytest.raises(InvalidModel, match="Inertial"):
        parse_urdf(urdf, dynamics=True)
    assert capfd.readouterr().err == ""
