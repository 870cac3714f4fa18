# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Identification from arrays and recordings, without ROS: the stable interface of this package.

What `__all__` names keeps its meaning from version to version; every other module may change.

All stamps are whole nanoseconds (`np.round(1e9 * seconds).astype(np.int64)`), units are SI, phi and
bodies are in the frame of the wrench. A mistake in a call raises an `InertialIdError` that names
what is wrong and what is allowed. Bad samples (NaN, saturated) are left out and named in the
findings of the result. Where the data do not suffice, the result is a `NoEstimate` with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import ArrayLike

from .errors import InertialIdError, InvalidData, InvalidModel, InvalidSetting
from .estimate import Estimate, NoEstimate, ParameterVerdict
from .export import DEFAULT_LINK, ExportedPayload, export_estimate
from .identify.identifier import Identifier as CoreIdentifier
from .identify.identifier import make_identifier
from .identify.measured_motion import identify_accelerations
from .inertia import PARAMETER_NAMES, Body
from .io.fields import (
    as_finite_rows,
    as_names,
    as_rows,
    as_stamps,
    check_name,
)
from .io.sample_blocks import Edges, JointStates, Samples, Wrenches
from .kinds import Finding
from .model.tool import Tool, load_tool, save_tool, tool_from_estimate
from .robot.model import JointTerms
from .robot.robot_file import save_robot
from .settings import Settings, settings_from_mapping

if TYPE_CHECKING:
    from .robot.base_parameters import BaseCheck
    from .robot.identify import RobotResult
    from .robot.recording import JointRecording

__all__ = [
    "PARAMETER_NAMES",
    "Body",
    "ExportedPayload",
    "Estimate",
    "Finding",
    "Identifier",
    "InertialIdError",
    "JointTerms",
    "NoEstimate",
    "ParameterVerdict",
    "RobotRecording",
    "Settings",
    "Tool",
    "check_base_parameters",
    "export_payload",
    "identify_accelerations",
    "identify_recording",
    "identify_robot",
    "load_tool",
    "save_robot",
    "save_tool",
    "settings_from_mapping",
    "tool_from_estimate",
]


