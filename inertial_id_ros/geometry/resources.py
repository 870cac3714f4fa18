# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where meshes lie: the folders of packages, and what a request from outside may name."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..errors import InvalidShape
from ..io.files import user_path
from .mesh import parse_resource, resolve_resource


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
