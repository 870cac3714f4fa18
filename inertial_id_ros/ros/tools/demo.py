# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""``inertial_id_demo``: identify_payload on a simulated cobot, in a private ROS domain. Its sensor
has the errors of its data sheet, and a bias that nobody tared away; the session knows nothing of
the truth, with which its result is compared."""

import os
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ...apps.simulation.payload import PAYLOADS
from ...cli import INTERRUPTED, Parser
from ...estimate import CONFIDENCE_95
from ...settings import SENSORS
from ..guide.identify_payload import parse, run
from ..program import Children, stop_flag

MASS_TOLERANCE, COM_TOLERANCE = 0.02, 0.005  # relative; m
WORDS = ("--mass-accuracy", "3", "--com-accuracy", "5", "--inertia-accuracy", "0",
         "--silence", "0.5")  # of a simulation on a busy machine
# A robot's controller runs in real time: the cobot goes before what plans and solves beside it.
BEHIND = 5
BIAS = "2.0,-1.5,3.0,0.05,-0.08,0.03"
# The arm stands exactly where its description says; its driver states what it compensates.
NODE = {"alignment.orientation_sd": "0.0", "alignment.position_sd": "0.001",
        "precompensated.source": "dynamic_joint_states",
        "precompensated.topic": "dynamic_joint_states", "precompensated.frame": "tool0",
        "apply.target": "universal_robots", "load.rated_payload": "10.0"}


def main() -> int:
    """Run the demo; returns the exit status (see --help)."""
    parser = Parser(
        prog="inertial_id_demo", description="identify_payload on a simulated cobot.",
        epilog="Exit status: that of identify_payload; 1 where what was identified is not true: "
        "mass within 2 %, centre of mass within 5 mm, or their intervals where these are wider.")
    add = parser.add_argument
    add("--payload", default="drill", choices=sorted(PAYLOADS), help="default: drill")
    add("--sensor", default="ati_gamma", choices=sorted(SENSORS),
        help="its sensor, with the errors of its data sheet (default: ati_gamma)")
    add("--ask", action="store_true", help="ask before the arm moves, as on a real one")
    add("--report", type=Path, default=Path("reports"), metavar="FOLDER",
        help="where the report is written (default: reports)")
    options = parser.parse_args()
    payload, stop = PAYLOADS[options.payload], stop_flag()
    if "ROS_DOMAIN_ID" not in os.environ:  # else the user has chosen it
        os.environ["ROS_DOMAIN_ID"] = str(random.SystemRandom().randint(1, 100))
        os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    with TemporaryDirectory() as state, Children() as children:
        children.start("simulate_cobot", [
            "--motion", "commanded", "--payload", options.payload, "--sensor", options.sensor,
            "--bias", BIAS])
        os.nice(BEHIND)
        node = {**NODE, "wrench.sensor": options.sensor, "state.directory": state}
        session = parse(
            [*WORDS, *([] if options.ask else ["--yes"]), "--report", str(options.report)],
            [word for name, value in node.items() for word in ("-p", f"{name}:={value}")])
        end, show = run(session, stop)
    if end.status == INTERRUPTED or show.found is None:
        return end.status
    report, sigma = show.found.report, show.found.sigma
    mass, com = abs(report[0] / payload.mass - 1.0), np.linalg.norm(report[1:4] - payload.com)
    # A poor sensor is allowed its interval.
    for_mass = max(MASS_TOLERANCE, CONFIDENCE_95 * float(sigma[0]) / payload.mass)
    for_com = max(COM_TOLERANCE, CONFIDENCE_95 * float(np.linalg.norm(sigma[1:4])))
    show.say(f"mass off by {mass:.2%} (allowed {for_mass:.1%})", bool(mass <= for_mass))
    show.say(f"centre of mass off by {com * 1e3:.2f} mm (allowed {for_com * 1e3:.1f} mm)",
             bool(com <= for_com))
    return end.status or int(not (mass <= for_mass and com <= for_com))
