# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""One task: a random payload of 0.3-8 kg in a random pose, and the accuracy that is asked for."""

from dataclasses import dataclass

import numpy as np

from inertial_id_ros.apps.excitation.arm import Arm, floor
from inertial_id_ros.apps.excitation.information import Knowledge
from inertial_id_ros.apps.excitation.motions import MotionLimits, MotionPlanner
from inertial_id_ros.apps.simulation.cobot import SENSOR_FRAME, load_description
from inertial_id_ros.apps.simulation.motion import START_POSE
from inertial_id_ros.apps.simulation.payload import Payload
from inertial_id_ros.errors import InvalidData
from inertial_id_ros.inertia import Array, report_from_phi
from inertial_id_ros.settings import Settings

from .payloads import bounds, random_body

MASSES = (0.3, 8.0)  # kg
MASS_SHARE, COM, INERTIA = 0.02, 0.003, 0.2  # of the mass, m, of the mean moment
_REACHED = 0.05, 0.005  # of the mass, m: as the verdict asks
GROWTH = 0.1  # the box that is told is up to this much larger than the body
LARGEST = 0.3  # m, of a side of the payload's box
_SPREAD = np.array([np.pi, 0.4, 0.6, 0.8, 0.8, np.pi])  # rad about the start pose
FLOOR = 0.0  # m
LIMITS = MotionLimits()
_FIRST_SEED = 40_000
_GRAVITY, _CARRIED = 9.81, 8.0  # m/s^2; N m, of the 10 N m that the smaller sensor measures


@dataclass(frozen=True)
class Task:
    """What is carried, where the arm is, and what is wanted.

    Attributes:
        number: seed of all that is random; payload: its truth; box: (2, 3) around it, up to a tenth
            too large, which planner and identification are told [m]; pose: (6,) [rad].
    """

    number: int
    payload: Payload
    box: Array
    pose: Array

    def planner(self) -> MotionPlanner:
        """The planner of this arm with this payload (raises InvalidData where it cannot stand)."""
        return MotionPlanner(self.arm(), LIMITS, self.pose, Knowledge.usual(Settings()),
                             self.number)

    def arm(self) -> Arm:
        """The arm with a box around this payload."""
        return Arm(load_description().urdf, SENSOR_FRAME, self.box, obstacles=[floor(FLOOR)])

    def settings(self, sensor: str) -> Settings:
        """Settings of a careful user: the sensor's name, its place from the drawing."""
        return Settings().replace({
            "wrench.sensor": sensor, "wrench.sensor_frame": SENSOR_FRAME,
            "alignment.position_sd": 0.0005})


def make_task(number: int) -> Task:
    """The task of a number; poses in which nothing touches and nothing is too low."""
    rng = np.random.default_rng(_FIRST_SEED + number)
    payload, box = _payload(rng)
    while True:
        task = Task(number, payload, box, START_POSE + _SPREAD * rng.uniform(-1.0, 1.0, 6))
        try:
            task.planner()
        except InvalidData:
            continue
        return task


def _payload(rng: np.random.Generator) -> tuple[Payload, Array]:
    """A random body of boxes, cylinders and shells, whose weight both sensors can carry in every
    pose, and a box around it."""
    while True:
        body = random_body(rng, float(np.exp(rng.uniform(*np.log(MASSES)))))
        low, high = bounds(body.parts)
        lengths = (high - low) * (1.0 + rng.uniform(0.0, GROWTH, 3))
        moment = _GRAVITY * float(np.linalg.norm(body.phi[1:4]))
        if lengths.max() <= LARGEST and moment <= _CARRIED:
            centre = 0.5 * (low + high)
            return body, np.stack([centre - 0.5 * lengths, centre + 0.5 * lengths])


def goals(phi: Array) -> dict[str, Array]:
    """Standard deviations (10,) that reach what was asked for in mass and centre, what the verdict
    asks for, and what was asked for with the inertia."""
    report = report_from_phi(phi)
    mass, moment = abs(report[0]), abs(report[[4, 7, 9]].sum()) / 3.0

    def sigma(share: float, com: float, inertia: float = np.inf) -> Array:
        return 0.5 * np.repeat([share * mass, com, inertia * moment], [1, 3, 6])

    return {"asked": sigma(MASS_SHARE, COM), "reached": sigma(*_REACHED),
            "all": sigma(MASS_SHARE, COM, INERTIA)}
