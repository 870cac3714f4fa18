# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""ROS arguments of a command line: passed to ROS, and removed for the program's own parser."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rclpy.utilities import remove_ros_args

from ...errors import InvalidSetting
from .. import compat


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
