# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Runs the cases, each in a process of its own, and says what came of them."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from inertial_id_ros.apps.bag.identify_bag import main as identify_bag
from inertial_id_ros.apps.excitation.plan_excitation import main as plan_excitation
from inertial_id_ros.apps.robot.identify_robot import main as identify_robot
from inertial_id_ros.apps.simulation.command_line import main as simulation
from inertial_id_ros.identification.state import StateFile

from .cases import KINDS
from .sound import Case, Sound

LIMIT = 20  # s of processor time of one run: other programs on the machine do not matter
_PATIENCE = 300.0  # s of one run by the clock, for one that waits instead of working
_MEMORY = 2_000_000_000  # bytes
_LONGEST = 3000  # characters of what is printed for a user who made a mistake
_OWN = 0.05  # part of the cases that are run by a Python process of their own, as a user does
_COMMAND = "import sys; from {0} import {1}; sys.argv[0] = '{2}'; sys.exit({1}({3}))"
_COMMANDS = {name: _COMMAND.format("inertial_id_ros.cli", name, name, "") for name in (
    "identify_bag", "identify_robot", "plan_excitation")} | {
    "simulation": _COMMAND.format("inertial_id_ros.apps.simulation.command_line", "main",
                                  "simulate_cobot", "sys.argv[1:]")}
_CONSISTENT = ("density", "lmi", "manifold", "pmd")
GOOD = ("estimate", "none", "refused")
BAD = ("traceback", "hang", "crash", "memory", "unclear", "wrong")


class Run(NamedTuple):
    """How a run ended: exit status (negative: signal; None: stopped), texts, memory [bytes]."""

    status: int | None
    out: str
    err: str
    memory: int


def read_state(arguments: Sequence[str]) -> int:
    """Load a state file as the node does."""
    state, complaint = StateFile(Path(arguments[0])).load()
    state.describe()
    if complaint:
        print(f"error: {complaint}", file=sys.stderr)
    return 2 if complaint else 0


TOOLS = {"identify_bag": identify_bag, "identify_robot": identify_robot,
         "plan_excitation": plan_excitation, "simulation": simulation, "state": read_state}


