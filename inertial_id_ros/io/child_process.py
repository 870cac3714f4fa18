# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Work on data from outside in a process of its own, under bounds of time and memory.

Parsers written in C hold the interpreter's lock while they run, so that a hostile input would stop
every thread of a node. The other process is a fresh interpreter: a fork of a process with threads
may lock up, and would hold the memory of the node.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import NamedTuple

from .. import errors
from ..errors import InertialIdError

_START = ("import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
          "from inertial_id_ros.io.child_process import answer; answer(*sys.argv[2:])")
_DONE, _REFUSED = b"+", b"-"  # first byte of an answer
_NICE = 5  # priority is left to the process that identifies


class Bounds(NamedTuple):
    """What a piece of work may take: processor time [s], time by the clock [s], memory [bytes]
    beside that of the libraries."""

    processor: int = 10
    clock: float = 30.0
    memory: int = 500_000_000


class ChildProcess:
    """Runs one function at a time, each in a process of its own."""

    def __init__(self, bounds: Bounds = Bounds()) -> None:  # noqa: B008  # it cannot change
        self._bounds = bounds
        self._turn, self._guard = threading.Lock(), threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self, function: str, data: bytes, what: str, error: type[InertialIdError]) -> bytes:
        """What a function of bytes returns in another process.

        Args:
            function: ``module:name``; it takes and returns bytes.
            what: the data in words, for messages.

        Raises:
            InertialIdError: what the function raises; `error` where it exceeds the bounds.
        """
        with self._turn:
            process = self._start(function, what, error)
            try:
                reply = process.communicate(data, self._bounds.clock)[0]
            except subprocess.TimeoutExpired:
                raise error(f"{what} takes longer than {self._bounds.clock:g} s to read") from None
            finally:
                process.kill()
                process.wait()
        if reply[:1] == _DONE:
            return reply[1:]
        if reply[:1] == _REFUSED:
            name, text = json.loads(reply[1:])
            raise getattr(errors, name)(text)
        raise error(self._describe_end(process.returncode, what))

    def _start(self, function: str, what: str,
               error: type[InertialIdError]) -> subprocess.Popen[bytes]:
        with self._guard:
            if self._stopped:
                raise error(f"{what} was not read, because the program stops")
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, json.dumps(sys.path), function,
                 *map(str, self._bounds)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                start_new_session=True)  # Ctrl-C is for the program
            return self._process

    def stop(self) -> None:
        """End what runs, and start nothing more; from any thread."""
        with self._guard:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def _describe_end(self, status: int, what: str) -> str:
        """Why a process ended without an answer."""
        if self._stopped:
            return f"{what} was not read, because the program stops"
        if status in (-signal.SIGXCPU, -signal.SIGKILL):
            return f"{what} takes more than {self._bounds.processor} s of processor time to read"
        return f"{what} breaks the parser (exit status {status})"


def answer(function: str, processor: str, _clock: str, memory: str) -> None:
    """In the other process: run a function on standard input, and write its answer."""
    os.nice(_NICE)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries that print must not spoil the answer
    module, _, name = function.partition(":")
    work: Callable[[bytes], bytes] = getattr(import_module(module), name)
    _limit(int(processor), int(memory))
    try:
        reply = _DONE + work(sys.stdin.buffer.read())
    except InertialIdError as error:
        reply = _REFUSED + json.dumps([type(error).__name__, str(error)]).encode()
    except MemoryError:
        reply = _REFUSED + json.dumps(["InvalidData", "this needs more memory than the "
                                       f"{int(memory) // 1_000_000} MB that are allowed"]).encode()
    out.write(reply)
    out.flush()
    os._exit(0)


def _limit(processor: int, memory: int) -> None:
    """Bound processor time [s] and, on Linux, memory [bytes] of this process beyond what the
    libraries have taken; it leaves no core dump."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(usage.ru_utime + usage.ru_stime) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (spent + processor, spent + processor + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            taken = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # not Linux: no limit that counts libraries apart
        return
    resource.setrlimit(resource.RLIMIT_AS, (taken + memory, taken + memory))


_LONGEST = 20_000  # bytes that are kept
# A message of the URDF parser, with the line that says where in its sources it arose.
_COMPLAINT = re.compile(rb"^(?:Error|Warning): .*?\n +at line \d+ in [^\n]*\n", re.M | re.S)
_lock = threading.Lock()  # there is one standard error


@contextmanager
def capture_complaints() -> Iterator[list[str]]:
    """Capture what the URDF parser prints on standard error in a block, as lines, when it ends;
    what other threads log meanwhile is written when the block ends."""
    lines: list[str] = []
    with _lock, tempfile.TemporaryFile() as file:
        try:
            before = os.dup(2)
        except OSError:  # a daemon may have closed it
            yield lines
            return
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(before, 2)
            os.close(before)
            text = os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)
            complaints = b"".join(_COMPLAINT.findall(text))[:_LONGEST]
            lines += complaints.decode(errors="replace").splitlines()
            if others := _COMPLAINT.sub(b"", text):
                os.write(2, others)
