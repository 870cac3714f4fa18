# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Faults injected into the joint torques of a simulated arm, as a table; `--ordinary` without any.

    python -m benchmarks.faults.torques [--runs 3] [--ordinary 600]
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.joint_torque import identified_arm, wide_motion
from inertial_id_ros.inertia import Array
from inertial_id_ros.robot.robot_file import save_robot

from .stream import JOINTS, SECOND, Message
from .torque_stream import (
    NAMES,
    Carried,
    Push,
    TorqueStream,
    motion_of,
    simulated,
    stream,
    with_effort,
)
from .trial import Report, run

AT, LASTS, DURATION = 6.0, 1.5, 20.0  # s
MASS = 2.0  # kg
MOTIONS = ("smooth", "moves")
Change = Callable[[TorqueStream], TorqueStream]
FOUND_BY_NOISE = ("verdict", "joint_residual")


class Fault(NamedTuple):
    """What is injected at AT, and the finding that should name it.

    Attributes:
        carried: masses over time; pushes: forces; change: of the messages.
        since: from when on it could be found [s]; wrong_all_along: no estimate can be right.
    """

    name: str
    finding: str
    carried: tuple[Carried, ...] = (Carried(0.0, MASS),)
    pushes: tuple[Push, ...] = ()
    change: Change | None = None
    settings: dict[str, Any] | None = None
    since: float = AT
    wrong_all_along: bool = False


def _scraping(t: float) -> Array:
    return np.array([9.0 + 3.0 * np.sin(9.0 * t), 4.0 * np.cos(7.0 * t),
                     6.0 + 2.0 * np.sin(5.0 * t)])


def _while_on(change: Callable[[Message], list[Message]]) -> Change:
    """Messages of the fault's time become others."""
    return lambda s: s.rewritten(
        JOINTS, lambda t, m: change(m) if AT <= t < AT + LASTS else [m])


def _always(change: Callable[[Array], Array], since: float = 0.0) -> Change:
    """Efforts become others from some time on."""
    return lambda s: s.rewritten(JOINTS, lambda t, m: [
        with_effort(m, change(np.array(m.arguments[3]))) if t >= since else m])


def _later(message: Message, by: float) -> Message:
    """The same message under another stamp [s]."""
    return message._replace(arguments=(message.arguments[0] + round(by * SECOND),
                                       *message.arguments[1:]))


def _jumped(s: TorqueStream) -> TorqueStream:
    return s.rewritten(JOINTS, lambda t, m: [_later(m, -60.0) if t >= AT else m])


