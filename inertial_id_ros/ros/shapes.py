# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The shape that a request of ~/set_shape describes."""

from __future__ import annotations

from typing import Any

import numpy as np
from shape_msgs.msg import SolidPrimitive

from ..errors import InvalidShape
from ..extras import optional_packages
from ..geometry.mesh import load_mesh, package_roots, resolve_resource
from ..geometry.shape import Shape, shape_from_mesh, shape_from_points, shape_from_primitive
from ..inertia import Array
from .conversions import pose_matrix

KINDS = {SolidPrimitive.BOX: "box", SolidPrimitive.SPHERE: "sphere",
         SolidPrimitive.CYLINDER: "cylinder"}


def read_shape(request: Any) -> Shape | None:
    """The shape that a request describes, about the origin of its frame_id; None where it asks to
    forget the shape. May take seconds.

    Raises:
        InvalidShape: more than one shape, or one that cannot be accepted; InvalidData: a bad pose.
    """
    given = {make: name for make, name, there in (
        (_primitive, "primitive", request.primitive.type != 0),
        (_mesh, "mesh", len(request.mesh.triangles) or len(request.mesh.vertices)),
        (_file, "mesh_resource", request.mesh_resource),
        (_points, "points", len(request.points))) if there}
    if not given:
        return None
    if len(given) > 1:
        raise InvalidShape(f"the request gives {' and '.join(given.values())}; give exactly one")
    (make,) = given
    return make(request).place(pose_matrix(request.pose), bool(request.bounding))


def _primitive(request: Any) -> Shape:
    primitive = request.primitive
    if primitive.type not in KINDS:
        raise InvalidShape(f"primitive.type is {primitive.type}; allowed: " + ", ".join(
            f"{number} ({name})" for number, name in KINDS.items()))
    kind, sizes = KINDS[primitive.type], [float(d) for d in primitive.dimensions]
    # Messages give the height first.
    sizes = sizes[::-1] if kind == "cylinder" else sizes
    return shape_from_primitive(kind, sizes, np.eye(4))


def _mesh(request: Any) -> Shape:
    with optional_packages("a shape from a mesh"):
        import trimesh

    vertices = _rows(request.mesh.vertices)
    faces = np.array([t.vertex_indices for t in request.mesh.triangles], dtype=np.int64)
    if not np.isfinite(vertices).all() or not 0 <= faces.max(initial=-1) < len(vertices):
        raise InvalidShape("mesh.vertices must be finite, and mesh.triangles name some of them (it "
                           f"has {len(vertices)})")
    return shape_from_mesh(trimesh.Trimesh(vertices, faces), np.eye(4))


def _file(request: Any) -> Shape:
    scale = request.mesh_scale or 1.0
    if not (np.isfinite(scale) and scale > 0.0):
        raise InvalidShape(f"mesh_scale is {scale:g}; allowed: above 0, or 0 for 1")
    path = resolve_resource(request.mesh_resource, package_roots())
    return shape_from_mesh(load_mesh(path, scale), np.eye(4), False, path.name)


def _points(request: Any) -> Shape:
    return shape_from_points(_rows(request.points))


def _rows(points: Any) -> Array:
    """Coordinates (n, 3) of point messages."""
    return np.array([(p.x, p.y, p.z) for p in points], dtype=float).reshape(-1, 3)
