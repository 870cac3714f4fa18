# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Whole robots from joint torques. The program over them is in `apps`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import InvalidSetting
from ..io.inputs import JointStates
from ..settings.spec import Spec, check, coerce, iter_group, setting
from .model import COULOMB, DRIVE, GRAVITY, LOAD, OFFSET, VISCOUS
from .recording import LOW_PASS
from .robot_file import save_robot

if TYPE_CHECKING:  # they need cvxpy
    from .identify import RobotResult

__all__ = ["JointStates", "RobotRequest", "check_base_parameters", "identify_robot", "save_robot"]

METHODS = ("lmi", "fbpe", "ols+bpfc", "mass-points")
TERMS = (VISCOUS, COULOMB, OFFSET, DRIVE, LOAD)  # as of `model.JointTerms`


@dataclass(frozen=True)
class RobotRequest:
    """How a robot is to be identified; some options say themselves what they are.

    Attributes:
        joints: that move, in the order of the description, the others locked at zero; empty: all.
        terms: of each joint, out of `TERMS`; empty: all (of the method ols+bpfc all but load).
        effort_sign: joints whose efforts have the opposite sign.
        gains: (joints,) of the drives, where efforts are motor currents [N m/A].
        loaded: motor currents with a payload of payload_mass [kg] on the last link, from which the
            gains are found: ``result.drives``.
        method: one of `METHODS`; constraints: what is known of the bodies, see `docs/robot.md`.

    Raises:
        InvalidSetting: options that do not go together, or a number out of range.
    """

    joints: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    effort_sign: tuple[str, ...] = ()
    gains: Sequence[float] = ()
    loaded: JointStates | None = None
    payload_mass: float | None = None
    method: str = "lmi"
    constraints: Mapping[str, Any] = field(default_factory=dict)
    gravity: Sequence[float] = setting(GRAVITY, "in root axes", unit="m/s^2", length=3)
    align: bool = setting(True, "look for a tilt of the base and a delay of the efforts")
    low_pass: float = setting(LOW_PASS, "length of both filters", unit="s", low=0.02, high=2.0)
    hold_back: float = setting(0.3, "part at the end, for a test; 0: none", low=0.0, high=0.9)
    coulomb_velocity: float = setting(0.01, "speed below which Coulomb friction fades",
                                      unit="rad/s", low=0.0, high=10.0)
    # Those of data sheets and controllers differ from what a known mass shows.
    gain_error: float = setting(0.05, "relative deviation of each of --gains", low=0.0, high=0.99)

    def __post_init__(self) -> None:
        for name, value, spec in iter_group(self):
            check(name, coerce(name, value, getattr(RobotRequest, name)), spec)
        if (self.loaded is None) != (self.payload_mass is None):
            raise InvalidSetting("loaded and payload_mass belong together: gains come from a "
                                 "recording with a payload and its mass")
        if self.loaded is not None and len(self.gains):
            raise InvalidSetting("gains are given, and loaded is to find them; leave one out")
        if self.payload_mass is not None:
            check("payload_mass", self.payload_mass, Spec("", unit="kg", above=0.0))
        check("method", self.method, Spec("", choices=METHODS))
        for term in self.terms:
            check("terms", term, Spec("", choices=TERMS))


def identify_robot(urdf: str, recorded: Sequence[JointStates],
                   request: RobotRequest | None = None, tests: Sequence[JointStates] = ()
                   ) -> "RobotResult":
    """Identify the bodies and joint friction of a whole robot from its joint torques.

    ``result.bodies`` holds a `Body` for each link, ``result.prediction.relative`` the share of the
    torque that the robot does not explain. ``save_robot(path, result.robot)`` writes the file that
    the setting `load.robot` names.

    Args:
        urdf: text of the robot description.
        recorded: joint states with efforts (torques, or motor currents [A]) of all joints that the
            request says to move, of one recording or several; names empty: the description's.
        tests: that the robot is tested on and not identified from; none is held back then.

    Raises:
        InvalidData: an array of the wrong shape, type or unit, or efforts that are no torques.
        RecordingError, InvalidModel: a recording, or the robot description, lacks a joint.
        InvalidSetting: what the request asks for cannot be.
        NotEnoughData: too short a motion, or torques that the robot does not explain.
    """
    from .identify import identify_described_robot

    return identify_described_robot(urdf, recorded, request or RobotRequest(), tests)


def check_base_parameters(document: Mapping[str, Any],
                          constraints: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Check whether a robot can have base parameters, and find the nearest that one can have: BPFT
    and BPFC of Sousa and Cortesao 2014 (raises InvalidSetting: something is not understood).

    Returns what `identify_robot --check-feasibility --json` writes: ``feasible``, ``margin``; where
    it is not, ``certificate`` and ``multipliers`` (see `convex.check_feasibility`); ``distance``
    (eq. 56) to the nearest feasible ones, and ``base_parameters`` with these. Bodies of 1 kg and
    1 kg m^2 are the scale.

    Args:
        document: ``base_parameters``, a list of ``combination``, such as "Iyy(a) + m(b)" about the
            origins of the links' frames, and ``value`` in SI units.
        constraints: as of `RobotRequest`.
    """
    from .base_parameters import check_base_parameters as check

    return check(document, constraints or {})
