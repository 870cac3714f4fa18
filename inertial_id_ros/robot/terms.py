# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which terms the joints of a robot have, by how well motion that was held out is predicted.

The rows are cut into parts along time, and each part is predicted from the others. Drive inertia
and friction by load are chosen where the parts held out are more likely with them, by `COST` for
each joint and kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ..inertia import Array
from .least_squares import fit_unconstrained
from .model import DRIVE, LOAD, JointTerms, RobotModel
from .recording import RowFilter, Rows
from .reference import description_reference

COST = 5.0  # nats that a kind of term must bring for each joint
FADINGS = (0.0, 0.003, 0.01, 0.03, 0.1)  # rad/s
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


def choose_terms(model: RobotModel, filtered: RowFilter, speeds: Sequence[float], choose: bool
                 ) -> TermChoice:
    """The terms with which a recording is explained, and its held-out parts are predicted, best.

    Args:
        model: with the terms that every joint has anyway.
        speeds: below which Coulomb friction may fade [rad/s]: that which explains all rows best, as
            with weights speeds win that call many rows doubtful.
        choose: True if drive inertia and friction by load are tried.
    """
    bodies = filtered.mean(model.body_regressor)
    driven = [model.with_terms(replace(model.terms, drive_inertia=True, coulomb_velocity=speed))
              for speed in speeds]
    best = min(driven, key=lambda each: _misfit(each, filtered.rows(each, bodies)))
    used = replace(model.terms, coulomb_velocity=best.terms.coulomb_velocity)
    if not choose:
        return TermChoice(used, {})
    free = fit_unconstrained(best, filtered.rows(best, bodies))
    loads = tuple(free.phi[:model.inertial].tolist())
    rich = best.with_terms(replace(best.terms, load=True, load_bodies=loads))
    usual = np.sqrt(np.mean(free.weights**2, axis=0))  # so that errors are of size 1
    whole = _whitened(rich, filtered.rows(rich, bodies), free.weights / (free.noise * usual))
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


def _whitened(model: RobotModel, rows: Rows, weights: Array) -> Array:
    """Rows (r, joints, p + 1) in units of the description, times weights (r, joints)."""
    reference = description_reference(model)
    target = rows.effort - rows.regressor @ reference.phi
    return np.concatenate([rows.regressor @ reference.unit, target[..., None]], axis=2
                          ) * weights[..., None]


def _solve(squares: Array, inertial: int) -> Array:
    """Least squares [x; -1] (n + 1,) of the products (n + 1, n + 1) of all columns, of which the
    first `inertial` are bodies."""
    ridge = _RIDGE * np.diag(squares)[:-1] + 1e-12
    ridge[:inertial] = _PRIOR
    return np.append(np.linalg.solve(squares[:-1, :-1] + np.diag(ridge), squares[:-1, -1]), -1.0)


def _misfit(model: RobotModel, rows: Rows) -> float:
    """Sum over the joints of the logarithms of what a fit leaves, all rows alike."""
    whole = _whitened(model, rows, np.broadcast_to(1.0 / rows.effort.std(axis=0),
                                                   rows.effort.shape))
    flat = whole.reshape(-1, whole.shape[2])
    error = whole @ _solve(flat.T @ flat, model.inertial)
    return float(np.sum(np.log(np.std(error, axis=0))))
