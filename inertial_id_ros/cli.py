"""Entry points of the executables: they load the program, and say what is missing if they cannot.

Nothing heavy is imported here, so that a signal during the second that the libraries take to load
ends the process quietly, and a missing library is one sentence. How a tool ends is said here, too.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from types import FrameType

from .errors import InertialIdError, NotEnoughData

OK, NO_ESTIMATE, USER_ERROR, INTERRUPTED = 0, 1, 2, 130  # exit statuses
_LONGEST = 2000  # characters of a message, which may hold names out of a file
# Where the package on PyPI has another name than the module.
_PIP_NAMES = {"pinocchio": "pin", "yaml": "PyYAML"}
_ROS_ENDINGS = ("_msgs", "_interfaces", "_srvs")
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_ROS_MODULES = ("rclpy", "rpyutils", "tf_transformations", "ament_index_python")


def identify_bag() -> int:
    """Identify the payload of a recording; returns the exit status."""
    exit_at_once(INTERRUPTED, signal.SIGINT)
    compute_in_one_thread()
    return _run("inertial_id_ros.apps.bag.identify_bag", interruptible=True)


def identify_robot() -> int:
    """Identify a robot from its joint torques; returns the exit status."""
    exit_at_once(INTERRUPTED, signal.SIGINT)
    return _run("inertial_id_ros.apps.robot.identify_robot", interruptible=True)


def inertial_id_demo() -> int:
    """The demo; returns the exit status."""
    return _run_node("inertial_id_ros.ros.tools.demo")


def inertial_id_node() -> int:
    """The identification node; returns the exit status."""
    compute_in_one_thread()
    return _run_node("inertial_id_ros.ros.main")


def plan_excitation() -> int:
    """Plan a motion that shows inertial parameters; returns the exit status."""
    exit_at_once(INTERRUPTED, signal.SIGINT)
    return _run("inertial_id_ros.apps.excitation.plan_excitation", interruptible=True)


def replay_bag() -> int:
    """Publish a recording; returns the exit status."""
    return _run_node("inertial_id_ros.ros.tools.replay_bag")


def simulate_cobot() -> int:
    """The simulated cobot; returns the exit status."""
    return _run_node("inertial_id_ros.ros.tools.simulate_cobot")


def _run_node(module: str) -> int:
    """Run a ROS program, which takes over the signals itself; stopping it early is no failure."""
    exit_at_once()
    return _run(module)


def _run(module: str, interruptible: bool = False) -> int:
    """Load a module and run its `main`.

    Args:
        interruptible: `main` expects KeyboardInterrupt.
    """
    try:
        main = import_module(module).main
        if interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return int(main())
    except ModuleNotFoundError as error:
        print(f"error: {_missing(error)}", file=sys.stderr)
        return USER_ERROR


def exit_status(run: Callable[[], int]) -> int:
    """Run a tool; its exit status, where errors of this package and interrupts are one line."""
    try:
        return run()
    except InertialIdError as error:
        text = str(error)
        shown = text if len(text) <= _LONGEST else text[:_LONGEST] + " ..."
        print(f"error: {shown}", file=sys.stderr)
        return NO_ESTIMATE if isinstance(error, NotEnoughData) else USER_ERROR
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe, such as head, has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:  # a folder of others on the way to a file, a full disk
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror or error}", file=sys.stderr)
        return USER_ERROR
    except MemoryError:
        print("error: there is not enough memory for this input", file=sys.stderr)
        return USER_ERROR


def exit_at_once(status: int = 0, *numbers: signal.Signals) -> None:
    """From now on these signals (default: SIGINT, SIGTERM) end the process; nothing is open yet."""

    def leave(number: int, frame: FrameType | None) -> None:
        os._exit(status)

    for number in numbers or (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)


def compute_in_one_thread() -> None:
    """Keep the linear algebra that is loaded later from threads, unless the user asks for them: its
    matrices are so small that threads wait for each other longer than they compute."""
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
    return (f"the Python package '{pip_name}' is missing; install it with `pip install {pip_name}` "
            "(all that are needed: requirements/run.txt of the sources in a virtual environment, "
            "system.txt beside the system's Python)")
