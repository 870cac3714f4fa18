# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line: plan a motion that shows inertial parameters well, and write it as CSV or
as a JointTrajectory in YAML."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...cli import OK, STARTED, exit_status
from ...errors import InvalidSetting, UnknownFrame, printable
from ...estimators.reference_body import body_coordinates
from ...geometry.mesh import package_roots
from ...inertia import Array
from ...kinematics.robot_description import read_description
from ...robot.joint_terms import JointTerms
from ...robot.model import RobotModel
from ...robot.reference import description_reference
from ...settings import WrenchSettings
from ..bag.output import check_outputs, write_text
from .arm import Arm
from .config import PAYLOAD, Options, parse_options
from .limits import Excess
from .objective import Objective, PayloadInformation, RobotInformation, information_gain
from .optimise import Basis, FourierMotion, Plan, dense_times, plan_motion

_DIGITS = 9  # of numbers in files


def sample_times(motion: FourierMotion, rate: float) -> Array:
    """Times (n,) [s] from 0 to the end of the motion, at least `rate` of them a second."""
    return np.linspace(0.0, motion.duration, int(np.ceil(motion.duration * rate)) + 1)


def write_csv(path: Path, names: Sequence[str], motion: FourierMotion, rate: float) -> None:
    """Columns ``time``, then position, velocity and acceleration of every joint.

    Raises:
        InvalidSetting: the file cannot be written.
    """
    t = sample_times(motion, rate)
    header = ["time", *(f"{kind}.{name}" for kind in ("position", "velocity", "acceleration")
                        for name in names)]
    rows = np.hstack([t[:, None], *motion(t)])
    text = [",".join(header), *(",".join(f"{x:.{_DIGITS}g}" for x in row) for row in rows)]
    write_text(path, "\n".join(text) + "\n")


def write_trajectory(path: Path, names: Sequence[str], motion: FourierMotion, rate: float) -> None:
    """A trajectory_msgs/JointTrajectory in the YAML that `ros2 topic pub` reads.

    Raises:
        InvalidSetting: the file cannot be written.
    """
    t = sample_times(motion, rate)
    text = [f"joint_names: [{', '.join(names)}]", "points:"]
    for at, q, dq, ddq in zip(t, *motion(t), strict=True):
        seconds, nanoseconds = divmod(round(float(at) * 1e9), 1_000_000_000)
        text += [f"- positions: {_yaml_list(q)}", f"  velocities: {_yaml_list(dq)}",
                 f"  accelerations: {_yaml_list(ddq)}",
                 f"  time_from_start: {{sec: {seconds}, nanosec: {nanoseconds}}}"]
    write_text(path, "\n".join(text) + "\n")


def _yaml_list(values: Array) -> str:
    """Numbers as a YAML list of floats."""
    # A bare 0 would be read as a whole number, which a field of floats refuses.
    return "[" + ", ".join(repr(round(float(x), _DIGITS) + 0.0) for x in values) + "]"


_WRIST = 3  # joints that move for a payload
_FADING = 0.05  # rad/s below which Coulomb friction fades, so that its slope exists
_FRICTION = 0.03  # Coulomb friction to be expected, as a part of the effort limit
_OUTPUT = 1.0  # time kept for writing files, in units of what loading and preparing took


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    begun = STARTED if arguments is None else time.monotonic()  # started as a program, or called
    return exit_status(lambda: run(parse_options(arguments), begun))


def run(options: Options, begun: float) -> int:
    """Plan, report, write files; returns the exit status.

    Args:
        begun: of `time.monotonic`, from which the budget counts [s].

    Raises:
        InertialIdError: the request cannot be carried out.
    """
    files = {"--csv": options.csv, "--trajectory": options.trajectory}
    csv, trajectory = check_outputs(files, {"the robot description": options.urdf})
    planned = make_plan(options, begun)
    arm, found = planned.arm, planned.found
    motion = replace(found.motion, periods=options.periods)
    if csv is not None:
        write_csv(csv, arm.joint_names, motion, options.output_rate)
    if trajectory is not None:
        write_trajectory(trajectory, arm.joint_names, motion, options.output_rate)
    if not options.quiet:
        print("\n".join(map(printable, summary(planned, options))))
    return OK


@dataclass(frozen=True)
class Planned:
    """An arm, what is asked of its motion, and the motion that was found."""

    arm: Arm
    objective: Objective
    found: Plan


def make_plan(options: Options, begun: float) -> Planned:
    """Plan as the options ask, within their budget, of which time is kept for writing files.

    Args:
        begun: of `time.monotonic`, from which the budget counts [s].

    Raises:
        InertialIdError: the request cannot be carried out.
    """
    arm = Arm(read_description(options.urdf), options.frame, options.carried, package_roots(),
              options.gravity, options.keep_out)
    start, active = start_pose(arm, options.start), moving_joints(arm, options)
    if arm.unchecked:
        print(f"warning: {printable(arm.unchecked)}: self-collision is not checked",
              file=sys.stderr)
    excess = Excess(arm, options.limits, start, active)
    objective = make_objective(arm, options, active)
    left = options.effort.budget - (1.0 + _OUTPUT) * (time.monotonic() - begun)
    found = plan_motion(Basis(options.duration, options.harmonics), start, active, objective,
                        excess, options.rate, replace(options.effort, budget=left))
    return Planned(arm, objective, found)


