# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What ~/apply refuses: one function for each condition that does not depend on the kind of the
target. Each returns a sentence, or nothing where the condition is met."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from ...estimate import UNOBSERVED
from ...findings import Doubt, Finding
from ...identify.verdict import COM_LENGTH, COM_SHARE
from ...io.decoding import interfaces_of
from ...kinds import first_doubt
from ...settings import Settings
from ...targets.payload import TargetPayload
from ...targets.ratings import payload_limit
from ...targets.target import MASS, ArmDriver, Target, Values
from ..compat import find_type
from ..ros_client import RosClient

# Twice what the verdict asks for: more than a robot's own wrench tells, and still less to the
# torques of an arm of 0.2 m or more than 5 % of the mass, which is the verdict's limit.
WIDTH, WIDTH_SHARE = 2.0 * COM_LENGTH, 2.0 * COM_SHARE
LEAST, SHARE = 1e-3, 0.01  # kg, relative: masses that are meant to be the same differ by less
REST_TIME, SILENCE = 0.3, 1.5  # s for which joints are watched, and may be silent


def unknown_mass(payload: TargetPayload) -> str:
    """The mass is not told by the motion."""
    return ("the mass is unobserved: the motion so far does not tell it"
            if payload.mass_verdict is UNOBSERVED else "")


def unknown_com(payload: TargetPayload) -> str:
    """The centre of mass is not known well enough."""
    allowed = max(WIDTH, WIDTH_SHARE * float(np.linalg.norm(payload.com)))
    if payload.com_verdict is not UNOBSERVED or payload.com_width <= allowed:
        return ""
    known = ("" if math.isinf(payload.com_width) else
             f" (± {1e3 * payload.com_width:.2g} mm, where ± {1e3 * allowed:.2g} mm may be sent)")
    return f"the centre of mass is unobserved{known}: the motion so far does not tell it"


def too_heavy(payload: TargetPayload, settings: Settings, target: Target, urdf: str) -> str:
    """The mass is beyond what the robot may carry, or that is not known.

    Args:
        urdf: the robot description; empty: there is none.
    """
    limit = payload_limit(settings, target.ratings, urdf)
    if limit.mass == 0.0:
        return (f"the mass that the robot may carry is not known, since {limit.source}; set "
                "load.rated_payload" if target.needs_limits else "")
    return "" if payload.mass <= limit.mass else (
        f"the mass is {payload.mass:.4g} kg; {limit.source} allows {limit.mass:g} kg")


def too_far(payload: TargetPayload, settings: Settings) -> str:
    """The centre of mass lies where no payload's does."""
    distance, farthest = float(np.linalg.norm(payload.com)), settings.apply.max_com
    return "" if distance <= farthest else (
        f"the centre of mass is {distance:.4g} m from '{payload.origin or payload.frame_id}', "
        f"farther than {farthest:g} m: a frame or a unit is wrong")


def compensated_otherwise(target: Target, settings: Settings, told: Values | None,
                          last: dict[str, Any] | None) -> str:
    """The driver has another payload than the settings say, compensates it in its wrench, and so
    the estimate is not of all that hangs on the arm.

    Args:
        told: what the target has now, as far as it tells; last: the application before.
    """
    removed = settings.precompensated
    if not (target.needs_limits and changes_wrench(target, settings)) or (
            removed.source != "settings"):
        return ""
    if told is None and target.tells:
        return (f"nothing is heard on '{target.tells}' (or its type is not installed here), so "
                "that it is not known which payload the driver removes from its wrench; set "
                "apply.topic, or precompensated.source 'none' for a sensor of its own")
    known = told if told is not None else (last or {}).get("values")
    mass = removed.mass if not known else float(known.get(MASS) or 0.0)
    if abs(mass - removed.mass) <= max(LEAST, SHARE * mass):
        return ""
    return (f"the robot {'tells' if told is not None else 'was told'} a payload of "
            f"{mass:.3f} kg, which its driver removes from its wrench, and "
            f"precompensated.mass is {removed.mass:.3f} kg, so that the estimate is not of the "
            "whole; set precompensated.source to read it back, or .mass, .com and .inertia, or "
            "source 'none' for a sensor of its own")


