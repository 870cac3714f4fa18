# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Universal Scene Description for Isaac Sim and other simulators: text with UsdPhysics schemas.

The conventions of UsdPhysics (openusd.org, "Rigid Body Physics in USD"): `physics:centerOfMass` is
in the prim's own space; `physics:diagonalInertia` holds the moments about the centre of mass along
the principal axes, which `physics:principalAxes` turns into the prim's space (w, x, y, z). These
attributes have single precision; the custom data of the prim have double.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from ..errors import printable
from ..geometry.mesh import load_mesh
from ..inertia import PARAMETER_NAMES, Array, principal_moments
from .payload import DRAW, Mesh, PayloadOnLink, ranges_of
from .urdf import indented, number

CUSTOM_DATA = "inertial_id_ros"  # name of the dictionary among the custom data of the prim
_NEARLY_ZERO = 1e-5  # kg m^2: moments whose root of squares is smaller count as not stated


def mesh_of_file(path: Path) -> Mesh:
    """The triangles of a mesh file [m] (raises InvalidShape)."""
    mesh = load_mesh(path)
    return Mesh(np.asarray(mesh.vertices), np.asarray(mesh.faces))


def notes_for_usd(payload: PayloadOnLink) -> tuple[str, ...]:
    """What only a user of USD must know, one sentence each."""
    size = float(np.linalg.norm(principal_moments(payload.body.inertia_com)[0]))
    if size >= _NEARLY_ZERO:
        return ()
    return (f"its moments are {size:.1e} kg m^2 in all; what asks OpenUSD for mass properties "
            f"takes less than {_NEARLY_ZERO:g} kg m^2 for none, and gets a small sphere instead",)


def payload_usd(payload: PayloadOnLink) -> str:
    """A layer (.usda) whose default prim is the payload, a rigid body in the parent's frame."""
    moments, axes = principal_moments(payload.body.inertia_com)
    x, y, z, w = pin.Quaternion(axes).coeffs()
    hint = (f"To be fixed to the robot: reference this prim at the pose of '{payload.parent}', and "
            "connect both by a PhysicsFixedJoint")
    return "\n".join([
        "#usda 1.0", "(", f"    defaultPrim = {_text(_identifier(payload.link))}",
        f"    doc = {_text(hint)}", "    kilogramsPerUnit = 1", "    metersPerUnit = 1",
        '    upAxis = "Z"', ")", "",
        f"def Xform {_text(_identifier(payload.link))} (",
        '    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]',
        "    customData = {", f"        dictionary {CUSTOM_DATA} = {{",
        *indented(_custom_data(payload), 6), "        }", "    }",
        f"    displayName = {_text(payload.link)}", ")", "{",
        f"    point3f physics:centerOfMass = {_tuple(payload.body.com)}",
        f"    float3 physics:diagonalInertia = {_tuple(moments)}",
        f"    float physics:mass = {number(payload.body.mass)}",
        f"    quatf physics:principalAxes = {_tuple((w, x, y, z))}",
        *(indented(_mesh(payload.mesh), 2) if payload.mesh else ()), "}", ""])


def _custom_data(payload: PayloadOnLink) -> list[str]:
    """Entries of the dictionary: the numbers in double precision, what to know, the ranges."""
    body, ranges = payload.body, ranges_of(payload)
    lines = [f"string source = {_text(payload.source)}", f"string parent = {_text(payload.parent)}",
             f"string[] notes = {_array(map(_text, payload.notes))}",
             f"double mass = {number(body.mass)}", f"double3 centerOfMass = {_tuple(body.com)}",
             f"matrix3d inertia = {_tuple(_tuple(row) for row in body.inertia_com)}"]
    if ranges is None:
        return lines
    return [*lines, f"string ranges = {_text(DRAW)}", f"double2 massRange = {_tuple(ranges.mass)}",
            f"double3[] centerOfMassRange = {_array(map(_tuple, ranges.com))}",
            f"double3[] diagonalInertiaRange = {_array(map(_tuple, ranges.moments))}",
            f"string[] covarianceOf = {_array(map(_text, PARAMETER_NAMES))}",
            f"double[] covariance = {_array(map(number, ranges.covariance.ravel().tolist()))}"]


def _mesh(mesh: Mesh) -> list[str]:
    """A prim below the payload that is seen, and collides by its convex hull."""
    corners: Array = np.stack([mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)])
    return ["", 'def Mesh "shape" (',
            '    prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]', ")", "{",
            f"    float3[] extent = {_array(map(_tuple, corners))}",
            f"    int[] faceVertexCounts = {_array(['3'] * len(mesh.faces))}",
            f"    int[] faceVertexIndices = {_array(map(str, mesh.faces.ravel().tolist()))}",
            '    uniform token physics:approximation = "convexHull"',
            f"    point3f[] points = {_array(map(_tuple, mesh.vertices))}",
            '    uniform token subdivisionScheme = "none"', "}"]


def _identifier(name: str) -> str:
    """A name that every version of USD takes for a prim; the display name keeps the given one."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{plain}" if plain[0].isdigit() else plain


def _text(text: str) -> str:
    """A string in quotes."""
    return '"' + printable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tuple(values: Iterable[Any]) -> str:
    """Numbers, or texts of rows, in parentheses."""
    return f"({', '.join(v if isinstance(v, str) else number(v) for v in values)})"


def _array(texts: Iterable[str]) -> str:
    """Texts of entries in brackets."""
    return f"[{', '.join(texts)}]"
