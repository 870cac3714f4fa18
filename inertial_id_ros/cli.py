# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Starts the programs, reads their options, and says in one sentence what is missing or wrong.

Nothing heavy is imported here, so that a missing library is reported.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from .errors import InertialIdError, InvalidSetting, NotEnoughData, printable

VERSION = "0.2.0"  # as in package.xml
# Exit statuses; NOT_IDENTIFIED: an estimate whose data tell neither mass nor centre of mass.
OK, NO_ESTIMATE, USER_ERROR, NOT_IDENTIFIED, INTERRUPTED = 0, 1, 2, 3, 130
CHECK_FAILED, NOT_APPLIED = 4, 5  # of identify_payload
# The modules of the programs, which have a function `main`.
PROGRAMS = {
    "export_payload": "apps.export_payload", "identify_bag": "apps.bag.identify_bag",
    "identify_payload": "ros.guide.identify_payload", "identify_robot": "apps.robot.identify_robot",
    "inertial_id_demo": "ros.tools.demo", "inertial_id_node": "ros.node",
    "plan_excitation": "apps.excitation.plan_excitation",
    "simulate_cobot": "ros.tools.simulate_cobot"}
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> int:
    """Run the program by whose name this process was started, or that its first argument names, as
    in ``python -m inertial_id_ros.cli identify_bag``; returns the exit status."""
    name = Path(sys.argv[0]).stem
    return run_program(name if name in PROGRAMS else sys.argv.pop(1))


def run_program(name: str) -> int:
    """Load one of `PROGRAMS` and run its `main`; returns the exit status."""
    if name != "identify_robot":  # other matrices are so small that threads would wait longer
        for variable in _THREADS:  # for each other than they compute; what the user sets counts
            os.environ.setdefault(variable, "1")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # else not where a script starts it
    status = exit_status(lambda: int(import_module(f"inertial_id_ros.{PROGRAMS[name]}").main()))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # a launch file sends two, while Python ends, too
    return status


def exit_status(run: Callable[[], int]) -> int:
    """Run a tool; its exit status, where errors of this package and interrupts are one line."""
    try:
        return run()
    except InertialIdError as error:
        print(f"error: {error}", file=sys.stderr)
        return NO_ESTIMATE if isinstance(error, NotEnoughData) else USER_ERROR
    except ModuleNotFoundError as error:
        print(f"error: '{error.name}' is missing; source ROS 2 and a workspace in which this "
              "package is built (in its folder: make setup, then source ./activate), or install "
              "what PyPI has of it with `pip install .`", file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe, such as head, has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:  # a folder of others on the way to a file, a full disk
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {printable(f'{where}{error.strerror or error}')}", file=sys.stderr)
    except MemoryError:
        print("error: there is not enough memory for this input", file=sys.stderr)
    return USER_ERROR


class Parser(argparse.ArgumentParser):
    """A parser that raises InvalidSetting in place of leaving the program."""

    def error(self, message: str) -> NoReturn:
        """Raises InvalidSetting."""
        raise InvalidSetting(f"{message} (see {self.prog} --help)")


def names(text: str) -> tuple[str, ...]:
    """Names separated by commas, without the empty ones."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def numbers(what: str, text: str, wanted: str, count: int | None = None) -> tuple[float, ...]:
    """Numbers separated by commas, so many (None: any number); what: option and value, and wanted:
    what is expected, for the message (raises InvalidSetting)."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise InvalidSetting(f"{what}: expected {wanted}, separated by commas") from error
    if count is not None and len(values) != count:
        raise InvalidSetting(f"{what}: expected {wanted}; got {len(values)} numbers")
    return values


if __name__ == "__main__":
    raise SystemExit(main())
