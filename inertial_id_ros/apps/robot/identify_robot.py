# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Command line: identify a robot from a recording of its joint positions and torques.

The robot description gets the identified bodies and friction: as URDF with nothing else changed,
and for simulators.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from ...arguments import Parser, names, numbers
from ...cli import NO_ESTIMATE, OK, exit_status
from ...errors import InvalidModel, InvalidSetting, printable
from ...export.documents import number, urdf_inertial
from ...extras import optional_packages
from ...inertia import Array, body_from_phi, is_consistent, phi_from_pinocchio, transform_phi
from ...io.files import user_path
from ...io.yaml_files import read_yaml
from ...motion.description import parse_urdf, read_description
from ...robot.joint_terms import COULOMB, DRIVE, OFFSET, VISCOUS, JointTerms
from ...robot.model import RobotModel
from ...robot.recording import LOW_PASS
from ...robot.robot_file import robot_model, save_robot
from ..bag.output import check_outputs, print_written, report_file, write_json, write_text
from .methods import METHODS, Approach, Known, check_base_parameters
from .recording_files import NamedRecording, columns_from_file, read_recording
from .robot_identification import GAIN_ERROR, Currents, RobotResult, identify_described_robot
from .robot_page import print_report, result_json

_HALVINGS = 50


class _Part(NamedTuple):
    """Links that are fixed to each other, by the full description.

    Attributes:
        links: names, the one nearest to the root first; phi: (10,) of them all, as described, in
        the frame of the joint that moves the body they belong to.
    """

    links: list[str]
    phi: Array


def set_inertias(urdf: str, model: RobotModel, phi: Array) -> str:
    """The text of a URDF with the bodies and frictions of phi (p,).

    Links that are fixed to each other are one body: the one nearest to the root gets all of it, the
    others lose theirs. Links on joints that were locked, such as fingers, keep what is described,
    and their body gets the rest, so that they can move where the description is used; where no
    body is left then, they keep a share. Links that do not move keep what they have.

    Raises:
        InvalidModel: a body of phi has no link in the description.
    """
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.fromstring(urdf, parser)
    links = {link.get("name", ""): link for link in root.findall("link")}
    for own, locked in _bodies(parse_urdf(urdf, pin.JointModelFreeFlyer()), model):
        name = own.links[0]
        if name not in links:
            raise InvalidModel(f"body '{name}' has no link in the robot description")
        total = phi[model.body_slice(name)]
        described = np.sum([part.phi for part in locked], axis=0) if locked else np.zeros(10)
        share = _share_of_locked(total, described)
        for part in locked:
            for member in part.links:
                _scale_inertial(links[member], share)
        for member in own.links:
            for old in links[member].findall("inertial"):
                links[member].remove(old)
        rest = body_from_phi(total - share * described)
        links[name].append(urdf_inertial(rest))
    for joint in root.findall("joint"):
        if joint.get("name") in model.joint_names:
            _set_friction(joint, model, phi)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _bodies(full: pin.Model, model: RobotModel) -> list[tuple[_Part, list[_Part]]]:
    """The parts of each body that joints of `model` move: its own, and those on locked joints."""
    data = full.createData()
    pin.forwardKinematics(full, data, pin.neutral(full))
    members: dict[int, list[str]] = {}
    for frame in full.frames:
        if frame.type == pin.FrameType.BODY:
            members.setdefault(frame.parentJoint, []).append(frame.name)
    own: dict[int, _Part] = {}
    locked: dict[int, list[_Part]] = {}
    mover = {0: 0}  # joint that moves, by each joint below it
    for joint in range(1, full.njoints):
        # The first joint ties the root link to the world.
        moves = model.floating_base if joint == 1 else full.names[joint] in model.joint_names
        mover[joint] = joint if moves else mover[full.parents[joint]]
        if not mover[joint] or joint not in members:
            continue
        pose = data.oMi[mover[joint]].inverse() * data.oMi[joint]
        described = phi_from_pinocchio(full.inertias[joint].toDynamicParameters())
        part = _Part(members[joint], transform_phi(described, pose.rotation, pose.translation))
        if moves:
            own[joint] = part
        else:
            locked.setdefault(mover[joint], []).append(part)
    return [(part, locked.get(joint, [])) for joint, part in own.items()]


