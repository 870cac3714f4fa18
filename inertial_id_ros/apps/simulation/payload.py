# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Payloads built of homogeneous primitives."""

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ...inertia import phi_from_body

Vector3 = tuple[float, float, float]


class Part(NamedTuple):
    """A homogeneous primitive, placed in the sensor frame."""

    shape: str  # box, cylinder (along its z axis) or sphere
    size: tuple[float, ...]  # full lengths x, y, z; radius and height; or radius [m]
    density: float  # kg/m^3
    center: Vector3 = (0.0, 0.0, 0.0)  # m
    rpy: Vector3 = (0.0, 0.0, 0.0)  # rad, in the order of a URDF

    @property
    def inertia(self) -> pin.Inertia:
        """Mass, centre of mass and inertia, in the sensor frame."""
        make, volume = {
            "box": (pin.Inertia.FromBox, math.prod(self.size)),
            "cylinder": (pin.Inertia.FromCylinder, math.pi * self.size[0]**2 * self.size[-1]),
            "sphere": (pin.Inertia.FromSphere, 4.0 / 3.0 * math.pi * self.size[0]**3)}[self.shape]
        return make(self.density * volume, *self.size).se3Action(
            pin.SE3(pin.rpy.rpyToMatrix(*self.rpy), np.array(self.center)))


class Payload:
    """Rigidly joined parts, whose masses add where they overlap: mass [kg], com (3,) [m] and
    inertia_com (3, 3) about it [kg m^2], in the sensor frame, and phi (10,)."""

    def __init__(self, name: str, parts: tuple[Part, ...]) -> None:
        self.name, self.parts = name, parts
        inertia = sum((part.inertia for part in parts), pin.Inertia.Zero())
        self.mass, self.com = float(inertia.mass), np.array(inertia.lever)
        self.inertia_com = np.array(inertia.inertia)
        self.phi = phi_from_body(self.mass, self.com, self.inertia_com)


# Steel, aluminium, wood, plastic; the rest of the densities make up a wanted mass.
PAYLOADS: dict[str, Payload] = {name: Payload(name, parts) for name, parts in {
    "cylinder": (Part("cylinder", (0.04, 0.10), 2700.0, (0.0, 0.0, 0.07)),),
    # 0.2 kg of handle across the flange, 0.8 kg of head at its far edge.
    "hammer": (
        Part("box", (0.25, 0.03, 0.02), 0.2 / 1.5e-4, (0.105, 0.0, 0.03)),
        Part("box", (0.03, 0.11, 0.03), 0.8 / 9.9e-5, (0.245, 0.0, 0.03))),
    "box_offset": (
        Part("box", (0.12, 0.08, 0.06), 1800.0, (0.06, -0.03, 0.09), (0.3, -0.2, 0.5)),),
    # Motor, chuck, grip and battery pack, held by the motor housing.
    "drill": (
        Part("cylinder", (0.028, 0.13), 2000.0, (0.01, 0.0, 0.05), (0.0, math.pi / 2, 0.0)),
        Part("cylinder", (0.016, 0.05), 5000.0, (0.10, 0.0, 0.05), (0.0, math.pi / 2, 0.0)),
        Part("box", (0.035, 0.03, 0.11), 700.0, (-0.03, 0.0, 0.13), (0.0, -0.2, 0.0)),
        Part("box", (0.11, 0.07, 0.05), 1250.0, (-0.025, 0.0, 0.205))),
}.items()}
