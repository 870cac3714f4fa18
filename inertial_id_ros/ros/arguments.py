"""ROS arguments on a command line: given to ROS, left out for our own parser, refused in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rclpy.utilities import remove_ros_args

from ..errors import InvalidSetting
from . import compat


def start_ros(program: str, words: Sequence[str]) -> None:
    """Start rclpy with the ROS arguments among the words that follow the program's name.

    Raises:
        InvalidSetting: ROS does not understand them.
    """
    with _refused():
        compat.init([program, *words])


def without_ros_arguments(program: str, words: Sequence[str]) -> list[str]:
    """The words that are not for ROS.

    Raises:
        InvalidSetting: ROS does not understand its own.
    """
    with _refused():
        return remove_ros_args([program, *words])[1:]


_PREFIX = "failed to initialize rcl: "
_PLACES = re.compile(r",? at \S+\.c(pp)?:\d+")  # lines of the sources of ROS


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # rclpy has no public base class for bad ROS arguments
        text = _PLACES.sub("", " ".join(str(error).split())).removeprefix(_PREFIX)
        raise InvalidSetting(f"ROS arguments: {text}") from error
