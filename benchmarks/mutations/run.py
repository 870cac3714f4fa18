"""Runs the cases, each in a process of its own, and says what came of them."""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from inertial_id_ros.bag.identify_bag import main as identify_bag
from inertial_id_ros.excitation.plan_excitation import main as plan_excitation
from inertial_id_ros.simulation.command_line import main as simulation
from inertial_id_ros.state import StateFile

from .cases import KINDS, Case, Sound

LIMIT = 20.0  # s of one run
_MEMORY = 2_000_000_000  # bytes
_LONGEST = 3000  # characters of what is printed for a user who made a mistake
_OWN = 20  # every so many cases a Python process of its own, as a user starts it
_MODULES = {"identify_bag": "inertial_id_ros.bag.identify_bag",
            "plan_excitation": "inertial_id_ros.excitation.plan_excitation",
            "simulation": "inertial_id_ros.simulation.command_line"}
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


TOOLS = {"identify_bag": identify_bag, "plan_excitation": plan_excitation,
         "simulation": simulation, "state": read_state}


def forked(case: Case, folder: Path) -> Run:
    """Run a tool in a copy of this process, in which everything is loaded."""
    child = os.fork()
    if child == 0:
        status = 70
        try:
            for number, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
            _bound_memory()
            status = TOOLS[case.tool](case.arguments)
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 1
        except BaseException:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]  # an exception is here
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    status, memory = _wait(child)
    return Run(status, _text(folder / "out"), _text(folder / "err"), memory)


def _wait(child: int) -> tuple[int | None, int]:
    """Exit status of a child, None where it had to be stopped, and its memory [bytes]."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None, 0


def _bound_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (3 * _MEMORY, 3 * _MEMORY))


def own_process(case: Case, folder: Path) -> Run:
    """Run a tool as a user does."""
    code = (f"import sys; from {_MODULES[case.tool]} import main; sys.exit(main(sys.argv[1:]))")
    try:
        done = subprocess.run([sys.executable, "-c", code, *case.arguments], capture_output=True,
                              text=True, errors="replace", timeout=LIMIT + 10.0, check=False)
    except subprocess.TimeoutExpired:
        return Run(None, "", "", 0)
    return Run(done.returncode, done.stdout, done.stderr, 0)


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
    own = number % _OWN == 0 and case.tool in _MODULES
    run = (own_process if own else forked)(case, folder)
    return kind, verdict(run, case, result, sound), run, case


def table(counts: Counter[tuple[str, str]]) -> str:
    """Kinds against outcomes, as Markdown."""
    rows = [f"| input | {' | '.join(GOOD + BAD)} |", "|---|" + "---|" * len(GOOD + BAD)]
    for kind in [*KINDS, "all"]:
        cells = [sum(n for (k, v), n in counts.items() if v == name and kind in (k, "all"))
                 for name in GOOD + BAD]
        rows.append(f"| {kind} | {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign; 1 if any case went wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutations", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--case", type=int, metavar="N", help="run this case alone, and show it")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave its input here")
    args = parser.parse_args(arguments)
    numbers = range(args.cases) if args.case is None else [args.case]
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as name:
        sound = Sound(Path(name))
        for number in numbers:
            with tempfile.TemporaryDirectory(dir=name) as inner:
                folder = Path(inner) if args.keep is None else args.keep
                folder.mkdir(parents=True, exist_ok=True)
                kind, outcome, run, case = run_case(sound, args.seed, number, folder)
            counts[kind, outcome] += 1
            if outcome in BAD or args.case is not None:
                print(f"--seed {args.seed} --case {number} ({kind}): {outcome}, status "
                      f"{run.status}\n  {case.tool} {' '.join(case.arguments)[:500]}\n"
                      + run.err[-1500:], flush=True)
    print(table(counts))
    return int(any(outcome in BAD for _, outcome in counts))
