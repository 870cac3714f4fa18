# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What the demo saw: every estimate beside the truth, and whether that is good enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from geometry_msgs.msg import Inertia, InertiaStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from inertial_id_ros.msg import InertialParameters

from ...inertia import Array
from ...io.messages import stamp_ns
from ..guide.guide_node import GuideNode

MASS_TOLERANCE = 0.02  # relative
COM_TOLERANCE = 0.005  # m


def inertia_numbers(inertia: Inertia) -> Array:
    """mass, com, and tensor entries about the centre of mass (10,) of a message."""
    c = inertia.com
    return np.array([inertia.m, c.x, c.y, c.z, inertia.ixx, inertia.ixy, inertia.ixz, inertia.iyy,
                     inertia.iyz, inertia.izz])


def can_exist(inertia: Inertia) -> bool:
    """Whether a rigid body can have this inertia, judged from the message alone.

    Positive mass and principal moments about the centre of mass that obey the triangle
    inequalities (Traversaro et al. 2016), which is the same as a positive definite pseudo-inertia.
    """
    i = inertia
    tensor = [[i.ixx, i.ixy, i.ixz], [i.ixy, i.iyy, i.iyz], [i.ixz, i.iyz, i.izz]]
    if not (np.isfinite(tensor).all() and np.isfinite([i.com.x, i.com.y, i.com.z]).all()):
        return False
    low, middle, high = np.linalg.eigvalsh(tensor)
    return bool(np.isfinite(i.m) and i.m > 0.0 and low > 0.0 and low + middle > high)


class Check(NamedTuple):
    """One condition of success: what it says, and whether it holds."""

    text: str
    passed: bool


def stamp_ns_of(message: InertialParameters) -> int:
    """Stamp of a message [ns]."""
    return stamp_ns(message.header.stamp)


@dataclass
class Record:
    """Messages as they came.

    Attributes:
        truth: mass, com and inertia about it (10,), sensor frame; None until received.
        messages: all InertialParameters, in order.
        result: (10,) what the session has identified; None before; sigma: (10,) its standard
            deviations.
    """

    truth: Array | None = None
    messages: list[InertialParameters] = field(default_factory=list)
    result: Array | None = None
    sigma: Array = field(default_factory=lambda: np.zeros(10))

    @property
    def valid(self) -> list[InertialParameters]:
        """Messages with an estimate."""
        return [m for m in self.messages if m.valid]

    def times(self) -> Array:
        """Stamps of the valid messages (n,) [s] since the first message with a stamp."""
        stamps = [stamp_ns(m.header.stamp) for m in self.messages]
        first = next((s for s in stamps if s > 0), 0)
        return np.array([(stamp_ns(m.header.stamp) - first) * 1e-9 for m in self.valid])

    def values(self) -> Array:
        """Estimates (n, 10)."""
        return np.array([inertia_numbers(m.inertia) for m in self.valid]).reshape(-1, 10)

    def sigmas(self) -> Array:
        """Standard deviations (n, 10)."""
        covariances = np.array([m.covariance for m in self.valid]).reshape(-1, 10, 10)
        return np.sqrt(np.maximum(np.einsum("nii->ni", covariances), 0.0))

    def end(self, result: Array, sigma: Array, stamp_ns: int) -> None:
        """Take this (10,) for the result, and leave out all messages after it."""
        self.result, self.sigma = result, sigma
        self.messages = [m for m in self.messages if stamp_ns_of(m) <= stamp_ns]

    def checks(self) -> list[Check]:
        """The conditions of success."""
        valid = self.valid
        found = [Check(f"{len(valid)} valid estimates received", bool(valid))]
        if not valid or self.truth is None:
            return found + ([] if self.truth is not None else [Check("no truth received", False)])
        impossible = sum(not can_exist(m.inertia) for m in valid)
        found.append(Check(f"{len(valid) - impossible} of {len(valid)} are bodies that can exist",
                           impossible == 0))
        last = self.values()[-1] if self.result is None else self.result
        mass = abs(last[0] / self.truth[0] - 1.0)
        com = float(np.linalg.norm(last[1:4] - self.truth[1:4]))
        # A poor sensor is allowed its interval.
        for_mass = max(MASS_TOLERANCE, 2.0 * float(self.sigma[0]) / abs(self.truth[0]))
        for_com = max(COM_TOLERANCE, 2.0 * float(np.linalg.norm(self.sigma[1:4])))
        found.append(Check(f"mass off by {mass:.2%} (allowed {for_mass:.1%})",
                           bool(mass <= for_mass)))
        found.append(Check(f"centre of mass off by {com * 1e3:.2f} mm "
                           f"(allowed {for_com * 1e3:.1f} mm)", com <= for_com))
        return found


def listen(guide: GuideNode, record: Record) -> None:
    """Keep all that the node publishes, and the truth."""
    latched = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE,
                         durability=DurabilityPolicy.TRANSIENT_LOCAL)

    def take_truth(message: InertiaStamped) -> None:
        record.truth = inertia_numbers(message.inertia)

    guide.subscribe(InertialParameters, "/inertial_id_node/inertial_parameters",
                    record.messages.append, latched)
    guide.subscribe(InertiaStamped, "/simulate_cobot/truth", take_truth, latched)
