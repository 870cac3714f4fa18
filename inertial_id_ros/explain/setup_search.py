# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""One search for errors of the set-up: hypotheses by the same likelihood and prior.

What is nonlinear (clock, filter, direction of gravity, turned axes) climbs from a closed form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial.transform import Rotation

from ..model.correction import Correction
from ..model.history import Window
from ..model.newton_euler import GRAVITY, skew, static_wrench
from ..model.setup import low_pass
from ..model.sheet import Sheet
from ..motion.motion import BIN, Array
from .fit import Region
from .setup_fit import ONES, STEP, Solved, Thinned, belief_in_body, weight_columns

MOST = 4  # that are fitted
FARTHEST, COARSE, USUAL_CLOCK = 200, 8, 12  # bins, of a clock
OVERLAP = 0.45  # of the rows that an offset must leave
SMALLEST = 8.0  # deg; smaller turns are usual terms
CLEAR, NEAR = 8.0, 15.0  # logarithms of odds: over the set-up as stated; below the best
TIMES = (0.02, 0.05, 0.1, 0.16, 0.25, 0.5)  # s, of one stage of a filter
TURNS, SETTLED = 8, 1e-3  # Gauss-Newton steps; rad
G = float(np.linalg.norm(GRAVITY))
UNITS = {  # readings for 1 N and for 1 N m
    "N and N mm": (1.0, 1e3), "N and N cm": (1.0, 1e2), "mN and N mm": (1e3, 1e3),
    "kN and N m": (1e-3, 1.0), "kN and kN m": (1e-3, 1e-3), "kgf and N m": (1.0 / G, 1.0),
    "kgf and kgf m": (1.0 / G, 1.0 / G), "kgf and kgf cm": (1.0 / G, 100.0 / G),
    "lbf and lbf in": (0.224809, 8.85075), "lbf and lbf ft": (0.224809, 0.737562)}
# Logarithms of the odds of kinds before the data, shared by their variants.
ODDS = {"": 0.0, "clock_offset": -5.0, "wrench_filtered": -7.0, "sign_wrong": -3.0,
        "axes_mirrored": -6.0, "wrong_units": -5.0, "wrench_in_base_axes": -4.0,
        "sensor_turned": -4.0, "gravity_elsewhere": -4.0, "removed_payload": -4.0,
        "quaternion_order": -4.0, "poses_inverted": -5.0}
ABOUT = {  # errors of frames, and what to enter
    "axes_mirrored": "{axes} have the opposite sign, as in axes of a left-handed frame; turn them "
                     "in the driver",
    "wrench_in_base_axes": "it is given in axes of the base; let the driver give it in those of "
                           "the sensor",
    "sensor_turned": "the sensor is turned against its frame by roll {roll:.0f}, pitch "
                     "{pitch:.0f}, yaw {yaw:.0f} deg; turn the frame by that, or set "
                     "wrench.sensor_frame",
    "gravity_elsewhere": "gravity does not point along -z of the base, up is ({x:.3f}, {y:.3f}, "
                         "{z:.3f}) in its axes (robot on a wall, a ceiling, a slope); set "
                         "gravity.frame to a frame whose z axis points up",
    "quaternion_order": "orientations are given with w first; their order is x, y, z, w",
    "poses_inverted": "poses are those of the base in the sensor; invert them"}
REFUSED = frozenset(ODDS) - {"", "clock_offset", "wrench_filtered", "removed_payload"}


@dataclass(frozen=True, eq=False)
class SetupError:
    """A hypothesis.

    Attributes:
        kind: of its finding; "": the set-up is as stated; numbers: for its sentence.
        correction: that turns it right, but for the sensor's own low-pass of `filter` (time
            constant [s], damping), and a payload whose weight the driver takes off.
        odds: logarithm, with the prior.
    """

    kind: str
    solved: Solved
    odds: float
    correction: Correction = field(default_factory=Correction)
    numbers: dict[str, float] = field(default_factory=dict)
    filter: tuple[float, ...] = ()

    @property
    def is_usual(self) -> bool:
        """True if usual terms hold it."""
        late = abs(self.correction.late) <= USUAL_CLOCK
        return (not self.kind or (self.kind == "clock_offset" and late)
                or self.numbers.get("degrees", 180.0) < SMALLEST)

    @property
    def finding(self) -> tuple[str, dict[str, float | str]]:
        """Kind and numbers of its finding, with what is to be entered."""
        numbers: dict[str, float | str] = {**self.numbers, "why": ""}
        if self.kind == "sign_wrong":
            numbers["mass"] = -self.numbers["mass"]
        elif self.kind == "removed_payload":
            numbers["mass"] = float(self.solved.x[10])
        elif self.kind == "wrong_units":
            return "wrong_units.wrench", {
                **numbers, "why": f"forces and torques are in {self.units}, as it seems; they must "
                                  "be in N and N m"}
        elif self.kind in ABOUT:
            x, y, z = self.correction.up
            flipped = zip("xyz", self.correction.channels, strict=False)
            names = " and ".join(f"F{axis} and T{axis}" for axis, sign in flipped if sign < 0.0)
            numbers |= {"x": x, "y": y, "z": z, "axes": names}
            why = ABOUT[self.kind].format(**{**self.numbers, **numbers})
            return f"frame_wrong.{self.kind}", {**numbers, "why": f": {why}"}
        return self.kind, numbers

    @property
    def units(self) -> str:
        """Those of the readings."""
        return list(UNITS)[int(self.numbers["units"])]


