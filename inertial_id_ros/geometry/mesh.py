# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Files of triangles or points, the addresses that name them, and the inside of closed surfaces."""

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidData
from ..extras import optional_packages
from ..inertia import Array
from ..io.files import user_path
from ..limits import MAX_MESH_BYTES, MAX_POINTS

if TYPE_CHECKING:  # half a second of imports, which only shapes need
    import trimesh

MESH_KINDS = ("stl", "ply", "obj", "off")
# Columns stand aside from the grid by this part of its pitch, since those of a symmetric mesh
# would run along edges of its triangles.
_ASIDE = np.sqrt(np.finfo(float).eps * np.array([2.0, 3.0]))


def load_mesh(path: Path, scale: float = 1.0) -> "trimesh.Trimesh":
    """A triangle mesh file (STL, PLY, OBJ, OFF), scaled to metres (raises InvalidData: no such
    file, or no mesh)."""
    if not os.path.isfile(path):  # that of a Path raises where a folder may not be read
        raise InvalidData(f"mesh file {path} does not exist")
    kind, size = path.suffix.lower().lstrip("."), path.stat().st_size
    if kind not in MESH_KINDS:
        raise InvalidData(f"mesh file {path} is of kind '{kind}'; allowed: "
                           + ", ".join(MESH_KINDS))
    if size > MAX_MESH_BYTES:
        raise InvalidData(f"mesh file {path} has {size} bytes; at most {MAX_MESH_BYTES} are "
                           "allowed")
    with optional_packages("a shape from a mesh"):
        import trimesh

    try:
        # From memory: in the folder of a file, materials are looked for, wherever they are.
        with np.errstate(all="ignore"):  # absurd numbers are refused by `shape_from_mesh`
            mesh = trimesh.load_mesh(io.BytesIO(path.read_bytes()), file_type=kind)
        if isinstance(mesh, trimesh.Scene):
            mesh = mesh.to_mesh()
    except Exception as error:  # readers of many formats raise many kinds
        # Where the text is that of a missing module, the reader guesses what text this is.
        why = "it is damaged" if isinstance(error, ModuleNotFoundError) else str(error)[:200]
        raise InvalidData(f"mesh file {path} cannot be read: {why}") from error
    if not isinstance(mesh, trimesh.Trimesh) or not len(mesh.faces):
        raise InvalidData(f"mesh file {path} holds no triangles; ~/set_shape takes points, too")
    mesh.apply_scale(scale)
    return mesh


def resolve_resource(resource: str, roots: tuple[Path, ...] = ()) -> Path:
    """The file behind a plain path, a ``file://`` or a ``package://`` resource, that is
    `root/<package>/...` under one of these folders; none: those of the packages installed.

    Raises:
        InvalidData: empty, another scheme, or a package that is not under the roots.
    """
    scheme, divider, rest = resource.partition("://")
    if resource and not divider:
        return user_path(resource)
    if scheme == "file" and rest.startswith("/"):
        return user_path(unquote(rest))
    for root in (roots or package_roots()) if scheme == "package" else ():
        path = root / unquote(rest).lstrip("/")
        if os.path.isfile(path):
            return path
    raise InvalidData(f"shape.mesh is '{resource[:200]}'; allowed: a path, file:///..., or "
                       "package://... of an installed package")


def package_roots() -> tuple[Path, ...]:
    """Folders that hold `<package>/...` for ``package://`` resources: every prefix's share/."""
    prefixes = [p for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    return tuple(Path(p) / "share" for p in [*prefixes, sys.prefix])


def grid_axes(bounds: ArrayLike, cell: float) -> list[Array]:
    """Coordinates [m] along x, y, z of a grid that fits a box, with cells of about a volume [m^3].

    Args:
        bounds: lower and upper corner (2, 3) [m] of the box.
    """
    lower, upper = np.asarray(bounds, dtype=float)
    # A grid that fits the box exactly keeps the moments of boxes exact.
    counts = np.clip(np.round((upper - lower) / np.cbrt(cell)), 1, 400)
    while counts.prod() > MAX_POINTS:  # thin diagonal shells: bound the work, not the pitch
        counts = np.maximum(counts * 4 // 5, 1)
    return [lo + (np.arange(n) + 0.5) * (hi - lo) / n
            for lo, hi, n in zip(lower, upper, counts.astype(int), strict=True)]


def grid_points(axes: list[Array]) -> Array:
    """All points (n, 3) of a grid, z running fastest."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def is_interior(triangles: Array, axes: list[Array]) -> np.ndarray:
    """Which points of a grid, in the order of `grid_points`, lie inside closed surfaces.

    Columns of the grid along z cross the surface; the sum of signs of the crossings below a point
    is its winding number, which is positive inside. Bodies of an assembly may therefore touch,
    overlap or be hollow, which a count of crossings (odd or even) does not stand.

    Args:
        triangles: (n, 3, 3) corners, counterclockwise seen from outside.
    """
    pitch = [a[1] - a[0] if len(a) > 1 else 1.0 for a in axes]
    x, y, z = axes[0] + _ASIDE[0] * pitch[0], axes[1] + _ASIDE[1] * pitch[1], axes[2]
    edges = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2)  # (n, 3, 2, 3): from, to
    change = np.zeros((len(x), len(y), len(z) + 1), dtype=np.int32)
    for crossed, at in zip(change, x, strict=True):
        beyond, ends = edges[..., 0] > at, []
        for forward in (False, True):  # of the triangles that the plane x = at cuts, one edge each
            start, end = np.moveaxis(
                edges[(beyond[..., 1] == forward) & (beyond[..., 0] != forward)], 1, 0)
            part = (at - start[:, 0]) / (end[:, 0] - start[:, 0])
            ends.append((start + part[:, None] * (end - start))[:, 1:].T)
        (left, low), (right, high) = ends
        cut, column = np.nonzero((left[:, None] < y) != (right[:, None] < y))
        part = (y[column] - left[cut]) / (right[cut] - left[cut])
        height = low[cut] + part * (high[cut] - low[cut])
        level = np.ceil((height - z[0]) / pitch[2]).clip(0, len(z)).astype(int)
        np.add.at(crossed, (column, level), np.where(left[cut] < right[cut], 1, -1))
    return (np.cumsum(change[..., :-1], axis=2) > 0).ravel()
