"""Settings that contradict the data or physics are named before they do harm."""

from __future__ import annotations

import pytest

from inertial_id_ros.errors import InvalidModel, InvalidSetting
from inertial_id_ros.identifier import Identifier
from inertial_id_ros.settings import Settings


def test_a_sensor_frame_that_replaces_that_of_the_messages_is_named() -> None:
    """A frame that is shifted only shows in no residual, so the setting itself is the clue."""
    made = Identifier(Settings().replace({"wrench.sensor_frame": "tool0"}))
    made.add_wrench(1_785_000_000_000_000_000, "ft_sensor", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    made.advance()
    text = {f.name: f.text for f in made.findings()}["sensor_frame_replaced"]
    assert "'tool0'" in text and "'ft_sensor'" in text


def test_the_frame_of_the_messages_itself_needs_no_word() -> None:
    """The same name in setting and message is no finding."""
    made = Identifier(Settings().replace({"wrench.sensor_frame": "ft_sensor"}))
    made.add_wrench(1_785_000_000_000_000_000, "/ft_sensor", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    made.advance()
    assert "sensor_frame_replaced" not in {f.name for f in made.findings()}


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
