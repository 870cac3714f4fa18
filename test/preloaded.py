# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Programs that start at once: forks of a process that has loaded the node's modules.

Loading takes a second of a processor, which hundreds of tests would each pay. What runs is the
program itself, with arguments, environment, output, process group and exit status of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

_LOADED = ("inertial_id_ros.ros.node", "inertial_id_ros.apps.simulation.cobot")
# Variables that count when a process starts, or when it loads a module.
_AT_START = ("LD_", "AMENT_", "RMW_", "RCUTILS_", "PYTHON", "ROS_PYTHON_", "OMP_", "MALLOC_",
             "FASTRTPS_", "FASTDDS_")
_LARGEST = 1 << 18  # bytes of a request
_STATUS = 64  # bytes of an answer


def can_run(command: Sequence[str]) -> bool:
    """Whether a command is a module or a script of this Python, as `Program` takes them."""
    return command[0] == sys.executable and (command[1] == "-m" or command[1].endswith(".py"))


class Program:
    """A program that runs, as `subprocess.Popen` shows one.

    Args:
        command: one that `can_run`; environment: all of its variables.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.args, self.returncode = command, None
        read, write = os.pipe()
        self._status, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        request = json.dumps([command[1:], dict(environment), os.getcwd()]).encode()
        server = _server(tuple(sorted((name, value) for name, value in environment.items()
                                      if name.startswith(_AT_START))))
        socket.send_fds(server, [request], [write, other.fileno()])
        os.close(write)
        other.close()
        self.stdout = os.fdopen(read)
        self.pid = int(self._status.recv(_STATUS))

    def poll(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        try:
            return self.wait(0.0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit status (raises subprocess.TimeoutExpired)."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            self.returncode = int(self._status.recv(_STATUS))
            self._status.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


_servers: dict[tuple[tuple[str, str], ...], socket.socket] = {}
_lock = threading.Lock()


def _server(at_start: tuple[tuple[str, str], ...]) -> socket.socket:
    """The socket of a process that forks programs, started with these variables; it ends with this
    process."""
    with _lock:
        if at_start not in _servers:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            subprocess.Popen(
                [sys.executable, str(Path(__file__).resolve()), str(theirs.fileno())],
                env={**os.environ, **dict(at_start)}, pass_fds=[theirs.fileno()],
                start_new_session=True)
            theirs.close()
            _servers[at_start] = ours
        return _servers[at_start]


def serve(requests: socket.socket) -> tuple[list[str], dict[str, str], str] | None:
    """Fork at each request until there are no more; in a fork, returns what is to run: a command
    without its interpreter, its variables and its folder. Its output is connected already."""
    running: dict[int, socket.socket] = {}
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno())
    while True:
        ready, _, _ = select.select([requests, woken], [], [])
        if woken in ready:
            woken.recv(_LARGEST)
            _report_ends(running)
        if requests not in ready:
            continue
        request, descriptors, _, _ = socket.recv_fds(requests, _LARGEST, 2)
        if not request:
            return None
        output, status = descriptors
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for end in (requests, woken, wake, *running.values()):
                end.close()
            os.close(status)
            os.setsid()
            for standard in (1, 2):
                os.dup2(output, standard)
            os.close(output)
            words, environment, folder = json.loads(request)
            return words, environment, folder
        os.close(output)
        running[pid] = socket.socket(fileno=status)
        running[pid].send(str(pid).encode())


def _report_ends(running: dict[int, socket.socket]) -> None:
    """Send the exit status of each program that has ended."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with running.pop(pid) as listener, contextlib.suppress(BrokenPipeError):
            listener.send(str(os.waitstatus_to_exitcode(status)).encode())


def _run(words: list[str], environment: dict[str, str], folder: str) -> None:
    """Be the program."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]
    if words[0] == "-m":
        sys.argv, sys.path[0] = words[1:], folder
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[0] = words, str(Path(words[0]).parent)
        runpy.run_path(words[0], run_name="__main__")


def _leave(run: Callable[[], None]) -> NoReturn:
    """Run a program and end without the destructors of libraries: that of LTTng, which rmw_fastrtps
    loads, cancels a thread that a fork does not have, and may crash on that."""
    status: object = 0
    try:
        run()
    except SystemExit as error:
        status = error.code or 0
        if not isinstance(status, int):
            print(status, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as Python does
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(status if isinstance(status, int) else 1)


if __name__ == "__main__":
    for name in _LOADED:
        importlib.import_module(name)
    gc.freeze()
    if (program := serve(socket.socket(fileno=int(sys.argv[1])))) is not None:
        _leave(lambda: _run(*program))
