# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payloads built of primitives, with their mass, centre of mass and inertia in closed form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import InvalidSetting, InvalidShape
from ...inertia import Array, parallel_axis, phi_from_body
from ...io.files import user_path
from ...io.yaml_files import read_yaml

Vector3 = tuple[float, float, float]
# Shape -> names of its sizes.
SIZES = {"box": ("x", "y", "z"), "cylinder": ("radius", "height"), "sphere": ("radius",)}


@dataclass(frozen=True)
class Part:
    """A homogeneous primitive, placed in the sensor frame.

    Attributes:
        shape: box, cylinder (along its z axis) or sphere.
        size: full lengths x, y, z; radius and height; or radius [m].
        density: [kg/m^3].
        center: its centre in the sensor frame [m].
        rpy: roll, pitch, yaw [rad] of its axes (URDF order: R = Rz(yaw) Ry(pitch) Rx(roll)).

    Raises:
        InvalidShape: unknown shape, or sizes that enclose no volume.
        InvalidSetting: density, centre or angles not allowed.
    """

    shape: str
    size: tuple[float, ...]
    density: float
    center: Vector3 = (0.0, 0.0, 0.0)
    rpy: Vector3 = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if self.shape not in SIZES:
            raise InvalidShape(f"payload shape is '{self.shape}'; allowed: {', '.join(SIZES)}")
        names = SIZES[self.shape]
        if len(self.size) != len(names) or not all(0.0 < s < math.inf for s in self.size):
            raise InvalidShape(
                f"size of a {self.shape} is {list(self.size)}; it needs {len(names)} positive "
                f"number{'s' * (len(names) > 1)} in metres: {', '.join(names)}")
        if not 0.0 < self.density < math.inf:
            raise InvalidSetting(
                f"density of a {self.shape} is {self.density:g} kg/m^3; it must be positive")
        for name, value in (("center", self.center), ("rpy", self.rpy)):
            if len(value) != 3 or not np.isfinite(value).all():
                raise InvalidSetting(
                    f"{name} of a {self.shape} is {list(value)}; it needs three finite numbers")

    @property
    def rotation(self) -> Array:
        """Rotation (3, 3) from the part's axes to the sensor's."""
        return Rotation.from_euler("xyz", self.rpy).as_matrix()

    @property
    def volume(self) -> float:
        """Volume [m^3]."""
        if self.shape == "box":
            return math.prod(self.size)
        if self.shape == "cylinder":
            return math.pi * self.size[0] ** 2 * self.size[1]
        return 4.0 / 3.0 * math.pi * self.size[0] ** 3

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return self.density * self.volume

    @property
    def inertia_com(self) -> Array:
        """Tensor (3, 3) about the part's centre, along the sensor's axes [kg m^2]."""
        return self.rotation @ np.diag(self._principal_moments()) @ self.rotation.T

    def _principal_moments(self) -> Array:
        """Moments (3,) about the part's own axes [kg m^2]."""
        if self.shape == "box":
            squares = np.square(self.size)
            return self.mass / 12.0 * (squares.sum() - squares)
        if self.shape == "cylinder":
            r2, h2 = np.square(self.size)
            across = (3.0 * r2 + h2) / 12.0
            return self.mass * np.array([across, across, 0.5 * r2])
        return np.full(3, 0.4 * self.mass * self.size[0] ** 2)

    def half_extent(self) -> Array:
        """Half lengths (3,) of the bounding box along the sensor's axes [m]."""
        r = self.rotation
        if self.shape == "box":
            return np.abs(r) @ (0.5 * np.array(self.size))
        if self.shape == "cylinder":
            radius, height = self.size
            # A disc with unit normal n reaches radius * sqrt(1 - n_i^2) along axis i.
            return radius * np.sqrt(np.clip(1.0 - r[:, 2] ** 2, 0.0, None)) + (
                0.5 * height * np.abs(r[:, 2]))
        return np.full(3, self.size[0])


@dataclass(frozen=True)
class Payload:
    """Rigidly joined parts; where parts overlap, their masses add.

    Raises:
        InvalidShape: there is no part.
    """

    name: str
    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise InvalidShape(f"payload '{self.name}' has no parts; it needs at least one")

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return sum(part.mass for part in self.parts)

    @property
    def com(self) -> Array:
        """Centre of mass (3,) in the sensor frame [m]."""
        moment = sum((part.mass * np.array(part.center) for part in self.parts), np.zeros(3))
        return moment / self.mass

    @property
    def inertia_com(self) -> Array:
        """Tensor (3, 3) about the centre of mass, along the sensor's axes [kg m^2]."""
        com = self.com
        return sum(
            (part.inertia_com + parallel_axis(part.mass, np.array(part.center) - com)
             for part in self.parts), np.zeros((3, 3)))

    @property
    def phi(self) -> Array:
        """The ten parameters (10,) about the sensor frame's origin, in the order of `inertia`."""
        return phi_from_body(self.mass, self.com, self.inertia_com)

    @property
    def bounding_box(self) -> tuple[Array, Array]:
        """Lower and upper corner (3,) along the sensor's axes [m]."""
        centers = np.array([part.center for part in self.parts])
        halves = np.array([part.half_extent() for part in self.parts])
        return (centers - halves).min(axis=0), (centers + halves).max(axis=0)


