# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Which terms the joints of a robot have, by how well motion that was held out is predicted.

The rows are cut into parts along time. Each part is predicted from the others, by least squares
with the description as a prior on the bodies. Joints share the bodies and nothing else, so that
all but one joint's candidates are eliminated once, and every subset of these then costs the
solution of a system of its own few columns.

A term is kept where it raises the likelihood of parts of the recording that were held out, by more
than `COST` and by more than the parts differ about it. Friction is chosen joint by joint, with the
speed of its curve; drive inertia for all joints or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ...inertia import Array
from ...motion.motion import BIN
from ...robot.consistent_fit import doubt_description, term_sizes
from ...robot.joint_terms import (
    COULOMB,
    CURVES,
    DRIVE,
    LOAD,
    SIGMOID,
    STRIBECK,
    VISCOUS,
    FrictionCurve,
    JointTerms,
    mean_sign,
)
from ...robot.model import BODY_SIZE, RobotModel
from ...robot.recording import JointRecording, filter_recording, filter_regressor
from ...robot.reference import description_reference
from .robot_fit import FreeFit, fit_unconstrained

_RIDGE = 1e-9  # of candidates' squares: columns that say the same share what they explain


@dataclass(frozen=True)
class HeldOutRows:
    """Normal matrices of whitened rows, part by part.

    Attributes:
        train: (parts, joints, n, n) over the columns ``[bodies, candidates, torque]`` of the rows
            that predict a part; test: the same of the rows of that part.
        bodies: number of columns of bodies; they have unit variance before the data.
    """

    train: Array
    test: Array
    bodies: int
    _others: _Corners = field(default_factory=lambda: _Corners(), repr=False, compare=False)
    _newest: dict[int, tuple[list[tuple[int, ...]], JointScores]] = field(
        default_factory=dict, repr=False, compare=False)  # of each joint, and what the others used

    @property
    def joints(self) -> int:
        """Number of joints."""
        return int(self.train.shape[1])

    def joint(self, j: int, used: Sequence[Sequence[int]]) -> JointScores:
        """The candidates of joint j, where the others use these (joints, ...) of theirs."""
        of_others = [tuple(columns) for k, columns in enumerate(used) if k != j]
        if j not in self._newest or self._newest[j][0] != of_others:
            self._newest[j] = of_others, self._eliminate_others(j, used)
        return self._newest[j][1]

    def _eliminate_others(self, j: int, used: Sequence[Sequence[int]]) -> JointScores:
        """As `joint`: bodies that fit the rows of `train` best, for each value of candidates and
        torque, are put into both."""
        b = self.bodies
        (inner, across, own), (other, beside, rest) = (
            _add_corners(normal[:, j], corners, b) for normal, corners in zip(
                (self.train, self.test), self._others.without(self, j, used), strict=True))
        inner[:, np.arange(b), np.arange(b)] += 1.0
        best = np.stack([np.linalg.solve(*system) for system in zip(inner, across, strict=True)])
        mixed = best.transpose(0, 2, 1) @ beside
        return JointScores(own - across.transpose(0, 2, 1) @ best,
                           rest - mixed - mixed.transpose(0, 2, 1)
                           + best.transpose(0, 2, 1) @ (other @ best))


def _add_corners(normal: Array, corners: Array, bodies: int) -> tuple[Array, Array, Array]:
    """Normal matrices (parts, n, n) of one joint with what the others add to bodies and torque:
    of the bodies, of bodies and the rest, and of the rest."""
    of_bodies = normal[:, :bodies, :bodies] + corners[:, :-1, :-1]
    across, rest = normal[:, :bodies, bodies:].copy(), normal[:, bodies:, bodies:].copy()
    across[:, :, -1] += corners[:, :-1, -1]
    rest[:, -1, -1] += corners[:, -1, -1]
    return of_bodies, across, rest


