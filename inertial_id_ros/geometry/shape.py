# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The shape of the carried object: points that fill it, its surface, its bounding box.

Everything is in the sensor frame [m]. Estimators need points with volumes (`pmd`, priors), exact
moments of the filled body (`uniform`), or a bounding region (`lmi`).

A closed mesh is filled with points on a regular grid. Columns of the grid along z cross the
surface; the sum of signs of the crossings below a point is its winding number, which is positive
inside. Bodies of an assembly may therefore touch, overlap or be hollow, which a count of crossings
(odd or even) does not stand.

Boxes, spheres, cylinders and cones have exact moments. Their sizes [m]: box (x, y, z), sphere
(radius), cylinder and cone (radius, height) along z; the centre of a cone lies at half its height,
its tip up, as in shape_msgs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShape
from ..extras import optional_packages
from ..inertia import (
    Array,
    Body,
    phi_from_body,
    phi_from_pseudo_inertia,
    point_columns,
    pseudo_inertia,
    transform_phi,
)
from ..limits import FARTHEST, MAX_FACES, MAX_POINTS, THINNEST
from ..settings import ShapeSettings
from .mesh import load_mesh, resolve_resource
from .point_sets import (
    ellipsoid_form,
    enclosing_ellipsoid,
    farthest_points,
    has_volume,
    merge_points,
    outermost_points,
)

if TYPE_CHECKING:
    import trimesh

SIZES = {"box": 3, "cylinder": 2, "sphere": 1, "cone": 2}
_SECTIONS = 96  # corners of a circle, for points on the surface


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


def is_inside(kind: str, sizes: Array, points: Array) -> np.ndarray:
    """Which of points (n, 3) lie inside, of those inside the bounding box."""
    if kind == "box":
        return np.ones(len(points), dtype=bool)
    if kind == "sphere":
        return (points**2).sum(axis=1) <= sizes[0] ** 2
    radius = np.full(len(points), sizes[0])
    if kind == "cone":
        radius = radius * (0.5 - points[:, 2] / sizes[1])
    return (points[:, :2] ** 2).sum(axis=1) <= radius**2


def volume_and_body(kind: str, sizes: Array) -> tuple[float, Body]:
    """Volume [m^3] of sizes (k,) [m], and the body when filled evenly with 1 kg."""
    center = np.zeros(3)
    if kind == "box":
        squares = sizes**2
        return float(sizes.prod()), Body(1.0, center, np.diag(squares.sum() - squares) / 12.0)
    r2 = float(sizes[0] ** 2)
    if kind == "sphere":
        return 4.0 / 3.0 * np.pi * r2 * float(sizes[0]), Body(1.0, center, 0.4 * r2 * np.eye(3))
    h2, base = float(sizes[1] ** 2), np.pi * r2 * float(sizes[1])
    if kind == "cylinder":
        across = (3.0 * r2 + h2) / 12.0
        return base, Body(1.0, center, np.diag([across, across, 0.5 * r2]))
    across = 0.15 * r2 + 0.0375 * h2
    center = np.array([0.0, 0.0, -0.25 * float(sizes[1])])
    return base / 3.0, Body(1.0, center, np.diag([across, across, 0.3 * r2]))


def surface_mesh(kind: str, sizes: Array) -> trimesh.Trimesh:
    """A mesh [m] of the surface of sizes (k,) [m]; round ones have their corners on it."""
    with optional_packages("a shape"):
        import trimesh

    if kind == "box":
        return trimesh.creation.box(extents=sizes)
    if kind == "sphere":
        return trimesh.creation.icosphere(subdivisions=4, radius=sizes[0])
    if kind == "cylinder":
        return trimesh.creation.cylinder(radius=sizes[0], height=sizes[1], sections=_SECTIONS)
    mesh = trimesh.creation.cone(radius=sizes[0], height=sizes[1], sections=_SECTIONS)
    mesh.apply_translation([0.0, 0.0, -0.5 * sizes[1]])
    return mesh


INTERIOR_POINTS = 4000  # interior points asked for; enough for moments within a percent
MAX_GRID = 100_000  # points tried for a mesh that fills little of its box
# Columns stand aside from the grid by this part of its pitch, since those of a symmetric mesh
# would run along edges of its triangles.
_ASIDE = np.array([1.7e-7, 2.3e-7])
_PORTION = 1_000_000  # pairs of triangle and column at once


