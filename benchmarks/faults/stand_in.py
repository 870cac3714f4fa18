# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""A process that publishes payloads in place of the node, and lies as it is told on standard input.

    python -m benchmarks.faults.stand_in <topic> <rate [Hz]>

The mass tells when its sample was really taken, by the steady clock of the machine (`sampled_at`).
"""

from __future__ import annotations

import sys
import threading
import time

import numpy as np
import rclpy

from inertial_id_ros.msg import InertialParameters
from inertial_id_ros.ros.contract import published_qos

_LAG = 0.05  # s, age of the newest sample when a message is made
_SECOND = 1e-6  # kg of mass for each second of the clock
HONEST = "honest"
LIES = ("mass is NaN", "mass is negative", "inertia is none", "covariance is none",
        "age is NaN", "age is negative", "number is 0", "number stands", "numbers jump about",
        "held sample called new", "stale", "not valid", "verdicts do not exist", "no frame",
        "silent")


def mass_of(sampled: float) -> float:
    """A mass [kg] that tells when the sample was taken [s]."""
    return 1.0 + _SECOND * sampled


def sampled_at(mass: float) -> float:
    """Steady time [s] that a mass tells."""
    return (mass - 1.0) / _SECOND


def message(number: int, sampled: float, age: float) -> InertialParameters:
    """An honest message."""
    m = InertialParameters(sequence=number, age=age, valid=True, status="fine")
    m.header.frame_id = "ft_sensor"
    m.header.stamp.sec, m.header.stamp.nanosec = int(sampled), int(sampled % 1.0 * 1e9)
    m.inertia.m, m.inertia.com.z = mass_of(sampled), 0.1
    m.inertia.ixx = m.inertia.iyy = m.inertia.izz = 0.01
    m.covariance = np.diag(np.r_[1e-4, [1e-6] * 3, [1e-8] * 6]).ravel()
    m.verdict = np.full(10, 2, dtype=np.uint8)
    return m


def tell_lie(m: InertialParameters, lie: str, rng: np.random.Generator) -> None:
    """Change a message as a lie says that is about its fields alone."""
    covariance = np.array(m.covariance)
    if lie == "mass is NaN":
        m.inertia.m = float("nan")
    elif lie == "mass is negative":
        m.inertia.m = -m.inertia.m
    elif lie == "inertia is none":
        m.inertia.ixx = 1.0
    elif lie == "covariance is none":
        covariance[11] = -1e-6
        m.covariance = covariance
    elif lie == "age is NaN":
        m.age = float("nan")
    elif lie == "age is negative":
        m.age = -float(rng.uniform(1.0, 1e6))
    elif lie == "number is 0":
        m.sequence = 0
    elif lie == "numbers jump about":
        m.sequence = int(rng.integers(1, 1000))
    elif lie == "stale":
        m.stale = True
    elif lie == "not valid":
        m.valid = False
    elif lie == "verdicts do not exist":
        m.verdict = np.full(10, 7, dtype=np.uint8)
    elif lie == "no frame":
        m.header.frame_id = ""


def main() -> None:
    """Publish until the standard input ends."""
    topic, period = sys.argv[1], 1.0 / float(sys.argv[2])
    told = [HONEST]
    threading.Thread(target=_listen, args=(told,), daemon=True).start()
    rclpy.init()
    node = rclpy.create_node("stand_in")
    publisher = node.create_publisher(InertialParameters, topic, published_qos())
    rng, number, sampled = np.random.default_rng(), 0, 0.0
    while told[-1] != "end":
        lie, now = told[-1], time.monotonic()
        if lie != "held sample called new" or not sampled:
            sampled = now - _LAG
        if lie != "silent":
            number += lie != "number stands"
            m = message(number, sampled, _LAG)
            tell_lie(m, lie, rng)
            publisher.publish(m)
        time.sleep(period)


def _listen(told: list[str]) -> None:
    """Take the lies that standard input names."""
    for line in sys.stdin:
        told.append(line.strip())
    told.append("end")


if __name__ == "__main__":
    main()
