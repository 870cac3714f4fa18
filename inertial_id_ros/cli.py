# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Entry points of the executables: they load the program, and say what is missing if they cannot.

Nothing heavy is imported here, so that a signal during the second that the libraries take to load
ends the process quietly, and a missing library is reported in one sentence. `exit_status` holds how
every program reports its errors.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import Any

from .errors import InertialIdError, MissingPackage, NotEnoughData, printable

# Exit statuses; NOT_IDENTIFIED: an estimate whose data tell neither mass nor centre of mass.
OK, NO_ESTIMATE, USER_ERROR, NOT_IDENTIFIED, INTERRUPTED = 0, 1, 2, 3, 130
CHECK_FAILED, NOT_APPLIED = 4, 5  # of identify_payload
# Where the package on PyPI has another name than the module.
_PIP_NAMES = {"pinocchio": "pin", "yaml": "PyYAML"}
_ROS_ENDINGS = ("_msgs", "_interfaces", "_srvs")
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_ROS_MODULES = ("rclpy", "rpyutils", "tf_transformations", "ament_index_python")


def export_payload() -> int:
    """Write a saved estimate for planners and simulators; returns the exit status."""
    return _run_tool("inertial_id_ros.apps.export_payload")


def identify_bag() -> int:
    """Identify the payload of a recording; returns the exit status."""
    compute_in_one_thread()
    return _run_tool("inertial_id_ros.apps.bag.identify_bag")


def identify_payload() -> int:
    """Lead from an unknown load to a robot that knows it; returns the exit status."""
    compute_in_one_thread()
    return _run_node("inertial_id_ros.ros.guide.identify_payload")


def identify_robot() -> int:
    """Identify a robot from its joint torques; returns the exit status."""
    return _run_tool("inertial_id_ros.apps.robot.identify_robot")


def inertial_id_demo() -> int:
    """The demo; returns the exit status."""
    return _run_node("inertial_id_ros.ros.tools.demo")


def inertial_id_node() -> int:
    """The identification node; returns the exit status."""
    compute_in_one_thread()
    return _run_node("inertial_id_ros.ros.main")


def plan_excitation() -> int:
    """Plan a motion that shows inertial parameters; returns the exit status."""
    compute_in_one_thread()
    return _run_tool("inertial_id_ros.apps.excitation.plan_excitation")


def simulate_cobot() -> int:
    """The simulated cobot; returns the exit status."""
    return _run_node("inertial_id_ros.ros.tools.simulate_cobot")


def _run_node(module: str) -> int:
    """Run a ROS program, which takes over the signals itself; stopping it early is no failure."""
    _exit_on_signals(OK, signal.SIGINT, signal.SIGTERM)
    return _run(module)


def _run_tool(module: str) -> int:
    """Run a program that an interrupt ends: with KeyboardInterrupt, once it is loaded."""
    _exit_on_signals(INTERRUPTED, signal.SIGINT)
    return _run(module, lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


def _run(module: str, when_loaded: Callable[[], object] = lambda: None) -> int:
    """Load a module and run its `main`; returns the exit status."""
    try:
        main = _load(module).main
        when_loaded()
        return int(main())
    except MissingPackage as error:
        print(f"error: {error}", file=sys.stderr)
        return USER_ERROR
    except ModuleNotFoundError as error:
        print(f"error: {_missing(error)}", file=sys.stderr)
        return USER_ERROR


def _load(module: str) -> Any:
    """Load a module without looking for garbage, now and later: what modules make stays, and the
    looks take a tenth of the time."""
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.freeze()
        gc.enable()


def exit_status(run: Callable[[], int]) -> int:
    """Run a tool; its exit status, where errors of this package and interrupts are one line."""
    try:
        return run()
    except InertialIdError as error:
        print(f"error: {error}", file=sys.stderr)
        return NO_ESTIMATE if isinstance(error, NotEnoughData) else USER_ERROR
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe, such as head, has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:  # a folder of others on the way to a file, a full disk
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {printable(f'{where}{error.strerror or error}')}", file=sys.stderr)
        return USER_ERROR
    except MemoryError:
        print("error: there is not enough memory for this input", file=sys.stderr)
        return USER_ERROR


def _exit_on_signals(status: int, *signals: signal.Signals) -> None:
    """Have these signals end the process at once with this status: nothing is open yet."""

    def leave(number: int, frame: FrameType | None) -> None:
        os._exit(status)

    for number in signals:
        signal.signal(number, leave)


def compute_in_one_thread() -> None:
    """Have the linear algebra that is loaded later use one thread, unless the user sets another
    number: matrices are so small that threads wait for each other longer than they compute, and
    only take processor time that the robot's driver needs."""
    for name in _THREADS:
        os.environ.setdefault(name, "1")


def _missing(error: ModuleNotFoundError) -> str:
    """What is missing, and how to get it.

    Raises:
        ModuleNotFoundError: a module of this package is missing, which no user can mend.
    """
    name = error.name or ""
    top = name.partition(".")[0]
    if name.startswith(("inertial_id_ros.msg", "inertial_id_ros.srv", "inertial_id_ros.action")):
        return ("the messages of inertial_id_ros are not built or not on the Python path; build "
                "the package (colcon build, or make setup) and source the result")
    if not top or top == "inertial_id_ros":
        raise error
    if top in _ROS_MODULES or top.endswith(_ROS_ENDINGS):
        return (f"the ROS package '{top}' is missing; source a ROS 2 installation, or `source "
                "./activate` after `make setup`")
    pip_name = _PIP_NAMES.get(top, top)
    return (f"the Python package '{pip_name}' is missing; install it with "
            f"`pip install {pip_name}`, or all that are needed with rosdep or "
            "`pip install .` in the sources")
