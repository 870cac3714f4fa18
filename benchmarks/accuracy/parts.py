# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Objects of a few homogeneous parts with thin sections, known by their outline.

Two halves, so that what was chosen on the one can be checked on the other: `PARTS_TUNING` and
`PARTS_CHECKING`. Truth comes from volume integrals of each part's mesh, times its density.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import trimesh
from scipy.spatial.transform import Rotation
from trimesh.creation import annulus, box, cone, cylinder, icosphere

from inertial_id_ros.inertia import Array, phi_from_body

STEEL, BRASS, ALUMINIUM, PLASTIC, RUBBER, WOOD, FOAM = 7850, 8500, 2700, 1100, 1300, 700, 60


class Part(NamedTuple):
    """A homogeneous part: closed mesh [m], density [kg/m^3]."""

    mesh: trimesh.Trimesh
    density: float


class Assembly(NamedTuple):
    """Parts that do not overlap, and their common outline where it is not that of the parts.

    Attributes:
        center: (3,) of the middle of the bounding box in the sensor frame [m].
        rotvec: (3,) its rotation there [deg].
    """

    name: str
    parts: tuple[Part, ...]
    center: tuple[float, float, float]
    rotvec: tuple[float, float, float] = (0.0, 0.0, 0.0)
    outline: tuple[trimesh.Trimesh, ...] = ()

    def placed(self) -> tuple[Array, trimesh.Trimesh, Array]:
        """phi (10,), mesh of the outline in the sensor frame, its pose (4, 4) there."""
        outline = trimesh.util.concatenate(self.outline or [p.mesh for p in self.parts])
        pose = np.eye(4)
        pose[:3, :3] = Rotation.from_rotvec(self.rotvec, degrees=True).as_matrix()
        pose[:3, 3] = self.center - pose[:3, :3] @ outline.bounds.mean(axis=0)
        phi = np.zeros(10)
        for mesh, density in self.parts:
            moved = mesh.copy()
            moved.apply_transform(pose)
            moved.density = density
            phi += phi_from_body(moved.mass, moved.center_mass, moved.moment_inertia)
        return phi, outline, pose


def _at(mesh: trimesh.Trimesh, where: Sequence[float], axis: str = "z") -> trimesh.Trimesh:
    """The mesh with its z axis along the given one, moved."""
    turn = {"x": [0.0, 90.0, 0.0], "y": [-90.0, 0.0, 0.0], "z": [0.0, 0.0, 0.0]}[axis]
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_rotvec(turn, degrees=True).as_matrix()
    pose[:3, 3] = where
    mesh.apply_transform(pose)
    return mesh


def _rod(radius: float, length: float, where: Sequence[float] = (0.0, 0.0, 0.0),
         axis: str = "z") -> trimesh.Trimesh:
    return _at(cylinder(radius, length, sections=48), where, axis)


def _tube(inner: float, outer: float, length: float, where: Sequence[float] = (0.0, 0.0, 0.0),
          axis: str = "z") -> trimesh.Trimesh:
    return _at(annulus(inner, outer, length, sections=48), where, axis)


def _bar(size: Sequence[float], where: Sequence[float] = (0.0, 0.0, 0.0)) -> trimesh.Trimesh:
    return _at(box(size), where)


def _ball(radius: float, where: Sequence[float]) -> trimesh.Trimesh:
    return _at(icosphere(subdivisions=3, radius=radius), where)


