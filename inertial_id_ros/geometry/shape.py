# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The shape of the carried object in the sensor frame [m]: points that fill it (`pmd`, priors),
exact moments of the filled body, and a bounding region (`lmi`)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.distance import cdist
from scipy.spatial.transform import Rotation

from ..errors import InvalidData
from ..extras import optional_packages
from ..inertia import PARAMETERS, Array, phi_from_body, point_columns, transform_phi
from ..limits import FARTHEST, MAX_FACES, MAX_POINTS, THINNEST
from ..settings import ShapeSettings
from .mesh import grid_axes, grid_points, is_interior, load_mesh, resolve_resource

if TYPE_CHECKING:
    import trimesh

SIZES = {"box": 3, "cylinder": 2, "sphere": 1}
POINTS = 4000  # asked for, of the inside and of the surface: moments within a percent


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
        InvalidData: it reaches farther than any robot, or is too thin.
    """

    points: Array
    volumes: Array
    surface: Array
    unit_phi: Array
    bounding: bool
    name: str
    parts: tuple[Array, ...] = ()

    def __post_init__(self) -> None:
        _check_reach(self.name, float(np.abs(self.bounds).max()))
        if not self.lengths.min() >= THINNEST:
            raise InvalidData(f"{self.name} is {self.lengths.min():.4g} m thin; allowed: at least "
                               f"{THINNEST:g} m (are the units metres?)")

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
    def ellipsoid(self) -> Array:
        """Matrix Q (4, 4) of the smallest enclosing ellipsoid, see `enclosing_ellipsoid`."""
        return enclosing_ellipsoid(self.surface)

    @cached_property
    def ellipsoids(self) -> tuple[Array, ...]:
        """The same of each primitive it is made of: their union holds it."""
        return tuple(map(enclosing_ellipsoid, self.parts)) or (self.ellipsoid,)

    def spread(self, count: int) -> Array:
        """`count` points (count, 3) spread evenly over interior and surface, farthest first."""
        cloud = np.concatenate([self.surface, self.points])
        return cloud[farthest_points(cloud, count)]

    def place(self, pose: ArrayLike, bounding: bool | None = None) -> "Shape":
        """The shape moved by a homogeneous transform (4, 4); as a bound or not (None: as it was)
        (raises InvalidData: it moves farther than any robot reaches)."""
        matrix = np.asarray(pose, dtype=float)
        turn, shift = matrix[:3, :3], matrix[:3, 3]
        _check_reach(self.name, float(np.abs(shift).max()))
        return replace(self, points=self.points @ turn.T + shift,
                       surface=self.surface @ turn.T + shift,
                       parts=tuple(p @ turn.T + shift for p in self.parts),
                       unit_phi=transform_phi(self.unit_phi, turn, shift),
                       bounding=self.bounding if bounding is None else bounding)


def _check_reach(name: str, far: float) -> None:
    """Raise InvalidData where a distance [m] is one of no robot, before squares of it overflow."""
    if not far <= FARTHEST:
        raise InvalidData(f"{name} reaches {far:.4g} m from the sensor; allowed: at most "
                           f"{FARTHEST:g} m (are the units metres?)")


def check_sizes(kind: str, sizes: Array) -> None:
    """Raises InvalidData for an unknown kind, or sizes (k,) [m] that do not fit it."""
    if kind not in SIZES:
        raise InvalidData(f"shape type is '{kind}'; allowed: {', '.join(SIZES)}")
    if sizes.shape != (SIZES[kind],) or not (
            (sizes >= THINNEST) & (sizes <= FARTHEST)).all():  # no number is neither
        raise InvalidData(f"a {kind} has sizes {sizes.tolist()} m; allowed: {SIZES[kind]} of "
                           f"{THINNEST:g} to {FARTHEST:g} m")


def shape_from_primitive(kind: str, size: ArrayLike, pose: ArrayLike,
                         bounding: bool = True) -> Shape:
    """A box (x, y, z), a cylinder (radius, height) along z, or a sphere (radius) [m].

    Args:
        pose: homogeneous transform (4, 4) from the primitive's centre to the sensor frame.

    Raises:
        InvalidData: unknown kind, or sizes that do not fit it.
    """
    with optional_packages("a shape"):
        import trimesh

    sizes = np.asarray(size, dtype=float)
    check_sizes(kind, sizes)
    solids: dict[str, trimesh.Trimesh] = {
        "box": trimesh.primitives.Box(extents=sizes),
        "sphere": trimesh.primitives.Sphere(radius=sizes[0], subdivisions=4),
        "cylinder": trimesh.primitives.Cylinder(sizes[0], sizes[-1])}
    return shape_from_mesh(solids[kind], pose, bounding, kind)


def shape_from_mesh(mesh: "trimesh.Trimesh", pose: ArrayLike, bounding: bool = False,
                    name: str = "mesh") -> Shape:
    """The region that a watertight mesh encloses, placed by pose (4, 4) in the sensor frame.

    Raises:
        InvalidData: the mesh is open, encloses no volume, or is too large.
    """
    if len(mesh.faces) > MAX_FACES:
        raise InvalidData(f"{name} has {len(mesh.faces)} faces; at most {MAX_FACES} are allowed")
    if not mesh.is_watertight or not mesh.is_winding_consistent:
        raise InvalidData(f"{name} is not a watertight mesh ({len(mesh.faces)} faces), so it has "
                           "no inside; repair it, or give a bounding box instead")
    _check_reach(name, float(np.abs(mesh.bounds).max()))
    if mesh.volume < 0.0:
        mesh = mesh.copy()
        mesh.invert()
    if not mesh.volume > 0.0:
        raise InvalidData(f"{name} encloses no volume ({mesh.volume:g} m^3)")
    unit = phi_from_body(1.0, mesh.center_mass, mesh.moment_inertia / mesh.volume)
    axes = grid_axes(mesh.bounds, mesh.volume / POINTS)  # along which its faces often lie
    points = grid_points(axes)[is_interior(np.asarray(mesh.triangles), axes)]
    if len(points) < PARAMETERS:
        raise InvalidData(f"{name} is too thin to sample its inside ({len(points)} points "
                           "found); give a bounding box instead")
    surface = np.concatenate([corners(np.asarray(mesh.vertices)),
                              mesh.sample(POINTS, seed=np.random.default_rng(0))])
    volumes = np.full(len(points), mesh.volume / len(points))
    return Shape(points, volumes, surface, unit, bounding, name).place(pose)


def shape_from_points(points: ArrayLike) -> Shape:
    """The region that points (n, 3) fill, all standing for the same volume; of more points than
    POINTS so many stand for all, but in the moments of the filled body.

    Raises:
        InvalidData: fewer than four points, points in one plane, or values that are not finite.
    """
    cloud = np.asarray(points, dtype=float).reshape(-1, 3)
    if not 4 <= len(cloud) <= MAX_POINTS or not np.isfinite(cloud).all():
        raise InvalidData(f"a shape of points needs 4 to {MAX_POINTS} finite ones, got "
                           f"{len(cloud)}")
    _check_reach("the shape of points", float(np.abs(cloud).max()))
    some = np.random.default_rng(0).permutation(cloud)[:POINTS]
    return Shape(some, np.full(len(some), len(cloud) / len(some)), corners(cloud),
                 point_columns(cloud).mean(axis=1), False, "points")


def join_shapes(shapes: Sequence[Shape]) -> Shape:
    """One shape of several convex ones, filled as one body where they overlap.

    Raises:
        InvalidData: one that another holds all of.
    """
    if len(shapes) == 1:
        return shapes[0]
    # Faces (k, 4): ``n . x + d`` is the distance outside of each [m].
    hulls = [ConvexHull(shape.surface).equations for shape in shapes]
    owned = list[Array]()  # (n,) which points of each no shape before it holds
    for k, shape in enumerate(shapes):
        owned.append(np.all([np.ones(len(shape.points), dtype=bool), *(
            np.any(shape.points @ hull[:, :3].T + hull[:, 3] > 0.0, axis=1)
            for hull in hulls[:k])], axis=0))
        if not owned[-1].any():
            raise InvalidData(f"part {k + 1} of the shape ({shape.name}) lies within the others")
    own, parts = np.concatenate(owned), tuple(shape.surface for shape in shapes)
    points = np.concatenate([shape.points for shape in shapes])[own]
    size = np.concatenate([shape.volumes for shape in shapes])[own]
    unit = point_columns(points) @ (size / size.sum())
    if own.all():  # exact
        unit = np.sum([s.volumes.sum() * s.unit_phi for s in shapes], axis=0) / size.sum()
    return Shape(points, size, np.concatenate(parts), unit, any(s.bounding for s in shapes),
                 " and ".join(s.name for s in shapes), parts)


def shape_from_settings(settings: ShapeSettings) -> Shape | None:
    """The shape that the settings describe; None for type ``none`` (raises InvalidData: wrong size
    for the type, unreadable file, or a mesh that is not watertight)."""
    if settings.type == "none":
        return None
    is_mesh, sizes = settings.type == "mesh", np.asarray(settings.size)
    each = 1 if is_mesh else SIZES[settings.type]
    if not is_mesh and (not len(sizes) or len(sizes) % each):  # no whole number of primitives
        check_sizes(settings.type, sizes)
    count = 1 if is_mesh else len(sizes) // each
    center, rpy = (np.asarray(values) if any(values) else np.zeros(3 * count)
                   for values in (settings.center, settings.rpy))
    if len(center) != 3 * count or len(rpy) != 3 * count:
        raise InvalidData(f"shape.center has {len(settings.center)} and shape.rpy "
                           f"{len(settings.rpy)} numbers; allowed: three for each {settings.type}, "
                           f"{3 * count} in all (shape.size has {len(settings.size)})")
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.from_euler("xyz", rpy.reshape(-1, 3)).as_matrix()
    poses[:, :3, 3] = center.reshape(-1, 3)
    if is_mesh:
        path = resolve_resource(settings.mesh)
        return shape_from_mesh(load_mesh(path), poses[0], settings.bounding, path.name)
    return join_shapes([shape_from_primitive(settings.type, part, pose, settings.bounding)
                        for part, pose in zip(sizes.reshape(-1, each), poses, strict=True)])


def farthest_points(cloud: Array, count: int) -> np.ndarray:
    """Indices of `count` points of cloud (n, 3), each as far as possible from those before."""
    chosen, distance = list[int](), cdist(cloud, [cloud.mean(axis=0)], "sqeuclidean")
    for k in range(min(count, len(cloud))):
        chosen.append(int(distance.argmax()))
        to_it = cdist(cloud, cloud[chosen[-1:]], "sqeuclidean")
        distance = np.minimum(distance, to_it) if k else to_it
    return np.array(chosen)


def corners(points: Array) -> Array:
    """Corners (m, 3) of the convex hull of points (n, 3) (raises InvalidData: fewer than four, or
    all in one plane)."""
    try:
        return points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        raise InvalidData(f"{len(points)} points enclose no volume; at least four that are not in "
                           "one plane are needed") from None


def enclosing_ellipsoid(points: Array) -> Array:
    """Q (4, 4) with ``[x; 1]' Q [x; 1] >= 0`` in the smallest ellipsoid about points (n, 3), the
    form of Wensing et al. 2017, eqs 22 and 23: ``|A x + b| <= 1`` at all points, with the largest
    det A (Boyd, Vandenberghe 2004, section 8.4.1), in units of their bounding box."""
    with optional_packages("an ellipsoid about a shape"):
        import cvxpy as cp

    points = corners(points)
    points = points[farthest_points(points, 200)]
    low, high = points.min(axis=0), points.max(axis=0)
    size, middle = 0.5 * (high - low), 0.5 * (high + low)
    A, b = cp.Variable((3, 3), PSD=True), cp.Variable((1, 3))
    cp.Problem(cp.Maximize(cp.log_det(A)), [
        cp.norm((points - middle) / size @ A + b, axis=1) <= 1.0]).solve(solver=cp.CLARABEL)
    turn = np.asarray(A.value) / size
    rows = np.column_stack([turn, np.asarray(b.value)[0] - turn @ middle])  # |rows [x; 1]| <= 1
    rows /= np.linalg.norm(points @ turn.T + rows[:, 3], axis=1).max()  # not within tolerance only
    return np.asarray(np.diag([0.0, 0.0, 0.0, 1.0]) - rows.T @ rows)
