# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payloads built of homogeneous primitives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio as pin

from ...errors import InvalidSetting, InvalidShape
from ...inertia import Array, phi_from_body
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
        InvalidSetting: density, centre or angles are not allowed.
    """

    shape: str
    size: tuple[float, ...]
    density: float
    center: Vector3 = (0.0, 0.0, 0.0)
    rpy: Vector3 = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        names = SIZES.get(self.shape, ())
        if not names:
            raise InvalidShape(f"payload shape is '{self.shape}'; allowed: {', '.join(SIZES)}")
        if len(self.size) != len(names) or not all(0.0 < s < math.inf for s in self.size):
            raise InvalidShape(f"size of a {self.shape} is {list(self.size)}; it needs "
                               f"{len(names)} numbers above 0 [m]: {', '.join(names)}")
        place = (*self.center, *self.rpy)
        if len(place) != 6 or not np.isfinite(place).all() or not 0.0 < self.density < math.inf:
            raise InvalidSetting(f"{self.shape} of density {self.density:g}, center and rpy "
                                 f"{list(place)}: it needs a density above 0 [kg/m^3], three "
                                 "numbers for its center and three for its rpy")

    @property
    def rotation(self) -> Array:
        """Rotation (3, 3) from the part's axes to the sensor's."""
        return np.asarray(pin.rpy.rpyToMatrix(*self.rpy))

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        volume = {"box": math.prod(self.size),
                  "cylinder": math.pi * self.size[0] ** 2 * self.size[-1],
                  "sphere": 4.0 / 3.0 * math.pi * self.size[0] ** 3}[self.shape]
        return self.density * volume

    @property
    def inertia(self) -> pin.Inertia:
        """Mass, centre of mass and inertia, in the sensor frame."""
        of_shape = {"box": pin.Inertia.FromBox, "cylinder": pin.Inertia.FromCylinder,
                    "sphere": pin.Inertia.FromSphere}[self.shape]
        return of_shape(self.mass, *self.size).se3Action(
            pin.SE3(self.rotation, np.array(self.center)))


@dataclass(frozen=True)
class Payload:
    """Rigidly joined parts; where parts overlap, their masses add."""

    name: str
    parts: tuple[Part, ...]

    @cached_property
    def _inertia(self) -> pin.Inertia:
        return sum((part.inertia for part in self.parts), pin.Inertia.Zero())

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self._inertia.mass)

    @property
    def com(self) -> Array:
        """Centre of mass (3,) in the sensor frame [m]."""
        return np.array(self._inertia.lever)

    @property
    def inertia_com(self) -> Array:
        """Tensor (3, 3) about the centre of mass, along the sensor's axes [kg m^2]."""
        return np.array(self._inertia.inertia)

    @property
    def phi(self) -> Array:
        """The ten parameters (10,) about the sensor frame's origin, in the order of `inertia`."""
        return phi_from_body(self.mass, self.com, self.inertia_com)


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


def load_payload(name_or_file: str) -> Payload:
    """A named payload, or one from a YAML file: ``parts: [{shape, size, density, center, rpy}]``.

    Raises:
        InvalidShape: unknown shape, or no volume.
        InvalidSetting: neither a known name nor a readable YAML file, or an entry not allowed.
    """
    if name_or_file in PAYLOADS:
        return PAYLOADS[name_or_file]
    path = user_path(name_or_file)
    if not path.is_file():
        raise InvalidSetting(
            f"payload is '{name_or_file}'; allowed: {', '.join(PAYLOADS)}, or an existing file")
    tree = read_yaml(path, f"payload file {path}")
    items = tree.get("parts") if isinstance(tree, dict) else None
    if not isinstance(items, list) or not items:
        raise InvalidSetting(f"payload file {path} has no list 'parts'; a payload needs one")
    parts = []
    for item in items:
        try:
            numbers = {key: tuple(np.atleast_1d(np.asarray(item[key], float)).tolist())
                       for key in ("size", "center", "rpy") if key in item}
            parts.append(Part(**{**item, **numbers, "density": float(item["density"])}))
        except (TypeError, ValueError, KeyError):
            raise InvalidSetting(f"payload file {path} holds the part {str(item):.200}; it needs "
                                 "shape, size and density, and may have center and rpy") from None
    return Payload(path.stem, tuple(parts))
