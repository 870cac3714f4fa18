# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which terms the joints of a robot have, by how well motion that was held out is predicted.

The rows are cut into parts along time, and each part is predicted from the others. Drive inertia
and friction by load are chosen where the parts held out are more likely with them, by `COST` for
each joint and kind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ..inertia import Array
from .least_squares import description_reference, fit_unconstrained
from .model import DRIVE, LOAD, JointTerms, RobotModel
from .recording import RowFilter

COST = 5.0  # nats that a kind of term must bring for each joint
TITLES = {DRIVE: "drive inertia", LOAD: "load-dependent friction"}
_PARTS = 6  # of the recording, each predicted from the others
_PRIOR = 1e-2  # inverse variance of bodies in units of the described ones
_RIDGE = 1e-9  # of terms' squares


@dataclass(frozen=True)
class TermChoice:
    """Terms of a robot's joints.

    Attributes:
        gains: log-likelihood of held-out motion that each kind brings, or would bring [nats].
    """

    terms: JointTerms
    gains: dict[str, float]

    def sentences(self) -> list[str]:
        """What was chosen and why, and what was not, for a person."""
        return [f"{TITLES[kind]} {'' if kind in self.terms.names else 'not '}chosen: with it, the "
                f"log-likelihood of held-out motion grows by {gain:.0f} ({COST:g} for each joint "
                "are asked for)" for kind, gain in self.gains.items()]


def choose_terms(model: RobotModel, filtered: RowFilter) -> TermChoice:
    """The terms with which a recording is explained, and its held-out parts are predicted, best.

    Args:
        model: with the terms that every joint has anyway.
    """
    used, bodies = model.terms, filtered.mean(model.body_regressor)
    driven = model.with_terms(replace(used, drive_inertia=True))
    free = fit_unconstrained(driven, filtered.rows(driven, bodies))
    loads = tuple(free.phi[:model.inertial].tolist())
    rich = model.with_terms(replace(driven.terms, load=True, load_bodies=loads))
    rows, reference = filtered.rows(rich, bodies), description_reference(rich)
    usual = np.sqrt(np.mean(free.weights**2, axis=0))  # so that errors are of size 1
    weights = free.weights / (free.noise * usual)
    target = rows.effort - rows.regressor @ reference.phi
    whole = np.concatenate([rows.regressor @ reference.unit, target[..., None]], axis=2
                           ) * weights[..., None]
    parts = np.stack([part.T @ part for part in np.array_split(
        whole.reshape(-1, whole.shape[2]), _PARTS)])

    def cost(drive: bool, load: bool) -> float:
        """Negative log-likelihood of the parts held out [nats]."""
        names = [*used.names, *[DRIVE] * drive, *[LOAD] * load]
        at = np.array([*range(model.inertial), *(
            rich.term_index(j, name) for j in model.joint_names for name in names), -1])
        some = parts[:, at[:, None], at]
        solved = [_solve(some.sum(axis=0) - test, model.inertial) for test in some]
        return 0.5 * sum(float(v @ test @ v) for v, test in zip(solved, some, strict=True))

    costs = {kinds: cost(*kinds) for kinds in product((False, True), repeat=2)}
    drive, load = min(costs, key=lambda kinds: costs[kinds]
                      + COST * len(model.joint_names) * sum(kinds))
    return TermChoice(
        replace(used, drive_inertia=drive, load=load, load_bodies=loads if load else ()),
        {DRIVE: costs[False, load] - costs[True, load],
         LOAD: costs[drive, False] - costs[drive, True]})


def _solve(squares: Array, inertial: int) -> Array:
    """Least squares [x; -1] (n + 1,) of the products (n + 1, n + 1) of all columns, of which the
    first `inertial` are bodies."""
    ridge = _RIDGE * np.diag(squares)[:-1] + 1e-12
    ridge[:inertial] = _PRIOR
    return np.append(np.linalg.solve(squares[:-1, :-1] + np.diag(ridge), squares[:-1, -1]), -1.0)
