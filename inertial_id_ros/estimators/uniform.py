"""`uniform`: the measured mass, spread evenly over the known shape; always worth reporting beside.

The mass comes from whitened least squares with bias states and a free centre of mass.
"""

from __future__ import annotations

import numpy as np

from ..errors import InvalidShape
from ..geometry.shape import Shape
from ..inertia import Array
from ..linalg import inverse
from ..regression.problem import Problem
from ..regression.unconstrained_fit import vague_information
from ..settings import Settings
from .base import Solution
from .reference_body import LIKE_REFERENCE, MASS, ReferenceBodyCache, measure_mass, weaken_prior

# The shape is taken for granted: its parameters per kilogram are known to this part of the body.
SHAPE_SD = 1e-6


class Uniform:
    """Mass from the data, everything else from the shape."""

    name = "uniform"
    needs_shape = True
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
        phi = shape.uniform(mass)
        rows = LIKE_REFERENCE @ body.from_phi / (SHAPE_SD * mass)
        pose = shape.pose_states(self._shape_settings)
        errors = np.column_stack([SHAPE_SD * mass * body.to_phi[:, :MASS], pose.slope(phi)])
        before = vague_information(mass)
        return Solution(phi, marginal.bias(phi), weaken_prior(rows.T @ rows, pose.covariance(phi)),
                        covariance=_covariance(marginal.information + before, phi, errors),
                        prior_covariance=_covariance(before, phi, errors))


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
