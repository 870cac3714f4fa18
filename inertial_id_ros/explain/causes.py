# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""The terms that must earn their place: causes that may be there or not. Here the linear ones, and
the sensor's own low-pass."""

from collections.abc import Mapping

import numpy as np

from ..model.newton_euler import static_wrench, weight_columns
from ..model.rows import STEP, Rows
from ..model.setup import low_pass
from ..motion.motion import BIN, Array
from .fit import Fit
from .laws import Cable, Pouring, Swing
from .residual import INEXACT, looks_like
from .terms import COMMON, DIFFERENCE, RARE, STRENGTH, Effect, Place, Term, Values, linear

PLAYS = 0.1 * np.arange(1, 5)  # half widths, of the range of a channel


def candidates(fit: Fit) -> list[Term]:
    """Terms that may stand beside those of a fit: causes of one place exclude each other.

    Poses at rest alone tell of nothing but the payload. Where no movement of the sensor is known,
    accelerations are noise, and a force that is constant in the room is no other than weight.
    """
    rows = fit.rows
    out: list[Term] = [Pouring(rows)] if rows.of_joints else []  # all else is the robot's
    if not out and rows.moves and rows.window.motion.omega.any():
        out = [*map(Hysteresis, [PLAYS, *PLAYS[:, None]]), BiasDrift()]
        if np.ptp(rows.place, axis=0).any():
            out += [SensorFilter(1), SensorFilter(2), Swing(), Pouring(rows)]
            out += [*map(Cable, Cable.LENGTHS), RoomForce(), MovingBase(rows.n)]
    taken = {term.place for term in fit.terms if term.odds}
    return [term for term in out if term.place not in taken]


class BiasDrift(Term):
    """A zero of the sensor that creeps evenly, beyond its data sheet (warm-up, a loose mount).

    Values (6): change in a minute [N, N m].
    """

    name, place, odds = "bias_drifts", Place.ZERO, RARE
    sd, mean = np.repeat((5.0, 0.3), 3), np.zeros(6)

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        # The bias is that of the middle of the window.
        since = (rows.time - rows.time[[0, -1]].mean()) / 60.0
        return linear(rows.modes(since)[:, None, None] * np.eye(6), values)

    def describe(self, phi: Array, values: Array, sd: Array) -> Mapping[str, float]:
        force, torque = (float(np.linalg.norm(v)) for v in np.split(values, 2))
        return {"force_rate": force, "torque_rate": torque}


class RoomForce(Term):
    """A vertical force that is constant in the room: a resting hand, a balancer.

    It looks like weight, but not like inertia. What is constant along the floor looks like a tilt
    of gravity. Values (4): force upwards on the sensor [N], and its moment about the sensor's
    origin per vertical force of 1 N in the room's axes, in sensor axes [N m].
    """

    name, place, takes_inertia, odds = "constant_force", Place.ROOM, True, RARE
    sd = np.repeat((5.0, 0.5), (1, 3))
    mean = np.zeros_like(sd)

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        return linear(weight_columns(rows.level[:, :, 2]), values)

    def describe(self, phi: Array, values: Array, sd: Array) -> Mapping[str, float]:
        return {"force": float(values[0])}


class MovingBase(Term):
    """A base that is accelerated along the floor: an AGV that drives, a crane that sways.

    The payload is accelerated as a whole: m a in the centre of mass, which a contact or a cable
    does not do. Values (2 K): cosine modes of a(t) along the base's x and y [m/s^2].

    Args:
        rows: of the window.
    """

    BAND, SD = 2.0, 0.1  # Hz; m/s^2
    SHARE = 0.6  # of the residual

    name, place, strength, odds = "base_moves", Place.MOVES, STRENGTH, RARE

    def __init__(self, rows: int) -> None:
        self.count = max(int(2.0 * self.BAND * BIN * STEP * rows), 3)
        self.sd, self.mean = np.full(2 * self.count, self.SD), np.zeros(2 * self.count)

    def starts(self, fit: Fit) -> list[Values]:
        """It is worth a try where accelerations, any in each row, explain most of the residual."""
        rows, solution = fit.rows, fit.solution
        left = rows.back(solution.residual.reshape(rows.y.shape))
        weight = np.sqrt(np.repeat(solution.variance.reshape(-1, 2, 3).mean((0, 2)), 3))
        pulls = static_wrench(fit.phi, rows.rotation[:, :2]).transpose(0, 2, 1) / weight[:, None]
        part = np.linalg.qr(pulls)[0].transpose(0, 2, 1) @ left[..., None]
        share = float((part**2).sum() / max(float((left**2).sum()), 1e-300))
        return super().starts(fit) if share > self.SHARE else []

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        at = np.outer(np.arange(rows.n) + 0.5, np.arange(self.count)) / rows.n
        across = rows.rotation[:, :2]  # (n, 2, 3) axes of the base in sensor axes
        pulls = static_wrench(phi, across).transpose(0, 2, 1)  # (n, 6, 2)
        slopes = pulls[..., None] * np.cos(np.pi * at)[:, None, None]
        return linear(rows.modes(slopes.reshape(rows.n, 6, -1)), values)

    def describe(self, phi: Array, values: Array, sd: Array) -> Mapping[str, float]:
        x, y = values.reshape(2, -1)[:, 1:]
        return {"acceleration": float(np.sqrt(0.5 * (x @ x + y @ y)))}


