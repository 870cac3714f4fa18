"""`uniform`: the measured mass, spread evenly over the known shape; always worth reporting beside.

One parameter, ``phi = m unit_phi``, by whitened least squares with bias states.
"""

from __future__ import annotations

import numpy as np

from ..errors import InvalidShape, NotEnoughData
from ..settings import Settings
from ..shape import Shape
from .base import Problem, Solution, register
from .reference_body import MASS, ReferenceBodies
from .semidefinite import SVEC_SIZE, svec

# The shape is taken for granted: its parameters per kilogram are known to this part of the body.
SHAPE_SD = 1e-6


@register("uniform")
class Uniform:
    """Mass from the data, everything else from the shape."""

    name = "uniform"
    needs_shape = True
    guarantees_consistency = True

    def __init__(self, settings: Settings) -> None:
        self._weighting = settings.estimator.weighting
        self._bodies = ReferenceBodies()

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The evenly filled shape whose mass fits best.

        Raises:
            InvalidShape: no shape.
            NotEnoughData: no information about the mass, or no positive mass fits.
        """
        if shape is None:
            raise InvalidShape("the estimator 'uniform' needs a shape")
        marginal = problem.marginal(self._weighting)
        column = marginal.matrix @ shape.unit_phi
        information = float(column @ column)
        if not np.isfinite(information) or information <= 0.0:
            raise NotEnoughData("the window holds no usable sample of the wrench under gravity")
        mass = float(column @ marginal.target) / information
        if not mass > 0.0:
            raise NotEnoughData(f"no positive mass fits the data (best: {mass:.4g} kg); "
                                "is anything carried, and is the wrench convention right?")
        phi = shape.uniform(mass)
        body = self._bodies.of(shape)
        # x - m x(unit) = 0 in the nine coordinates that are not the mass
        unit = np.eye(SVEC_SIZE)
        rows = (unit - np.outer(svec(np.eye(4)), unit[MASS]))[:MASS]
        rows = rows @ body.from_phi / (SHAPE_SD * mass)
        return Solution(phi, marginal.bias(phi), rows.T @ rows)