def grid_axes(bounds: ArrayLike, volume: float) -> list[Array]:
    """Coordinates [m] along x, y, z of a grid with INTERIOR_POINTS in a volume [m^3] of a box.

    Args:
        bounds: lower and upper corner (2, 3) [m] of the box.
    """
    lower, upper = np.asarray(bounds, dtype=float)
    pitch = (volume / INTERIOR_POINTS) ** (1.0 / 3.0)
    # A grid that fits the box exactly keeps the moments of boxes exact.
    counts = np.clip(np.round((upper - lower) / pitch), 1, 400).astype(int)
    while counts.prod() > MAX_GRID:  # thin diagonal shells: bound the work, not the pitch
        counts = np.maximum(counts * 4 // 5, 1)
    return [lo + (np.arange(n) + 0.5) * (hi - lo) / n
            for lo, hi, n in zip(lower, upper, counts, strict=True)]


def grid_points(axes: list[Array]) -> Array:
    """All points (n, 3) of a grid, z running fastest."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def is_interior(triangles: Array, axes: list[Array]) -> np.ndarray:
    """Which points of a grid, in the order of `grid_points`, lie inside closed surfaces.

    Args:
        triangles: (n, 3, 3) corners, counterclockwise seen from outside.
    """
    x, y, z = axes
    pitch = [a[1] - a[0] if len(a) > 1 else 1.0 for a in axes]
    change = np.zeros((len(x), len(y), len(z) + 1), dtype=np.int32)
    flat = (triangles[..., :2] - [x[0], y[0]]) / pitch[:2] - _ASIDE  # columns at whole numbers
    last = np.array([len(x), len(y)]) - 1
    first = np.maximum(np.ceil(flat.min(axis=1)), 0).astype(int)
    size = np.maximum(np.minimum(np.floor(flat.max(axis=1)), last).astype(int) - first + 1, 0)
    pairs = size.prod(axis=1)
    met = np.flatnonzero(pairs)
    for part in np.array_split(met, int(pairs.sum() // _PORTION) + 1):
        owner = np.repeat(part, pairs[part])
        number = np.arange(len(owner)) - np.repeat(np.cumsum(pairs[part]) - pairs[part],
                                                   pairs[part])
        column = first[owner] + np.stack(np.divmod(number, size[owner, 1]), axis=1)
        crossing, sign, height = _find_crossings(flat[owner], column, triangles[owner, :, 2])
        level = np.ceil((height - z[0]) / pitch[2]).clip(0, len(z)).astype(int)
        np.add.at(change, (*column[crossing].T, level), sign)
    return (np.cumsum(change[..., :-1], axis=2) > 0).ravel()


def _find_crossings(corners: Array, column: np.ndarray,
                    heights: Array) -> tuple[np.ndarray, np.ndarray, Array]:
    """Which columns (n, 2) pass through their triangle (n, 3, 2), the sign (1 enters from below)
    and the height at which they do."""
    offset = corners - column[:, None]
    following = np.roll(offset, -1, axis=1)
    # Twice the area of the triangle that each edge makes with the column.
    areas = offset[..., 0] * following[..., 1] - offset[..., 1] * following[..., 0]
    crossing = np.flatnonzero((areas > 0.0).all(axis=1) | (areas < 0.0).all(axis=1))
    areas = areas[crossing]
    total = areas.sum(axis=1)
    opposite = np.roll(areas, -1, axis=1)  # of corner i: the edge from i + 1 to i + 2
    height = (opposite * heights[crossing]).sum(axis=1) / total
    return crossing, -np.sign(total).astype(np.int32), height


_NOWHERE = (0.0, 0.0, 0.0)  # the default of centre and angles
_SCATTERED = 1000  # points spread over a surface


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
    """

    points: Array
    volumes: Array
    surface: Array
    unit_phi: Array
    bounding: bool
    name: str
    parts: tuple[Array, ...] = ()

    def __post_init__(self) -> None:
        lower, upper = self.bounds
        far, thin = float(np.abs([lower, upper]).max()), float((upper - lower).min())
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
    def middle(self) -> Array:
        """Middle (3,) of the bounding box [m]."""
        return 0.5 * (self.bounds[0] + self.bounds[1])

    @cached_property
    def axes(self) -> Array:
        """Principal axes (3, 3) of the evenly filled shape, as columns."""
        pseudo = pseudo_inertia(self.unit_phi)
        com = pseudo[:3, 3]
        return np.linalg.eigh(pseudo[:3, :3] - np.outer(com, com))[1]

    def displacement(self, settings: ShapeSettings) -> float:
        """Standard deviation [m] of where its nearest face lies, by the errors of the settings."""
        half = 0.5 * float(self.lengths.min())
        turned = np.hypot(np.deg2rad(settings.rotation_sd), settings.scale_sd)
        return float(np.hypot(settings.position_sd, half * turned))

    def grow(self, length: float) -> Shape:
        """The shape stretched along its axes, so that it reaches farther by a length [m] both ways.
        """
        middle, axes = self.middle, self.axes
        half = np.abs((self.surface - middle) @ axes).max(axis=0)
        stretch = (axes * (1.0 + length / half)) @ axes.T
        return replace(self, points=(self.points - middle) @ stretch + middle,
                       surface=(self.surface - middle) @ stretch + middle,
                       volumes=self.volumes * np.linalg.det(stretch),
                       parts=tuple((p - middle) @ stretch + middle for p in self.parts),
                       unit_phi=transform_phi(self.unit_phi, stretch, middle - stretch @ middle))

    @property
    def lengths(self) -> Array:
        """Lengths (3,) of the bounding box along the sensor axes."""
        lower, upper = self.bounds
        return upper - lower

    @cached_property
    def farthest(self) -> float:
        """Distance of its farthest point from the origin of the sensor [m]."""
        return float(np.linalg.norm(self.surface, axis=1).max())

    @cached_property
    def hull(self) -> Array:
        """Faces (k, 4) of the convex hull: ``n . x + d`` is the distance outside of each [m]."""
        from scipy.spatial import ConvexHull  # loads slowly, and most runs have no shape

        return np.asarray(ConvexHull(self.surface).equations)

    def uniform(self, mass: float) -> Array:
        """phi (10,) of the region filled evenly with the given mass [kg]."""
        return mass * self.unit_phi

    def place(self, pose: ArrayLike) -> Shape:
        """The shape moved by a homogeneous transform (4, 4).

        Raises:
            InvalidShape: it moves farther than any robot reaches.
        """
        matrix = np.asarray(pose, dtype=float)
        rotation, translation = matrix[:3, :3], matrix[:3, 3]
        if not np.abs(translation).max() <= FARTHEST:  # before squares of it overflow
            raise InvalidShape(f"{self.name} is placed {np.abs(translation).max():.4g} m from the "
                               f"sensor; allowed: at most {FARTHEST:g} m (are the units metres?)")
        return replace(self, points=self.points @ rotation.T + translation,
                       surface=self.surface @ rotation.T + translation,
                       parts=tuple(p @ rotation.T + translation for p in self.parts),
                       unit_phi=transform_phi(self.unit_phi, rotation, translation))

    def spread(self, count: int) -> Array:
        """`count` points (count, 3) spread evenly over interior and surface, farthest first."""
        cloud = np.concatenate([self.surface, self.points])
        return cloud[farthest_points(cloud, count)]

    @cached_property
    def ellipsoid(self) -> Array:
        """Matrix Q (4, 4) of the smallest enclosing ellipsoid, ``[x; 1]' Q [x; 1] >= 0`` inside.

        Wensing et al. 2017, eqs 22 and 23, use this form.
        """
        return _smallest_ellipsoid(self.surface)

    @cached_property
    def ellipsoids(self) -> tuple[Array, ...]:
        """The same of each primitive it is made of: their union holds it."""
        return tuple(_smallest_ellipsoid(part) for part in self.parts) or (self.ellipsoid,)


def _smallest_ellipsoid(surface: Array) -> Array:
    """Matrix Q (4, 4) of the smallest ellipsoid around points (n, 3), see `Shape.ellipsoid`."""
    from scipy.spatial import ConvexHull

    corners = surface[ConvexHull(surface).vertices]
    return ellipsoid_form(*enclosing_ellipsoid(corners[farthest_points(corners, 200)]))


def join_shapes(shapes: Sequence[Shape]) -> Shape:
    """One shape of several convex ones, filled as one body where they overlap.

    Raises:
        InvalidShape: no shape, or one that another holds all of.
    """
    if not shapes:
        raise InvalidShape("a shape of several parts needs at least one part")
    if len(shapes) == 1:
        return shapes[0]
    own: list[np.ndarray] = []
    for k, shape in enumerate(shapes):
        held = [np.all(shape.points @ other.hull[:, :3].T + other.hull[:, 3] <= 0.0, axis=1)
                for other in shapes[:k]]
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
        settings: primitive or mesh with its pose in the sensor frame.
        roots: `package://` resources are looked for as `root/<package>/...` under these folders.

    Raises:
        InvalidShape: wrong size for the type, unreadable file, or a mesh that is not watertight.
    """
    if settings.type == "none":
        return None
    if settings.type == "mesh":
        return shape_from_file(resolve_resource(settings.mesh, roots), settings.mesh_scale,
                               _poses(settings, 1)[0], settings.bounding)
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
    for name, values in (("center", settings.center), ("rpy", settings.rpy)):
        one_for_all = tuple(values) == _NOWHERE and (count == 1 or name == "rpy")
        many = np.zeros(3 * count) if one_for_all else np.asarray(values)
        if len(many) != 3 * count:
            raise InvalidShape(f"shape.{name} has {len(values)} numbers; allowed: three for each "
                               f"{settings.type}, {3 * count} in all (shape.size has "
                               f"{len(settings.size)})")
        if name == "rpy":
            poses[:, :3, :3] = Rotation.from_euler("xyz", many.reshape(-1, 3)).as_matrix()
        else:
            poses[:, :3, 3] = many.reshape(-1, 3)
    return poses


def shape_from_primitive(kind: str, size: ArrayLike, pose: ArrayLike,
                         bounding: bool = True) -> Shape:
    """A box (x, y, z), cylinder (radius, height), sphere (radius) or cone (radius, height) [m].

    Args:
        pose: homogeneous transform (4, 4) from the primitive's centre to the sensor frame; for the
            cone the centre lies at half height, as in shape_msgs.

    Raises:
        InvalidShape: unknown kind, or sizes that do not fit it.
    """
    sizes = np.asarray(size, dtype=float)
    check_sizes(kind, sizes)
    volume, body = volume_and_body(kind, sizes)
    mesh = surface_mesh(kind, sizes)
    grid = grid_points(grid_axes(mesh.bounds, volume))
    points = grid[is_inside(kind, sizes, grid)]
    return Shape(points, np.full(len(points), volume / len(points)), _surface_points(mesh),
                 phi_from_body(*body), bounding, kind).place(pose)


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
    # Along the mesh's own axes, with which its faces often lie.
    axes = grid_axes(mesh.bounds, mesh.volume)
    points = grid_points(axes)[is_interior(np.asarray(mesh.triangles), axes)]
    if len(points) < 50:
        raise InvalidShape(f"{name} is too thin to sample its inside ({len(points)} points found); "
                           "give a bounding box instead")
    volumes = np.full(len(points), mesh.volume / len(points))
    return Shape(points, volumes, _surface_points(mesh), _mesh_unit_phi(mesh), bounding,
                 name).place(pose)


def shape_from_file(path: Path, scale: float, pose: ArrayLike, bounding: bool) -> Shape:
    """The region inside a mesh file (see `load_mesh`), placed by pose (4, 4).

    A file that did not change is not read again.

    Raises:
        InvalidShape: see `load_mesh` and `shape_from_mesh`.
    """
    if not path.is_file():
        raise InvalidShape(f"mesh file {path} does not exist")
    state = path.stat()
    filled = _load_filled(path.resolve(), scale, state.st_mtime_ns, state.st_size)
    return replace(filled, bounding=bounding, name=path.name).place(pose)


@lru_cache(maxsize=8)
def _load_filled(path: Path, scale: float, changed: int, size: int) -> Shape:
    """The filled mesh of a file; time of change and size make a changed file a new one."""
    return shape_from_mesh(load_mesh(path, scale), np.eye(4), name=path.name)


def shape_from_points(points: ArrayLike, volumes: ArrayLike | None = None,
                      bounding: bool = False, name: str = "points") -> Shape:
    """The region that points (n, 3) fill, each standing for a volume (n,) or all for the same.

    More points than INTERIOR_POINTS are merged to at most so many (`merge_points`), since the time
    of an estimate grows with them; the moments of the filled body stay those of all points.

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
    share = np.ones(len(cloud)) if volumes is None else np.asarray(volumes, dtype=float)
    if len(cloud) < 4 or not np.isfinite(cloud).all():
        raise InvalidShape(f"a point shape needs at least four finite points, got {len(cloud)}")
    if share.shape != (len(cloud),) or not np.all(np.isfinite(share) & (share > 0.0)):
        raise InvalidShape(f"{len(cloud)} points need as many positive volumes")
    if not has_volume(cloud):
        raise InvalidShape("the points of the shape lie in one plane; they enclose no volume")
    unit = point_columns(cloud) @ (share / share.sum())
    if len(cloud) <= INTERIOR_POINTS:
        return Shape(cloud, share, cloud, unit, bounding, name)
    points, volumes = merge_points(cloud, share, INTERIOR_POINTS)
    return Shape(points, volumes, outermost_points(cloud), unit, bounding, name)


def _mesh_unit_phi(mesh: trimesh.Trimesh) -> Array:
    """phi (10,) of the mesh filled with 1 kg, from exact volume integrals."""
    properties = mesh.mass_properties
    com = np.asarray(properties.center_mass)
    tensor = np.asarray(properties.inertia) / properties.mass
    pseudo = np.eye(4)
    pseudo[:3, :3] = 0.5 * np.trace(tensor) * np.eye(3) - tensor + np.outer(com, com)
    pseudo[:3, 3] = pseudo[3, :3] = com
    return phi_from_pseudo_inertia(pseudo)


def _surface_points(mesh: trimesh.Trimesh) -> Array:
    """Outermost corners, and points spread over the surface (m, 3)."""
    with optional_packages("a shape"):
        import trimesh

    scattered, _ = trimesh.sample.sample_surface(
        mesh, _SCATTERED, seed=np.random.default_rng(0))
    return np.concatenate([outermost_points(np.asarray(mesh.vertices)), scattered])
