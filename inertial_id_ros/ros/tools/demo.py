# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``inertial_id_demo``: identify_payload on a simulated cobot, from check to report.

The cobot and the node run as processes of their own in a private ROS domain. The sensor has the
errors of its data sheet, and a bias that nobody tared away. The session knows nothing of the truth,
with which the demo compares its result.

Whether that is good enough, and whether every estimate on the way can exist, it says.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from geometry_msgs.msg import Inertia, InertiaStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from ...apps.simulation.payload import load_payload
from ...apps.simulation.settings import CobotSettings
from ...arguments import Parser
from ...cli import INTERRUPTED, exit_status, inertial_id_demo
from ...inertia import Array
from ...io.messages import stamp_ns
from ...msg import InertialParameters
from ...settings import SENSORS, Settings
from ..guide.guide_node import GuideNode

if TYPE_CHECKING:
    import threading

    from ...apps.guide.show import Show
    from ..program import Children

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

    def end(self, result: Array, sigma: Array, stamp_ns: int) -> None:
        """Set the result: what was reported (10,) (mass, centre of mass, inertia about it), with
        standard deviations (10,); messages with a later stamp are left out."""
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
        last = inertia_numbers(valid[-1].inertia) if self.result is None else self.result
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


def record_estimates(guide: GuideNode, record: Record) -> None:
    """Have every estimate of the node and the simulated truth kept from now on; returns at once."""
    latched = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE,
                         durability=DurabilityPolicy.TRANSIENT_LOCAL)

    def take_truth(message: InertiaStamped) -> None:
        record.truth = inertia_numbers(message.inertia)

    guide.subscribe(InertialParameters, "/inertial_id_node/inertial_parameters",
                    record.messages.append, latched)
    guide.subscribe(InertiaStamped, "/simulate_cobot/truth", take_truth, latched)


_ACCURACY = ("--mass-accuracy", "3", "--com-accuracy", "5", "--inertia-accuracy", "0")
_SILENCE = ("--silence", "0.5")  # of a simulation on a busy machine
_BIAS = "bias:=[2.0, -1.5, 3.0, 0.05, -0.08, 0.03]"
# The arm stands exactly where its description says; what its driver subtracts, it tells.
_NODE = {"alignment.orientation_sd": "0.0", "alignment.position_sd": "0.001",
         "precompensated.source": "dynamic_joint_states",
         "precompensated.topic": "dynamic_joint_states", "precompensated.frame": "tool0",
         "apply.target": "universal_robots", "load.rated_payload": "10.0"}


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = Parser(
        prog="inertial_id_demo", description="identify_payload on a simulated cobot.",
        epilog="Exit status: that of identify_payload; 1 where what was identified is not true: "
        "mass within 2 %, centre of mass within 5 mm, or their intervals where these are wider; "
        "every estimate physically consistent.")
    add = parser.add_argument
    add("--payload", default="drill", help="payload of simulate_cobot (default: drill)")
    add("--sensor", default="ati_gamma", choices=sorted(SENSORS),
        help="its sensor, with the errors of its data sheet (default: ati_gamma)")
    add("--method", default="density", help="estimator (default: density)")
    add("--seed", type=int, default=0, help="seed of the sensor's errors (default: 0)")
    add("--ask", action="store_true", help="ask before the arm moves, as on a real one")
    add("--report", type=Path, default=Path("reports"), metavar="FOLDER",
        help="where the report is written (default: reports)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; returns the exit status (see --help)."""
    return exit_status(lambda: _run_demo(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Checked options (raises InertialIdError): what cobot and node would refuse is refused before
    they are started."""
    options = make_parser().parse_args(arguments)
    load_payload(options.payload)
    CobotSettings(seed=options.seed)
    Settings().replace({"estimator.method": options.method})
    return options


def _run_demo(options: argparse.Namespace) -> int:
    from ..guide.command_line import parse
    from ..guide.identify_payload import make_show
    from ..program import Children, ignore_signals, private_environment, stop_flag

    stop = stop_flag()
    environment = private_environment()
    os.environ.update(environment)
    with TemporaryDirectory() as state, Children(environment) as children:
        try:
            children.start("inertial_id_ros.ros.tools.simulate_cobot", [
                "--ros-args", "-p", f"payload:={options.payload}", "-p", "motion:=commanded", "-p",
                f"sensor:={options.sensor}", "-p", f"seed:={options.seed}", "-p", _BIAS])
            node = {**_NODE, "estimator.method": options.method, "wrench.sensor": options.sensor,
                    "state.directory": state}
            session = parse(
                [*_ACCURACY, *_SILENCE, *([] if options.ask else ["--yes"]), "--report",
                 str(options.report)],
                [word for name, value in node.items() for word in ("-p", f"{name}:={value}")])
            return _run_session(session, options, children, stop,
                                make_show(session.yes, session.json))
        finally:
            if stop.is_set():
                ignore_signals()


def _run_session(session: object, options: argparse.Namespace, children: Children,
                 stop: threading.Event, show: Show) -> int:
    """Run the session beside the cobot, and compare what came out with the truth."""
    from ..guide.command_line import Options
    from ..guide.identify_payload import run
    from .demo import Record, record_estimates

    assert isinstance(session, Options)
    record = Record()
    end, found = run(session, stop, show, lambda guide: record_estimates(guide, record),
                     children)
    if end.status == INTERRUPTED or found is None or found.report is None or (
            found.sigma is None):
        return end.status
    record.end(found.report, found.sigma, found.stamp_ns)
    checks = record.checks()
    for check in checks:
        show.say(check.text, check.passed)
    return end.status or int(not all(check.passed for check in checks))


if __name__ == "__main__":
    raise SystemExit(inertial_id_demo())
