# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command lines: mistakes name the option, its value and what is allowed."""

from __future__ import annotations

import math

import pytest

from inertial_id_ros.arguments import VERSION, Parser, names, numbers
from inertial_id_ros.errors import InvalidSetting
from inertial_id_ros.ros.guide.command_line import parse


def test_options_of_a_motion_have_defaults_that_are_allowed() -> None:
    options = parse([])
    assert (options.link_speed, options.silence, options.floor) == (0.25, None, -math.inf)
    assert len(parse(2 * ["--keep-out", "1,1,1,0,0,0"]).keep_out) == 2


@pytest.mark.parametrize("words", [
    ("--link-speed", "0"), ("--link-speed", "nan"), ("--silence", "2"), ("--link-speed", "fast"),
    ("--timeout", "1"), ("--nothing", "1"), ("--silence",), ("--payload-box", "1,2")])
def test_a_mistake_names_its_option_and_value(words: tuple[str, ...]) -> None:
    with pytest.raises(InvalidSetting) as caught:
        parse(words)
    assert all(word in str(caught.value) for word in words)


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        Parser(prog="it").parse_args(["--version"])
    assert caught.value.code == 0 and capsys.readouterr().out.split()[-1] == VERSION


def test_lists_are_separated_by_commas() -> None:
    assert names(" a,b ,,c") == ("a", "b", "c") and names("") == ()
    assert numbers("--x", "1, -2e-1,3", "three", 3) == (1.0, -0.2, 3.0)
    assert numbers("--x", "1", "some") == (1.0,)
    for text, count in (("1,b", None), ("", None), ("1,2", 3), ("1,2,3,4", 3)):
        with pytest.raises(InvalidSetting, match="--x"):
            numbers("--x", text, "three", count)