def _share_of_locked(total: Array, described: Array) -> float:
    """How much of the described links on locked joints a body (10,) can hold: 1 where a consistent
    body is left, else half of what leaves one."""
    low, high = 0.0, 1.0
    if is_consistent(total - described):
        return high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_consistent(total - middle * described) else (low, middle)
    return 0.5 * low


def _scale_inertial(link: ElementTree.Element, share: float) -> None:
    """Multiply mass and inertia of a link."""
    for element in (*link.findall("inertial/mass"), *link.findall("inertial/inertia")):
        for key, value in element.attrib.items():
            element.set(key, value if share == 1.0 else number(share * float(value)))


def _set_friction(joint: ElementTree.Element, model: RobotModel, phi: Array) -> None:
    """Write viscous and Coulomb friction, where identified, into a joint's ``<dynamics>``."""
    name = joint.get("name", "")
    given = {"damping": VISCOUS, "friction": COULOMB}
    there = {key: term for key, term in given.items() if term in model.terms.names}
    if not there:
        return
    element = joint.find("dynamics")
    if element is None:
        element = ElementTree.SubElement(joint, "dynamics")
    for key, term in there.items():
        element.set(key, number(max(phi[model.term_index(name, term)], 0.0)))


with optional_packages("printing the result"):
    from rich.console import Console

_TABLE_WIDTH = 140
_TERMS = (VISCOUS, COULOMB, OFFSET, DRIVE)


def make_parser() -> argparse.ArgumentParser:
    """The command line of `identify_robot`."""
    parser = Parser(
        prog="identify_robot",
        description="Identify bodies and joint friction of a robot from joint positions and "
        "torques: every link physically consistent, the description as a prior as far as the "
        "recording does not contradict it.",
        epilog="Exit status: 0 identified, 1 the recording is not enough, 2 the request cannot be "
        "carried out; of --check-feasibility 0 feasible, 1 infeasible.")
    add = parser.add_argument
    add("recording", metavar="RECORDING", type=Path, nargs="*",
        help="rosbag2 folder, .mcap or .db3 with joint states that carry efforts; CSV with columns "
        "time, position.<joint>, effort.<joint>; or NPZ with t, q, effort [s, rad, N m]. Several "
        "recordings of one robot are used together")
    add("--test", metavar="RECORDING", type=Path, action="append", default=[],
        help="test the robot on this recording, and do not identify it from it (may be repeated)")
    add("--loaded", metavar="RECORDING", type=Path,
        help="efforts are motor currents [A]; with this recording of the robot with a payload of "
        "--payload-mass on its last link, the gains of the drives are found. Where these are 1, "
        "efforts are torques, and stay as they are")
    add("--payload-mass", metavar="X", type=float, help="mass of that payload [kg]")
    add("--gains", metavar="A,B,...", default="",
        help="efforts are motor currents [A]; gains of the drives, in the order of the joints "
        "[N m/A]")
    add("--gain-error", metavar="X", type=float,
        help="standard deviation of each of these gains, relative "
        f"(default: {GAIN_ERROR:g}; 0: exact)")
    add("--urdf", metavar="FILE", type=Path,
        help="robot description (default: the one in the bag)")
    add("--joint-states-topic", metavar="TOPIC", default="", help="topic in a bag")
    add("--columns", metavar="FILE", type=Path, help="YAML file with the names of the columns of "
        "tables: time, joints, efforts, time_unit, rate (docs/recordings.md)")
    add("--joints", metavar="A,B,...", default="", help="joints that move; others are locked at "
        "zero (default: those of the description that the recording holds)")
    add("--terms", metavar="A,B,...", default="",
        help=f"terms of every joint, out of {', '.join(_TERMS)} (default: the first three, and "
        "what else predicts held-out motion better, drive inertia and curves of friction)")
    add("--coulomb-velocity", metavar="X", type=float,
        help="speed below which Coulomb friction fades [rad/s] (default: what fits best)")
    add("--gravity", metavar="X,Y,Z", default="0,0,-9.81",
        help="gravity in axes of the description's root [m/s^2] (default: %(default)s)")
    add("--no-align", action="store_true",
        help="do not look for a tilt of the base and a delay of the efforts")
    add("--low-pass", metavar="X", type=float, default=LOW_PASS,
        help="length of the filter on both sides [s] (default: %(default)s)")
    add("--hold-back", metavar="X", type=float, default=0.3,
        help="part of the time, at the end, for a test; of several recordings the last one "
        "(default: %(default)s; 0: none)")
    add("--prior-weight", metavar="X", type=float, default=1.0,
        help="weight of the description: 1 trusts each body to 100 %% of itself (default: 1)")
    add("--method", choices=METHODS, default="lmi",
        help="lmi: bodies that exist, the description as a prior; fbpe, ols+bpfc: base parameters "
        "without a prior, the description for the rest; mass-points: points in the boxes of the "
        "links (default: %(default)s)")
    add("--constraints", metavar="FILE", type=Path,
        help="YAML with bounds on masses, centres of mass and densities of links (docs/robot.md)")
    add("--check-feasibility", metavar="FILE", type=Path,
        help="without a recording: whether a robot can have the base parameters of this YAML or "
        "JSON file, and the nearest that one can have; exit status 1 if not")
    add("--base-parameters", action="store_true", help="print the base parameters")
    add("--write-urdf", metavar="OUT", type=Path, help="write the description with these bodies")
    add("--write-robot", metavar="OUT", type=Path,
        help="write a robot file, for payloads from joint torques (load.robot)")
    add("--json", metavar="OUT", type=Path, help="write the result to this file")
    add("--report", metavar="DIR", type=Path, help="write a report to this folder: one HTML file")
    add("--quiet", action="store_true", help="print nothing but errors")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; returns its exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    return exit_status(lambda: run(make_parser().parse_args(words), words))