class Hysteresis(Term):
    """A share of each channel lags behind its load by plays (Prandtl-Ishlinskii).

    Values (6 p + 6): weights of p plays in each channel, of which one alone has less that is
    unknown; and where in its play a channel begins, relative to the half width.

    Args:
        plays: their half widths (p,), of the range of a channel.
    """

    name, place, is_inexact, odds = "hysteresis", Place.LAG, True, COMMON

    def __init__(self, plays: Array = PLAYS) -> None:
        self.plays, self.mean = plays, np.zeros(6 * len(plays) + 6)
        self.sd = np.repeat([0.3 / np.sqrt(len(plays)), 0.5], [6 * len(plays), 6])

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        weights, begin, felt = values[:-6].reshape(-1, 6), values[-6:], rows.back(load)
        each, reach = np.arange(6), np.maximum(np.ptp(felt, axis=0), 1e-12)
        half = self.plays[:, None] * reach
        out, at = np.empty((len(felt), *half.shape)), felt[0] + half * begin.clip(-1.0, 1.0)
        for k, now in enumerate(felt):
            out[k] = at = np.maximum(now - half, np.minimum(now + half, at))
        # It follows the load of the row that moved it last: what changes that load changes it, too.
        moved = np.diff(out, axis=0, prepend=out[:1]) != 0.0
        last = np.maximum.accumulate(moved * np.arange(len(felt))[:, None, None])
        side, top, end = (out - felt[last, each]) / reach, felt.argmax(0), felt.argmin(0)
        free = ((last == 0) & (np.abs(begin) < 1.0)) * half * weights
        # What lags does so before the smoothing, which acts on the difference, too.
        gain = np.sqrt(rows.gain)[:, None, None]
        parts = rows.modes(np.concatenate([out - felt[:, None], free.sum(1, keepdims=True)], 1))
        slopes = ((parts * gain)[:, None] * np.eye(6)[:, None]).reshape(len(gain), 6, -1)

        def through(others: Array) -> Array:
            at = rows.back(others)  # (n, 6, m)
            late = at[last, each] + side[..., None] * (at[top, each] - at[end, each]) - at[:, None]
            return gain * rows.modes((weights[..., None] * late).sum(1))

        return Effect(slopes, slopes[..., :-6] @ values[:-6], through)

    def doubt(self, phi: Array, values: Array) -> Array:
        return looks_like(INEXACT * np.abs(values[:-6].reshape(-1, 2, 3)).sum(0).mean(1), phi)

    def describe(self, phi: Array, values: Array, sd: Array) -> Mapping[str, float]:
        return {"share": float(np.abs(values[:-6].reshape(-1, 6).sum(0)).max())}


class SensorFilter(Term):
    """The sensor's own low-pass of first or second order.

    Values: logarithms of the time constant [s] and, if of second order, of the damping; what it
    held before.
    """

    place, odds = Place.FILTER, COMMON

    def __init__(self, order: int) -> None:
        self.name, self.order = f"wrench_filtered.{order}", order
        self.sd = np.r_[1.5, [0.2] * (order - 1), ([1.0] * 3 + [0.05] * 3) * order]
        self.mean = np.r_[np.log([0.05, 0.8])[:order], np.zeros(6 * order)]

    def starts(self, fit: Fit) -> list[Values]:
        """A filter is first seen as a delay."""
        late = float(fit.values["delay"][0]) if "delay" in fit.values else np.exp(self.mean[0])
        if late < BIN:
            return []
        first = np.log(late / (2.0 * np.exp(self.mean[1]) if self.order == 2 else 1.0))
        return [{self.name: np.r_[first, self.mean[1:]], "delay": np.zeros(1)}]

    def filter(self, values: Array) -> tuple[float, ...]:
        """Time constant [s], and damping."""
        return tuple(np.exp(values[:self.order]).tolist())

    def describe(self, phi: Array, values: Array, sd: Array) -> Mapping[str, float]:
        time = self.filter(values)[0]
        return {"cutoff": 1.0 / (2.0 * np.pi * time), "order": float(self.order)}

    def effect(self, rows: Rows, phi: Array, values: Array, load: Array) -> Effect:
        wrench, known = rows.unfiltered @ phi, self.filter(values)
        here = low_pass(wrench, known)
        steps = DIFFERENCE * self.sd[:self.order]
        slopes = [(low_pass(wrench, self.filter(values + step)) - here) / step.sum()
                  for step in np.eye(self.order, len(values)) * steps[:, None]]
        t = (rows.time - rows.time[0]) / known[0]
        decay = [np.exp(-t), t * np.exp(-t)][:self.order]
        modes = rows.modes(np.concatenate([
            rows.smooth(np.stack(slopes, 2)), *[d[:, None, None] * np.eye(6) for d in decay]], 2))
        return Effect(modes, modes[..., self.order:] @ values[self.order:])
