# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""One payload identified with one way of moving, until the accuracy is reached."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertial_id_ros.apps.excitation.next_motion.knowledge import (
    Knowledge,
    SensorModel,
    wanted_sigma,
)
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.estimate import Estimate, NoEstimate
from inertial_id_ros.inertia import report_from_phi

from .identification import RunningIdentification
from .independent import look_at
from .motions import MOTIONS, Segment
from .task import Task, goals

LONGEST = 45.0  # s, after which a trial ends
_BEFORE = 1.0  # s at rest before the first motion
_REST = 0.3  # s between two motions
_STEP = 0.5  # s between two estimates
_DONE = {"reached", "all"}


class Row(NamedTuple):
    """What came of a trial. All intervals are half widths, 95 %, with what no motion shows.

    Attributes:
        mass: true [kg].
        can_mass, can_com, can_inertia: what the forecast says can be had of the true payload
            [% of the mass, mm, % of the mean moment]; 0 where nothing of the inertia.
        reached: time from the start of the first motion until all of that, or the wider one that
            was asked for, was had in mass and centre of mass [s]; not a number if never.
        moving: of that, in motion; all_reached: with the inertia.
        asked: time to what was asked for [s].
        mass_error [%], com_error [mm], inertia_error [% of the mean moment], z: largest error of
            mass and centre in standard deviations; at `reached`, or at the end.
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
    """Move until all is reached that can be had, or for `LONGEST`."""
    arm = RunningIdentification(task, sensor)
    arm.advance(_BEFORE)
    knowledge = Knowledge.usual(SensorModel.from_settings(task.settings(sensor)))
    way = MOTIONS[motion](task)
    times: dict[str, float] = {}
    moving, at_goal, found = 0.0, None, None
    while arm.time - _BEFORE < LONGEST and not _DONE <= times.keys():
        try:
            segment: Segment = way.next(knowledge)
        except InvalidData:
            break
        arm.follow(segment.trajectory)
        begun, left = arm.time, segment.trajectory.duration + _REST
        while left > 0.0 and not _DONE <= times.keys() and arm.time - _BEFORE < LONGEST:
            arm.advance(min(_STEP, left))
            left -= _STEP
            found = arm.solve()
            if not isinstance(found, Estimate):
                continue
            known = knowledge.revised(found.phi, found.phi_covariance)
            now = arm.time - _BEFORE
            for name, goal in goals(task, known).items():
                if name not in times and (found.covariance.diagonal() ** 0.5
                                          <= wanted_sigma(goal, found.phi)).all():
                    times[name] = now
                    if name == "reached":
                        at_goal = found
                        times["moving"] = moving + min(arm.time - begun,
                                                       segment.trajectory.duration)
        moving += segment.trajectory.duration
        knowledge = way.knowledge_after(knowledge)
        if isinstance(found, Estimate):
            knowledge = knowledge.revised(found.phi, found.phi_covariance)
    seen = look_at(np.concatenate(arm.joints), task)
    truth = goals(task, Knowledge.before_data(task.payload.phi, knowledge.sensor))["all"]
    return Row(task.number, sensor, motion, task.payload.mass,
               100.0 * truth.mass / task.payload.mass, 1e3 * truth.com, 100.0 * truth.inertia,
               *(times.get(name, np.nan) for name in ("reached", "moving", "all", "asked")),
               *_errors(task, at_goal or found), *seen, len(way.problems))


def _errors(task: Task, found: Estimate | NoEstimate | None) -> tuple[float, ...]:
    """Errors of mass [%], centre of mass [mm], inertia [%], and the largest in deviations."""
    if not isinstance(found, Estimate):
        return (np.nan,) * 4
    truth = report_from_phi(task.payload.phi)
    off = np.abs(found.report - truth)
    moment = truth[[4, 7, 9]].sum() / 3.0
    return (100.0 * off[0] / truth[0], 1e3 * off[1:4].max(), 100.0 * off[4:].max() / moment,
            float((off / found.sigma)[:4].max()))