class _Corners:
    """What each joint adds to bodies and torque, its own terms eliminated; the newest is kept, and
    their sum."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[tuple[int, ...], tuple[Array, Array]]] = {}
        self._sum: list[Array | float] = [0.0, 0.0]

    def without(self, held: HeldOutRows, j: int, used: Sequence[Sequence[int]]) -> list[Array]:
        """Of all joints but j, which use these of their candidates (joints, ...): normal matrices
        (parts, bodies + 1, bodies + 1) of the rows that predict each part, and of the rows of that
        part."""
        for k in range(held.joints):
            known = self._kept.get(k)
            if known is not None and known[0] == tuple(used[k]):
                continue
            pairs = [_eliminate(train[k], test[k], held.bodies, used[k])
                     for train, test in zip(held.train, held.test, strict=True)]
            new = np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])
            self._sum = [total + own - (0.0 if known is None else known[1][i])
                         for i, (total, own) in enumerate(zip(self._sum, new, strict=True))]
            self._kept[k] = tuple(used[k]), new
        return [np.asarray(total - own)
                for total, own in zip(self._sum, self._kept[j][1], strict=True)]


def _eliminate(train: Array, test: Array, bodies: int, used: Sequence[int]) -> tuple[Array, Array]:
    """Normal matrices (bodies + 1, bodies + 1) of bodies and torque without the used candidates,
    whose values are those that fit the rows of `train` best."""
    at = bodies + np.asarray(used, dtype=int)
    inner = train[np.ix_(at, at)]
    size = np.diag(inner)
    inner = inner + np.diag(_RIDGE * np.maximum(size, size.max(initial=0.0) * _RIDGE) + 1e-12)
    best = np.linalg.solve(inner, _of_corner(train[at], bodies))

    def without_terms(normal: Array) -> Array:
        cross = best.T @ _of_corner(normal[at], bodies)
        left = _of_corner(_of_corner(normal, bodies).T, bodies)
        left -= cross + cross.T
        left += best.T @ normal[np.ix_(at, at)] @ best
        return left

    return without_terms(train), without_terms(test)


def _of_corner(rows: Array, bodies: int) -> Array:
    """The columns (n, bodies + 1) of bodies and torque of rows."""
    return np.concatenate([rows[:, :bodies], rows[:, -1:]], axis=1)


@dataclass(frozen=True)
class JointScores:
    """One joint's candidates, everything else eliminated.

    Attributes:
        train, test: (parts, candidates + 1, candidates + 1) as in `HeldOutRows`, the torque last.
    """

    train: Array
    test: Array

    def squares(self, used: Sequence[int]) -> Array:
        """Squared errors (parts,) of all joints in the parts held out, in units of the noise."""
        at = np.append(np.asarray(used, dtype=int), self.train.shape[1] - 1)
        train, test = self.train[:, at][:, :, at], self.test[:, at][:, :, at]
        theta = self._solve(train)
        v = np.concatenate([theta, -np.ones((len(theta), 1))], axis=1)
        return np.einsum("ki,kij,kj->k", v, test, v)

    def values(self, used: Sequence[int]) -> Array:
        """Parameters (used,) of the candidates, the mean over the parts."""
        at = np.append(np.asarray(used, dtype=int), self.train.shape[1] - 1)
        return np.asarray(self._solve(self.train[:, at][:, :, at]).mean(axis=0))

    @staticmethod
    def _solve(train: Array) -> Array:
        """Least squares (parts, used) of systems (parts, used + 1, used + 1)."""
        matrix = train[:, :-1, :-1].copy()
        k = np.arange(matrix.shape[1])
        size = matrix[:, k, k]
        matrix[:, k, k] += _RIDGE * np.maximum(size, size.max(initial=0.0) * _RIDGE) + 1e-12
        return np.asarray(np.linalg.solve(matrix, train[:, :-1, -1:])[..., 0])


def hold_out(regressor: Array, candidates: Array, torque: Array, part: np.ndarray,
             test: np.ndarray, parts: int) -> HeldOutRows:
    """Normal matrices of whitened rows.

    Args:
        regressor: (r, joints, bodies) in units in which bodies have unit variance.
        candidates: (r, joints, candidates); torque: (r, joints).
        part: (r,) number of the part of each row; test: (r,) whether it counts in the test.
        parts: how many there are.
    """
    joints = torque.shape[1]
    n = regressor.shape[2] + candidates.shape[2] + 1
    inside, tested = np.zeros((parts, joints, n, n)), np.zeros((parts, joints, n, n))
    for j in range(joints):
        rows = np.concatenate([regressor[:, j], candidates[:, j], torque[:, j, None]], axis=1)
        used = np.flatnonzero(rows.any(axis=0))
        rows, at = rows[:, used], np.ix_(used, used)
        for k in range(parts):
            own = rows[part == k]
            inside[k, j][at] = own.T @ own
            counted = rows[(part == k) & test]
            tested[k, j][at] = counted.T @ counted
    return HeldOutRows(np.subtract(inside.sum(axis=0), inside, out=inside), tested,
                       regressor.shape[2])


COST = 3.0  # nats that a term must bring
_SPEEDS = {STRIBECK: tuple(0.01 * 2.0**(0.125 * k) for k in range(45)),
           SIGMOID: (0.1, 0.2, 0.4, 0.8, 1.6)}  # rad/s
_TYPICAL = {STRIBECK: 0.06, SIGMOID: 0.4}  # rad/s, before any is chosen
_TITLES = {DRIVE: "drive inertia", STRIBECK: "Stribeck friction", SIGMOID: "sigmoid friction",
           LOAD: "load-dependent friction"}
_BRAKES = (VISCOUS, COULOMB, STRIBECK, SIGMOID, LOAD)
_PARTS = 6  # of the recording, each predicted from the others
_SWEEPS = 3  # over all joints


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
        return _TITLES[self.term]


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


class _Candidate(NamedTuple):
    """A column that a joint's torque may have: a kind of term, with the speed of its curve."""

    kind: str
    speed: float


