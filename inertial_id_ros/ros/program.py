# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""What every program of ROS does with its arguments, with signals, and with processes of its own,
which live no longer than it.
"""

from __future__ import annotations

import ctypes
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import IO

from rclpy.utilities import remove_ros_args

from ..errors import InvalidSetting
from ..ros import compat


def start_ros(program: str, words: Sequence[str]) -> None:
    """Start rclpy with the ROS arguments among the words that follow the program's name.

    Raises:
        InvalidSetting: ROS does not understand them.
    """
    with _explain_refusal():
        compat.init([program, *words])


def without_ros_arguments(program: str, words: Sequence[str]) -> list[str]:
    """The words of a command line without its ROS arguments.

    Raises:
        InvalidSetting: ROS does not understand its own.
    """
    with _explain_refusal():
        return remove_ros_args([program, *words])[1:]


# What failed within ROS, and lines of its sources.
_NOISE = re.compile(
    r"^(failed to initialize rcl|Failed to parse ROS arguments): |,? at \S+\.c(pp)?:\d+")


def without_sources(text: str) -> str:
    """A message of rcl as one line that names no lines of its sources."""
    return _NOISE.sub("", " ".join(text.split()))


@contextmanager
def _explain_refusal() -> Iterator[None]:
    """Turn an error of ROS about its arguments into an InvalidSetting that names no sources."""
    try:
        yield
    except Exception as error:  # rclpy has no public base class for bad ROS arguments
        raise InvalidSetting(f"ROS arguments: {without_sources(str(error))}") from error


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def stop_flag() -> threading.Event:
    """An event that is set by every SIGINT and SIGTERM from now on."""
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in _SIGNALS:
        signal.signal(number, ask)
    return stop


def leave_in_time(stop: threading.Event, patience: float, leave: Callable[[], object]) -> None:
    """Call `leave` this long [s] after a stop, wherever the other threads are by then; a process
    that has ended before is not affected."""

    def wait() -> None:
        stop.wait()
        time.sleep(patience)
        leave()

    threading.Thread(target=wait, name="end", daemon=True).start()


def ignore_signals() -> None:
    """Have signals do nothing any more: while Python ends, it puts the default actions back, and a
    launch file sends SIGINT twice."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


_PR_SET_PDEATHSIG = 1  # prctl: signal that a child gets when its parent dies
_GRACE = 4.0  # s to end after a signal
_PARTICIPANTS = 16  # of a domain, of which the first may have left
_claims: deque[socket.socket] = deque(maxlen=15)


def private_environment() -> dict[str, str]:
    """This process's environment, in a ROS domain of its own on this machine if none is set."""
    environment = dict(os.environ)
    if "ROS_DOMAIN_ID" not in environment:
        environment["ROS_DOMAIN_ID"] = str(unused_domain())
        environment.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")  # Iron and newer
        environment.setdefault("ROS_LOCALHOST_ONLY", "1")  # Humble
    if "ROS_AUTOMATIC_DISCOVERY_RANGE" in environment and _is_newer_than_humble():
        environment.pop("ROS_LOCALHOST_ONLY", None)  # there it warns, and overrides
    return environment


def unused_domain() -> int:
    """A random ROS domain, 1 to 100, in which nobody on this machine seems to be, and that nobody
    else is given who asks here at the same time."""
    domains = random.SystemRandom().sample(range(1, 101), 100)
    return next((domain for domain in domains if _is_empty(domain) and _claim(domain)), domains[0])


def _is_empty(domain: int) -> bool:
    """Whether the ports of the domain's first participants are free (DDSI-RTPS 2.5, 9.6.1.1)."""
    for participant in range(_PARTICIPANTS):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("", 7400 + 250 * domain + 10 + 2 * participant))
            except OSError:
                return False
    return True


def _claim(domain: int) -> bool:
    """Whether nobody has just chosen a domain: until its first process is up, no port shows it.

    A socket without a file, which Linux alone has, holds the claim until this process has chosen
    some more domains, or ends.
    """
    if sys.platform != "linux":
        return True
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0inertial_id_ros.domain.{domain}")
    except OSError:
        claim.close()
        return False
    if len(_claims) == _claims.maxlen:
        _claims[0].close()
    _claims.append(claim)
    return True


def _is_newer_than_humble() -> bool:
    return os.environ.get("ROS_DISTRO", "jazzy") not in ("humble", "galactic", "foxy")


class Children:
    """Python modules run as processes; a context manager that ends them on every way out."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._running: list[tuple[str, subprocess.Popen[bytes], IO[bytes]]] = []

    def start(self, module: str, arguments: Sequence[str]) -> None:
        """Start a module; what it writes is kept for `describe_ended`."""
        output = tempfile.TemporaryFile()
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments], env=self._environment,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            preexec_fn=_die_with_parent)
        self._running.append((module, process, output))

    def describe_ended(self) -> str:
        """Name, exit status and last line of output of the first process that has ended by itself;
        empty while all run."""
        for module, process, output in self._running:
            if process.poll() is not None:
                output.seek(0)
                last = output.read().decode(errors="replace").strip().splitlines()[-1:]
                return f"{module.split('.')[-1]} ended with status {process.returncode}" + (
                    f": {last[0]}" if last else "")
        return ""

    def __enter__(self) -> Children:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        for number in (signal.SIGINT, signal.SIGKILL):
            for _, process, _ in self._running:
                if process.poll() is None:
                    process.send_signal(number)
            if self._all_ended():
                break
        for _, _, output in self._running:
            output.close()

    def _all_ended(self) -> bool:
        for _, process, _ in self._running:
            try:
                process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                return False
        return True


def _die_with_parent() -> None:
    """In the child: end when the parent is killed (Linux; elsewhere nothing)."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    except (OSError, AttributeError):
        pass