# Steel, aluminium, wood, plastic; the rest of the densities make up a wanted mass.
PAYLOADS: dict[str, Payload] = {
    payload.name: payload
    for payload in (
        Payload("cylinder", (
            Part("cylinder", (0.04, 0.10), 2700.0, (0.0, 0.0, 0.07)),)),
        # 0.2 kg of handle across the flange, 0.8 kg of head at its far edge.
        Payload("hammer", (
            Part("box", (0.25, 0.03, 0.02), 0.2 / 1.5e-4, (0.105, 0.0, 0.03)),
            Part("box", (0.03, 0.11, 0.03), 0.8 / 9.9e-5, (0.245, 0.0, 0.03)))),
        Payload("box_offset", (
            Part("box", (0.12, 0.08, 0.06), 1800.0, (0.06, -0.03, 0.09), (0.3, -0.2, 0.5)),)),
        # Motor, chuck, grip and battery pack, held by the motor housing.
        Payload("drill", (
            Part("cylinder", (0.028, 0.13), 2000.0, (0.01, 0.0, 0.05), (0.0, math.pi / 2, 0.0)),
            Part("cylinder", (0.016, 0.05), 5000.0, (0.10, 0.0, 0.05), (0.0, math.pi / 2, 0.0)),
            Part("box", (0.035, 0.03, 0.11), 700.0, (-0.03, 0.0, 0.13), (0.0, -0.2, 0.0)),
            Part("box", (0.11, 0.07, 0.05), 1250.0, (-0.025, 0.0, 0.205)))),
    )
}


def payload_from_mapping(data: Any, name: str = "payload") -> Payload:
    """A payload from ``{name: ..., parts: [{shape, size, density, center, rpy}, ...]}``.

    Raises:
        InvalidShape: unknown shape, no volume, or no parts.
        InvalidSetting: an entry is missing, unknown, or not allowed.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("parts"), list):
        raise InvalidSetting(f"{name} has no list 'parts'; a payload needs one")
    _check_entries(data, ("parts",), ("name",), name)
    return Payload(str(data.get("name", name)), tuple(
        _part(item, f"part {k + 1} of {name}") for k, item in enumerate(data["parts"])))


def load_payload(name_or_file: str) -> Payload:
    """A named payload, or one from a YAML file.

    Raises:
        InvalidShape: unknown shape, no volume, or no parts.
        InvalidSetting: neither a known name nor a readable YAML file, or an entry not allowed.
    """
    if name_or_file in PAYLOADS:
        return PAYLOADS[name_or_file]
    path = user_path(name_or_file)
    if not path.is_file():
        raise InvalidSetting(
            f"payload is '{name_or_file}'; allowed: {', '.join(PAYLOADS)}, or an existing file")
    return payload_from_mapping(read_yaml(path, f"payload file {path}"), path.stem)


def _part(item: Any, where: str) -> Part:
    """The part that a mapping describes (raises InvalidSetting, InvalidShape)."""
    if not isinstance(item, Mapping):
        raise InvalidSetting(f"{where} is {repr(item)[:200]}; it must be a mapping with shape, "
                             "size, density")
    _check_entries(item, ("shape", "size", "density"), ("center", "rpy"), where)
    numbers: dict[str, tuple[float, ...]] = {}
    for key in ("size", "density", "center", "rpy"):
        try:
            numbers[key] = tuple(np.atleast_1d(np.asarray(item.get(key, (0.0,) * 3), float)))
        except (TypeError, ValueError):
            raise InvalidSetting(f"{key} of {where} is {repr(item[key])[:200]}; it must be "
                                 "numbers") from None
    return Part(str(item["shape"]), numbers["size"], numbers["density"][0],
                numbers["center"], numbers["rpy"])  # type: ignore[arg-type]  # lengths: Part


def _check_entries(data: Mapping[str, Any], needed: tuple[str, ...], others: tuple[str, ...],
                   where: str) -> None:
    """Raise InvalidSetting where an entry is missing or unknown."""
    for key in needed:
        if key not in data:
            raise InvalidSetting(f"{where} has no '{key}'; it needs {', '.join(needed)}")
    for key in data:
        if key not in (*needed, *others):
            raise InvalidSetting(f"{where} has an unknown entry '{str(key)[:200]}'; "
                                 f"known: {', '.join((*needed, *others))}")
