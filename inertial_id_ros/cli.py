# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Entry points of the executables: they load the program, and say what is missing if they cannot.

Nothing heavy is imported here, so that a signal during the second that the libraries take to load
ends the process quietly, and a missing library is reported in one sentence. `exit_status` holds how
every program reports its errors.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module

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
    return _run("apps.export_payload")


def identify_bag() -> int:
    """Identify the payload of a recording; returns the exit status."""
    return _run("apps.bag.identify_bag")


def identify_payload() -> int:
    """Lead from an unknown load to a robot that knows it; returns the exit status."""
    return _run("ros.guide.identify_payload")


def identify_robot() -> int:
    """Identify a robot from its joint torques; returns the exit status."""
    return _run("apps.robot.identify_robot", one_thread=False)


def inertial_id_demo() -> int:
    """The demo; returns the exit status."""
    return _run("ros.tools.demo")


def inertial_id_node() -> int:
    """The identification node; returns the exit status."""
    return _run("ros.main")


def plan_excitation() -> int:
    """Plan a motion that shows inertial parameters; returns the exit status."""
    return _run("apps.excitation.plan_excitation")


def simulate_cobot() -> int:
    """The simulated cobot; returns the exit status."""
    return _run("ros.tools.simulate_cobot")


def _run(module: str, one_thread: bool = True) -> int:
    """Load a program and run its `main`; returns the exit status.

    A signal while it loads ends the process at once: nothing is open yet. Later an interrupt of a
    tool is a KeyboardInterrupt; ROS programs take over the signals themselves, and to stop them
    early is no failure.

    Args:
        one_thread: matrices are so small that threads of linear algebra would wait for each other
            longer than they compute; a number that the user sets counts.
    """
    is_ros = module.startswith("ros.")
    for name in _THREADS if one_thread else ():
        os.environ.setdefault(name, "1")
    for number in (signal.SIGINT, signal.SIGTERM) if is_ros else (signal.SIGINT,):
        signal.signal(number, lambda *_: os._exit(OK if is_ros else INTERRUPTED))
    try:
        main = import_module(f"inertial_id_ros.{module}").main
        if not is_ros:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return int(main())
    except MissingPackage as error:
        print(f"error: {error}", file=sys.stderr)
    except ModuleNotFoundError as error:
        print(f"error: {_missing(error)}", file=sys.stderr)
    return USER_ERROR


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
