# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""One payload identified with one way of moving, until the accuracy is reached."""

from typing import NamedTuple

import numpy as np

from inertial_id_ros.apps.excitation.information import Knowledge
from inertial_id_ros.apps.guide.show import LONGEST_MOTION
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.estimate import Estimate, NoEstimate
from inertial_id_ros.inertia import Array, report_from_phi

from .identification import RunningIdentification
from .independent import look_at
from .motions import MOTIONS
from .task import Task, goals

_LATEST = 60.0  # s, after which a trial ends
_BEFORE = 1.0  # s at rest before the first motion
_REST = 0.3  # s between two motions
_STEP = 0.5  # s between two estimates


class Row(NamedTuple):
    """What came of a trial. All intervals are half widths, 95 %, with what no motion shows.

    Attributes:
        mass: true [kg].
        can_mass, can_com, can_inertia: what is asked for of the true payload
            [% of the mass, mm, % of the mean moment]; 0 where nothing of the inertia.
        reached: time from the start of the first motion until that was had in mass and centre of
            mass [s]; not a number if never; moving: of that, in motion; all_reached: with the
            inertia; asked: time to what was asked for.
        ended: time at which a session ends, as all is reached, or after `LONGEST_MOTION` [s];
            end_mass, end_com: intervals then [%, mm].
        mass_error [%], com_error [mm], inertia_error [% of the mean moment], z: largest error of
            mass and centre in standard deviations; at the end.
        speed: fastest point of any link or of the payload [m/s], contacts: instants with contact,
            lowest: point of all links that rise [m], joints: largest excess of a joint's limits
            [rad]; all by MuJoCo. problems: what the package's own check finds in planned motions.
    """

    task: int
    sensor: str
    motion: str
    mass: float
    can_mass: float
    can_com: float
    can_inertia: float
    reached: float
    moving: float
    all_reached: float
    asked: float
    ended: float
    end_mass: float
    end_com: float
    mass_error: float
    com_error: float
    inertia_error: float
    z: float
    speed: float
    contacts: int
    lowest: float
    joints: float
    problems: int


def run(task: Task, sensor: str, motion: str) -> Row:
    """Move until a session would end."""
    arm = RunningIdentification(task, sensor)
    arm.advance(_BEFORE)
    knowledge = Knowledge.usual(task.settings(sensor))
    way = MOTIONS[motion](task)
    times: dict[str, float] = {}
    moving, found = 0.0, None
    while "all" not in times and moving < LONGEST_MOTION and arm.time < _LATEST:
        try:
            trajectory = way.next(knowledge)
        except InvalidData:
            break
        arm.follow(trajectory)
        begun, left = arm.time, trajectory.duration + _REST
        while left > 0.0 and "all" not in times and moving + arm.time - begun < LONGEST_MOTION:
            arm.advance(min(_STEP, left))
            left -= _STEP
            found = arm.solve()
            if not isinstance(found, Estimate):
                continue
            for name, goal in goals(found.phi).items():
                if name not in times and _share(found, goal).max() <= 1.0:
                    times[name] = arm.time - _BEFORE
                    times.setdefault("moving", moving + arm.time - begun)
        moving += min(trajectory.duration, arm.time - begun)
        knowledge = way.knowledge_after(knowledge)
        if isinstance(found, Estimate):
            knowledge = knowledge._replace(phi=found.phi)
    seen = look_at(np.concatenate(arm.joints), task)
    report = report_from_phi(task.payload.phi)
    truth = 2.0 * goals(task.payload.phi)["all"] / np.repeat(
        [report[0], 1e-3, report[[4, 7, 9]].sum() / 3.0], [1, 3, 6])
    return Row(task.number, sensor, motion, task.payload.mass,
               100.0 * truth[0], truth[1], 100.0 * truth[4],
               *(times.get(name, np.nan) for name in ("reached", "moving", "all", "asked")),
               arm.time - _BEFORE, *_intervals(found), *_errors(task, found), *seen,
               len(way.problems))


def _share(found: Estimate, wanted: Array) -> Array:
    """Deviations of mass, centre of mass and inertia (3,) over those that are wanted."""
    share = found.sigma / wanted
    return np.array([share[0], share[1:4].max(), share[4:].max()])


def _intervals(found: Estimate | NoEstimate | None) -> tuple[float, float]:
    """Intervals of mass [%] and centre of mass [mm]."""
    if not isinstance(found, Estimate):
        return np.nan, np.nan
    return (200.0 * float(found.sigma[0]) / abs(float(found.phi[0])),
            2e3 * float(found.sigma[1:4].max()))


def _errors(task: Task, found: Estimate | NoEstimate | None) -> tuple[float, ...]:
    """Errors of mass [%], centre of mass [mm], inertia [%], and the largest in deviations."""
    if not isinstance(found, Estimate):
        return (np.nan,) * 4
    truth = report_from_phi(task.payload.phi)
    off = np.abs(found.report - truth)
    moment = truth[[4, 7, 9]].sum() / 3.0
    return (100.0 * off[0] / truth[0], 1e3 * off[1:4].max(), 100.0 * off[4:].max() / moment,
            float((off / found.sigma)[:4].max()))
