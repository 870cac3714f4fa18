# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The robot that fits the data, like its description where the data leave a choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...inertia import Array
from ..base_parameters import BaseParameters
from ..compression import Compressed
from ..model import BODY_SIZE
from ..reference_robot import Reference
from .consistent_fit import Identified, Prior, identify
from .constraints import Constraint
from .description_doubt import Doubt, doubt_description, term_sizes

# The pull of the description may cost this part of what the true robot would cost on average:
# one squared standard deviation for each base parameter. Of simulated arms it costs 0.1 to 0.4.
MOST_PULL = 0.5
_EASE, _NONE = 0.1, 1e-6  # of the weight, from try to try; of a prior that does not pull


@dataclass(frozen=True)
class Described:
    """An identified robot and what became of its description.

    Attributes:
        identified: the robot; prior: that it was found with; doubt: the description's bodies.
    """

    identified: Identified
    prior: Prior
    doubt: Doubt


def identify_described(data: Compressed, base: BaseParameters, constraints: Sequence[Constraint],
                       reference: Reference, bodies: int, noise: Array, weight: float = 1.0
                       ) -> Described:
    """Identify, with a prior that trusts each body of the description as far as the data do.

    Where the model lacks something that moves the robot (friction that it does not know), even that
    prior may pull. It is made weaker until the fit is nearly the best possible one.

    Args:
        bodies: that phi begins with; noise: (k,) of each output [N m].
        weight: inverse variance of a body that the data do not contradict, in units of itself.

    Raises:
        InfeasibleProblem, SolverFailure: see `constrained_least_squares`.
    """
    first = BODY_SIZE * bodies
    spread = np.ones(data.size)
    spread[first:] = term_sizes(data, first) / np.diag(reference.unit)[first:]
    spread[:first] /= np.sqrt(weight)
    factor = data.stack(noise)
    doubt = doubt_description(factor[:, :-1], factor[:, -1], reference, spread, bodies)
    spread[:first] *= np.repeat(doubt.factors, BODY_SIZE)
    prior = Prior(reference, spread=spread)
    found = identify(data, base, constraints, prior, noise)

    def squares(robot: Identified) -> float:
        return float(np.sum(data.squares(robot.phi) / noise**2))

    limit = squares(identify(data, base, constraints, replace(prior, weight=_NONE), noise))
    limit += MOST_PULL * base.count
    while squares(found) > limit and prior.weight > _NONE:
        prior = replace(prior, weight=_EASE * prior.weight)
        found = identify(data, base, constraints, prior, noise)
    return Described(found, prior, doubt)
