# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Serialised messages become the samples that an independent library wrote, in both byte orders."""

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import bags
import numpy as np
import pytest
from bags import STORE
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inertial_id_ros.io import inputs
from inertial_id_ros.io.decoding import Reader, StateReader, decode
from inertial_id_ros.io.inputs import JOINT_STATES, PAYLOADS, TRANSFORMS, WRENCH
from inertial_id_ros.settings import Settings

STAMP = 1_785_000_000_123_456_789
ORDERS = pytest.mark.parametrize("little_endian", [True, False])


def written(message: Any, little_endian: bool = True) -> bytes:
    """A message as the middleware hands it over, by an independent library."""
    return bytes(STORE.serialize_cdr(message, message.__msgtype__, little_endian=little_endian))


def wrenches(rows: np.ndarray, frames: Sequence[str], orders: Sequence[bool]) -> list[bytes]:
    """A geometry_msgs/WrenchStamped of each row (n, 6), stamped a nanosecond after each other."""
    messages = [bags.messages_of([inputs.Wrenches(np.array([STAMP + k]), frame, row[None])])[0][1]
                for k, (row, frame) in enumerate(zip(rows, frames, strict=True))]
    return [written(message, order) for message, order in zip(messages, orders, strict=True)]


def joint_state(names: Sequence[str], *parts: Sequence[float], little_endian: bool = True) -> bytes:
    """A sensor_msgs/JointState of positions, velocities and efforts."""
    return written(bags.make("sensor_msgs/JointState", bags.header(STAMP, "base"), list(names), *(
        np.asarray(part, dtype=float) for part in parts)), little_endian)


def transforms(edges: Iterable[tuple[Any, ...]], little_endian: bool = True) -> bytes:
    """A tf2_msgs/TFMessage of stamp [ns], parent, child, and numbers (7,) of each edge."""
    messages = bags.messages_of([inputs.Edges(np.array([stamp]), *names, np.array([row]))
                                 for stamp, *names, row in edges])
    parts = [part for _, message in messages for part in message.transforms]
    return written(bags.make("tf2_msgs/TFMessage", parts), little_endian)


def listed(decoded: tuple[Any, ...]) -> list[Any]:
    """Samples as plain lists."""
    return [tuple(v.tolist() if isinstance(v, np.ndarray) else v for v in some)
            for some in decoded[0]]


@ORDERS
@pytest.mark.parametrize("frame", ["", "a", "abc", "tool0", "ft_sensor_grün"])
def test_a_wrench_is_read_whatever_the_length_of_its_frame(little_endian: bool, frame: str,
                                                           rng: np.random.Generator) -> None:
    rows = rng.normal(size=(3, 6))
    data = wrenches(rows, [frame] * 3, [little_endian] * 3)
    assert listed(decode(WRENCH, data)) == [
        ([STAMP, STAMP + 1, STAMP + 2], frame, rows.tolist())]


@ORDERS
@pytest.mark.parametrize("names", [[], ["a"], ["joint_1", "j2", "the_third", ""]])
def test_a_joint_state_is_read_with_and_without_its_parts(little_endian: bool, names: list[str],
                                                          rng: np.random.Generator) -> None:
    positions, velocities, efforts = rng.normal(size=(3, len(names)))
    none = np.empty(0)
    for given_ in ((positions, velocities, efforts), (positions, none, efforts),
                   (none, velocities, none), (none, none, none), (positions, none, efforts[:2])):
        data = joint_state(names, *given_, little_endian=little_endian)
        q, _, effort = (part.tolist() for part in given_)
        expected = [effort] * 2 if len(effort) == len(names) else None
        assert listed(decode(JOINT_STATES, [data] * 2)) == [
            ([STAMP] * 2, tuple(names), [q] * 2, expected, None)]


@ORDERS
def test_each_edge_of_transforms_is_a_stream(little_endian: bool, rng: np.random.Generator
                                             ) -> None:
    rows = rng.normal(size=(5, 7))
    edges = [(STAMP + k, f"p{'x' * k}", f"child{'y' * (2 * k)}", row)
             for k, row in enumerate(rows)]
    for count in (5, 0, 2, 5):
        got = decode(TRANSFORMS, [transforms(edges[:count], little_endian)])
        assert listed(got) == [([edge[0]], *edge[1:3], [row.tolist()])
                               for edge, row in zip(edges[:count], rows, strict=False)]
    got = decode(TRANSFORMS, [transforms(edges[:1 + k % 2], little_endian)
                              for k in range(6)])
    assert [len(some.stamps) for some in got[0]] == [6, 3]


def test_frames_and_byte_orders_are_streams_in_the_order_of_their_messages(
        rng: np.random.Generator) -> None:
    rows, times = rng.normal(size=(40, 6)), rng.integers(1, 10**9, 40)
    frames = rng.choice(["a", "b", "tool0"], 40)
    data = wrenches(rows, frames.tolist(), (np.arange(40) % 3 > 0).tolist())
    for got, stamps in ((decode(WRENCH, data), STAMP + np.arange(40)),
                        (decode(WRENCH, data, times.tolist()), times)):
        assert got[1] == 0 and len(got[0]) == 3
        for wrench in got[0]:
            assert isinstance(wrench, inputs.Wrenches)
            of_frame = frames == wrench.frame_id
            assert np.array_equal(wrench.rows, rows[of_frame])
            assert np.array_equal(wrench.stamps, stamps[of_frame])


