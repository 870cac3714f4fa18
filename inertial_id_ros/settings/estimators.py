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
    min_duration: float = setting(
        0.5, "Seconds of data before the first estimate.", unit="s", low=0.0, high=60.0,
        runtime=True)
    max_mass: float = setting(
        0.0, "Largest mass the payload can have, for density, lmi and manifold; 0: no bound.",
        unit="kg", low=0.0, runtime=True)


@dataclass(frozen=True)
class PmdSettings:
    form: str = setting(
        "norm", "norm: Euclidean norms as published; squared: a quadratic program.",
        choices=("norm", "squared"), runtime=True)
    regularization: float = setting(
        0.1, "Weight of the norm of the point masses.", low=0.0, runtime=True)
    whiten: bool = setting(
        True, "Weigh torque against force by the sensor noise; false: N and N m as published.",
        runtime=True)
    points: int = setting(
        136, "Point masses to spread over the shape.", low=4, high=1000, runtime=True)


@dataclass(frozen=True)
class LmiSettings:
    support: str = setting(
        "none", "Region of the shape that must hold the mass: none; box: centre of mass in the "
        "bounding box; ellipsoid: density realisable on the bounding ellipsoid.",
        choices=("none", "box", "ellipsoid"), runtime=True)
    epsilon: float = setting(
        1e-6, "Smallest eigenvalue of the pseudo-inertia, relative to its scale.",
        low=1e-9, high=1e-2, runtime=True)


@dataclass(frozen=True)
class ManifoldSettings:
    """Its margin is ``lmi.epsilon``."""

    max_iterations: int = setting(
        100, "Steps after which the best body so far is the answer.", low=1, high=10000,
        runtime=True)
    deadline: float = setting(
        0.0, "Time after which the best body so far is the answer; 0: none.", unit="s", low=0.0,
        high=10.0, runtime=True)


@dataclass(frozen=True)
class EntropicSettings:
    gamma: float = setting(
        8.0, "Weight of the prior, about one over the square of the relative difference expected "
        "between the body and the evenly filled shape; with selection by evidence it bounds the "
        "confidence that the prior adds.", low=1e-3, high=1e6, runtime=True)
    selection: str = setting(
        "evidence", "evidence: the data choose the weight; fixed: gamma as given.",
        choices=("fixed", "evidence"), runtime=True)
