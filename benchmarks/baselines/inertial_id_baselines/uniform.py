# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`uniform`: the measured mass, spread evenly over the known shape; always worth reporting beside.

The mass comes from whitened least squares with bias states and a free centre of mass. As far as the
shape may be wrong, its position, rotation and size are estimated as well.
"""

from __future__ import annotations

import numpy as np

from inertial_id_ros.errors import InvalidShape
from inertial_id_ros.estimators.base import Solution
from inertial_id_ros.estimators.density_mode import find_mode
from inertial_id_ros.estimators.reference_body import (
    LIKE_REFERENCE,
    MASS,
    ReferenceBodyCache,
    measure_mass,
    weaken_prior,
)
from inertial_id_ros.geometry.density_prior import MASS_SD, DensityPrior
from inertial_id_ros.geometry.shape import Shape
from inertial_id_ros.geometry.shape_error import ShapeError
from inertial_id_ros.inertia import Array
from inertial_id_ros.linalg import inverse
from inertial_id_ros.regression.problem import Problem, vague_information
from inertial_id_ros.settings import Settings

# The shape is taken for granted: its parameters per kilogram are known to this part of the body.
SHAPE_SD = 1e-6


class Uniform:
    """Mass from the data, everything else from the shape."""

    name = "uniform"
    needs_shape = True
    keeps_mass_inside = False
    needs_wrench = False
    needs_noise = "ratio of force to torque"
    guarantees_consistency = True

    def __init__(self, settings: Settings) -> None:
        self._weighting = settings.estimator.weighting
        self._shape_settings = settings.shape
        self._bodies = ReferenceBodyCache()

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The evenly filled shape whose mass fits best.

        Raises:
            InvalidShape: no shape.
            NotEnoughData: no information about the mass, or no positive mass fits.
        """
        if shape is None:
            raise InvalidShape("the estimator 'uniform' needs a shape")
        marginal = problem.marginal(self._weighting)
        body = self._bodies.of(shape)
        # The torque would pull the mass of a wrong centre: the mass is measured with a free one.
        mass = measure_mass(marginal.matrix @ body.to_phi, marginal.target)
        phi, slope = shape.uniform(mass), np.empty((10, 0))
        error = shape.error(self._shape_settings)
        if error.count:
            mode = find_mode(marginal.information, marginal.matrix.T @ marginal.target,
                             _even_prior(shape, error), 1.0, mass)
            phi, matrix = mode.phi, error.map_points(mode.states[1:])
            slope = (error.slopes(matrix) @ shape.uniform(1.0)).T * (
                mass * np.exp(MASS_SD * mode.states[0]))
        rows = LIKE_REFERENCE @ body.from_phi / (SHAPE_SD * mass)
        errors = np.column_stack([SHAPE_SD * mass * body.to_phi[:, :MASS], slope])
        before = vague_information(mass)
        return Solution(phi, marginal.bias(phi), weaken_prior(rows.T @ rows, slope @ slope.T),
                        covariance=_covariance(marginal.information + before, phi, errors),
                        prior_covariance=_covariance(before, phi, errors))


def _even_prior(shape: Shape, error: ShapeError) -> DensityPrior:
    """The prior of one density that is the same everywhere in a shape that may be wrong."""
    nothing = np.zeros((10, 10))
    return DensityPrior(shape.unit_phi[:, None], np.ones(1), np.empty((1, 0)), nothing, nothing,
                        (1.0,), 0.0, error)


def _covariance(information: Array, phi: Array, errors: Array) -> Array:
    """Covariance (10, 10) of ``a phi + errors @ w`` with unknown a and w ~ N(0, 1), given the data.

    The information of phi spans twenty orders of magnitude, as the shape is all but certain, and
    its inverse is lost in rounding; that of a and w is well conditioned.

    Args:
        information: (10, 10) about phi beside the shape; errors: (10, n) columns.
    """
    columns = np.column_stack([phi, errors])
    system = columns.T @ information @ columns
    system[1:, 1:] += np.eye(errors.shape[1])
    return columns @ inverse(system) @ columns.T
