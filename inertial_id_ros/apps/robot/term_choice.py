# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which terms the joints of a robot have, by how well motion that was held out is predicted.

The rows are cut into parts along time. Each part is predicted from the others, by least squares
with the description as a prior on the bodies. Terms are added one after another, each time the one
that raises the likelihood of the parts held out most: friction by load to single joints, drive
inertia to all of them. One is kept where it brings more than `COST`, and more than the parts differ
about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...inertia import Array
from ...robot.consistent_fit import doubt_description, term_sizes
from ...robot.joint_terms import BRAKES, DRIVE, LOAD, JointTerms
from ...robot.model import BODY_SIZE, RobotModel
from ...robot.recording import JointRecording, filter_recording
from ...robot.reference import description_reference
from .robot_fit import FreeFit, fit_unconstrained

COST = 3.0  # nats that a term must bring
TITLES = {DRIVE: "drive inertia", LOAD: "load-dependent friction"}
_PARTS = 6  # of the recording, each predicted from the others
_RIDGE = 1e-9  # of terms' squares


@dataclass(frozen=True)
class TermGain:
    """What a kind of term is worth.

    Attributes:
        term: its name; joints: names of those that have it; none where it was not chosen.
        nats: log-likelihood of held-out motion that it brings, or would bring to the joint that
            would gain most.
    """

    term: str
    joints: tuple[str, ...]
    nats: float

    @property
    def title(self) -> str:
        """The name for a person."""
        return TITLES[self.term]


@dataclass(frozen=True)
class TermChoice:
    """Terms of a robot's joints, and what each kind that was tried is worth."""

    terms: JointTerms
    gains: tuple[TermGain, ...]

    def sentences(self) -> list[str]:
        """What was chosen and why, and what was not, for a person."""
        out = [f"{gain.title} chosen for {', '.join(gain.joints)}: it raises the log-likelihood of "
               f"held-out motion by {gain.nats:.0f}" for gain in self.gains if gain.joints]
        left = [f"{gain.title} ({gain.nats:+.1f})" for gain in self.gains if not gain.joints]
        if left:
            out.append(f"not chosen: {', '.join(left)} (in brackets: by how much each would raise "
                       f"the log-likelihood; a term must raise it by {COST:g} or more, and by more "
                       "than the held-out parts differ among each other)")
        return out


class HeldOut:
    """Squared errors of parts that were held out, for any columns.

    Args:
        rows: (r, joints, n + 1) whitened: n columns, of which the first `bodies` have unit variance
            before the data, and what they are to explain.
        part: (r,) number of the part of each row; counted: (r,) True if it counts in the test.
    """

    def __init__(self, rows: Array, bodies: int, part: np.ndarray, counted: np.ndarray) -> None:
        parts = range(int(part.max()) + 1)
        squares = [self._normal(rows[part == k]) for k in parts]
        self._train = [sum(squares) - own for own in squares]
        self._test = [self._normal(rows[(part == k) & counted]) for k in parts]
        self._ridge = np.where(np.arange(rows.shape[2] - 1) < bodies, 1.0,
                               _RIDGE * np.diag(sum(squares))[:-1] + 1e-12)

    @staticmethod
    def _normal(rows: Array) -> Array:
        rows = rows.reshape(-1, rows.shape[2])
        return np.asarray(rows.T @ rows)

    def errors(self, used: Sequence[int]) -> tuple[Array, Array]:
        """Squared errors (parts,), and the mean values (used,), with these columns."""
        at, errors, values = np.append(np.asarray(used, dtype=int), -1), [], []
        for train, test in zip(self._train, self._test, strict=True):
            inner = train[np.ix_(at, at)]
            x = np.linalg.solve(inner[:-1, :-1] + np.diag(self._ridge[at[:-1]]), inner[:-1, -1])
            v = np.append(x, -1.0)
            errors.append(v @ test[np.ix_(at, at)] @ v)
            values.append(x)
        return np.array(errors), np.mean(values, axis=0)