def in_doubt(findings: Iterable[Finding]) -> str:
    """A finding puts the payload, its frame or what is measured now in doubt; a saved estimate was
    measured with the same set-up."""
    findings = tuple(findings)
    first = first_doubt(findings, Doubt.MASS | Doubt.COM | Doubt.FRAME | Doubt.PRESENT) or next(
        (f for f in findings if f.name == "zero_or_contact"), None)
    return first.text if first is not None else ""


def no_service(target: Target, robot: RosClient) -> str:
    """A service that will be called is not there, or of another type, or not installed."""
    there = robot.services()
    for service, kinds in target.services().items() if isinstance(target, ArmDriver) else ():
        name = robot.resolve(service)
        kind = there.get(name, "")
        if not kind:
            return f"there is no service '{name}'; is the driver running, and apply.service right?"
        if kind not in kinds:
            return f"service '{name}' has the type {kind}; expected: {' or '.join(kinds)}"
        if not find_type(kind):
            return (f"{kind} is not installed where this node runs; source the workspace that has "
                    f"{kind.split('/')[0]}, or run the lines in `calls`")
    return ""


def moves(robot: RosClient, settings: Settings, joints: Collection[str]) -> str:
    """The arm moves, by what its joints say from now on, or that is not known.

    Args:
        joints: that move the sensor, as a topic may carry those of other arms; empty: all.
    """
    dynamic = settings.dynamic_joint_states.topic
    topic = dynamic or settings.joint_states.topic
    kind = "control_msgs/msg/DynamicJointState" if dynamic else "sensor_msgs/msg/JointState"
    begin: list[float] = []

    def enough(messages: Sequence[Any]) -> bool:
        if messages and not begin:
            begin.append(time.monotonic())
        if not begin or time.monotonic() - begin[0] < REST_TIME or len(messages) < 3:
            return False
        heard = Counter(name for message in messages for name in positions_of(message))
        return all(heard[name] > 1 for name in joints)

    messages = robot.listen(kind, topic, SILENCE, enough)
    if len(messages) < 3:
        return f"'{topic}' is silent, so that it is not known whether the arm is at rest"
    return _describe_motion([positions_of(m) for m in messages], joints, settings.apply.rest_speed)


def positions_of(message: Any) -> dict[str, float]:
    """Positions of joints in a JointState or DynamicJointState."""
    if hasattr(message, "position"):
        return dict(zip(message.name, message.position, strict=False))
    return {name: value for (name, kind), value in interfaces_of(message).items()
            if kind == "position"}


def _describe_motion(positions: Sequence[dict[str, float]], joints: Collection[str], speed: float
                     ) -> str:
    """Which of these joints moves, in words; empty where all are at rest."""
    names = sorted(joints) or sorted({name for some in positions for name in some})
    if not names:
        return "no joint that moves the sensor is among the joint states"
    for name in names:
        values = [some[name] for some in positions if name in some]
        if len(values) < 2:
            return (f"joint '{name}' is not among the joint states, so that it is not known "
                    "whether the arm is at rest")
        moved = float(np.ptp(values)) / REST_TIME
        if not moved <= speed:
            return (f"the arm moves: joint '{name}' by {moved:.3g} per second; at rest it does by "
                    f"{speed:g} at most")
    return ""


def changes_wrench(target: Target, settings: Settings) -> bool:
    """True if the wrench that the node receives changes with what the target is told: a driver of
    which the settings say that it removes a payload will remove the new one, too."""
    removed = settings.precompensated
    if target.needs_limits and removed.source == "none":  # the sensor is not the driver's
        return False
    return target.changes_wrench or (target.needs_limits and removed.mass > 0.0)
