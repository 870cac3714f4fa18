# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Settings of the estimators: which one, and the options of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .spec import setting

# Each is a module of `estimators`. Other packages name theirs in the group of entry points.
ESTIMATORS = ("density", "entropic", "lmi", "manifold", "pmd", "wls")
ESTIMATOR_GROUP = "inertial_id_ros.estimators"


@dataclass(frozen=True)
class EstimatorSettings:
    method: str = setting(
        "density", "Estimator (see estimators.md).", choices=ESTIMATORS, group=ESTIMATOR_GROUP,
        runtime=True)
    weighting: str = setting(
        "noise", "noise: full model, whitened by the sensor noise; dynamism: blend of the full and "
        "the gravity-only model, for entropic, lmi, manifold, pmd and wls, without alignment "
        "states.", choices=("noise", "dynamism"), runtime=True)
    rate: float = setting(
        2.0, "Estimates a second.", unit="Hz", low=0.01, high=100.0, runtime=True)
    # Dynamism at which the full model has 99.5 % of the weight.
    dynamism_c1: ClassVar[float] = 300.0
    estimate_bias: bool = setting(
        True, "Estimate the six sensor biases with the payload.", runtime=True)
    estimate_noise: bool = setting(
        True, "Correct the data-sheet noise from the residual.", runtime=True)
    min_duration: ClassVar[float] = 0.5  # s of data before the first estimate
    max_mass: float = setting(
        0.0, "Largest mass the payload can have, for density, lmi and manifold; 0: no bound.",
        unit="kg", low=0.0, runtime=True)


@dataclass(frozen=True)
class PmdSettings:
    form: str = setting(
        "norm", "norm: Euclidean norms, torque weighed against force by the sensor noise; "
        "published: the same of N and N m as they are; squared: norm as a quadratic program.",
        choices=("norm", "published", "squared"), runtime=True)
    regularization: ClassVar[float] = 0.1  # weight of the norm of the point masses
    points: int = setting(
        136, "Point masses to spread over the shape.", low=4, high=1000, runtime=True)


@dataclass(frozen=True)
class LmiSettings:
    support: str = setting(
        "none", "Region of the shape that must hold the mass: none; box: centre of mass in the "
        "bounding box; ellipsoid: density realisable on the bounding ellipsoid.",
        choices=("none", "box", "ellipsoid"), runtime=True)
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