def _delayed(s: TorqueStream) -> TorqueStream:
    """Every tenth message of the fault's time arrives half a second late."""
    return s.rewritten(JOINTS, lambda t, m: [m._replace(arrival=m.arrival + SECOND // 2) if (
        AT <= t < AT + LASTS and m.arrival // 4_000_000 % 10 == 0) else m])


def _efforts(change: Callable[[Array], Array]) -> Change:
    return _while_on(lambda m: [with_effort(m, change(np.array(m.arguments[3])))])


def _of(joint: int, value: float) -> Callable[[Array], Array]:
    return lambda effort: np.where(np.arange(len(effort)) == joint, value, effort)


_PUSH = Push(AT, AT + LASTS, "ft_sensor", lambda t: np.array([10.0, -15.0, 20.0]))
_SHIFT = np.array([0.0, 6.0, -4.0, 2.0, 0.0, 0.0])  # N m
_TURN_ONE = np.array([1.0, -1.0, 1.0, 1.0, 1.0, 1.0])
FAULTS = (
    Fault("contact at the tool, a push of 27 N", "contact", pushes=(_PUSH,)),
    Fault("contact at the tool, scraping", "contact", pushes=(
        Push(AT, AT + LASTS, "ft_sensor", _scraping),)),
    Fault("contact at the forearm, 60 N", "contact", pushes=(
        Push(AT, AT + LASTS, "forearm_link", lambda t: np.array([35.0, 35.0, -35.0])),)),
    Fault("released, 2 kg", "payload_changed", (Carried(0.0, MASS), Carried(AT, 0.0))),
    Fault("gripped, 2 kg", "payload_changed", (Carried(0.0, 0.0), Carried(AT, MASS))),
    Fault("exchanged, 2 kg for 1 kg", "payload_changed", (Carried(0.0, MASS), Carried(AT, 1.0))),
    Fault("zero of the torques moves by 2 to 6 N m", "zero_moved.joints",
          change=_always(lambda e: e + _SHIFT, AT)),
    Fault("NaN for 1.5 s", "samples_invalid.joints", change=_efforts(lambda e: np.full(6, np.nan))),
    Fault("a torque at its limit for 1.5 s", "samples_saturated.joints", change=_efforts(
        _of(1, 150.0))),
    Fault("efforts missing for 1.5 s", "joint_states_incomplete.efforts", change=_while_on(
        lambda m: [m._replace(arguments=(*m.arguments[:3], []))])),
    Fault("a joint missing for 1.5 s", "joint_states_incomplete", change=_while_on(
        lambda m: [m._replace(arguments=(m.arguments[0], NAMES[1:], m.arguments[2][1:],
                                         m.arguments[3][1:]))])),
    Fault("nothing for 1.5 s", "samples_missing.joints", change=_while_on(lambda m: [])),
    Fault("every message twice", "samples_repeated.joints", change=_while_on(lambda m: [m, m])),
    Fault("a tenth of them 0.5 s late", "samples_late.joints", change=_delayed),
    Fault("the clock jumps back by a minute", "reset", change=_jumped),
    Fault("all torques with the other sign", "sign_wrong", change=_always(lambda e: -e),
          since=0.0, wrong_all_along=True),
    Fault("one joint with the other sign", "sign_wrong", change=_always(lambda e: _TURN_ONE * e),
          since=0.0, wrong_all_along=True),
    Fault("wrench.sensor_frame on the forearm", "robot_wrong",
          settings={"wrench.sensor_frame": "forearm_link"}, since=0.0, wrong_all_along=True),
    Fault("robot identified with 3 kg in its hand", "robot_wrong.mass", settings={"loaded": True},
          carried=(Carried(0.0, 0.0),), since=0.0, wrong_all_along=True),
)


class Robots(NamedTuple):
    """Robot files: identified without payload, and with one that nobody took off."""

    free: str
    loaded: str


def identified(folder: Path, mass: float, duration: float = 30.0) -> str:
    """The file of the arm, identified while it carries this [kg]."""
    motion = wide_motion(duration, harmonics=round(0.6 * duration))
    path = folder / f"arm_{mass:g}.robot"
    save_robot(path, identified_arm(simulated(motion, duration, (Carried(0.0, mass),))))
    return str(path)


def play(fault: Fault | None, motion: str, seed: int, robots: Robots, duration: float = DURATION,
         ) -> Report:
    """One run; None: without fault."""
    fault = fault or Fault("", "")
    changes = dict(fault.settings or {})
    robot = robots.loaded if changes.pop("loaded", False) else robots.free
    samples = stream(simulated(motion_of(motion, duration, seed), duration, fault.carried,
                               fault.pushes, seed), fault.carried, robot)
    if fault.change is not None:
        samples = fault.change(samples)
    return run(samples, changes, fault.wrong_all_along)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="of each motion (default 3)")
    parser.add_argument("--ordinary", type=float, metavar="SECONDS",
                        help="this long without any fault, of each motion and load")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.ordinary:
            _ordinary(Robots(identified(Path(folder), 0.0), ""), options.ordinary)
            return
        robots = Robots(identified(Path(folder), 0.0), identified(Path(folder), 3.0))
        _table(robots, options.runs)


def _table(robots: Robots, runs: int) -> None:
    clean = [play(None, motion, seed, robots).errors for motion in MOTIONS for seed in range(runs)]
    print("| fault | found | seconds to find (median, largest) | mass error after, without, % | "
          "COM error after, without, mm | wrong estimates |\n|---|---|---|---|---|---|")
    for fault in FAULTS:
        reports = [play(fault, motion, seed, robots) for motion in MOTIONS for seed in range(runs)]
        times = sorted(t for r in reports if (t := r.found(fault.finding, fault.since)) is not None)
        found = f"{times[len(times) // 2]:.2f}, {times[-1]:.2f}" if times else "-"
        errors = [r.errors if r.truth and r.truth.mass > 0.0 else None for r in reports]
        print(f"| {fault.name} | {len(times)}/{len(reports)} | {found} | "
              f"{_worst(errors, 0, 100.0)}, {_worst(clean, 0, 100.0)} | "
              f"{_worst(errors, 1, 1e3)}, {_worst(clean, 1, 1e3)} | "
              f"{sum(len(r.wrong) for r in reports)} |", flush=True)
        for report in reports:
            for when, what in report.wrong[:2]:
                print(f"<!-- {when:.2f} s: {what} -->", flush=True)


def _worst(errors: list[tuple[float, float] | None], k: int, scale: float) -> str:
    values = [e[k] * scale for e in errors if e is not None]
    return f"{max(values):.2f}" if values else "no estimate"


def _ordinary(robots: Robots, duration: float) -> None:
    print("| motion | load, kg | s | alarms | wrong estimates |\n|---|---|---|---|---|")
    for motion in MOTIONS:
        for mass in (0.0, MASS):
            carried = (Carried(0.0, mass),)
            samples = stream(simulated(motion_of(motion, duration, 7), duration, carried),
                             carried, robots.free)
            report = run(samples, {})
            alarms = [(round(t, 2), name) for t, name in report.news
                      if name not in FOUND_BY_NOISE]
            print(f"| {motion} | {mass:g} | {duration:g} | {len(alarms)} {alarms or ''} | "
                  f"{len(report.wrong)} |", flush=True)


if __name__ == "__main__":
    main()
