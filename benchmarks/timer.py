"""Time of one solve on the timer's path, for each estimator and for windows of 1 s and 120 s.

    python benchmarks/timer.py

Two identifiers with these windows get the same simulated recording (500 Hz, bias, all alignment
states estimated); after every 50 ms of further data both are asked for an estimate in turn. The
table gives the medians, from the buffer's content to the estimate with covariance and verdict, and
of the part that the estimator itself takes.
"""

from __future__ import annotations

import os

for _threads in ("OMP", "OPENBLAS", "MKL", "RAYON"):
    os.environ[f"{_threads}_NUM_THREADS"] = "1"

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from inertial_id_ros.estimate import Estimate
from inertial_id_ros.identifier import Identifier
from inertial_id_ros.settings import Settings
from inertial_id_ros.simulation.cobot import Recording, SimulatedCobot
from inertial_id_ros.simulation.settings import CobotSettings

METHODS = {"lmi": {}, "density": {}, "manifold": {}, "entropic": {},
           "pmd": {"pmd.points": 136}}
WINDOWS = (1.0, 120.0)
RATE = 500
SOLVES, EVERY = 40, 0.05  # s of data between two solves
SHAPE = {"shape.type": "box", "shape.size": (0.2, 0.1, 0.3), "shape.center": (0.0, 0.0, 0.15)}


def main() -> None:
    """Entry point."""
    cobot = SimulatedCobot(CobotSettings(rate=RATE))
    recording = cobot.run(max(WINDOWS) + 2.0 + SOLVES * EVERY)
    print("| estimator | 1 s window, ms | 120 s window, ms | ratio | estimator alone, ms |")
    print("|---|---|---|---|---|")
    for method, changes in METHODS.items():
        whole, alone = _times(cobot, recording, {"estimator.method": method, **SHAPE, **changes})
        short, long = np.median(whole, axis=0)
        print(f"| `{method}` | {short:.2f} | {long:.2f} | {long / short:.2f} | "
              f"{np.median(alone):.2f} |", flush=True)


def _times(cobot: SimulatedCobot, recording: Recording,
           changes: dict) -> tuple[np.ndarray, np.ndarray]:
    """Times (SOLVES, windows) of whole solves and of the estimator alone [ms]."""
    identifiers = [_identifier(cobot, {**changes, "buffer.window": window}) for window in WINDOWS]
    step = round(EVERY * RATE)
    start = len(recording) - SOLVES * step
    for identifier in identifiers:
        for k in range(0, start, RATE):
            _push(identifier, cobot, recording, k, min(k + RATE, start))
            identifier.advance()
        identifier.solve()
    whole, alone = np.zeros((2, SOLVES, len(WINDOWS)))
    for i in range(SOLVES):
        for j, identifier in enumerate(identifiers):
            _push(identifier, cobot, recording, start + i * step, start + (i + 1) * step)
            identifier.advance()
            began = time.perf_counter()
            outcome = identifier.solve()
            whole[i, j] = 1e3 * (time.perf_counter() - began)
            if not isinstance(outcome, Estimate):
                raise SystemExit(f"error: no estimate: {outcome.reason}")
            alone[i, j] = 1e3 * outcome.solve_time
    return whole, alone


def _identifier(cobot: SimulatedCobot, changes: dict) -> Identifier:
    identifier = Identifier(Settings().replace(changes))
    identifier.set_robot_description(cobot.urdf)
    for t in cobot.static_transforms():
        identifier.add_static_transform(t.parent, t.child, t.translation, t.quaternion)
    return identifier


def _push(identifier: Identifier, cobot: SimulatedCobot, recording: Recording, first: int,
          end: int) -> None:
    names = list(cobot.joint_names)
    for k in range(first, end):
        stamp = 1_000_000_000_000 + round(recording.t[k] * 1e9)
        identifier.add_joint_state(stamp, names, recording.q[k])
        identifier.add_wrench(stamp, cobot.sensor_frame, recording.wrench[k, :3],
                              recording.wrench[k, 3:])


if __name__ == "__main__":
    main()