WHOLE = joint_state(["a", "b"], [0.5, -0.5], [], [])


@pytest.mark.parametrize("damaged", [
    *([WHOLE[:at] + new + WHOLE[at + len(new):]] for at, new in (
        (0, b"\x00\x03"), (0, b"\x00\x07"), (0, b"\xff\x01"), (0, b"\x00\x00"),
        (12, struct.pack("<I", 2**31)), (12, struct.pack("<I", 90_000)), (12, struct.pack("<I", 0)),
        (16, b"\xff"), (24, struct.pack("<I", 100_000)))),
    [WHOLE[:length] for length in range(len(WHOLE) - 3)]])
def test_damaged_and_cut_messages_are_not_used(damaged: list[bytes]) -> None:
    samples, count, why = decode(JOINT_STATES, [WHOLE, *damaged, WHOLE])
    assert count == len(damaged) and why and len(samples[0].stamps) == 2


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.sampled_from([WRENCH, JOINT_STATES, TRANSFORMS]),
       st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4),
       st.integers(0, 400))
@example(JOINT_STATES, [], 400)
def test_a_mutated_message_is_read_or_damaged(
        topic: Any, changes: list[tuple[int, int]], length: int) -> None:
    whole = {WRENCH: wrenches(np.arange(6.0)[None], ["tool0"], [True])[0],
             JOINT_STATES: joint_state(["a", "bcd"], [1.0, 2.0], [3.0, 4.0], []),
             TRANSFORMS: transforms([
                 (STAMP, "base", f"link_{k}", (1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0))
                 for k in range(2)])}[topic]
    mutated = bytearray(whole)
    for at, value in changes:
        mutated[at % len(whole)] = value
    samples, damaged, why = decode(topic, [bytes(mutated[:length])])
    assert damaged == 0 or (why and not samples)


def test_a_dynamic_joint_state_states_a_payload_under_its_name() -> None:
    values = {"j": {"velocity": 0.0, "position": 1.0}, "io": {"output": 1.0},
              "arm_payload": {"cog.y": 0.2, "mass": 1.5, "cog.x": 0.1, "cog.z": 0.3}}
    held = [bags.make("control_msgs/InterfaceValue", list(some), np.array(list(some.values())))
            for some in values.values()]
    message, reader = bags.make(
        "control_msgs/DynamicJointState", bags.header(STAMP, ""), list(values), held), StateReader()
    assert reader.interfaces(message) == {(name, kind): value for name, some in values.items()
                                          for kind, value in some.items()}
    stated = reader.payload(message, "arm_payload")
    assert stated is not None and stated.values.tolist() == [1.5, 0.1, 0.2, 0.3] + [0.0] * 6
    assert reader.payload(message, "payload") is None


def test_values_without_names_state_a_payload_by_the_names_before_them() -> None:
    """Of a state_interfaces_broadcaster, in any order, beside others; names may come anew."""
    reader, values = StateReader(), bags.make(
        "control_msgs/Float64Values", bags.header(STAMP, ""), np.array([0.3, 7.0, 0.1, 1.5, 0.2]))
    assert reader.payload(values, "payload") is None
    for prefix in ("left/", "", "arm_"):
        name = f"{prefix}payload"
        names = [f"{name}/cog.z", "single", *(f"{name}/{x}" for x in ("cog.x", "mass", "cog.y"))]
        keys = bags.make("control_msgs/Keys", bags.header(STAMP, ""), names)
        assert reader.payload(keys, name) is None
        stated = reader.payload(values, name)
        assert stated is not None and stated.values.tolist() == [1.5, 0.1, 0.2, 0.3] + [0.0] * 6
        assert reader.payload(values, "other") is None


def test_a_robot_description_is_read_and_refused_where_it_is_cut_off() -> None:
    data = written(bags.make("std_msgs/String", "<robot/>"))
    assert Reader(data).text() == "<robot/>"
    with pytest.raises(ValueError):
        Reader(data[:-2]).text()


@pytest.mark.parametrize(("settings", "topics"), [
    ({}, [WRENCH, JOINT_STATES]),
    ({"load.robot": "robot.json", "wrench.sensor_frame": "f"}, [JOINT_STATES]),
    ({"precompensated.source": "inertia", "precompensated.topic": "/p"},
     [WRENCH, JOINT_STATES, *PAYLOADS["inertia"]]),
    ({"precompensated.source": "state_interfaces", "precompensated.topic": "/p"},
     [WRENCH, JOINT_STATES, *PAYLOADS["state_interfaces"]])])
def test_the_settings_name_the_topics_that_are_read(
        settings: dict[str, str], topics: list[inputs.InputTopic]) -> None:
    made = Settings().replace(settings)
    always = {TRANSFORMS, inputs.STATIC_TRANSFORMS, inputs.ROBOT_DESCRIPTION}
    got = inputs.input_topics(made)
    assert set(got) == always | set(topics) and len(got) == len(set(got))
    assert [topic.name(made) for topic in got if topic is TRANSFORMS] == ["/tf"]
    assert [topic.name(made) for topic in got if topic in PAYLOADS["state_interfaces"]] in (
        [], ["/p/names", "/p/values"])
    of_file = made.replace({"robot_description.file": "a.urdf"})
    assert set(inputs.input_topics(of_file)) == set(got) - {inputs.ROBOT_DESCRIPTION}
