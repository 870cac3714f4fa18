# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The shape of the carried object: points that fill it, its surface, its bounding box.

Everything is in the sensor frame [m]. Estimators need points with volumes (`pmd`, priors), exact
moments of the filled body, or a bounding region (`lmi`).

Sizes of primitives [m]: box (x, y, z), sphere (radius), cylinder (radius, height) along z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShape
from ..extras import optional_packages
from ..inertia import Array, phi_from_body, point_columns, pseudo_inertia, transform_phi
from ..limits import FARTHEST, MAX_FACES, MAX_POINTS, THINNEST
from ..settings import ShapeSettings
from .mesh import load_mesh, resolve_resource
from .point_sets import (
    enclosing_ellipsoid,
    farthest_points,
    grid_points,
    has_volume,
    is_interior,
    merge_points,
    outermost_points,
)

if TYPE_CHECKING:
    import trimesh

SIZES = {"box": 3, "cylinder": 2, "sphere": 1}
INTERIOR_POINTS = 4000  # interior points asked for; enough for moments within a percent
MAX_GRID = 100_000  # points tried for a mesh that fills little of its box
FEWEST = 50  # points in a mesh
_SECTIONS = 96  # corners of a circle, for points on the surface
_SCATTERED = 1000  # points spread over a surface
_NOWHERE = (0.0, 0.0, 0.0)  # the default of centre and angles


