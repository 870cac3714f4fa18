# Copyright 2026 inertial_id_ros developers. SPDX-License-Identifier: Apache-2.0
"""Has the middleware and the C library return the memory that large messages have taken.

By itself, rmw_fastrtps keeps buffers of the size of the largest message that ever came, for each
subscription and service: after descriptions of 30 MB and requests of a million points the process
stays larger by 110 MB. Other middlewares do not read what is set here. glibc keeps up to 64 MB for
each thread in which such a block was freed, unless large blocks are always mapped by themselves.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import MutableMapping
from pathlib import Path

from .. import compat

_PROFILES = Path(__file__).with_name("fast_dds.xml")
_TAKE_QOS = "RMW_FASTRTPS_USE_QOS_FROM_XML"
# Fast DDS reads these in the working folder by itself.
_FOUND_BY_ITSELF = ("DEFAULT_FASTRTPS_PROFILES.xml", "DEFAULT_FASTDDS_PROFILES.xml")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of mallopt, in malloc.h
_LARGE_BLOCK, _UNUSED = 4_000_000, 16_000_000  # bytes


def return_large_blocks() -> None:
    """Have the C library return large blocks to the system as soon as they are freed, and all but
    some of the rest; does nothing with a library that has no such setting."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
        mallopt(_M_TRIM_THRESHOLD, _UNUSED)


def free_large_messages(environment: MutableMapping[str, str] = os.environ) -> bool:
    """Set the environment variables for that, before rclpy starts; False where the user has
    profiles of their own, which then hold."""
    if any(name in environment for name in (*compat.PROFILE_VARIABLES, _TAKE_QOS)):
        return False
    if any(Path(name).exists() for name in _FOUND_BY_ITSELF):
        return False
    names = compat.profile_variables(environment.get("ROS_DISTRO", ""))
    environment.update(dict.fromkeys(names, str(_PROFILES)), **{_TAKE_QOS: "1"})
    return True
