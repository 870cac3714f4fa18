# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A reference body of 1 kg: coordinates in which it is the unit, a weak prior about it, and least
squares with it: `wls`, whitened, and `ols`, with N and N m as they are (Atkeson, An, Hollerbach
1986). Nothing keeps the answers of these two physical.

With ``J(unit_phi) = L L'`` (L upper block triangular, that is an affine map of space), the
coordinates are ``x = svec(L^-1 J(phi) L^-T)``: lengths are multiples of its radius of gyration. The
weak prior decides only what the data leave open: there the answer is as large as the reference body
with its centre of mass where the data put it, to 10000 times that body; the mass has no prior.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.linalg import solve_triangular

from ..errors import NotEnoughData
from ..geometry.shape import Shape
from ..inertia import SIDE, Array, is_consistent, phi_from_pseudo_inertia, pseudo_inertia
from ..model.problem import Problem, triangle
from . import Estimator, Solution

_COLS, _ROWS = np.tril_indices(SIDE)
_FACTORS = np.where(_ROWS == _COLS, 1.0, np.sqrt(2.0))


def svec(matrices: Array) -> Array:
    """Triangle vectors (..., 10) of symmetric matrices (..., 4, 4): columns of the upper triangle,
    off-diagonal entries times sqrt(2), so that inner products are those of the matrices."""
    return matrices[..., _ROWS, _COLS] * _FACTORS


def smat(vectors: Array) -> Array:
    """Symmetric matrices (..., 4, 4) of triangle vectors (..., 10)."""
    out = np.empty((*vectors.shape[:-1], SIDE, SIDE))
    out[..., _ROWS, _COLS] = out[..., _COLS, _ROWS] = vectors / _FACTORS
    return out


# Without a shape: a ball at the sensor origin whose mass lies at 0.05 m (root mean square, each
# axis), the size of a tool or of a part that an arm carries.
DEFAULT_RADIUS = 0.05
MASS = -1  # coordinate that is the mass; before it those that are sqrt(2) * first moment
FIRST = np.flatnonzero(_COLS == SIDE - 1)[:MASS]
WEAK_PRIOR_SD = 1e4  # of the weak prior, relative to the reference body
MAX_STEPS = 150  # of a search
NEGLIGIBLE = 1e-12  # tolerance of solvers; of a squared decrement over w; weight of a barrier
# As good as none: an eigenvalue of a pseudo-inertia over the mass, a mass over the problem's mass
# scale, a step of a search.
EPSILON = 1e-6
UNIT = svec(np.eye(SIDE))  # the reference body in its own coordinates
_EYE = np.eye(len(UNIT))
# From x to ``svec(J - epsilon m 1)``, all in the reference body's coordinates.
MARGIN = _EYE - EPSILON * np.outer(UNIT, _EYE[MASS])
_EXTENT = np.diag([1.0, 1.0, 1.0, 0.0])  # its second moments
_SIMPLE = np.stack([UNIT, *_EYE[FIRST]], axis=1)  # mass and first moment
# Rows (9, 10) that vanish where x is its mass times the reference body.
_LIKE_REFERENCE = _EYE[:MASS] - np.outer(UNIT[:MASS], _EYE[MASS])


@dataclass(frozen=True)
class ReferenceBody:
    """The reference body and the linear maps between phi and its coordinates.

    Attributes:
        unit_phi: (10,) the body, 1 kg, about the sensor origin.
        to_phi: (10, 10) phi from coordinates; from_phi: (10, 10) the inverse.
    """

    unit_phi: Array
    to_phi: Array
    from_phi: Array

    def make_consistent(self, phi: Array) -> Array:
        """phi (10,), with just enough of the reference body mixed in to be physically consistent:
        1e-6 of the mass, or the next power of ten that suffices; the mass stays."""
        for share in (0.0, 1e-6, 1e-5, 1e-4, 1e-3):
            moved = (1.0 - share) * phi + share * phi[0] * self.unit_phi
            if is_consistent(moved):
                return moved
        return phi[0] * self.unit_phi


@lru_cache(maxsize=8)
def reference_body(shape: Shape | None) -> ReferenceBody:
    """The shape filled evenly, or a ball of usual size at the sensor origin."""
    return body_coordinates(shape.unit_phi if shape is not None else phi_from_pseudo_inertia(
        np.diag([*3 * [DEFAULT_RADIUS**2], 1.0])))


def body_coordinates(unit: Array) -> ReferenceBody:
    """The maps of a consistent body of 1 kg, phi (10,)."""
    pseudo = pseudo_inertia(unit)
    com = pseudo[:3, 3]
    factor = np.eye(SIDE)
    factor[:3, :3] = np.linalg.cholesky(pseudo[:3, :3] - np.outer(com, com))
    factor[:3, 3] = com
    inverse = np.linalg.inv(factor)
    return ReferenceBody(unit, phi_from_pseudo_inertia(factor @ smat(_EYE) @ factor.T).T,
                         svec(inverse @ pseudo_inertia(_EYE) @ inverse.T).T)


