# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whether forces and torques are in N and N m, judged by what a robot can carry.

One factor in all six channels cannot be told from another mass. One factor in the torques alone
shows where the motion is fast enough: the inertial forces tell the centre of mass without any
torque. So mass, distance of the centre of mass and density are compared with what the robot, the
shape and the sensor allow, and where they cannot be, with what they would be in the units that
drivers are known to publish.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..findings import FindingLog
from ..geometry.shape import Shape
from ..inertia import Array
from ..settings import Settings

UNITS = "wrong_units.wrench"
# What is in the messages, and the readings for 1 N and for 1 N m.
_KNOWN = (
    ("forces are in kN", 1e-3, 1.0),
    ("forces are in kN and torques in kN m", 1e-3, 1e-3),
    ("forces are in kgf", 1.0 / 9.80665, 1.0),
    ("forces are in kgf and torques in kgf m", 1.0 / 9.80665, 1.0 / 9.80665),
    ("forces are in kgf and torques in kgf cm", 1.0 / 9.80665, 10.1972),
    ("forces are in lbf and torques in lbf in", 0.224809, 8.85075),
    ("forces are in lbf and torques in lbf ft", 0.224809, 0.737562),
    ("torques are in N mm", 1.0, 1e3),
    ("forces and torques are 9.81 times too large", 9.80665, 9.80665),
    ("forces are 9.81 times too large", 9.80665, 1.0),
    ("forces are in mN and torques in N mm", 1e3, 1e3),
)
_BLOCK = 20  # bins whose mean is one sample: accelerations of single bins are noisy
_MEMORY = 100.0  # samples in which the sums fade
_LEAST_SAMPLES = 8
_LEAST_TILT = 1.0  # m/s^2, rms, by which gravity must have turned in the sensor
_EXPLAINED = 0.7  # share of the variance that a body must explain; a wrong frame leaves more
_CORRELATED = 2.0  # samples in which a residual is one error
_SIGNIFICANT = 5.0  # standard deviations
_CONTRADICTION, _AGREEMENT = 2.5, 1.3  # ratios of the distances that forces and torques tell
_RATED = 1.5  # times its rated payload carries no robot
_HEAVIEST, _LIGHTEST = 150.0, 0.02  # kg, without a rated payload; without any noise
_QUIET = 50.0  # noise is never so many times smaller than the data sheet says
_FAR = 1.5  # times the reach, in which the mass lies
_DENSITIES = 3.0, 25_000.0  # kg/m^3: a hollow box of foam; tungsten, in a shape a little too small
_USUAL_MASS = 2.0  # kg


class Limits(NamedTuple):
    """What a payload can be.

    Attributes:
        lightest, heaviest: mass [kg]; reach: largest distance of its centre of mass [m].
        volume: of the shape that holds it [m^3]; None: not known. is_filled: whether it fills the
            shape, which else only bounds it and may be much larger.
    """

    lightest: float
    heaviest: float
    reach: float
    volume: float | None
    is_filled: bool = True


class _Seen(NamedTuple):
    """What forces and torques tell of a body, in the units of the messages.

    Attributes:
        mass: from the forces; lever: distance of the centre of mass from mass and torques.
        least_lever: with its uncertainty taken off.
        free_lever: the same distance from forces alone, which no unit changes; None: not known.
        noise: rms residual of the forces.
    """

    mass: float
    lever: float
    least_lever: float
    free_lever: float | None
    noise: float


class _Fit:
    """Least squares of three channels with a constant each, over samples that fade."""

    def __init__(self, unknowns: int) -> None:
        self.weight = 0.0
        self._xx, self._x = np.zeros((unknowns, unknowns)), np.zeros((3, unknowns))
        self._xy, self._y, self._yy = np.zeros(unknowns), np.zeros(3), 0.0

    def add(self, x: Array, y: Array) -> None:
        """Add columns (k, 3, unknowns) and readings (k, 3) of k bins."""
        fade = math.exp(-len(x) / _MEMORY)
        flat = x.reshape(-1, x.shape[2])
        self.weight = fade * self.weight + len(x)
        self._xx = fade * self._xx + flat.T @ flat
        self._x = fade * self._x + x.sum(axis=0)
        self._xy = fade * self._xy + flat.T @ y.ravel()
        self._y = fade * self._y + y.sum(axis=0)
        self._yy = fade * self._yy + float((y * y).sum())

    def solve(self) -> tuple[Array, Array, float, float, float]:
        """The unknowns, their standard deviations, the rms residual of a channel, the share of the
        variance that is explained, and the rms variation of the first column.

        Raises:
            LinAlgError: the columns do not vary.
        """
        xx = self._xx - self._x.T @ self._x / self.weight
        xy = self._xy - self._x.T @ self._y / self.weight
        yy = max(self._yy - float(self._y @ self._y) / self.weight, 1e-300)
        found = np.linalg.solve(xx, xy)
        left = max(yy - float(found @ xy), 0.0)
        variance = left / (3.0 * self.weight)
        sd = np.sqrt(variance * _CORRELATED * np.diag(np.linalg.inv(xx)).clip(0.0))
        return (found, sd, math.sqrt(variance), 1.0 - left / yy,
                math.sqrt(max(xx[0, 0], 0.0) / self.weight))


