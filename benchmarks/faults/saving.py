# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.faults.saving`: the state is whole whatever happens while it is written.

A process writes one state after the other, as the services of the node do, and says before and
after each which one. It is killed at a random moment, or its disk is full or read-only. What the
file holds then must be the state before or the one after, and the one that was said.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from inertial_id_ros.findings import FindingLog
from inertial_id_ros.identification.state import State, StateFile, Tare
from inertial_id_ros.regression.tool import Tool
from inertial_id_ros.ros.services.saving import CannotSave, StateKeeper
from inertial_id_ros.settings import Settings

RESULT = Path(__file__).parent / "results" / "saving.md"
WARM = 20  # states that are written before the one that may be disturbed
STEP = 64  # bytes between the limits on the size of a file


class Row(NamedTuple):
    """How often a fault left which state: that before, that after, or anything else."""

    fault: str
    runs: int
    old: int
    new: int
    broken: int  # neither, or not the one that was answered
    partial: int  # temporary files that were left, and all gone after the next start


def state(number: int) -> State:
    """A state that can be told from others in every part."""
    tool = Tool("tool0", np.array([1.0 + number, *np.zeros(3), *[0.1, 0, 0, 0.1, 0, 0.1]]),
                np.eye(10) * (1.0 + number), number)
    return State(tool, Tare(np.full(6, float(number)), number, "tool0", {}))


def keeper(folder: Path) -> StateKeeper:
    """Keeps the state as the node does."""
    return StateKeeper(Settings().replace({"state.directory": str(folder)}), "/node", FindingLog())


def number_in_file(folder: Path) -> int:
    """The number of the state in the file; -1 where it is none, or not whole."""
    keeper(folder)  # a start, which removes temporary files
    read, complaint = StateFile(folder / "node.state.json").load()
    if complaint or read.tool is None or read.tare is None:
        return -1
    number = read.tare.stamp_ns
    expected = state(number)
    assert expected.tool is not None and expected.tare is not None
    same = (np.array_equal(read.tool.covariance, expected.tool.covariance)
            and np.array_equal(read.tare.reading, expected.tare.reading))
    return number if same else -1


def killed(folder: Path, rng: np.random.Generator, longest: float) -> tuple[int, int, int, int]:
    """Kill a process while it writes; gives the states that it began and finished to write, that
    in the file, and how many temporary files were left."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        keep = keeper(folder)
        for number in range(100_000):
            os.write(send, b"begin %d\n" % number)
            keep.keep(state(number))
            os.write(send, b"done %d\n" % number)
        os._exit(0)
    os.close(send)
    with os.fdopen(receive, "rb") as said:
        lines = [said.readline() for _ in range(2 * WARM + 1)]
        time.sleep(rng.uniform(0.0, longest))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines += [line for line in said.read().splitlines(keepends=True) if line.endswith(b"\n")]
    began, done = (max(int(line.split()[1]) for line in lines if line.startswith(word))
                   for word in (b"begin", b"done"))
    left = len(list(folder.glob(".partial-*")))
    return began, done, number_in_file(folder), left


def kill_at_random(runs: int, seed: int) -> Row:
    """Kill processes at random moments."""
    rng, count, left = np.random.default_rng(seed), Counter[str](), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.perf_counter()
        for number in range(WARM):
            keeper(folder).keep(state(number))
        longest = 3.0 * (time.perf_counter() - began) / WARM
        for _ in range(runs):
            begun, done, found, partial = killed(folder, rng, longest)
            left += partial
            count["new" if found == begun else "old" if found == done == begun - 1
                  else "broken"] += 1
        assert not list(folder.glob(".partial-*")), "a start has left temporary files"
    return Row("kill -9 at a random moment", runs, count["old"], count["new"], count["broken"],
               left)


def limited(folder: Path, disturb: Callable[[], None],
            mend: Callable[[], None] = lambda: None) -> tuple[bool, int]:
    """Write one more state in a process with a fault; whether it said that it did, and the number
    in the file once the fault is mended."""
    child = os.fork()
    if child == 0:
        keep = keeper(folder)
        disturb()
        try:
            keep.keep(state(1))
        except CannotSave:
            os._exit(1)
        except BaseException:
            os._exit(2)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 1), f"the process ended with {status}"
    mend()
    return status == 0, number_in_file(folder)


def tally(fault: str, outcomes: Iterator[tuple[bool, int]]) -> Row:
    """Count outcomes: the state before is 0, the one after is 1."""
    count = Counter("broken" if found != int(said) else "new" if found else "old"
                    for said, found in outcomes)
    return Row(fault, count.total(), count["old"], count["new"], count["broken"], 0)


def small_files() -> Iterator[tuple[bool, int]]:
    """No file may be larger than so many bytes, as where a disk is full after them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keeper(folder).keep(state(0))
        size = (folder / "node.state.json").stat().st_size
        for limit in range(0, size + 2 * STEP, STEP):
            keeper(folder).keep(state(0))
            yield limited(folder, lambda limit=limit: resource.setrlimit(  # type: ignore[misc]
                resource.RLIMIT_FSIZE, (limit, limit)))


@contextmanager
def small_disk(size: int) -> Iterator[Path | None]:
    """A file system of so many bytes; None where this process may not mount one."""
    with tempfile.TemporaryDirectory() as name:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", name]
        if subprocess.run(mount, capture_output=True).returncode:
            yield None
            return
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", name], check=True)


def full_disk() -> Iterator[tuple[bool, int]]:
    """A real file system with few free pages."""
    with small_disk(1 << 16) as folder:
        if folder is None:
            return
        keeper(folder).keep(state(0))
        for pages in range(0, 12):
            (folder / "filler").unlink(missing_ok=True)
            keeper(folder).keep(state(0))
            fill(folder / "filler", pages)
            yield limited(folder, lambda: None)


def fill(path: Path, pages: int) -> None:
    """Fill a file system but for so many pages."""
    free = os.statvfs(path.parent).f_bavail
    path.write_bytes(bytes(4096 * max(free - pages, 0)))


def read_only_disk() -> Iterator[tuple[bool, int]]:
    """A real file system that turns read-only, as after an error of the disk."""
    with small_disk(1 << 20) as folder:
        if folder is None:
            return
        keeper(folder).keep(state(0))

        def remount(mode: str) -> None:
            subprocess.run(["mount", "-o", f"remount,{mode}", str(folder)], check=True)

        yield limited(folder, lambda: remount("ro"), lambda: remount("rw"))


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| fault | runs | state before | state after | neither, or not as answered | "
             "temporary files left, removed at the next start |", "|---|---|---|---|---|---|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Entry point; the exit status is 1 where a state was broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults.saving",
                                     description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args(arguments)
    rows = [kill_at_random(options.kills, options.seed),
            tally("disk full (files limited to so many bytes)", small_files()),
            tally("disk full (tmpfs, so many pages free)", full_disk()),
            tally("disk turned read-only", read_only_disk())]
    text = table([row for row in rows if row.runs])
    print(text)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text)
    return int(any(row.broken for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
