"""A prior so weak that it decides only what the data leave open.

Still poses, turning about one axis, or a load that hardly moves leave directions of phi without any
information. There the answer is a compact body: as large as the reference body (the shape filled
evenly, or a ball of usual size), with its centre of mass where the data put it. The prior's
standard deviation is 10000 times that body, so a direction that the data know to 100 % of its own
scale moves by 1e-8 of its distance to the prior. The mass itself has no prior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import NotEnoughData
from ..inertia import Array
from ..linalg import identity, solve, solve_upper, triangular_factor
from .reference_body import FIRST, MASS, ReferenceBody
from .solvers.triangle_vector import SVEC_SIZE, svec

RELATIVE_SD = 1e4
_UNIT = svec(np.eye(4))  # the reference body in its own coordinates
_EXTENT = np.diag([1.0, 1.0, 1.0, 0.0])  # its second moments
_OTHERS = np.eye(SVEC_SIZE)[:MASS]  # every coordinate but the mass
_SIMPLE = np.stack([_UNIT, *np.eye(SVEC_SIZE)[FIRST]], axis=1)  # mass and first moment
# Information of "x is the mass times the reference body", one kilogram wide.
_ROWS = _OTHERS - np.outer(_UNIT[:MASS], np.eye(SVEC_SIZE)[MASS])
_LIKE_REFERENCE = _ROWS.T @ _ROWS


@dataclass(frozen=True)
class Regularised:
    """Least squares in the coordinates x of the reference body, of full rank.

    Attributes:
        matrix: (10, 10) upper triangular; target: (10,): minimise ``|matrix x - target|^2``.
        compact: (10,) the prior's body, positive definite.
        simple_mass: [kg] best mass with a free centre and the reference body's inertia, signed.
        mass_scale: [kg] mass by which to judge what is small; positive.
        prior_rows: (9, 10) whitened rows of the prior on x.
    """

    matrix: Array
    target: Array
    compact: Array
    simple_mass: float
    mass_scale: float
    prior_rows: Array

    @cached_property
    def optimum(self) -> Array:
        """Unconstrained optimum (10,) in the coordinates x."""
        return solve_upper(self.matrix, self.target)

    def require_mass(self) -> None:
        """Raise NotEnoughData if no positive mass explains the wrench: no load, or a wrong sign.

        A constrained fit could hide it: a wrong sign in force and torque looks, to the torque
        alone, like a small mass on the opposite side.
        """
        free = float(self.optimum[MASS])
        if self.simple_mass <= 0.0 and free <= 0.0:
            raise NotEnoughData(f"the data ask for a mass of {free:.4g} kg; is anything "
                                "carried, and has what measures it the right sign?")

    def prior_information(self, body: ReferenceBody) -> Array:
        """Information (10, 10) of the prior about phi."""
        rows = self.prior_rows @ body.from_phi
        return rows.T @ rows


def regularise(matrix: Array, target: Array, body: ReferenceBody) -> Regularised:
    """Add the weak prior to ``|matrix phi - target|^2``, whitened (n, 10) and (n,).

    Raises:
        NotEnoughData: no information about the mass, or numbers that are not finite.
    """
    rows = matrix @ body.to_phi
    gram, vector = rows.T @ rows, rows.T @ target  # for pilots, normal equations do
    information = float(_UNIT @ gram @ _UNIT)
    if not (math.isfinite(information) and math.isfinite(target.sum()) and information > 0.0):
        raise NotEnoughData("the window holds no usable sample of the wrench under gravity")
    # Size of the problem: the mass that fits best with a free centre and the reference's inertia.
    mass = float(solve(_SIMPLE.T @ gram @ _SIMPLE + 1e-9 * information * identity(4),
                       _SIMPLE.T @ vector)[0])
    scale = max(abs(mass), 1.0 / np.sqrt(information))
    compact = _compact(gram, vector, scale)
    prior = _OTHERS / (RELATIVE_SD * scale)
    upper = _triangular(rows, target, prior, prior @ compact)
    return Regularised(upper[:-1, :-1], upper[:-1, -1], compact, mass, scale, prior)


def _compact(gram: Array, vector: Array, scale: float) -> Array:
    """Coordinates (10,) of a body like the reference body, with the mass and centre of the data.

    A pilot estimate with a prior as wide as the reference body itself gives both; where the data
    say little the centre stays near that of the reference body.
    """
    pilot = solve(gram + _LIKE_REFERENCE / scale**2, vector)
    if pilot[MASS] <= 1e-3 * scale:  # no weight, or the wrong sign: nothing to take a centre from
        return scale * _UNIT
    place = np.ones(4)
    place[:3] = pilot[FIRST] / (math.sqrt(2.0) * pilot[MASS])
    return pilot[MASS] * svec(place[:, None] * place + _EXTENT)


def _triangular(rows: Array, target: Array, prior: Array, mean: Array) -> Array:
    """Triangular factor (11, 11) of the stacked ``[rows | target]`` and ``[prior | mean]``."""
    stacked = np.empty((len(rows) + len(prior), SVEC_SIZE + 1), order="F")  # as LAPACK reads it
    stacked[:len(rows), :-1], stacked[:len(rows), -1] = rows, target
    stacked[len(rows):, :-1], stacked[len(rows):, -1] = prior, mean
    return triangular_factor(stacked, overwrite=True)