def setup_errors(window: Window, sheet: Sheet, region: Region | None) -> list[SetupError]:
    """Errors of the set-up that explain a window far better than the set-up as stated does, the
    most probable first: at most one of a kind, of a filter's order, of units."""
    search = _Search(Thinned(window, sheet, region))
    if search.rows.used.sum() < 12:
        return []
    tried = sorted(search.all(), key=lambda error: -error.odds)
    usual = max(error.odds for error in tried if error.is_usual)
    best = [e for e in tried if not e.is_usual and e.odds > max(usual + CLEAR,
                                                                tried[0].odds - NEAR)]
    kinds = [(e.kind, len(e.filter), e.numbers.get("units")) for e in best]
    return [e for k, e in enumerate(best) if kinds[k] not in kinds[:k]][:MOST]


class _Search:
    """All hypotheses of a window."""

    def __init__(self, rows: Thinned) -> None:
        self.rows = rows

    def all(self) -> Iterator[SetupError]:
        """Every hypothesis."""
        yield max((self._late(late, "") for late in range(-10, 11, 2)), key=_odds)
        near = max((self._late(late) for late in range(-FARTHEST, FARTHEST + 1, COARSE)), key=_odds)
        middle = near.correction.late
        clock = max((self._late(late) for late in range(middle - 6, middle + 7, 2)), key=_odds)
        yield clock
        yield from self._filters(clock.correction.late)
        yield from self._channels()
        y = (self.rows.y.reshape(-1, 2, 3) @ self.rows.back.transpose(0, 2, 1)).reshape(-1, 6)
        yield self._error("wrench_in_base_axes", y=y, correction=Correction(in_base=True))
        yield self._turned()
        yield self._raised()
        yield self._compensated()
        if not self.rows.window.motion.joints.shape[1]:
            for order, kind in (("wxyz", "quaternion_order"), ("inverse", "poses_inverted")):
                correction = Correction(quaternion=order)
                motion = correction.motion(self.rows.window.motion)
                yield self._error(kind, self.rows.regressor(motion), correction=correction)

    def _error(self, kind: str, A: Array | None = None, y: Array | None = None,
               used: np.ndarray | None = None, *, chosen: int = 0, factor: Array = ONES,
               more: Array = ONES[:0], correction: Correction | None = None,
               filter: tuple[float, ...] = (),
               numbers: Mapping[str, float] | None = None) -> SetupError:
        """The hypothesis of these rows; chosen: numbers that were chosen for it."""
        rows = self.rows
        solved = rows.solve(rows.A if A is None else A, rows.y if y is None else y, used,
                            more=more, factor=factor)
        odds = ODDS[kind] + solved.evidence
        odds += belief_in_body(solved.x, solved.covariance, rows.region)
        odds -= 0.5 * chosen * float(np.log(rows.count))
        return SetupError(kind, solved, odds, correction or Correction(),
                          {"mass": float(solved.x[0]), **(numbers or {})}, filter)

    def _late(self, late: int, kind: str = "clock_offset", A: Array | None = None,
              filter: tuple[float, ...] = ()) -> SetupError:
        rows, end = self.rows, len(self.rows.wrench)
        at = rows.at + late
        used = rows.used & (at >= 0) & (at < end) & rows.window.used[at.clip(0, end - 1)]
        error = self._error(kind, A, rows.wrench[at.clip(0, end - 1)], used, filter=filter,
                            correction=Correction(late=late),
                            numbers={"milliseconds": 1e3 * BIN * late})
        enough = used.sum() > OVERLAP * rows.used.sum()
        return error if enough else replace(error, odds=-np.inf)

    def _filters(self, late: int) -> Iterator[SetupError]:
        """Low-passes that delay as much as the best clock does, climbed from the best of each
        order."""
        for order in (1, 2):
            best = max((self._filtered(order, time, round(late - order * time / BIN))
                        for time in TIMES), key=_odds)
            for step in (2, 1):
                improved = True
                while improved:
                    time, beside = best.filter[0], best.correction.late
                    near = [self._filtered(order, time * 1.1 ** (step * a), beside + b - round(
                        order * time * (1.1 ** (step * a) - 1.0) / BIN))
                        for a, b in ((1, 0), (-1, 0), (0, 3 * step), (0, -3 * step))]
                    new = max(near, key=_odds)
                    improved = new.odds > best.odds
                    best = new if improved else best
            yield best

    def _filtered(self, order: int, time: float, beside: int) -> SetupError:
        time = min(max(time, TIMES[0]), TIMES[-1])
        filter = (time, 1.0)[:order]
        return self._late(beside, "wrench_filtered", low_pass(self.rows.A, filter, STEP * BIN),
                          filter)

    def _channels(self) -> Iterator[SetupError]:
        """Sign, mirrored axes, units."""
        yield self._scaled("sign_wrong", -ONES)
        for k in range(1, 7):
            axes = np.array([-1.0 if k >> axis & 1 else 1.0 for axis in range(3)])
            yield self._scaled("axes_mirrored", np.tile(axes, 2), axes=float(k))
        for k, units in enumerate(UNITS.values()):
            yield self._scaled("wrong_units", 1.0 / np.repeat(units, 3), units=float(k))

    def _scaled(self, kind: str, factor: Array, **numbers: float) -> SetupError:
        return self._error(kind, y=self.rows.y * factor, factor=factor,
                           correction=Correction(channels=factor), numbers=numbers)

    def _turned(self) -> SetupError:
        """Axes of the wrench, from the forces (Kabsch 1976), then by Gauss-Newton."""
        rows = self.rows
        weight, force = rows.A[rows.used, :3, 0], rows.y[rows.used, :3]
        u, _, v = np.linalg.svd((weight - weight.mean(0)).T @ (force - force.mean(0)))
        turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v
        for _ in range(TURNS):
            y = (rows.y.reshape(-1, 2, 3) @ turn.T).reshape(-1, 6)
            slopes = np.concatenate([skew(y[:, :3]), skew(y[:, 3:])], 1)
            x = rows.solve(np.concatenate([rows.A, slopes], 2), y, more=ONES[:3]).x
            turn = Rotation.from_rotvec(x[10:13]).as_matrix() @ turn
            if np.abs(x[10:13]).max() < SETTLED:
                break
        y = (rows.y.reshape(-1, 2, 3) @ turn.T).reshape(-1, 6)
        roll, pitch, yaw = Rotation.from_matrix(turn).as_euler("xyz", degrees=True)
        degrees = float(np.degrees(Rotation.from_matrix(turn).magnitude()))
        return self._error("sensor_turned", y=y, chosen=3, correction=Correction(turn=turn),
                           numbers={"degrees": degrees, "roll": roll, "pitch": pitch, "yaw": yaw})

    def _raised(self) -> SetupError:
        """Direction of gravity, from the forces, then by Gauss-Newton."""
        rows = self.rows
        force = rows.A * 0.0
        force[:, :3, :3] = G * rows.back
        force[:, :3, 3] = rows.A[:, :3, 0] + rows.back @ GRAVITY
        start = rows.solve(force, rows.y * np.repeat([1.0, 0.0], 3)).x[:3]
        start /= max(float(np.linalg.norm(start)), 1e-9)
        return max((self._raise(up) for up in (start, -start)), key=_odds)

    def _raise(self, up: Array) -> SetupError:
        rows = self.rows
        for _ in range(TURNS):
            A = self._with_up(up)
            phi = rows.solve(A, rows.y).x[:10]
            across = np.linalg.svd(up[None])[2][1:]
            slopes = static_wrench(phi, (G * rows.back @ across.T).transpose(0, 2, 1))
            A = np.concatenate([A, slopes.transpose(0, 2, 1)], 2)
            step = rows.solve(A, rows.y, more=ONES[:2]).x[10:12] @ across
            up = (up + step) / np.linalg.norm(up + step)
            if np.abs(step).max() < SETTLED:
                break
        degrees = float(np.degrees(np.arccos(np.clip(up[2], -1.0, 1.0))))
        return self._error("gravity_elsewhere", self._with_up(up), chosen=2,
                           correction=Correction(up=up), numbers={"degrees": degrees})

    def _with_up(self, up: Array) -> Array:
        A, change = self.rows.A.copy(), G * self.rows.back @ (up - [0.0, 0.0, 1.0])
        A[:, :3, 0] += change
        A[:, 3:, 1:4] -= skew(change)
        return A

    def _compensated(self) -> SetupError:
        """A driver that takes the weight of a payload off, not its inertia."""
        rows = self.rows
        columns = -weight_columns(rows.back @ -GRAVITY)
        error = self._error("removed_payload", np.concatenate([rows.A, columns], 2),
                            more=np.r_[10.0, ONES[:3]])
        return error if error.solved.x[10] > 0.0 else replace(error, odds=-np.inf)


def _odds(error: SetupError) -> float:
    return error.odds
