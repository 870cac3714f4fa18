# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payloads of primitives: closed forms against MuJoCo and sampling, extents, and user errors."""

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from inertial_id_ros.apps.simulation.cobot import PAYLOAD_BODY, SimulatedCobot
from inertial_id_ros.apps.simulation.payload import (
    PAYLOADS,
    Part,
    Payload,
    load_payload,
    payload_from_mapping,
)
from inertial_id_ros.errors import InertialIdError, InvalidSetting, InvalidShape

MIXED = Payload("mixed", (
    Part("box", (0.1, 0.05, 0.2), 800.0, (0.05, 0.02, 0.1), (0.4, -0.7, 1.1)),
    Part("cylinder", (0.03, 0.15), 2000.0, (-0.04, 0.03, 0.15), (1.0, 0.3, -0.2)),
    Part("sphere", (0.04,), 3000.0, (0.0, -0.06, 0.2)),
))
ALL = {**PAYLOADS, "mixed": MIXED}


def inside(part, points):
    """Which points (n, 3), given in the part's own axes, lie in it."""
    x, y, z = points.T
    if part.shape == "box":
        return np.all(np.abs(points) <= 0.5 * np.array(part.size), axis=1)
    if part.shape == "cylinder":
        return (np.hypot(x, y) <= part.size[0]) & (np.abs(z) <= 0.5 * part.size[1])
    return x * x + y * y + z * z <= part.size[0] ** 2


def samples(part, n=60):
    """Points (k, 3) of a regular grid in the part, in the sensor frame, and the mass of each."""
    reach = {"box": 0.5 * np.array(part.size),
             "cylinder": np.array([part.size[0], part.size[0], 0.5 * part.size[-1]]),
             "sphere": np.full(3, part.size[0])}[part.shape]
    axis = (np.arange(n) + 0.5) / n * 2 - 1
    grid = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3) * reach
    own = grid[inside(part, grid)]
    cell = np.prod(2 * reach / n)
    rotation = Rotation.from_euler("ZYX", part.rpy[::-1])
    return rotation.apply(own) + part.center, part.density * cell


@pytest.mark.parametrize("payload", ALL.values(), ids=ALL)
def test_mass_com_and_inertia_are_those_that_mujoco_compiles(payload):
    model = SimulatedCobot(payload=payload).engine.model
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, PAYLOAD_BODY)
    w, x, y, z = model.body_iquat[body]
    axes = Rotation.from_quat([x, y, z, w]).as_matrix()
    inertia = axes @ np.diag(model.body_inertia[body]) @ axes.T
    assert payload.mass == pytest.approx(model.body_mass[body], rel=1e-12)
    np.testing.assert_allclose(payload.com, model.body_ipos[body], atol=1e-12)
    np.testing.assert_allclose(payload.inertia_com, inertia, atol=1e-9 * np.trace(inertia))


@pytest.mark.parametrize("payload", ALL.values(), ids=ALL)
def test_phi_is_that_of_many_small_cubes(payload):
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for part in payload.parts:
        points, each = samples(part)
        mass += each * len(points)
        first += each * points.sum(axis=0)
        second += each * points.T @ points
    tensor = np.trace(second) * np.eye(3) - second
    expected = np.array([mass, *first, *tensor[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]])
    scale = np.array([mass, *[mass * 0.1] * 3, *[np.trace(tensor) / 3] * 6])
    assert np.abs((payload.phi - expected) / scale).max() < 5e-3


@pytest.mark.parametrize("payload", ALL.values(), ids=ALL)
def test_bounding_box_is_tight_around_the_parts(payload):
    points = np.vstack([samples(part, 80)[0] for part in payload.parts])
    lower, upper = payload.bounding_box
    assert np.all(points >= lower) and np.all(points <= upper)
    # The outermost grid cell stands back by half its size, a disc's rim by a little more.
    assert np.abs(points.min(axis=0) - lower).max() < 4e-3
    assert np.abs(points.max(axis=0) - upper).max() < 4e-3


def test_hammer_has_four_fifths_of_its_mass_in_the_head_at_its_edge():
    handle, head = PAYLOADS["hammer"].parts
    assert head.mass / PAYLOADS["hammer"].mass == pytest.approx(0.8, rel=1e-9)
    upper = PAYLOADS["hammer"].bounding_box[1]
    assert head.center[0] + 0.5 * head.size[0] == pytest.approx(upper[0])
    assert handle.center[0] + 0.5 * handle.size[0] == pytest.approx(
        head.center[0] - 0.5 * head.size[0])


def test_drill_weighs_about_what_a_small_drill_weighs():
    assert PAYLOADS["drill"].mass == pytest.approx(1.4, abs=0.01)


def test_payload_file_gives_the_payload_it_describes(tmp_path):
    file = tmp_path / "tool.yaml"
    file.write_text(
        "parts:\n"
        "  - {shape: box, size: [0.1, 0.05, 0.2], density: 800, center: [0.05, 0.02, 0.1],"
        " rpy: [0.4, -0.7, 1.1]}\n"
        "  - {shape: cylinder, size: [0.03, 0.15], density: 2000, center: [-0.04, 0.03, 0.15],"
        " rpy: [1.0, 0.3, -0.2]}\n"
        "  - {shape: sphere, size: 0.04, density: 3000, center: [0.0, -0.06, 0.2]}\n")
    payload = load_payload(str(file))
    assert payload.name == "tool"
    assert payload.parts == MIXED.parts


@pytest.mark.parametrize(("part", "error", "text"), [
    ({"shape": "cone", "size": [0.1], "density": 1}, InvalidShape, "'cone'; allowed: box, cyl"),
    ({"shape": "box", "size": [0.1], "density": 1}, InvalidShape, "needs 3 positive numbers"),
    ({"shape": "sphere", "size": [-0.1], "density": 1}, InvalidShape, "needs 1 positive number in"),
    ({"shape": "sphere", "size": [0.1], "density": -5}, InvalidSetting, "-5 kg/m.3; it must be p"),
    ({"shape": "sphere", "size": [0.1], "density": "x"}, InvalidSetting, "density of part 1"),
    ({"shape": "sphere", "size": [0.1]}, InvalidSetting, "part 1 of payload has no 'density'"),
    ({"shape": "sphere", "size": [0.1], "density": 1, "colour": 1}, InvalidSetting, "'colour'"),
    ({"shape": "sphere", "size": [0.1], "density": 1, "center": [0, 1]}, InvalidSetting, "three"),
    ({"shape": "sphere", "size": [0.1], "density": 1, "rpy": "up"}, InvalidSetting, "rpy of part"),
    ("ball", InvalidSetting, "must be a mapping"),
])
def test_bad_part_is_named_with_its_value_and_what_is_allowed(part, error, text):
    with pytest.raises(error, match=text):
        payload_from_mapping({"parts": [part]})


@pytest.mark.parametrize("text", ["", "parts: 3", "parts: [", "name: x", "parts: []", "\xff"])
def test_payload_file_without_parts_is_refused(tmp_path, text):
    file = tmp_path / "bad.yaml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(InertialIdError, match="bad"):
        load_payload(str(file))


def test_unknown_payload_is_refused_with_the_known_names():
    with pytest.raises(InvalidSetting, match="'anvil'; allowed: cylinder, hammer, box_offset"):
        load_payload("anvil")
