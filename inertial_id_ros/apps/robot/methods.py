# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The methods of the papers for `identify_robot`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import InvalidSetting
from ...extras import optional_packages
from ...inertia import Array
from ...robot.base_parameters import BaseParameters, fit_base_parameters
from ...robot.consistent_fit import Described, identify_described
from ...robot.constraints import FORMS, Limits, Parameters, consistent_robot
from ...robot.factors import Compressed
from ...robot.feasibility import correct_to_feasible, fit_feasible
from ...robot.mass_points import box_reference, fit_mass_points
from ...robot.model import RobotModel
from ...robot.nearest_robot import InfeasibleProblem, depth, nearest_robot
from ...robot.reference import Reference
from .known import Known

with optional_packages("identifying a robot"):
    import cvxpy as cp

METHODS = ("lmi", "fbpe", "ols+bpfc", "mass-points")
_SHARES = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)  # of a design, to leave the solver's tolerance
_CLOSE = 1e-6  # of base parameters in SI units, to which link parameters are filled in


@dataclass(frozen=True)
class Approach:
    """How a robot is identified.

    Attributes:
        method: one of `METHODS`; known: bounds of its bodies; weight: of the description, 1 trusts
        each body to 100 % of itself.

    Raises:
        InvalidSetting: there is no such method.
    """

    method: str = "lmi"
    known: Known = Known()
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InvalidSetting(f"method is '{self.method}'; allowed: {', '.join(METHODS)}")

    def fit(self, model: RobotModel, data: Compressed, base: BaseParameters, design: Reference,
            noise: Array) -> Described:
        """The robot by the method. What joint torques do not tell is as near to the design as the
        base parameters and the limits allow.

        Args:
            noise: (k,) of each output [N m].

        Raises:
            NotEnoughData, InfeasibleProblem, SolverFailure: see `robot.feasibility`.
        """
        exists = consistent_robot(model, design, self.known.form)
        more = self.known.limits(model.bodies, design.phi)

        def limits(phi: Parameters) -> list[cp.Expression]:
            return [*exists(phi), *more(phi)]

        found = identify_described(data, limits, design, len(model.bodies), noise, base.count,
                                   self.weight)
        if self.method == "lmi":
            return found
        if self.method == "mass-points":
            phi = self._mass_points(model, data.stack(noise), limits, design)
        else:
            beta = base.matrix @ (
                fit_feasible(data, base, limits, design) if self.method == "fbpe" else
                correct_to_feasible(base, fit_base_parameters(data, base), limits, design))
            rows = np.concatenate([base.matrix / _CLOSE, design.inverse])
            target = np.concatenate([beta / _CLOSE, design.inverse @ design.phi])
            phi = nearest_robot(rows, target, limits, design)
        return replace(found, phi=_without_tolerance(phi, model, design, self.known.form))

    def _mass_points(self, model: RobotModel, factor: Array, limits: Limits, design: Reference
                     ) -> Array:
        boxes = self.known.boxes(model.bodies, design.phi)
        try:
            return fit_mass_points(factor[:, :-1], factor[:, -1], limits, boxes,
                                   box_reference(boxes, design))
        except InfeasibleProblem:
            raise InfeasibleProblem("no mass points in the boxes of the links satisfy all the "
                                    "constraints; are the boxes as large as the links?") from None


def _without_tolerance(phi: Array, model: RobotModel, design: Reference, form: str) -> Array:
    """Parameters (p,) whose bodies exist: a link that the data leave no mass may lie outside by the
    solver's tolerance, and gets as little of its design as suffices."""
    out = phi.copy()
    for where in (model.body_slice(k) for k in range(len(model.bodies))):
        for share in _SHARES:
            out[where] = phi[where] + share * design.phi[where]
            matrix = FORMS[form] @ out[where]
            side = int(np.sqrt(len(matrix)))
            if out[where][0] > 0.0 and depth(matrix.reshape(side, side)) > 0.0:
                break
    return out