class UnitCheck:
    """Collects forces and torques with the motion, apart from contacts and other events: in wrong
    units everything looks like one."""

    def __init__(self) -> None:
        self._force, self._torque = _Fit(4), _Fit(3)
        self._waiting: list[tuple[Array, Array]] = []
        self._seen: _Seen | None = None
        self._is_measured = True  # with what was added last

    def add(self, regressor: Array, wrench: Array) -> None:
        """Add bins: regressor (k, 6, 10) and wrench (k, 6) as in the model of the load."""
        self._waiting.append((regressor[:, :, :4], wrench))
        if sum(len(y) for _, y in self._waiting) < _BLOCK:
            return
        x, y = (np.concatenate(part) for part in zip(*self._waiting, strict=True))
        whole = len(y) // _BLOCK * _BLOCK
        self._waiting = [(x[whole:], y[whole:])]
        x = x[:whole].reshape(-1, _BLOCK, 6, 4).mean(axis=1)
        y = y[:whole].reshape(-1, _BLOCK, 6).mean(axis=1)
        self._force.add(x[:, :3], y[:, :3])
        self._torque.add(x[:, 3:, 1:], y[:, 3:])
        self._is_measured = False

    def judge(self, settings: Settings, shape: Shape | None, log: FindingLog) -> str | None:
        """Name a wrong unit as a finding; returns it where no estimate can be right."""
        log.clear(UNITS)
        if not self._is_measured:
            self._seen, self._is_measured = self._measure(), True
        seen = self._seen
        if seen is None:
            return None
        limits = _limits(settings, shape)
        contradicts = seen.free_lever is not None and (
            abs(math.log(seen.lever / seen.free_lever)) > math.log(_CONTRADICTION))
        if seen.free_lever is not None and not contradicts:
            limits = limits._replace(reach=math.inf)  # forces and torques agree: so far it is
        silent = seen.noise * math.sqrt(_BLOCK) < settings.wrench.force_noise / _QUIET
        wrong = find_objection(seen.mass, 0.5 * seen.least_lever,  # the shape may be wrong, too
                               limits if silent else limits._replace(lightest=0.0))
        if wrong is None and not contradicts:
            return None
        unit = _likely_unit(seen, limits, contradicts)
        if unit is None:
            return None
        if contradicts:
            wrong = f"but the forces of the motion tell {seen.free_lever:.3g} m"
        text = (f"forces and torques fit {seen.mass:.3g} kg at {seen.lever:.3g} m from the sensor, "
                f"{wrong}: probably the {unit}; the wrench must be in N and N m")
        log.set(UNITS, "error", text)
        impossible = (contradicts or 0.5 * seen.least_lever > limits.reach
                      or seen.mass < limits.lightest)
        return text if impossible else None

    def _measure(self) -> _Seen | None:
        """What forces and torques tell, each alone; None where they tell nothing."""
        if self._force.weight < _LEAST_SAMPLES:
            return None
        try:
            force, sd, noise, force_share, tilt = self._force.solve()
            moment, moment_sd, _, torque_share, _ = self._torque.solve()
        except np.linalg.LinAlgError:  # the sensor has not been turned
            return None
        mass, length = abs(float(force[0])), float(np.linalg.norm(moment))
        if (tilt < _LEAST_TILT or min(force_share, torque_share) < _EXPLAINED
                or not mass > _SIGNIFICANT * sd[0] or not length > 0.0):
            return None
        along = moment / length * math.copysign(1.0, force[0])
        free, free_sd = float(along @ force[1:]), float(np.linalg.norm(along * sd[1:]))
        significant = free > 2.0 * _SIGNIFICANT * free_sd and free > 0.9 * np.linalg.norm(force[1:])
        surely = max(length - _SIGNIFICANT * float(np.linalg.norm(moment_sd)), 0.0)
        return _Seen(mass, length / mass, surely / mass, free / mass if significant else None,
                     noise)


def _limits(settings: Settings, shape: Shape | None) -> Limits:
    """What the payload of these settings can be."""
    rated, full = settings.load.rated_payload, settings.wrench.force_range
    heaviest = _RATED * rated if rated > 0.0 else _HEAVIEST
    if full > 0.0:  # it would saturate the sensor
        heaviest = min(heaviest, 2.0 * full / settings.gravity.acceleration)
    reach = settings.shape.max_reach
    if shape is not None:  # one that reaches less may be misplaced
        reach = max(reach, shape.farthest)
    return Limits(_LIGHTEST, heaviest, _FAR * max(reach, 0.1),
                  None if shape is None else shape.volume,
                  shape is None or not shape.bounding)


def find_objection(mass: float, lever: float, limits: Limits) -> str | None:
    """Why a body of that mass [kg], with its centre of mass at that distance [m], cannot be what a
    robot carries; None where it can."""
    if mass < limits.lightest:
        return "with less noise than any sensor has"
    if mass > limits.heaviest:
        return f"but robot and sensor are not made for more than {limits.heaviest:.3g} kg"
    if lever > limits.reach:
        return f"but the payload does not reach farther than {limits.reach:.3g} m"
    if limits.volume is not None:
        density = mass / limits.volume
        where = f"but {density:.3g} kg/m^3 in the given shape is"
        if limits.is_filled and density < _DENSITIES[0]:
            return f"{where} lighter than foam"
        if density > _DENSITIES[1]:
            return f"{where} denser than tungsten"
    return None


def _likely_unit(seen: _Seen, limits: Limits, contradicts: bool) -> str | None:
    """The likeliest unit in which a payload would be possible; None: there is none.

    Args:
        contradicts: whether forces and torques tell different distances, which then must agree.
    """
    likely: tuple[float, str] | None = None
    for name, newton, newton_metre in _KNOWN:
        mass, lever = seen.mass / newton, seen.lever * newton / newton_metre
        apart = 0.0 if seen.free_lever is None else abs(math.log(lever / seen.free_lever))
        if (find_objection(mass, lever, limits) is not None
                or (contradicts and apart > math.log(_AGREEMENT))):
            continue
        odds = apart + 0.3 * abs(math.log(mass / _USUAL_MASS))
        likely = min(likely or (math.inf, ""), (odds, name))
    return None if likely is None else likely[1]
