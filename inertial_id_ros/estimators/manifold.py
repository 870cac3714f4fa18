# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`manifold`: physically consistent least squares on R x R3 x SO(3) x R3 (Traversaro et al. 2016).

The body is (m, c, Q, L): mass, centre of mass, principal axes, second moments of mass along them
(eqs 15, 22); ``m > 0, L > 0`` is all that consistency asks (Theorem 1). A Newton step moves them in
the frame of the body: the chart of eq. 26, scaled so that coinciding moments are no special case. A
barrier ``-w (log m + sum log L)``, whose weight falls to nothing, keeps every iterate a body; the
optimum is that of `lmi`: the same data, weak prior and margin, in the reference body's coordinates.
"""

from typing import NamedTuple

import numpy as np

from ..geometry.shape import Shape
from ..inertia import Array
from ..model.problem import Problem
from . import Estimator, Solution
from .entropic import newton, stages
from .reference_body import EPSILON, MARGIN, MASS, MAX_STEPS, no_load, regularise, smat, svec

NEAR = 1.0  # squared decrement over w, from which on the next weight is tried


class Point(NamedTuple):
    """A body: mass, centre (3,), principal axes (columns, 3, 3), second moments (3,) along them."""

    mass: float = 1.0
    center: Array = np.zeros(3)
    axes: Array = np.eye(3)
    moments: Array = np.ones(3)

    @property
    def factor(self) -> Array:
        """P (4, 4) with the pseudo-inertia ``P P'``: unit body in the frame of this one."""
        out = np.zeros((4, 4))
        out[:3, :3] = self.axes * np.sqrt(self.moments)
        out[:3, 3], out[3, 3] = np.sqrt(self.mass) * self.center, np.sqrt(self.mass)
        return out

    def moved(self, change: Array) -> "Point":
        """The body after a change (4, 4) of its pseudo-inertia in the frame of its factor."""
        root, unit = self.factor[:3, :3], np.eye(4) + change  # well scaled: nothing is lost there
        mass, shift = unit[3, 3], unit[:3, 3] / unit[3, 3]
        axes, sizes, _ = np.linalg.svd(
            root @ np.linalg.cholesky(unit[:3, :3] - mass * np.outer(shift, shift)))
        return Point(self.mass * mass, self.center + root @ shift / np.sqrt(self.mass), axes,
                     sizes**2)


class Manifold(Estimator):
    """Least squares over bodies by mass, centre, principal axes and second moments."""

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The consistent body nearest to the data; see `Estimator.solve`."""
        data, to_x = regularise(problem, shape), np.linalg.inv(MARGIN)
        scale = data.mass_scale
        # Unknown: y = MARGIN x / scale, positive definite where the margin holds.
        matrix = data.matrix @ to_x * scale
        pseudo = smat(np.linalg.solve(matrix, data.target))
        if not np.linalg.eigvalsh(pseudo)[0] > 0.0:
            # From the prior's body on, in whose frame the barrier's pull is towards it.
            unit, point = np.linalg.cholesky(smat(MARGIN @ data.compact / scale)), Point()
            tensor = unit.T @ smat(matrix) @ unit
            for weight in stages(tensor, data.target):
                for _ in range(MAX_STEPS):
                    step = newton(tensor, data.target, weight, point.factor)
                    if step.decrement <= NEAR:
                        break
                    point = point.moved(step.change)
            root = unit @ point.factor
            pseudo = root @ root.T
        if pseudo[3, 3] <= 2.0 * EPSILON:
            raise no_load(float(data.optimum[MASS]))
        return data.solution(scale * (to_x @ svec(pseudo)))
