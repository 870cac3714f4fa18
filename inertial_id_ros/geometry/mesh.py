# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Files of triangles or points, and the addresses that name them."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import ParseResult, unquote, urlparse

import numpy as np

from ..errors import InvalidShape
from ..extras import optional_packages
from ..inertia import Array
from ..io.files import user_path
from ..limits import MAX_MESH_BYTES
from .point_sets import has_volume

if TYPE_CHECKING:  # half a second of imports, which only shapes need
    import trimesh

MESH_KINDS = ("stl", "ply", "obj", "off", "xyz", "npy")
_PACKAGE = re.compile(r"[A-Za-z0-9_-]+")
_FARTHEST = 1e6  # units of a mesh file, which may be millimetres


def load_mesh(path: Path, scale: float = 1.0) -> trimesh.Trimesh:
    """A triangle mesh file (STL, PLY, OBJ, ...), scaled to metres.

    Only formats that are one file each are read, so that a mesh cannot name other files.
    Of a file of points without triangles (PLY, XYZ, or NPY with an array (n, 3)), the convex hull:
    points of a scan lie on the surface, so that no volume can be made of them alone. An object with
    hollows is smaller than its hull; ``shape.bounding`` says that.

    Raises:
        InvalidShape: no such file, or neither a mesh nor points.
    """
    if not os.path.isfile(path):  # that of a Path raises where a folder may not be read
        raise InvalidShape(f"mesh file {path} does not exist")
    kind = path.suffix.lower().lstrip(".")
    if kind not in MESH_KINDS:
        raise InvalidShape(f"mesh file {path} is of kind '{kind}'; allowed: "
                           + ", ".join(MESH_KINDS))
    size = path.stat().st_size
    if size > MAX_MESH_BYTES:
        raise InvalidShape(f"mesh file {path} has {size} bytes; at most {MAX_MESH_BYTES} are "
                           "allowed")
    with optional_packages("a shape from a mesh"):
        import trimesh

    try:
        if kind == "npy":
            points = _check_points(np.load(path, allow_pickle=False))
            mesh: trimesh.parent.Geometry = trimesh.PointCloud(points)
        else:
            # From memory: in the folder of a file, materials are looked for, wherever they are.
            # Absurd numbers are told below.
            with np.errstate(all="ignore"):
                mesh = trimesh.load(io.BytesIO(path.read_bytes()), file_type=kind)
            if isinstance(mesh, trimesh.Scene):
                mesh = mesh.to_mesh()
    except ModuleNotFoundError as error:  # the reader would guess what text this is
        raise InvalidShape(f"mesh file {path} cannot be read: it is damaged, or no {kind} file"
                           ) from error
    except Exception as error:  # readers of many formats raise many kinds
        raise InvalidShape(f"mesh file {path} cannot be read: {str(error)[:200]}") from error
    _check_extent(mesh, path)
    if isinstance(mesh, trimesh.PointCloud) or (
            isinstance(mesh, trimesh.Trimesh) and len(mesh.faces) == 0 and len(mesh.vertices) > 0):
        mesh = _convex_hull(np.asarray(mesh.vertices, dtype=float), path)
    if not isinstance(mesh, trimesh.Trimesh) or len(mesh.faces) == 0:
        raise InvalidShape(f"mesh file {path} holds no triangles")
    mesh.apply_scale(scale)
    return mesh


def _check_extent(mesh: trimesh.parent.Geometry, path: Path) -> None:
    """Raise InvalidShape where a corner lies farther off than any object reaches."""
    corners = np.asarray(getattr(mesh, "vertices", ()), dtype=float)
    farthest = np.abs(corners[np.isfinite(corners)]).max(initial=0.0)
    if farthest > _FARTHEST:
        raise InvalidShape(f"mesh file {path} reaches {farthest:g} from its origin; at most "
                           f"{_FARTHEST:g} is allowed")


def _check_points(values: Array) -> Array:
    """The array, if it is numbers (n, 3) (raises InvalidShape)."""
    if values.ndim != 2 or values.shape[1] != 3 or not np.issubdtype(values.dtype, np.number):
        raise InvalidShape(f"it holds an array of {values.dtype} of shape {values.shape}, "
                           "not points (n, 3)")
    return values


def _convex_hull(points: Array, path: Path) -> trimesh.Trimesh:
    """Convex hull of points (n, 3); those that are not finite (no return of a scanner) are left
    out."""
    with optional_packages("a shape from points"):
        import trimesh

    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 4 or not has_volume(points):
        raise InvalidShape(f"mesh file {path} holds {len(points)} points, which enclose no volume; "
                           "at least four that are not in one plane are needed")
    return trimesh.PointCloud(points).convex_hull


def resolve_resource(resource: str, roots: tuple[Path, ...] = ()) -> Path:
    """The file behind a plain path, a ``file://`` or a ``package://`` resource.

    Raises:
        InvalidShape: another scheme, or a package that is not under the given roots.
    """
    if not resource:
        raise InvalidShape("shape.mesh is empty; give a mesh file")
    parsed = parse_resource(resource)
    if parsed.scheme == "":
        return user_path(resource)
    if parsed.scheme == "file" and parsed.netloc == "":
        return user_path(unquote(parsed.path))
    if parsed.scheme == "package":
        return _resolve_in_package(resource, parsed.netloc, unquote(parsed.path), roots)
    raise InvalidShape(f"mesh resource '{resource}' has scheme '{parsed.scheme}'; "
                       "allowed: file, package")


def _resolve_in_package(resource: str, package: str, name: str, roots: tuple[Path, ...]) -> Path:
    """A file of an installed package.

    Links in a package are followed wherever they lead: who installed it made them, as colcon's
    ``--symlink-install`` does for every file, and no request can. What a request could do is to
    climb out of the package by its name.
    """
    inside = os.path.normpath(name.lstrip("/"))
    if not _PACKAGE.fullmatch(package) or inside.split("/")[0] in ("..", "."):
        raise InvalidShape(f"{resource[:200]} names no file in a package; it must be "
                           "package://<package>/<file>")
    for root in roots:
        candidate = root / user_path(f"{package}/{inside}")
        if os.path.isfile(candidate):
            return candidate
    raise InvalidShape(f"{resource[:200]} was not found in the installed packages")


def parse_resource(resource: str) -> ParseResult:
    """The parts of a resource's address (raises InvalidShape)."""
    try:
        return urlparse(resource)
    except ValueError as error:
        raise InvalidShape(f"mesh resource '{resource[:200]}' is no address: {error}") from None