PARTS_TUNING = (
    Assembly("mallet", (Part(_rod(0.012, 0.26), WOOD),
                        Part(_bar((0.10, 0.04, 0.04), (0.0, 0.0, 0.15)), STEEL)),
             (0.0, 0.02, 0.12), (60.0, 0.0, 0.0)),
    # A steel shaft that runs through a plastic handle.
    Assembly("bit driver", (Part(_tube(0.004, 0.015, 0.11), PLASTIC),
                            Part(_rod(0.004, 0.23, (0.0, 0.0, 0.06)), STEEL)),
             (0.0, 0.04, 0.03), (90.0, 0.0, 0.0),
             (_rod(0.015, 0.11), _rod(0.004, 0.12, (0.0, 0.0, 0.115)))),
    Assembly("edged plate", (Part(_bar((0.16, 0.10, 0.003)), ALUMINIUM),
                             Part(_bar((0.16, 0.012, 0.012), (0.0, 0.056, 0.0)), STEEL)),
             (0.02, 0.0, 0.05)),
    Assembly("angle", (Part(_bar((0.20, 0.02, 0.02)), ALUMINIUM),
                       Part(_bar((0.02, 0.12, 0.02), (0.09, 0.07, 0.0)), STEEL)),
             (0.03, 0.03, 0.04), (0.0, 0.0, 30.0)),
    Assembly("plugged tube", (Part(_tube(0.018, 0.020, 0.25), STEEL),
                              Part(_rod(0.018, 0.03, (0.0, 0.0, 0.11)), BRASS)),
             (0.05, 0.0, 0.04), (0.0, 90.0, 0.0)),
    Assembly("two balls", (Part(_rod(0.004, 0.16), STEEL),
                           Part(_ball(0.02, (0.0, 0.0, 0.10)), BRASS),
                           Part(_ball(0.02, (0.0, 0.0, -0.10)), PLASTIC)),
             (0.0, 0.0, 0.06), (40.0, 60.0, 0.0)),
)

PARTS_CHECKING = (
    Assembly("paddle", (Part(_rod(0.012, 0.12), RUBBER),
                        Part(_rod(0.07, 0.006, (0.0, 0.0, 0.13), "y"), WOOD)),
             (0.0, 0.03, 0.10), (-20.0, 0.0, 10.0)),
    # A tube across, a solid stem, two rubber grips around the tube's ends.
    Assembly("tee handle", (Part(_tube(0.008, 0.010, 0.24, axis="x"), STEEL),
                            Part(_rod(0.008, 0.10, (0.0, 0.0, 0.06)), STEEL),
                            Part(_tube(0.010, 0.015, 0.07, (0.084, 0.0, 0.0), "x"), RUBBER),
                            Part(_tube(0.010, 0.015, 0.07, (-0.084, 0.0, 0.0), "x"), RUBBER)),
             (0.0, 0.0, 0.06)),
    Assembly("frame", (Part(_bar((0.20, 0.012, 0.012), (0.0, 0.074, 0.0)), ALUMINIUM),
                       Part(_bar((0.20, 0.012, 0.012), (0.0, -0.074, 0.0)), ALUMINIUM),
                       Part(_bar((0.012, 0.136, 0.012), (0.094, 0.0, 0.0)), STEEL),
                       Part(_bar((0.012, 0.136, 0.012), (-0.094, 0.0, 0.0)), ALUMINIUM)),
             (0.08, 0.0, 0.02), (15.0, 0.0, 0.0)),
    Assembly("marker", (Part(_tube(0.005, 0.009, 0.13), PLASTIC),
                        Part(_rod(0.005, 0.13), BRASS),
                        Part(_at(cone(0.009, 0.02), (0.0, 0.0, 0.065)), STEEL)),
             (0.02, 0.0, 0.03), (0.0, 70.0, 0.0),
             (_rod(0.009, 0.13), _at(cone(0.009, 0.02), (0.0, 0.0, 0.065)))),
    Assembly("bracket", (Part(_bar((0.004, 0.08, 0.12)), STEEL),
                         Part(_bar((0.06, 0.08, 0.004), (0.032, 0.0, 0.058)), STEEL),
                         Part(_bar((0.06, 0.08, 0.010), (0.032, 0.0, -0.055)), RUBBER)),
             (0.03, 0.0, 0.07), (0.0, 0.0, 45.0)),
    Assembly("panel", (Part(_bar((0.18, 0.09, 0.004), (0.0, 0.0, -0.017)), STEEL),
                       Part(_bar((0.18, 0.09, 0.030)), FOAM)),
             (0.03, 0.01, 0.04)),
)
