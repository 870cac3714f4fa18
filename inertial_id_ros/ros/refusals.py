# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What ~/apply refuses of a payload that it has found: one function for each condition, which gives
a sentence, or none where the condition is met. What one kind of target refuses stands in
`Target.refusals`; that there is no payload, or nothing to undo, in `apply`."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..estimate import COM_LENGTH, COM_SHARE, CONFIDENCE_95, Estimate
from ..inertia import GROUPS
from ..kinds import Doubt, Finding, first_doubt
from ..motion.robot import Chain
from ..targets.target import COM, MASS, Target, Values
from .program import find_type

# Twice what the verdict asks for: more than a robot's own wrench determines, and still less to the
# torques of an arm of 0.2 m or more than 5 % of the mass, which is the verdict's limit.
WIDTH, WIDTH_SHARE = 2.0 * COM_LENGTH, 2.0 * COM_SHARE
LEAST, SHARE = 1e-3, 0.01  # kg, relative: masses that are meant to be the same differ by less
REST_TIME = 0.3  # s for which joints are watched


def unknown(payload: Estimate) -> Iterator[str]:
    """The motion does not determine mass or centre of mass well enough."""
    width = math.inf if payload.doubted else (
        CONFIDENCE_95 * float(payload.sigma[GROUPS[COM]].max()))
    allowed = max(WIDTH, WIDTH_SHARE * float(np.linalg.norm(payload.body.com)))
    if not payload.is_known(MASS):
        yield "the mass is unobserved: the motion so far does not determine it"
    elif not payload.is_known(COM) and width > allowed:
        yield "the centre of mass is unobserved" + (
            f" (± {1e3 * width:.2g} mm, where ± {1e3 * allowed:.2g} mm may be sent)"
            if math.isfinite(width) else "") + ": the motion so far does not determine it"


def too_heavy(payload: Estimate, target: Target, urdf: str) -> Iterator[str]:
    """The mass is beyond what the robot of a description may carry, or that is not known."""
    limit, source = target.mass_limit(urdf)
    if not limit and target.needs_limits:
        yield (f"the mass that the robot may carry is not known, since {source}; set "
               "load.rated_payload")
    elif limit and payload.body.mass > limit:
        yield f"the mass is {payload.body.mass:.4g} kg; {source} allows {limit:g} kg"


def too_far(payload: Estimate, farthest: float) -> Iterator[str]:
    """The centre of mass lies where no payload's does [m]."""
    if (distance := float(np.linalg.norm(payload.body.com))) > farthest:
        yield (f"the centre of mass is {distance:.4g} m from '{payload.frame_id}', "
               f"farther than {farthest:g} m: a frame or a unit is wrong")


def compensated_otherwise(target: Target, before: Values, last: Mapping[str, Any] | None
                          ) -> Iterator[str]:
    """The driver compensates another payload than the settings say: the estimate lacks a part;
    before: what it says that it has now; last: record of the application before. Where it should
    say and does not, the settings count only after a word of the user: a mass, or no name."""
    has = target.settings.precompensated
    if has.source != "settings" or not (target.needs_limits and changes_wrench(target)):
        return
    known = before or (last or {}).get("values")
    mass = has.mass if not known else float(known.get(MASS) or 0.0)
    if not before and target.topic and has.name and not has.mass:
        yield (f"nothing is received on '{target.topic}' (or its type is not installed here), so "
               "that the payload that the driver compensates is not known; remap it, start what "
               "takes its place (docs/your_robot.md), or say in precompensated.mass, .com and "
               ".inertia which one it is, by an empty .name that it is 0 kg, or by .source 'none' "
               "that the sensor is not the driver's")
    elif abs(mass - has.mass) > max(LEAST, SHARE * mass):
        yield (f"the driver compensates a payload of {mass:.3f} kg, and precompensated.mass is "
               f"{has.mass:.3f} kg, so that the estimate is not of the whole; set "
               "precompensated.source to read it back, or .mass, .com and .inertia, or source "
               "'none' for a sensor of its own")


def in_doubt(findings: Sequence[Finding]) -> Iterator[str]:
    """A finding puts payload, frame or present wrench in doubt, whichever estimate is sent."""
    if first := first_doubt(findings, Doubt.MASS | Doubt.COM | Doubt.FRAME | Doubt.PRESENT) or next(
            (f for f in findings if f.name == "zero_or_contact"), None):
        yield first.text


def moves(target: Target, chain: Chain | None) -> Iterator[str]:
    """A joint that moves the sensor moves, or that is not known; the worker may be busy now."""
    settings, topic = target.settings, target.settings.joint_states.topic
    seen: dict[str, list[tuple[float, float]]] = {}  # steady times [s] and positions
    needed, end = set(chain.turning if chain else ()), time.monotonic() + settings.apply.timeout
    while not seen or needed - set(seen) or any(
            some[-1][0] - some[0][0] < REST_TIME for some in seen.values()):
        message = target.robot.wait_for_message("sensor_msgs/msg/JointState", topic)
        now = time.monotonic()
        if message is None or now > end:
            yield (f"'{topic}' does not bring {', '.join(sorted(needed - set(seen))) or 'joints'}"
                   ", so that it is not known whether the arm is at rest")
            return
        for name, position in zip(message.name, message.position, strict=False):
            if name in needed or not needed:
                seen.setdefault(name, []).append((now, position))
    for name, some in seen.items():
        times, positions = zip(*some, strict=True)
        moved = float(np.ptp(positions)) / (times[-1] - times[0])
        if not moved <= settings.apply.rest_speed:
            yield (f"the arm moves: joint '{name}' by {moved:.3g} per second; at rest it does by "
                   f"{settings.apply.rest_speed:g} at most")


def no_service(target: Target) -> Iterator[str]:
    """A service that will be called is not there, or of another type, or not installed."""
    there = target.robot.services()
    for service, wanted in target.services().items():
        name = target.robot.resolve(service)
        if there.get(name) != wanted:
            yield (f"service '{name}' is {there.get(name, 'not there')}; expected: {wanted} (does "
                   "the driver run, and is apply.service right?)")
        elif not find_type(wanted):
            yield (f"{wanted} is not installed where this node runs; source the workspace that has "
                   "it, or run the lines in `calls`")


def changes_wrench(target: Target) -> bool:
    """True if the wrench that the node receives changes with what is sent to the target: a driver
    of which the settings say that it compensates a payload will compensate the new one, too."""
    has = target.settings.precompensated
    if target.needs_limits and has.source == "none":  # the sensor is not the driver's
        return False
    return target.changes_wrench or (target.needs_limits and has.mass > 0.0)
