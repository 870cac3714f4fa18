# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which terms the joints of a robot have, by how well motion that was held out is predicted.

The rows are cut into parts along time, and each part is predicted from the others. Of all speeds
below which Coulomb friction may fade, with and without drive inertia and friction by load, those
terms are chosen under which the parts held out are most likely, less `COST` for each kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ...inertia import Array
from ...robot.joint_terms import DRIVE, LOAD, JointTerms
from ...robot.model import BODY_SIZE, RobotModel
from ...robot.recording import RowFilter
from ...robot.reference import description_reference
from .fit import fit_unconstrained

COST = 10.0  # nats that a kind of term must bring
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
        return [f"{TITLES[kind]} " + (
            f"chosen: it raises the log-likelihood of held-out motion by {gain:.0f}"
            if kind in self.terms.names else
            f"not chosen: it would raise the log-likelihood of held-out motion by {gain:.1f}; more "
            f"than {COST:g} is asked for") for kind, gain in self.gains.items()]


def choose_terms(model: RobotModel, filtered: RowFilter, bodies: Array,
                 speeds: Sequence[float], choose: bool) -> TermChoice:
    """The terms that predict held-out parts of a recording best.

    Args:
        model: with the terms that every joint has anyway.
        bodies: (r, joints, 10 bodies) low-passed rows of the bodies.
        speeds: below which Coulomb friction may fade [rad/s]; choose: True if drive inertia and
            friction by load are tried, too.
    """
    used = model.terms
    first = model.with_terms(replace(used, drive_inertia=True, coulomb_velocity=speeds[
        len(speeds) // 2]))
    free = fit_unconstrained(first, filtered.rows(first, bodies))
    loads = tuple(free.phi[:BODY_SIZE * len(model.bodies)].tolist())
    kinds: list[tuple[str, ...]] = [()]
    if choose:
        kinds = [tuple(k for k, there in zip(TITLES, some, strict=True) if there)
                 for some in product((False, True), repeat=len(TITLES))]
    costs: dict[tuple[float, tuple[str, ...]], float] = {}
    for speed in speeds:
        rich = model.with_terms(replace(used, drive_inertia=True, load=choose, load_bodies=loads,
                                        coulomb_velocity=speed))
        held = _HeldOut(rich, filtered, bodies, free.noise)
        for some in kinds:
            names = [n for n in rich.terms.names if n in used.names or n in some]
            costs[speed, some] = held.cost(names)
    speed, chosen = min(costs, key=lambda key: costs[key] + COST * len(key[1]))
    terms = replace(used, coulomb_velocity=speed, drive_inertia=used.drive_inertia
                    or DRIVE in chosen, load=LOAD in chosen,
                    load_bodies=loads if LOAD in chosen else ())

    def least(kind: str, there: bool) -> float:
        return min(cost for (_, some), cost in costs.items() if (kind in some) == there
                   and set(some) - {kind} == set(chosen) - {kind})

    return TermChoice(terms, {kind: least(kind, False) - least(kind, True) for kind in TITLES
                              } if choose else {})


class _HeldOut:
    """Squared errors of parts that were held out, for any terms of a model.

    Args:
        noise: (joints,) of the rows [N m].
    """

    def __init__(self, model: RobotModel, filtered: RowFilter, bodies: Array, noise: Array) -> None:
        self._model, self._bodies = model, bodies.shape[2]
        rows, reference = filtered.rows(model, bodies), description_reference(model)
        target = rows.effort - rows.regressor @ reference.phi
        whole = np.concatenate([rows.regressor @ reference.unit, target[..., None]], axis=2)
        whole = whole / noise[:, None]
        share = (rows.time - rows.time[0]) / max(rows.time[-1] - rows.time[0], 1e-9)
        part = np.minimum((_PARTS * share).astype(int), _PARTS - 1)
        self._parts = [self._normal(whole[part == k]) for k in range(_PARTS)]
        self._all: Array = np.sum(self._parts, axis=0)
        self._ridge = np.where(np.arange(model.size) < self._bodies, _PRIOR,
                               _RIDGE * np.diag(self._all)[:-1] + 1e-12)

    @staticmethod
    def _normal(rows: Array) -> Array:
        rows = rows.reshape(-1, rows.shape[2])
        return np.asarray(rows.T @ rows)

    def cost(self, terms: Sequence[str]) -> float:
        """Negative log-likelihood of the parts with these terms [nats]."""
        model = self._model
        at = np.array([*range(self._bodies), *(model.term_index(j, term) for j in range(
            len(model.joint_names)) for term in terms), -1])
        total = 0.0
        for test in self._parts:
            train = (self._all - test)[np.ix_(at, at)]
            x = np.linalg.solve(train[:-1, :-1] + np.diag(self._ridge[at[:-1]]), train[:-1, -1])
            v = np.append(x, -1.0)
            total += 0.5 * float(v @ test[np.ix_(at, at)] @ v)
        return total
