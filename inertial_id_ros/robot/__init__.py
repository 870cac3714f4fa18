# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whole robots from joint torques; here from arrays that a caller gives, each checked before it is
used. The program over them is in `apps`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import ArrayLike

from ..errors import InvalidData
from ..io.fields import as_finite_rows, as_names, as_rows, as_stamps, check_urdf
from .model import JointTerms, RobotModel
from .robot_file import save_robot

if TYPE_CHECKING:
    from .base_parameters import BaseCheck
    from .identify import RobotResult
    from .recording import JointRecording


__all__ = ["JointTerms", "RobotRecording", "check_base_parameters", "identify_robot", "save_robot"]


class RobotRecording(NamedTuple):
    """Joint positions and efforts of a robot.

    Attributes:
        stamps: (n,) increasing [ns].
        positions: (n, k) [rad or m]; efforts: (n, k) [N m or N], or motor currents [A].
    """

    stamps: ArrayLike
    positions: ArrayLike
    efforts: ArrayLike


def identify_robot(urdf: str, stamps: ArrayLike, names: Sequence[str], positions: ArrayLike,
                   efforts: ArrayLike, terms: JointTerms | None = None,
                   gravity: ArrayLike = (0.0, 0.0, -9.81), *,
                   others: Sequence[RobotRecording] = (), tests: Sequence[RobotRecording] = (),
                   gains: ArrayLike | None = None, gain_error: float = 0.05,
                   loaded: RobotRecording | None = None, payload_mass: float | None = None,
                   method: str = "lmi", constraints: Mapping[str, Any] | None = None
                   ) -> RobotResult:
    """Identify the bodies and joint friction of a whole robot from its joint torques.

    ``result.bodies`` holds a `Body` for each link, ``result.prediction.relative`` the share of the
    torque that the robot does not explain. ``save_robot(path, result.robot)`` writes the file that
    the setting `load.robot` names.

    Args:
        urdf: text of the robot description; joints that are not in `names` are locked at zero.
        stamps, positions, efforts: see `RobotRecording`; names: of the k joints.
        terms: friction, offset and drive inertia of each joint; None: viscous and Coulomb friction,
            an offset, and what else predicts held-out motion better (``result.choice``).
        gravity: (3,) in axes of the description's root [m/s^2].
        others: further recordings of the same joints, to identify from.
        tests: recordings to test the robot on in place of the last 30 % of the time.
        gains: (k,) of the drives [N m/A]; gain_error: standard deviation of each, relative.
        loaded: motor currents with a payload of `payload_mass` [kg] on the last link, from which
            the gains are found: ``result.drives``.
        method: ``lmi``, ``fbpe``, ``ols+bpfc`` or ``mass-points``; constraints: what is known of
            the links; see `docs/robot.md`.

    Raises:
        InvalidData: an array of the wrong shape, type or unit, or a joint that is not described.
        InvalidSetting: options that do not go together, or a number out of range.
        InvalidModel: the robot description cannot be used.
        NotEnoughData: too short a motion, or torques that the robot does not explain.
    """
    from .identify import Request, identify_described_robot

    joints, text = as_names("names", names), check_urdf(urdf)
    described = RobotModel.from_urdf(text).joint_names
    unknown = [name for name in joints if name not in described]
    if unknown:
        raise InvalidData(f"names holds '{unknown[0]}'; the robot description has: "
                          + ", ".join(described))
    moving = tuple(name for name in described if name in joints)
    given = None if gains is None else as_finite_rows("gains", gains, (len(joints),))
    request = Request(
        joints=moving, terms=terms,
        gravity=tuple(as_finite_rows("gravity", gravity, (3,)).tolist()),
        gains=() if given is None else tuple(given[[joints.index(n) for n in moving]].tolist()),
        gain_error=gain_error, payload_mass=payload_mass,
        loaded=None if loaded is None else _named("loaded: ", joints, loaded),
        method=method, constraints=constraints or {})
    recorded = [_named("", joints, RobotRecording(stamps, positions, efforts)),
                *(_named("others: ", joints, other) for other in others)]
    result = identify_described_robot(text, recorded, request,
                                      [_named("tests: ", joints, test) for test in tests])
    result.check_explained()
    return result


def _named(what: str, joints: tuple[str, ...], recording: RobotRecording) -> JointRecording:
    """Arrays as a recording of these joints (raises InvalidData)."""
    from .recording import JointRecording

    times = as_stamps(f"{what}joint states", recording.stamps)
    shape = len(times), len(joints)
    return JointRecording(joints, times, as_rows(f"{what}positions", recording.positions, shape),
                          as_rows(f"{what}efforts", recording.efforts, shape))


def check_base_parameters(document: Mapping[str, Any], urdf: str = "",
                          constraints: Mapping[str, Any] | None = None) -> BaseCheck:
    """Check whether a robot can have base parameters, and find the nearest that one can have.

    BPFT and BPFC of Sousa and Cortesao 2014: ``result.feasibility.feasible``, its certificate, and
    ``result.nearest``.

    Args:
        document: ``base_parameters``, a list of ``combination``, such as "Iyy(a) + m(b)" about the
            origins of the links' frames, and ``value`` in SI units; as `identify_robot --json`
            writes.
        urdf: text of the robot description, for the size of the bodies; empty: 1 kg, 1 kg m^2.
        constraints: as of `identify_robot`.

    Raises:
        InvalidSetting: the document or the constraints are not understood.
    """
    from .base_parameters import check_base_parameters as check

    return check(document, constraints or {},
                 RobotModel.from_urdf(check_urdf(urdf)) if urdf else None)