def choose_terms(model: RobotModel, recording: JointRecording, low_pass: float,
                 delay: float = 0.0) -> TermChoice:
    """The terms that predict held-out parts of a recording best.

    Args:
        model: with the terms that every joint has anyway, under the gravity of the recording.
        delay: how much later than the positions the efforts are stamped [s].

    Raises:
        NotEnoughData: see `filter_recording`.
    """
    candidates = _candidates(model.terms)
    held, loads = _prepare(model, recording, low_pass, delay, candidates)
    without, with_drives = (_TermSearch(held, candidates, drives) for drives in (False, True))
    drive_gain = without.total - with_drives.total
    chosen = with_drives if drive_gain > COST else without
    curves = tuple(FrictionCurve(kind, speeds) for kind in CURVES
                   if any(speeds := chosen.speeds(kind)))
    terms = replace(model.terms, drive_inertia=chosen is with_drives, curves=curves,
                    load_bodies=tuple(loads.tolist()) if any(c.kind == LOAD for c in curves)
                    else ())
    names = model.joint_names
    gains = [TermGain(DRIVE, names if chosen is with_drives else (), drive_gain)]
    for kind in CURVES:
        owners, nats = chosen.worth(kind)
        gains.append(TermGain(kind, tuple(names[j] for j in owners), nats))
    return TermChoice(terms, tuple(gains))


def _candidates(terms: JointTerms) -> list[_Candidate]:
    """All columns that a joint may have, those that it has anyway first, drive inertia last."""
    out = [_Candidate(name, 0.0) for name in terms.names if name not in (DRIVE, *CURVES)]
    for kind in CURVES:
        out += [_Candidate(kind, v) for v in _SPEEDS.get(kind, (1.0,))]
    return [*out, _Candidate(DRIVE, 0.0)]


def _prepare(model: RobotModel, recording: JointRecording, low_pass: float, delay: float,
             candidates: list[_Candidate]) -> tuple[HeldOutRows, Array]:
    """Whitened rows by part, and the bodies (10 bodies,) that load the joints."""
    joints, bodies = len(model.joint_names), BODY_SIZE * len(model.bodies)
    rich = model.with_terms(replace(
        model.terms, drive_inertia=True, load_bodies=(),
        curves=tuple(FrictionCurve(kind, (v,) * joints) for kind, v in _TYPICAL.items())))
    rows = filter_recording(rich, recording, delay, low_pass)
    free = fit_unconstrained(rich, rows)
    loads = free.phi[:bodies]
    plain = model.with_terms(replace(model.terms, curves=(), load_bodies=()))

    def columns(q: Array, dq: Array, ddq: Array) -> Array:
        load = plain.regressor(q, dq, ddq)[:, :, :bodies] @ loads
        dq, ddq = dq[:, -joints:], ddq[:, -joints:]  # without those of a base that moves
        terms = np.moveaxis(plain.terms.columns(dq, ddq, span=BIN), -1, 0)
        every = dict(zip(plain.terms.names, terms, strict=True))
        every[DRIVE] = ddq
        sign = mean_sign(dq, ddq, plain.terms.coulomb_velocity, BIN)
        out = [FrictionCurve(c.kind, (c.speed,) * joints).columns(dq, sign, load)
               if c.kind in CURVES else every[c.kind] for c in candidates]
        return np.stack(out, axis=-1)

    own = filter_regressor(columns, recording, delay, low_pass).regressor
    reference = description_reference(rich).phi[:bodies]
    weights = (free.weights / free.noise)[..., None]
    own = own * weights
    own /= np.maximum(np.sqrt(np.sum(own**2, axis=0)), 1e-12)
    share = (rows.time - rows.time[0]) / max(rows.time[-1] - rows.time[0], 1e-9)
    part = np.minimum((_PARTS * share).astype(int), _PARTS - 1)
    # Near the border rows share samples with those of the next part.
    edge = 0.5 * low_pass / max(rows.time[-1] - rows.time[0], 1e-9) * _PARTS
    inside = np.abs(_PARTS * share - part - 0.5) < 0.5 - min(edge, 0.25)
    units = _body_units(rich, free)
    of_bodies = rows.regressor[:, :, :bodies]
    return hold_out(of_bodies @ units * weights, own,
                    (rows.effort - of_bodies @ reference) * weights[..., 0], part, inside,
                    _PARTS), loads


