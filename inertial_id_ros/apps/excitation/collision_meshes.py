# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The collision meshes that a robot description names, read by the rules for meshes from outside.

Pinocchio reads whatever file a description names, with readers that damaged files crash or keep
busy for ever. It is given copies of what this package has read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from ...errors import InvalidShape
from ...extras import optional_packages
from ...geometry.mesh import load_mesh
from ...geometry.resources import resolve_allowed
from ...limits import MAX_FACES


@contextmanager
def copy_meshes(urdf: str, packages: Sequence[Path], folders: Sequence[Path], setting: str
                ) -> Iterator[str]:
    """The description with its collision meshes replaced by copies; they live as long as the block.

    Args:
        urdf: text that was parsed before; packages, folders, setting: see `resolve_allowed`.

    Raises:
        InvalidShape: a mesh that is not allowed, too large, or cannot be read; InvalidSetting: a
            path that no file can have.
    """
    tree = ElementTree.fromstring(urdf)
    copies: dict[str, str] = {}
    with TemporaryDirectory() as place:
        for mesh in tree.iterfind(".//collision/geometry/mesh"):
            name = mesh.get("filename", "")
            if name not in copies:
                path = resolve_allowed(name, tuple(packages), tuple(folders), setting)
                copies[name] = str(Path(place) / f"{len(copies)}.stl")
                Path(copies[name]).write_bytes(_binary_stl(path))
            mesh.set("filename", copies[name])
        yield ElementTree.tostring(tree, "unicode")


def _binary_stl(path: Path) -> bytes:
    """A mesh file as binary STL (raises InvalidShape: too many faces)."""
    with optional_packages("reading a mesh"):  # only where there is one: it costs a second
        from trimesh.exchange.stl import export_stl

    mesh = load_mesh(path)
    if len(mesh.faces) > MAX_FACES:
        raise InvalidShape(f"mesh file {path} has {len(mesh.faces)} faces; at most {MAX_FACES} are "
                           "allowed")
    return export_stl(mesh)