def no_load(mass: float) -> NotEnoughData:
    """The error of data of which a mass [kg] that is not positive fits best."""
    return NotEnoughData(f"no load shows: {mass:.4g} kg fits best; either nothing is carried, or "
                         "the wrench, or the joint torques, have the opposite sign")


@dataclass(frozen=True)
class RegularisedProblem:
    """Least squares in the coordinates x of the reference body, of full rank.

    Attributes:
        body: the reference body.
        matrix: (10, 10) upper triangular; target: (10,): minimise ``|matrix x - target|^2``.
        compact: (10,) the prior's body, like the reference body, with the mass and centre of the
            data; positive definite.
        mass: [kg] that fits best with a free centre and the inertia of the reference body;
            mass_scale: [kg] by which to judge what is small; positive.
    """

    body: ReferenceBody
    matrix: Array
    target: Array
    compact: Array
    mass: float
    mass_scale: float

    @cached_property
    def optimum(self) -> Array:
        """Unconstrained optimum (10,) in the coordinates x."""
        return np.asarray(solve_triangular(self.matrix, self.target, check_finite=False))

    def solution(self, x: Array, is_body: bool = True) -> Solution:
        """Coordinates (10,) as the answer.

        Args:
            is_body: it has to be physically consistent, which rounding may have lost.
        """
        phi = self.body.to_phi @ x
        root = self.body.to_phi @ solve_triangular(self.matrix, _EYE, check_finite=False)
        return Solution(self.body.make_consistent(phi) if is_body else phi, root @ root.T)


def regularise(problem: Problem, shape: Shape | None, needs_mass: bool = True
               ) -> RegularisedProblem:
    """Add the weak prior to a problem.

    Raises:
        NotEnoughData: no information about the mass, or numbers that are not finite; and, where a
            mass is needed, data that no positive one explains: no load, or a wrong sign, which
            looks, to the torque alone, like a small mass on the opposite side.
    """
    body, target = reference_body(shape), problem.target
    rows = problem.matrix @ body.to_phi
    gram, vector = rows.T @ rows, rows.T @ target  # for pilots, normal equations do
    information = float(UNIT @ gram @ UNIT)
    if not (math.isfinite(information) and math.isfinite(target.sum()) and information > 0.0):
        raise NotEnoughData("the window holds no usable sample of the wrench under gravity")
    system = _SIMPLE.T @ gram @ _SIMPLE + 1e-9 * information * np.eye(4)
    mass = float(np.linalg.solve(system, _SIMPLE.T @ vector)[0])
    scale = max(abs(mass), 1.0 / math.sqrt(information))
    # With a prior as wide as the reference body, for the place of the weak prior's body: where the
    # data say little it stays near that of the reference body.
    pilot = np.linalg.solve(gram + _LIKE_REFERENCE.T @ _LIKE_REFERENCE / scale**2, vector)
    compact = scale * UNIT
    if pilot[MASS] > 1e-3 * scale:  # else no weight, or the wrong sign: there is no place
        place = np.r_[pilot[FIRST] / (math.sqrt(2.0) * pilot[MASS]), 1.0]
        compact = pilot[MASS] * svec(place[:, None] * place + _EXTENT)
    prior = _EYE[:MASS] / (WEAK_PRIOR_SD * scale)
    upper = triangle(np.column_stack([np.concatenate([rows, prior]),
                                      np.concatenate([target, prior @ compact])]))
    data = RegularisedProblem(body, upper[:-1, :-1], upper[:-1, -1], compact, mass, scale)
    if needs_mass and mass <= 0.0 and data.optimum[MASS] <= 0.0:
        raise no_load(float(data.optimum[MASS]))
    return data


class Wls(Estimator):
    """Least squares, every row by its noise."""

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The unconstrained optimum; see `Estimator.solve`."""
        data = regularise(problem, shape, needs_mass=False)
        return data.solution(data.optimum, is_body=False)


class Ols(Wls):
    """Least squares, every row alike, with a free bias (or the known one)."""

    needs_wrench = needs_noise = True

    def solve(self, problem: Problem, shape: Shape | None) -> Solution:
        """The unconstrained optimum of all rows; its covariance is not that of noise."""
        if not problem.models:
            raise NotEnoughData("the estimator 'ols' needs the rows of the wrench")
        return super().solve(Problem.from_models(
            problem.models, np.ones(len(problem.noise)), 1e6 * problem.bias_sd), shape)