class Identifier:
    """Payload identification from samples that are added as arrays, all at once or step by step.

    Stamps (n,) [ns] of a stream increase, from call to call too. Methods that take arrays raise
    InvalidData where one has the wrong shape, type or unit.

    Args:
        settings: see `docs/settings.md`, e.g. ``Settings().replace({"shape.max_reach": 0.3})``;
            those of topics and services have no effect here.

    Raises:
        InertialIdError: a setting, or the shape, tool or robot file that it names, cannot be used.

    Examples:
        >>> identifier = Identifier(Settings())
        >>> identifier.solve().reason
        "no wrench received on 'wrench'"
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings if settings is not None else Settings()
        self._identifier = make_identifier(self.settings)
        self._last: Estimate | NoEstimate | None = None
        self._waiting: list[Samples] = []
        self._newest: dict[tuple[str, ...], int] = {}

    def set_robot_description(self, urdf: str) -> None:
        """Use the robot of this URDF text, in which the frame of the wrench is a link; without one,
        add transforms. Raises InvalidModel, and then the one before stays in use."""
        self._identifier.set_robot_description(_urdf_text(urdf))

    def add_joint_states(self, stamps: ArrayLike, names: Sequence[str], positions: ArrayLike,
                         efforts: ArrayLike | None = None) -> None:
        """Add samples of k joints, named as in the robot description: positions (n, k) [rad or m];
        efforts (n, k) [N m or N], needed with `load.robot` only."""
        joints = as_names("names", names)
        times = as_stamps("joint states", stamps)
        shape = len(times), len(joints)
        self._add(("joint states", *joints), JointStates(
            times, joints, as_rows("positions", positions, shape),
            None if efforts is None else as_rows("efforts", efforts, shape)))

    def add_wrenches(self, stamps: ArrayLike, frame_id: str, wrench: ArrayLike) -> None:
        """Add wrenches (n, 6) of the sensor [N, N m], with the sign that `wrench.convention` names.
        Results are in their frame. Raises InvalidSetting where joint torques are identified from.
        """
        if self.settings.load.source == "joint_torque":
            raise InvalidSetting("load.robot names a robot file, which uses no wrenches; add joint "
                                 "states with efforts, or leave load.robot empty")
        check_name("frame_id", frame_id)
        times = as_stamps("wrenches", stamps)
        self._add(("wrenches",), Wrenches(
            times, frame_id, as_rows("wrench", wrench, (len(times), 6))))

    def add_transforms(self, stamps: ArrayLike, parent: str, child: str, poses: ArrayLike) -> None:
        """Add poses (n, 7) of a frame in its parent, as TF gives them: translation [m], quaternion
        x, y, z, w; instead of joint states."""
        check_name("parent", parent)
        check_name("child", child)
        times = as_stamps("transforms", stamps)
        self._add(("transforms", parent, child), Edges(
            times, parent, child, as_rows("poses", poses, (len(times), 7))))

    def add_static_transform(self, parent: str, child: str, translation: ArrayLike,
                             quaternion: ArrayLike) -> None:
        """Add a fixed pose of a frame in its parent: translation (3,) [m], quaternion x, y, z, w.
        """
        check_name("parent", parent)
        check_name("child", child)
        place = as_finite_rows("translation", translation, (3,)).tolist()
        turn = as_finite_rows("quaternion", quaternion, (4,))
        if not turn.any():
            raise InvalidData("quaternion is [0, 0, 0, 0]; x, y, z, w of a rotation are needed, "
                              "[0, 0, 0, 1] for none")
        self._identifier.add_static_transform(parent, child, place, turn.tolist())

    def solve(self) -> Estimate | NoEstimate:
        """Estimate the payload from the last `buffer.window` seconds of all samples so far.

        May be called after every few samples or once at the end. A `NoEstimate` says why there is
        none. Without new samples the last estimate comes again, marked as stale.
        """
        last, now = self._last, self._updated().solve()
        self._last = now
        if isinstance(now, Estimate) and isinstance(last, Estimate) and not now.stale and (
                now.stamp_ns == last.stamp_ns):
            return now.as_stale("no new samples")
        return now

    def finish(self) -> None:
        """Let the last samples settle, as no more will follow: `solve` then uses them in full."""
        self._updated().finish()

    def findings(self) -> tuple[Finding, ...]:
        """List everything about the samples so far that deserves attention, errors first."""
        return self._updated().findings()

    def tare(self) -> str:
        """Use the mean wrench of the last second, at rest and without payload, as the bias; says
        what was stored. Raises NotEnoughData for too few samples, or a sensor that moves."""
        return self._updated().tare()

    def untare(self) -> str:
        """Drop the tare: the bias is estimated from the samples alone again. Says whether there was
        one."""
        return self._updated().untare()

    def set_tool(self, tool: Tool | None) -> None:
        """Identify the object without this tool from the next samples on; None: all there is."""
        made = self._updated()
        made.believe(replace(made.beliefs, tool=tool))

    def reset(self) -> None:
        """Forget all samples; keep robot description, fixed transforms, tool and bias."""
        self._waiting.clear()
        self._newest.clear()
        self._last = None
        self._identifier.reset("reset was called")

    def _add(self, stream: tuple[str, ...], samples: Samples) -> None:
        """Keep samples of a stream for the next call that needs them.

        Raises:
            InvalidData: they do not follow the samples added before.
        """
        if not len(samples.stamps):
            return
        first, before = int(samples.stamps[0]), self._newest.get(stream, 0)
        if first <= before:
            raise InvalidData(f"stamps of {stream[0]} begin at {first} ns, but samples up to "
                              f"{before} ns were added before; add them in order, or call reset()")
        self._newest[stream] = int(samples.stamps[-1])
        self._waiting.append(samples)

    def _updated(self) -> CoreIdentifier:
        """The identifier, once it has processed all samples that were added."""
        waiting, self._waiting = self._waiting, []
        self._identifier.add_arrays(waiting)
        return self._identifier


def identify_recording(path: str | Path, settings: Settings | None = None
                       ) -> Estimate | NoEstimate:
    """Identify the payload of a recording, as `identify_bag` does: a rosbag2 folder, .mcap or .db3
    file, a table (.csv, .npz, .parquet), or a LeRobot dataset.

    Raises:
        RecordingError: not readable, or it lacks a topic that is needed; InertialIdError: a
            setting cannot be used.
    """
    from .apps.bag.offline import identify_recording

    return identify_recording(
        Path(path), settings if settings is not None else Settings()).outcome


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
    from .robot.identify import Request, identify_described_robot
    from .robot.model import RobotModel

    joints, text = as_names("names", names), _urdf_text(urdf)
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
    from .robot.recording import JointRecording

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
    from .robot.base_parameters import check_base_parameters as check
    from .robot.model import RobotModel

    return check(document, constraints or {},
                 RobotModel.from_urdf(_urdf_text(urdf)) if urdf else None)


def export_payload(estimate: Estimate | NoEstimate | str | Path, format: str,
                   robot_description: str = "", parent: str = "", link: str = DEFAULT_LINK
                   ) -> ExportedPayload:
    """Write a payload for planners, simulators and controllers, as `export_payload` does.

    Args:
        estimate: or the path of a saved one.
        format: urdf, urdf_robot, sdf, mjcf, usd, yaml or franka_desk.
        robot_description: text of a URDF; needed for urdf_robot and for a parent other than the
            frame of the estimate.
        parent: link that carries the payload, fixed to that frame; empty: that frame.
        link: name of the payload in the document.

    Raises:
        NotEnoughData: there is no estimate, or its data do not tell mass or centre of mass;
            InertialIdError: a name is not allowed, or the file or the description cannot be used.
    """
    urdf = _urdf_text(robot_description) if robot_description else ""
    return export_estimate(estimate, format, urdf, parent, link)


def _urdf_text(urdf: str) -> str:
    """The argument, if it can be the text of a URDF (raises InvalidModel for a path)."""
    if "<" not in str(urdf):
        raise InvalidModel(f"robot description is {str(urdf)[:200]!r}; the text of a URDF is "
                           "needed, e.g. Path('arm.urdf').read_text()")
    return urdf
