# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where meshes lie: the folders of packages, and what a request from outside may name.

Shapes out of requests are points, triangles, or a mesh file that somebody else names. What is small
is filled at once. The rest is filled in a process of its own, since the parsers of mesh files and
the tests of large meshes take time and memory that a request decides."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..errors import InvalidShape
from ..extras import optional_packages
from ..inertia import Array
from ..io.child_process import ChildProcess
from ..io.files import user_path
from .mesh import load_mesh, parse_resource, resolve_resource
from .shape import Shape, shape_from_mesh, shape_from_points


def resolve_allowed(resource: str, roots: tuple[Path, ...], folders: tuple[Path, ...],
                    setting: str = "resources.folders") -> Path:
    """The mesh file behind a ``file://`` or ``package://`` resource.

    Args:
        roots: of the packages, whose own links are followed; folders: that ``file://`` may lead
        to, by itself or by links; setting: where a user names them.

    Raises:
        InvalidShape: a plain path, another scheme, or a file that is elsewhere.
    """
    scheme = parse_resource(resource).scheme
    if scheme not in ("file", "package"):
        raise InvalidShape(f"mesh_resource is '{resource[:200]}' with scheme '{scheme}'; "
                           "allowed: file, package")
    path = resolve_resource(resource, roots)
    if scheme == "package":
        return path
    plain = Path(os.path.normpath(path))
    if any(plain.is_relative_to(root) for root in roots):  # what package:// names, too
        return plain
    real = Path(os.path.realpath(path))
    if not any(real.is_relative_to(os.path.realpath(user_path(folder))) for folder in folders):
        raise InvalidShape(f"{resource[:200]} does not lie in a folder from which meshes may be "
                           f"read; name its folder in {setting}")
    return real


def package_roots() -> tuple[Path, ...]:
    """Folders that hold `<package>/...` for ``package://`` resources: every prefix's share/."""
    prefixes = [p for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    return tuple(Path(p) / "share" for p in [*prefixes, sys.prefix])


SMALL = 5000  # points or triangles that are filled within some hundredths of a second
_FIELDS = ("points", "volumes", "surface", "unit_phi")


def fill_points(points: Array, child: ChildProcess) -> Shape:
    """The region that points (n, 3) fill (raises InvalidShape)."""
    if len(points) <= SMALL:
        return shape_from_points(points)
    return _fill(child, "points", points=points)


def fill_triangles(vertices: Array, faces: np.ndarray, child: ChildProcess) -> Shape:
    """The region inside a mesh of vertices (n, 3) and faces (k, 3) (raises InvalidShape)."""
    if max(len(vertices), len(faces)) <= SMALL:
        return _from_triangles(vertices, faces)
    return _fill(child, "mesh", vertices=vertices, faces=faces)


def fill_file(path: Path, scale: float, child: ChildProcess) -> Shape:
    """The region inside the mesh of a file, scaled to metres; one that did not change is not read
    again (raises InvalidShape)."""
    if not path.is_file():
        raise InvalidShape(f"mesh file {path} does not exist")
    state = path.stat()
    return _fill_file(path.resolve(), scale, state.st_mtime_ns, state.st_size, child)


@lru_cache(maxsize=8)
def _fill_file(path: Path, scale: float, changed: int, size: int, child: ChildProcess) -> Shape:
    """As `fill_file`; time of change and size make a changed file a new one."""
    return _fill(child, path.name, path=np.array(str(path)), scale=np.array(scale))


def _fill(child: ChildProcess, name: str, **arrays: np.ndarray) -> Shape:
    """The shape of that name that another process makes of arrays (raises InvalidShape)."""
    reply = child.run(f"{__name__}:fill", _pack(arrays), f"the shape '{name}'", InvalidShape)
    points, volumes, surface, unit_phi = map(_unpack(reply).__getitem__, _FIELDS)
    return Shape(points, volumes, surface, unit_phi, bounding=False, name=name)


def fill(data: bytes) -> bytes:
    """In the other process: the arrays of a shape from those of points, triangles or a path.

    Raises:
        InvalidShape: no shape can be made of them.
    """
    given = _unpack(data)
    if "points" in given:
        shape = shape_from_points(given["points"])
    elif "vertices" in given:
        shape = _from_triangles(given["vertices"], given["faces"])
    else:
        path = Path(str(given["path"]))
        shape = shape_from_mesh(load_mesh(path, float(given["scale"])), np.eye(4), name=path.name)
    return _pack({field: getattr(shape, field) for field in _FIELDS})


def placed(shape: Shape, pose: Array, bounding: bool) -> Shape:
    """A filled shape at a pose (4, 4), as a bound or as the body itself (raises InvalidShape)."""
    return replace(shape, bounding=bounding).place(pose)


def _from_triangles(vertices: Array, faces: np.ndarray) -> Shape:
    """As `fill_triangles`, here (raises InvalidShape)."""
    with optional_packages("a shape from a mesh"):  # it takes half a second to import
        import trimesh

    return shape_from_mesh(trimesh.Trimesh(vertices, faces), np.eye(4))


def _pack(arrays: dict[str, np.ndarray]) -> bytes:
    """Arrays by name as bytes."""
    out = io.BytesIO()
    np.savez(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def _unpack(data: bytes) -> dict[str, np.ndarray]:
    """The arrays in bytes that `_pack` made."""
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        return dict(held)
