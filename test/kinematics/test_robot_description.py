# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Hostile robot descriptions: refused in time that grows as the text does, or read outside."""

from __future__ import annotations

import os
import threading
import time

import pytest

from inertial_id_ros.apps.simulation.description import load_description
from inertial_id_ros.errors import InvalidModel
from inertial_id_ros.io.child_process import ChildProcess
from inertial_id_ros.kinematics.joint_motion import RobotFrame
from inertial_id_ros.kinematics.robot_description import parse_urdf, simplify
from inertial_id_ros.kinematics.transform_tree import TransformTree
from inertial_id_ros.limits import MAX_ARM_JOINTS, MAX_URDF_ATTRIBUTES

URDF = load_description().urdf
LOOKS = '<visual><geometry><box size="1 1 1"/></geometry></visual>'


def with_attributes(count: int) -> str:
    """The robot's first element with so many attributes more."""
    more = " ".join(f'a{k}="1"' for k in range(count))
    return URDF.replace("<robot ", f"<robot {more} ", 1)


def chain(count: int) -> str:
    """So many joints in a row, with the sensor frame `tip` at the end."""
    names = ["base", *(f"l{k}" for k in range(count - 1)), "tip"]
    links = "".join(f'<link name="{name}"/>' for name in names)
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="{names[k]}"/>'
        f'<child link="{names[k + 1]}"/><axis xyz="0 0 1"/></joint>' for k in range(count))
    return f'<robot name="chain">{links}{joints}</robot>'


@pytest.mark.parametrize(("text", "said"), [
    (with_attributes(50_000), f"5000[01] attributes in one element; at most {MAX_URDF_ATTRIBUTES}"),
    (URDF.replace("</robot>", "<x>" * 50_000 + "</x>" * 50_000 + "</robot>"), "101 levels"),
    (URDF.replace("</robot>", "<x/>" * 250_000 + "</robot>"), "200001 elements"),
    (URDF.replace("<robot ", f'<robot x="{"y" * 100_000}" ', 1), "100000 characters in one"),
], ids=["attributes", "levels", "elements", "characters"])
def test_what_the_parser_takes_without_end_is_refused_at_once(text: str, said: str) -> None:
    began = time.process_time()
    with pytest.raises(InvalidModel, match=said):
        parse_urdf(text)
    assert time.process_time() - began < 2.0  # the parser itself: 10 s for the attributes


def test_attributes_that_robots_have_are_accepted() -> None:
    assert parse_urdf(with_attributes(MAX_URDF_ATTRIBUTES - 10)).nq == parse_urdf(URDF).nq


def test_a_chain_of_joints_whose_matrices_fill_the_memory_is_refused() -> None:
    frame = RobotFrame(parse_urdf(chain(MAX_ARM_JOINTS)), TransformTree(), "tip", "", 9.81)
    assert len(frame.joint_names) == MAX_ARM_JOINTS
    with pytest.raises(InvalidModel, match=f"900 joints .* 'tip'; at most {MAX_ARM_JOINTS}"):
        RobotFrame(parse_urdf(chain(900)), TransformTree(), "tip", "", 9.81)


def test_a_small_description_is_left_as_it_is() -> None:
    assert simplify(URDF, ChildProcess()) is URDF


@pytest.mark.slow
def test_a_large_description_keeps_what_moves_and_what_has_mass() -> None:
    large = URDF.replace("</link>", LOOKS * 20_000 + "</link>", 1)
    small = simplify(large, ChildProcess())
    assert len(large) > 1_000_000 and len(small) < len(URDF) and "visual" not in small
    assert parse_urdf(small, dynamics=True) == parse_urdf(URDF)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "said"), [
    (with_attributes(60_000), "attributes in one element"),
    (URDF + " " * 300_000 + "<x", "junk after document element"),
    (URDF.replace("<robot ", "<robot>\ud800" + " " * 300_000), "surrogates not allowed"),
    (" " * 20_000_001, "at most 20000000")], ids=["attributes", "junk", "surrogates", "length"])
def test_a_large_text_that_is_no_description_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(InvalidModel, match=said) as caught:
        simplify(text, ChildProcess())
    assert str(caught.value).isprintable()


def test_what_other_threads_log_while_a_description_is_parsed_is_not_lost(
        capfd: pytest.CaptureFixture[str]) -> None:
    """The parser's complaints are caught from the standard error of all threads."""
    done, told = threading.Event(), 0
    text = chain(300).replace("</robot>", '<link name="tip"/></robot>')

    def log() -> None:
        nonlocal told
        while not done.is_set():
            os.write(2, f"line {told}\n".encode())
            told += 1
            time.sleep(1e-4)

    thread = threading.Thread(target=log)
    thread.start()
    try:
        for _ in range(20):
            with pytest.raises(InvalidModel, match="'tip' is not unique"):
                parse_urdf(text)
    finally:
        done.set()
        thread.join()
    assert sorted(capfd.readouterr().err.splitlines()) == sorted(f"line {k}" for k in range(told))