def choose_terms(model: RobotModel, recording: JointRecording, low_pass: float,
                 delay: float = 0.0) -> TermChoice:
    """The terms that predict held-out parts of a recording best.

    Args:
        model: with the terms that every joint has anyway, under the gravity of the recording.
        delay: how much later than the positions the efforts are stamped [s].

    Raises:
        NotEnoughData: see `filter_recording`.
    """
    names, every = model.joint_names, range(len(model.joint_names))
    rich, held = _prepare(model, recording, low_pass, delay)
    always = [*range(BODY_SIZE * len(model.bodies)), *(
        rich.term_index(j, term) for term in model.terms.names if term not in TITLES
        for j in every)]
    search = _Search(held, always, {
        (DRIVE, -1): [rich.term_index(j, DRIVE) for j in every],
        **{(LOAD, j): [rich.term_index(j, LOAD)] for j in every}})
    loads = tuple((LOAD, j) in search.chosen for j in every)
    drives = (DRIVE, -1) in search.chosen
    terms = replace(model.terms, drive_inertia=drives, load=loads if any(loads) else (),
                    load_bodies=rich.terms.load_bodies if any(loads) else ())
    owners = {DRIVE: names if drives else (),
              LOAD: tuple(name for name, has in zip(names, loads, strict=True) if has)}
    return TermChoice(terms, tuple(TermGain(kind, owners[kind], search.worth(kind))
                                   for kind in TITLES))


Key = tuple[str, int]  # a kind of term, and the joint that gets it; -1: all joints


class _Search:
    """Adds one candidate after another, the best first.

    Args:
        always: columns that are there anyway; candidates: columns of each.

    Attributes:
        chosen: keys of the candidates that were added.
    """

    def __init__(self, held: HeldOut, always: list[int], candidates: dict[Key, list[int]]) -> None:
        self._held, self._always, self._candidates = held, always, candidates
        self.chosen: list[Key] = []
        while True:
            self._now = self._errors(self.chosen)[0]
            best: Key | None = None
            most = COST
            for key in candidates.keys() - set(self.chosen):
                errors, values = self._errors([*self.chosen, key])
                gain = 0.5 * (self._now - errors)
                doubtful = gain.sum() < gain.std(ddof=1) * np.sqrt(len(gain))
                brakes = key[0] not in BRAKES or values[-1] >= 0.0
                if gain.sum() > most and not doubtful and brakes:
                    best, most = key, float(gain.sum())
            if best is None:
                break
            self.chosen.append(best)

    def _errors(self, keys: Sequence[Key]) -> tuple[Array, Array]:
        return self._held.errors([*self._always, *(
            k for key in keys for k in self._candidates[key])])

    def worth(self, kind: str) -> float:
        """Log-likelihood that a kind brings, or would bring to who would gain most [nats]."""
        without = [key for key in self.chosen if key[0] != kind]
        if len(without) < len(self.chosen):
            return 0.5 * float((self._errors(without)[0] - self._now).sum())
        return max(0.5 * float((self._now - self._errors([*self.chosen, key])[0]).sum())
                   for key in self._candidates if key[0] == kind)


def _prepare(model: RobotModel, recording: JointRecording, low_pass: float, delay: float
             ) -> tuple[RobotModel, HeldOut]:
    """The model with all terms, whose columns these are, and its whitened rows by part."""
    bodies, joints = BODY_SIZE * len(model.bodies), len(model.joint_names)
    driven = model.with_terms(replace(model.terms, drive_inertia=True, load=(), load_bodies=()))
    free = fit_unconstrained(driven, filter_recording(driven, recording, delay, low_pass))
    rich = model.with_terms(replace(driven.terms, load=(True,) * joints,
                                    load_bodies=tuple(free.phi[:bodies].tolist())))
    rows = filter_recording(rich, recording, delay, low_pass)
    weights = (free.weights / free.noise)[..., None]
    of_bodies = rows.regressor[:, :, :bodies]
    torque = rows.effort - of_bodies @ description_reference(driven).phi[:bodies]
    whole = np.concatenate([of_bodies @ _body_units(driven, free), rows.regressor[:, :, bodies:],
                            torque[..., None]], axis=2) * weights
    seconds = max(rows.time[-1] - rows.time[0], 1e-9)
    share = (rows.time - rows.time[0]) / seconds
    part = np.minimum((_PARTS * share).astype(int), _PARTS - 1)
    # Near the border rows share samples with those of the next part.
    edge = min(0.5 * low_pass / seconds * _PARTS, 0.25)
    return rich, HeldOut(whole, bodies, part, np.abs(_PARTS * share - part - 0.5) < 0.5 - edge)


def _body_units(model: RobotModel, free: FreeFit) -> Array:
    """Units (10 bodies, 10 bodies) in which bodies have unit variance before the data: 100 % of the
    described ones, more where the data contradict them even with every term."""
    bodies = BODY_SIZE * len(model.bodies)
    scale, factor = description_reference(model), free.data.stack(free.noise)
    spread = np.ones(model.size)
    spread[bodies:] = term_sizes(free.data, bodies) / np.diag(scale.unit)[bodies:]
    doubt = doubt_description(factor[:, :-1], factor[:, -1], scale, spread, len(model.bodies))
    return scale.unit[:bodies, :bodies] * np.repeat(doubt.factors, BODY_SIZE)
