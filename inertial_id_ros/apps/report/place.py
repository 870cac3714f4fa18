# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Where the payload is: centre of mass and equivalent box, in the shape and the sensor frame."""

from __future__ import annotations

import numpy as np

from ...estimate import Estimate
from ...geometry.equivalent_box import box_edges, equivalent_box
from ...geometry.shape import Shape
from ...inertia import Array
from .drawing.elements import Markup, element, section
from .drawing.space_view import VIEWS, Line, Mark, space_view, turning_buttons

_JOINT_95 = 2.796  # standard deviations of an ellipsoid that holds 95 % of three normal variables
_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 33)[:-1]
_SHARP = np.cos(np.deg2rad(20.0))  # of the angle between faces, for an edge that is drawn
_AXES = ("var(--x)", "var(--y)", "var(--z)")


def place_section(estimate: Estimate, shape: Shape | None) -> Markup:
    """The section with the view that can be turned, and three views from the side."""
    lines, marks = scene(estimate, shape)
    lengths, _ = equivalent_box(estimate.body)
    com = ", ".join(f"{round(1e3 * v, 1) + 0.0:.1f}" for v in estimate.body.com)
    said = (f"Axes of {estimate.frame_id}; centre of mass at {com} mm; a box of "
            + " x ".join(f"{1e3 * v:.0f}" for v in lengths) + " mm has the same mass and inertia")
    trust = ("" if estimate.inertia_is_known else
             " The box is dashed, because the inertia is not identified.")
    oblique = element(
        "figure", space_view("Payload in the sensor frame", said, lines, marks), turning_buttons(),
        element("figcaption", element("span", "Drag, or use the arrow keys, to turn it. ",
                                      class_="turn"),
                f"{said}.{trust}"), class_="views")
    sides = [element("figure", space_view(f"{name}: {across} to the right, {up} upwards", said,
                                          lines, marks, (turn, lift), turns=False),
                     element("figcaption", f"{name}: {across} to the right, {up} upwards"),
                     class_="views") for name, across, up, turn, lift in VIEWS]
    key = ("Red, green, blue: axes x, y, z of the sensor. Orange: centre of mass, with the "
           "ellipsoid that holds it with 95 %. Blue: the equivalent box.")
    parts = [element("p", key), element("p", _place_in_shape(estimate, shape)),
             oblique, element("div", *sides, class_="sides")]
    return section("Where it is", "place", *parts)


def scene(estimate: Estimate, shape: Shape | None) -> tuple[list[Line], list[Mark]]:
    """Lines and words of the view, in the sensor frame."""
    body = estimate.body
    lengths, axes = equivalent_box(body)
    edges = box_edges(body.com, lengths, axes)
    lines = [Line(edge, "#1f56b5", 1.4, dashed=not estimate.inertia_is_known) for edge in edges]
    reach = max(float(np.abs(edges).max()), 0.05)
    if shape is not None:
        lines += [Line(edge, "#8b93a1", 1.0) for edge in sharp_edges(shape)]
    lines += _ellipsoid(body.com, estimate.covariance[1:4, 1:4])
    arrows = 0.6 * reach * np.eye(3)
    lines += [Line(np.array([np.zeros(3), tip]), colour, 2.2)
              for tip, colour in zip(arrows, _AXES, strict=True)]
    marks = [Mark(1.08 * tip, name) for tip, name in zip(arrows, "xyz", strict=True)]
    return lines, marks


def _ellipsoid(com: Array, covariance: Array) -> list[Line]:
    """Three circles of the ellipsoid that holds the centre of mass, and a cross within it."""
    variance, axes = np.linalg.eigh(covariance)
    half = _JOINT_95 * np.sqrt(np.maximum(variance, 0.0)) * axes
    circle = np.column_stack([np.cos(_CIRCLE), np.sin(_CIRCLE)])
    lines = [Line(com + circle @ half[:, [a, b]].T, "#c2410c", 1.3, closed=True, fill=0.15)
             for a, b in ((0, 1), (1, 2), (0, 2))]
    size = 0.5 * float(np.linalg.norm(half, axis=0).max())
    return lines + [Line(com + np.array([[-size], [size]]) * axis, "#c2410c", 1.8)
                    for axis in np.eye(3)]


def sharp_edges(shape: Shape) -> list[Array]:
    """Edges (2, 3) of the hull of a shape at which its faces turn; its bounding box where there are
    none, as those of a ball."""
    from scipy.spatial import ConvexHull  # loads slowly, and only shapes need it

    hull = ConvexHull(shape.surface)
    normals = hull.equations[:, :3]
    edges = []
    for face, others in enumerate(hull.neighbors):
        for k, other in enumerate(others):
            if face < other and normals[face] @ normals[other] < _SHARP:
                edges.append(shape.surface[np.delete(hull.simplices[face], k)])
    if edges and len(edges) <= 400:
        return edges
    lower, upper = shape.bounds
    return list(box_edges(0.5 * (lower + upper), upper - lower, np.eye(3)))


def _place_in_shape(estimate: Estimate, shape: Shape | None) -> str:
    """Where the centre of mass is in the shape, in words."""
    if shape is None:
        return "No shape of the object was given."
    com = estimate.body.com
    lower, upper = shape.bounds
    offset = ", ".join(f"{round(1e3 * v, 1) + 0.0:.1f}" for v in com - 0.5 * (lower + upper))
    inside = bool(np.all(shape.hull[:, :3] @ com + shape.hull[:, 3] <= 0.0))
    return (f"Grey: the shape, {shape.name}, or its bounding box where it has no edges. The centre "
            f"of mass lies {'inside' if inside else 'outside'} of it, ({offset}) mm from its "
            "middle.")