def _body_units(model: RobotModel, free: FreeFit) -> Array:
    """Units (10 bodies, 10 bodies) in which bodies have unit variance before the data: 100 % of the
    described ones, more where the data contradict them even with every term."""
    bodies = BODY_SIZE * len(model.bodies)
    scale, factor = description_reference(model), free.data.stack(free.noise)
    spread = np.ones(model.size)
    spread[bodies:] = term_sizes(free.data, bodies) / np.diag(scale.unit)[bodies:]
    doubt = doubt_description(factor[:, :-1], factor[:, -1], scale, spread, len(model.bodies))
    return scale.unit[:bodies, :bodies] * np.repeat(doubt.factors, BODY_SIZE)


class _TermSearch:
    """Each joint's terms, improved one joint after another.

    Args:
        drives: whether joints have drive inertia.

    Attributes:
        used: columns of each joint; total: minus the log-likelihood of all held-out parts.
    """

    def __init__(self, held: HeldOutRows, candidates: list[_Candidate], drives: bool) -> None:
        self._held, self._candidates = held, candidates
        first = [k for k, c in enumerate(candidates)
                 if c.kind not in CURVES and (drives or c.kind != DRIVE)]
        self.used = [list(first) for _ in range(held.joints)]
        for _ in range(_SWEEPS):
            before = [sorted(columns) for columns in self.used]
            for j in range(held.joints):
                self.used[j] = self._improve(held.joint(j, self.used), self.used[j])
            if before == [sorted(columns) for columns in self.used]:
                break
        self.total = 0.5 * float(held.joint(0, self.used).squares(self.used[0]).sum())

    def speeds(self, kind: str) -> tuple[float, ...]:
        """Speed (joints,) of a kind of curve; 0 where a joint has none."""
        return tuple(max((self._candidates[k].speed for k in columns
                          if self._candidates[k].kind == kind), default=0.0)
                     for columns in self.used)

    def worth(self, kind: str) -> tuple[list[int], float]:
        """Joints that have a kind of curve, and what it brings them [nats]; where none has it, what
        it would bring to the joint that would gain most."""
        owners = [j for j, speed in enumerate(self.speeds(kind)) if speed > 0.0]
        mine = [k for k, c in enumerate(self._candidates) if c.kind == kind]
        gains = []
        for j in owners or range(self._held.joints):
            scores, used = self._held.joint(j, self.used), self.used[j]
            rest = [k for k in used if k not in mine]
            with_it = [used] if owners else [[*rest, k] for k in mine]
            gains.append(0.5 * float(scores.squares(rest).sum()
                                     - min(scores.squares(trial).sum() for trial in with_it)))
        return owners, sum(gains) if owners else max(gains)

    def _improve(self, scores: JointScores, used: list[int]) -> list[int]:
        """One joint's columns after the best changes, one after another."""
        now = scores.squares(used)
        while True:
            best, chosen = 1e-6, None
            for trial, cost in self._changes(used):
                gain = 0.5 * (now - scores.squares(trial))
                doubtful = gain.sum() < gain.std(ddof=1) * np.sqrt(len(gain))
                if gain.sum() - cost <= best or (cost > 0.0 and doubtful):
                    continue
                if not self._resists(scores, trial):
                    continue
                best, chosen = float(gain.sum() - cost), trial
            if chosen is None:
                return used
            used, now = chosen, scores.squares(chosen)

    def _resists(self, scores: JointScores, used: list[int]) -> bool:
        """Whether each curve brakes the joint. Large curves that cancel each other may fit as well,
        but not at speeds beyond those of the recording."""
        values = scores.values(used)
        return all(value >= 0.0 for value, k in zip(values, used, strict=True)
                   if self._candidates[k].kind in _BRAKES)

    def _changes(self, used: list[int]) -> Iterator[tuple[list[int], float]]:
        """Columns with one change, the changed one last where there is one, and its cost [nats]."""
        kinds = {self._candidates[k].kind: k for k in used}
        for k, c in enumerate(self._candidates):
            if k in used or c.kind not in CURVES:
                continue
            if c.kind in kinds:
                yield [*(i for i in used if i != kinds[c.kind]), k], 0.0
            else:
                yield [*used, k], COST
        for k in used:
            if self._candidates[k].kind in CURVES:
                yield [i for i in used if i != k], -COST
