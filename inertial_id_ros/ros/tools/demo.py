# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``inertial_id_demo``: identify_payload on a simulated cobot, from check to report.

The cobot and the node run as processes of their own in a private ROS domain. The sensor has the
errors of its data sheet, and a bias that nobody tared away. The session knows nothing of the truth,
with which the demo compares its result.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from geometry_msgs.msg import Inertia, InertiaStamped
from rclpy.qos import DurabilityPolicy, QoSProfile

from ...apps.guide.show import Show
from ...apps.simulation.payload import load_payload
from ...apps.simulation.settings import CobotSettings
from ...arguments import Parser
from ...cli import INTERRUPTED, exit_status, inertial_id_demo
from ...inertia import Array, is_consistent, phi_from_body, tensor_from_six
from ...msg import InertialParameters
from ...settings import SENSORS, Settings
from ..guide.command_line import parse
from ..guide.guide_node import GuideNode
from ..guide.identify_payload import run
from ..program import Children, ignore_signals, private_environment, stop_flag

MASS_TOLERANCE, COM_TOLERANCE = 0.02, 0.005  # relative; m
LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ACCURACY = ("--mass-accuracy", "3", "--com-accuracy", "5", "--inertia-accuracy", "0")
SILENCE = ("--silence", "0.5")  # of a simulation on a busy machine
BIAS = "bias:=[2.0, -1.5, 3.0, 0.05, -0.08, 0.03]"
# The arm stands exactly where its description says; its driver states what it compensates.
NODE = {"alignment.orientation_sd": "0.0", "alignment.position_sd": "0.001",
        "precompensated.source": "dynamic_joint_states",
        "precompensated.topic": "dynamic_joint_states", "precompensated.frame": "tool0",
        "apply.target": "universal_robots", "load.rated_payload": "10.0"}


def numbers_of(inertia: Inertia) -> Array:
    """Mass, centre of mass, and tensor about it (10,) of a message."""
    c = inertia.com
    return np.array([inertia.m, c.x, c.y, c.z, inertia.ixx, inertia.ixy, inertia.ixz, inertia.iyy,
                     inertia.iyz, inertia.izz])


def can_exist(report: Array) -> bool:
    """True if a rigid body can have these numbers (10,)."""
    return bool(np.isfinite(report).all() and is_consistent(
        phi_from_body(report[0], report[1:4], tensor_from_six(report[4:]))))


@dataclass
class Judge:
    """What came, and whether it is true.

    Attributes:
        truth: (10,) mass, centre of mass, inertia about it; None until received.
        estimates: (10,) all that the node published as valid.
    """

    truth: Array | None = None
    estimates: list[Array] = field(default_factory=list)

    def observe(self, guide: GuideNode) -> None:
        """Keep every estimate of the node and the simulated truth from now on."""
        guide.subscribe(InertialParameters, "/inertial_id_node/inertial_parameters",
                        self._take_estimate, LATCHED)
        guide.subscribe(InertiaStamped, "/simulate_cobot/truth", self._take_truth, LATCHED)

    def _take_estimate(self, message: InertialParameters) -> None:
        if message.valid:
            self.estimates.append(numbers_of(message.inertia))

    def _take_truth(self, message: InertiaStamped) -> None:
        self.truth = numbers_of(message.inertia)

    def verdicts(self, report: Array, sigma: Array) -> list[tuple[str, bool]]:
        """Conditions of success of a result (10,) with deviations (10,), in words, and whether each
        holds; a poor sensor is allowed its interval."""
        if self.truth is None:
            return [("no truth received", False)]
        count, possible = len(self.estimates), sum(map(can_exist, self.estimates))
        mass = abs(report[0] / self.truth[0] - 1.0)
        com = float(np.linalg.norm(report[1:4] - self.truth[1:4]))
        for_mass = max(MASS_TOLERANCE, 2.0 * float(sigma[0]) / abs(self.truth[0]))
        for_com = max(COM_TOLERANCE, 2.0 * float(np.linalg.norm(sigma[1:4])))
        return [
            (f"{possible} of {count} estimates are bodies that can exist", 0 < count == possible),
            (f"mass off by {mass:.2%} (allowed {for_mass:.1%})", bool(mass <= for_mass)),
            (f"centre of mass off by {com * 1e3:.2f} mm (allowed {for_com * 1e3:.1f} mm)",
             com <= for_com)]


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
    return exit_status(lambda: _run(make_parser().parse_args(arguments)))


def _run(options: argparse.Namespace) -> int:
    """Run cobot and session, and judge the result (raises InertialIdError: what cobot or node would
    refuse, before they are started)."""
    load_payload(options.payload)
    CobotSettings(seed=options.seed)
    Settings().replace({"estimator.method": options.method})
    stop, environment, judge = stop_flag(), private_environment(), Judge()
    os.environ.update(environment)
    with TemporaryDirectory() as state, Children(environment) as children:
        try:
            children.start("inertial_id_ros.ros.tools.simulate_cobot", [
                "--ros-args", "-p", f"payload:={options.payload}", "-p", "motion:=commanded", "-p",
                f"sensor:={options.sensor}", "-p", f"seed:={options.seed}", "-p", BIAS])
            node = {**NODE, "estimator.method": options.method, "wrench.sensor": options.sensor,
                    "state.directory": state}
            session = parse(
                [*ACCURACY, *SILENCE, *([] if options.ask else ["--yes"]), "--report",
                 str(options.report)],
                [word for name, value in node.items() for word in ("-p", f"{name}:={value}")])
            show = Show(session.yes, session.json or not sys.stdout.isatty())
            end, record = run(session, stop, show, judge.observe, children)
            if end.status == INTERRUPTED or record is None or record.report is None or (
                    record.sigma is None):
                return end.status
            verdicts = judge.verdicts(record.report, record.sigma)
            for text, holds in verdicts:
                show.say(text, holds)
            return end.status or int(not all(holds for _, holds in verdicts))
        finally:
            if stop.is_set():
                ignore_signals()


if __name__ == "__main__":
    raise SystemExit(inertial_id_demo())
