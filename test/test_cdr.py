"""The quick decoders read what an independent library writes, in both byte orders."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from rosbags.typesys import Stores, get_typestore

from inertial_id_ros import cdr

STORE = get_typestore(Stores.ROS2_JAZZY)
T = STORE.types


def header(frame: str, sec: int = 1_785_000_000, nanosec: int = 123_456_789) -> object:
    return T["std_msgs/msg/Header"](T["builtin_interfaces/msg/Time"](sec, nanosec), frame)


def vector(values: object) -> object:
    return T["geometry_msgs/msg/Vector3"](*values)


def written(message: object, little_endian: bool) -> bytes:
    return bytes(STORE.serialize_cdr(message, message.__msgtype__, little_endian=little_endian))


@pytest.mark.parametrize("little_endian", [True, False])
@pytest.mark.parametrize("frame", ["", "a", "abc", "tool0", "ft_sensor_grün"])
def test_a_wrench_is_read_whatever_the_length_of_its_frame(little_endian: bool, frame: str,
                                                           rng: np.random.Generator) -> None:
    force, torque = rng.normal(size=(2, 3))
    message = T["geometry_msgs/msg/WrenchStamped"](
        header(frame), T["geometry_msgs/msg/Wrench"](vector(force), vector(torque)))
    assert cdr.wrench(written(message, little_endian)) == (
        1_785_000_000_123_456_789, frame, tuple(force), tuple(torque))


@pytest.mark.parametrize("little_endian", [True, False])
@pytest.mark.parametrize("names", [[], ["a"], ["joint_1", "j2", "the_third", ""]])
def test_a_joint_state_is_read_with_and_without_its_parts(little_endian: bool, names: list[str],
                                                          rng: np.random.Generator) -> None:
    positions, velocities, efforts = rng.normal(size=(3, len(names)))
    none = np.empty(0)
    for given in ((positions, velocities, efforts), (positions, none, efforts),
                  (none, velocities, none), (none, none, none)):
        message = T["sensor_msgs/msg/JointState"](header("x"), names, *given)
        assert cdr.joint_state(written(message, little_endian)) == (
            1_785_000_000_123_456_789, tuple(names), tuple(given[0]), tuple(given[2]))


@pytest.mark.parametrize("little_endian", [True, False])
def test_transforms_are_read(little_endian: bool, rng: np.random.Generator) -> None:
    edges = [(f"p{'x' * k}", f"child{'y' * (2 * k)}", rng.normal(size=3), rng.normal(size=4))
             for k in range(5)]
    message = T["tf2_msgs/msg/TFMessage"]([
        T["geometry_msgs/msg/TransformStamped"](
            header(parent, nanosec=k), child, T["geometry_msgs/msg/Transform"](
                vector(p), T["geometry_msgs/msg/Quaternion"](*q)))
        for k, (parent, child, p, q) in enumerate(edges)])
    assert cdr.transforms(written(message, little_endian)) == [
        (1_785_000_000_000_000_000 + k, parent, child, tuple(p), tuple(q))
        for k, (parent, child, p, q) in enumerate(edges)]


def test_a_cut_or_damaged_message_is_an_error_and_not_a_value(rng: np.random.Generator) -> None:
    message = T["sensor_msgs/msg/JointState"](
        header("x"), ["a", "b"], rng.normal(size=2), np.empty(0), np.empty(0))
    whole = written(message, True)
    for length in range(4, len(whole) - 4):
        with pytest.raises((struct.error, ValueError, IndexError)):
            cdr.joint_state(whole[:length])
    huge = bytearray(whole)
    huge[12:16] = struct.pack("<I", 2**31)
    with pytest.raises(ValueError, match="at most"):
        cdr.joint_state(bytes(huge))