def run_tool(case: Case, folder: Path, own: bool = False) -> Run:
    """Run a tool in a copy of this process, in which everything is loaded.

    Args:
        own: by a Python process that begins from nothing, as a user does.
    """
    child = os.fork()
    if child == 0:
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
        resource.setrlimit(resource.RLIMIT_AS, (3 * _MEMORY, 3 * _MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
        if own:
            os.execv(sys.executable, [sys.executable, "-c", _COMMANDS[case.tool],
                                      *case.arguments])
        _leave(lambda: TOOLS[case.tool](case.arguments))
    status, memory = _wait(child)
    return Run(status, _text(folder / "out"), _text(folder / "err"), memory)


def _leave(tool: Callable[[], int]) -> None:
    """Run a tool and end the process with its exit status."""
    status = 70
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
    try:
        status = tool()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]  # an exception is here
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _wait(child: int) -> tuple[int | None, int]:
    """Exit status of a child, None where it had to be stopped, and its memory [bytes]."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return None if code == -signal.SIGXCPU else code, usage.ru_maxrss * 1024
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None, 0


def _text(file: Path) -> str:
    return file.read_text(errors="replace") if file.exists() else ""


def verdict(run: Run, case: Case, result: Path, sound: Sound) -> str:
    """One of GOOD or BAD."""
    if run.status is None:
        return "hang"
    if run.status < 0:
        return "crash"
    if "Traceback" in run.out + run.err or run.status not in (0, 1, 2):
        return "traceback"
    if run.memory > _MEMORY:
        return "memory"
    lines = run.err.splitlines()
    if run.status == 2:
        told = len(lines) == 1 and lines[0].startswith("error: ") and len(run.err) < _LONGEST
        return "refused" if told else "unclear"
    if any(not line.startswith("warning: ") for line in lines[run.status:]) or (
            len(run.err) > _LONGEST):
        return "unclear"
    if case.tool == "identify_bag" and not _right(run.status, case, result, sound):
        return "wrong"
    return "estimate" if run.status == 0 else "none"


def _right(status: int, case: Case, result: Path, sound: Sound) -> bool:
    """Whether the result file can be true: a body that exists, and the same one if unharmed."""
    told = json.loads(result.read_text())
    if status == 1:
        return not case.unharmed
    names = ("mass", "com", "inertia_com")
    if case.unharmed:
        return all(np.allclose(told[n], sound.result[n], rtol=1e-9, atol=1e-12) for n in names)
    mass, com, inertia = (np.array(told[n], dtype=float) for n in names)
    if told["method"] not in _CONSISTENT:
        return bool(np.isfinite([mass, *com, *inertia.ravel()]).all())
    moments = np.linalg.eigvalsh(inertia)
    return bool(np.isfinite(com).all() and mass > 0.0 and moments[0] >= 0.0
                and moments[2] <= (moments[0] + moments[1]) * (1.0 + 1e-9))


def run_case(sound: Sound, seed: int, number: int, folder: Path) -> tuple[str, str, Run, Case]:
    """Kind, verdict, and what was run."""
    rng = np.random.default_rng([seed, number])
    kind = list(KINDS)[number % len(KINDS)]
    case = KINDS[kind](sound, folder, rng)
    result = folder / "result.json"
    if case.tool == "identify_bag":
        quiet = ["--quiet"] if number % 3 else []
        case = Case(case.tool, [*case.arguments, *quiet, "--json", str(result)], case.unharmed)
    own = case.tool in _COMMANDS and np.random.default_rng([seed, number, 1]).random() < _OWN
    run = run_tool(case, folder, own)
    return kind, verdict(run, case, result, sound), run, case


def table(counts: Counter[tuple[str, str]]) -> str:
    """Kinds against outcomes, as Markdown."""
    rows = [f"| input | {' | '.join(GOOD + BAD)} |", "|---|" + "---|" * len(GOOD + BAD)]
    for kind in [*KINDS, "all"]:
        cells = [sum(n for (k, v), n in counts.items() if v == name and kind in (k, "all"))
                 for name in GOOD + BAD]
        rows.append(f"| {kind} | {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


class Told(NamedTuple):
    """What came of a case: its kind, outcome, and words about it if it was bad or asked for."""

    kind: str
    outcome: str
    words: str


class Campaign:
    """Runs cases by their numbers.

    Args:
        keep: folder in which the input is left; shown: also print cases that ended well.
    """

    def __init__(self, sound: Sound, seed: int, keep: Path | None, shown: bool) -> None:
        self._sound, self._seed, self._keep, self._shown = sound, seed, keep, shown

    def __call__(self, number: int) -> Told:
        with tempfile.TemporaryDirectory(dir=self._sound.folder) as inner:
            folder = self._keep or Path(inner)
            folder.mkdir(parents=True, exist_ok=True)
            kind, outcome, run, case = run_case(self._sound, self._seed, number, folder)
        words = (f"--seed {self._seed} --case {number} ({kind}): {outcome}, status {run.status}\n  "
                 f"{case.tool} {' '.join(case.arguments)[:500]}\n{run.err[-1500:]}")
        return Told(kind, outcome, words if self._shown or outcome in BAD else "")


_campaign: Campaign  # of a worker, which is a copy of the process that made it


def _run_number(number: int) -> Told:
    return _campaign(number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign; 1 if any case went wrong."""
    global _campaign
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutations", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--case", type=int, metavar="N", help="run this case alone, and show it")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave its input here")
    args = parser.parse_args(arguments)
    if args.keep is not None and args.case is None:
        parser.error("--keep needs --case")
    numbers = range(args.cases) if args.case is None else [args.case]
    counts: Counter[tuple[str, str]] = Counter()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        _campaign = Campaign(Sound(Path(name)), args.seed, args.keep, args.case is not None)
        with multiprocessing.get_context("fork").Pool(min(args.workers, len(numbers))) as pool:
            for told in pool.imap_unordered(_run_number, numbers):
                counts[told.kind, told.outcome] += 1
                if told.words:
                    print(told.words, flush=True)
    print(table(counts))
    print(f"{len(numbers)} cases in {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return int(any(outcome in BAD for _, outcome in counts))