def run(args: argparse.Namespace, words: Sequence[str] = ()) -> int:
    """Identify, report, write files; returns the exit status.

    Args:
        words: of the command line, for the report.

    Raises:
        InertialIdError: the request cannot be carried out.
    """
    known = Known.from_mapping(_document(args.constraints))
    if args.check_feasibility:
        return _check_feasibility(args, known)
    _check(args)
    out = {"--write-urdf": args.write_urdf, "--write-robot": args.write_robot, "--json": args.json,
           "--report": args.report and report_file(args.report, args.recording[0])}
    given = [*args.recording, *args.test, *([args.loaded] if args.loaded else [])]
    urdf_out, robot_out, json_out, report_out = check_outputs(
        out, {"the robot description": args.urdf,
              **{f"the recording {path}": path for path in given}})
    gravity = numbers(f"--gravity {args.gravity}", args.gravity, "three numbers", 3)
    recorded, tests = ([_read(path, args) for path in paths]
                       for paths in (args.recording, args.test))
    currents = _currents(args)
    described = next((each.urdf for each in recorded if each.urdf), "")
    urdf = read_description(user_path(args.urdf)) if args.urdf else described
    if not urdf:
        raise InvalidModel("there is no robot description: the recording holds none, and --urdf "
                           "gives none")
    result = identify_described_robot(
        urdf, recorded, names(args.joints),
        _terms(args.terms or ",".join(_TERMS[:3]), args.coulomb_velocity or 0.0),
        args.coulomb_velocity is None, gravity, args.low_pass, not args.no_align, args.hold_back,
        args.prior_weight, choose=not args.terms, tests=tests, currents=currents,
        approach=Approach(args.method, known))
    title = ", ".join(map(str, args.recording))
    if not args.quiet:
        for note in dict.fromkeys(note for each in recorded for note in each.notes):
            print(f"note: {printable(note)}")
        print_report(_wide_console(), result, title, args.base_parameters)
    if report_out is not None:
        from .robot_page import robot_page

        write_text(report_out, robot_page(result, args.recording[0], words))
        if not args.quiet:
            print_written(report_out)
    result.check_explained()
    _write(result, urdf, title, urdf_out, robot_out, json_out)
    if not args.quiet:
        print_written(urdf_out, robot_out, json_out)
    return OK


def _document(path: Path | None) -> Mapping[str, Any]:
    """The mapping of a YAML or JSON file; empty where none is named (raises InvalidSetting)."""
    if path is None:
        return {}
    content = read_yaml(user_path(path), f"file {path}")
    if not isinstance(content, Mapping):
        raise InvalidSetting(f"{path} holds no mapping")
    return content