@dataclass(frozen=True, eq=False)
class Shape:
    """A filled region in the sensor frame.

    Attributes:
        points: (n, 3) interior points; volumes: (n,) the volume [m^3] each stands for.
        surface: (m, 3) points on the boundary, corners included.
        unit_phi: (10,) inertial parameters of the region filled with 1 kg, exact where known.
        bounding: the region only bounds the object; its mass may sit anywhere inside.
        name: for reports.
        parts: surfaces (k, 3) of the convex primitives it is made of; empty: it is one.

    Raises:
        InvalidShape: it reaches farther than any robot, or is too thin.
    """

    points: Array
    volumes: Array
    surface: Array
    unit_phi: Array
    bounding: bool
    name: str
    parts: tuple[Array, ...] = ()

    def __post_init__(self) -> None:
        far, thin = float(np.abs(self.bounds).max()), float(self.lengths.min())
        if not (far <= FARTHEST and thin >= THINNEST):
            raise InvalidShape(
                f"{self.name} reaches {far:.4g} m from the sensor and is {thin:.4g} m thin; "
                f"allowed: at most {FARTHEST:g} m and at least {THINNEST:g} m (are the units "
                "metres?)")

    @cached_property
    def volume(self) -> float:
        """Enclosed volume [m^3]."""
        return float(self.volumes.sum())

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Lower and upper corner (3,) of the bounding box along the sensor axes."""
        everything = np.concatenate([self.points, self.surface])
        return everything.min(axis=0), everything.max(axis=0)

    @property
    def lengths(self) -> Array:
        """Lengths (3,) of the bounding box along the sensor axes."""
        return np.asarray(self.bounds[1] - self.bounds[0])

    @property
    def middle(self) -> Array:
        """Middle (3,) of the bounding box [m]."""
        return np.asarray(0.5 * (self.bounds[0] + self.bounds[1]))

    @cached_property
    def axes(self) -> Array:
        """Principal axes (3, 3) of the evenly filled shape, as columns."""
        pseudo = pseudo_inertia(self.unit_phi)
        com = pseudo[:3, 3]
        return np.linalg.eigh(pseudo[:3, :3] - np.outer(com, com))[1]

    @cached_property
    def ellipsoid(self) -> Array:
        """Matrix Q (4, 4) of the smallest enclosing ellipsoid, see `enclosing_ellipsoid`."""
        return _smallest_ellipsoid(self.surface)

    @cached_property
    def ellipsoids(self) -> tuple[Array, ...]:
        """The same of each primitive it is made of: their union holds it."""
        return tuple(_smallest_ellipsoid(part) for part in self.parts) or (self.ellipsoid,)

    def uniform(self, mass: float) -> Array:
        """phi (10,) of the region filled evenly with the given mass [kg]."""
        return mass * self.unit_phi

    def spread(self, count: int) -> Array:
        """`count` points (count, 3) spread evenly over interior and surface, farthest first."""
        cloud = np.concatenate([self.surface, self.points])
        return cloud[farthest_points(cloud, count)]

    def place(self, pose: ArrayLike, bounding: bool | None = None) -> Shape:
        """The shape moved by a homogeneous transform (4, 4); as a bound or not (None: as it was).

        Raises:
            InvalidShape: it moves farther than any robot reaches.
        """
        matrix = np.asarray(pose, dtype=float)
        if not np.abs(matrix[:3, 3]).max() <= FARTHEST:  # before squares of it overflow
            raise InvalidShape(f"{self.name} is placed {np.abs(matrix[:3, 3]).max():.4g} m from "
                               f"the sensor; allowed: at most {FARTHEST:g} m (are the units "
                               "metres?)")
        turn, shift = matrix[:3, :3], matrix[:3, 3]
        return replace(self, points=self.points @ turn.T + shift,
                       surface=self.surface @ turn.T + shift,
                       parts=tuple(p @ turn.T + shift for p in self.parts),
                       unit_phi=transform_phi(self.unit_phi, turn, shift),
                       bounding=self.bounding if bounding is None else bounding)


def _smallest_ellipsoid(surface: Array) -> Array:
    """Matrix Q (4, 4) of the smallest ellipsoid around points (n, 3), see `Shape.ellipsoid`."""
    from scipy.spatial import ConvexHull

    corners = surface[ConvexHull(surface).vertices]
    return enclosing_ellipsoid(corners[farthest_points(corners, 200)])


def check_sizes(kind: str, sizes: Array) -> None:
    """Raises InvalidShape for an unknown kind, or sizes (k,) [m] that do not fit it."""
    if kind not in SIZES:
        raise InvalidShape(f"shape type is '{kind}'; allowed: {', '.join(SIZES)}")
    if sizes.shape != (SIZES[kind],) or not np.all(np.isfinite(sizes) & (sizes > 0.0)):
        raise InvalidShape(f"a {kind} needs {SIZES[kind]} positive sizes in metres, "
                           f"got {sizes.tolist()}")
    if sizes.max() > FARTHEST or sizes.min() < THINNEST:
        raise InvalidShape(f"a {kind} has sizes {sizes.tolist()} m; allowed: {THINNEST:g} to "
                           f"{FARTHEST:g} m")


def shape_from_primitive(kind: str, size: ArrayLike, pose: ArrayLike,
                         bounding: bool = True) -> Shape:
    """A box (x, y, z), cylinder (radius, height) or sphere (radius) [m].

    Args:
        pose: homogeneous transform (4, 4) from the primitive's centre to the sensor frame.

    Raises:
        InvalidShape: unknown kind, or sizes that do not fit it.
    """
    with optional_packages("a shape"):
        import trimesh

    sizes = np.asarray(size, dtype=float)
    check_sizes(kind, sizes)
    r, h = sizes[0], sizes[-1]
    if kind == "box":
        mesh = trimesh.creation.box(extents=sizes)
        volume, moments = sizes.prod(), (sizes @ sizes - sizes**2) / 12.0
    elif kind == "sphere":
        mesh = trimesh.creation.icosphere(subdivisions=4, radius=r)
        volume, moments = 4.0 / 3.0 * np.pi * r**3, np.full(3, 0.4 * r**2)
    else:
        mesh = trimesh.creation.cylinder(radius=r, height=h, sections=_SECTIONS)
        side = (3.0 * r**2 + h**2) / 12.0
        volume, moments = np.pi * r**2 * h, np.array([side, side, 0.5 * r**2])
    unit = phi_from_body(1.0, np.zeros(3), np.diag(moments))
    return _filled(mesh, float(volume), unit, bounding, kind).place(pose)


def shape_from_mesh(mesh: trimesh.Trimesh, pose: ArrayLike, bounding: bool = False,
                    name: str = "mesh") -> Shape:
    """The region that a watertight mesh encloses, placed by pose (4, 4) in the sensor frame.

    Raises:
        InvalidShape: the mesh is open, encloses no volume, or is too large.
    """
    if len(mesh.faces) > MAX_FACES:
        raise InvalidShape(f"{name} has {len(mesh.faces)} faces; at most {MAX_FACES} are allowed")
    if not mesh.is_watertight or not mesh.is_winding_consistent:
        raise InvalidShape(f"{name} is not a watertight mesh ({len(mesh.faces)} faces), so it has "
                           "no inside; repair it, or give a bounding box instead")
    if mesh.volume < 0.0:
        mesh = mesh.copy()
        mesh.invert()
    if not mesh.volume > 0.0:
        raise InvalidShape(f"{name} encloses no volume ({mesh.volume:g} m^3)")
    exact = mesh.mass_properties
    unit = phi_from_body(1.0, exact.center_mass, np.asarray(exact.inertia) / exact.mass)
    shape = _filled(mesh, mesh.volume, unit, bounding, name)
    if len(shape.points) < FEWEST:
        raise InvalidShape(f"{name} is too thin to sample its inside ({len(shape.points)} points "
                           "found); give a bounding box instead")
    return shape.place(pose)


def _filled(mesh: trimesh.Trimesh, volume: float, unit: Array, bounding: bool, name: str) -> Shape:
    """The inside of a closed mesh of this volume [m^3], as about INTERIOR_POINTS points of a grid,
    and its outermost corners with points spread over its surface."""
    import trimesh

    axes = grid_axes(mesh.bounds, volume)  # the mesh's own, with which its faces often lie
    points = grid_points(axes)[is_interior(np.asarray(mesh.triangles), axes)]
    scattered, _ = trimesh.sample.sample_surface(
        mesh, _SCATTERED, seed=np.random.default_rng(0))
    surface = np.concatenate([outermost_points(np.asarray(mesh.vertices)), scattered])
    volumes = np.full(len(points), volume / max(len(points), 1))
    return Shape(points, volumes, surface, unit, bounding, name)


def grid_axes(bounds: ArrayLike, volume: float) -> list[Array]:
    """Coordinates [m] along x, y, z of a grid with INTERIOR_POINTS in a volume [m^3] of a box.

    Args:
        bounds: lower and upper corner (2, 3) [m] of the box.
    """
    lower, upper = np.asarray(bounds, dtype=float)
    # A grid that fits the box exactly keeps the moments of boxes exact.
    counts = np.clip(np.round((upper - lower) / np.cbrt(volume / INTERIOR_POINTS)), 1, 400)
    while counts.prod() > MAX_GRID:  # thin diagonal shells: bound the work, not the pitch
        counts = np.maximum(counts * 4 // 5, 1)
    return [lo + (np.arange(n) + 0.5) * (hi - lo) / n
            for lo, hi, n in zip(lower, upper, counts.astype(int), strict=True)]


def shape_from_points(points: ArrayLike) -> Shape:
    """The region that points (n, 3) fill, all standing for the same volume.

    More points than INTERIOR_POINTS are merged to at most so many, since the time of an estimate
    grows with them; the moments of the filled body stay those of all points.

    Raises:
        InvalidShape: fewer than four points, points in one plane, or values that are not finite.
    """
    cloud = np.asarray(points, dtype=float).reshape(-1, 3)
    if len(cloud) > MAX_POINTS:
        raise InvalidShape(f"the shape has {len(cloud)} points; at most {MAX_POINTS} are allowed")
    farthest = np.abs(cloud).max(initial=0.0)
    if farthest > FARTHEST:  # before squares of it overflow
        raise InvalidShape(f"the points of the shape reach {farthest:.4g} m from the sensor; "
                           f"allowed: at most {FARTHEST:g} m (are the units metres?)")
    if len(cloud) < 4 or not np.isfinite(cloud).all():
        raise InvalidShape(f"a point shape needs at least four finite points, got {len(cloud)}")
    if not has_volume(cloud):
        raise InvalidShape("the points of the shape lie in one plane; they enclose no volume")
    unit, surface = point_columns(cloud).mean(axis=1), cloud
    volumes: Array = np.ones(len(cloud))
    if len(cloud) > INTERIOR_POINTS:
        surface = outermost_points(cloud)
        cloud, volumes = merge_points(cloud, INTERIOR_POINTS)
    return Shape(cloud, volumes, surface, unit, False, "points")


def join_shapes(shapes: Sequence[Shape]) -> Shape:
    """One shape of several convex ones, filled as one body where they overlap.

    Raises:
        InvalidShape: one that another holds all of.
    """
    if len(shapes) == 1:
        return shapes[0]
    from scipy.spatial import ConvexHull  # loads slowly, and most runs have no shape

    # Faces (k, 4): ``n . x + d`` is the distance outside of each [m].
    hulls, own = [ConvexHull(shape.surface).equations for shape in shapes], list[np.ndarray]()
    for k, shape in enumerate(shapes):
        held = [np.all(shape.points @ hull[:, :3].T + hull[:, 3] <= 0.0, axis=1)
                for hull in hulls[:k]]
        own.append(~np.any(held, axis=0) if held else np.ones(len(shape.points), dtype=bool))
        if not own[-1].any():
            raise InvalidShape(f"part {k + 1} of the shape ({shape.name}) lies within the others")
    volumes = np.concatenate([s.volumes[there] for s, there in zip(shapes, own, strict=True)])
    points = np.concatenate([s.points[there] for s, there in zip(shapes, own, strict=True)])
    unit = np.sum([s.volume * s.unit_phi for s in shapes], axis=0) / sum(s.volume for s in shapes)
    if not all(there.all() for there in own):
        unit = point_columns(points) @ (volumes / volumes.sum())
    return Shape(points, volumes, np.concatenate([s.surface for s in shapes]), unit,
                 any(s.bounding for s in shapes), " and ".join(s.name for s in shapes),
                 tuple(s.surface for s in shapes))


def shape_from_settings(settings: ShapeSettings,
                        roots: tuple[Path, ...] = ()) -> Shape | None:
    """The shape that the settings describe; None for type ``none``.

    Args:
        roots: `package://` resources are looked for as `root/<package>/...` under these folders.

    Raises:
        InvalidShape: wrong size for the type, unreadable file, or a mesh that is not watertight.
    """
    if settings.type == "none":
        return None
    if settings.type == "mesh":
        path = resolve_resource(settings.mesh, roots)
        return shape_from_mesh(load_mesh(path), _poses(settings, 1)[0], settings.bounding,
                               path.name)
    each = SIZES[settings.type]
    if len(settings.size) % each:  # no whole number of primitives
        check_sizes(settings.type, np.asarray(settings.size))
    count = max(len(settings.size) // each, 1)
    parts = np.split(np.asarray(settings.size), np.arange(1, count) * each)
    return join_shapes([shape_from_primitive(settings.type, part, pose, settings.bounding)
                        for part, pose in zip(parts, _poses(settings, count), strict=True)])


def _poses(settings: ShapeSettings, count: int) -> Array:
    """Homogeneous transforms (count, 4, 4) of the settings' primitives, or of their mesh.

    Raises:
        InvalidShape: not three numbers for each.
    """
    from scipy.spatial.transform import Rotation  # loads slowly, and most runs have no shape

    poses = np.tile(np.eye(4), (count, 1, 1))
    center, rpy = (np.zeros(3 * count) if tuple(values) == _NOWHERE else np.asarray(values)
                   for values in (settings.center, settings.rpy))
    if len(center) != 3 * count or len(rpy) != 3 * count:
        raise InvalidShape(f"shape.center has {len(settings.center)} and shape.rpy "
                           f"{len(settings.rpy)} numbers; allowed: three for each {settings.type}, "
                           f"{3 * count} in all (shape.size has {len(settings.size)})")
    poses[:, :3, :3] = Rotation.from_euler("xyz", rpy.reshape(-1, 3)).as_matrix()
    poses[:, :3, 3] = center.reshape(-1, 3)
    return poses
