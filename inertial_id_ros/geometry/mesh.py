# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Files of triangles or points, and the addresses that name them."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

import numpy as np

from ..errors import InvalidShape
from ..extras import optional_packages
from ..io.files import user_path
from ..limits import MAX_MESH_BYTES
from .point_sets import has_volume

if TYPE_CHECKING:  # half a second of imports, which only shapes need
    import trimesh

MESH_KINDS = ("stl", "ply", "obj", "off", "xyz", "npy")
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
    kind, size = path.suffix.lower().lstrip("."), path.stat().st_size
    if kind not in MESH_KINDS:
        raise InvalidShape(f"mesh file {path} is of kind '{kind}'; allowed: "
                           + ", ".join(MESH_KINDS))
    if size > MAX_MESH_BYTES:
        raise InvalidShape(f"mesh file {path} has {size} bytes; at most {MAX_MESH_BYTES} are "
                           "allowed")
    with optional_packages("a shape from a mesh"):
        import trimesh

    mesh = _read(path, kind)
    corners = np.asarray(getattr(mesh, "vertices", ()), dtype=float)
    farthest = np.abs(corners[np.isfinite(corners)]).max(initial=0.0)
    if farthest > _FARTHEST:
        raise InvalidShape(f"mesh file {path} reaches {farthest:g} from its origin; at most "
                           f"{_FARTHEST:g} is allowed")
    if isinstance(mesh, trimesh.PointCloud) or (
            isinstance(mesh, trimesh.Trimesh) and len(mesh.faces) == 0 and len(corners) > 0):
        points = corners[np.isfinite(corners).all(axis=1)]  # a scanner may get no return
        if len(points) < 4 or not has_volume(points):
            raise InvalidShape(f"mesh file {path} holds {len(points)} points, which enclose no "
                               "volume; at least four that are not in one plane are needed")
        mesh = trimesh.PointCloud(points).convex_hull
    if not isinstance(mesh, trimesh.Trimesh) or len(mesh.faces) == 0:
        raise InvalidShape(f"mesh file {path} holds no triangles")
    mesh.apply_scale(scale)
    return mesh


def _read(path: Path, kind: str) -> trimesh.parent.Geometry:
    """What a file of this kind holds (raises InvalidShape where it cannot be read)."""
    import trimesh

    try:
        if kind == "npy":
            values = np.load(path, allow_pickle=False)
            if values.ndim != 2 or values.shape[1] != 3 or not np.issubdtype(
                    values.dtype, np.number):
                raise InvalidShape(f"it holds an array of {values.dtype} of shape {values.shape}, "
                                   "not points (n, 3)")
            return trimesh.PointCloud(values)
        # From memory: in the folder of a file, materials are looked for, wherever they are.
        with np.errstate(all="ignore"):  # absurd numbers are refused by the caller
            mesh = trimesh.load(io.BytesIO(path.read_bytes()), file_type=kind)
        return mesh.to_mesh() if isinstance(mesh, trimesh.Scene) else mesh
    except ModuleNotFoundError as error:  # the reader would guess what text this is
        raise InvalidShape(f"mesh file {path} cannot be read: it is damaged, or no {kind} file"
                           ) from error
    except Exception as error:  # readers of many formats raise many kinds
        raise InvalidShape(f"mesh file {path} cannot be read: {str(error)[:200]}") from error


def resolve_resource(resource: str, roots: tuple[Path, ...] = ()) -> Path:
    """The file behind a plain path, a ``file://`` or a ``package://`` resource.

    Raises:
        InvalidShape: another scheme, or a package that is not under the given roots.
    """
    if not resource:
        raise InvalidShape("shape.mesh is empty; give a mesh file")
    try:
        parsed = urlparse(resource)
    except ValueError as error:
        raise InvalidShape(f"mesh resource '{resource[:200]}' is no address: {error}") from None
    if parsed.scheme == "":
        return user_path(resource)
    if parsed.scheme == "file" and parsed.netloc == "":
        return user_path(unquote(parsed.path))
    if parsed.scheme != "package":
        raise InvalidShape(f"mesh resource '{resource[:200]}' has scheme '{parsed.scheme}'; "
                           "allowed: file, package")
    for root in roots:
        path = root / parsed.netloc / unquote(parsed.path).lstrip("/")
        if os.path.isfile(path):
            return path
    raise InvalidShape(f"{resource[:200]} was not found in the installed packages")


def package_roots() -> tuple[Path, ...]:
    """Folders that hold `<package>/...` for ``package://`` resources: every prefix's share/."""
    prefixes = [p for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    return tuple(Path(p) / "share" for p in [*prefixes, sys.prefix])
