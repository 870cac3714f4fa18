# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of the payload: the rolling buffer, what the driver compensates, its shape, the tool;
which estimator, and its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .spec import Vector, setting


@dataclass(frozen=True)
class BufferSettings:
    window: float = setting(30.0, "Length of the rolling buffer.", unit="s", low=0.5, high=120.0)


@dataclass(frozen=True)
class PrecompensatedSettings:
    """Payload whose effect the driver has already removed from the wrench; the estimate is the sum
    of it and of what is measured."""

    source: str = setting(
        "settings", "Where it comes from. settings: mass, com and inertia below; none: there is "
        "none, since the wrench is not of the robot's driver; inertia: a topic with "
        "geometry_msgs/InertiaStamped; franka: inertia_load of franka_msgs/FrankaRobotState; "
        "dynamic_joint_states: control_msgs/DynamicJointState. When it changes, all data before "
        "are forgotten.",
        choices=("settings", "none", "inertia", "franka", "dynamic_joint_states"))
    topic: str = setting(
        "", "Topic of the sources inertia and franka; and of dynamic_joint_states, where wrench "
        "and joints are not read from there, too.")
    terms: str = setting(
        "all", "What of the payload the driver removes. all: its weight and inertial forces, until "
        "the motion shows clearly that it is not so; weight: its weight alone.",
        choices=("all", "weight"))
    frame: str = setting(
        "", "Frame of the payload that the driver reports; empty: that of its messages, or the "
        "sensor's.")
    mass: float = setting(
        0.0, "Mass of the payload that the driver already removes from the wrench; 0: none.",
        unit="kg", low=0.0, runtime=True)
    com: Vector = setting(
        (0.0, 0.0, 0.0), "Its centre of mass in the sensor frame.", unit="m", lengths=(3,),
        runtime=True)
    inertia: Vector = setting(
        (0.0,) * 6, "Its inertia about the centre of mass, sensor axes: xx, xy, xz, yy, yz, zz.",
        unit="kg m^2", lengths=(6,), runtime=True)


_OF_PRIMITIVES = tuple(range(3, 27, 3))  # numbers for up to eight


@dataclass(frozen=True)
class ShapeSettings:
    type: str = setting(
        "none", "Shape of the object in the sensor frame.",
        choices=("none", "box", "cylinder", "sphere", "mesh"))
    size: Vector = setting(
        (), "Box: lengths x, y, z. Cylinder: radius, height (along z). Sphere: radius. Several of "
        "the type make up one object: the numbers of one after the other, likewise in shape.center "
        "and shape.rpy.", unit="m", above=0.0)
    center: Vector = setting((0.0, 0.0, 0.0), "Centre, or origin of the mesh.", unit="m",
                              lengths=_OF_PRIMITIVES)
    rpy: Vector = setting((0.0, 0.0, 0.0), "Roll, pitch, yaw.", unit="rad",
                           lengths=_OF_PRIMITIVES)
    mesh: str = setting("", "Mesh file in metres, or file:// or package:// resource; of points "
                        "without triangles (PLY, XYZ, NPY) the convex hull is taken.")
    error: float = setting(
        1.0, "How wrong the shape may be, where 1 stands for 0.01 m in its position along each "
        "axis, 5 deg in its rotation about each axis through the middle of its bounding box, and "
        "20 % in its size along each of its axes (one standard deviation). The estimate then "
        "follows data that contradict it, and intervals hold as well; 0: exact.", low=0.0, high=9.0)
    bounding: bool = setting(
        True, "The shape only bounds the object; false: the object fills it.")
    max_reach: float = setting(
        0.5, "Farthest that an object of unknown shape (type none) reaches from the sensor frame's "
        "origin; for density.", unit="m", low=0.01, high=5.0)


@dataclass(frozen=True)
class ToolSettings:
    file: str = setting(
        "", "Tool file; the object is then estimated apart from this tool. Empty: none.")


ESTIMATORS = ("density", "entropic", "lmi", "manifold", "ols", "pmd", "wls")


@dataclass(frozen=True)
class EstimatorSettings:
    method: str = setting(
        "density", "Estimator (see docs/methods.md).", choices=ESTIMATORS, runtime=True)
    weighting: str = setting(
        "noise", "noise: full model, whitened by the sensor noise; dynamism: blend of the full and "
        "the gravity-only model, for entropic, lmi, manifold, pmd and wls, without alignment "
        "states.", choices=("noise", "dynamism"), runtime=True)
    rate: float = setting(
        2.0, "Estimates a second.", unit="Hz", low=0.01, high=100.0, runtime=True)
    # Dynamism at which the full model has 99.5 % of the weight.
    dynamism_c1: ClassVar[float] = 300.0
    max_mass: float = setting(
        0.0, "Largest mass the payload can have, for density, lmi and manifold; 0: no bound.",
        unit="kg", low=0.0, runtime=True)


@dataclass(frozen=True)
class PmdSettings:
    form: str = setting(
        "norm", "norm: Euclidean norms, torque weighed against force by the sensor noise; "
        "squared: norm as a quadratic program.", choices=("norm", "squared"), runtime=True)
    regularization: ClassVar[float] = 0.1  # weight of the norm of the point masses
    points: ClassVar[int] = 136  # point masses, spread over the shape


@dataclass(frozen=True)
class LmiSettings:
    support: str = setting(
        "none", "Region of the shape that must hold the mass: none; box: centre of mass in the "
        "bounding box; ellipsoid: density realisable on the bounding ellipsoid; ellipsoids: on the "
        "union of those of its primitives.", choices=("none", "box", "ellipsoid", "ellipsoids"),
        runtime=True)
    # Smallest eigenvalue of the pseudo-inertia, relative to its scale; of `manifold`, too.
    epsilon: ClassVar[float] = 1e-6


@dataclass(frozen=True)
class EntropicSettings:
    gamma: float = setting(
        0.0, "Weight of the prior, about one over the square of the relative difference expected "
        "between the body and the evenly filled shape. 0: the data choose it.", low=0.0, high=1e6,
        runtime=True)
    # Where the data choose it, the largest with which the prior adds to what is known.
    largest_gamma: ClassVar[float] = 8.0