def start_pose(arm: Arm, given: Sequence[float]) -> Array:
    """The start pose (joints,); zero where none is given.

    Raises:
        InvalidSetting: not one number for each joint.
    """
    if not given:
        return np.zeros(len(arm.joint_names))
    if len(given) != len(arm.joint_names) or not np.isfinite(given).all():
        raise InvalidSetting(f"--start has {len(given)} numbers; it needs one for each of: "
                             + ", ".join(arm.joint_names))
    return np.asarray(given, dtype=float)


def moving_joints(arm: Arm, options: Options) -> np.ndarray:
    """Indices (k,) of the joints that move.

    Raises:
        UnknownFrame: no such joint. InvalidSetting: none of the joints moves the frame.
    """
    chain = arm.chain
    if not chain:
        raise InvalidSetting(f"no joint of the robot description moves --frame '{arm.frame}'")
    names = options.joints or (chain[-_WRIST:] if options.goal == PAYLOAD else chain)
    for name in names:
        if name not in arm.joint_names:
            raise UnknownFrame(f"the robot description has no joint '{name}'; it has: "
                               + ", ".join(arm.joint_names))
    if not set(names) & set(chain):
        raise InvalidSetting(f"none of --joints moves --frame '{arm.frame}'; those that do: "
                             + ", ".join(chain))
    return np.array([arm.joint_names.index(name) for name in dict.fromkeys(names)])


def make_objective(arm: Arm, options: Options, active: np.ndarray) -> Objective:
    """What the motion of the active joints (k,) is to tell."""
    if options.goal == PAYLOAD:
        mass = options.expected[0]
        unit = mass * body_coordinates(options.expected / mass).to_phi
        biases = WrenchSettings().force_bias_sd, WrenchSettings().torque_bias_sd
        return PayloadInformation(arm, unit, np.repeat(options.noise, 3), np.repeat(biases, 3))
    model = RobotModel.from_urdf(arm.urdf, JointTerms(coulomb_velocity=_FADING),
                                 gravity=options.gravity)
    noise = joint_noise(options.noise, active, model.nv)
    friction = np.maximum(_FRICTION * model.effort_limits, noise)
    return RobotInformation(model, description_reference(model), noise, friction, active)


def joint_noise(given: Sequence[float], active: np.ndarray, joints: int) -> Array:
    """Noise (joints,) [N m] from one number, or from one for each active joint.

    Raises:
        InvalidSetting: another number of numbers.
    """
    if len(given) not in (1, len(active)):
        raise InvalidSetting(f"--noise has {len(given)} numbers; it needs one, or one for each of "
                             f"the {len(active)} joints that move")
    out = np.full(joints, given[0])
    out[active] = given
    return out


def summary(planned: Planned, options: Options) -> list[str]:
    """What was found, in words."""
    arm, found = planned.arm, planned.found
    motion = found.motion
    state = motion(np.linspace(0.0, motion.basis.period, 1000))
    speed = arm.frame_motion(*state).point_speeds(options.limits.tool_points)
    lines = [*_gained(planned, options.rate),
             f"tool speed at most {speed.max():.3f} m/s; nearest to a limit: {found.closest}"]
    for joint in motion.active:
        q, dq, ddq = (part[:, joint] for part in state)
        lines.append(f"  {arm.joint_names[joint]}: {q.min():.3f} to {q.max():.3f} rad, "
                     f"{np.abs(dq).max():.3f} rad/s, {np.abs(ddq).max():.3f} rad/s^2")
    lines.append("start pose: " + ", ".join(
        f"{name} {value:.4f}" for name, value in zip(arm.joint_names, motion.start, strict=True)))
    return lines


def _gained(planned: Planned, rate: float) -> list[str]:
    """What the motion tells, in words."""
    found = planned.found
    period = found.motion.basis.period
    rows = planned.objective.rows(*found.motion(dense_times(period)))
    count = rows.shape[2]
    smaller = _times(information_gain(rows, rate * period), count)
    lines = [f"in {period:g} s the standard deviations of {count} parameters become {smaller} "
             "times smaller (geometric mean)"]
    if not found.gains:
        return [*lines, "no search came to its end: allow a larger --budget"]
    return [*lines, f"best of {len(found.gains)} starts, which came to "
            + ", ".join(_times(gain, count) for gain in found.gains) + " times"]


def _times(gain: float, count: int) -> str:
    """The factor by which each of so many standard deviations falls for a gain, two digits of it.

    Examples:
        >>> _times(114.1, 10), _times(9.0, 10)
        ('90,000', '2.5')
    """
    factor = float(f"{math.exp(gain / count):.2g}")
    return f"{factor:,.0f}" if factor >= 10.0 else f"{factor:g}"


if __name__ == "__main__":
    sys.exit(main())
