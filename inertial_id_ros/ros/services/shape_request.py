# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The shape that a `SetShape` request describes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import trimesh
from shape_msgs.msg import Mesh, SolidPrimitive

from inertial_id_ros.srv import SetShape

from ...errors import InvalidShape
from ...geometry.resources import resolve_allowed
from ...geometry.shape import (
    Shape,
    shape_from_file,
    shape_from_mesh,
    shape_from_points,
    shape_from_primitive,
)
from ...inertia import Array
from ...limits import MAX_FACES, MAX_POINTS
from ..conversions import pose_matrix

_KINDS = {SolidPrimitive.BOX: "box", SolidPrimitive.SPHERE: "sphere",
          SolidPrimitive.CYLINDER: "cylinder", SolidPrimitive.CONE: "cone"}
Lookup = Callable[[str], Array]  # homogeneous (4, 4) from the named frame to the sensor frame


def shape_from_request(request: SetShape.Request, to_sensor: Lookup,
                       roots: tuple[Path, ...] = (), folders: tuple[Path, ...] = ()
                       ) -> Shape | None:
    """The requested shape in the sensor frame; None where the request asks to forget it.

    Args:
        to_sensor: transform (4, 4) from a frame to the sensor frame (raises UnknownFrame).
        roots: `package://` resources are looked for under these folders.
        folders: `file://` resources may lie in these folders.

    Raises:
        InvalidShape: none, more than one, or an unusable shape; InvalidData: a bad pose;
        UnknownFrame: the frame of the pose is not known.
    """
    given = [name for name, there in (
        ("primitive", request.primitive.type != 0), ("mesh", len(request.mesh.triangles) > 0
                                                     or len(request.mesh.vertices) > 0),
        ("mesh_resource", bool(request.mesh_resource)), ("points", len(request.points) > 0),
    ) if there]
    if not given:
        return None
    if len(given) > 1:
        raise InvalidShape(f"the request gives {' and '.join(given)}; give exactly one")
    for what, count, limit in (("mesh.vertices", len(request.mesh.vertices), MAX_POINTS),
                               ("mesh.triangles", len(request.mesh.triangles), MAX_FACES),
                               ("points", len(request.points), MAX_POINTS)):
        if count > limit:
            raise InvalidShape(f"{what} has {count} entries; at most {limit} are allowed")
    pose = pose_matrix(request.pose)
    if request.frame_id:
        pose = to_sensor(request.frame_id) @ pose
    bounding = bool(request.bounding)
    if given[0] == "primitive":
        return shape_from_primitive(*_kind_and_sizes(request.primitive), pose, bounding)
    if given[0] == "points":
        cloud = np.array([[p.x, p.y, p.z] for p in request.points])
        return shape_from_points(cloud @ pose[:3, :3].T + pose[:3, 3], bounding=bounding)
    if given[0] == "mesh":
        return shape_from_mesh(_mesh_from_message(request.mesh), pose, bounding)
    scale = request.mesh_scale or 1.0
    if not (np.isfinite(scale) and scale > 0.0):
        raise InvalidShape(f"mesh_scale is {scale:g}; allowed: above 0, or 0 for 1")
    path = resolve_allowed(request.mesh_resource, roots, folders)
    return shape_from_file(path, scale, pose, bounding)


def _kind_and_sizes(primitive: SolidPrimitive) -> tuple[str, list[float]]:
    """Kind and sizes [m] of a primitive, radius before height (raises InvalidShape)."""
    if primitive.type not in _KINDS:
        raise InvalidShape(f"primitive.type is {primitive.type}; allowed: " + ", ".join(
            f"{number} ({name})" for number, name in _KINDS.items()))
    kind, sizes = _KINDS[primitive.type], [float(d) for d in primitive.dimensions]
    return kind, sizes[::-1] if kind in ("cylinder", "cone") else sizes


def _mesh_from_message(message: Mesh) -> trimesh.Trimesh:
    """The mesh of a message (raises InvalidShape: not finite, or faces without vertices)."""
    vertices = np.array([[v.x, v.y, v.z] for v in message.vertices], dtype=float).reshape(-1, 3)
    faces = np.array([t.vertex_indices for t in message.triangles], dtype=np.int64).reshape(-1, 3)
    if not np.isfinite(vertices).all():
        raise InvalidShape("mesh.vertices must be finite")
    if len(faces) == 0 or faces.max() >= len(vertices):
        raise InvalidShape("mesh.triangles name vertices that the mesh does not have (it has "
                           f"{len(vertices)})")
    return trimesh.Trimesh(vertices, faces)