def _check_feasibility(args: argparse.Namespace, known: Known) -> int:
    """Say whether a robot can have base parameters; returns the exit status."""
    if args.recording:
        raise InvalidSetting("--check-feasibility reads no recording; leave one of them out")
    description = robot_model(read_description(user_path(args.urdf))) if args.urdf else None
    found = check_base_parameters(_document(args.check_feasibility), known, description)
    answer, near = found.feasibility, found.correction
    proof = answer.certificate
    if args.json:
        write_json(args.json, {
            "feasible": answer.feasible, "margin": answer.margin,
            "certificate": None if proof is None else {
                "value": proof.value, "leak": proof.leak, "depth": proof.depth,
                "multipliers": [z.tolist() for z in proof.multipliers]},
            "distance": near.distance, "base_parameters": [
                {"combination": text, "value": value, "nearest": nearest} for text, value, nearest
                in zip(found.combinations, found.beta.tolist(), near.beta.tolist(), strict=True)]})
    if not args.quiet:
        print(f"feasible: margin {answer.margin:.3g}" if proof is None else
              f"infeasible: certificate {proof.value:.3g} (leak {proof.leak:.0e}); nearest "
              f"feasible base parameters at a distance of {near.distance:.4g}:")
        for text, value, nearest in zip(found.combinations, found.beta, near.beta, strict=True):
            print(f"  {value:12.6g} {nearest:12.6g}  {printable(text)}")
    return OK if answer.feasible else NO_ESTIMATE


def _wide_console() -> Console:
    """A console wide enough for the table of bodies, also when the output is a pipe."""
    console = Console()
    return console if console.is_terminal else Console(width=max(console.width, _TABLE_WIDTH))


def _write(result: RobotResult, urdf: str, recording: str, urdf_out: Path | None,
           robot_out: Path | None, json_out: Path | None) -> None:
    """Write the files that were asked for: description, robot file, JSON."""
    if urdf_out is not None:
        write_text(urdf_out, set_inertias(urdf, result.model, result.identified.phi))
    if robot_out is not None:
        save_robot(robot_out, result.robot)
    if json_out is not None:
        write_json(json_out, result_json(result, recording))


def _check(args: argparse.Namespace) -> None:
    """Raise InvalidSetting where a number of the command line is out of range."""
    if not args.recording:
        raise InvalidSetting("no recording is named (see identify_robot --help)")
    for name, low, high in (("low_pass", 0.02, 2.0), ("hold_back", 0.0, 0.9),
                            ("prior_weight", 1e-9, 1e9), ("coulomb_velocity", 0.0, 10.0),
                            ("gain_error", 0.0, 0.99)):
        value = getattr(args, name)
        if value is not None and not (np.isfinite(value) and low <= value <= high):
            raise InvalidSetting(f"--{name.replace('_', '-')} is {value:g}; allowed: {low:g} to "
                                 f"{high:g}")


def _currents(args: argparse.Namespace) -> Currents | None:
    """What the command line says about motor currents; None where efforts are torques.

    Raises:
        InvalidSetting: options that do not go together. RecordingError: see `read_recording`.
    """
    if (args.loaded is None) != (args.payload_mass is None):
        raise InvalidSetting("--loaded and --payload-mass belong together: gains come from a "
                             "recording with a payload and its mass")
    if args.gain_error is not None and not args.gains:
        raise InvalidSetting("--gain-error is that of the gains that --gains gives")
    if args.loaded is not None and args.gains:
        raise InvalidSetting("--gains gives what --loaded is to find; leave one of them out")
    if args.gains:
        return Currents(numbers(f"--gains {args.gains}", args.gains, "numbers"),
                        GAIN_ERROR if args.gain_error is None else args.gain_error)
    if args.loaded is None:
        return None
    if not (np.isfinite(args.payload_mass) and args.payload_mass > 0.0):
        raise InvalidSetting(f"--payload-mass is {args.payload_mass:g} kg; it must be positive")
    return Currents(loaded=_read(args.loaded, args), mass=args.payload_mass)


def _read(path: Path, args: argparse.Namespace) -> NamedRecording:
    """A recording (raises InertialIdError)."""
    columns = columns_from_file(user_path(args.columns)) if args.columns else None
    return read_recording(user_path(path), args.joint_states_topic, columns)


def _terms(text: str, fading: float) -> JointTerms:
    """Joint terms named in a comma-separated list (raises InvalidSetting)."""
    wanted = names(text)
    for name in wanted:
        if name not in _TERMS:
            raise InvalidSetting(f"--terms names '{name}'; allowed: {', '.join(_TERMS)}")
    return JointTerms(VISCOUS in wanted, COULOMB in wanted, OFFSET in wanted, DRIVE in wanted,
                      fading)


if __name__ == "__main__":
    sys.exit(main())
